"""The gaps of windows, and their errors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ald._core.arrays import FloatArray
from ald._core.exact import moments
from ald.data.amounts import Unit
from ald.statistics.score import Tables
from ald.watching.gaps import MeanGaps, RateGaps

UNIT = Unit(per_one=100.0, origin=50_000)


def means(windows: list[tuple[FloatArray, FloatArray]]) -> MeanGaps:
    """Gaps of amounts inside and outside, window by window, in one stratum."""

    def side(k: int) -> list[list[int]]:
        return [[moments(UNIT.integers(window[k])).sum(axis=0)] for window in windows]

    return MeanGaps(inside=np.array(side(0)), outside=np.array(side(1)), unit=UNIT)


def series(seed: int = 0) -> list[tuple[FloatArray, FloatArray]]:
    rng = np.random.default_rng(seed)
    return [(rng.gamma(2, 100, n).round(2), rng.gamma(2, 120, 4 * n).round(2)) for n in (40, 55, 12, 90)]


def test_gaps_of_means_are_welch() -> None:
    """Means, gap and interval of every window are those that SciPy has of its people."""
    drawn = series()
    found = means(drawn)
    low, high = found.interval(0.05)
    for w, (a, b) in enumerate(drawn):
        welch = stats.ttest_ind(a, b, equal_var=False).confidence_interval(0.95)
        assert (found.levels[0][w], found.levels[1][w]) == pytest.approx((a.mean(), b.mean()))
        assert found.estimates[w] == pytest.approx(a.mean() - b.mean())
        assert (low[w], high[w]) == pytest.approx((welch.low, welch.high))


def test_errors_of_means_are_the_larger_ones() -> None:
    """A window's error is Welch's, or that of the variances of all windows so far, whichever is larger."""
    drawn = series()
    found = means(drawn)
    for k in (2, 4):
        pooled = [
            sum(((one[side] - one[side].mean()) ** 2).sum() for one in drawn[:k])
            / sum(len(one[side]) - 1 for one in drawn[:k])
            for side in (0, 1)
        ]
        expected = [
            max(
                np.sqrt(a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b)),
                np.sqrt(pooled[0] / len(a) + pooled[1] / len(b)),
            )
            for a, b in drawn[:k]
        ]
        assert found.errors(k) == pytest.approx(expected)


def test_windows_without_people_have_no_error() -> None:
    """Where nobody is inside a gap is undefined, and its error is infinite; of rates too."""
    drawn = series()
    drawn[1] = (np.array([]), drawn[1][1])
    found = means(drawn)
    assert np.isnan(found.estimates[1])
    assert found.errors(4)[1] == np.inf
    hits, base = np.array([[3], [0], [5]]), np.array([[9], [0], [9]])
    rates = RateGaps(tables=Tables(hits_in=hits, base_in=base, hits_out=hits + 4, base_out=base + 30, by_margins=False))
    assert rates.errors(3)[1] == np.inf
    assert np.isfinite(rates.errors(3)[[0, 2]]).all()


def test_strata_of_means_weigh_as_mantel_and_haenszel() -> None:
    """The gap of a window is the mean of its strata's differences, weighted by n m / (n + m)."""
    drawn = series()
    one = means(drawn)
    both = MeanGaps(inside=one.inside.reshape(1, 4, 4), outside=one.outside.reshape(1, 4, 4), unit=UNIT)
    weight = np.array([len(a) * len(b) / (len(a) + len(b)) for a, b in drawn])
    difference = np.array([a.mean() - b.mean() for a, b in drawn])
    assert both.estimates == pytest.approx([weight @ difference / weight.sum()])
