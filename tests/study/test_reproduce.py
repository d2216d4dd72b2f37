"""`ald reproduce` from end to end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ald.cli.main import cli
from ald.study import page as page_module
from ald.study import reproduce as study_module
from ald.study.cases import Case
from ald.study.grids import SWEEPS, VARIANTS
from ald.study.reproduce import reproduce
from ald.study.systems import Result
from tests.study.measured import outcomes


def test_reproduce_writes_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command measures the cases of what is asked for, writes the files of the study, and says which."""
    asked: list[Sequence[Case]] = []

    def measure(cases: Sequence[Case], runs: int, folder: Path, **options: Any) -> dict[Case, list[Result]]:
        asked.append(cases)
        assert folder.parent == tmp_path
        return {case: outcomes(0.5, runs) for case in cases}

    monkeypatch.setattr(study_module, "measure", measure)
    for part in ("fig-data", "fig-variants"):
        result = CliRunner().invoke(cli, ["reproduce", part, "--runs", "2", "-o", str(tmp_path)])
        assert result.exit_code == 0, result.output
        assert f"Wrote {tmp_path / 'results.md'}" in result.output
        assert f"ald reproduce {part} --runs 2" in (tmp_path / "results.md").read_text("utf-8")
    assert asked[0] == []
    assert {case.system for case in asked[1]} == set(VARIANTS)
    assert (tmp_path / "results" / "fig-data-1.svg").exists()
    assert (tmp_path / "results" / "fig-variants-1-rho.svg").exists()


def test_a_small_study_from_end_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one panel and two systems the study runs, and its second run computes nothing."""
    small = (replace(SWEEPS[2], values=(0.4,)),)
    monkeypatch.setattr(study_module, "SWEEPS", small)
    monkeypatch.setattr(page_module, "SWEEPS", small)
    monkeypatch.setattr(study_module, "VARIANTS", ("ald", "ctree"))
    told: list[float] = []
    paths = reproduce(
        "fig-variants", runs=2, output=tmp_path, jobs=1, progress=lambda _, share, left: told.append(share)
    )
    assert told[-1] == 1.0
    before = {path: path.read_bytes() for path in paths}
    told.clear()
    assert reproduce("fig-variants", runs=2, output=tmp_path, jobs=1, progress=lambda *args: told.append(1.0)) == paths
    assert told == []
    assert {path: path.read_bytes() for path in paths} == before


def test_pace_tells_time_left() -> None:
    """Progress is said at every percent at most, with minutes and seconds left."""
    from ald.cli.reproduce import _duration, _Pace

    assert _duration(59.6) == "1 min 0 s"
    assert _duration(5) == "5 s"
    pace = _Pace()
    result = CliRunner()
    with result.isolation() as (_, err, *_rest):
        for share in (0.001, 0.002, 0.5, 1.0):
            pace("case", share, 60.0)
        text = err.getvalue().decode() if err is not None else ""
    assert text.count("done") == 3
