"""The permutation test, against all permutations, and by its level where t fails."""

from __future__ import annotations

from itertools import combinations
from math import exp

import numpy as np
import pytest
from scipy import stats

from ald.statistics.shuffled import Shuffles, draws, permutation_log_p


def no_strata(values: np.ndarray) -> np.ndarray:
    return np.zeros(len(values), np.int64)


@pytest.mark.parametrize(("k", "side"), [(3, 0), (3, 1), (7, -1), (7, 0), (5, 1)])
def test_all_permutations_agree(k: int, side: int) -> None:
    """The p-value is the share of all choices of members with as large a t, but for the luck of the draw."""
    rng = np.random.default_rng(k)
    values, member = rng.exponential(size=10), np.arange(10) < k
    values[member] += 0.8 * (side or 1)

    def t(chosen: np.ndarray) -> float:
        value = stats.ttest_ind(values[chosen], values[~chosen], equal_var=False).statistic
        return float(side * value if side else abs(value))

    seen = t(member)
    every = [t(np.isin(np.arange(10), chosen)) for chosen in combinations(range(10), k)]
    share = np.mean(np.array(every) >= seen - 1e-9)
    assert exp(permutation_log_p(member, values, no_strata(values), side)) == pytest.approx(share, abs=0.015)


def test_strata_are_shuffled_each_by_itself() -> None:
    """Where all strata but one have members only, the test is that of this stratum."""
    rng = np.random.default_rng(0)
    values, member = rng.normal(size=30), rng.random(30) < 0.5
    other = np.concatenate([values, [50.0, 60.0]]), np.concatenate([member, [True, True]])
    strata = np.concatenate([np.zeros(30, np.int64), [1, 1]])
    alone = permutation_log_p(member, values, no_strata(values))
    assert exp(permutation_log_p(other[1], other[0], strata)) == pytest.approx(exp(alone), abs=0.015)


def test_the_level_holds_where_that_of_t_does_not() -> None:
    """Ten of two hundred lognormal amounts: the test rejects in 5 % of data sets, Welch's t in far more."""
    rng = np.random.default_rng(1)
    member = np.arange(200) < 10
    rejected = np.zeros(2)
    for _ in range(200):
        values = rng.lognormal(0, 1.5, 200)
        rejected[0] += exp(permutation_log_p(member, values, no_strata(values))) <= 0.05
        rejected[1] += stats.ttest_ind(values[member], values[~member], equal_var=False).pvalue <= 0.05
    assert rejected[0] <= 0.05 * 200 + 2 * (0.05 * 0.95 * 200) ** 0.5
    assert rejected[1] > rejected[0] + 10


def test_undefined_without_two_sides_or_variance() -> None:
    """With nobody to compare with there is no p-value; where everyone has the same, none is smaller than 1."""
    values = np.arange(5.0)
    assert np.isnan(permutation_log_p(np.ones(5, bool), values, no_strata(values)))
    assert permutation_log_p(values < 2, np.ones(5), no_strata(values)) == 0.0


@pytest.mark.parametrize(("n", "k"), [(6, 1), (10, 5), (2000, 40)])
def test_every_choice_is_as_likely(n: int, k: int) -> None:
    """Every number is drawn as often as any other, and never twice at once."""
    drawn = draws(n, k, 3000, np.random.default_rng(n))
    assert (np.diff(np.sort(drawn, axis=1), axis=1) > 0).all()
    times = np.bincount(drawn.ravel(), minlength=n)
    assert stats.chisquare(times).pvalue > 1e-3


@pytest.mark.parametrize("side", [-1, 0, 1])
def test_groups_as_large_share_their_shuffles(side: int) -> None:
    """Many groups of the same people have the p-values that each has by itself."""
    rng = np.random.default_rng(3)
    values = rng.exponential(size=60)
    shuffles = Shuffles(values)
    for k in (1, 5, 5, 30, 41, 59, 60):
        member = np.isin(np.arange(60), rng.choice(60, k, replace=False))
        alone = permutation_log_p(member, values, no_strata(values), side)
        assert shuffles.log_p(member, side) == pytest.approx(alone, abs=0, nan_ok=True)
