"""Statistics against other software."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from ald.statistics.basics import (
    adjust,
    chi2_2x2,
    chi2_log_sf,
    combine_bonferroni,
    combine_fisher,
    directed_log_p,
    log1m_exp,
    newcombe,
    round_reported,
    t_log_sf,
    wilson,
)

PROPORTIONS = st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
COUNTS = st.integers(0, 10_000)
P_VALUES = st.lists(st.floats(1e-12, 1.0), min_size=1, max_size=40)


@given(st.floats(1e-6, 600), st.integers(1, 300))
def test_chi2_tails(statistic: float, df: int) -> None:
    """Log p equals SciPy's where SciPy does not underflow."""
    expected = stats.chi2.logsf(statistic, df)
    assume(expected > -600)
    assert chi2_log_sf(np.array([statistic]), np.array([df]))[0] == pytest.approx(expected, rel=1e-9, abs=1e-13)


@pytest.mark.parametrize("df", [1, 2, 3, 4, 7, 64, 65, 128, 401])
def test_chi2_tails_of_any_size(df: int) -> None:
    """Far beyond underflow log p lies between the bounds of the incomplete gamma function, and falls."""
    for statistic in (3000.0, 1e5, 1e8):
        half, a = statistic / 2, df / 2
        log_p = float(chi2_log_sf(np.array([statistic]), np.array([df]))[0])
        leading = -half + (a - 1) * math.log(half) - math.lgamma(a)
        # Q(a, x) = leading term * (1 + (a - 1) / x + ...): between the term and this factor of it.
        ratio = (a - 1) / half
        bounds = sorted((leading, leading - math.log1p(-ratio)))
        assert bounds[0] - 1e-9 * half <= log_p <= bounds[1] + 1e-9 * half
    decreasing = chi2_log_sf(np.linspace(1, 5000, 500), np.full(500, df))
    assert (np.diff(decreasing) <= 0).all()


@given(st.floats(0.1, 1e6))
def test_two_degrees_of_freedom_are_exponential(statistic: float) -> None:
    """With two degrees of freedom log p is exactly minus half the statistic."""
    assert chi2_log_sf(np.array([statistic]), np.array([2]))[0] == pytest.approx(-statistic / 2, rel=1e-13)


def test_chi2_edges() -> None:
    """p is 1 at zero, undefined without degrees of freedom, and zero at infinity."""
    found = chi2_log_sf(np.array([0.0, 1.0, np.nan, np.inf, 1e-20]), np.array([3, 0, 1, 2, 1]))
    np.testing.assert_array_equal(found, [0.0, np.nan, np.nan, -np.inf, 0.0])


@given(COUNTS, COUNTS, COUNTS, COUNTS)
def test_chi2_of_2x2_tables(a: int, b: int, c: int, d: int) -> None:
    """Pearson's statistic equals SciPy's, and is undefined exactly where a margin is zero."""
    found = float(chi2_2x2(*(np.array([x]) for x in (a, b, c, d)))[0])
    if min(a + b, c + d, a + c, b + d) == 0:
        assert math.isnan(found)
    else:
        expected = stats.chi2_contingency([[a, b], [c, d]], correction=False).statistic
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_chi2_of_huge_tables() -> None:
    """Counts beyond exact products of doubles are exact: independence gives 0."""
    a, b, c, d = 3 * 10**14, 2 * 10**14, 3 * 10**13, 2 * 10**13
    assert chi2_2x2(*(np.array([x]) for x in (a, b, c, d)))[0] == 0.0


@given(PROPORTIONS, PROPORTIONS, st.sampled_from([0.01, 0.05, 0.5]))
def test_newcombe_intervals(inside: tuple[int, int], outside: tuple[int, int], level: float) -> None:
    """Newcombe's interval equals that of statsmodels, and holds the difference."""
    (a, n), (b, m) = inside, outside
    low, high = (float(x[0]) for x in newcombe(*(np.array([x]) for x in (a, n, b, m)), level=level))
    expected = confint_proportions_2indep(a, n, b, m, method="newcomb", compare="diff", alpha=level)
    assert (low, high) == pytest.approx(expected, abs=1e-9)
    assert -1 - 1e-12 <= low <= a / n - b / m <= high <= 1 + 1e-12


@given(PROPORTIONS)
def test_wilson_intervals(proportion: tuple[int, int]) -> None:
    """Wilson's interval equals that of statsmodels."""
    hits, n = proportion
    low, high = (float(x[0]) for x in wilson(np.array([hits]), np.array([n]), 0.05))
    assert (low, high) == pytest.approx(proportion_confint(hits, n, method="wilson"), abs=1e-9)


def test_intervals_of_nobody() -> None:
    """Without a base there is no interval."""
    zero = np.array([0])
    assert all(np.isnan(x).all() for x in newcombe(zero, zero, zero, zero, level=0.05))


@given(P_VALUES)
def test_benjamini_hochberg(p: list[float]) -> None:
    """The correction equals SciPy's."""
    np.testing.assert_allclose(
        np.exp(adjust(np.log(p), "bh")), stats.false_discovery_control(p, method="bh"), rtol=1e-9
    )


