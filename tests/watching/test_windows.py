"""Which window of time a row belongs to."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import numpy as np
import pytest

from ald.data.inputs.sources import from_array
from ald.errors import ColumnError, SettingError
from ald.watching.windows import windows

DAYS = [date(2025, 12, 29), date(2026, 1, 1), date(2026, 1, 31), date(2026, 4, 1), None]


@pytest.mark.parametrize(
    ("every", "names", "of_rows"),
    [
        ("month", ("2025-12", "2026-01", "2026-02", "2026-03", "2026-04"), [0, 1, 1, 4, 5]),
        ("quarter", ("2025-Q4", "2026-Q1", "2026-Q2"), [0, 1, 1, 2, 3]),
        ("year", ("2025", "2026"), [0, 1, 1, 1, 2]),
    ],
)
def test_windows_of_the_calendar(every: str, names: tuple[str, ...], of_rows: list[int]) -> None:
    """Windows follow the calendar, those without rows included; rows without a date are in none."""
    found = windows(from_array("day", np.array(DAYS, "datetime64[D]")), every)
    assert found.names == names
    assert found.of_rows.tolist() == of_rows


def test_weeks_begin_on_monday() -> None:
    """Weeks are those of ISO 8601, across the turn of the year."""
    days = [date(2025, 12, 22) + timedelta(days=k) for k in range(28)]
    found = windows(from_array("day", np.array(days, "datetime64[D]")), "week")
    assert found.names == ("2025-W52", "2026-W01", "2026-W02", "2026-W03")
    assert [found.names[k] for k in found.of_rows] == [
        f"{d.isocalendar().year}-W{d.isocalendar().week:02}" for d in days
    ]


def test_times_and_texts_are_dates_too() -> None:
    """A time belongs to its day's window, and texts of the form 2026-01-31 are read as dates."""
    times = np.array([datetime(2026, 1, 31, 23, 59), datetime(2026, 2, 1)], "datetime64[us]")
    assert windows(from_array("at", times), "day").names == ("2026-01-31", "2026-02-01")
    assert windows(from_array("at", ["2026-01-31", "2026-02-01"]), "month").of_rows.tolist() == [0, 1]


def test_windows_by_value() -> None:
    """Every value of any column can be a window, in the order that the column's values have."""
    found = windows(from_array("model", ["v2", "v1", "v2"]), "value")
    assert found.names == ("v1", "v2")
    assert found.of_rows.tolist() == [1, 0, 1]


def test_what_is_no_window() -> None:
    """Unknown windows, columns without dates and words that are none are refused."""
    with pytest.raises(SettingError, match="unknown every 'moth'"):
        windows(from_array("day", ["2026-01-31"]), "moth")
    with pytest.raises(ColumnError, match="cannot be of kind 'date'"):
        windows(from_array("day", ["a", "b"]), "month")
    with pytest.raises(SettingError, match="has no dates"):
        windows(from_array("day", np.array(["NaT"], "datetime64[D]")), "month")


def test_numbers_are_no_dates() -> None:
    """A column of years as numbers is refused with what helps: a window for each value."""
    column = from_array("year", np.array([1992, 1998]))
    with pytest.raises(SettingError, match="say every='value'"):
        windows(column, "year")
    assert windows(column, "value").names == ("1992", "1998")
