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
        (ASKED[:4], "missing option '--truth'"),
        (ASKED[4:], "missing option '--prediction'"),
        (ASKED[2:], "predictions must name two different columns"),
        ((*ASKED, "-o", "x.png"), "cannot tell the format of the report 'x.png'"),
    ],
)
def test_errors(run: Any, scores: Path, arguments: tuple[str, ...], problem: str) -> None:
    """What is missing or wrong is a sentence, and nothing is printed."""
    result = run("compare", scores, *arguments)
    assert (result.code, result.out) == (2, "")
    assert problem in result.err


def test_reports(run: Any, scores: Path, tmp_path: Path) -> None:
    """The table is printed, reports are written in every format, and `ald report` writes them from the document."""
    names = [f"change.{ending}" for ending in ("html", "md", "csv", "json", "txt")]
    words = [word for name in names for word in ("-o", tmp_path / name)]
    told = ("--title", "Old against new", "--date", "2026-11-30")
    result = run("compare", scores, *ASKED, *words, *told)
    assert result.code == 0
    assert "size = S" in result.out
    assert "Old against new" in (tmp_path / "change.html").read_text("utf-8")
    again = tmp_path / "again.html"
    assert run("report", tmp_path / "change.json", "-o", again, "--data", scores, *told).code == 0
    assert again.read_text("utf-8") == (tmp_path / "change.html").read_text("utf-8")
    assert run("compare", scores, *ASKED, "-o", scores).code == 2


def test_settings_from_a_file(run: Any, scores: Path, tmp_path: Path) -> None:
    """A config file gives options as it does for audits; the command line wins."""
    config = tmp_path / "compare.toml"
    config.write_text('predictions = ["old", "new"]\ntruth = "y"\nlevel = 0.2\n', "utf-8")
    result = run("compare", scores, "--config", config, "--level", "0.1", "--format", "json")
    expected = ald.compare(str(scores), predictions=["old", "new"], truth="y", level=0.1)
    assert (result.code, result.out) == (0, expected.to_json())
