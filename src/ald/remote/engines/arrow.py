"""What is done with the rows of a partition, as Arrow tables: counting values, coding rows, adding up counts."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ald._core.arrays import AnyArray, IntArray
from ald.data.coded import weighted_bincount
from ald.remote.engines.protocols import ColumnCoder, Marginal, RowCoder

# Rows that are coded, and held as one block, at a time.
CHUNK = 1 << 18
# Rows of one partition of blocks: all that a task has in memory.
PARTITION = 1 << 20


def row_keys(coder: RowCoder, table: pa.Table) -> AnyArray:
    """The bytes of every row of a table that is not dropped: [rows, width]."""

    def numbers(column: ColumnCoder) -> IntArray:
        at = pc.index_in(_values(table.column(column.position)), value_set=column.values)
        return np.asarray(column.numbers[at.to_numpy()])

    nothing = np.zeros(table.num_rows, np.int64)
    cells = np.asarray(sum((numbers(column) for column in coder.cells), nothing))
    half = nothing if coder.half is None else numbers(coder.half)
    kept = np.flatnonzero(cells >= 0)
    return coder.layout.pack([numbers(column)[kept] for column in coder.columns], cells[kept], half[kept])


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
        here = [_count_values(column) for column in table.columns]
        merged = here if merged is None else merged_marginals([merged, here])
    return pickle.dumps(merged)


def _values(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Categories as what they stand for: partitions number them as they like."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _count_values(column: pa.ChunkedArray) -> Marginal:
    counted = pc.value_counts(_values(column))
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
