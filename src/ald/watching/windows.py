"""Windows of time: which one every row belongs to."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np

from ald._core.arrays import IntArray
from ald.data.columns import MICROSECONDS_PER_DAY, Column, is_interval_kind
from ald.errors import SettingError, nearest, shorten

EVERY = ("day", "week", "month", "quarter", "year", "value")
_DAY_ONE = date(1970, 1, 1)


@dataclass(frozen=True, kw_only=True)
class Windows:
    """Names of windows in order, and the window of every row; one past the last for rows without a date."""

    names: tuple[str, ...]
    of_rows: IntArray


def windows(column: Column, every: str) -> Windows:
    """The windows of a column: of dates those of the calendar, of anything else ("value") one per value.

    Windows in which nothing happened are there too: a look at nothing is a look.
    """
    if every not in EVERY:
        raise SettingError(f"unknown every {every!r}. {nearest(every, EVERY)}")
    if every == "value":
        return Windows(names=tuple(column.words()), of_rows=column.codes.astype(np.int64))
    if column.kind not in ("date", "datetime"):
        if is_interval_kind(column.kind):
            raise SettingError(
                f"column {shorten(column.name)!r} holds numbers, which are no dates. To watch along its values, such "
                "as years, say every='value' (command line: --every value)."
            )
        column = column.as_kind("date")
    assert column.values is not None
    days = column.values if column.kind == "date" else np.floor(column.values / MICROSECONDS_PER_DAY)
    if not len(days):
        raise SettingError(f"column {shorten(column.name)!r} has no dates to watch along")
    numbers = np.array([_number(_date(day), every) for day in days.tolist()], np.int64)
    first, last = int(numbers.min()), int(numbers.max())
    names = tuple(_name(number, every) for number in range(first, last + 1))
    return Windows(names=names, of_rows=np.append(numbers - first, len(names))[column.codes])


def _date(day: float) -> date:
    return _DAY_ONE + timedelta(days=int(day))


def _number(day: date, every: str) -> int:
    """The number of a day's window, counted on through the calendar."""
    if every == "day":
        return day.toordinal()
    if every == "week":
        return (day.toordinal() - 1) // 7
    months = 12 * day.year + day.month - 1
    return months // {"month": 1, "quarter": 3, "year": 12}[every]


def _name(number: int, every: str) -> str:
    """A window in words: 2026-11, 2026-Q4, 2026-W47."""
    if every == "day":
        return date.fromordinal(number).isoformat()
    if every == "week":
        year, week, _ = date.fromordinal(7 * number + 1).isocalendar()
        return f"{year}-W{week:02}"
    if every == "month":
        return f"{number // 12}-{number % 12 + 1:02}"
    return f"{number // 4}-Q{number % 4 + 1}" if every == "quarter" else str(number)
