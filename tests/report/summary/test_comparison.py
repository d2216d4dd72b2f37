"""What the report of a comparison says."""

from __future__ import annotations

import io

import openpyxl
import pytest

import ald
from ald import Comparison
from ald.report.words import format_signed
from tests.results.test_comparison import scored


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return ald.compare(scored(), predictions=["old", "new"], truth="repaid", notion="predictive equality")


def test_the_headline_says_what_changes(comparison: Comparison) -> None:
    """Both models, the group, the rate, and both gaps are named."""
    rate = comparison.groups[0].rates[0]
    headline = comparison.report().headline
    assert headline.startswith("When old is replaced by new, the gap of people with ")
    assert f"false positive rate from {format_signed(rate.gap_first)} to {format_signed(rate.gap_second)}" in headline


def test_rates_that_stay_are_not_in_the_headline() -> None:
    """Of several rates the headline names those whose gap moves."""
    odds = ald.compare(scored(), predictions=["old", "new"], truth="repaid").report()
    assert "false positive rate" in odds.headline
    assert "false negative rate" not in odds.headline
    assert [column.header for column in odds.table.columns][-2:] == ["fnr change", "adj. p"]


def test_no_change_is_said() -> None:
    """Without a significant change the headline says so, and nothing is drawn."""
    data = scored()
    data["new"] = data["old"]
    report = ald.compare(data, predictions=["old", "new"], truth="repaid").report()
    assert report.headline == "No group's gap changes significantly when old is replaced by new (equalized odds)."
    assert all(section.charts is None for section in report.overview)


def test_charts_lead_from_one_model_to_the_other(comparison: Comparison) -> None:
    """A small chart per listed group joins the gaps under both models."""
    charts = comparison.report().overview[0].charts
    assert charts is not None
    assert charts.is_joined
    for chart, group in zip(charts.charts, comparison.groups, strict=True):
        rate = group.rates[0]
        assert [(spot.label, spot.value) for spot in chart.spots] == [("old", rate.gap_first), ("new", rate.gap_second)]


def test_all_tested_groups_are_in_the_workbook(comparison: Comparison) -> None:
    """Findings are the listed groups, candidates all that were tested; both have the change and its interval."""
    book = openpyxl.load_workbook(io.BytesIO(comparison.to_excel()))
    assert book["Findings"].max_row == 1 + len(comparison.groups)
    assert book["Candidates"].max_row == 1 + len(comparison.tested)
    heads = [cell.value for cell in book["Findings"][1]]
    row = dict(zip(heads, [cell.value for cell in book["Findings"][2]], strict=True))
    assert row["change"] == pytest.approx(comparison.groups[0].change)


def test_everyone_together(comparison: Comparison) -> None:
    """The rates of both models among everyone stand in a table of their own."""
    (section,) = [section for section in comparison.report().overview if section.key == "overall"]
    assert section.table is not None
    assert [entry.value for entry in section.table.rows[0][1:]] == list(comparison.overall["fpr"])


def test_hostile_names_stay_text() -> None:
    """Names of columns and levels do nothing in HTML, PDF and CSV."""
    data = scored()
    data["<b>new"] = data.pop("new")
    data["sex"] = [{"f": "=f<script>", "m": "m"}[level] for level in data["sex"]]
    found = ald.compare(data, predictions=["old", "<b>new"], truth="repaid", attributes="sex")
    assert found.groups
    assert "<script>" not in found.to_html().split("<main")[1].split("<footer")[0]
    assert "<b>new" not in found.to_html()
    assert found.to_pdf().startswith(b"%PDF")
