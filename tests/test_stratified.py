"""Stratified tests against statsmodels."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.contingency_tables import StratifiedTable

from ald.notions import NOTIONS, SELECTION, RateCounter
from ald.stratified import cmh_statistics, combined_statistic


@pytest.mark.parametrize("seed", range(20))
def test_cochran_mantel_haenszel_agrees_with_statsmodels(seed: int) -> None:
    """The statistic is statsmodels' StratifiedTable.test_null_odds without correction."""
    rng = np.random.default_rng(seed)
    inside = rng.integers(1, 40, (5, 2))
    outside = rng.integers(1, 60, (5, 2))
    tables = [np.array([[inside[s, 1], inside[s, 0]], [outside[s, 1], outside[s, 0]]]) for s in range(5)]
    expected = StratifiedTable(tables).test_null_odds(correction=False).statistic
    rates = RateCounter([SELECTION], 2)
    assert cmh_statistics(inside, inside + outside, rates)[0] == pytest.approx(expected, rel=1e-10)


def test_strata_without_information_add_nothing() -> None:
    """A stratum with one empty side, or with one outcome only, changes neither the statistic nor its variance."""
    rates = RateCounter([SELECTION], 2)
    inside, totals = np.array([[10, 5]]), np.array([[30, 30]])
    more_inside = np.array([[10, 5], [0, 0], [7, 7], [4, 0]])
    more_totals = np.array([[30, 30], [9, 9], [7, 7], [9, 0]])
    assert cmh_statistics(more_inside, more_totals, rates) == pytest.approx(cmh_statistics(inside, totals, rates))


def test_no_informative_stratum_is_undefined() -> None:
    """If every stratum says nothing, the statistic is undefined, and counts as 0 in the search."""
    rates = RateCounter([SELECTION], 2)
    value = cmh_statistics(np.array([[0, 0], [4, 4]]), np.array([[3, 5], [4, 4]]), rates)
    assert np.isnan(value).all()
    assert combined_statistic(value, disjoint=True) == 0.0


def test_every_rate_is_tested_on_its_own_base() -> None:
    """Equalized odds gives one statistic among actual negatives and one among actual positives."""
    rates = RateCounter(NOTIONS["equalized odds"].rates, 4)
    inside, totals = np.array([[10, 20, 5, 15]]), np.array([[50, 50, 40, 60]])
    both = cmh_statistics(inside, totals, rates)
    negatives = cmh_statistics(inside[:, :2], totals[:, :2], RateCounter([SELECTION], 2))
    assert both.shape == (2,)
    assert both[0] == pytest.approx(negatives[0])
