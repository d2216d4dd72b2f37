"""Comparing one group with others within strata, on whatever design the data has. One group at a time.

Independent people: Cochran-Mantel-Haenszel, exactly where counts are small. Clusters or survey weights: `robust`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ald.arrays import BoolArray, FloatArray, IntArray
from ald.data.coded import AuditData, numbered, weighted_bincount
from ald.exact import exact_log_p, is_small
from ald.notions import RateCounter
from ald.robust import compare_robustly
from ald.statistics import directed_log_p
from ald.stratified import SPREAD, cmh_terms, mantel_haenszel


@dataclass(frozen=True, kw_only=True)
class Contrast:
    """Per rate: log p of no difference, the statistic, the rates under the strata's weights, and their difference.

    `everyone`: the rate of both sides together. NaN is undefined. `df` is that of `error` (infinite: normal).
    """

    log_p: FloatArray
    statistic: FloatArray
    inside: FloatArray
    outside: FloatArray
    everyone: FloatArray
    difference: FloatArray
    error: FloatArray
    df: FloatArray
    test: str


def contrast(
    inside: BoolArray,
    outside: BoolArray,
    strata: IntArray,
    data: AuditData,
    rates: RateCounter,
    *,
    direction: int = 0,
) -> Contrast:
    """Those inside against those outside within strata; `direction`: -1 only to their disadvantage, 1 advantage."""
    sides = (rates.signs * direction).astype(np.int64).tolist()
    if not data.design.samples_people:
        return _robust(inside, outside, strata, data, rates, sides)
    present, numbers = numbered(strata)
    counts_in, counts_out = (_by_stratum(side, numbers, len(present), data) for side in (inside, outside))
    found = mantel_haenszel(counts_in, counts_out, rates)
    excess, variance = cmh_terms(counts_in, counts_in + counts_out, rates)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(variance > SPREAD, excess * excess / variance, np.nan)
    log_p = directed_log_p(statistic, excess, sides)
    test = "stratified chi2"
    hit, base = rates.hit(counts_in), rates.base(counts_in)
    hits, bases = hit + rates.hit(counts_out), base + rates.base(counts_out)
    for r, side in enumerate(sides):
        # Strata that say nothing are left out: an empty side, or one outcome only.
        use = (base[r] > 0) & (base[r] < bases[r]) & (hits[r] > 0) & (hits[r] < bases[r])
        columns = [column[r][use] for column in (hit, base, hits, bases)]
        h, b, hs, bs = (int(column.sum()) for column in columns)
        if use.any() and is_small(h, b, hs - h, bs - b):
            log_p[r] = exact_log_p([tuple(row) for row in np.stack(columns, axis=1).tolist()], side)
            test = "stratified exact"
    return Contrast(
        log_p=log_p,
        statistic=statistic,
        inside=found.inside,
        outside=found.outside,
        everyone=found.everyone,
        difference=found.difference,
        # Sato's error is too small by chance where the group has few hits or misses: at least that of no difference.
        error=np.maximum(found.error, np.sqrt(variance) / found.weight),
        df=np.full(len(log_p), np.inf),
        test=test,
    )


def _by_stratum(side: BoolArray, numbers: IntArray, n: int, data: AuditData) -> IntArray:
    keys = numbers[side] * data.n_cells + data.cells[side]
    return weighted_bincount(keys, data.counts[side], n * data.n_cells).reshape(n, data.n_cells)


def _robust(
    inside: BoolArray, outside: BoolArray, strata: IntArray, data: AuditData, rates: RateCounter, sides: list[int]
) -> Contrast:
    found = compare_robustly(inside, outside, strata, data, rates)
    design = data.design
    kind = "clusters" if design.weights is None else "weights" if design.clusters is None else "clusters and weights"

    def column(name: str) -> FloatArray:
        return np.array([getattr(rate, name) for rate in found])

    # The statistic as reported: that of the weaker of both tests.
    weaker = np.minimum(np.abs(column("z")), np.abs(column("t")))
    return Contrast(
        log_p=np.array([rate.log_p(side) for rate, side in zip(found, sides, strict=True)]),
        statistic=weaker**2,
        inside=column("inside"),
        outside=column("outside"),
        everyone=column("everyone"),
        difference=column("difference"),
        error=column("error"),
        df=column("df"),
        test=f"Rao-Scott for {kind}",
    )
