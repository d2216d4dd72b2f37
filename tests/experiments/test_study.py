"""The study's page: statements with verdicts, figures as SVG, tables that agree with direct counts."""

from __future__ import annotations

import csv
import io
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ald.cli import cli
from ald.experiments import page as page_module
from ald.experiments import statements as statements_module
from ald.experiments import study as study_module
from ald.experiments.cells import Cell
from ald.experiments.figures import Point, bar_chart, line_chart
from ald.experiments.grids import LOCATION, SWEEPS, VARIANTS, null_cells
from ald.experiments.page import DISAGREEMENTS, Study, files
from ald.experiments.public_tables import adult_table, compas_table
from ald.experiments.statements import statements
from ald.experiments.study import PARTS, reproduce
from ald.experiments.systems import COMPARED, Result
from tests.tables import public_data


def outcomes(share: float, runs: int = 100, race: bool = True) -> list[Result]:
    return [Result(located=i < share * runs, strict=i < share * runs, listed=1, race=race) for i in range(runs)]


def measured(**shares: float) -> dict[Cell, list[Result]]:
    """All cells of all systems, each system with one location rate everywhere."""
    default = {"ald": 1.0, "ald_paper": 0.6}
    out = {}
    for sweep in SWEEPS:
        for system in dict.fromkeys((*LOCATION, *VARIANTS)):
            key = system.replace("-", "_")
            for cell in sweep.cells((system,)):
                out[cell] = outcomes(shares.get(key, default.get(key, 0.0)))
    return out


def verdicts(**shares: float) -> dict[str, str]:
    return {entry.statement.split(" (")[0][:40]: entry.verdict for entry in statements(measured(**shares))}


def test_grids_are_the_papers() -> None:
    """Panels run over rho 0.05 to 0.4 and width 6 to 66 of data set 1, and rho 0.02 to 0.4 of data set 2."""
    ends = {sweep.key: (sweep.values[0], sweep.values[-1]) for sweep in SWEEPS}
    assert ends == {"1-rho": (0.05, 0.4), "1-width": (6, 66), "2-rho": (0.02, 0.4)}
    assert {"ald", "ald-paper"} <= set(LOCATION) & set(VARIANTS)
    assert {cell.rho for cell in null_cells(LOCATION)} == {0.0}
    assert set(LOCATION) | set(VARIANTS) == set(COMPARED)


def test_verdicts_follow_the_numbers() -> None:
    """Each statement is reproduced or not by its own number."""
    good = verdicts()
    assert good["The instability tree locates the age ban"] == "reproduced"
    assert good["The linear auditor finds none of the syn"] == "reproduced"
    assert good["Race in data set 1 is found by all syste"] == "reproduced"
    assert good["ALD with the paper's settings beats all "] == "reproduced"
    assert good["Ours: ALD has the highest location rate "] == "holds"
    assert verdicts(instability_tree_published=0.2)["The instability tree locates the age ban"] == "not reproduced"
    assert verdicts(gerrymandering=0.1)["The linear auditor finds none of the syn"] == "not reproduced"
    assert verdicts(cart=0.9)["ALD with the paper's settings beats all "] == "not reproduced"
    assert verdicts(chaid=0.9)["ALD with the paper's settings beats all "] == "reproduced"
    assert verdicts(ald=0.5, cart=0.9)["Ours: ALD has the highest location rate "] == "does not hold"
    assert (
        verdicts(ald=0.5, ald_paper=0.4, subset_scan_published=0.9)["Ours: ALD has the highest location rate "]
        == "holds among tested lists"
    )


def test_exceptions_are_named() -> None:
    """Where ALD is behind, the statement says which system, in which cell, with both numbers."""
    (entry,) = (e for e in statements(measured(ald=0.5, cart=0.9)) if e.statement.startswith("Ours"))
    assert "ALD with CART in data set 1, rho 0.05, width 24 (0.90 against 0.50)" in entry.number


def test_nothing_measured_nothing_stated() -> None:
    """Without cells there are no statements, and the page still says where we do not agree."""
    assert statements({}) == []
    page = files(Study(runs=1, command="ald reproduce fig-data --runs 1", figures=("fig-data",)))["results.md"]
    assert all(what in page for what, _ in DISAGREEMENTS)


