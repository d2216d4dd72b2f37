"""ASSESS: Step 2. Every candidate is tested on D2, which the search never saw.

This module receives D2 and criteria. It never receives D1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ald._core.arrays import BoolArray, FloatArray, IntArray
from ald.assess.amounts import Asked, by_sums, contrast_of_amounts, small_side
from ald.assess.contrast import Contrast, contrast
from ald.assess.threshold import several_rates_log_p
from ald.data.coded import AuditData
from ald.groups.membership import FewRows, Leaves, count_members, member_mask, membership_strata
from ald.groups.tree import CodedCriterion
from ald.notions import Mean, Notion, Rate, RateCounter
from ald.statistics.basics import adjust, chi2_2x2, combine_bonferroni, combine_fisher, directed_log_p
from ald.statistics.exact import exact_interval, exact_log_p, is_small, widen
from ald.statistics.score import Tables, beyond_log_p

if TYPE_CHECKING:
    from ald.options import AuditConfig


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

    def interval_level(self, level: float) -> float:
        """That of the interval whose end towards no difference is the bound of the test at `level`.

        Tests in one direction, and of a disparity beyond a threshold, reject on one side: both ends together miss twice
        as often as one of them.
        """
        return min(1.0, 2.0 * level) if self.direction or self.threshold > 0 else level


PLAIN = Terms()


@dataclass(frozen=True, kw_only=True)
class Intervals:
    """Intervals of candidates (last axis): of psi, and of the difference of every rate (first axis of two)."""

    low: FloatArray
    high: FloatArray
    part_low: FloatArray
    part_high: FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Assessment:
    """Results as columns, one entry per candidate (last axis); first axis of two: the notion's rates.

    Everything refers to D2. NaN is undefined; `reason(i)` says why. `inside` and `outside` count people per cell;
    `rate_in`, `rate_out` and `differences` are as compared: within strata, weighted, against the reference.
    `null_error`: the standard error of the differences if there are none. `psi_crude`: psi without strata, where there
    are some. `contrasts`: comparisons within strata, which know their intervals; None for those that follow from the
    counts, by the exact test if `exact`. `scale`: differences over those between group and others. `share`: of all
    people, or of their weights. `expected`: the signs that other data lets the differences have.
    """

    notion: Notion
    inside: IntArray
    outside: IntArray
    rate_in: FloatArray
    rate_out: FloatArray
    null_error: FloatArray
    scale: FloatArray
    share: FloatArray
    psi: FloatArray
    psi_crude: FloatArray
    statistic: FloatArray
    df: int
    log_p: FloatArray
    log_p_adjusted: FloatArray
    test: tuple[str, ...]
    exact: BoolArray
    contrasts: Sequence[Contrast | None]
    terms: Terms
    why: tuple[str, ...] = ()
    expected: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.psi)

    @property
    def size(self) -> IntArray:
        return self.counter.people(self.inside)

    @property
    def differences(self) -> FloatArray:
        return self.rate_in - self.rate_out

    @property
    def magnitude(self) -> FloatArray:
        """What groups are ranked by: |psi|, or without its bias in small groups the differences as expected."""
        if self.expected is None:
            return np.abs(self.psi)
        return np.asarray((self.expected * self.differences).mean(axis=0))

    @property
    def psi_by_chance(self) -> FloatArray:
        """How large a psi of several rates is on average where there is no disparity at all; NaN for one rate."""
        if len(self.notion.rates) == 1:
            return np.full(len(self), np.nan)
        return np.asarray((np.abs(self.scale) * self.null_error).mean(axis=0) * np.sqrt(2.0 / np.pi))

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
            reason = explain_undefined(rate, *counts)
            if reason:
                return reason
        return ""

    def intervals(self, level: float, chosen: Sequence[int] | None = None) -> Intervals:
        """Intervals of these candidates (all of them, if none are named) whose tests have this level.

        That of one rate holds no difference, or none beyond the threshold, exactly where the test does not reject.
        """
        which = np.arange(len(self)) if chosen is None else np.asarray(chosen, dtype=np.int64)
        accepted = self.log_p[which] > np.log(level)
        level = self.terms.interval_level(level)
        part_low, part_high = self._part_intervals(level, which)
        if self.terms.threshold > 0 and not self.terms.direction and len(part_low) == 1:
            # An end is where one tail of the test turns. The test has both, and may accept the threshold all the same.
            part_low = np.where(accepted, np.minimum(part_low, self.terms.threshold), part_low)
            part_high = np.where(accepted, np.maximum(part_high, -self.terms.threshold), part_high)
        low, high = part_low[0], part_high[0]
        if len(part_low) > 1:
            # A mean of absolute differences: the mean of their intervals, each at level / R so that all hold together.
            low, high = (bound.mean(axis=0) for bound in _absolute(*self._part_intervals(level / len(part_low), which)))
        return Intervals(low=low, high=high, part_low=part_low, part_high=part_high)

    def _part_intervals(self, level: float, which: IntArray) -> tuple[FloatArray, FloatArray]:
        columns = [column[:, which] for column in (self.hits_in, self.base_in, self.hits_out, self.base_out)]
        counted = np.array([self.contrasts[i] is None for i in which.tolist()], dtype=bool)
        low, high = np.empty((2, *columns[0].shape))
        low[:, counted], high[:, counted] = _tables(*(column[:, counted] for column in columns)).interval(level)
        for place, i in enumerate(which.tolist()):
            found = self.contrasts[i]
            if found is not None:
                low[:, place], high[:, place] = found.intervals(level)
            for r in np.flatnonzero(self.exact[:, i]).tolist():
                h_in, b_in, h_out, b_out = (int(column[r, place]) for column in columns)
                strata, weight = [(h_in, b_in, h_in + h_out, b_in + b_out)], b_in * b_out / (b_in + b_out)
                directed = self.terms.direction != 0
                exact = exact_interval(strata, weight, level, one_sided=directed)
                low[r, place], high[r, place] = widen(exact, (float(low[r, place]), float(high[r, place])))
        # Against everyone the difference is smaller than against all others, and so is its interval.
        scale, limit = self.scale[:, which], self.notion.rates[0].limit
        return np.maximum(scale * low, -limit), np.minimum(scale * high, limit)

    @classmethod
    def concatenate(cls, parts: Sequence[Assessment]) -> Assessment:
        """The candidates of several assessments for one notion, one after the other, corrected together."""
        first = parts[0]
        names = ("rate_in", "rate_out", "null_error", "scale", "share", "psi", "psi_crude", "statistic", "exact",
                 "log_p")  # fmt: skip
        columns: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts], axis=-1) for name in names
        }
        return replace(
            first,
            **columns,
            inside=np.concatenate([part.inside for part in parts]),
            outside=np.concatenate([part.outside for part in parts]),
            log_p_adjusted=adjust(columns["log_p"], first.terms.adjustment),
            test=tuple(test for part in parts for test in part.test),
            contrasts=tuple(found for part in parts for found in part.contrasts),
            why=tuple(why for part in parts for why in (part.why or ("",) * len(part))),
        )


def explain_undefined(rate: Rate, hits_in: int, base_in: int, hits_out: int, base_out: int) -> str:
    """Why a rate cannot be compared between group and rest; empty if it can.

    >>> from ald.notions import FNR
    >>> explain_undefined(FNR, 0, 0, 12, 40)
    'the false negative rate is undefined in the group: no one there counts for it'
    """
    if isinstance(rate, Mean):
        return ""  # who compared them said why
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
    """Tests groups on this data, each within the strata of those before it: its difference beyond theirs.

    The order and the groups to condition on were fixed on other data. Small groups are tested exactly.
    """
    first = assess(criteria[:1], data, notion, replace(terms, exact=True), threads=threads)
    masks = [member_mask(criterion, data) for criterion in criteria]
    if len(masks) < 2:
        return first
    strata = [_given(data, masks[:i]) for i in range(1, len(masks))]
    return Assessment.concatenate([first, _assess_within(masks[1:], strata, data, notion, terms, _NOBODY_LEFT)])


def assess_given(
    before: Sequence[CodedCriterion], criterion: CodedCriterion, data: AuditData, notion: Notion, terms: Terms = PLAIN
) -> Assessment:
    """Tests one group within the strata of those before it, if there are any."""
    if not before:
        return assess([criterion], data, notion, terms)
    strata = _given(data, [member_mask(other, data) for other in before])
    return _assess_within([member_mask(criterion, data)], [strata], data, notion, terms, _NOBODY_LEFT)


_NOBODY_LEFT = "the groups before it leave nobody to compare with"


def _given(data: AuditData, before: Sequence[BoolArray] = ()) -> IntArray:
    """The stratum of every row: of legitimate factors, and of membership in groups."""
    own = np.zeros(len(data.cells), np.int64) if data.design.strata is None else data.design.strata
    return own + membership_strata(before) * (int(own.max()) + 1) if before else own


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


def _towards(log_p: FloatArray, differences: FloatArray, sides: Sequence[int]) -> FloatArray:
    """log p, and 1 as p where a direction was asked for and no rate differs in it."""
    asked = np.array(sides)[:, None]
    against = asked.any() & ~(np.nan_to_num(differences) * asked > 0).any(axis=0)
    return np.where(against & ~np.isnan(log_p), 0.0, log_p) if len(sides) > 1 else log_p


class MemberCounter(Protocol):
    """Counts the members of some groups, as it can do fastest or where their rows are."""

    def count(self, data: AuditData, threads: int = 1) -> IntArray:
        """People per group and cell: [groups, cells]."""


def assess(
    criteria: Sequence[CodedCriterion],
    data: AuditData,
    notion: Notion,
    terms: Terms = PLAIN,
    *,
    leaves: MemberCounter | None = None,
    threads: int = 1,
) -> Assessment:
    """Tests every criterion on this data: per rate against the others, combined and corrected.

    leaves: who counts the members of these criteria, where they are leaves of a forest.
    """

    def members(people: AuditData) -> IntArray:
        return count_members(criteria, people, threads) if leaves is None else leaves.count(people, threads)

    if data.design.amounts is not None and data.design.strata is None and data.design.samples_people:
        if not isinstance(leaves, Leaves):
            return _assess_amounts(criteria, members(data.ledger), data, notion, terms)
        inside, small = leaves.sums(data, small_side(data), threads)
        return _assess_amounts(criteria, inside, data, notion, terms, small, threads)
    if _follows_from_counts(data):
        inside = members(data)
        outside = None
        if terms.reference == "group":
            assert data.design.reference is not None
            reference = data.with_counts(np.where(data.design.reference, data.counts, 0))
            outside = reference.cell_counts() - members(reference)
        return assess_counts(inside, data.cell_counts(), notion, terms, outside=outside)
    return assess_masks([member_mask(criterion, data) for criterion in criteria], data, notion, terms)


def _assess_amounts(
    criteria: Sequence[CodedCriterion],
    inside: IntArray,
    data: AuditData,
    notion: Notion,
    terms: Terms,
    known: FewRows | None = None,
    threads: int = 1,
) -> Assessment:
    """As `assess`, of amounts of independent people, from the sums of every group's. known: the rows of some groups."""

    def compare(i: int) -> Contrast:
        member = member_mask(criteria[i], data)
        outside, none = others(member, data, terms.reference), np.zeros(len(member), np.int64)
        return contrast_of_amounts(member, outside, none, data, side, threshold=terms.threshold)

    def rows_of(i: int) -> IntArray:
        return known[i] if known is not None and known.lengths[i] else np.flatnonzero(member_mask(criteria[i], data))

    shuffled = None if terms.reference == "group" else rows_of
    mean, everyone = notion.rates[0], data.cell_counts()
    side = int(RateCounter(notion.rates, data.n_cells).signs[0]) * terms.direction
    outside = everyone - inside
    if terms.reference == "group":
        assert data.design.reference is not None
        reference = data.with_counts(np.where(data.design.reference, data.counts, 0))
        outside = reference.cell_counts() - count_members(criteria, reference.ledger)
    found, log_p, statistic, tests = by_sums(
        inside, outside, data, side, terms.threshold, compare, shuffled, known, threads
    )
    rate_in, rate_out = (mean.value(table[:, 1], table[:, 0])[None] for table in (inside, outside))
    scale = np.ones_like(rate_in)
    if terms.reference == "all":
        both = inside + outside
        rate_out, scale = mean.value(both[:, 1], both[:, 0])[None], _ratio(outside[:, 0], both[:, 0])[None]
    return Assessment(
        notion=notion,
        inside=inside,
        outside=outside,
        rate_in=rate_in,
        rate_out=rate_out,
        null_error=found.error[None],
        scale=scale,
        share=inside[:, 0] / max(int(everyone[0]), 1),
        psi=notion.psi(rate_in - rate_out),
        psi_crude=np.full(len(inside), np.nan),
        statistic=statistic,
        df=1,
        log_p=log_p,
        log_p_adjusted=adjust(log_p, terms.adjustment),
        test=tests,
        exact=np.zeros((1, len(inside)), bool),
        contrasts=Asked(compare, len(inside)),
        terms=terms,
        why=tuple(_NO_AMOUNTS if undefined else "" for undefined in np.isnan(log_p).tolist()),
    )


