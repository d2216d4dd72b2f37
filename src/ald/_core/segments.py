"""Sums and choices within consecutive segments of an array."""

from __future__ import annotations

import numpy as np

from ald._core.arrays import AnyArray, FloatArray, IntArray

# Candidates within this relative distance of the best count as tied.
TIE = 1e-9


def owner(offsets: IntArray) -> IntArray:
    """The segment of every entry."""
    return np.repeat(np.arange(len(offsets) - 1), offsets[1:] - offsets[:-1])


def few_sums(counts: IntArray, axis: int) -> IntArray:
    """Sums over a short axis; exact. NumPy's own sum takes many times as long where the axis is that short."""
    before: tuple[slice | int, ...] = (slice(None),) * (axis % counts.ndim)
    if counts.shape[axis] == 1:
        return np.asarray(counts[(*before, 0)])
    out = np.asarray(counts[(*before, 0)] + counts[(*before, 1)])
    for i in range(2, counts.shape[axis]):
        out += counts[(*before, i)]
    return out


def integer_sums(values: AnyArray, offsets: IntArray) -> IntArray:
    """Sums over the last axis within segments; exact, empty segments give 0."""
    running = _running(values)
    return np.asarray(running[..., offsets[1:]] - running[..., offsets[:-1]])


def running_sums(values: IntArray, offsets: IntArray) -> IntArray:
    """Cumulative sums over the last axis that start anew in every segment; exact."""
    running = _running(values)
    return np.asarray(running[..., 1:] - np.repeat(running[..., offsets[:-1]], offsets[1:] - offsets[:-1], axis=-1))


def _running(values: AnyArray) -> IntArray:
    running = np.zeros((*values.shape[:-1], values.shape[-1] + 1), dtype=np.int64)
    np.cumsum(values, axis=-1, out=running[..., 1:])
    return running


def _reduce(ufunc: np.ufunc, values: AnyArray, offsets: IntArray, empty: float) -> FloatArray:
    """ufunc.reduceat over the last axis that gives `empty` for empty segments."""
    full = offsets[1:] > offsets[:-1]
    if full.all() and len(full):
        return np.asarray(ufunc.reduceat(values, offsets[:-1], axis=-1), dtype=float)
    out = np.full((*values.shape[:-1], len(full)), empty)
    filled = np.flatnonzero(full)
    if filled.size:
        out[..., filled] = ufunc.reduceat(values, offsets[filled], axis=-1)
    return out


def float_sums(values: AnyArray, offsets: IntArray) -> FloatArray:
    """Sums over the last axis within segments."""
    return _reduce(np.add, values, offsets, 0.0)


def maxima(values: FloatArray, offsets: IntArray) -> FloatArray:
    """The largest value of each segment; -inf for empty ones."""
    return _reduce(np.maximum, values, offsets, -np.inf)


def first_best(values: FloatArray, offsets: IntArray) -> tuple[IntArray, FloatArray]:
    """The first entry of each segment within the tie tolerance of its maximum, and the maximum.

    -1 where the segment is empty or its maximum is -inf: nothing to choose.
    """
    best = maxima(values, offsets)
    threshold = np.repeat(best - TIE * np.abs(best), offsets[1:] - offsets[:-1])
    entries = np.where(values >= threshold, np.arange(len(values)), len(values))
    first = _reduce(np.minimum, entries, offsets, -1).astype(np.int64)
    first[best == -np.inf] = -1
    return first, best
