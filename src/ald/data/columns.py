"""A column as the data layer sees it: integer codes into sorted numbers or into levels.

Codes are canonical: they depend on the set of values, never on the order of the rows. The code one past the
last value means "missing".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ald._core import kernels
from ald._core.arrays import AnyArray, BoolArray, CodeArray, FloatArray, IntArray
from ald.data.notes import Note
from ald.errors import AldError, ColumnError, shorten
from ald.groups.criterion import (
    CLOSED,
    INTERVAL_KINDS,
    Condition,
    Interval,
    Levels,
    format_bound,
    parse_bound,
)

# What stands for "no value" where all other values of the column are numbers.
MISSING_WORDS = frozenset(
    {"", "na", "n/a", "nan", "null", "none", "nil", "?", ".", "-", "--", "#n/a", "<na>", "missing"}
)

MICROSECONDS_PER_DAY = 86_400_000_000

_WHOLE = re.compile(r"[-+]?\d{16,4000}")
# Bytes that stand for themselves in texts.
_SHOWN = frozenset(range(32, 127)) - frozenset(b"\"'\\")
# Whole numbers from here on may be equal in floating point, and yet different.
_EXACT = 2**53
# Integer columns with a range up to this many times the rows are coded by counting instead of sorting.
_DENSE_RANGE = 4
# Values by which it shows at once that numbers are not whole.
_LOOK = 1000


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column: `codes` into `values` (numbers, dates) or into `levels` (words).

    binned: whether a value stands for all up to it, from the one before on.
    """

    name: str
    kind: str
    codes: CodeArray
    values: FloatArray | None = None
    levels: tuple[str, ...] = ()
    n_infinite: int = 0
    notes: tuple[str, ...] = field(default=())
    binned: bool = False

    @property
    def n_codes(self) -> int:
        """Distinct values; also the code that means "missing"."""
        return len(self.levels) if self.values is None else len(self.values)

    @property
    def missing(self) -> BoolArray:
        return np.asarray(self.codes == self.n_codes)

    @cached_property
    def rows(self) -> IntArray:
        """How many rows have each code, the last one for "missing"."""
        return tally(self.codes, self.n_codes + 1)

    def n_missing(self, counts: IntArray | None = None) -> int:
        """How many rows have no value, where `counts` says how many rows each one stands for."""
        return int(self.rows[-1] if counts is None else counts[self.missing].sum())

    @property
    def is_integer(self) -> bool:
        """Whether this is a numeric column of whole numbers."""
        return self.kind == "numeric" and self.values is not None and bool(np.all(self.values == np.floor(self.values)))

    @property
    def has_points(self) -> bool:
        """Whether people would name a value by itself: a whole number, a date, or one of two values."""
        counted = self.is_integer or self.kind == "date" or self.n_codes == 2
        return self.values is not None and counted and not self.binned

    def words(self) -> list[str]:
        """The distinct values as text, in code order."""
        if self.values is None:
            return list(self.levels)
        return [format_bound(value, self.kind) for value in self.values.tolist()]

    def as_kind(self, kind: str | Sequence[str]) -> Column:
        """The same column read as another kind; a sequence of levels makes it ordinal in that order."""
        if not isinstance(kind, str):
            return self._as_ordinal([as_word(level) for level in kind])
        if kind == self.kind:
            return self
        if kind == "ordinal" and self.values is not None:
            return replace(self, kind="ordinal", values=None, levels=tuple(self.words()))
        if kind in ("nominal", "boolean"):
            words = self.words()
            if kind == "boolean" and len(words) > 2:
                raise ColumnError(f"column {self.name!r} cannot be boolean: it has {len(words)} different values")
            return _from_words(self.name, kind, self.codes, words)
        if kind == "numeric":
            return self._as_numeric()
        if kind in ("date", "datetime"):
            return self._as_time(kind)
        if kind == "ordinal":
            raise ColumnError(
                f"column {self.name!r} holds words, and their order is not known. Give it, lowest first: "
                f"ald.source(data, kinds={{{self.name!r}: [...]}}) (command line: --kind '{self.name}=low<mid<high')"
            )
        raise ColumnError(f"column {self.name!r} of kind {self.kind} cannot be read as {kind!r}")

    def _as_ordinal(self, order: list[str]) -> Column:
        words = self.words()
        unknown = [word for word in words if word not in set(order)]
        if unknown or len(set(order)) < len(order):
            raise ColumnError(
                f"the order given for column {self.name!r} must name each of its levels once; "
                + (f"it lacks {shorten(unknown[0])!r}" if unknown else "it repeats one")
            )
        position = {word: i for i, word in enumerate(order)}
        translate = np.array([position[word] for word in words] + [len(order)])
        codes = compact(translate[self.codes], len(order))
        return replace(self, kind="ordinal", values=None, levels=tuple(order), codes=codes)._drop_unused()

    def _as_numeric(self) -> Column:
        if self.values is not None:
            return replace(self, kind="numeric")
        numbers = parse_numbers(self.levels)
        if numbers is None:
            bad = next(word for word in self.levels if parse_numbers((word,)) is None)
            raise ColumnError(f"column {self.name!r} cannot be numeric: it holds the value {shorten(bad)!r}")
        table = np.append(numbers, np.nan)
        return from_numbers(self.name, table[self.codes])

    def _as_time(self, kind: str) -> Column:
        """The column as dates or times, from the other of these kinds or from words such as 2024-12-31 09:30."""
        if self.kind == "numeric":
            raise ColumnError(f"column {self.name!r} holds numbers, which cannot be read as {kind!r}")
        if self.values is not None:
            days = self.kind == "date"
            table = self.values * MICROSECONDS_PER_DAY if days else np.floor(self.values / MICROSECONDS_PER_DAY)
        else:
            table = np.empty(len(self.levels))
            for i, word in enumerate(self.levels):
                try:
                    table[i] = np.nan if word.strip().casefold() in MISSING_WORDS else parse_bound(word.strip(), kind)
                except ValueError:
                    raise ColumnError(
                        f"column {self.name!r} cannot be of kind {kind!r}: it holds the value {shorten(word)!r}, not "
                        "one of the form 2024-12-31" + ("" if kind == "date" else " or 2024-12-31 09:30:00")
                    ) from None
        column = from_numbers(self.name, np.append(table, np.nan)[self.codes])
        return replace(column, kind=kind, binned=self.binned)

    def matches(self, condition: Condition) -> BoolArray:
        """Which rows satisfy a condition on this column. A missing value satisfies none but "missing"."""
        if condition.kind != self.kind and condition.kind in INTERVAL_KINDS:
            return self.as_kind(condition.kind).matches(condition)
        allowed = np.zeros(self.n_codes + 1, dtype=bool)
        if isinstance(condition, Levels):
            wanted = set(condition.levels)
            allowed[:-1] = [(word in wanted) != condition.negated for word in self.words()]
            allowed[-1] = None in wanted and not condition.negated
        else:
            allowed[:-1] = _within(condition, self.values)
        return np.asarray(allowed[self.codes])

    def take(self, rows: AnyArray) -> Column:
        """The column of some of the rows. Values that no longer occur are forgotten."""
        return replace(self, codes=self.codes[rows])._drop_unused()

    def _drop_unused(self) -> Column:
        present = self.rows[:-1] > 0
        if present.all():
            return self
        n = int(present.sum())
        translate = np.append(np.cumsum(present) - 1, n)
        return replace(
            self,
            codes=compact(translate[self.codes], n),
            values=None if self.values is None else self.values[present],
            levels=tuple(level for level, there in zip(self.levels, present, strict=False) if there),
        )


