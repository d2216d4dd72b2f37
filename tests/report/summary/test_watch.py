"""What the report of a watch says."""

from __future__ import annotations

import io

import numpy as np
import openpyxl
import pytest

import ald
from ald import Watch
from ald.report.words import format_signed
from tests.watching.test_watching import decisions

GROUPS = ["sex = f", "region = n"]


@pytest.fixture(scope="module")
def watch() -> Watch:
    return ald.watch(decisions(0.3, n=200), by="month", named_groups=GROUPS, outcome="approved")


def test_the_headline_says_what_changed(watch: Watch) -> None:
    """Group, change, when, and the gap before and after are those of the look at all windows."""
    look = watch.alarms[0].looks[-1]
    headline = watch.report().headline
    assert "people with sex = f" in headline
    assert f"changed by {format_signed(look.change)} points since 2025-09" in headline
    assert f"from {format_signed(look.before)} to {format_signed(look.before + look.change)}" in headline


def test_no_alarm_is_said() -> None:
    """Without an alarm the headline says what was watched, and does not say that all is well."""
    quiet = ald.watch(decisions(n=200), by="month", named_groups=GROUPS, outcome="approved").report()
    assert quiet.headline == "No alarm: none of 2 watched gaps shows a change from 2025-01 to 2026-02."
    assert quiet.group == ""
    assert any("may have changed all the same" in text for text in quiet.section("limits").paragraphs)


def test_charts_show_every_gap(watch: Watch) -> None:
    """A small chart per group has the gap and interval of every window; an alarm is marked, a change is cut."""
    (section,) = watch.report().overview
    assert section.charts is not None
    for chart, one in zip(section.charts.charts, watch.watched, strict=True):
        assert [(spot.label, spot.value, (spot.low, spot.high)) for spot in chart.spots] == [
            (gap.window, gap.gap, gap.interval) for gap in one.gaps
        ]
        assert (chart.cut, chart.marked) == (
            (None, None)
            if one.alarm is None
            else (watch.windows.index(str(one.changed)), watch.windows.index(one.alarm))
        )
    assert section.charts.charts[0].stretches[1].last == len(watch.windows) - 1


def test_numbers_of_the_charts_are_in_tables(watch: Watch) -> None:
    """Every window's gap stands in the table of its group, in CSV and in the workbook; strings are no formulas."""
    report = watch.report()
    for i, one in enumerate(watch.watched, 1):
        table = report.section(f"watched-{i}").table
        assert table is not None
        assert [row[5].text for row in table.rows] == [format_signed(gap.gap) for gap in one.gaps]
    assert len(report.records.rows) == 2 * len(watch.windows)
    book = openpyxl.load_workbook(io.BytesIO(watch.to_excel()))
    assert book["Findings"].max_row == 1 + 2 * len(watch.windows)
    assert "Candidates" not in book.sheetnames


def test_what_was_asked_is_in_the_settings(watch: Watch) -> None:
    """Settings name the column of dates, the length of windows, the planned looks and the groups."""
    table = watch.report().section("settings").table
    assert table is not None
    told = [(row[0].text, row[1].text) for row in table.rows]
    for pair in (("by", "month"), ("every", "month"), ("looks", "24"), ("outcome", "approved"), ("level", "0.05")):
        assert pair in told
    assert [value for key, value in told if key == "named_groups"] == GROUPS


def test_two_periods_have_a_test() -> None:
    """Where there are two windows the table has the change with its interval and corrected p."""
    data = decisions(0.3, n=200)
    data["month"] = np.where(data["month"] >= "2025-09-01", "later", "earlier")
    found = ald.watch(data, by="month", every="value", named_groups="sex = f", outcome="approved")
    report, difference = found.report(), found.watched[0].difference
    assert difference is not None
    assert [column.header for column in report.brief.columns][-3:] == ["change", "interval", "adj. p"]
    assert report.brief.rows[0][-3].text == format_signed(difference.change)
    assert "from earlier to later" in report.headline


def test_several_rates_say_which() -> None:
    """Where several rates are watched every row and chart says which rate it is about."""
    data = decisions(n=100).rename(columns={"approved": "predicted"})
    data["true"] = np.random.default_rng(4).integers(0, 2, len(data))
    asked = {"prediction": "predicted", "truth": "true", "notion": "equalized odds"}
    report = ald.watch(data, by="month", named_groups="sex = f", **asked).report()
    assert [row[1].text for row in report.brief.rows] == ["false positive rate", "false negative rate"]
    assert report.overview[0].charts is not None
    assert report.overview[0].charts.charts[1].note.startswith("false negative rate: ")


def test_hostile_names_stay_text() -> None:
    """Levels, windows and columns with markup or control characters do nothing in any format."""
    data = decisions(0.3, n=200).rename(columns={"region": "re<b>gion"})
    data["sex"] = data["sex"].map({"f": "<script>alert(1)</script>", "m": "\x1b[31m|m"})
    data["month"] = np.where(data["month"] >= "2025-09-01", "<i>b\u202e", "=a")
    found = ald.watch(data, by="month", every="value", named_groups='sex = "<script>alert(1)</script>"',
                      outcome="approved")  # fmt: skip
    assert "<script>alert" not in found.to_html()
    assert "<i>b" not in found.to_html()
    assert "\x1b" not in str(found) + found.to_markdown()
    assert "\u202e" not in str(found) + found.to_markdown() + found.to_csv()
    assert ",=a" not in found.to_csv()
    assert found.to_pdf().startswith(b"%PDF")
