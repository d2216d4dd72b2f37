"""Comparing one group with others within strata, on whatever design the data has. One group at a time.

Independent people: Cochran-Mantel-Haenszel, exactly where counts are small. Clusters or survey weights: `robust`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ald._core.arrays import BoolArray, FloatArray, IntArray
from ald.assess.robust import compare_robustly
from ald.data.coded import AuditData, number_values, weighted_bincount
from ald.notions import RateCounter
from ald.statistics.basics import directed_log_p
from ald.statistics.exact import exact_interval, exact_log_p, is_small, widen
from ald.statistics.ranks import RankResult
from ald.statistics.score import Tables
from ald.statistics.stratified import NO_VARIANCE, cmh_terms, mantel_haenszel


@dataclass(frozen=True, kw_only=True)
class Contrast:
    """Per rate: log p of no difference, the statistic, the rates under the strata's weights, and their difference.

    `everyone`: the rate of both sides together. NaN is undefined. `df` is that of `error` (infinite: normal);
    `null_error` is the error if there is no difference. `parts` know the tests at other differences. Of amounts also:
    `ranks`, who has more, and whether a few people hold most of what varies (`dominated`).
    """

    log_p: FloatArray
    statistic: FloatArray
    inside: FloatArray
    outside: FloatArray
    everyone: FloatArray
    difference: FloatArray
    error: FloatArray
    null_error: FloatArray
    df: FloatArray
    test: str
    parts: tuple[Part, ...]
    ranks: RankResult | None = None
    dominated: bool = False

    def intervals(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Per rate the differences that the reported test does not reject at `level`."""
        ends = [
            (np.nan, np.nan) if undefined else part.interval(level)
            for part, undefined in zip(self.parts, np.isnan(self.log_p).tolist(), strict=True)
        ]
        return np.array([low for low, _ in ends]), np.array([high for _, high in ends])

    def beyond_log_p(self, threshold: float, sides: Sequence[int]) -> FloatArray:
        """Per rate log p of a difference no larger than the threshold."""
        return np.array([part.beyond_log_p(threshold, side) for part, side in zip(self.parts, sides, strict=True)])


class Part(Protocol):
    """The comparison for one rate."""

    def interval(self, level: float) -> tuple[float, float]:
        """The differences that are not rejected at `level`."""

    def beyond_log_p(self, threshold: float, side: int) -> float:
        """log p of a difference no larger than the threshold (side 0: of either sign)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Independent:
    """One rate of independent people: 2x2 tables of strata, tested exactly or by scores.

    `exact`: the strata that say something, where the exact test is the one that is reported; `directed` by one tail.
    """

    tables: Tables
    exact: Sequence[tuple[int, int, int, int]] = ()
    directed: bool = False

    def interval(self, level: float) -> tuple[float, float]:
        low, high = (float(end) for end in self.tables.interval(level))
        if not self.exact:
            return low, high
        return widen(exact_interval(self.exact, self.tables.weight, level, one_sided=self.directed), (low, high))

    def beyond_log_p(self, threshold: float, side: int) -> float:
        return float(self.tables.beyond_log_p(threshold, side))


def contrast(
    inside: BoolArray,
    outside: BoolArray,
    strata: IntArray,
    data: AuditData,
    rates: RateCounter,
    *,
    direction: int = 0,
    exact: bool = True,
) -> Contrast:
    """Those inside against those outside within strata; `direction`: -1 only to their disadvantage, 1 advantage.

    exact: small counts are tested exactly.
    """
    sides = (rates.signs * direction).astype(np.int64).tolist()
    if not data.design.samples_people:
        return _robust(inside, outside, strata, data, rates, sides)
    present, numbers = number_values(strata)
    counts_in, counts_out = (_by_stratum(side, numbers, len(present), data) for side in (inside, outside))
    found = mantel_haenszel(counts_in, counts_out, rates)
    excess, variance = cmh_terms(counts_in, counts_in + counts_out, rates)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(variance > NO_VARIANCE, excess * excess / variance, np.nan)
    log_p = directed_log_p(statistic, excess, sides)
    test = "stratified chi2"
    hit, base = rates.hit(counts_in), rates.base(counts_in)
    hit_out, base_out = rates.hit(counts_out), rates.base(counts_out)
    parts = []
    for r, side in enumerate(sides):
        # Strata that say nothing are left out: an empty side, or one outcome only.
        hits, bases = hit[r] + hit_out[r], base[r] + base_out[r]
        use = (base[r] > 0) & (base[r] < bases) & (hits > 0) & (hits < bases)
        rows = np.stack([hit[r], base[r], hits, bases], axis=1)[use]
        h, b, hs, bs = rows.sum(axis=0).tolist()
        small: list[tuple[int, int, int, int]] = []
        if exact and use.any() and is_small(h, b, hs - h, bs - b):
            small = [tuple(row) for row in rows.tolist()]
            log_p[r] = exact_log_p(small, side)
            test = "stratified exact"
        # By their margins, variances are those of the Cochran-Mantel-Haenszel statistic.
        tables = Tables(hits_in=hit[r], base_in=base[r], hits_out=hit_out[r], base_out=base_out[r], by_margins=True)
        parts.append(Independent(tables=tables, exact=small, directed=bool(side)))
    null_error = np.sqrt(variance) / found.weight
    return Contrast(
        log_p=log_p,
        statistic=statistic,
        inside=found.inside,
        outside=found.outside,
        everyone=found.everyone,
        difference=found.difference,
        # Sato's error is too small by chance where the group has few hits or misses: at least that of no difference.
        error=np.maximum(found.error, null_error),
        null_error=null_error,
        df=np.full(len(log_p), np.inf),
        test=test,
        parts=tuple(parts),
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
    names = ("statistic", "inside", "outside", "everyone", "difference", "error", "null_error", "df")
    columns: dict[str, Any] = {name: np.array([getattr(rate, name) for rate in found]) for name in names}
    return Contrast(
        **columns,
        log_p=np.array([rate.log_p(side) for rate, side in zip(found, sides, strict=True)]),
        test=f"Rao-Scott for {kind}",
        parts=tuple(found),
    )