_NO_AMOUNTS = "nobody can be compared: one side is empty, or everyone has the same outcome"


def assess_masks(masks: Sequence[BoolArray], data: AuditData, notion: Notion, terms: Terms = PLAIN) -> Assessment:
    """As `assess`, of groups that are given by their rows."""
    if _follows_from_counts(data):
        sides = [[data.tally(rows) for rows in (mask, others(mask, data, terms.reference))] for mask in masks]
        inside, outside = (_stack([pair[i] for pair in sides], data) for i in (0, 1))
        return assess_counts(inside, data.cell_counts(), notion, terms, outside=outside)
    unclear = "nobody can be compared: no stratum has people with different outcomes both inside and outside the group"
    if data.design.amounts is not None and data.design.strata is None:
        unclear = _NO_AMOUNTS
    return _assess_within(masks, [_given(data)] * len(masks), data, notion, terms, unclear)


def _follows_from_counts(data: AuditData) -> bool:
    """Whether counts per cell say all of a group: not within strata, of rows that depend on others, or of amounts."""
    return data.design.strata is None and data.design.samples_people and data.design.amounts is None


def _stack(counts: Sequence[IntArray], data: AuditData) -> IntArray:
    """The counts per cell of some groups, or of none: [groups, cells]."""
    return np.array(counts, dtype=np.int64).reshape(-1, data.n_cells)


