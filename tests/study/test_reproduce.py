"""The study's page: statements with verdicts, figures as SVG, tables that agree with direct counts."""

from __future__ import annotations

import csv
import io
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from scipy import stats
from statsmodels.stats.multitest import multipletests

from ald.cli.main import cli
from ald.datasets import load_compas, make_synthetic
from ald.study import page as page_module
from ald.study import reproduce as study_module
from ald.study.cells import Cell
from ald.study.figures import Counted, Point, count_chart, line_chart
from ald.study.grids import LOCATION, SWEEPS, VARIANTS, null_cells
from ald.study.judging import paired_p
from ald.study.page import DISAGREEMENTS, Study, files
from ald.study.public_tables import PublicTable, Row, Search, adult_table, compas_table, compas_tree
from ald.study.reproduce import PARTS, reproduce
from ald.study.statements import Statement, contests, statements
from ald.study.systems import COMPARED, Result
from tests.tables import public_data


def outcomes(share: float, runs: int = 100, race: bool = True) -> list[Result]:
    return [Result(located=i < share * runs, strict=i < share * runs, listed=1, race=race) for i in range(runs)]


Share = float | Callable[[Cell], float]


def measured(**shares: Share) -> dict[Cell, list[Result]]:
    """All cells of all systems, each system with one location rate everywhere, or one that depends on the cell."""
    default = {"ald": 1.0, "ald_paper": 0.6}
    out = {}
    for sweep in SWEEPS:
        for system in dict.fromkeys((*LOCATION, *VARIANTS)):
            key = system.replace("-", "_")
            for cell in sweep.cells((system,)):
                share = shares.get(key, default.get(key, 0.0))
                out[cell] = outcomes(share(cell) if callable(share) else share)
    return out


def found(start: str, **shares: Share) -> Statement:
    """The statement that begins so."""
    (entry,) = (entry for entry in statements(measured(**shares)) if entry.statement.startswith(start))
    return entry


def test_grids_are_the_papers() -> None:
    """Panels run over rho 0.05 to 0.4 and width 6 to 66 of data set 1, and rho 0.02 to 0.4 of data set 2."""
    ends = {sweep.key: (sweep.values[0], sweep.values[-1]) for sweep in SWEEPS}
    assert ends == {"1-rho": (0.05, 0.4), "1-width": (6, 66), "2-rho": (0.02, 0.4)}
    assert {"ald", "ald-paper"} <= set(LOCATION) & set(VARIANTS)
    assert {cell.rho for cell in null_cells(LOCATION)} == {0.0}
    assert set(LOCATION) | set(VARIANTS) == set(COMPARED)


def test_verdicts_follow_the_numbers() -> None:
    """Each statement is reproduced or not by its own number."""
    assert {entry.verdict for entry in statements(measured())[:2]} == {"reproduced"}
    for start, system, share in (
        ("The instability tree", "instability_tree_published", 0.3),
        ("The linear auditor", "gerrymandering", 0.1),
        ("Data set 1: ALD", "cart", 0.9),
    ):
        assert found(start).verdict == "reproduced"
        assert found(start, **{system: share}).verdict == "not reproduced"
    assert found("Race").verdict == "reproduced"
    assert found("Ours: no system").verdict == "holds"
    assert found("Ours: no system", ald=0.5, cart=0.9).verdict == "does not hold"
    among = found("Ours: no system", ald=0.5, ald_paper=0.4, subset_scan_published=0.9)
    assert among.verdict == "holds among tested lists"


def test_a_claim_is_judged_on_each_data_set() -> None:
    """Where a rival leads on one data set only, the claim is reproduced on the other."""
    shares = {"random_forest": lambda cell: 0.9 if cell.dataset == 1 else 0.0}
    assert found("Data set 1: ALD", **shares).verdict == "not reproduced"
    assert found("Data set 2: ALD", **shares).verdict == "reproduced"


def test_chance_in_one_of_many_cells_contradicts_nothing() -> None:
    """A difference that one test would call significant, and a test of many cells not, is no contradiction."""
    lucky = {"chaid": lambda cell: 0.67 if cell.rho == 0.3 and cell.dataset == 1 else 0.6}
    assert paired_p(0, 7) < 0.05
    told = found("Data set 1: ALD", **lucky)
    assert told.verdict == "not contradicted"
    assert "ALD with CHAID, rho above 0.1 and width above 12 (ahead in 0 of 14)" in told.measured


