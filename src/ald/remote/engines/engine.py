"""What is asked of an engine that holds a table: about how many different values and rows it has, and bins of numbers.

Everything here is said with Narwhals, so that it runs wherever Narwhals gets to a group-by. Engines that do some of it
better, and those that can run our functions next to their rows, are in modules of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
from narwhals.exceptions import NarwhalsError

from ald._core.arrays import FloatArray
from ald.data.columns import MICROSECONDS_PER_DAY
from ald.remote.engines.protocols import Kept


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What is known of a column before it is read: about how many different values, how many rows have one."""

    distinct: int
    known: int


class UncountableError(Exception):
    """A column, by its place, holds values that cannot be compared; `kind` says which."""

    def __init__(self, column: str, kind: str) -> None:
        super().__init__(column, kind)
        self.column, self.kind = column, kind


class Engine:
    """An engine that can only group and count. Frames have the columns c0, c1, ...

    name: as errors call it. failures: what it raises when it cannot read the data.
    """

    name = "the engine"
    failures: tuple[type[Exception], ...] = (OSError, NarwhalsError)

    def number_columns(self, frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        """The frame with its columns as c0, c1, ..., whatever their names are."""
        return frame.rename({name: f"c{i}" for i, name in enumerate(frame.collect_schema().names())})

    def check(self, frame: nw.LazyFrame[Any]) -> None:
        """Raises if this is something that has no end, or whose names repeat."""

    def look(self, frame: nw.LazyFrame[Any], columns: Sequence[str]) -> tuple[int, dict[str, Shape]]:
        """The number of rows, and the shape of every column; `UncountableError` where values cannot be compared."""
        asked = [nw.len().alias("rows")]
        for column in columns:
            asked += [nw.col(column).n_unique().alias(f"{column}_d"), nw.col(column).count().alias(f"{column}_k")]
        found = one_row(frame.select(asked))
        # Of no rows, some engines know no number of different values.
        shapes = {c: Shape(distinct=int(found[f"{c}_d"] or 0), known=int(found[f"{c}_k"])) for c in columns}
        return int(found["rows"]), shapes

    def distinct(self, frame: nw.LazyFrame[Any]) -> int:
        """About how many different rows there are."""
        return int(one_row(frame.unique().select(nw.len().alias("n")))["n"])

    def measure(self, frame: nw.LazyFrame[Any], column: str, *, as_days: bool) -> nw.LazyFrame[Any]:
        """The frame with a column of numbers, dates (days) or times (microseconds) as floating-point numbers."""
        dtype = frame.collect_schema()[column]
        number = nw.col(column)
        if isinstance(dtype, nw.Datetime) and dtype.time_zone:
            number = number.dt.convert_time_zone("UTC")
        if dtype == nw.Date or as_days:
            number = _days(number)
        elif isinstance(dtype, nw.Datetime):
            seconds = (number.dt.hour() * 60 + number.dt.minute()) * 60 + number.dt.second()
            fraction = number.dt.microsecond().cast(nw.Float64)
            number = _days(number) * MICROSECONDS_PER_DAY + seconds.cast(nw.Float64) * 1e6 + fraction
        return frame.with_columns(number.cast(nw.Float64).alias(column))

    def cut(self, frame: nw.LazyFrame[Any], edges: Mapping[str, FloatArray]) -> nw.LazyFrame[Any]:
        """The frame with the values of some measured columns replaced by the largest values of their bins."""
        known = {c: (nw.col(c).is_finite() & ~nw.col(c).is_null()) for c in edges}
        return frame.with_columns(
            nw.when(known[column]).then(_bin(nw.col(column), ends.tolist())).alias(column)
            for column, ends in edges.items()
        )

    def keep(self, frame: nw.LazyFrame[Any]) -> Kept | None:
        """The rows as something that our functions can be sent to; None if the engine only groups and counts."""
        return None


class PolarsEngine(Engine):
    """Polars, whose lazy frames are collected."""

    name = "Polars"


def lazy(native: Any) -> nw.LazyFrame[Any]:
    """An engine's own frame as one of Narwhals."""
    frame: nw.LazyFrame[Any] = nw.from_native(native)
    return frame


def one_row(frame: nw.LazyFrame[Any]) -> dict[str, Any]:
    """The one row of a result."""
    return next(iter(frame.collect("pyarrow").iter_rows(named=True)))


def _days(time: nw.Expr) -> nw.Expr:
    """Days since 1970-01-01, from the year and the day in it: few engines say it at once."""
    year = time.dt.year().cast(nw.Float64)
    leap = ((year - 1969) / 4).floor() - ((year - 1901) / 100).floor() + ((year - 1601) / 400).floor()
    return (year - 1970) * 365 + leap.cast(nw.Float64) + time.dt.ordinal_day().cast(nw.Float64) - 1


def _bin(value: nw.Expr, ends: Sequence[float]) -> nw.Expr:
    """The first end that is not smaller, by comparisons that halve what is left."""
    if len(ends) == 1:
        return nw.lit(ends[0])
    middle = len(ends) // 2
    lower, upper = _bin(value, ends[:middle]), _bin(value, ends[middle:])
    return nw.when(value <= ends[middle - 1]).then(lower).otherwise(upper)
