"""Sums and choices within consecutive segments of an array."""

from __future__ import annotations

import numpy as np

from ald.arrays import AnyArray, BoolArray, FloatArray, IntArray

# Candidates within this relative distance of the best count as tied (SPEC 15).
TIE = 1e-9


def owner(offsets: IntArray) -> IntArray:
    """The segment of every entry."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def integer_sums(values: IntArray, offsets: IntArray) -> IntArray:
    """Sums over the first axis within segments; exact, empty segments give 0."""
    running = np.zeros((len(values) + 1, *values.shape[1:]), dtype=np.int64)
    np.cumsum(values, axis=0, out=running[1:])
    return np.asarray(running[offsets[1:]] - running[offsets[:-1]])


def running_sums(values: IntArray, offsets: IntArray) -> IntArray:
    """Cumulative sums over the first axis that start anew in every segment; exact."""
    running = np.zeros((len(values) + 1, *values.shape[1:]), dtype=np.int64)
    np.cumsum(values, axis=0, out=running[1:])
    return np.asarray(running[1:] - np.repeat(running[offsets[:-1]], np.diff(offsets), axis=0))


def _reduce(ufunc: np.ufunc, values: AnyArray, offsets: IntArray, empty: float) -> FloatArray:
    """ufunc.reduceat over the last axis that gives `empty` for empty segments."""
    out = np.full((*values.shape[:-1], len(offsets) - 1), empty)
    filled = np.flatnonzero(np.diff(offsets))
    if filled.size:
        out[..., filled] = ufunc.reduceat(values, offsets[filled], axis=-1)
    return out


def float_sums(values: FloatArray, offsets: IntArray) -> FloatArray:
    """Sums over the last axis within segments."""
    return _reduce(np.add, values, offsets, 0.0)


def maxima(values: FloatArray, offsets: IntArray) -> FloatArray:
    """The largest value of each segment; -inf for empty ones."""
    return _reduce(np.maximum, values, offsets, -np.inf)


def first_best(values: FloatArray, offsets: IntArray) -> tuple[IntArray, FloatArray]:
    """The first entry of each segment within the tie tolerance of its maximum (-1 if none is finite), and the maximum."""
    best = maxima(values, offsets)
    segment = owner(offsets)
    return first_where(_tied(values, best[segment]), offsets), best


def _tied(values: FloatArray, best: FloatArray) -> BoolArray:
    with np.errstate(invalid="ignore"):
        return np.asarray((values >= best - TIE * np.abs(best)) & np.isfinite(values))


def first_where(chosen: BoolArray, offsets: IntArray) -> IntArray:
    """The first chosen entry of each segment, or -1."""
    entries = np.flatnonzero(chosen)
    at = np.searchsorted(entries, offsets[:-1])
    inside = at < np.searchsorted(entries, offsets[1:])
    out = np.full(len(offsets) - 1, -1, dtype=np.int64)
    out[inside] = entries[at[inside]]
    return out
