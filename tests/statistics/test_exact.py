"""Exact tests for small groups."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import special
from scipy.stats import fisher_exact, hypergeom, nchypergeom_fisher

from ald.statistics.exact import exact_interval, exact_log_p, is_small, widen

counts = st.integers(0, 25)


@given(counts, counts, counts, counts)
def test_one_stratum_is_fishers_exact_test(a: int, b: int, c: int, d: int) -> None:
    """With one stratum the p-value is SciPy's two-sided Fisher test."""
    if a + b == 0 or c + d == 0:
        return
    ours = np.exp(exact_log_p([(a, a + b, a + c, a + b + c + d)]))
    assert ours == pytest.approx(fisher_exact([[a, b], [c, d]]).pvalue, rel=1e-6)


def test_strata_give_the_convolution_of_hypergeometrics() -> None:
    """With two strata the p-value adds up all outcomes no more likely than the observed one, counted by brute force."""
    strata = [(4, 6, 9, 20), (1, 5, 4, 12)]
    pmf = {}
    for x in range(7):
        for y in range(5):
            chance = hypergeom(20, 9, 6).pmf(x) * hypergeom(12, 4, 5).pmf(y)
            pmf[x + y] = pmf.get(x + y, 0.0) + chance
    expected = sum(chance for chance in pmf.values() if chance <= pmf[5] * (1 + 1e-7))
    assert np.exp(exact_log_p(strata)) == pytest.approx(expected, rel=1e-9)


def test_tiny_p_values_do_not_underflow() -> None:
    """The logarithm stays finite where p itself would be 0."""
    assert exact_log_p([(900, 900, 1000, 100_000)]) < -2000


def test_small_depends_on_the_margins_only() -> None:
    """The choice of the test does not change with the hits inside, as long as the margins stay."""
    assert is_small(0, 30, 40, 1000) == is_small(10, 30, 30, 1000) == is_small(30, 30, 10, 1000)
    assert not is_small(100, 1000, 100, 1000)


@given(counts, counts, counts, counts, st.sampled_from([(1, "greater"), (-1, "less")]))
def test_one_sided_tests_are_fishers(a: int, b: int, c: int, d: int, side: tuple[int, str]) -> None:
    """With a side, the p-value is SciPy's one-sided Fisher test."""
    if a + b == 0 or c + d == 0:
        return
    ours = np.exp(exact_log_p([(a, a + b, a + c, a + b + c + d)], side[0]))
    assert ours == pytest.approx(fisher_exact([[a, b], [c, d]], alternative=side[1]).pvalue, rel=1e-6)


def test_strata_far_out_do_not_underflow() -> None:
    """Where probabilities underflow, log p is still that of the strata: of equal extreme ones, the sum of their own."""
    stratum = (200, 200, 200, 500_000)
    assert exact_log_p([stratum, stratum]) == pytest.approx(2 * exact_log_p([stratum]), rel=1e-9)
    first = hypergeom.logpmf(np.arange(201), 500_000, 200, 200)
    second = hypergeom.logpmf(np.arange(11), 100, 30, 10)
    sums = np.add.outer(np.arange(201), np.arange(11))
    expected = special.logsumexp(np.add.outer(first, second)[sums >= 203])
    assert exact_log_p([stratum, (3, 10, 30, 100)], side=1) == pytest.approx(expected, rel=1e-6)


def brute_force(strata: list[tuple[int, int, int, int]], log_odds: float) -> tuple[float, float]:
    """The two-sided p and the expected hits in the group at a common odds ratio, by SciPy's law of each stratum."""
    pmf = {0: 1.0}
    for _, base_in, hits, base in strata:
        law = nchypergeom_fisher(base, hits, base_in, np.exp(log_odds))
        low, high = law.support()
        chances = {x: float(law.pmf(x)) for x in range(int(low), int(high) + 1)}
        totals = {t + x for t in pmf for x in chances}
        pmf = {total: sum(pmf.get(total - x, 0.0) * chance for x, chance in chances.items()) for total in totals}
    seen = sum(hits_in for hits_in, *_ in strata)
    p = sum(chance for chance in pmf.values() if chance <= pmf[seen] * (1 + 1e-7))
    return p, sum(x * chance for x, chance in pmf.items())


STRATA = [[(8, 10, 10, 24)], [(1, 12, 5, 40), (3, 7, 4, 20)], [(0, 9, 6, 30)], [(6, 6, 9, 25)]]


@pytest.mark.parametrize("strata", STRATA)
def test_ends_of_intervals_are_where_the_two_sided_test_turns(strata: list[tuple[int, int, int, int]]) -> None:
    """Just inside an end there are odds ratios that are not rejected, and none beyond it (SciPy's laws, on a grid)."""
    weight = sum(base_in * (base - base_in) / base for _, base_in, _, base in strata)
    low, high = exact_interval(strata, weight, 0.05)
    grid = np.linspace(-8, 8, 1601)
    found = [brute_force(strata, log_odds) for log_odds in grid]
    even = brute_force(strata, 0.0)[1]
    accepted = [(mean - even) / weight for p, mean in found if p > 0.05]
    step = max(abs(b[1] - a[1]) for a, b in pairwise(found)) / weight
    assert (low, high) == pytest.approx((min(accepted), max(accepted)), abs=step)


@given(
    st.lists(st.tuples(*(st.integers(0, 12),) * 4), min_size=1, max_size=3),
    st.sampled_from([0.05, 0.2]),
    st.sampled_from([-1, 0, 1]),
)
def test_intervals_hold_no_difference_exactly_where_the_test_does_not_reject(
    tables: list[tuple[int, int, int, int]], level: float, side: int
) -> None:
    """Two-sided at the level, and for tests in one direction at twice the level."""
    strata = [(a, a + b, a + c, a + b + c + d) for a, b, c, d in tables]
    assume(any(0 < n < total and 0 < hits < total for _, n, hits, total in strata))
    weight = sum(n * (total - n) / total for _, n, _, total in strata if total)
    strata = [row for row in strata if row[3]]
    p = float(np.exp(exact_log_p(strata, side)))
    assume(abs(p - level) > 1e-6)
    low, high = exact_interval(strata, weight, level if side == 0 else 2 * level, one_sided=side != 0)
    excess = sum(a - n * hits / total for a, n, hits, total in strata)
    assert low - 1e-9 <= excess / weight <= high + 1e-9
    reaches = {0: low <= 0 <= high, 1: low <= 0, -1: high >= 0}[side]
    assert reaches == (p > level)


def test_widened_intervals_keep_their_verdict_about_no_difference() -> None:
    """An exact interval becomes as wide as the score interval, but holds 0 just where it did before."""
    rng = np.random.default_rng(8)
    for _ in range(200):
        exact, score = (tuple(np.sort(rng.normal(scale=0.1, size=2))) for _ in range(2))
        low, high = widen(exact, score)
        assert low <= exact[0]
        assert high >= exact[1]
        assert (low <= 0 <= high) == (exact[0] <= 0 <= exact[1])
        if (score[0] <= 0 <= score[1]) == (exact[0] <= 0 <= exact[1]) and low <= score[1] and high >= score[0]:
            assert low <= score[0] or exact[0] > 0 >= score[0]
            assert high >= score[1] or exact[1] < 0 <= score[1]
