"""A table: named columns of one length. What every source is turned into."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from ald._core.arrays import AnyArray, IntArray
from ald.data.columns import Column, stack_columns
from ald.errors import ColumnError, InputError, nearest, shorten

_WORTH_THREADS = 200_000


@dataclass(frozen=True, kw_only=True)
class Table:
    """Columns by name, all of `n_rows` rows, and where they came from in words.

    counts: how many rows of the data each row stands for, where equal ones were counted. left_out: columns that were
    not read, with reasons. binned: columns whose values were cut into quantile bins. notes: what is to be said of it.
    """

    columns: dict[str, Column]
    n_rows: int
    source: str
    counts: IntArray | None = None
    left_out: dict[str, str] = field(default_factory=dict)
    binned: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Column:
        if name not in self.columns:
            raise ColumnError(f"there is no column {shorten(name)!r} in {self.source}. {nearest(name, self.columns)}")
        return self.columns[name]

    @property
    def rows(self) -> int:
        """The rows of the data."""
        return self.n_rows if self.counts is None else int(self.counts.sum())

    def take(self, rows: AnyArray) -> Table:
        """Some of the rows. Values that no longer occur are forgotten."""
        return replace(
            self,
            columns={name: column.take(rows) for name, column in self.columns.items()},
            n_rows=len(rows),
            counts=None if self.counts is None else self.counts[rows],
        )

    @property
    def names(self) -> list[str]:
        return list(self.columns)


def table_from(columns: Iterable[Column], source: str) -> Table:
    """A table of these columns, which must have different names and one length."""
    columns = list(columns)
    check_names([column.name for column in columns], source)
    lengths = {column.name: len(column.codes) for column in columns}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{shorten(name)!r} has {n:,}" for name, n in list(lengths.items())[:8])
        raise InputError(f"the columns of {source} differ in length: {shown}. Every column needs one value per row.")
    n_rows = next(iter(lengths.values()), 0)
    return Table(columns={column.name: column for column in columns}, n_rows=n_rows, source=source)


def names_to_read(names: Collection[str], excluded: Collection[str], source: str) -> list[str]:
    """The names of the columns of a source without those that are left out, which must be there."""
    for name in excluded:
        if name not in names:
            raise ColumnError(f"there is no column {shorten(name)!r} in {source}. {nearest(name, names)}")
    return [name for name in names if name not in excluded]


def worth_threads(values: int) -> bool:
    """Whether so many values, not yet coded, are worth being coded by several threads."""
    return values >= _WORTH_THREADS


def stack(first: Table, second: Table) -> Table:
    """The rows of both tables, first those of the first; columns that one of them lacks are left out."""
    names = [name for name in first.names if name in second.columns]
    if not names:
        raise InputError(f"{first.source} and {second.source} have no column in common")
    for table in (first, second):
        if table.binned:
            raise InputError(
                f"{table.source} is large, and its column {shorten(min(table.binned))!r} was cut into bins: then two "
                "data sets cannot be put together. Write both into one file, with a column that says which is which, "
                "and name that column as the split; or round the values."
            )
    columns = [stack_columns(first[name], second[name]) for name in names]
    notes = tuple(dict.fromkeys((*first.notes, *second.notes)))
    stacked = replace(table_from(columns, f"{first.source} and {second.source}"), notes=notes)
    if first.counts is None and second.counts is None:
        return stacked
    counts = [np.ones(one.n_rows, np.int64) if one.counts is None else one.counts for one in (first, second)]
    return replace(stacked, counts=np.concatenate(counts), left_out=first.left_out | second.left_out)


def row_numbers(table: Table) -> IntArray:
    """A number per row, the same for rows that are alike in every column."""
    numbers = np.zeros(table.n_rows, np.int64)
    for column in table.columns.values():
        numbers = np.unique(numbers * (column.n_codes + 1) + column.codes, return_inverse=True)[1]
    return numbers


def check_names(names: list[str], source: str) -> None:
    """Raises where two columns of a source share a name."""
    twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if twice:
        raise InputError(
            f"{source} has more than one column named {', '.join(repr(shorten(name)) for name in twice[:5])}. "
            "Column names must be unique: rename or remove the repeats."
        )