def _within(condition: Interval, values: FloatArray | None) -> BoolArray:
    assert values is not None
    inside = np.ones(len(values), dtype=bool)
    has_lower, has_upper = CLOSED[condition.closed]
    if condition.lower is not None:
        inside &= values >= condition.lower if has_lower else values > condition.lower
    if condition.upper is not None:
        inside &= values <= condition.upper if has_upper else values < condition.upper
    return inside


def compact(codes: AnyArray, n_codes: int) -> CodeArray:
    """Codes in the smallest unsigned type that also holds the code for "missing"."""
    dtype: Any = np.uint8 if n_codes < 2**8 else np.uint16 if n_codes < 2**16 else np.uint32
    return np.ascontiguousarray(codes, dtype=dtype)


def tally(codes: CodeArray, size: int) -> IntArray:
    """How many rows have each of so many codes."""
    compiled = kernels.tables()
    if compiled is None:
        return np.bincount(codes, minlength=size)
    out = np.empty(size, np.int64)
    compiled.tally(np.ascontiguousarray(codes), out)
    return out


def translated(codes: CodeArray, table: CodeArray) -> CodeArray:
    """For every code its entry of the table."""
    compiled = kernels.tables()
    if compiled is None:
        return table[codes]
    out = np.empty(len(codes), table.dtype)
    compiled.translate(np.ascontiguousarray(codes), table, out)
    return out


