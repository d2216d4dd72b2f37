"""ASSESS: Step 2. Every candidate is tested on D2, which the search never saw.

This module receives D2 and criteria. It never receives D1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import special

from ald.arrays import BoolArray, FloatArray, IntArray
from ald.contrast import Contrast, contrast
from ald.data.coded import AuditData, weighted_bincount
from ald.exact import exact_log_p, is_small
from ald.notions import Notion, Rate, RateCounter
from ald.search.membership import Leaves, count_members, member_mask, membership_strata
from ald.search.tree import CodedCriterion
from ald.statistics import adjust, chi2_2x2, combine_bonferroni, combine_fisher, directed_log_p, newcombe
from ald.threshold import beyond_log_p, one_rate_log_p, several_rates_log_p

# Compared with whom: everyone else, everyone, or the members of a reference group.
REFERENCES = ("rest", "all", "group")


@dataclass(frozen=True, kw_only=True)
class Terms:
    """How groups are tested. direction: -1 for disadvantaged groups only, 1 for advantaged ones only, 0 for both.

    exact: Fisher's exact test wherever an expected count is small. threshold: test |psi| <= threshold, not psi = 0.
    """

    adjustment: str = "bh"
    level: float = 0.05
    threshold: float = 0.0
    direction: int = 0
    reference: str = "rest"
    exact: bool = False


PLAIN = Terms()


@dataclass(frozen=True, kw_only=True)
class Assessment:
    """Results as columns, one entry per candidate (last axis); first axis of two: the notion's rates.

    Everything refers to D2. NaN is undefined; `reason(i)` says why. `inside` and `outside` count people per cell;
    `rate_in`, `rate_out` and `differences` are as compared: within strata, weighted, against the reference. `error` is
    the differences' standard error with `error_df` degrees of freedom; intervals follow from it if `by_error`, else
    from the counts.
    `scale`: differences over those between group and others. `share`: of all people, or of their weights.
    """

    notion: Notion
    inside: IntArray
    outside: IntArray
    rate_in: FloatArray
    rate_out: FloatArray
    error: FloatArray
    error_df: FloatArray
    scale: FloatArray
    share: FloatArray
    by_error: bool
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
    why: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.psi)

    @property
    def size(self) -> IntArray:
        return np.asarray(self.inside.sum(axis=1))

    @property
    def differences(self) -> FloatArray:
        return self.rate_in - self.rate_out

    @property
    def counter(self) -> RateCounter:
        return RateCounter(self.notion.rates, self.inside.shape[1])

    @property
    def hits_in(self) -> IntArray:
        return self.counter.hit(self.inside)

    @property
    def base_in(self) -> IntArray:
        return self.counter.base(self.inside)

    @property
    def hits_out(self) -> IntArray:
        return self.counter.hit(self.outside)

    @property
    def base_out(self) -> IntArray:
        return self.counter.base(self.outside)

    def reason(self, i: int) -> str:
        """Why the test of candidate i is undefined; empty if it is defined."""
        if self.why and self.why[i]:
            return self.why[i]
        columns = [f(side[i]) for side in (self.inside, self.outside) for f in (self.counter.hit, self.counter.base)]
        for rate, *counts in zip(self.notion.rates, *(column.tolist() for column in columns), strict=True):
            reason = undefined(rate, *counts)
            if reason:
                return reason
        return ""

    def at_level(self, level: float) -> Assessment:
        """The same results with intervals at confidence 1 - level."""
        part_low, part_high = self._intervals(level)
        low, high = part_low[0], part_high[0]
        if len(part_low) > 1:
            # A mean of absolute differences: the mean of their intervals, each at level / R so that all hold together.
            low, high = (bound.mean(axis=0) for bound in _absolute(*self._intervals(level / len(part_low))))
        return replace(self, low=low, high=high, part_low=part_low, part_high=part_high)

    def _intervals(self, level: float) -> tuple[FloatArray, FloatArray]:
        columns = (self.hits_in, self.base_in, self.hits_out, self.base_out)
        low, high = newcombe(*columns, level)
        if self.by_error:
            with np.errstate(invalid="ignore"):
                half = self.scale * self.error * -special.stdtrit(self.error_df, level / 2.0)
            low, high = self.differences - half, self.differences + half
        elif not (self.scale == 1.0).all():
            # Against everyone the difference is smaller than against all others, and so is its interval.
            raw = _ratio(*columns[:2]) - _ratio(*columns[2:])
            low, high = self.differences - self.scale * (raw - low), self.differences + self.scale * (high - raw)
        return np.maximum(low, -1.0), np.minimum(high, 1.0)


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
    criteria: Sequence[CodedCriterion], data: AuditData, notion: Notion, terms: Terms = PLAIN, *, threads: int = 1
) -> Assessment:
    """Tests groups on this data, each also given those before it: the larger of marginal and stratified p counts.

    The order and the groups to condition on were fixed on other data. Small groups are tested exactly.
    """
    marginal = assess(criteria, data, notion, replace(terms, exact=True), threads=threads)
    rates = RateCounter(notion.rates, data.n_cells)
    log_p, tests = marginal.log_p.copy(), list(marginal.test)
    masks = [member_mask(criterion, data) for criterion in criteria]
    for i in range(1, len(criteria)):
        strata = _given(data) + membership_strata(masks[:i]) * (int(_given(data).max()) + 1)
        outside = others(masks[i], data, terms.reference)
        found = contrast(masks[i], outside, strata, data, rates, direction=terms.direction)
        given = float(_combine(found.log_p[:, None], rates, data)[1][0])
        # Undefined: the groups before this one leave nothing of it to compare; then it adds nothing.
        if not np.isnan(log_p[i]) and not given <= log_p[i]:
            log_p[i], tests[i] = (0.0 if np.isnan(given) else given), f"{found.test}, given earlier groups"
    return replace(marginal, log_p=log_p, log_p_adjusted=adjust(log_p, terms.adjustment), test=tuple(tests))


def _given(data: AuditData) -> IntArray:
    """The stratum of legitimate factors of every row."""
    return np.zeros(len(data.cells), np.int64) if data.design.strata is None else data.design.strata


def others(member: BoolArray, data: AuditData, reference: str) -> BoolArray:
    """Whom the members of a group are compared with."""
    if reference == "group":
        assert data.design.reference is not None
        return np.asarray(data.design.reference & ~member)
    return ~member


def _combine(log_ps: FloatArray, rates: RateCounter, data: AuditData | None) -> tuple[FloatArray | None, FloatArray]:
    """Fisher's statistic (None if the rates are not combined by it) and log p from the rates' log p.

    Fisher's method needs independent tests: no row counts for two rates, and no person has rows for several.
    """
    if len(log_ps) == 1:
        return None, log_ps[0]
    if rates.disjoint and (data is None or data.design.clusters is None):
        return combine_fisher(log_ps)
    return None, combine_bonferroni(log_ps)


def assess(
    criteria: Sequence[CodedCriterion],
    data: AuditData,
    notion: Notion,
    terms: Terms = PLAIN,
    *,
    leaves: Leaves | None = None,
    threads: int = 1,
) -> Assessment:
    """Tests every criterion on this data: per rate against the others, combined and corrected.

    leaves: the criteria once more, where they are leaves of a forest, whose members are counted faster.
    """

    def members(people: AuditData) -> IntArray:
        return count_members(criteria, people, threads) if leaves is None else leaves.count(people, threads)

    if data.design.strata is None and data.design.samples_people:
        inside = members(data)
        outside = None
        if terms.reference == "group":
            assert data.design.reference is not None
            reference = data.with_counts(np.where(data.design.reference, data.counts, 0))
            outside = reference.cell_counts() - members(reference)
        return assess_counts(inside, data.cell_counts(), notion, terms, outside=outside)
    return assess_masks((member_mask(criterion, data) for criterion in criteria), data, notion, terms)


def assess_masks(masks: Iterable[BoolArray], data: AuditData, notion: Notion, terms: Terms = PLAIN) -> Assessment:
    """As `assess`, of groups that are given by their rows."""
    rates = RateCounter(notion.rates, data.n_cells)
    simple = data.design.strata is None and data.design.samples_people
    inside: list[IntArray] = []
    outside: list[IntArray] = []
    found, shares = [], []
    weight = data.counts if data.design.weights is None else data.counts * data.design.weights
    for mask in masks:
        shares.append(float(weight[mask].sum() / max(float(weight.sum()), 1e-300)))
        rest = others(mask, data, terms.reference)
        for rows, out in ((mask, inside), (rest, outside)):
            out.append(weighted_bincount(data.cells[rows], data.counts[rows], data.n_cells))
        if not simple:
            found.append(contrast(mask, rest, _given(data), data, rates, direction=terms.direction))
    shape = (len(inside), data.n_cells)
    counts = [np.array(side, dtype=np.int64).reshape(shape) for side in (inside, outside)]
    if simple:
        return assess_counts(counts[0], data.cell_counts(), notion, terms, outside=counts[1])
    return _within_strata(counts[0], counts[1], shares, found, data, notion, terms)


def _within_strata(
    inside: IntArray,
    outside: IntArray,
    shares: Sequence[float],
    found: Sequence[Contrast],
    data: AuditData,
    notion: Notion,
    terms: Terms,
) -> Assessment:
    """The assessment from comparisons within strata, by clusters or with survey weights."""
    rates = RateCounter(notion.rates, data.n_cells)

    def column(name: str) -> FloatArray:
        return np.array([getattr(one, name) for one in found]).reshape(len(found), len(notion.rates)).T

    log_ps, statistics = column("log_p"), column("statistic")
    fisher, log_p = _combine(log_ps, rates, data)
    rate_out = column("everyone" if terms.reference == "all" else "outside")
    raw = column("inside") - column("outside")
    differences = column("inside") - rate_out
    tests = [one.test for one in found]
    if terms.threshold > 0:
        beyond = _beyond(differences, column("error"), column("df"), terms, rates, data)
        log_p, tests = np.where(np.isnan(log_p), np.nan, beyond), ["Wald"] * len(found)
    unclear = "nobody can be compared: no stratum has people with different outcomes both inside and outside the group"
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.where(raw != 0, differences / raw, 1.0) if terms.reference == "all" else np.ones_like(raw)
    return Assessment(
        notion=notion,
        inside=inside,
        outside=outside,
        rate_in=column("inside"),
        rate_out=rate_out,
        error=column("error"),
        error_df=column("df"),
        scale=scale,
        share=np.array(shares, dtype=float),
        by_error=True,
        psi=notion.psi(differences),
        statistic=(np.max(statistics, axis=0) if fisher is None else fisher),
        df=1 if fisher is None else 2 * len(notion.rates),
        log_p=log_p,
        log_p_adjusted=adjust(log_p, terms.adjustment),
        test=tuple(tests),
        why=tuple(unclear if undefined else "" for undefined in np.isnan(log_p)),
        **_NO_INTERVALS,
    ).at_level(terms.level)


# Filled in by `at_level`.
_NO_INTERVALS: dict[str, Any] = dict.fromkeys(("low", "high", "part_low", "part_high"), np.zeros(0))


def _beyond(
    differences: FloatArray, error: FloatArray, df: FloatArray, terms: Terms, rates: RateCounter, data: AuditData
) -> FloatArray:
    """log p of a disparity no larger than the threshold, from standard errors."""
    if len(differences) == 1:
        return beyond_log_p(differences[0], error[0], df[0], terms.threshold, int(terms.direction * rates.signs[0]))
    independent = rates.disjoint and data.design.clusters is None
    spread = np.sqrt((error**2).sum(axis=0)) if independent else error.sum(axis=0)
    psi = np.abs(differences).mean(axis=0)
    log_p = beyond_log_p(psi, spread / len(differences), df.min(axis=0), terms.threshold, 1)
    return np.asarray(np.minimum(log_p + len(differences) * np.log(2.0), 0.0))


def assess_counts(
    inside: IntArray,
    everyone: IntArray,
    notion: Notion,
    terms: Terms = PLAIN,
    *,
    outside: IntArray | None = None,
) -> Assessment:
    """As `assess`, of independent people without strata, from the counts per cell of each group and of everyone.

    `outside`: those that each group is compared with, if not everyone else.
    """
    rates = RateCounter(notion.rates, inside.shape[1])
    if outside is None:
        outside = everyone - inside
    hits_in, base_in, hits_out, base_out = (
        rates.hit(inside),
        rates.base(inside),
        rates.hit(outside),
        rates.base(outside),
    )
    tables = (hits_in, base_in - hits_in, hits_out, base_out - hits_out)
    statistics = np.stack([chi2_2x2(*(column[r] for column in tables)) for r in range(len(notion.rates))])
    rate_in, rate_out = _ratio(hits_in, base_in), _ratio(hits_out, base_out)
    sides = (rates.signs * terms.direction).astype(np.int64).tolist()
    log_ps = directed_log_p(statistics, rate_in - rate_out, sides)
    tests = ["chi2"] * len(inside)
    if terms.exact:
        for r, i in zip(*np.nonzero(~np.isnan(log_ps)), strict=True):
            h_in, b_in, h_out, b_out = (int(x[r, i]) for x in (hits_in, base_in, hits_out, base_out))
            if is_small(h_in, b_in, h_out, b_out):
                log_ps[r, i] = exact_log_p([(h_in, b_in, h_in + h_out, b_in + b_out)], sides[r])
                tests[i] = "exact"
    fisher, log_p = _combine(log_ps, rates, None)
    if terms.threshold > 0:
        # Undefined stays undefined; all else is tested against the threshold, whatever the size of the group.
        beyond = (
            one_rate_log_p(hits_in[0], base_in[0], hits_out[0], base_out[0], terms.threshold, sides[0])
            if len(notion.rates) == 1
            else several_rates_log_p(inside, outside, rates, terms.threshold)
        )
        log_p, tests = np.where(np.isnan(log_p), np.nan, beyond), ["score"] * len(inside)
    if terms.reference == "all":
        rate_out = _ratio(hits_in + hits_out, base_in + base_out)
        scale = _ratio(base_out, base_in + base_out)
    else:
        scale = np.ones_like(rate_in)
    return Assessment(
        notion=notion,
        inside=inside,
        outside=outside,
        rate_in=rate_in,
        rate_out=rate_out,
        error=np.full(rate_in.shape, np.nan),
        error_df=np.full(rate_in.shape, np.inf),
        scale=scale,
        share=np.asarray(inside.sum(axis=1) / max(int(everyone.sum()), 1)),
        by_error=False,
        psi=notion.psi(rate_in - rate_out),
        statistic=np.max(statistics, axis=0) if fisher is None else fisher,
        df=1 if fisher is None else 2 * len(notion.rates),
        log_p=log_p,
        log_p_adjusted=adjust(log_p, terms.adjustment),
        test=tuple(tests),
        **_NO_INTERVALS,
    ).at_level(terms.level)


def _ratio(hits: IntArray, base: IntArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(hits / base)


def _absolute(low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The interval of |d| from that of d."""
    return np.maximum(np.maximum(low, -high), 0.0), np.maximum(np.abs(low), np.abs(high))