def test_a_bound_is_judged_with_regard_to_the_number_of_cells() -> None:
    """A share beyond its bound contradicts the claim only if it is significantly beyond, allowing for all cells."""
    tree = {"instability_tree_published": lambda cell: 0.2 if cell.rho == 0.4 else 0.05}
    told = found("The instability tree", **tree)
    assert told.verdict == "not contradicted"
    assert "0.05 to 0.20 (data set 1, rho 0.4, width 24)" in told.measured
    assert "above 0.15 in 1 of 18 cells, significantly in 0" in told.measured


def test_claims_about_small_cells_are_judged_there_only() -> None:
    """CHAID's lead at very small rho or width neither contradicts the other claim nor is looked for elsewhere."""
    ahead = {"chaid": lambda cell: 0.9 if cell.rho <= 0.1 or (cell.dataset == 1 and cell.width <= 12) else 0.0}
    assert found("Data set 1: ALD", **ahead).verdict == "reproduced"
    assert found("CHAID beats", **ahead).verdict == "reproduced"
    behind = {"chaid": lambda cell: 0.0 if cell.rho <= 0.1 or (cell.dataset == 1 and cell.width <= 12) else 0.9}
    assert found("Data set 1: ALD", **behind).verdict == "not reproduced"
    assert found("CHAID beats", **behind).verdict == "not reproduced"


def test_the_scan_is_close_near_a_rho_only() -> None:
    """The claim about the subset scan fails where the scan is ahead, and holds where it is close near rho 0.3 alone."""
    assert found("The subset scan", subset_scan_published=0.9).verdict == "not reproduced"
    near = {"subset_scan_published": lambda cell: 0.6 if abs(cell.rho - 0.3) < 0.01 else 0.0}
    assert found("The subset scan", **near).verdict == "reproduced"
    assert found("The subset scan", subset_scan_published=0.58).verdict == "not contradicted"


def test_the_scan_with_our_penalty_is_none_of_the_papers_rivals() -> None:
    """A lead of the scan that has a penalty and many starts does not speak against the paper's claim, but is shown."""
    cells = measured(subset_scan_untested=0.9)
    assert {entry.verdict for entry in statements(cells)[:2]} == {"reproduced"}
    (one,) = (
        entry
        for entry in contests(cells)
        if (entry.first, entry.other, entry.dataset) == ("ald-paper", "subset-scan-untested", 1)
    )
    assert one.higher(-1) == len(one.where(-1)) == 18
    assert COMPARED["subset-scan-published"].run.keywords == {"method": "subset-scan", "penalty": 0.0, "restarts": 10}


def test_exceptions_are_named() -> None:
    """Where ALD is behind, the statement says which system, in which cell, with both numbers."""
    entry = found("Ours: no system", ald=0.5, cart=0.9)
    assert "ALD with CART in data set 1, rho 0.05, width 24 (0.90 against 0.50)" in entry.measured


def test_comparisons_can_be_checked() -> None:
    """The CSV of comparisons has what p-values are made of; Holm's correction is over the cells of a contest."""
    shares: dict[str, Share] = {"random_forest": lambda cell: cell.rho * 2, "chaid": lambda cell: cell.width / 100}
    text = files(Study(runs=100, command="ald reproduce all", measured=measured(**shares)))["results/comparisons.csv"]
    rows = list(csv.DictReader(io.StringIO(text)))
    contests_: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for row in rows:
        n, k = (int(row["only_first"]) + int(row["only_other"]), int(row["only_first"]))
        expected = stats.binomtest(k, n).pvalue if n else 1.0
        assert float(row["p"]) == pytest.approx(expected, rel=1e-3)
        assert int(row["only_first"]) - int(row["only_other"]) == int(row["first_located"]) - int(row["other_located"])
        contests_.setdefault((row["data_set"], row["first"], row["other"], row["cells"]), []).append(row)
    assert sum(row["first"] == "ald-paper" for row in rows) == 27 * 10
    for (_, first, other, cells), group in contests_.items():
        assert len(group) == int(cells)
        if (first, other) not in (("ald-paper", "random-forest"), ("ald", "chaid")):
            continue
        corrected = multipletests([float(row["p"]) for row in group], method="holm")[1]
        assert [float(row["p_holm"]) for row in group] == pytest.approx(corrected, rel=1e-3)


