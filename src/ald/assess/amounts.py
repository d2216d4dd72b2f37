"""Comparing one group with others where the outcome is a number: means, and who has more.

Independent people: Welch's t within strata. A group so small, or amounts so skew, that t cannot be trusted is tested by
permutation; where a few people hold most of what varies, no mean can be trusted, and the rank test leads. Which of the
three it is follows from sizes and from everyone's amounts alone, whoever is a member, so that each keeps its level.
Clusters or survey weights: `robust`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import ceil
from typing import Any

import numpy as np

from ald._core.arrays import BoolArray, FloatArray, IntArray
from ald._core.threads import in_threads
from ald.assess.contrast import Contrast
from ald.assess.robust import Robust, compare_amounts_robustly
from ald.data.amounts import Unit
from ald.data.coded import AuditData, number_values
from ald.groups.membership import FewRows
from ald.statistics.means import Contrasts, MeanDifference, Side, contrasts, welch
from ald.statistics.ranks import compare_ranks
from ald.statistics.score import beyond_log_p
from ald.statistics.shuffled import Shuffles, permutation_log_p

# The rank test leads where this share of the people holds more than this part of all squared deviations.
FEW, MOST = 0.01, 0.5
# The permutation test is for sides of fewer people than this, or than skewness asks for, if they are not very many.
SMALL, SKEW, LARGE = 30, 0.15, 400
# Groups below which testing them in threads costs more than it saves.
_WORTH_A_THREAD = 100


@dataclass(frozen=True, kw_only=True)
class AmountPart:
    """The difference of means, in the unit of the amounts."""

    means: MeanDifference | Robust

    def interval(self, level: float) -> tuple[float, float]:
        """The differences that are not rejected at `level`, by t."""
        return self.means.interval(level)

    def beyond_log_p(self, threshold: float, side: int) -> float:
        """log p of a difference no larger than the threshold, by t."""
        return self.means.beyond_log_p(threshold, side)


def contrast_of_amounts(
    inside: BoolArray,
    outside: BoolArray,
    strata: IntArray,
    data: AuditData,
    side: int,
    *,
    threshold: float = 0.0,
) -> Contrast:
    """Those inside against those outside within strata. side: -1 only for less inside, 1 only for more, 0 for both.

    threshold: of the difference that is tested, which only t can do.
    """
    assert data.design.amounts is not None
    assert data.unit is not None
    rows = np.flatnonzero(inside | outside)
    member, people = inside[rows], data.counts[rows]
    values = data.design.amounts[rows] / data.unit.per_one
    present, stratum = number_values(strata[rows])
    means: MeanDifference | Robust
    if not data.design.samples_people:
        means = compare_amounts_robustly(rows, values, inside, strata, data)
        found = _contrast(means, means.log_p(side), means.statistic, "robust t", data.unit)
        return replace(found, dominated=dominated(values, people, stratum))
    both = [Side.of(values[m], people[m], stratum[m], len(present)) for m in (member, ~member)]
    means = welch(*both)
    ranks = compare_ranks(member, ~member, data.design.amounts[rows], people, stratum)
    few = dominated(values, people, stratum)
    log_p, test, statistic = means.log_p(side), "Welch t", means.t**2
    if threshold == 0.0 and not np.isnan(log_p):
        if few:
            log_p, test, statistic = ranks.log_p(side), "rank", ranks.z**2
        elif wants_permutation(both, values, people, stratum):
            each = np.repeat(np.arange(len(rows)), people)
            log_p = permutation_log_p(member[each], values[each], stratum[each], side)
            test = "permutation t"
    return replace(_contrast(means, log_p, statistic, test, data.unit), ranks=ranks, dominated=few)


class Asked(Sequence[Contrast]):
    """The comparisons of many groups, each made when somebody asks for it."""

    def __init__(self, make: Callable[[int], Contrast], n: int) -> None:
        self._make, self._n = cache(make), n

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, i: Any) -> Any:
        return [self._make(k) for k in range(self._n)[i]] if isinstance(i, slice) else self._make(range(self._n)[i])


def by_sums(
    inside: IntArray,
    outside: IntArray,
    data: AuditData,
    side: int,
    threshold: float,
    compare: Callable[[int], Contrast],
    rows_of: Callable[[int], IntArray] | None,
    known: FewRows | None = None,
    threads: int = 1,
) -> tuple[Contrasts, FloatArray, FloatArray, tuple[str, ...]]:
    """The differences of many groups of independent people, log p, the statistics, and the tests that they are of.

    inside, outside: people, sum, and both words of the sum of squares, [groups, 4]. Groups that need another test than
    t are left to `compare`, or to shuffles of everyone where `rows_of` says who is in a group, and all others are those
    it is compared with. known: the rows of some groups.
    """
    assert data.design.amounts is not None
    assert data.unit is not None
    both = [Side.from_sums(table, data.unit.per_one) for table in (inside, outside)]
    found = contrasts(*both)
    difference = found.inside - found.outside
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(difference == 0.0, 0.0, difference / found.error) ** 2
        log_p = np.where(found.error > 0, beyond_log_p(difference, found.error, found.df, threshold, side), np.nan)
    tests = ["Welch t"] * len(inside)
    if threshold == 0.0:
        values, stratum = data.design.amounts / data.unit.per_one, np.zeros(len(data.cells), np.int64)
        least, few = np.minimum(inside[:, 0], outside[:, 0]), dominated(values, data.counts, stratum)
        other = np.full(len(least), True) if few else least < limit_of_t(values, data.counts, stratum)
        asked = np.flatnonzero(~np.isnan(log_p) & other)
        if not few and rows_of is not None:
            shuffles = Shuffles(np.repeat(values, data.counts))
            log_p[asked] = _shuffled_log_ps(shuffles, asked, rows_of, known, data, side, threads)
            for i in asked.tolist():
                tests[i] = "permutation t"
            asked = asked[:0]
        for i in asked.tolist():
            one = compare(i)
            log_p[i], statistic[i], tests[i] = one.log_p[0], one.statistic[0], one.test
    return found, log_p, statistic, tuple(tests)


def _shuffled_log_ps(
    shuffles: Shuffles,
    asked: IntArray,
    rows_of: Callable[[int], IntArray],
    known: FewRows | None,
    data: AuditData,
    side: int,
    threads: int,
) -> FloatArray:
    """Of some groups: those as large as others whose rows are known are tested together with them."""
    out = np.empty(len(asked))
    lengths = np.zeros(len(asked), np.int64) if known is None or not data.one_each else known.lengths[asked]
    lengths[2 * lengths > len(data.counts)] = 0

    def test(k: int) -> None:
        own = np.flatnonzero(lengths == k)
        if k and known is not None:
            out[own] = shuffles.log_ps_of(k, known.together(asked[own], k), side)
        else:
            out[own] = [_shuffled_log_p(shuffles, rows_of(i), data, side) for i in asked[own].tolist()]

    in_threads(test, np.unique(lengths).tolist(), threads if len(asked) >= _WORTH_A_THREAD else 1)
    return out


def _shuffled_log_p(shuffles: Shuffles, rows: IntArray, data: AuditData, side: int) -> float:
    """Of the people of these rows, ascending."""
    if data.one_each and 2 * len(rows) <= len(data.counts):
        return shuffles.log_p_of(len(rows), rows, side)
    inside = np.zeros(len(data.counts), bool)
    inside[rows] = True
    return shuffles.log_p(np.repeat(inside, data.counts), side)


def small_side(data: AuditData) -> float:
    """From how many people on the smaller side on t is used, of groups without strata."""
    assert data.design.amounts is not None
    assert data.unit is not None
    return limit_of_t(data.design.amounts / data.unit.per_one, data.counts, np.zeros(len(data.cells), np.int64))


def _contrast(means: MeanDifference | Robust, log_p: float, statistic: float, test: str, unit: Unit) -> Contrast:
    shift = unit.origin / unit.per_one

    def one(value: float) -> FloatArray:
        return np.array([value])

    return Contrast(
        log_p=one(log_p),
        statistic=one(statistic),
        inside=one(means.inside + shift),
        outside=one(means.outside + shift),
        everyone=one(means.everyone + shift),
        difference=one(means.difference),
        error=one(means.error),
        null_error=one(means.error),
        df=one(means.df),
        test=test,
        parts=(AmountPart(means=means),),
    )


def deviations(values: FloatArray, people: IntArray, stratum: IntArray) -> FloatArray:
    """Of every amount from the mean of its stratum."""
    n, total = (np.bincount(stratum, weight) for weight in (people, people * values))
    return np.asarray(values - (total / np.maximum(n, 1))[stratum])


def dominated(values: FloatArray, people: IntArray, stratum: IntArray) -> bool:
    """Whether a few people hold most of the squared deviations from the means of their strata."""
    square = deviations(values, people, stratum) ** 2
    if len(people) and int(people.min()) == int(people.max()) == 1:
        few = ceil(FEW * len(people))
        held = np.zeros(len(people))
        held[:few] = -np.sort(np.partition(-square, few - 1)[:few])
        return bool(held.sum() > MOST * square.sum())
    order = np.argsort(-square, kind="stable")
    few = ceil(FEW * int(people.sum()))
    before = np.cumsum(people[order]) - people[order]
    counted = np.clip(few - before, 0, people[order])
    return bool((counted * square[order]).sum() > MOST * (people * square).sum())


def limit_of_t(values: FloatArray, people: IntArray, stratum: IntArray) -> float:
    """How many people the smaller side needs for t: the more skew amounts are, the more."""
    deviation = deviations(values, people, stratum)
    square = float(people @ deviation**2) / people.sum()
    skewness = float(people @ (deviation * deviation * deviation)) / people.sum() / square**1.5 if square > 0 else 0.0
    return max(SMALL, min(LARGE, (skewness / SKEW) ** 2))


def wants_permutation(both: list[Side], values: FloatArray, people: IntArray, stratum: IntArray) -> bool:
    """Whether the smaller side has too few people for t."""
    comparable = (both[0].people > 0) & (both[1].people > 0)
    return min(float(side.people[comparable].sum()) for side in both) < limit_of_t(values, people, stratum)