def _as_unsigned(values: AnyArray) -> AnyArray:
    """Whole numbers as unsigned ones of the same bytes: differences are right wherever they are not negative."""
    return values.view(values.dtype.str.replace("i", "u"))


def parse_numbers(words: Sequence[str]) -> FloatArray | None:
    """The words as numbers, NaN where a word stands for "no value"; None if any other word is not a number."""
    numbers = np.empty(len(words))
    for i, word in enumerate(words):
        if word.strip().casefold() in MISSING_WORDS:
            numbers[i] = np.nan
            continue
        if "_" in word:
            return None
        try:
            numbers[i] = float(word)
        except ValueError:
            return None
    return numbers


def merge_in(words: Sequence[str]) -> bool:
    """Whether some of the words are different whole numbers, and yet equal in floating point."""
    return _merge([int(word) for word in words if _WHOLE.fullmatch(word.strip())])


def infinite_note(name: str, n: int) -> str:
    """What is said of so many infinite values of a column."""
    return Note.of(lambda people: f"{people(n)} infinite values of {shorten(name)!r} count as missing")


def from_numbers(name: str, values: AnyArray, kind: str = "numeric", missing: BoolArray | None = None) -> Column:
    """A column of numbers, or of dates as days and times as microseconds. NaN and infinity are missing.

    Times that are all midnights are dates: not every library knows dates.
    """
    column = _code_numbers(name, values, kind, missing)
    if kind != "datetime" or column.values is None or not len(column.values):
        return column
    days = column.values / MICROSECONDS_PER_DAY
    return replace(column, kind="date", values=days) if bool(np.all(days == np.floor(days))) else column


def _code_numbers(name: str, values: AnyArray, kind: str, missing: BoolArray | None) -> Column:
    n_infinite = 0
    if values.dtype.kind in "iu":
        coded = _count_codes(values, missing)
        if coded is not None:
            return Column(name=name, kind=kind, codes=coded[0], values=coded[1])
        numbers = values.astype(np.float64)
        absent = np.zeros(len(values), bool) if missing is None else missing
        words = _whole_words(name, values, absent) if kind == "numeric" else None
        if words is not None:
            return words
    else:
        numbers = values.astype(np.float64)
        absent = ~np.isfinite(numbers)
        n_infinite = int(np.count_nonzero(np.isinf(numbers)))
        if missing is not None:
            absent = absent | missing
        coded = _count_whole(numbers, absent)
        if coded is not None:
            return Column(name=name, kind=kind, codes=coded[0], values=coded[1], n_infinite=n_infinite)
    some_absent = bool(absent.any())
    distinct, inverse = np.unique(numbers[~absent] if some_absent else numbers, return_inverse=True)
    distinct = distinct + 0.0  # -0.0 and 0.0 are one value: it prints as 0
    if some_absent:
        codes = np.full(len(numbers), len(distinct))
        codes[~absent] = inverse
    else:
        codes = inverse
    return Column(name=name, kind=kind, codes=compact(codes, len(distinct)), values=distinct, n_infinite=n_infinite)


def _whole_words(name: str, values: AnyArray, absent: BoolArray) -> Column | None:
    """Whole numbers as words, if some that differ are one number in floating point: long identifiers, mostly."""
    own = values[~absent]
    if len(own) == 0 or max(abs(int(own.min())), abs(int(own.max()))) < _EXACT:
        return None
    distinct, inverse = np.unique(own, return_inverse=True)
    if not _merge(distinct.tolist()):
        return None
    codes = np.full(len(values), -1)
    codes[~absent] = inverse
    column = from_levels(name, codes, [str(number) for number in distinct.tolist()])
    return replace(column, notes=(precision_note(name),))


def _merge(numbers: Sequence[int]) -> bool:
    """Whether some of different whole numbers are equal in floating point."""
    long = [number for number in numbers if abs(number) >= _EXACT]
    return len({_as_float(number) for number in long}) < len(long)


def precision_note(name: str) -> str:
    """What is said of a column of such numbers."""
    return (
        f"{shorten(name)!r} holds whole numbers that differ only in digits beyond the precision of floating point: "
        "they are read as words"
    )


