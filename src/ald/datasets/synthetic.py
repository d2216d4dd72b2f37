"""The synthetic data sets of the evaluation: disparities that are known, in data that is random otherwise."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ald._core.arrays import AnyArray, FloatArray
from ald.errors import SettingError

Columns = dict[str, AnyArray]

_RACES = np.array(["r1", "r2", "r3"])


def make_synthetic(
    dataset: int,
    *,
    n: int = 10_000,
    rho: float = 0.2,
    width: float = 24.0,
    irrelevant: int = 0,
    seed: int = 0,
) -> Columns:
    """A random data set with a known disparity in the outcome "y".

    1: an age band of `width` years around 54 has a higher rate, and race matters a little.
    2: the rate depends on race and gender together, and on neither alone.
    3: a classifier ("prediction", "truth") whose errors differ for a = 1 and b = 1, in opposite directions.
    4: the rate depends on the parity of three attributes, and on no two of them.
    5: two findings: women between 30 and 50 have a lower rate, people of region 3 a higher one (rho does not matter).
    `irrelevant` more attributes alternate between four equal levels and uniform numbers.

    >>> {name: len(column) for name, column in make_synthetic(2, n=500, irrelevant=1).items()}
    {'race': 500, 'gender': 500, 'age': 500, 'noise1': 500, 'y': 500}
    """
    if dataset not in _GENERATORS:
        raise SettingError(f"there is no synthetic data set {dataset!r}; there are {sorted(_GENERATORS)}")
    rng = np.random.default_rng(seed)
    columns = _GENERATORS[dataset](rng, n, rho, width)
    outcomes = {name: columns.pop(name) for name in ("y", "prediction", "truth") if name in columns}
    for i in range(1, irrelevant + 1):
        columns[f"noise{i}"] = rng.choice(["a", "b", "c", "d"], n) if i % 2 else rng.random(n)
    return columns | outcomes


def true_rate(dataset: int, columns: Columns, *, rho: float = 0.2, width: float = 24.0) -> FloatArray:
    """Everyone's probability of y = 1 in data set 1 or 2, from which y was drawn.

    >>> sorted(set(true_rate(2, make_synthetic(2, n=100)).tolist()))
    [0.4, 0.6]
    """
    if dataset not in _RATES:
        raise SettingError(f"there are probabilities of synthetic data sets {sorted(_RATES)}, not of {dataset!r}")
    return _RATES[dataset](columns, rho, width)


def _age_band(rng: np.random.Generator, n: int, rho: float, width: float) -> Columns:
    age = rng.uniform(18, 90, n)
    race = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    gender = rng.choice(3, n, p=[0.45, 0.45, 0.1])
    columns = {"age": age, "race": _RACES[race], "gender": np.array(["g1", "g2", "g3"])[gender]}
    y = rng.random(n) < _band_rate(columns, rho, width)
    return columns | {"y": y.astype(np.int64)}


def _band_rate(columns: Columns, rho: float, width: float) -> FloatArray:
    age = columns["age"]
    inside = (age > 54 - width / 2) & (age <= 54 + width / 2)
    # Inside and outside average to 0.5, so dividing by E[f_age * f_race] = 0.5 * E[f_race] twice gives E[y] = 0.5.
    f_age = np.where(inside, 0.5 + rho * (72 - width) / 72, 0.5 - rho * width / 72)
    f_race = np.array([0.4, 0.5, 0.6])[np.searchsorted(_RACES, columns["race"])]
    g = 0.5 * (0.5 * 0.4 + 0.3 * 0.5 + 0.2 * 0.6) / 0.5
    return np.asarray(f_age * f_race / g)


def _intersection(rng: np.random.Generator, n: int, rho: float, width: float) -> Columns:
    race, gender = rng.integers(2, size=n), rng.integers(2, size=n)
    age = rng.uniform(18, 90, n)
    columns = {"race": _RACES[race], "gender": np.array(["g1", "g2"])[gender], "age": age}
    y = rng.random(n) < _intersection_rate(columns, rho, width)
    return columns | {"y": y.astype(np.int64)}


def _intersection_rate(columns: Columns, rho: float, width: float) -> FloatArray:
    is_low = (columns["race"] == "r1") == (columns["gender"] == "g1")
    return np.where(is_low, 0.5 - rho / 2, 0.5 + rho / 2)


def _opposite_errors(rng: np.random.Generator, n: int, rho: float, width: float) -> Columns:
    a, b, c = rng.integers(2, size=n), rng.integers(2, size=n), rng.integers(3, size=n)
    age = rng.uniform(18, 90, n)
    truth = rng.integers(2, size=n)
    group = (a == 1) & (b == 1)
    false_positive, false_negative = np.where(group, 0.3 + rho / 2, 0.3), np.where(group, 0.3 - rho / 2, 0.3)
    wrong = rng.random(n) < np.where(truth == 1, false_negative, false_positive)
    named = {"a": a, "b": b, "c": c}
    words = {name: np.char.add(name, values.astype(str)) for name, values in named.items()}
    return words | {"age": age, "prediction": np.where(wrong, 1 - truth, truth), "truth": truth}


def _parity(rng: np.random.Generator, n: int, rho: float, width: float) -> Columns:
    parts = {name: rng.integers(2, size=n) for name in ("a", "b", "c")}
    odd = sum(parts.values()) % 2 == 1
    y = rng.random(n) < np.where(odd, 0.5 + rho / 2, 0.5 - rho / 2)
    words = {name: np.char.add(name, values.astype(str)) for name, values in parts.items()}
    return words | {"y": y.astype(np.int64)}


def _two_findings(rng: np.random.Generator, n: int, rho: float, width: float) -> Columns:
    age = rng.uniform(18, 90, n)
    sex = rng.choice(["f", "m"], n)
    region = rng.choice(["1", "2", "3", "4"], n, p=[0.4, 0.3, 0.2, 0.1])
    job = rng.choice(["a", "b", "c", "d", "e"], n)
    rate = 0.5 - 0.15 * ((age > 30) & (age <= 50) & (sex == "f")) + 0.10 * (region == "3")
    y = rng.random(n) < rate
    return {"age": age, "sex": sex, "region": region, "job": job, "y": y.astype(np.int64)}


_GENERATORS: dict[int, Callable[[np.random.Generator, int, float, float], Columns]] = {
    1: _age_band,
    2: _intersection,
    3: _opposite_errors,
    4: _parity,
    5: _two_findings,
}

_RATES: dict[int, Callable[[Columns, float, float], FloatArray]] = {1: _band_rate, 2: _intersection_rate}
