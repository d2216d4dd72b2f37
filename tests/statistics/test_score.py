"""The score test of a difference and its interval, against a published table, statsmodels and a loop over strata."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import norm
from statsmodels.stats.contingency_tables import StratifiedTable

from ald.statistics.basics import chi2_2x2, chi2_log_sf
from ald.statistics.score import Tables, restricted_rates

TABLES = np.random.default_rng(3).integers(5, 200, (30, 4))


def tables(rows: np.ndarray, *, by_margins: bool = False) -> Tables:
    """Tables of (hits, misses, hits outside, misses outside), [..., strata, 4]."""
    a, b, c, d = np.moveaxis(np.asarray(rows, dtype=np.int64), -1, 0)
    return Tables(hits_in=a, base_in=a + b, hits_out=c, base_out=c + d, by_margins=by_margins)


@pytest.mark.parametrize("row", range(len(TABLES)))
def test_threshold_zero_is_the_chi2_test(row: int) -> None:
    """With threshold 0 the p-value is that of chi2 without correction."""
    a, b, c, d = (np.array([x]) for x in TABLES[row])
    expected = chi2_log_sf(chi2_2x2(a, b, c, d), np.array([1]))
    assert tables(TABLES[row][None]).beyond_log_p(0.0) == pytest.approx(expected[0], rel=1e-9)


@pytest.mark.parametrize("row", range(len(TABLES)))
@pytest.mark.parametrize("boundary", [-0.2, 0.1])
def test_restricted_rates_maximise_the_likelihood(row: int, boundary: float) -> None:
    """The rates at the boundary are those that a numerical search for the largest likelihood finds."""
    a, b, c, d = (float(x) for x in TABLES[row])
    best = most_likely(a, b, c, d, boundary)
    inside, outside = restricted_rates(*(np.array([x]) for x in (a, a + b, c, c + d)), difference=np.array([boundary]))
    assert (inside[0], outside[0]) == pytest.approx((best, best - boundary), abs=1e-6)


def most_likely(a: float, b: float, c: float, d: float, difference: float) -> float:
    """The rate inside, by a numerical search."""

    def loss(p: float) -> float:
        q = p - difference
        return -(a * np.log(p) + b * np.log1p(-p) + c * np.log(q) + d * np.log1p(-q))

    low, high = max(difference, 0.0) + 1e-9, min(1 + difference, 1.0) - 1e-9
    return float(minimize_scalar(loss, bounds=(low, high), method="bounded", options={"xatol": 1e-12}).x)


def test_larger_thresholds_never_give_smaller_p_values() -> None:
    """What is significant beyond a threshold is significant beyond every smaller one."""
    values = [tables(TABLES[:, None]).beyond_log_p(t) for t in (0.0, 0.05, 0.1, 0.2)]
    assert np.all(np.diff(values, axis=0) >= -1e-9)


@pytest.mark.parametrize(
    ("row", "score", "by_margins"),
    [
        ((56, 14, 48, 32), (0.0533, 0.3377), (0.0528, 0.3382)),
        ((9, 1, 3, 7), (0.1821, 0.8370), (0.1700, 0.8406)),
        ((6, 1, 2, 5), (0.0544, 0.8478), (0.0342, 0.8534)),
        ((5, 51, 0, 29), (-0.0313, 0.1926), (-0.0326, 0.1933)),
        ((0, 10, 0, 20), (-0.1611, 0.2775), (-0.1658, 0.2844)),
        ((10, 0, 0, 20), (0.7225, 1.0000), (0.7156, 1.0000)),
    ],
)
def test_intervals_of_one_stratum_as_published(
    row: tuple[int, ...], score: tuple[float, float], by_margins: tuple[float, float]
) -> None:
    """Mee's intervals, and by margins Miettinen and Nurminen's, are those that Newcombe (1998) printed."""
    for expected, given_margins in ((score, False), (by_margins, True)):
        low, high = tables(np.array([row]), by_margins=given_margins).interval(0.05)
        assert (float(low), float(high)) == pytest.approx(expected, abs=5.1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_intervals_of_strata_by_a_plain_loop(seed: int) -> None:
    """An end is where a loop over strata, with rates by a numerical search, finds the test at its critical value."""
    rows = np.random.default_rng(seed).integers(3, 60, (4, 4)).astype(float)
    base_in, base_out = rows[:, :2].sum(axis=1), rows[:, 2:].sum(axis=1)
    weight = base_in * base_out / (base_in + base_out)

    def z(difference: float) -> float:
        excess = variance = 0.0
        for (a, b, c, d), w in zip(rows, weight, strict=True):
            n, m = a + b, c + d
            p = most_likely(a, b, c, d, difference)
            q = p - difference
            excess += w * (a / n - c / m - difference)
            variance += w * w * (p * (1 - p) / n + q * (1 - q) / m) * (n + m) / (n + m - 1)
        return float(excess / np.sqrt(variance))

    found = tables(rows, by_margins=True)
    low, high = (float(end) for end in found.interval(0.05))
    middle = float(found.difference)
    assert low == pytest.approx(brentq(lambda d: z(d) - norm.isf(0.025), -0.9, middle), abs=1e-6)
    assert high == pytest.approx(brentq(lambda d: z(d) + norm.isf(0.025), middle, 0.9), abs=1e-6)


strata = st.lists(st.tuples(*(st.integers(0, 40),) * 4), min_size=1, max_size=6)


@given(strata, st.sampled_from([0.05, 0.01, 0.2]))
def test_an_interval_holds_no_difference_exactly_where_the_test_does_not_reject(
    rows: list[tuple[int, ...]], level: float
) -> None:
    """0 is in the interval exactly where the Cochran-Mantel-Haenszel test does not reject; so is the difference."""
    useful = [np.array(row).reshape(2, 2) for row in rows]
    useful = [table for table in useful if table.sum(axis=0).all() and table.sum(axis=1).all()]
    assume(useful)
    p = float(StratifiedTable(useful).test_null_odds(correction=False).pvalue)
    assume(abs(p - level) > 1e-9)
    found = tables(np.array(rows), by_margins=True)
    low, high = (float(end) for end in found.interval(level))
    assert (low <= 0.0 <= high) == (p > level)
    assert -1.0 <= low <= float(found.difference) <= high <= 1.0


@given(strata, st.floats(0.01, 0.3), st.sampled_from([-1, 1]))
def test_one_end_is_the_bound_of_the_test_in_one_direction(
    rows: list[tuple[int, ...]], threshold: float, side: int
) -> None:
    """A difference is significantly beyond a threshold in one direction exactly where the interval at 2 level is."""
    found = tables(np.array(rows), by_margins=True)
    assume(np.isfinite(found.difference))
    log_p = float(found.beyond_log_p(threshold, side))
    assume(np.isfinite(log_p) and abs(np.exp(log_p) - 0.05) > 1e-6)
    low, high = (float(end) for end in found.interval(0.1))
    assert (low > threshold if side > 0 else high < -threshold) == (np.exp(log_p) <= 0.05)


def test_nobody_to_compare_with() -> None:
    """Where no stratum has both sides, difference and interval are undefined."""
    found = tables(np.array([[3, 4, 0, 0], [0, 0, 5, 1]]))
    assert np.isnan([found.difference, *found.interval(0.05), found.beyond_log_p(0.1)]).all()


def test_coverage_within_strata_with_rare_outcomes() -> None:
    """In 20 strata with rates of .005 and .025, intervals of 95 % hold the difference in 94 % of tables or more."""
    rng = np.random.default_rng(5)
    n, m = rng.integers(20, 80, 20), rng.integers(40, 200, 20)
    weight = n * m / (n + m)
    inside, outside = np.linspace(0.01, 0.04, 20), np.linspace(0.003, 0.007, 20)
    truth = float((weight * (inside - outside)).sum() / weight.sum())
    a, c = rng.binomial(n, inside, (2000, 20)), rng.binomial(m, outside, (2000, 20))
    low, high = tables(np.stack([a, n - a, c, m - c], axis=-1), by_margins=True).interval(0.05)
    # Two standard errors of 2,000 runs are .010.
    assert ((low <= truth) & (truth <= high)).mean() >= 0.94
