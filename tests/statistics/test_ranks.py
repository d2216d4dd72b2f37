"""Rank tests and probabilities of superiority, against SciPy and against all pairs."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest
from scipy import stats

from ald.statistics.ranks import RankResult, compare_ranks


def compared(values: np.ndarray, member: np.ndarray, stratum: np.ndarray | None = None) -> RankResult:
    strata = np.zeros(len(values), np.int64) if stratum is None else stratum
    return compare_ranks(member, ~member, values, np.ones(len(values), np.int64), strata)


def sample(seed: int, levels: int = 20, n: int = 80) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    member = rng.random(n) < 0.3
    return rng.integers(0, levels, n) + 2 * member, member


@pytest.mark.parametrize("levels", [3, 20, 10_000])
@pytest.mark.parametrize("seed", range(4))
def test_without_strata_it_is_mann_whitney(seed: int, levels: int) -> None:
    """p is SciPy's, with ties and without a continuity correction, on either side and on both."""
    values, member = sample(seed, levels)
    found = compared(values, member)
    for side, alternative in ((0, "two-sided"), (1, "greater"), (-1, "less")):
        theirs = stats.mannwhitneyu(
            values[member], values[~member], alternative=alternative, method="asymptotic", use_continuity=False
        )
        assert exp(found.log_p(side)) == pytest.approx(theirs.pvalue, rel=1e-9)
        assert found.superiority == pytest.approx(theirs.statistic / (member.sum() * (~member).sum()))


@pytest.mark.parametrize("seed", range(4))
def test_superiority_by_all_pairs(seed: int) -> None:
    """The probability of superiority counts pairs, with half of the ties; its error is that of Brunner and Munzel."""
    values, member = sample(seed, 8)
    inside, outside = values[member], values[~member]
    above = (inside[:, None] > outside) + 0.5 * (inside[:, None] == outside)
    found = compared(values, member)
    assert found.superiority == pytest.approx(above.mean())
    error = above.mean(axis=1).var(ddof=1) / len(inside) + above.mean(axis=0).var(ddof=1) / len(outside)
    assert found.error == pytest.approx(error**0.5)
    low, high = found.interval(0.05)
    assert 0 < low < found.superiority < high < 1


@pytest.mark.parametrize("seed", range(4))
def test_within_strata_it_is_van_elteren(seed: int) -> None:
    """z adds up the strata's rank sums, each over its people and one."""
    rng = np.random.default_rng(seed)
    values, member = sample(seed, 8, 200)
    stratum = rng.integers(0, 4, 200)
    top, bottom = 0.0, 0.0
    for s in range(4):
        here = stratum == s
        ranks, m = stats.rankdata(values[here]), member[here]
        n = len(ranks)
        top += (ranks[m].sum() - m.sum() * (n + 1) / 2) / (n + 1)
        bottom += m.sum() * (~m).sum() * ranks.var() / (n - 1) / (n + 1) ** 2
    assert compared(values, member, stratum).z == pytest.approx(top / bottom**0.5)


def test_rows_of_several_people() -> None:
    """A row of several people counts as often."""
    values, member = sample(1, 6)
    people = np.random.default_rng(2).integers(1, 5, len(values))
    strata = np.zeros(len(values), np.int64)
    once = compared(np.repeat(values, people), np.repeat(member, people))
    assert compare_ranks(member, ~member, values, people, strata) == once


def test_no_pair_and_no_difference() -> None:
    """Without pairs the test is undefined, and so it is where everyone has the same."""
    values = np.arange(4)
    for found in (compared(values, np.ones(4, bool)), compared(np.ones(4, np.int64), values < 2)):
        assert np.isnan(found.log_p())
