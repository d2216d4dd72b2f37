"""Decisions of several kinds of columns, as tests of engines use them."""

from __future__ import annotations

from pathlib import Path

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


def awkward(path: Path, n: int = 2000, delimiter: str = ",", *, breaks: bool = True) -> None:
    """Writes a CSV file of what readers disagree on. breaks: with line breaks in quotes."""
    rng = np.random.default_rng(1)
    values = {
        "zip": ["01234", "99999", "10001"],
        "word": ["NA", "x", "null", "None", "", '""'],
        "truth": ["True", "false"],
        "amount": ["1", "2.5", "NA", "1e3"],
        "comma": ['"1,5"', '"2,25"'],
        "day": ["13/02/2024", "01/03/2024", "02/01/2024"],
        "at": ["2024-01-01 23:00:00", "2024-07-01 02:30:00", "2024-01-02 03:00:00.5"],
        "instant": ["2024-01-01 10:00:00+02", "2024-01-01 10:00:00-05"],
        "clock": ["10:00:00", "23:59:59"],
        "text": ['"a, ""b"""', "ü", " sp ", "x\\y", *(['"line\nbreak"'] if breaks else [])],
        '"of ""birth"".x"': ["yes", "no"],
        "year": ["2020", "2021", ""],
    }
    columns = {name: rng.choice(own, n) for name, own in values.items()}
    favoured = 0.2 * (columns["zip"] == "01234") + 0.2 * (columns["at"] == "2024-01-01 23:00:00")
    columns["ok"] = (rng.random(n) < 0.3 + favoured).astype(int).astype(str)
    lines = [delimiter.join(row) for row in (list(columns), *zip(*columns.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
