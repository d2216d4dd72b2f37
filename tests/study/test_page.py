"""The page of the study and the files beside it."""

from __future__ import annotations

import csv
import io
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

from ald.datasets import make_synthetic
from ald.study import page
from ald.study.grids import SWEEPS
from ald.study.page import DISAGREEMENTS, Study, files
from ald.study.public_tables import PublicTable, Row, Search
from ald.study.reproduce import PARTS
from ald.study.statements import statements
from tests.study.measured import measured


def test_nothing_measured_nothing_stated() -> None:
    """Without cases there are no statements, and the page still says where we do not agree."""
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


def test_the_published_page_is_that_of_todays_study() -> None:
    """docs/results.md says how claims are judged, which reference is meant, and shows what today's study shows."""
    text = (Path(page.__file__).parents[3] / "docs" / "results.md").read_text("utf-8")
    told = (*page._HOW[1:], *page._JUDGED, page._REFERENCE, page._CONTESTS, page._DATA, page._TREE, page._COUNTED)
    for sentence in (*told, *(why for _, why in page.DISAGREEMENTS)):
        assert sentence in text
    for name in ("fig-tree", "fig-data-1", "fig-data-2", "comparisons.csv"):
        assert name in text
    assert "the published list is not reproduced" in text