def _count_codes(values: AnyArray, missing: BoolArray | None) -> tuple[CodeArray, FloatArray] | None:
    """Codes of whole numbers in a narrow range, by counting: no sort."""
    gone = missing is not None and bool(missing.any())
    known = values[~missing] if gone and missing is not None else values
    if len(known) == 0:
        return None
    low, high = int(known.min()), int(known.max())
    size = high - low + 1
    if size > _DENSE_RANGE * len(values) + 1025 or max(abs(low), abs(high)) >= _EXACT:
        return None
    shifted = compact(_as_unsigned(values) - _as_unsigned(np.array(low, values.dtype)), size if gone else size - 1)
    if gone:
        shifted[missing] = size
    present = tally(shifted, size + 1)[:size] > 0
    distinct = np.flatnonzero(present)
    table = compact(np.append(np.cumsum(present) - 1, len(distinct)), len(distinct))
    as_they_are = len(distinct) == size and table.dtype == shifted.dtype
    return shifted if as_they_are else translated(shifted, table), (distinct + low).astype(np.float64)


def _count_whole(numbers: FloatArray, absent: BoolArray) -> tuple[CodeArray, FloatArray] | None:
    """The same of numbers in floating point, if they are whole; a few tell where they are not."""
    for some in (slice(_LOOK), slice(None)):
        there = np.where(absent[some], 0.0, numbers[some])
        if not (np.abs(there) < _EXACT).all() or not (there == np.trunc(there)).all():
            return None
    return _count_codes(there.astype(np.int64), absent)


def from_levels(
    name: str, codes: AnyArray, levels: Sequence[str], *, kind: str = "nominal", ordered: bool = False
) -> Column:
    """A column of words from codes (-1 for missing) into levels in any order.

    Unless ordered, levels are sorted by code point; levels that do not occur are dropped.
    """
    codes = np.asarray(codes)
    n = len(levels)
    # Entry 0 answers for "missing".
    shifted = compact(codes.astype(np.int64) + 1 if codes.dtype.kind == "u" else _as_unsigned(codes) + 1, n)
    kept = np.flatnonzero(tally(shifted, n + 1)[1:]).tolist()
    if not ordered:
        kept.sort(key=lambda i: levels[i])
    table = np.full(n + 1, len(kept))
    table[[i + 1 for i in kept]] = np.arange(len(kept))
    words = tuple(levels[i] for i in kept)
    return Column(
        name=name,
        kind="ordinal" if ordered else kind,
        codes=translated(shifted, compact(table, len(kept))),
        levels=words,
    )


def _from_words(name: str, kind: str, codes: AnyArray, words: Sequence[str]) -> Column:
    """A column of words from codes whose last value means missing; equal words become one level."""
    distinct = sorted(set(words))
    position = {word: i for i, word in enumerate(distinct)}
    translate = np.array([position[word] for word in words] + [len(distinct)])
    return Column(name=name, kind=kind, codes=compact(translate[codes], len(distinct)), levels=tuple(distinct))


def from_objects(name: str, values: Sequence[Any]) -> Column:
    """A column of arbitrary Python values: numbers or dates if all are, else words; None and NaN are missing."""
    keys: dict[Any, int] = {}
    try:
        if _mixes_bools(values):  # True == 1, and yet they are different words
            pairs = ((type(value) is bool, value) for value in values)
            codes = np.fromiter((keys.setdefault(pair, len(keys)) for pair in pairs), np.int64, len(values))
            distinct = [value for _, value in keys]
        else:
            codes = np.fromiter((keys.setdefault(value, len(keys)) for value in values), np.int64, len(values))
            distinct = list(keys)
    except TypeError:  # lists, dictionaries and the like: they are compared by what they say
        return from_objects(name, [None if value is None else str(value) for value in values])
    absent = [_is_absent(value) for value in distinct]
    real = [value for value, gone in zip(distinct, absent, strict=True) if not gone]
    read, kind = _reader(real)
    if read is not None:
        table = np.array([np.nan if gone else read(value) for value, gone in zip(distinct, absent, strict=True)])
        return from_numbers(name, table[codes], kind)
    words = ["" if gone else as_word(value) for value, gone in zip(distinct, absent, strict=True)]
    merged = sorted({word for word, gone in zip(words, absent, strict=True) if not gone})
    position = {word: i for i, word in enumerate(merged)}
    translate = np.array([-1 if gone else position[word] for word, gone in zip(words, absent, strict=True)])
    column = from_levels(name, translate[codes] if len(codes) else codes, merged, kind=kind)
    are_numbers = real and all(isinstance(value, _NUMBERS) for value in real) and kind == "nominal"
    return replace(column, notes=(precision_note(name),)) if are_numbers else column


def _mixes_bools(values: Sequence[Any]) -> bool:
    types = set(map(type, values))
    return bool in types and not types <= {bool, type(None)}


