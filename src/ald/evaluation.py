"""ASSESS: Step 2. Every candidate is tested on D2, which the search never saw.

This module receives D2 and criteria. It never receives D1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ald.arrays import FloatArray, IntArray
from ald.data.coded import AuditData
from ald.notions import Notion, Rate, RateCounter
from ald.search.membership import count_members
from ald.search.tree import CodedCriterion
from ald.statistics import adjust, chi2_2x2, chi2_log_sf, combine_bonferroni, combine_fisher, newcombe


@dataclass(frozen=True, kw_only=True)
class Assessment:
    """Results as columns, one entry per candidate (last axis); first axis of two: the notion's rates.

    Everything refers to D2. NaN is undefined; `reason(i)` says why.
    """

    notion: Notion
    inside: IntArray
    outside: IntArray
    hits_in: IntArray
    base_in: IntArray
    hits_out: IntArray
    base_out: IntArray
    psi: FloatArray
    low: FloatArray
    high: FloatArray
    part_low: FloatArray
    part_high: FloatArray
    statistic: FloatArray
    df: int
    log_p: FloatArray
    log_p_adjusted: FloatArray

    def __len__(self) -> int:
        return len(self.psi)

    @property
    def size(self) -> IntArray:
        return np.asarray(self.inside.sum(axis=1))

    @property
    def share(self) -> FloatArray:
        return np.asarray(self.size / np.maximum((self.inside + self.outside).sum(axis=1), 1))

    @property
    def rate_in(self) -> FloatArray:
        return _ratio(self.hits_in, self.base_in)

    @property
    def rate_out(self) -> FloatArray:
        return _ratio(self.hits_out, self.base_out)

    @property
    def differences(self) -> FloatArray:
        return self.rate_in - self.rate_out

    def reason(self, i: int) -> str:
        """Why the test of candidate i is undefined; empty if it is defined."""
        for r, rate in enumerate(self.notion.rates):
            counts = (self.hits_in[r, i], self.base_in[r, i], self.hits_out[r, i], self.base_out[r, i])
            reason = undefined(rate, *(int(count) for count in counts))
            if reason:
                return reason
        return ""


def undefined(rate: Rate, hits_in: int, base_in: int, hits_out: int, base_out: int) -> str:
    """Why a rate cannot be compared between group and rest; empty if it can.

    >>> from ald.notions import FNR
    >>> undefined(FNR, 0, 0, 12, 40)
    'the false negative rate is undefined in the group: no one there counts for it'
    """
    for base, where in ((base_in, "in the group"), (base_out, "outside the group")):
        if base == 0:
            return f"the {rate.name} is undefined {where}: no one there counts for it"
    if hits_in + hits_out == 0:
        return f"the {rate.name} is 0 in and outside the group"
    if hits_in + hits_out == base_in + base_out:
        return f"the {rate.name} is 1 in and outside the group"
    return ""


def assess(
    criteria: Sequence[CodedCriterion],
    data: AuditData,
    notion: Notion,
    *,
    adjustment: str = "bh",
    level: float = 0.05,
    threads: int = 1,
) -> Assessment:
    """Tests every criterion on this data: a chi2 test per rate against everyone else, combined and corrected."""
    inside = count_members(criteria, data, threads)
    return assess_counts(inside, data.cell_counts(), notion, adjustment=adjustment, level=level)


def assess_counts(
    inside: IntArray, everyone: IntArray, notion: Notion, *, adjustment: str = "bh", level: float = 0.05
) -> Assessment:
    """As `assess`, from the counts per cell of each group and of everyone."""
    rates = RateCounter(notion.rates, inside.shape[1])
    outside = everyone - inside
    hits_in, base_in, hits_out, base_out = (
        rates.hit(inside),
        rates.base(inside),
        rates.hit(outside),
        rates.base(outside),
    )
    tables = (hits_in, base_in - hits_in, hits_out, base_out - hits_out)
    statistics = np.stack([chi2_2x2(*(column[r] for column in tables)) for r in range(len(notion.rates))])
    log_ps = chi2_log_sf(statistics, np.asarray(1))
    if len(notion.rates) == 1:
        statistic, log_p, df = statistics[0], log_ps[0], 1
    elif rates.disjoint:
        statistic, log_p = combine_fisher(log_ps)
        df = 2 * len(notion.rates)
    else:
        statistic, log_p, df = np.max(statistics, axis=0), combine_bonferroni(log_ps), 1
    differences = _ratio(hits_in, base_in) - _ratio(hits_out, base_out)
    part_low, part_high = newcombe(hits_in, base_in, hits_out, base_out, level)
    low, high = part_low[0], part_high[0]
    if len(notion.rates) > 1:
        # A mean of absolute differences: the mean of their intervals, each at level / R so that all hold together.
        wide = newcombe(hits_in, base_in, hits_out, base_out, level / len(notion.rates))
        low, high = (bound.mean(axis=0) for bound in _absolute(*wide))
    return Assessment(
        notion=notion,
        inside=inside,
        outside=outside,
        hits_in=hits_in,
        base_in=base_in,
        hits_out=hits_out,
        base_out=base_out,
        psi=notion.psi(differences),
        low=low,
        high=high,
        part_low=part_low,
        part_high=part_high,
        statistic=statistic,
        df=df,
        log_p=log_p,
        log_p_adjusted=adjust(log_p, adjustment),
    )


def _ratio(hits: IntArray, base: IntArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(hits / base)


def _absolute(low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The interval of |d| from that of d."""
    return np.maximum(np.maximum(low, -high), 0.0), np.maximum(np.abs(low), np.abs(high))