def test_nothing_measured_nothing_stated() -> None:
    """Without cells there are no statements, and the page still says where we do not agree."""
    assert statements({}) == []
    page = files(Study(runs=1, command="ald reproduce fig-data --runs 1", figures=("fig-data",)))["results.md"]
    assert all(what in page for what, _ in DISAGREEMENTS)


def test_files_of_the_study() -> None:
    """There are a CSV, a figure per panel, one HTML page that embeds them without pictures, and one Markdown page."""
    written = files(Study(runs=100, command="ald reproduce all", measured=measured(), figures=PARTS))
    figures = [name for name in written if name.endswith(".svg")]
    assert len(figures) == 2 * len(SWEEPS) + 2  # the tree needs public data, and is handed over
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
    bars = {"a & b": Counted(favourable=3, unfavourable=4)}
    ElementTree.fromstring(count_chart("t", "x", bars, {"<i>": [0.5]}))


def test_data_figures_count_outcomes_and_show_the_truth() -> None:
    """The figures of the data count people of both outcomes, and draw the probability that outcomes came from."""
    written = files(Study(runs=1, command="ald reproduce fig-data --runs 1", figures=("fig-data",)))
    for dataset, bars, values in ((1, 12, {"0.369", "0.809"}), (2, 8, {"0.400", "0.600", "0.500"})):
        svg = written[f"results/fig-data-{dataset}.svg"]
        titles = re.findall("<title>(.*): (.*)</title>", svg)
        counts = [int(number.replace(",", "")) for _, number in titles if "." not in number]
        y = make_synthetic(dataset, seed=0)["y"]
        assert len(counts) == 2 * bars
        share = 1 if dataset == 1 else 3  # people of data set 2 are counted by race, by gender and by both
        assert sum(counts[::2]) == share * y.sum()
        assert sum(counts) == share * len(y)
        # Every number that is drawn is in the figure: three are named here.
        assert values <= {f"{float(number):.3f}" for label, number in titles if label.startswith("true probability")}


TABLE = PublicTable(
    title="Adult",
    paper=(Row(group="g", share=0.4, psi=0.23, p="< 0.001"),),
    counted=(("all rows", (Row(group="g", share=0.4, psi=0.35, people=1234, p="3.2e-40"),)),),
    listed=(("ALD", (Row(group="h", share=0.4, psi=0.1, people=77, p="0.01", crude=0.2),)),),
    searches=(Search(setting="correct labels, alpha 0.1", halvings=100, exactly=0, nearly=70),),
)


def test_tables_have_people_and_p() -> None:
    """Groups of public data have their people and p; psi within strata has the crude one beside it."""
    page = files(Study(runs=1, command="ald reproduce table-adult", tables=(TABLE,)))["results.md"]
    assert "| group | share | psi | p |" in page
    assert "| g | 1,234 | 40.0 % | 0.350 | 3.2e-40 |" in page
    assert "| group | people | share | psi | crude psi | p |" in page
    assert "| h | 77 | 40.0 % | 0.100 | 0.200 | 0.01 |" in page


def test_the_search_stands_beside_the_recount() -> None:
    """The page says in how many halvings the paper's search lists what the paper prints, whatever the recount says."""
    page = files(Study(runs=1, command="ald reproduce table-adult", tables=(TABLE,)))["results.md"]
    assert "in 0 of 100 random halvings: the published list is not reproduced." in page
    assert "| correct labels, alpha 0.1 | 100 | 0 | 70 |" in page
    found_it = replace(TABLE, searches=(replace(TABLE.searches[0], exactly=60),))
    page = files(Study(runs=1, command="ald reproduce table-adult", tables=(found_it,)))["results.md"]
    assert "in 60 of 100 random halvings." in page
    assert "not reproduced" not in page


