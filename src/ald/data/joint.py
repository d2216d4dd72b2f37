"""Tables of people by the codes of one or more columns together, and by confusion cell; in C where that was built."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from ald._core import kernels
from ald._core.arrays import AnyArray, CodeArray, IntArray
from ald._core.threads import in_threads
from ald.data.coded import AuditData, weighted_bincount

_WORTH_A_THREAD = 1_000_000
# The C code's keys have 32 bits.
_MOST_ENTRIES = 2**32 - 1


def joint_tables(
    columns: Sequence[CodeArray],
    sizes: Sequence[int],
    parts: Sequence[tuple[int, ...]],
    data: AuditData,
    *,
    rows: AnyArray | None = None,
    threads: int = 1,
) -> list[IntArray]:
    """Per part, a choice of as many columns for all parts, the counts [codes of first, ..., cells].

    sizes: per column one more than its largest code. data: its cells and counts are those of the columns' rows. rows:
    those that count (all, if None).
    """
    shapes = [(*(sizes[k] for k in part), data.n_cells) for part in parts]
    offsets = np.cumsum([0, *(prod(shape) for shape in shapes)])
    out = np.zeros(offsets[-1], np.int64)
    tables = [out[start:end].reshape(shape) for start, end, shape in zip(offsets, offsets[1:], shapes, strict=False)]
    if not parts:
        return []
    compiled = kernels.tables()
    if compiled is None or max(table.size for table in tables) > _MOST_ENTRIES:
        for part, table in zip(parts, tables, strict=True):
            table[...] = _joint_table(columns, part, table.shape, data, rows)
        return tables
    weights = None if data.one_each else data.counts
    chosen, starts, bounds = np.array(parts, np.int64), offsets[:-1].copy(), np.array(sizes, np.int64)
    numbers = None if rows is None else np.ascontiguousarray(rows, dtype=np.uint32)
    work = np.full(len(parts), len(data.cells) if rows is None else len(rows), dtype=np.int64)

    def count(some: slice) -> None:
        compiled.tables(
            columns, bounds, data.cells, data.n_cells, weights, numbers, chosen[some], starts[some], out
        )  # fmt: skip

    in_threads(count, kernels.chunks(work, threads, _WORTH_A_THREAD), threads)
    return tables


def _joint_table(
    columns: Sequence[CodeArray], part: tuple[int, ...], shape: tuple[int, ...], data: AuditData, rows: AnyArray | None
) -> IntArray:
    """One table, by NumPy."""
    chosen: AnyArray | slice = slice(None) if rows is None else rows
    key = np.zeros(len(data.cells[chosen]), np.int64)
    for k, size in zip(part, shape[:-1], strict=True):
        key = key * size + columns[k][chosen]
    key = key * data.n_cells + data.cells[chosen]
    return weighted_bincount(key, data.counts[chosen], prod(shape)).reshape(shape)
