"""ASSESS: Step 2. Every candidate is tested on D2, which the search never saw.

This module receives D2 and criteria. It never receives D1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ald.arrays import BoolArray, FloatArray, IntArray
from ald.data.coded import AuditData, weighted_bincount
from ald.exact import exact_log_p, is_small
from ald.notions import Notion, Rate, RateCounter
from ald.search.membership import count_members, member_mask, membership_strata
from ald.search.tree import CodedCriterion
from ald.statistics import adjust, chi2_2x2, chi2_log_sf, combine_bonferroni, combine_fisher, newcombe
from ald.stratified import cmh_statistics
from ald.threshold import one_rate_log_p, several_rates_log_p


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
    test: tuple[str, ...]

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


def assess_in_order(
    criteria: Sequence[CodedCriterion],
    data: AuditData,
    notion: Notion,
    *,
    adjustment: str = "bh",
    level: float = 0.05,
    threshold: float = 0.0,
    threads: int = 1,
) -> Assessment:
    """Tests groups on this data, each also given those before it: the larger of marginal and stratified p counts.

    The order and the groups to condition on were fixed on other data. Small groups are tested exactly.
    """
    settings = {"adjustment": adjustment, "level": level, "threshold": threshold}
    marginal = assess(criteria, data, notion, **settings, threads=threads, exact=True)  # type: ignore[arg-type]
    rates = RateCounter(notion.rates, data.n_cells)
    log_p, tests = marginal.log_p.copy(), list(marginal.test)
    masks = [member_mask(criterion, data) for criterion in criteria]
    for i in range(1, len(criteria)):
        strata = membership_strata(masks[:i])
        given, test = _stratified_log_p(masks[i], strata, data, rates)
        # Undefined: the groups before this one leave nothing of it to compare; then it adds nothing.
        if not np.isnan(log_p[i]) and not given <= log_p[i]:
            log_p[i], tests[i] = (0.0 if np.isnan(given) else given), f"{test}, given earlier groups"
    return replace(marginal, log_p=log_p, log_p_adjusted=adjust(log_p, adjustment), test=tuple(tests))


def _stratified_log_p(mask: BoolArray, strata: IntArray, data: AuditData, rates: RateCounter) -> tuple[float, str]:
    """log p of a group within strata, per rate by Cochran-Mantel-Haenszel or exactly, combined; and the test used."""
    shape = (int(strata.max()) + 1, data.n_cells)
    keys = strata * data.n_cells + data.cells
    totals = weighted_bincount(keys, data.counts, shape[0] * shape[1]).reshape(shape)
    inside = weighted_bincount(keys[mask], data.counts[mask], shape[0] * shape[1]).reshape(shape)
    log_ps = chi2_log_sf(cmh_statistics(inside, totals, rates), np.asarray(1))
    hit, base, hits, bases = rates.hit(inside), rates.base(inside), rates.hit(totals), rates.base(totals)
    test = "stratified chi2"
    for r in range(len(log_ps)):
        # Strata that say nothing are left out: an empty side, or one outcome only.
        use = (base[r] > 0) & (base[r] < bases[r]) & (hits[r] > 0) & (hits[r] < bases[r])
        columns = [column[r][use] for column in (hit, base, hits, bases)]
        h, b, hs, bs = (int(column.sum()) for column in columns)
        if use.any() and is_small(h, b, hs - h, bs - b):
            log_ps[r] = exact_log_p([tuple(row) for row in np.stack(columns, axis=1).tolist()])
            test = "stratified exact"
    return float(_combine(log_ps[:, None], rates)[1][0]), test


def _combine(log_ps: FloatArray, rates: RateCounter) -> tuple[FloatArray | None, FloatArray]:
    """Fisher's statistic (None if the rates are not combined by it) and log p from the rates' log p."""
    if len(log_ps) == 1:
        return None, log_ps[0]
    if rates.disjoint:
        return combine_fisher(log_ps)
    return None, combine_bonferroni(log_ps)


def assess(
    criteria: Sequence[CodedCriterion],
    data: AuditData,
    notion: Notion,
    *,
    adjustment: str = "bh",
    level: float = 0.05,
    threshold: float = 0.0,
    threads: int = 1,
    exact: bool = False,
) -> Assessment:
    """Tests every criterion on this data: a chi2 test per rate against everyone else, combined and corrected.

    `exact`: Fisher's exact test instead wherever an expected count is small. `threshold`: test |psi| <= threshold
    instead of psi = 0.
    """
    inside = count_members(criteria, data, threads)
    return assess_counts(
        inside, data.cell_counts(), notion, adjustment=adjustment, level=level, threshold=threshold, exact=exact
    )


def assess_counts(
    inside: IntArray,
    everyone: IntArray,
    notion: Notion,
    *,
    adjustment: str = "bh",
    level: float = 0.05,
    threshold: float = 0.0,
    exact: bool = False,
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
    tests = ["chi2"] * len(inside)
    if exact:
        for r, i in zip(*np.nonzero(~np.isnan(log_ps)), strict=True):
            h_in, b_in, h_out, b_out = (int(x[r, i]) for x in (hits_in, base_in, hits_out, base_out))
            if is_small(h_in, b_in, h_out, b_out):
                log_ps[r, i] = exact_log_p([(h_in, b_in, h_in + h_out, b_in + b_out)])
                tests[i] = "exact"
    fisher, log_p = _combine(log_ps, rates)
    statistic = np.max(statistics, axis=0) if fisher is None else fisher
    df = 1 if fisher is None else 2 * len(notion.rates)
    if threshold > 0:
        # Undefined stays undefined; all else is tested against the threshold, whatever the size of the group.
        beyond = (
            one_rate_log_p(hits_in[0], base_in[0], hits_out[0], base_out[0], threshold)
            if len(notion.rates) == 1
            else several_rates_log_p(inside, outside, rates, threshold)
        )
        log_p, tests = np.where(np.isnan(log_p), np.nan, beyond), ["score"] * len(inside)
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
        test=tuple(tests),
    )


def _ratio(hits: IntArray, base: IntArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(hits / base)


def _absolute(low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The interval of |d| from that of d."""
    return np.maximum(np.maximum(low, -high), 0.0), np.maximum(np.abs(low), np.abs(high))