def test_files_of_the_study() -> None:
    """There are a CSV, a figure per panel, one HTML page that embeds them without pictures, and one Markdown page."""
    written = files(Study(runs=100, command="ald reproduce all", measured=measured(), figures=PARTS))
    figures = [name for name in written if name.endswith(".svg")]
    assert len(figures) == 2 * len(SWEEPS) + 2
    for name in figures:
        ElementTree.fromstring(written[name])
    page = written["results/results.html"]
    assert page.count("<svg") == len(figures)
    assert "<img" not in page
    assert "data:image" not in page
    for target in re.findall(r"\]\(([^)]+)\)", written["results.md"]):
        assert target in written
    rows = list(csv.DictReader(io.StringIO(written["results/location.csv"])))
    assert len(rows) == len(measured())
    assert {row["located"] for row in rows if row["system"] == "ald"} == {"1.0000"}


def test_few_runs_are_owned_up_to() -> None:
    """A page of fewer runs than the study has says that its verdicts mean little."""
    pages = [
        files(Study(runs=runs, command="ald reproduce fig-variants", measured=measured()))["results.md"]
        for runs in (5, 100)
    ]
    assert ["mean little" in page for page in pages] == [True, False]


def test_figures_escape_words() -> None:
    """Titles and labels are text, whatever they hold."""
    svg = line_chart("a < b & c", "x", "y", {"<script>": [Point(x=0, y=0.5, error=0.1), Point(x=1, y=1.0)]})
    ElementTree.fromstring(svg)
    assert "<script>" not in svg
    ElementTree.fromstring(bar_chart("t", "y", {"a & b": Point(x=0, y=0.3, error=0.05)}))


@pytest.fixture
def public_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    folders = {name: public_data(name).parent for name in ("adult.csv", "compas.csv")}
    monkeypatch.setenv("ALD_DATA", str(folders["adult.csv"]))


@pytest.mark.usefixtures("public_folder")
def test_adult_table() -> None:
    """The paper's groups have psi 0.353, 0.350 and 0.351 with correct labels, and about the published ones without."""
    table = adult_table()
    correct, mislabelled = (rows for _, rows in table.counted)
    assert [round(row.psi, 3) for row in correct] == [0.353, 0.350, 0.351]
    for row, published in zip(mislabelled, table.paper, strict=True):
        assert row.psi == pytest.approx(published.psi, abs=0.004)
        assert row.share == pytest.approx(published.share, abs=0.003)
    assert all(rows for _, rows in table.listed)


@pytest.mark.usefixtures("public_folder")
def test_compas_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """On all rows the paper's groups have psi 0.232, 0.230, 0.149 and 0.239."""
    monkeypatch.setattr("ald.experiments.public_tables._HALVINGS", 3)
    table = compas_table()
    ((_, rows),) = table.counted
    assert [round(row.psi, 3) for row in rows] == [0.232, 0.230, 0.149, 0.239]
    assert len(table.notes) == 3
    assert "3 of 3" in table.notes[-1]


def test_reproduce_writes_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command measures the cells of what is asked for, writes the files of the study, and says which."""
    asked: list[Sequence[Cell]] = []

    def measure(cells: Sequence[Cell], runs: int, folder: Path, **options: Any) -> dict[Cell, list[Result]]:
        asked.append(cells)
        assert folder.parent == tmp_path
        return {cell: outcomes(0.5, runs) for cell in cells}

    monkeypatch.setattr(study_module, "measure", measure)
    for part in ("fig-data", "fig-variants"):
        result = CliRunner().invoke(cli, ["reproduce", part, "--runs", "2", "-o", str(tmp_path)])
        assert result.exit_code == 0, result.output
        assert f"Wrote {tmp_path / 'results.md'}" in result.output
        assert f"ald reproduce {part} --runs 2" in (tmp_path / "results.md").read_text("utf-8")
    assert asked[0] == []
    assert {cell.system for cell in asked[1]} == set(VARIANTS)
    assert (tmp_path / "results" / "fig-data-1.svg").exists()
    assert (tmp_path / "results" / "fig-variants-1-rho.svg").exists()


def test_a_small_study_from_end_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one panel and two systems the study runs, and its second run computes nothing."""
    small = (replace(SWEEPS[2], values=(0.4,)),)
    monkeypatch.setattr(study_module, "SWEEPS", small)
    monkeypatch.setattr(page_module, "SWEEPS", small)
    monkeypatch.setattr(statements_module, "SWEEPS", small)
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
    from ald.commands import _duration, _Pace

    assert _duration(59.6) == "1 min 0 s"
    assert _duration(5) == "5 s"
    pace = _Pace()
    result = CliRunner()
    with result.isolation() as (_, err, *_rest):
        for share in (0.001, 0.002, 0.5, 1.0):
            pace("cell", share, 60.0)
        text = err.getvalue().decode() if err is not None else ""
    assert text.count("done") == 3
