"""The synthetic data sets of the method's evaluation: a continuous attribute, and a hidden intersection."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ald.arrays import AnyArray
from ald.errors import SettingError

Columns = dict[str, AnyArray]


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
    `irrelevant` more attributes alternate between four equal levels and uniform numbers.

    >>> {name: len(column) for name, column in make_synthetic(2, n=500, irrelevant=1).items()}
    {'race': 500, 'gender': 500, 'age': 500, 'noise1': 500, 'y': 500}
    """
    if dataset not in _GENERATORS:
        raise SettingError(f"there is no synthetic data set {dataset!r}; there are {sorted(_GENERATORS)}")
    rng = np.random.default_rng(seed)
    columns = _GENERATORS[dataset](rng, n, rho, width)
    y = columns.pop("y")
    for i in range(1, irrelevant + 1):
        columns[f"noise{i}"] = rng.choice(["a", "b", "c", "d"], n) if i % 2 else rng.random(n)
    return columns | {"y": y}


def _age_band(rng: np.random.Generator, n: int, rho: float, width: float) -> Columns:
    age = rng.uniform(18, 90, n)
    race = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    gender = rng.choice(3, n, p=[0.45, 0.45, 0.1])
    inside = (age > 54 - width / 2) & (age <= 54 + width / 2)
    # Inside and outside average to 0.5, so dividing by E[f_age * f_race] = 0.5 * E[f_race] twice gives E[y] = 0.5.
    f_age = np.where(inside, 0.5 + rho * (72 - width) / 72, 0.5 - rho * width / 72)
    f_race = np.array([0.4, 0.5, 0.6])[race]
    g = 0.5 * (0.5 * 0.4 + 0.3 * 0.5 + 0.2 * 0.6) / 0.5
    y = rng.random(n) < f_age * f_race / g
    names = np.array(["r1", "r2", "r3"])[race], np.array(["g1", "g2", "g3"])[gender]
    return {"age": age, "race": names[0], "gender": names[1], "y": y.astype(np.int64)}


def _intersection(rng: np.random.Generator, n: int, rho: float, width: float) -> Columns:
    race, gender = rng.integers(2, size=n), rng.integers(2, size=n)
    age = rng.uniform(18, 90, n)
    y = rng.random(n) < np.where(race == gender, 0.5 - rho / 2, 0.5 + rho / 2)
    return {
        "race": np.array(["r1", "r2"])[race],
        "gender": np.array(["g1", "g2"])[gender],
        "age": age,
        "y": y.astype(np.int64),
    }


_GENERATORS: dict[int, Callable[[np.random.Generator, int, float, float], Columns]] = {
    1: _age_band,
    2: _intersection,
}
