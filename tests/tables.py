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


def hostile(names: list[str], levels: list[str], n: int = 400) -> Columns:
    """One strongly related nominal column per name, with these levels, and an outcome `y`."""
    rng = np.random.default_rng(3)
    codes = rng.integers(len(levels), size=n)
    y = rng.random(n) < np.where(codes == 0, 0.95, 0.05)
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
