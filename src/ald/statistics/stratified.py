"""Tests of a group against everyone else within strata: Cochran-Mantel-Haenszel per rate.

A stratum in which one side is empty, or in which everyone has the same outcome, says nothing and adds nothing to the
statistic or its variance; it needs no special case. If that leaves no stratum, the test is undefined (NaN).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ald._core.arrays import FloatArray, IntArray
from ald.notions import RateCounter

# A variance of no more than this is none: rounding errors of sums that are zero.
NO_VARIANCE = 1e-12


def cmh_terms(inside: IntArray, totals: IntArray, rates: RateCounter) -> tuple[FloatArray, FloatArray]:
    """Per rate (first axis) the hits of the groups beyond those expected in their strata, and the variance of that.

    inside: counts of the groups, [..., strata, cells]; totals: counts of everyone, [strata, cells] (or broadcastable).
    """
    hit, base = rates.hit(inside).astype(float), rates.base(inside).astype(float)
    hits, bases = rates.hit(totals).astype(float), rates.base(totals).astype(float)
    shape = (len(hits), *(1,) * (inside.ndim - totals.ndim), *totals.shape[:-1])
    hits, bases = hits.reshape(shape), bases.reshape(shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        excess = np.where(bases > 0, hit - base * hits / bases, 0.0)
        variance = base * (bases - base) * hits * (bases - hits) / (bases * bases * (bases - 1.0))
    return excess.sum(axis=-1), np.where(bases > 1, variance, 0.0).sum(axis=-1)


def cmh_statistics(inside: IntArray, totals: IntArray, rates: RateCounter) -> FloatArray:
    """The statistic per rate (first axis) on 1 df, without continuity correction."""
    excess, variance = cmh_terms(inside, totals, rates)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(variance > NO_VARIANCE, excess * excess / variance, np.nan)


def residuals(counts: IntArray, totals: IntArray, rates: RateCounter) -> tuple[FloatArray, FloatArray]:
    """Per rate the hits beyond those expected from the strata's own rates, and the people's variance of hits.

    counts: [..., strata, cells]; totals: [strata, cells]. Both add up over disjoint groups of people.
    """
    hit, base = rates.hit(counts), rates.base(counts)
    hits, bases = rates.hit(totals), rates.base(totals)
    mean = (hits / np.maximum(bases, 1)).reshape(len(hits), *(1,) * (counts.ndim - totals.ndim), -1)
    return (hit - base * mean).sum(axis=-1), (base * mean * (1.0 - mean)).sum(axis=-1)


@dataclass(frozen=True, kw_only=True)
class MantelHaenszel:
    """Per rate the mean difference within strata, weighted by w = n_in n_out / (n_in + n_out).

    inside, outside: the rates under the same weights; everyone: that of both together. error: Sato's standard error,
    which holds for few large strata and for many small ones. weight: the sum of all w. compared: people in strata that
    have both sides.
    """

    difference: FloatArray
    error: FloatArray
    inside: FloatArray
    outside: FloatArray
    everyone: FloatArray
    weight: FloatArray
    compared: IntArray


def mantel_haenszel(inside: IntArray, outside: IntArray, rates: RateCounter) -> MantelHaenszel:
    """Differences of one group, from counts inside and outside: [strata, cells] (Greenland, Robins 1985; Sato 1989)."""
    a, n = rates.hit(inside).astype(float), rates.base(inside).astype(float)
    b, m = rates.hit(outside).astype(float), rates.base(outside).astype(float)
    both = (n > 0) & (m > 0)
    total = np.where(both, n + m, 1.0)
    weight = np.where(both, n * m / total, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        p, q, r = (np.where(both, x / y, 0.0) for x, y in ((a, n), (b, m), (a + b, n + m)))
        scale = weight.sum(axis=-1)
        means = [(weight * x).sum(axis=-1) / scale for x in (p, q, r)]
        difference = (weight * (p - q)).sum(axis=-1) / scale
        first = np.where(both, (n * n * b - m * m * a + n * m * (m - n) / 2) / total**2, 0.0).sum(axis=-1)
        second = np.where(both, (a * (m - b) + b * (n - a)) / (2 * total), 0.0).sum(axis=-1)
        error = np.sqrt(np.maximum(difference * first + second, 0.0)) / scale
    return MantelHaenszel(
        difference=difference,
        error=error,
        inside=means[0],
        outside=means[1],
        everyone=means[2],
        weight=np.where(scale > 0, scale, np.nan),
        compared=np.where(both, n + m, 0.0).sum(axis=-1).astype(np.int64),
    )


def combined_statistic(statistics: FloatArray, disjoint: bool) -> FloatArray:
    """One number for the search from the rates' statistics: their sum, or the largest where rows count twice."""
    defined = np.nan_to_num(statistics, nan=0.0)
    return np.asarray(defined.sum(axis=0) if disjoint else defined.max(axis=0))
