"""Decisions of several kinds of columns, as tests of engines use them."""

from __future__ import annotations

import numpy as np
import pandas as pd


def decisions(n: int = 6000, seed: int = 0) -> pd.DataFrame:
    """Numbers with NaN and an infinity, words with missing ones, dates, truth values; older women are favoured."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "sex": rng.choice(["f", "m"], n),
            "region.of birth": rng.choice(["a", "b", "c", "ü \"'`"], n),
            "score": np.round(rng.normal(size=n), 1),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 60, n), "D"),
            "remote": rng.random(n) < 0.5,
            "size": rng.choice(["S", "M", "L"], n),
        }
    )
    frame.loc[::97, "score"] = np.nan
    frame.loc[5, "score"] = np.inf
    frame.loc[::53, "region.of birth"] = None
    favoured = (frame["sex"] == "f") & (frame["age"] > 50)
    frame["hired"] = (rng.random(n) < 0.4 + 0.2 * favoured + 0.1 * (frame["score"] > 1)).astype(int)
    frame["able"] = np.where(rng.random(n) < 0.7, frame["hired"], 1 - frame["hired"])
    return frame
