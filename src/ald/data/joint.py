"""Tables of people by the codes of one or more columns together, and by confusion cell; in C where that was built."""

from __future__ import annotations

from collections.abc import Sequence

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
    if not parts:
        return []
    counts, ends = joint_counts(columns, sizes, np.array(parts, np.int64), data, rows=rows, threads=threads)
    shapes = [(*(sizes[k] for k in part), data.n_cells) for part in parts]
    return [
        counts[start:end].reshape(shape) for start, end, shape in zip([0, *ends.tolist()], ends, shapes, strict=False)
    ]


def joint_counts(
    columns: Sequence[CodeArray],
    sizes: Sequence[int],
    parts: IntArray,
    data: AuditData,
    *,
    rows: AnyArray | None = None,
    threads: int = 1,
) -> tuple[IntArray, IntArray]:
    """The same of one part or more, one table after the other, [codes, cells], and where each table ends."""
    bounds = np.array(sizes, np.int64)
    entries = bounds[parts].prod(axis=1)
    ends = np.cumsum(entries)
    out = np.zeros((int(ends[-1]), data.n_cells), np.int64)
    starts = ends - entries
    compiled = kernels.tables()
    if compiled is None or float(bounds[parts].astype(float).prod(axis=1).max()) * data.n_cells > _MOST_ENTRIES:
        for part, start, end in zip(parts, starts, ends, strict=True):
            out[start:end] = _joint_table(columns, bounds, part, data, rows)
        return out, ends
    weights = None if data.one_each else data.counts
    numbers = None if rows is None else np.ascontiguousarray(rows, dtype=np.uint32)
    work = np.full(len(parts), len(data.cells) if rows is None else len(rows), dtype=np.int64)
    offsets = starts * data.n_cells

    def count(some: slice) -> None:
        compiled.tables(
            columns, bounds, data.cells, data.n_cells, weights, numbers, parts[some], offsets[some], out
        )  # fmt: skip

    in_threads(count, kernels.chunks(work, threads, _WORTH_A_THREAD), threads)
    return out, ends


def _joint_table(
    columns: Sequence[CodeArray], sizes: IntArray, part: IntArray, data: AuditData, rows: AnyArray | None
) -> IntArray:
    """One table, by NumPy: [codes, cells]."""
    chosen: AnyArray | slice = slice(None) if rows is None else rows
    key = np.zeros(len(data.cells[chosen]), np.int64)
    for k in part.tolist():
        key = key * sizes[k] + columns[k][chosen]
    key = key * data.n_cells + data.cells[chosen]
    size = int(sizes[part].prod()) * data.n_cells
    return weighted_bincount(key, data.counts[chosen], size).reshape(-1, data.n_cells)
