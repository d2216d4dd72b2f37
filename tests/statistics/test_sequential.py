"""Looking again and again: the error rate of all looks together."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ald.statistics.sequential import Change, Looks, likeliest_change


def test_one_look_is_the_plain_test() -> None:
    """Two windows and one planned look: the critical value is that of the normal distribution."""
    looks = Looks(1, 0.05)
    assert looks.next(np.array([0.02])) == np.inf
    assert looks.next(np.array([0.02, 0.05])) == pytest.approx(stats.norm.isf(0.025), abs=0.02)


@pytest.mark.parametrize("errors", [np.full(13, 0.03), np.geomspace(0.01, 0.1, 13)], ids=["equal", "growing"])
def test_the_error_holds_over_all_looks(errors: np.ndarray) -> None:
    """Of series without a change about the level raises an alarm at any of the looks, on numbers not used for it."""
    looks = Looks(12, 0.05)
    critical = np.array([looks.next(errors[:k]) for k in range(1, 14)])
    rng = np.random.default_rng(7)
    runs = 2000
    alarms = 0
    for series in rng.standard_normal((runs, 13)) * errors:
        largest = np.array([likeliest_change(series[:k], errors[:k])[1] for k in range(1, 14)])
        alarms += bool((largest >= critical).any())
    assert abs(alarms / runs - 0.05) < 2.5 * np.sqrt(0.05 * 0.95 / runs)


def test_earlier_critical_values_stay() -> None:
    """What is planned later changes nothing of a look that was taken."""
    errors = np.array([0.02, 0.03, 0.025, 0.04])
    short, long = Looks(6, 0.05), Looks(6, 0.05)
    first = [short.next(errors[:k]) for k in (1, 2)]
    assert [long.next(errors[:k]) for k in (1, 2, 3, 4)][:2] == first


def test_windows_without_anyone_are_looks_at_nothing() -> None:
    """A window without information raises no alarm, and what it did not spend is there for the next one."""
    looks = Looks(4, 0.05)
    looks.next(np.array([0.02]))
    assert looks.next(np.array([0.02, np.inf])) == np.inf
    assert np.isfinite(looks.next(np.array([0.02, np.inf, 0.02])))


def test_the_likeliest_change_is_found_where_it_is() -> None:
    """Point, mean before and change are those of the series; the error is that of a difference of means."""
    after, z, before, change, error = likeliest_change(np.array([0.1, 0.1, 0.4, 0.4]), np.full(4, 0.1))
    assert (after, before, change) == pytest.approx((2, 0.1, 0.3))
    assert error == pytest.approx(0.1)
    assert z == pytest.approx(3.0)


def test_nothing_to_compare() -> None:
    """One window, or windows without information, have no change."""
    assert likeliest_change(np.array([0.1]), np.array([0.1]))[:2] == (0, 0.0)
    assert likeliest_change(np.array([0.1, np.nan]), np.array([0.1, np.inf]))[:2] == (0, 0.0)
    assert not Change(after=0, statistic=0.0, critical=np.inf, before=np.nan, change=np.nan, error=np.nan).alarm
