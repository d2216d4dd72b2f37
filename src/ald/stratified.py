"""Tests of a group against everyone else within strata: Cochran-Mantel-Haenszel per rate.

A stratum in which one side is empty, or in which everyone has the same outcome, says nothing and adds nothing to the
statistic or its variance; it needs no special case. If that leaves no stratum, the test is undefined (NaN).
"""

from __future__ import annotations

import numpy as np

from ald.arrays import FloatArray, IntArray
from ald.notions import RateCounter


def cmh_statistics(inside: IntArray, totals: IntArray, rates: RateCounter) -> FloatArray:
    """The statistic per rate (first axis) on 1 df, without continuity correction.

    inside: counts of the groups, [..., strata, cells]; totals: counts of everyone, [strata, cells] (or broadcastable).
    """
    hit, base = rates.hit(inside).astype(float), rates.base(inside).astype(float)
    hits, bases = rates.hit(totals).astype(float), rates.base(totals).astype(float)
    shape = (len(hits), *(1,) * (inside.ndim - totals.ndim), *totals.shape[:-1])
    hits, bases = hits.reshape(shape), bases.reshape(shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        excess = np.where(bases > 0, hit - base * hits / bases, 0.0)
        variance = base * (bases - base) * hits * (bases - hits) / (bases * bases * (bases - 1.0))
    total, spread = excess.sum(axis=-1), np.where(bases > 1, variance, 0.0).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(spread > 1e-12, total * total / spread, np.nan)


def combined_statistic(statistics: FloatArray, disjoint: bool) -> FloatArray:
    """One number for the search from the rates' statistics: their sum, or the largest where rows count twice."""
    defined = np.nan_to_num(statistics, nan=0.0)
    return np.asarray(defined.sum(axis=0) if disjoint else defined.max(axis=0))
