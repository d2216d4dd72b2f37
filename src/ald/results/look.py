"""What a look at data shows before an audit: columns, the parts that they may play, and what an audit could see."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ald.assess.power import Detectable
from ald.data.prepare import LeftOut
from ald.notions import Mean


@dataclass(frozen=True, kw_only=True)
class LevelCount:
    """A value of a column of words, and how many rows have it."""

    level: str
    rows: int


@dataclass(frozen=True, kw_only=True)
class ColumnLook:
    """A column: what kind it is, how many different values it has, and how many rows have none.

    Of numbers, dates and times `low` and `high` are the ends in words, and `histogram` counts rows in pieces of equal
    width between them. Of words `levels` are the most frequent ones. Numbers of rows that are there, but too few to be
    told, are None, and levels of so few are not among the levels. part: what the column may be; empty for an
    attribute like any other.
    """

    name: str
    kind: str
    distinct: int
    missing: int | None
    missing_share: float | None
    low: str | None = None
    high: str | None = None
    histogram: tuple[int | None, ...] = ()
    levels: tuple[LevelCount, ...] = ()
    part: str = ""


@dataclass(frozen=True, kw_only=True)
class Part:
    """What a column may be in an audit, and why: a guess by its name and values."""

    part: str
    column: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Look:
    """What can be said of data before it is audited. Nothing in it is tested.

    parts: what columns may be. left_out: columns that an audit would leave out, with reasons. warnings: what it would
    say of the data. notions: the fairness notions that fit. outcome, favourable, prediction, truth: what the next step
    takes, and `detectable` is about. mean: what is asked of an outcome that is a number. command: that step on the
    command line, empty where the data is no file or database; python: the same in Python. min_group_size: numbers of
    fewer rows are not told.
    """

    source: str
    rows: int
    columns: tuple[ColumnLook, ...]
    parts: tuple[Part, ...]
    left_out: tuple[LeftOut, ...]
    warnings: tuple[str, ...]
    notions: tuple[str, ...]
    min_group_size: int = 1
    outcome: str | None = None
    favourable: str | None = None
    prediction: str | None = None
    truth: str | None = None
    mean: Mean | None = None
    detectable: tuple[Detectable, ...]
    command: str
    python: str

    def column(self, name: str) -> ColumnLook:
        """The column of this name."""
        return next(column for column in self.columns if column.name == name)

    def to_dict(self) -> dict[str, Any]:
        """The look as plain data; `mean` only where the outcome is a number."""
        entry = asdict(self)
        return entry if self.mean is not None else {key: value for key, value in entry.items() if key != "mean"}

    def __str__(self) -> str:
        from ald.report.look import look_text

        return look_text(self)

    def _repr_html_(self) -> str:
        from ald.report.look import look_html

        return look_html(self)
