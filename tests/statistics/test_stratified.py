"""Stratified tests against statsmodels."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import StratifiedTable

from ald.notions import NOTIONS, SELECTION, RateCounter
from ald.statistics.stratified import cmh_statistics, combined_statistic, mantel_haenszel, residuals


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


def test_a_worked_example() -> None:
    """Two strata, worked by hand: 10/20 against 5/20 and 30/40 against 20/40 give 0.25."""
    inside, outside = np.array([[10, 10], [10, 30]]), np.array([[15, 5], [20, 20]])
    found = mantel_haenszel(inside, outside, RateCounter([SELECTION], 2))
    # Both differences are 0.25, so their mean is too whatever the weights, which are 20 * 20 / 40 and 40 * 40 / 80.
    assert found.difference[0] == pytest.approx(0.25)
    assert found.inside[0] == pytest.approx((10 * 0.5 + 20 * 0.75) / 30)
    assert found.outside[0] == pytest.approx((10 * 0.25 + 20 * 0.5) / 30)
    assert found.everyone[0] == pytest.approx((10 * 15 / 40 + 20 * 50 / 80) / 30)
    assert found.compared[0] == 120
    # Sato: P = sum (n^2 b - m^2 a + n m (m - n) / 2) / N^2 and Q = sum (a (m - b) + b (n - a)) / 2N.
    p = (20**2 * 5 - 20**2 * 10) / 40**2 + (40**2 * 20 - 40**2 * 30) / 80**2
    q = (10 * 15 + 5 * 10) / 80 + (30 * 20 + 20 * 10) / 160
    assert found.error[0] == pytest.approx(np.sqrt(0.25 * p + q) / 30)


def test_strata_with_one_side_do_not_count() -> None:
    """A stratum without anyone on one side has no weight in the difference, its error, or the number compared."""
    rates = RateCounter([SELECTION], 2)
    inside, outside = np.array([[10, 10], [10, 30]]), np.array([[15, 5], [20, 20]])
    plain = mantel_haenszel(inside, outside, rates)
    more = mantel_haenszel(np.vstack([inside, [[0, 0], [7, 3]]]), np.vstack([outside, [[4, 6], [0, 0]]]), rates)
    for name in ("difference", "error", "inside", "outside", "everyone", "compared"):
        assert getattr(more, name) == pytest.approx(getattr(plain, name)), name


def test_no_stratum_with_both_sides_is_undefined() -> None:
    """If nobody can be compared, the difference is undefined, not 0."""
    found = mantel_haenszel(np.array([[3, 4], [0, 0]]), np.array([[0, 0], [3, 4]]), RateCounter([SELECTION], 2))
    assert np.isnan(found.difference[0])
    assert found.compared[0] == 0


@pytest.mark.parametrize(("strata", "per_side"), [(3, 100), (150, 2)])
def test_satos_interval_holds_the_difference(strata: int, per_side: int) -> None:
    """Sato's 95 % interval holds the true difference in about 95 % of tables, with few or many strata."""
    rng, runs = np.random.default_rng(5), 2000
    rates, held = RateCounter([SELECTION], 2), 0
    base = rng.uniform(0.2, 0.6, strata)
    for _ in range(runs):
        hits = [rng.binomial(per_side, base + effect) for effect in (0.15, 0.0)]
        inside, outside = (np.stack([per_side - hit, hit], axis=1) for hit in hits)
        found = mantel_haenszel(inside, outside, rates)
        held += abs(found.difference[0] - 0.15) <= stats.norm.isf(0.025) * found.error[0]
    assert stats.binom.ppf(1e-5, runs, 0.94) <= held <= stats.binom.isf(1e-5, runs, 0.96)


@pytest.mark.parametrize("seed", range(5))
def test_residuals_by_loop(seed: int) -> None:
    """Residuals are the hits beyond the strata's own rates; spreads are the binomial variances at these rates."""
    rng = np.random.default_rng(seed)
    totals = rng.integers(1, 50, (4, 2))
    counts = np.minimum(rng.integers(0, 30, (3, 4, 2)), totals)
    excess, spread = residuals(counts, totals, RateCounter([SELECTION], 2))
    for g in range(3):
        rate = [hit / (miss + hit) for miss, hit in totals.tolist()]
        pairs = list(zip(counts[g].tolist(), rate, strict=True))
        assert excess[0, g] == pytest.approx(sum(hit - (miss + hit) * p for (miss, hit), p in pairs))
        assert spread[0, g] == pytest.approx(sum((miss + hit) * p * (1 - p) for (miss, hit), p in pairs))