def _assess_within(
    masks: Sequence[BoolArray],
    strata: Sequence[IntArray],
    data: AuditData,
    notion: Notion,
    terms: Terms,
    unclear: str,
) -> Assessment:
    """The assessment from comparisons within strata, by clusters or with survey weights."""
    rates = RateCounter(notion.rates, data.n_cells)
    sides = (rates.signs * terms.direction).astype(np.int64).tolist()
    weight = data.counts if data.design.weights is None else data.counts * data.design.weights
    rest = [others(mask, data, terms.reference) for mask in masks]
    compare = (
        partial(contrast, data=data, rates=rates, direction=terms.direction, exact=terms.threshold == 0)
        if data.design.amounts is None
        else partial(contrast_of_amounts, data=data, side=sides[0], threshold=terms.threshold)
    )
    found = [compare(mask, out, own) for mask, out, own in zip(masks, rest, strata, strict=True)]

    def column(name: str) -> FloatArray:
        return np.array([getattr(one, name) for one in found]).reshape(len(found), len(notion.rates)).T

    log_ps, statistics = column("log_p"), column("statistic")
    fisher, log_p = _combine(log_ps, rates, data)
    rate_out = column("everyone" if terms.reference == "all" else "outside")
    raw = column("inside") - column("outside")
    differences = column("inside") - rate_out
    tests = [one.test for one in found]
    if terms.threshold > 0:
        beyond = (
            np.array([one.beyond_log_p(terms.threshold, sides)[0] for one in found])
            if len(notion.rates) == 1
            else _several_beyond(differences, column("error"), column("df"), terms, rates, data)
        )
        log_p = np.where(np.isnan(log_p), np.nan, beyond)
        if data.design.amounts is None:
            tests = [f"{test.removesuffix(' chi2').removesuffix(' exact')} score" for test in tests]
    log_p = _towards(log_p, differences, sides)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.where(raw != 0, differences / raw, 1.0) if terms.reference == "all" else np.ones_like(raw)
    inside, outside = (_stack([data.tally(rows) for rows in side], data) for side in (masks, rest))
    shares = [float(weight[mask].sum() / max(float(weight.sum()), 1e-300)) for mask in masks]
    return Assessment(
        notion=notion,
        inside=inside,
        outside=outside,
        rate_in=column("inside"),
        rate_out=rate_out,
        null_error=column("null_error"),
        scale=scale,
        share=np.array(shares, dtype=float),
        psi=notion.psi(differences),
        psi_crude=_crude(masks, rest, weight, strata, data, notion, terms),
        statistic=(np.max(statistics, axis=0) if fisher is None else fisher),
        df=1 if fisher is None else 2 * len(notion.rates),
        log_p=log_p,
        log_p_adjusted=adjust(log_p, terms.adjustment),
        test=tuple(tests),
        exact=np.zeros(log_ps.shape, bool),
        contrasts=tuple(found),
        terms=terms,
        why=tuple(unclear if undefined else "" for undefined in np.isnan(log_p)),
    )


