"""Differences of means within strata, against SciPy, and against loops over strata."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest
from scipy import stats

from ald.statistics.means import Side, welch


def sides(seed: int, strata: int = 1, n: int = 60) -> tuple[list[Side], np.ndarray, np.ndarray, np.ndarray]:
    """Random amounts of two groups in some strata."""
    rng = np.random.default_rng(seed)
    stratum, member = rng.integers(0, strata, n), rng.random(n) < 0.4
    values = rng.lognormal(size=n) + stratum * 3 + member
    both = [Side.of(values[m], np.ones(m.sum(), np.int64), stratum[m], strata) for m in (member, ~member)]
    return both, values, member, stratum


@pytest.mark.parametrize("seed", range(5))
def test_without_strata_it_is_welch(seed: int) -> None:
    """t, degrees of freedom, p and interval are those of SciPy's test with unequal variances."""
    both, values, member, _ = sides(seed)
    found, theirs = welch(*both), stats.ttest_ind(values[member], values[~member], equal_var=False)
    interval = theirs.confidence_interval(0.9)
    assert (found.t, found.df) == pytest.approx((theirs.statistic, theirs.df), rel=1e-12)
    assert exp(found.log_p()) == pytest.approx(theirs.pvalue, rel=1e-10)
    assert found.interval(0.1) == pytest.approx((interval.low, interval.high), rel=1e-10)
    assert found.everyone == pytest.approx(values.mean())
    one_sided = stats.ttest_ind(values[member], values[~member], equal_var=False, alternative="less")
    assert exp(found.log_p(-1)) == pytest.approx(one_sided.pvalue, rel=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_strata_weigh_by_their_pairs(seed: int) -> None:
    """Difference and error are the weighted means of those of the strata; an empty side leaves its stratum out."""
    both, values, member, stratum = sides(seed, strata=4, n=200)
    weights, differences, variances = [], [], []
    for s in range(4):
        a, b = values[member & (stratum == s)], values[~member & (stratum == s)]
        weights.append(len(a) * len(b) / (len(a) + len(b)))
        differences.append(a.mean() - b.mean())
        variances.append(a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b))
    share = np.array(weights) / sum(weights)
    found = welch(*both)
    assert found.difference == pytest.approx(share @ differences)
    assert found.error == pytest.approx((share**2 @ variances) ** 0.5)
    # A fifth stratum in which nobody is a member changes nothing.
    more = [Side.of(values[m], np.ones(m.sum(), np.int64), stratum[m], 5) for m in (member, ~member)]
    people = more[1].people + np.array([0.0, 0.0, 0.0, 0.0, 9.0])
    others = Side(people=people, total=more[1].total, spread=more[1].spread)
    assert welch(more[0], others) == found


def test_a_stratum_of_one_against_one() -> None:
    """It counts in the difference, has the variance of the other strata, and does not leave the test undefined."""
    both, _, _, _ = sides(1, strata=3, n=90)
    alone = [
        Side(people=np.append(side.people, 1.0), total=np.append(side.total, total), spread=np.append(side.spread, 0.0))
        for side, total in zip(both, (5.0, 3.5), strict=True)
    ]
    found, before = welch(*alone), welch(*both)
    within = sum(side.spread.sum() for side in both) / (90 - 6)
    share = 0.5 / (before.weight + 0.5)
    assert found.difference == pytest.approx((1 - share) * before.difference + share * 1.5)
    assert found.error**2 == pytest.approx((1 - share) ** 2 * before.error**2 + share**2 * 2 * within)
    assert found.log_p() < 0
    pair = [Side(people=np.ones(2), total=np.array([a, a + 1]), spread=np.zeros(2)) for a in (1.0, 3.0)]
    assert np.isnan(welch(*pair).log_p())


def test_repeated_people() -> None:
    """Rows of several people with the same amount are those people."""
    values, people = np.array([1.0, 2.0, 5.0]), np.array([3, 1, 2])
    zero = np.zeros(3, np.int64)
    once = Side.of(np.repeat(values, people), np.ones(6, np.int64), np.zeros(6, np.int64), 1)
    found = Side.of(values, people, zero, 1)
    assert [found.people[0], found.total[0], found.spread[0]] == [once.people[0], once.total[0], once.spread[0]]


def test_beyond_a_threshold() -> None:
    """A difference is beyond a threshold just as it is beyond none, once the threshold is taken off."""
    both, values, member, _ = sides(3)
    found = welch(*both)
    bigger = stats.ttest_ind(values[member] - 0.2, values[~member], equal_var=False, alternative="greater")
    assert found.beyond_log_p(0.2, 1) == pytest.approx(log(bigger.pvalue), rel=1e-9)


def test_one_member_and_no_variance() -> None:
    """One member has the others' variance; where nothing varies there is no test."""
    one = Side.of(np.array([4.0]), np.ones(1, np.int64), np.zeros(1, np.int64), 1)
    many = Side.of(np.array([1.0, 2.0, 3.0]), np.ones(3, np.int64), np.zeros(3, np.int64), 1)
    theirs = stats.ttest_ind([4.0], [1.0, 2.0, 3.0])
    assert welch(one, many).t == pytest.approx(theirs.statistic)
    same = Side.of(np.array([2.0, 2.0]), np.ones(2, np.int64), np.zeros(2, np.int64), 1)
    assert np.isnan(welch(same, same).log_p())
