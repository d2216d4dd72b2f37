"""The kernel's functions in NumPy: the same integers, for machines without a compiler.

The signatures are those of _kernel.c, whose comments say what each function does.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ald._core.arrays import AnyArray, ByteArray, CodeArray, IntArray
from ald._core.exact import moments


def ranges(starts: IntArray, ends: IntArray) -> IntArray:
    """The concatenation of start..end-1 over all pairs.

    >>> ranges(np.array([3, 8]), np.array([5, 9])).tolist()
    [3, 4, 8]
    """
    lengths = ends - starts
    steps = np.ones(int(lengths.sum()), dtype=np.int64)
    filled = np.flatnonzero(lengths)
    if filled.size == 0:
        return steps
    at = np.concatenate([[0], np.cumsum(lengths[filled])[:-1]])
    steps[at[1:]] = starts[filled][1:] - ends[filled][:-1] + 1
    steps[0] = starts[filled][0]
    return np.cumsum(steps)


def count(
    codes: Sequence[CodeArray],
    cells: ByteArray,
    rows: AnyArray,
    weights: IntArray | None,
    starts: IntArray,
    ends: IntArray,
    attributes: IntArray,
    sizes: IntArray,
    n_cells: int,
    out_codes: AnyArray,
    out_counts: IntArray,
    used: IntArray,
) -> int:
    pieces: list[tuple[IntArray, IntArray, IntArray]] = []
    for attribute in np.unique(attributes):
        requests, entries, owner = _entries(attributes, attribute, starts, ends)
        row, size = rows[entries], int(sizes[attribute])
        key = (owner * size + codes[attribute][row]) * n_cells + cells[row]
        weight = None if weights is None else weights[entries]
        space = len(requests) * size * n_cells
        if space <= 8 * len(key) + 4096:
            table = np.bincount(key, weight, minlength=space).astype(np.int64).reshape(-1, n_cells)
            present = np.flatnonzero(table.any(axis=1))
            table = table[present]
        else:
            distinct, inverse = np.unique(key // n_cells, return_inverse=True)
            cell = inverse * n_cells + key % n_cells
            table = np.bincount(cell, weight, minlength=len(distinct) * n_cells).astype(np.int64)
            present, table = distinct, table.reshape(-1, n_cells)
        pieces.append((requests[present // size], present % size, table))
    return _written(pieces, out_codes, out_counts, used)


def count_amounts(
    codes: Sequence[CodeArray],
    amounts: IntArray,
    rows: AnyArray,
    weights: IntArray | None,
    starts: IntArray,
    ends: IntArray,
    attributes: IntArray,
    sizes: IntArray,
    out_codes: AnyArray,
    out_counts: IntArray,
    used: IntArray,
) -> int:
    pieces: list[tuple[IntArray, IntArray, IntArray]] = []
    for attribute in np.unique(attributes):
        requests, entries, owner = _entries(attributes, attribute, starts, ends)
        row, size = rows[entries], int(sizes[attribute])
        key = owner * size + codes[attribute][row]
        order = np.argsort(key, kind="stable")
        present, first = np.unique(key[order], return_index=True)
        values = moments(amounts[row[order]])
        if weights is not None:
            values *= weights[entries[order], None]
        sums = np.add.reduceat(values, first) if len(first) else values
        pieces.append((requests[present // size], present % size, sums))
    return _written(pieces, out_codes, out_counts, used)


def _entries(
    attributes: IntArray, attribute: int, starts: IntArray, ends: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """The requests for an attribute, the positions of all their rows, and the number of the request of each."""
    requests = np.flatnonzero(attributes == attribute)
    owner = np.repeat(np.arange(len(requests)), ends[requests] - starts[requests])
    return requests, ranges(starts[requests], ends[requests]), owner


def _written(
    pieces: Sequence[tuple[IntArray, IntArray, IntArray]], out_codes: AnyArray, out_counts: IntArray, used: IntArray
) -> int:
    """Request, code and counts of all entries, by request; how many there are."""
    if not pieces:
        return 0
    request = np.concatenate([piece[0] for piece in pieces])
    order = np.argsort(request, kind="stable")
    written = len(request)
    out_codes[:written] = np.concatenate([piece[1] for piece in pieces])[order]
    out_counts[:written] = np.concatenate([piece[2] for piece in pieces])[order]
    used[:] = np.bincount(request, minlength=len(used))
    return written


def partition(
    codes: Sequence[CodeArray],
    rows: AnyArray,
    weights: IntArray | None,
    starts: IntArray,
    ends: IntArray,
    attributes: IntArray,
    tables: ByteArray,
    offsets: IntArray,
    out_rows: AnyArray,
    out_weights: IntArray | None,
    middles: IntArray,
    n_rows: int,
) -> None:
    at = 0
    for split, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        part = rows[start:end]
        left = tables[offsets[split] + codes[attributes[split]][part].astype(np.int64)] == 1
        order = np.concatenate([np.flatnonzero(left), np.flatnonzero(~left)])
        out_rows[at : at + end - start] = part[order]
        if weights is not None and out_weights is not None:
            out_weights[at : at + end - start] = weights[start:end][order]
        middles[split] = np.count_nonzero(left)
        at += end - start


def members(
    codes: Sequence[CodeArray],
    counts: IntArray,
    bounds: IntArray,
    attributes: IntArray,
    lows: IntArray,
    highs: IntArray,
    tables_at: IntArray,
    tables: ByteArray,
    offsets: IntArray,
    conditions: IntArray,
    out: IntArray,
) -> None:
    masks = []
    for k, attribute in enumerate(attributes.tolist()):
        code = codes[attribute].astype(np.int64)
        inside = tables[tables_at[k] + code] == 1 if tables_at[k] >= 0 else (code >= lows[k]) & (code < highs[k])
        masks.append(inside)
    everyone = np.ones(len(counts), dtype=bool)
    for i in range(len(offsets) - 1):
        mask = everyone.copy()
        for k in conditions[offsets[i] : offsets[i + 1]]:
            mask &= masks[k]
        running = np.concatenate([[0], np.cumsum(counts * mask)])
        out[i] = np.diff(running[bounds])


def descend(
    codes: Sequence[CodeArray],
    cells: ByteArray,
    counts: IntArray,
    roots: IntArray,
    attributes: IntArray,
    lefts: IntArray,
    rights: IntArray,
    cuts: IntArray,
    tables_at: IntArray,
    tables: ByteArray,
    sizes: IntArray,
    n_cells: int,
    out: IntArray,
) -> None:
    """What `descend` of _packed.c does, on columns."""
    out[:] = 0
    for root in roots.tolist():
        waiting = [(root, np.arange(len(cells)))]
        while waiting:
            node, rows = waiting.pop()
            attribute = attributes[node]
            if attribute < 0:
                out[node] += np.bincount(cells[rows], counts[rows], minlength=n_cells).astype(np.int64)
                continue
            code = codes[attribute][rows].astype(np.int64)
            if tables_at[node] >= 0:
                side = tables[tables_at[node] + code]
            else:
                side = np.where(code <= cuts[node], 1, np.where(code < sizes[attribute] - 1, 0, 2))
            waiting += [(int(lefts[node]), rows[side == 1]), (int(rights[node]), rows[side == 0])]
