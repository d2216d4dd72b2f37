"""Tests of several rates against an acceptable disparity."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from ald.assess.threshold import several_rates_log_p
from ald.notions import ACCURACY, NOTIONS, SELECTION, RateCounter


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
