"""`ald watch`: groups along time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ald
from tests.tables import write_csv
from tests.watching.test_watching import decisions

ASKED = ("--by", "month", "--outcome", "approved", "--named-group", "sex = f")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    data = decisions(0.3, n=150)
    data["month"] = data["month"].dt.strftime("%Y-%m-%d")
    return write_csv(tmp_path / "log.csv", {name: data[name].to_numpy() for name in data})


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ([], {}),
        (["--every", "quarter", "--looks", "12", "--level", "0.01", "--threads", "1", "--kind", "region=nominal"],
         {"every": "quarter", "looks": 12, "level": 0.01}),
        (["--given", "region", "--named-group", "region = n", "--seed", "3"],
         {"given": "region", "named_groups": ["sex = f", "region = n"], "seed": 3}),
    ],
)  # fmt: skip
def test_options(run: Any, log: Path, words: list[str], options: dict[str, Any]) -> None:
    """Every option reaches the watch."""
    result = run("watch", log, *ASKED, *words, "--format", "json")
    settings = {"by": "month", "outcome": "approved", "named_groups": "sex = f"} | options
    assert (result.code, result.out) == (0, ald.watch(str(log), **settings).to_json())


def test_scores(run: Any, tmp_path: Path) -> None:
    """A score and its truth are watched from the command line as from Python."""
    data = decisions(n=60)
    data["month"] = data["month"].dt.strftime("%Y-%m-%d")
    data["p"] = np.random.default_rng(1).random(len(data)).round(3)
    path = write_csv(tmp_path / "scores.csv", {name: data[name].to_numpy() for name in data})
    words = ("--by", "month", "--named-group", "sex = f", "--score", "p", "--truth", "approved", "--notion", "log loss")
    result = run("watch", path, *words, "--format", "json")
    asked: dict[str, Any] = {"score": "p", "truth": "approved", "notion": "log loss"}
    expected = ald.watch(str(path), by="month", named_groups="sex = f", **asked)
    assert (result.code, result.out) == (0, expected.to_json())


def test_reports(run: Any, log: Path, tmp_path: Path) -> None:
    """The table is printed, reports are written in every format, and `ald report` writes them from the document."""
    names = [f"watch.{ending}" for ending in ("html", "md", "csv", "json", "txt")]
    result = run("watch", log, *ASKED, *[word for name in names for word in ("-o", tmp_path / name)])
    assert result.code == 0
    assert "alarm" in result.out
    assert "Disparities along time" in (tmp_path / "watch.html").read_text("utf-8")
    again = tmp_path / "again.html"
    assert run("report", tmp_path / "watch.json", "-o", again, "--data", log).code == 0
    assert again.read_text("utf-8") == (tmp_path / "watch.html").read_text("utf-8")


def test_an_earlier_audit(run: Any, log: Path, tmp_path: Path) -> None:
    """The groups of an audit's document are watched, and a report may not take its place."""
    run("audit", log, "--outcome", "approved", "--exclude", "month", "-o", tmp_path / "audit.json")
    words = ("--by", "month", "--outcome", "approved", "--first", tmp_path / "audit.json")
    listed = ald.Audit.from_json((tmp_path / "audit.json").read_text("utf-8")).groups
    found = ald.Watch.from_json(run("watch", log, *words, "--format", "json").out)
    assert [one.criterion for one in found.watched] == [one.criterion for one in listed]
    result = run("watch", log, *words, "-o", tmp_path / "audit.json")
    assert (result.code, "would overwrite the document" in result.err) == (2, True)


def test_settings_from_a_file(run: Any, log: Path, tmp_path: Path) -> None:
    """A config file gives options as it does for audits."""
    config = tmp_path / "watch.toml"
    config.write_text('by = "month"\noutcome = "approved"\nnamed_groups = ["sex = f"]\nlooks = 13\n', "utf-8")
    result = run("watch", log, "--config", config, "--format", "json")
    expected = ald.watch(str(log), by="month", outcome="approved", named_groups="sex = f", looks=13)
    assert (result.code, result.out) == (0, expected.to_json())


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (ASKED[2:], "name the column of dates: --by COLUMN"),
        ((*ASKED, "--looks", "3"), "13 looks, and 3 were planned"),
        ((*ASKED, "--first", "nothing.json"), "there is no document 'nothing.json'"),
        ((*ASKED, "-o", "x.png"), "cannot tell the format"),
    ],
)
def test_errors(run: Any, log: Path, words: tuple[str, ...], problem: str) -> None:
    """What is missing or wrong is a sentence, and nothing is printed."""
    result = run("watch", log, *words)
    assert (result.code, result.out) == (2, "")
    assert problem in result.err