def _is_absent(value: object) -> bool:
    if value is None or type(value).__name__ == "NAType":
        return True
    return bool(value != value)


def _reader(values: Sequence[Any]) -> tuple[Callable[[Any], float] | None, str]:
    """How to read values that are all numbers or all dates as floats, and their kind; None for words."""
    if not values:
        return None, "nominal"
    if all(isinstance(value, (bool, np.bool_)) for value in values):
        return None, "boolean"
    if all(isinstance(value, _NUMBERS) for value in values):
        whole = [int(value) for value in values if isinstance(value, (int, np.integer))]
        return (None, "nominal") if _merge(whole) else (_as_float, "numeric")
    if all(isinstance(value, (date, np.datetime64)) for value in values):
        return _as_microseconds, "datetime"
    return None, "nominal"


_NUMBERS = (int, float, np.integer, np.floating, np.bool_, Decimal, Fraction)


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def _as_microseconds(value: Any) -> float:
    if isinstance(value, np.datetime64):
        return float(value.astype("datetime64[us]").astype(np.int64))
    if not isinstance(value, datetime):
        return parse_bound(value.isoformat(), "date") * MICROSECONDS_PER_DAY
    return parse_bound(value.isoformat(timespec="microseconds"), "datetime")


def as_word(value: object) -> str:
    """A value as the name of a level: whole floats lose their ".0", so that 1 and 1.0 are one level.

    Bytes are the text that DuckDB makes of those in files: different ones stay different.
    """
    if isinstance(value, (float, np.floating)) and float(value).is_integer() and abs(float(value)) < 1e15:
        return str(int(value))
    if isinstance(value, bytes):
        return "".join(chr(byte) if byte in _SHOWN else f"\\x{byte:02X}" for byte in value)
    return str(value)


@contextmanager
def readable(name: str) -> Iterator[None]:
    """Whatever objects of other libraries, or of the caller, raise while a column is read is an error in words.

    Values are not quoted: a column that cannot be read may hold anything.
    """
    try:
        yield
    except (AldError, MemoryError):
        raise
    except UnicodeError:
        raise ColumnError(
            f"column {shorten(name)!r} holds text that is not valid Unicode: repair or exclude it"
        ) from None
    except Exception as error:
        raise ColumnError(
            f"column {shorten(name)!r} cannot be read: a {type(error).__name__} came up over one of its values. Turn "
            "them into numbers, texts or dates, or exclude the column"
        ) from error


def is_interval_kind(kind: str) -> bool:
    """Whether conditions on attributes of this kind are intervals of numbers."""
    return kind in INTERVAL_KINDS


def stack_columns(first: Column, second: Column) -> Column:
    """Two columns of one name, one after the other. Where their kinds differ, both are read as words."""
    if first.kind != second.kind:
        kinds = f"{first.kind} in the first data set and {second.kind} in the second"
        note = f"{shorten(first.name)!r} is {kinds}: it is read as words. Give its kind if that is wrong."
        first, second = replace(first.as_kind("nominal"), notes=(note,)), second.as_kind("nominal")
    n_infinite, notes = first.n_infinite + second.n_infinite, (*first.notes, *second.notes)
    tables = []
    if first.values is not None and second.values is not None:
        values = np.union1d(first.values, second.values)
        tables = [np.append(np.searchsorted(values, own), len(values)) for own in (first.values, second.values)]
        joined = Column(name=first.name, kind=first.kind, codes=first.codes, values=values)
    else:
        levels = _joint_order(first, second) if first.kind == "ordinal" else sorted({*first.levels, *second.levels})
        position = {level: i for i, level in enumerate(levels)}
        tables = [np.array([*(position[level] for level in one.levels), len(levels)]) for one in (first, second)]
        joined = Column(name=first.name, kind=first.kind, codes=first.codes, levels=tuple(levels))
    codes = np.concatenate([table[one.codes] for table, one in zip(tables, (first, second), strict=True)])
    return replace(joined, codes=compact(codes, joined.n_codes), n_infinite=n_infinite, notes=notes)


def _joint_order(first: Column, second: Column) -> list[str]:
    """The levels of two ordered columns in an order that is that of both."""
    longer, shorter = sorted((first.levels, second.levels), key=len, reverse=True)
    if [level for level in longer if level in set(shorter)] != list(shorter):
        raise ColumnError(
            f"the levels of {first.name!r} are ordered differently in both data sets. Give their order, lowest first: "
            f"ald.source(data, kinds={{{first.name!r}: [...]}})"
        )
    return list(longer)