def test_the_misprint_of_chi2_is_said() -> None:
    """The results and the method page say that the paper's appendix misprints chi2, and which one we use."""
    page = files(Study(runs=1, command="ald reproduce fig-data --runs 1"))["results.md"]
    method = (Path(__file__).parents[2] / "docs" / "method.md").read_text("utf-8")
    for text in (page, " ".join(method.split())):
        assert "appendix A misprints the chi2 of fpr and fnr: where it prints 70.0, Pearson's is 113.9" in text


def test_the_setting_of_the_reference_is_said() -> None:
    """The page says that the reference software honoured alpha, and names the script that made its columns."""
    page = files(Study(runs=100, command="ald reproduce all", measured=measured()))["results.md"]
    assert "alpha 0.1, which is honoured here" in page
    (script,) = re.findall(r"by (benchmarks/\S+\.R)", page)
    assert (Path(__file__).parents[2] / script).exists()


def test_scans_are_named_for_what_they_are() -> None:
    """The scan as published has no penalty and ten starts; penalty and starts of the other are said to be ours."""
    page = files(Study(runs=100, command="ald reproduce all", measured=measured(), figures=PARTS))["results.md"]
    assert "| subset scan (as published) |" in page
    assert "| subset scan (our penalty, untested) |" in page
    assert "practically no penalty and ten starts" in page
    assert "costs 1 unit of the log-likelihood ratio, and there are 100 starts" in page


@pytest.fixture
def public_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    folders = {name: public_data(name).parent for name in ("adult.csv", "compas.csv")}
    monkeypatch.setenv("ALD_DATA", str(folders["adult.csv"]))
    monkeypatch.setattr("ald.study.public_tables.HALVINGS", 3)


@pytest.mark.usefixtures("public_folder")
def test_adult_table() -> None:
    """The paper's groups have psi 0.353, 0.350 and 0.351 with correct labels, and about the published ones without."""
    table = adult_table()
    correct, mislabelled = (rows for _, rows in table.counted)
    assert [round(row.psi, 3) for row in correct] == [0.353, 0.350, 0.351]
    assert [row.people for row in correct] == [19_458, 19_644, 19_718]
    for row, published in zip(mislabelled, table.paper, strict=True):
        assert row.psi == pytest.approx(published.psi, abs=0.004)
        assert row.share == pytest.approx(published.share, abs=0.003)
    assert all(row.p and row.people for _, rows in (*table.counted, *table.listed) for row in rows)
    assert all(rows for _, rows in table.listed)
    # Five attributes and honest halves: the search lists other descriptions of much the same people.
    assert [(one.halvings, one.exactly) for one in table.searches[:1]] == [(3, 0)]
    assert all(one.exactly <= one.nearly <= one.halvings for one in table.searches)


@pytest.mark.usefixtures("public_folder")
def test_compas_table() -> None:
    """On all rows the paper's groups have psi 0.232, 0.230, 0.149 and 0.239, and p of Pearson's and Fisher's tests."""
    table = compas_table()
    ((_, rows),) = table.counted
    assert [round(row.psi, 3) for row in rows] == [0.232, 0.230, 0.149, 0.239]
    assert len(table.notes) == 3
    assert "3 of 3" in table.notes[-1]
    columns = load_compas()
    other = columns["race"] == "Other"
    log_p = []
    for wrong, truth in ((1, 0), (0, 1)):
        base = columns["reoffended"] == truth
        is_wrong = columns["predicted_high_risk"] == wrong
        counts = [[(side & base & is_wrong).sum(), (side & base & ~is_wrong).sum()] for side in (other, ~other)]
        log_p.append(stats.chi2_contingency(counts, correction=False).pvalue)
    assert float(rows[3].p) == pytest.approx(stats.combine_pvalues(log_p).pvalue, rel=0.05)


@pytest.mark.usefixtures("public_folder")
def test_the_tree() -> None:
    """The figure of the tree shows everyone, and the first group on COMPAS with psi."""
    svg = compas_tree()
    ElementTree.fromstring(svg)
    assert "everyone" in svg
    assert "African-American" in svg
    study = Study(runs=1, command="ald reproduce fig-tree --runs 1", pictures={"fig-tree": svg})
    written = files(study)
    assert written["results/fig-tree.svg"] == svg
    assert "![fig-tree](results/fig-tree.svg)" in written["results.md"]


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
            pace("cell", share, 60.0)
        text = err.getvalue().decode() if err is not None else ""
    assert text.count("done") == 3
