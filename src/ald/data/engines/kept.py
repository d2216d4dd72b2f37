"""Rows that stay where they are: functions are sent to their partitions, and only what they return comes back."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from ald.arrays import AnyArray, IntArray
from ald.data.coded import weighted_bincount
from ald.data.engines.blocks import Layout

# Rows that are coded, and held as one block, at a time.
CHUNK = 1 << 18
# Rows of one partition of blocks: all that a task has in memory.
PARTITION = 1 << 20

# From the blocks of a partition to keys and rows of numbers, which are added up by key.
Summand = Callable[[Sequence[bytes]], tuple[IntArray, IntArray]]
# From the blocks of a partition to anything that can be pickled.
Gatherer = Callable[[Sequence[bytes]], Any]
# The distinct values of a column, and how many rows have each.
Marginal = tuple[Any, IntArray]


class Blocks(Protocol):
    """Distinct coded rows with their counts, in partitions. What is asked never depends on how they are parted."""

    def summed(self, function: Summand, width: int) -> tuple[IntArray, IntArray]:
        """The keys that occur, ascending, and the sums of their rows of `width` numbers, over all partitions."""

    def gathered(self, function: Gatherer) -> list[Any]:
        """What the function returns for every partition, in any order."""

    def close(self) -> None:
        """Forgets the rows."""


class Kept(Protocol):
    """Rows of values, in partitions."""

    def marginals(self) -> list[Marginal]:
        """Per column its distinct values and their counts."""

    def coded(self, coder: RowCoder, rows: int) -> Blocks:
        """The distinct rows as codes. rows: about how many there are."""


class RowCoder:
    """How rows become bytes: one code per value of every column that is used, in the layout of the blocks."""

    def __init__(self, layout: Layout, columns: Sequence[ColumnCoder], cell: Sequence[CellCoder], half: Any) -> None:
        """cell: their numbers are added up to the confusion cell. half: the column that says which half, or None."""
        self.layout, self.columns, self.cell, self.half = layout, columns, cell, half

    def keys(self, table: pa.Table) -> AnyArray:
        """The bytes of every row: [rows, width]."""
        codes = [column.codes(table) for column in self.columns]
        n = table.num_rows
        cells = sum((part.codes(table) for part in self.cell), np.zeros(n, np.int64))
        half = np.zeros(n, np.int64) if self.half is None else self.half.codes(table)
        return self.layout.packed(codes, cells, half)


class ColumnCoder:
    """The number of every value of a column: `numbers` by position in the distinct values."""

    def __init__(self, position: int, values: Any, numbers: IntArray) -> None:
        self.position, self.values, self.numbers = position, values, numbers

    def codes(self, table: pa.Table) -> IntArray:
        column = table.column(self.position)
        at = pc.index_in(column, value_set=self.values)
        return np.asarray(self.numbers[np.asarray(at.to_numpy()).astype(np.int64)])


# The part of the confusion cell that a column of outcomes says.
CellCoder = ColumnCoder


def chunks(batches: Iterable[pa.RecordBatch], rows: int = CHUNK) -> Iterator[pa.Table]:
    """Batches as tables of at least so many rows, but for the last."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(one.num_rows for one in waiting) >= rows:
            yield pa.Table.from_batches(waiting)
            waiting = []
    if waiting:
        yield pa.Table.from_batches(waiting)


def partition_marginals(tables: Iterable[pa.Table]) -> bytes:
    """The distinct values and counts of every column of a partition, in bytes."""
    merged: list[Marginal] | None = None
    for table in tables:
        here = [_counted(column) for column in table.columns]
        merged = here if merged is None else merged_marginals([merged, here])
    return pickle.dumps(merged)


def _counted(column: pa.ChunkedArray) -> Marginal:
    counted = pc.value_counts(column)
    return counted.field("values"), counted.field("counts").to_numpy().astype(np.int64)


def merged_marginals(parts: Iterable[Sequence[Marginal]]) -> list[Marginal]:
    """The distinct values and counts of several parts of the data."""
    out = []
    for columns in zip(*parts, strict=True):
        values = pa.chunked_array([values for values, _ in columns])
        counted = pa.table({"v": values, "n": np.concatenate([counts for _, counts in columns])})
        summed = counted.group_by("v").aggregate([("n", "sum")])
        out.append((summed["v"].combine_chunks(), summed["n_sum"].to_numpy().astype(np.int64)))
    return out


def sum_by_key(parts: Sequence[tuple[IntArray, IntArray]], width: int) -> tuple[IntArray, IntArray]:
    """Rows of numbers added up by their keys; keys ascending."""
    keys = np.concatenate([np.zeros(0, np.int64), *(keys for keys, _ in parts)])
    values = np.concatenate([np.zeros((0, width), np.int64), *(values for _, values in parts)])
    distinct, place = np.unique(keys, return_inverse=True)
    sums = [weighted_bincount(place, values[:, column], len(distinct)) for column in range(width)]
    return distinct, np.stack(sums, axis=1)