def _crude(
    masks: Sequence[BoolArray],
    rest: Sequence[BoolArray],
    weight: FloatArray | IntArray,
    strata: Sequence[IntArray],
    data: AuditData,
    notion: Notion,
    terms: Terms,
) -> FloatArray:
    """psi without regard to strata; undefined of amounts where there are none."""
    if data.design.amounts is not None:
        crude = _crude_means(masks, rest, weight, data, notion, terms)
        has_strata = np.array([bool(own.any()) for own in strata], bool)
        return np.where(has_strata | (not data.design.samples_people), crude, np.nan)
    one = np.eye(data.n_cells, dtype=np.int64)
    counter = RateCounter(notion.rates, data.n_cells)
    hit, base = counter.hit(one).astype(float), counter.base(one).astype(float)
    sides = []
    for rows in (masks, [a | b for a, b in zip(masks, rest, strict=True)] if terms.reference == "all" else rest):
        people = [np.bincount(data.cells[mask], weight[mask], minlength=data.n_cells) for mask in rows]
        table = np.array(people, dtype=float).reshape(-1, data.n_cells).T
        sides.append(_ratio(hit @ table, base @ table))
    return notion.psi(sides[0] - sides[1])


def _crude_means(
    masks: Sequence[BoolArray],
    rest: Sequence[BoolArray],
    weight: FloatArray | IntArray,
    data: AuditData,
    notion: Notion,
    terms: Terms,
) -> FloatArray:
    amounts = data.design.amounts
    assert amounts is not None
    sides = []
    for rows in (masks, [a | b for a, b in zip(masks, rest, strict=True)] if terms.reference == "all" else rest):
        sums = np.array([[float(weight[r] @ amounts[r]), float(weight[r].sum())] for r in rows]).reshape(-1, 2)
        sides.append(notion.rates[0].value(sums[:, 0], sums[:, 1])[None])
    return notion.psi(sides[0] - sides[1])


