"""Lazy frames of engines that hold the data themselves: one look, bins where numbers have too many values, one count.

The distinct rows come back with their counts if they fit into the memory. If not, a `RemoteTable` has what is needed to
go on where the rows are, if their engine can do more than group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from ald._core.arrays import FloatArray, IntArray
from ald.data.columns import MICROSECONDS_PER_DAY, Column, compact, from_numbers
from ald.data.identifiers import (
    IDENTIFIER_SHARE,
    Occurrences,
    judge_repeats,
    may_repeat,
    numbers_reason,
    words_reason,
)
from ald.data.inputs.bins import MOST_BINS, cut_note, free_bins, named_bounds
from ald.data.inputs.frames import Opened, arrow_series, series_column
from ald.data.inputs.reading import Reading
from ald.data.table import Table, check_names, names_to_read, table_from
from ald.errors import ColumnError, InputError, nearest, shorten
from ald.remote.engines.engine import Engine, PolarsEngine, Shape, UncountableError, one_row
from ald.remote.engines.failures import translate_errors
from ald.remote.engines.protocols import Kept, Marginal

_SOURCE = "the data"
# Pieces of equal width in which numbers are counted to find their quantiles, and how often a piece with too many rows
# is looked at more closely.
_PIECES = 1 << 17
_ZOOMS = 4
# Ranges that are wider or narrower than these are counted in other units.
_WIDEST, _NARROWEST, _STRETCH = 1e308, 1e-300, 2.0**600
# Engines may be wrong about numbers of different values by this factor.
_UNSURE = 1.3
# A piece has too many rows from this share of all on.
_HEAVY = 1 / 64


@dataclass(frozen=True, kw_only=True, eq=False)
class Cut:
    """A column in bins: what it is but for its codes, and the largest values of its bins as the engine has them."""

    shown: Column
    edges: FloatArray

    def column(self, series: nw.Series[Any]) -> Column:
        """The column, from the largest values of its bins."""
        numbers = np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
        codes = np.where(np.isnan(numbers), len(self.edges), np.searchsorted(self.edges, numbers))
        return replace(self.shown, codes=compact(codes, len(self.edges)))


@dataclass(frozen=True, kw_only=True, eq=False)
class RemoteTable:
    """Data that stays where it is: it has about `distinct` different rows, and the memory holds `most` of them.

    names: the columns of the frame, in its order. cut: those of them that are in bins. notes, by_column: as of a file
    that the engine opened.
    """

    engine: Engine
    frame: nw.LazyFrame[Any]
    names: tuple[str, ...]
    cut: Mapping[str, Cut]
    left_out: Mapping[str, str]
    rows: int
    distinct: int
    most: int
    source: str = _SOURCE
    notes: tuple[str, ...] = ()
    by_column: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def keep(self) -> Kept:
        """The rows where they are."""
        kept = self.engine.keep(self.frame)
        assert kept is not None
        return kept

    def error(self) -> InputError:
        """What to say to whom needs the rows in memory."""
        return InputError(
            f"{self.source} has about {self.distinct:,} different rows, of which {self.most:,} fit into memory: name "
            "fewer attributes, round their values, or give more memory_limit"
        )

    def column(self, name: str, marginal: Marginal) -> Column:
        """A column that has every distinct value once."""
        values, counts = marginal
        return _note(name, arrow_series(values), counts, self.cut, self.by_column)


def _note(
    name: str,
    series: nw.Series[Any],
    counts: IntArray,
    cut: Mapping[str, Cut],
    by_column: Mapping[str, tuple[str, ...]],
) -> Column:
    """A column of counted values, with what was said of it before."""
    column = cut[name].column(series) if name in cut else series_column(name, series, counts)
    return replace(column, notes=(*by_column.get(name, ()), *column.notes))


def count_rows(frame: nw.LazyFrame[Any], reading: Reading, opened: Opened) -> Table | RemoteTable:
    """The distinct rows of a lazy frame with their counts, numbers with very many values in bins; or where they are."""
    engine = engine_of(frame)
    with translate_errors(engine.name, engine.failures):
        return _count_rows(engine, frame, reading, opened)


def _count_rows(engine: Engine, frame: nw.LazyFrame[Any], reading: Reading, opened: Opened) -> Table | RemoteTable:
    engine.check(frame)
    names = [str(name) for name in frame.collect_schema().names()]
    check_names(names, _SOURCE)
    readable = names_to_read(names, reading.excluded, _SOURCE)
    wanted = readable if reading.needed is None else list(reading.needed)
    # Whatever has a role is looked for before anything is counted: that may take long.
    _check_there((*wanted, *sorted(reading.exact), *reading.kinds), names)
    frame = engine.number_columns(frame).select([f"c{names.index(name)}" for name in wanted])
    return _Counting(engine, engine.number_columns(frame), wanted, reading, opened).table()


def collect_rows(
    frame: nw.LazyFrame[Any], only: Sequence[str] | None, excluded: Sequence[str] = ()
) -> nw.DataFrame[Any]:
    """The rows of a lazy frame as they stand: all columns but those excluded, or only some; no other is computed."""
    engine = engine_of(frame)
    with translate_errors(engine.name, engine.failures):
        engine.check(frame)
        names = [str(name) for name in frame.collect_schema().names()]
        check_names(names, _SOURCE)
        readable = names_to_read(names, excluded, _SOURCE)
        wanted = {f"c{names.index(name)}": name for name in _check_there(readable if only is None else only, names)}
        return engine.number_columns(frame).select(list(wanted)).collect().rename(wanted)


def _check_there(wanted: Sequence[str], names: Sequence[str]) -> Sequence[str]:
    """What is wanted, if all of it is there."""
    for name in wanted:
        if name not in names:
            raise ColumnError(f"there is no column {shorten(name)!r} in {_SOURCE}. {nearest(name, names)}")
    return wanted


def engine_of(frame: nw.LazyFrame[Any]) -> Engine:
    """Who answers for this frame."""
    if frame.implementation.is_pyspark() or frame.implementation.is_pyspark_connect():
        from ald.remote.engines.spark import SparkEngine

        return SparkEngine()
    if frame.implementation.is_dask():
        from ald.remote.engines.dask import DaskEngine

        return DaskEngine()
    if frame.implementation.is_duckdb():
        from ald.remote.engines.duckdb import DuckDBEngine

        return DuckDBEngine()
    return PolarsEngine() if frame.implementation.is_polars() else Engine()


def _uncountable(name: str, kind: str) -> ColumnError:
    return ColumnError(
        f"column {shorten(name)!r} of {_SOURCE} holds values of type {kind}, which cannot be counted: "
        "name the attributes to audit, without it, or make a column of words of it"
    )


class _Counting:
    """One count: what is known of the columns, and what is made of them. Frames have the columns c0, c1, ..."""

    def __init__(
        self, engine: Engine, frame: nw.LazyFrame[Any], names: Sequence[str], reading: Reading, opened: Opened
    ) -> None:
        self.engine, self.frame, self.reading, self.opened = engine, frame, reading, opened
        self.column = {name: f"c{i}" for i, name in enumerate(names)}
        self.types = dict(zip(names, frame.collect_schema().dtypes(), strict=True))
        for name, dtype in self.types.items():
            if isinstance(dtype, (nw.List, nw.Array, nw.Struct)) or dtype == nw.Object:
                raise _uncountable(name, str(dtype))
        self.rows = 0
        self.shapes: dict[str, Shape] = {}
        self.cut: dict[str, Cut] = {}
        self.hints: list[str] = []

    def table(self) -> Table | RemoteTable:
        """The counted rows, or where they stay. Raises if they fit into no memory, and their engine can only group."""
        try:
            self.rows, by_column = self.engine.look(self.frame, list(self.column.values()))
        except UncountableError as error:
            name = next(name for name, column in self.column.items() if column == error.column)
            raise _uncountable(name, error.kind) from None
        if self.rows == 0:
            raise InputError(f"{_SOURCE} has no rows")
        self.shapes = {name: by_column[column] for name, column in self.column.items()}
        left_out = self._identifiers()
        kept = [name for name in self.column if name not in left_out]
        frame = self._with_bins(self.frame.select([self.column[name] for name in kept]), kept)
        most = self.reading.most_distinct
        values = (min(self.shapes[name].distinct, MOST_BINS if name in self.cut else self.rows) for name in kept)
        if min(self.rows, prod(_UNSURE * n + 1 for n in values)) > most:
            distinct = self.engine.distinct(frame)
            if distinct > most:
                remote = self._remote(frame, kept, left_out, distinct)
                if self.engine.keep(frame) is None:
                    raise remote.error()
                return remote
        grouped = frame.group_by([self.column[name] for name in kept]).agg(nw.len().alias("n")).collect("pyarrow")
        counts = grouped.get_column("n").to_numpy().astype(np.int64)
        columns = [self._column(name, grouped.get_column(self.column[name]), counts) for name in kept]
        table = replace(table_from(columns, _SOURCE), counts=counts)
        notes = (*self.opened.notes, *self.hints)
        return replace(table, left_out=left_out, binned=frozenset(self.cut), notes=notes)

    def _remote(
        self, frame: nw.LazyFrame[Any], kept: Sequence[str], left_out: Mapping[str, str], distinct: int
    ) -> RemoteTable:
        return RemoteTable(
            engine=self.engine,
            frame=frame,
            names=tuple(kept),
            cut=self.cut,
            left_out=left_out,
            rows=self.rows,
            distinct=distinct,
            most=self.reading.most_distinct,
            notes=(*self.opened.notes, *self.hints),
            by_column=self.opened.by_column,
        )

    def _identifiers(self) -> dict[str, str]:
        """Columns that identify people rather than describe them, unless the user wants them."""
        if self.reading.needed is not None:
            return {}
        out = {}
        for name, shape in self.shapes.items():
            if name in self.reading.exact or name in self.reading.kinds or name in self.reading.named:
                continue
            is_number = self._is_number(name)
            about = shape.distinct * _UNSURE
            if about <= MOST_BINS or (is_number and not self.types[name].is_integer()):
                continue
            if about > IDENTIFIER_SHARE * shape.known:
                distinct = self._distinct(self.column[name])
                if not is_number and distinct > max(IDENTIFIER_SHARE * shape.known, MOST_BINS):
                    out[name] = words_reason(distinct, shape.known)
                elif is_number and distinct == shape.known == self.rows:
                    out[name] = numbers_reason(self.rows)
            if name not in out and may_repeat(about, shape.known):
                reason, hint = judge_repeats(name, self._occurrences(self.column[name]), is_number=is_number)
                out |= {name: reason} if reason else {}
                self.hints += [hint] if hint and not self.reading.cluster else []
        return out

    def _occurrences(self, column: str) -> Occurrences:
        """How often the values of a column occur."""
        known = self.frame.select(column).filter(~nw.col(column).is_null())
        sizes = known.group_by(column).agg(nw.len().alias("rows"))
        found = sizes.group_by("rows").agg(nw.len().alias("values")).collect("pyarrow")
        rows, values = (found.get_column(name).to_numpy().astype(np.int64) for name in ("rows", "values"))
        return Occurrences(rows=rows, values=values)

    def _distinct(self, column: str) -> int:
        return int(one_row(self.frame.select(nw.col(column).n_unique().alias("n")))["n"])

    def _is_number(self, name: str) -> bool:
        dtype = self.types[name]
        return dtype.is_numeric() or dtype == nw.Date or isinstance(dtype, nw.Datetime)

    def _has_many(self, name: str) -> bool:
        """Whether a column of numbers has so many values that it is cut into bins."""
        if not self._is_number(name) or name in self.reading.exact:
            return False
        about = self.shapes[name].distinct
        # Estimates that come close are made sure of: what is cut shall not depend on the engine.
        close = MOST_BINS / _UNSURE < about < MOST_BINS * _UNSURE
        return (self._distinct(self.column[name]) if close else about) > MOST_BINS

    def _kind(self, name: str) -> str:
        """The kind of a column of numbers, dates or times."""
        if self.types[name].is_numeric():
            return "numeric"
        is_date = self.types[name] == nw.Date or self.reading.kinds.get(name) == "date"
        return "date" if is_date else "datetime"

    def _with_bins(self, frame: nw.LazyFrame[Any], kept: Sequence[str]) -> nw.LazyFrame[Any]:
        """The frame with the columns cut that have too many values."""
        many = [name for name in kept if self._has_many(name)]
        for name in many:
            frame = self.engine.measure(frame, self.column[name], as_days=self._kind(name) == "date")
        bounds = {name: named_bounds(self.reading.named.get(name, ()), self._kind(name)) for name in many}
        ranges = _ranges(frame, {self.column[name]: bounds[name] for name in many}) if many else {}
        for name in many:
            column, kind = self.column[name], self._kind(name)
            found = ranges[column]
            edges = _edges(frame, column, found, free_bins(bounds[name]))
            shown = from_numbers(name, edges, kind)
            if shown.kind != kind and found.within_days:
                shown = replace(shown, kind=kind, values=edges)
            note = cut_note(name, self.shapes[name].distinct, len(edges))
            shown = replace(shown, n_infinite=found.infinite, notes=(note,), binned=True)
            self.cut[name] = Cut(shown=shown, edges=edges)
        return self.engine.cut(frame, {self.column[name]: self.cut[name].edges for name in many}) if many else frame

    def _column(self, name: str, series: nw.Series[Any], counts: IntArray) -> Column:
        return _note(name, series, counts, self.cut, self.opened.by_column)


@dataclass(frozen=True, kw_only=True)
class _Range:
    """A measured column: its smallest and largest value, and the largest up to each bound that a group names.

    infinite: rows with an infinite value. within_days: rows with a time, in microseconds, that is not midnight.
    """

    low: float
    high: float
    named: tuple[float, ...]
    infinite: int
    within_days: int


def _ranges(frame: nw.LazyFrame[Any], bounds: Mapping[str, Sequence[float]]) -> dict[str, _Range]:
    """The ranges of measured columns, by one question."""
    asked = []
    for column, own in bounds.items():
        x = nw.col(column)
        finite = x.is_finite() & ~x.is_null()
        one = nw.lit(1)
        asked += [
            nw.when(finite).then(x).min().alias(f"{column}_low"),
            nw.when(finite).then(x).max().alias(f"{column}_high"),
            nw.when(x.abs() == float("inf")).then(one).sum().alias(f"{column}_infinite"),
            nw.when(finite & (x % MICROSECONDS_PER_DAY != 0)).then(one).sum().alias(f"{column}_within"),
        ]
        for i, bound in enumerate(own):
            for sign, below in (("lt", x < bound), ("le", x <= bound)):
                asked.append(nw.when(finite & below).then(x).max().alias(f"{column}_{sign}{i}"))
    found = one_row(frame.select(asked))

    def of(column: str) -> _Range:
        named = (found[f"{column}_{sign}{i}"] for i in range(len(bounds[column])) for sign in ("lt", "le"))
        return _Range(
            low=float(found[f"{column}_low"]),
            high=float(found[f"{column}_high"]),
            named=tuple(float(value) for value in named if value is not None and value == value),
            infinite=int(found[f"{column}_infinite"] or 0),
            within_days=int(found[f"{column}_within"] or 0),
        )

    return {column: of(column) for column in bounds}


def _edges(frame: nw.LazyFrame[Any], column: str, found: _Range, bins: int) -> FloatArray:
    """The largest values of so many quantile bins, all of them values of the data; named values have their own."""
    finite = frame.select(nw.col(column).alias("x")).filter(nw.col("x").is_finite())
    counts, ends = _pieces(finite, found.low, found.high, _ZOOMS)
    running = np.cumsum(counts)
    at = np.searchsorted(running, np.ceil(running[-1] * np.arange(1, bins + 1) / bins))
    return np.unique(np.concatenate([ends[at], found.named])) + 0.0


def _pieces(finite: nw.LazyFrame[Any], low: float, high: float, zooms: int) -> tuple[IntArray, FloatArray]:
    """Rows per piece of a range and the largest value in each, ascending; pieces with very many rows in finer ones."""
    if not low < high:
        rows = int(one_row(finite.select(nw.len().alias("n")))["n"])
        return np.array([rows]), np.array([high])
    x = nw.col("x")
    # Neither the width of a range nor how many pieces make a unit may overflow: a power of two changes no digit.
    unit = 0.5 if high / 2 - low / 2 > _WIDEST / 2 else _STRETCH if high - low < _NARROWEST else 1.0
    scale = _PIECES / (high * unit - low * unit)
    numbered = finite.with_columns(((x * unit - low * unit) * scale).floor().alias("piece"))
    asked = numbered.group_by("piece").agg(nw.len().alias("n"), x.min().alias("low"), x.max().alias("high"))
    found = asked.collect("pyarrow").sort("piece")
    n = found.get_column("n").to_numpy().astype(np.int64)
    lows, highs = (found.get_column(name).to_numpy().astype(np.float64) for name in ("low", "high"))
    heavy = np.flatnonzero((n > _HEAVY * n.sum()) & (lows < highs)) if zooms else np.zeros(0, np.int64)
    counts, ends, at = [], [], 0
    for i in heavy.tolist():
        inside = finite.filter((x >= lows[i]) & (x <= highs[i]))
        finer = _pieces(inside, float(lows[i]), float(highs[i]), zooms - 1)
        counts += [n[at:i], finer[0]]
        ends += [highs[at:i], finer[1]]
        at = i + 1
    return np.concatenate([*counts, n[at:]]), np.concatenate([*ends, highs[at:]])
