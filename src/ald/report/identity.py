"""Which report this is: its title, its day, and what the auditor has to say. Given when it is made, and no part of the
audit.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

from ald.errors import SettingError

TITLE = "Audit for disparities"

_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
           "November", "December")  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Identity:
    """The title, the notes (a text per paragraph), and the day of a report."""

    title: str
    notes: tuple[str, ...]
    day: date

    @property
    def day_words(self) -> str:
        """The day as people write it.

        >>> identify(date="2026-11-09").day_words
        '9 November 2026'
        """
        return f"{self.day.day} {_MONTHS[self.day.month - 1]} {self.day.year}"


def identify(
    title: str | None = None, notes: str | Sequence[str] | None = None, date: date | str | None = None
) -> Identity:
    """The identity that was asked for; without a date, today's."""
    paragraphs = [] if notes is None else notes.splitlines() if isinstance(notes, str) else list(notes)
    for text in (title, *paragraphs):
        if text is not None and not isinstance(text, str):
            raise SettingError(f"title and notes of a report are texts, not {text!r}")
    return Identity(
        title=(title or "").strip() or TITLE,
        notes=tuple(text.strip() for text in paragraphs if text.strip()),
        day=_day(date),
    )


def _day(given: date | str | None) -> date:
    if given is None:
        return today()
    if isinstance(given, datetime):
        return given.date()
    if isinstance(given, date):
        return given
    try:
        return date.fromisoformat(given)
    except (TypeError, ValueError):
        raise SettingError(f"the date of a report is a day such as 2026-11-30, not {given!r}") from None


def today() -> date:
    """The day of SOURCE_DATE_EPOCH, where that is set, or else of the clock."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch is None:
        return date.today()
    try:
        return datetime.fromtimestamp(int(epoch), UTC).date()
    except (ValueError, OverflowError, OSError):
        raise SettingError(f"SOURCE_DATE_EPOCH must be a number of seconds, not {epoch!r}") from None
