"""Quantile bins of numbers that have very many different values: how many there are, and where they end.

A bin is known by its largest value, which is a value of the data, so that whatever is said about bounds is true of the
data itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

import numpy as np

from ald._core.arrays import FloatArray
from ald.errors import shorten
from ald.groups.criterion import parse_bound

# Numbers with more different values than this are cut into at most so many bins.
MOST_BINS = 4096


def named_bounds(words: Sequence[str], kind: str) -> list[float]:
    """The numbers that words of a group stand for in a column of this kind, without those that are none."""
    bounds = []
    for word in words:
        try:
            value = float(parse_bound(word.strip(), kind))
        except ValueError:
            continue
        if isfinite(value):
            bounds.append(value)
    return bounds


def free_bins(bounds: Sequence[float]) -> int:
    """How many bins are left for quantiles: values that groups in words name have a bin of their own."""
    return MOST_BINS - 2 * len(bounds) - 1


def cut(values: FloatArray, edges: FloatArray) -> FloatArray:
    """The largest value of the bin of every value; NaN for whatever is not finite."""
    inside = np.isfinite(values)
    at = np.minimum(np.searchsorted(edges, np.where(inside, values, edges[0])), len(edges) - 1)
    return np.where(inside, edges[at], np.nan)


def cut_note(name: str, distinct: int, bins: int) -> str:
    """What is said of a column that was cut."""
    return (
        f"column {shorten(name)!r} has about {distinct:,} different values: it was cut into {bins:,} "
        "quantile bins, and groups may begin and end there"
    )
