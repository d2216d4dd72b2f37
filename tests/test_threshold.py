"""Tests against an acceptable disparity."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from ald.notions import ACCURACY, NOTIONS, SELECTION, RateCounter
from ald.statistics import chi2_2x2, chi2_log_sf
from ald.threshold import one_rate_log_p, restricted_rates, several_rates_log_p

TABLES = np.random.default_rng(3).integers(5, 200, (30, 4))


@pytest.mark.parametrize("row", range(len(TABLES)))
def test_threshold_zero_is_the_chi2_test(row: int) -> None:
    """With threshold 0 the p-value is that of chi2 without correction."""
    a, b, c, d = TABLES[row]
    ours = one_rate_log_p(*(np.array([x]) for x in (a, a + b, c, c + d)), threshold=0.0)
    expected = chi2_log_sf(chi2_2x2(*(np.array([x]) for x in (a, b, c, d))), np.array([1]))
    assert ours[0] == pytest.approx(expected[0], rel=1e-9)


@pytest.mark.parametrize("row", range(len(TABLES)))
@pytest.mark.parametrize("boundary", [-0.2, 0.1])
def test_restricted_rates_maximise_the_likelihood(row: int, boundary: float) -> None:
    """The rates at the boundary are those that a numerical search for the largest likelihood finds."""
    a, b, c, d = (float(x) for x in TABLES[row])

    def loss(p: float) -> float:
        q = p - boundary
        return -(a * np.log(p) + b * np.log1p(-p) + c * np.log(q) + d * np.log1p(-q))

    low, high = max(boundary, 0.0) + 1e-9, min(1 + boundary, 1.0) - 1e-9
    best = minimize_scalar(loss, bounds=(low, high), method="bounded", options={"xatol": 1e-12}).x
    inside, outside = restricted_rates(*(np.array([x]) for x in (a, a + b, c, c + d)), difference=np.array([boundary]))
    assert (inside[0], outside[0]) == pytest.approx((best, best - boundary), abs=1e-6)


def test_larger_thresholds_never_give_smaller_p_values() -> None:
    """What is significant beyond a threshold is significant beyond every smaller one."""
    columns = [TABLES[:, 0], TABLES[:, :2].sum(axis=1), TABLES[:, 2], TABLES[:, 2:].sum(axis=1)]
    values = [one_rate_log_p(*columns, threshold=t) for t in (0.0, 0.05, 0.1, 0.2)]
    assert np.all(np.diff(values, axis=0) >= -1e-9)


def test_several_rates_use_the_mean_of_absolute_differences() -> None:
    """For disjoint rates the p-value is 2^R times the normal tail of (psi - threshold) / se, se from both rates."""
    inside, outside = np.array([[60, 40, 30, 70]]), np.array([[300, 100, 100, 300]])
    rates = RateCounter(NOTIONS["equalized odds"].rates, 4)
    d = np.array([0.4 - 0.25, 0.3 - 0.25])
    variance = 0.4 * 0.6 / 100 + 0.25 * 0.75 / 400 + 0.3 * 0.7 / 100 + 0.25 * 0.75 / 400
    expected = 4 * norm.sf((np.abs(d).mean() - 0.02) / (np.sqrt(variance) / 2))
    assert np.exp(several_rates_log_p(inside, outside, rates, 0.02))[0] == pytest.approx(min(1, expected), rel=1e-9)


def test_overlapping_rates_have_covariances() -> None:
    """Two rates over the same people are not independent: twice the same rate has twice its standard error."""
    same = RateCounter([SELECTION, ACCURACY], 4)
    inside, outside = np.array([[50, 0, 0, 50]]), np.array([[300, 0, 0, 100]])
    # With neither false positives nor false negatives accuracy is constant: only the selection rate varies.
    value = several_rates_log_p(inside, outside, same, 0.0)
    spread = np.sqrt(0.25 / 100 + 0.25 * 0.75 / 400) / 2
    assert np.exp(value)[0] == pytest.approx(min(1, 4 * norm.sf(0.125 / spread)), rel=1e-9)
