"""Small tables that tests share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

Columns = dict[str, Any]


def people(n: int = 600, seed: int = 1) -> Columns:
    """Attributes of every kind and an outcome `y` that depends on age and sex; lists of plain Python values."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n)
    sex = rng.choice(["F", "M"], n)
    hired = np.datetime64("2019-01-01") + rng.integers(0, 900, n)
    seen = np.datetime64("2020-06-01T08:30:15") + rng.integers(0, 10**6, n)
    member = rng.random(n) < 0.5
    score = np.round(rng.normal(size=n), 3)
    y = (rng.random(n) < 0.25 + 0.4 * (age > 45) + 0.2 * (sex == "F")).astype(int)
    return {
        "age": age.tolist(),
        "sex": sex.tolist(),
        "hired": hired.tolist(),
        "seen": seen.tolist(),
        "member": member.tolist(),
        "score": score.tolist(),
        "y": y.tolist(),
    }


def intersection(n: int = 3000, seed: int = 1) -> Columns:
    """People whose outcome depends on age and sex together: a group that only two conditions describe."""
    columns = people(n, seed)
    rng = np.random.default_rng(seed)
    both = (np.array(columns["age"]) > 45) & (np.array(columns["sex"]) == "F")
    return columns | {"y": (rng.random(n) < np.where(both, 0.8, 0.4)).astype(int).tolist()}


def decisions(n: int = 800, seed: int = 2) -> Columns:
    """Predictions that are wrong more often for one group, and the truth."""
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b", "c"], n)
    truth = rng.random(n) < 0.5
    wrong = rng.random(n) < np.where(group == "a", 0.4, 0.1)
    return {
        "group": group.tolist(),
        "x": rng.normal(size=n).round(2).tolist(),
        "predicted": (truth ^ wrong).astype(int).tolist(),
        "true": truth.astype(int).tolist(),
    }


def strata_before(finding: Any, data: Any) -> Any:
    """Per row a number of its memberships in the groups that were tested before this one."""
    number: Any = 0
    for group in finding.given_groups:
        number = 2 * number + group.mask(data)
    return number


def rates_within(hits: Any, inside: Any, outside: Any, strata: Any) -> tuple[float, float]:
    """The rates inside and outside, as means over strata with the weights of Mantel and Haenszel, by a plain loop."""
    strata = np.broadcast_to(strata, hits.shape)
    total, sums = 0.0, [0.0, 0.0]
    for stratum in np.unique(strata):
        sides = [side & (strata == stratum) for side in (inside, outside)]
        people = [int(side.sum()) for side in sides]
        if min(people) > 0:
            weight = people[0] * people[1] / sum(people)
            total += weight
            sums = [old + weight * hits[side].mean() for old, side in zip(sums, sides, strict=True)]
    return sums[0] / total, sums[1] / total


def cutoff(n: int, seed: int) -> tuple[Columns, float]:
    """A score at one value of which outcomes and a group's share jump, and that value; given it, the group is like all.

    Arrays: `score`, `group` (yes or no), `region` and `age` that mean nothing, and the outcome `y`.
    """
    rng = np.random.default_rng([seed, 13])
    score, at = rng.normal(size=n), float(rng.normal(scale=0.6))
    above = score > at
    columns = {
        "score": score,
        "group": np.where(rng.random(n) < 0.1 + 0.8 * above, "yes", "no"),
        "region": rng.choice(["north", "east", "south", "west"], n),
        "age": np.floor(rng.uniform(18, 80, n)),
        "y": (rng.random(n) < 0.2 + 0.6 * above).astype(int),
    }
    return columns, at


def hostile(names: list[str], levels: list[str], n: int = 400) -> Columns:
    """One strongly related nominal column per name, with these levels, and an outcome `y`."""
    rng = np.random.default_rng(3)
    codes = rng.integers(len(levels), size=n)
    y = rng.random(n) < np.where(codes == 0, 0.85, 0.15)
    columns: Columns = {name: [levels[(code + i) % len(levels)] for code in codes] for i, name in enumerate(names)}
    return columns | {"y": y.astype(int).tolist()}


def write_csv(path: Path, columns: Columns, **options: Any) -> Path:
    """The columns as a CSV file."""
    pd.DataFrame(columns).to_csv(path, index=False, **options)
    return path


def public_data(name: str) -> Path:
    """A file of the folder that ALD_DATA names, or of the shared folder beside the project; otherwise skips."""
    folder = Path(os.environ.get("ALD_DATA") or Path(__file__).parents[1] / ".." / "shared" / "data")
    if not (folder / name).exists():
        pytest.skip(f"needs {name} in the folder named by ALD_DATA")
    return folder / name


def one_crossing(n: int, seed: int = 0) -> dict[str, Any]:
    """Two attributes and an age: those with one level of both have the outcome more often, and nobody else."""
    rng = np.random.default_rng(seed)
    columns = {"a": rng.choice(["u", "v"], n), "b": rng.choice(["p", "q", "r"], n), "age": rng.integers(18, 80, n)}
    both = (columns["a"] == "u") & (columns["b"] == "p")
    return columns | {"y": (rng.random(n) < np.where(both, 0.75, 0.4)).astype(int)}
