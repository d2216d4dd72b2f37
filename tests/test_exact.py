"""Exact tests for small groups."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special
from scipy.stats import fisher_exact, hypergeom

from ald.exact import exact_log_p, is_small

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
