"""`ald compare`: two models on the same people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ald
from tests.tables import write_csv

ASKED = ("--prediction", "old", "--prediction", "new", "--truth", "y")


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    n = 2000
    columns = {"size": rng.choice(["S", "M", "L"], n), "age": rng.integers(18, 80, n), "y": rng.integers(0, 2, n)}
    old = np.where(rng.random(n) < 0.2, 1 - columns["y"], columns["y"])
    new = np.where((columns["size"] == "S") & (rng.random(n) < 0.3), 1, old)
    return write_csv(tmp_path / "scores.csv", columns | {"old": old, "new": new})


@pytest.mark.parametrize(
    ("words", "reading", "options"),
    [
        ([], {}, {}),
        (["--kind", "size=S<M<L", "--memory-limit", "1GB", "--threads", "1"],
         {"kinds": {"size": ["S", "M", "L"]}, "memory_limit": "1GB", "threads": 1}, {}),
        (["--engine", "dask"], {"engine": "dask"}, {}),
        (["--attributes", "size,age", "--alpha", "0.2", "--level", "0.1", "--adjust", "by", "--groups", "1", "--seed",
          "3", "--notion", "accuracy", "--favourable", "1"], {},
         {"attributes": ["size", "age"], "alpha": 0.2, "level": 0.1, "adjust": "by", "groups": 1, "seed": 3,
          "notion": "accuracy", "favourable": "1"}),
    ],
)  # fmt: skip
def test_options(run: Any, scores: Path, words: list[str], reading: dict[str, Any], options: dict[str, Any]) -> None:
    """Every option reaches the comparison, those of reading by its source."""
    expected = ald.compare(ald.source(scores, **reading), predictions=["old", "new"], truth="y", **options)
    result = run("compare", scores, *ASKED, *words, "--format", "json")
    assert (result.code, result.out) == (0, expected.to_json())


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (ASKED[:4], "Missing option '--truth'"),
        (ASKED[4:], "Missing option '--prediction'"),
        (ASKED[2:], "predictions must name two different columns"),
        ((*ASKED, "-o", "x.html"), "a comparison is written as .json, .md or .txt"),
        ((*ASKED, "-o", "scores.csv"), "a comparison is written as"),
    ],
)
def test_errors(run: Any, scores: Path, arguments: tuple[str, ...], problem: str) -> None:
    """What is missing or wrong is a sentence, and nothing is printed."""
    result = run("compare", scores, *arguments)
    assert (result.code, result.out) == (2, "")
    assert problem in result.err