def _several_beyond(
    differences: FloatArray, error: FloatArray, df: FloatArray, terms: Terms, rates: RateCounter, data: AuditData
) -> FloatArray:
    """log p of a mean absolute difference no larger than the threshold, from standard errors."""
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
    exact = np.zeros(log_ps.shape, bool)
    if terms.exact and terms.threshold == 0:
        for r, i in zip(*np.nonzero(~np.isnan(log_ps)), strict=True):
            h_in, b_in, h_out, b_out = (int(x[r, i]) for x in (hits_in, base_in, hits_out, base_out))
            if is_small(h_in, b_in, h_out, b_out):
                log_ps[r, i] = exact_log_p([(h_in, b_in, h_in + h_out, b_in + b_out)], sides[r])
                exact[r, i] = True
    fisher, log_p = _combine(log_ps, rates, None)
    tests = ["exact" if any(rate) else "chi2" for rate in exact.T.tolist()]
    if terms.threshold > 0:
        # Undefined stays undefined; all else is tested against the threshold, whatever the size of the group.
        beyond = (
            _tables(hits_in[0], base_in[0], hits_out[0], base_out[0]).beyond_log_p(terms.threshold, sides[0])
            if len(notion.rates) == 1
            else several_rates_log_p(inside, outside, rates, terms.threshold)
        )
        log_p, tests = np.where(np.isnan(log_p), np.nan, beyond), ["score"] * len(inside)
    log_p = _towards(log_p, rate_in - rate_out, sides)
    with np.errstate(divide="ignore", invalid="ignore"):
        pooled = (hits_in + hits_out) / (base_in + base_out)
        null_error = np.sqrt(pooled * (1 - pooled) * (1 / base_in + 1 / base_out))
    if terms.reference == "all":
        rate_out = pooled
        scale = _ratio(base_out, base_in + base_out)
    else:
        scale = np.ones_like(rate_in)
    return Assessment(
        notion=notion,
        inside=inside,
        outside=outside,
        rate_in=rate_in,
        rate_out=rate_out,
        null_error=null_error,
        scale=scale,
        share=np.asarray(inside.sum(axis=1) / max(int(everyone.sum()), 1)),
        psi=notion.psi(rate_in - rate_out),
        psi_crude=np.full(len(inside), np.nan),
        statistic=np.max(statistics, axis=0) if fisher is None else fisher,
        df=1 if fisher is None else 2 * len(notion.rates),
        log_p=log_p,
        log_p_adjusted=adjust(log_p, terms.adjustment),
        test=tuple(tests),
        exact=exact,
        contrasts=(None,) * len(inside),
        terms=terms,
    )


def _tables(hits_in: IntArray, base_in: IntArray, hits_out: IntArray, base_out: IntArray) -> Tables:
    """The groups' tables, of one stratum each."""
    return Tables(
        hits_in=hits_in[..., None],
        base_in=base_in[..., None],
        hits_out=hits_out[..., None],
        base_out=base_out[..., None],
        by_margins=False,
    )


def _ratio(hits: IntArray | FloatArray, base: IntArray | FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(hits / base)


def _absolute(low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The interval of |d| from that of d."""
    return np.maximum(np.maximum(low, -high), 0.0), np.maximum(np.abs(low), np.abs(high))


def assessment_terms(config: AuditConfig) -> Terms:
    """How groups are tested, from the settings. The paper's search has chi2 tests of groups of any size."""
    return Terms(
        adjustment=config.adjust,
        level=config.level,
        threshold=config.threshold,
        direction=config.sign,
        reference=config.reference_kind,
        exact=config.search != "paper",
    )