@given(P_VALUES)
def test_benjamini_yekutieli(p: list[float]) -> None:
    """The correction equals SciPy's."""
    np.testing.assert_allclose(
        np.exp(adjust(np.log(p), "by")), stats.false_discovery_control(p, method="by"), rtol=1e-9
    )


@given(P_VALUES, st.sampled_from([("bh", "fdr_bh"), ("by", "fdr_by"), ("bonferroni", "bonferroni")]))
def test_corrections_of_statsmodels(p: list[float], names: tuple[str, str]) -> None:
    """The corrections equal those of statsmodels."""
    np.testing.assert_allclose(np.exp(adjust(np.log(p), names[0])), multipletests(p, method=names[1])[1], rtol=1e-9)


@given(P_VALUES, st.sampled_from(["bh", "by", "bonferroni", "none"]))
def test_corrections_never_lower_p(p: list[float], method: str) -> None:
    """A corrected p-value is at least the p-value and at most 1; undefined ones do not count."""
    log_p = np.log(p)
    found = adjust(log_p, method)
    assert (found >= log_p - 1e-12).all()
    assert (found <= 0).all()
    with_gaps = adjust(np.append(log_p, [np.nan, np.nan]), method)
    np.testing.assert_array_equal(with_gaps[:-2], found)
    assert np.isnan(with_gaps[-2:]).all()


def test_unknown_corrections() -> None:
    """An unknown correction is an error, and nothing to correct is fine."""
    with pytest.raises(ValueError, match="unknown correction 'x'"):
        adjust(np.array([0.0]), "x")
    assert np.isnan(adjust(np.array([np.nan]), "bh")).all()


@given(st.lists(st.floats(1e-6, 1.0), min_size=2, max_size=5))
def test_fishers_method(p: list[float]) -> None:
    """The combination equals SciPy's."""
    statistic, log_p = combine_fisher(np.log(p)[:, None])
    expected = stats.combine_pvalues(p, method="fisher")
    assert float(statistic[0]) == pytest.approx(expected.statistic, abs=1e-9)
    assert math.exp(log_p[0]) == pytest.approx(expected.pvalue, rel=1e-8)


def test_dependent_tests() -> None:
    """The smallest p-value times their number, at most 1."""
    found = np.exp(combine_bonferroni(np.log([[0.01, 0.6], [0.5, 0.7]])))
    assert found.tolist() == pytest.approx([0.02, 1.0])


@given(st.floats(-50, -1e-9))
def test_log_of_one_minus_p(log_p: float) -> None:
    """log(1 - p) has no cancellation at either end."""
    expected = math.log1p(-math.exp(log_p)) if log_p < -0.5 else math.log(-math.expm1(log_p))
    assert float(log1m_exp(np.array(log_p))) == pytest.approx(expected, rel=1e-12)


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_reported_numbers(value: float) -> None:
    """Numbers are reported with twelve digits, undefined ones as None."""
    found = round_reported(value)
    assert found == (pytest.approx(value, rel=1e-11) if math.isfinite(value) else None)


@given(st.floats(-200, 200), st.floats(1.0, 1e5))
def test_t_tails(t: float, df: float) -> None:
    """Log p of Student's t equals SciPy's where SciPy does not underflow."""
    expected = float(stats.t.logsf(t, df))
    assume(expected > -600)
    assert t_log_sf(np.array([t]), np.array([df]))[0] == pytest.approx(expected, rel=1e-7, abs=1e-12)


@pytest.mark.parametrize("df", [1.0, 2.5, 8.0, 120.0])
def test_t_tails_of_any_size(df: float) -> None:
    """Far beyond underflow the tail falls by df powers of ten per power of ten, as t^-df does."""
    far, farther = t_log_sf(np.array([1e120, 1e121]), np.array([df, df])).tolist()
    assert far < -200
    assert far - farther == pytest.approx(df * np.log(10), rel=1e-9)


def test_t_of_many_degrees_of_freedom_is_normal() -> None:
    """With infinitely many degrees of freedom the tail is that of the normal distribution, at any size."""
    values = np.array([-3.0, 0.0, 2.0, 60.0])
    assert t_log_sf(values, np.array(np.inf)).tolist() == pytest.approx(stats.norm.logsf(values).tolist(), rel=1e-12)
    assert t_log_sf(values[:3], np.array(99_999.0)) == pytest.approx(stats.norm.logsf(values[:3]), abs=1e-4)


def test_t_of_nothing() -> None:
    """An undefined statistic has an undefined tail; an infinite one has none."""
    found = t_log_sf(np.array([np.nan, np.inf, -np.inf]), np.array([3.0, 3.0, 3.0]))
    assert np.isnan(found[0])
    assert found[1:].tolist() == [-np.inf, 0.0]


@given(st.floats(0, 500), st.sampled_from([-0.3, 0.3]))
def test_sides(statistic: float, difference: float) -> None:
    """One-sided p-values are the normal tails of the signed root of chi2; both sides are chi2's."""
    z = np.sign(difference) * np.sqrt(statistic)
    arguments = np.array([[statistic]] * 3), np.array([[difference]] * 3), (0, 1, -1)
    expected = [stats.chi2.logsf(statistic, 1), stats.norm.logsf(z), stats.norm.logcdf(z)]
    assert directed_log_p(*arguments)[:, 0].tolist() == pytest.approx(expected, rel=1e-9, abs=1e-12)
