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
