"""Decisions with and without a disparity."""

from __future__ import annotations

import numpy as np
import pandas as pd


def decisions(n: int, gap: float, seed: int = 0) -> pd.DataFrame:
    """Approvals that women get less often by `gap`."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], n)
    return pd.DataFrame(
        {
            "sex": sex,
            "region": rng.choice(["north", "south", "west"], n),
            "approved": (rng.random(n) < np.where(sex == "f", 0.5 - gap, 0.5)).astype(int),
        }
    )


def predictions(n: int, seed: int = 0) -> pd.DataFrame:
    """Predictions whose errors are the same for everyone, with the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    predicted = np.where(rng.random(n) < 0.25, 1 - truth, truth)
    return pd.DataFrame({"sex": rng.choice(["f", "m"], n), "predicted": predicted, "true": truth})


def wages(n: int, gap: float, seed: int = 0) -> pd.DataFrame:
    """Wages, of which women have less by `gap`."""
    rng = np.random.default_rng(seed)
    data = decisions(n, 0.0, seed).drop(columns="approved")
    data["wage (EUR)"] = (2500 + rng.gamma(2, 400, n) - gap * (data["sex"] == "f")).round(2)
    return data


def scores(n: int, off: float, seed: int = 0) -> pd.DataFrame:
    """Scores with what was true, which are too high for women by `off`."""
    rng = np.random.default_rng(seed)
    data = decisions(n, 0.0, seed).drop(columns="approved")
    data["p"] = rng.beta(4, 4, n).round(3)
    data["true"] = (rng.random(n) < np.clip(data["p"] - off * (data["sex"] == "f"), 0, 1)).astype(int)
    return data
