"""Association tests and splits within strata: one stratum is none, and several are what loops over them give."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from statsmodels.stats.contingency_tables import StratifiedTable

from ald.notions import NOTIONS, RateCounter
from ald.search.forest.association import associate
from ald.search.forest.splitting import best_splits
from ald.search.forest.within import associate_within, best_splits_within
from tests.coded import PARITY, histograms

ODDS = RateCounter(NOTIONS["equalized odds"].rates, 4)


def tables(seed: int, n_cells: int, strata: int = 1) -> list[np.ndarray[Any, Any]]:
    """Four attributes of three to seven values, with counts of all strata: [values, strata * cells]."""
    rng = np.random.default_rng(seed)
    return [rng.integers(0, 15, (q, strata * n_cells)) + (np.arange(q) == 0)[:, None] for q in (3, 4, 5, 7)]


def scores_of(made: Any) -> np.ndarray[Any, Any]:
    return np.asarray(made.codes, dtype=float) ** 2


@pytest.mark.parametrize("rates", [PARITY, ODDS], ids=["parity", "odds"])
@pytest.mark.parametrize("seed", range(5))
def test_one_stratum_is_the_usual_test(seed: int, rates: RateCounter) -> None:
    """With one stratum, tests of ordered and unordered attributes are those without strata, and so is the effect."""
    n_cells = 2 if rates is PARITY else 4
    made = histograms(*tables(seed, n_cells))
    nominal = np.array([True, False, True, False])
    for effect in (1.0, 2.5):
        usual = associate(made, nominal, scores_of(made), rates, effect)
        found = associate_within(made, nominal, scores_of(made), rates, n_cells, effect)
        assert found.statistic == pytest.approx(usual.statistic, rel=1e-9)
        assert found.df.tolist() == usual.df.tolist()
        assert found.log_p == pytest.approx(usual.log_p, rel=1e-9)


@pytest.mark.parametrize("bucket", [1, 25])
@pytest.mark.parametrize("seed", range(8))
def test_one_stratum_is_the_usual_split(seed: int, bucket: int) -> None:
    """With one stratum and one rate, the best cuts are those without strata, and no better than all partitions."""
    made = histograms(*tables(seed, 2))
    nominal, least = np.array([True, False, True, False]), np.full(4, bucket)
    usual, found = best_splits(made, nominal, PARITY, least), best_splits_within(made, nominal, PARITY, least, 2)
    assert found.found.tolist() == usual.found.tolist()
    ordered = ~nominal
    assert found.statistic[ordered] == pytest.approx(usual.statistic[ordered], rel=1e-9)
    if bucket == 1:
        assert found.statistic == pytest.approx(usual.statistic, rel=1e-9)
        assert found.goes_left.tolist() == usual.goes_left.tolist()
    else:
        # Where a bucket is too small, all partitions may hold a better one than the cuts of one order.
        assert (found.statistic <= usual.statistic * (1 + 1e-9)).all()


def loop_terms(table: np.ndarray[Any, Any], strata: int) -> tuple[list[float], list[float]]:
    """Per value the hits beyond those expected in the strata, and their variance, by a loop."""
    cells = table.reshape(len(table), strata, 2)
    excess, spread = [0.0] * len(table), [0.0] * len(table)
    for s in range(strata):
        hits, n = int(cells[:, s, 1].sum()), int(cells[:, s].sum())
        if n < 2:
            continue
        p = hits / n
        for v in range(len(table)):
            here = int(cells[v, s].sum())
            excess[v] += float(cells[v, s, 1]) - here * p
            spread[v] += here * p * (1 - p) * n / (n - 1)
    return excess, spread


@pytest.mark.parametrize("seed", range(5))
def test_nominal_statistics_by_loop(seed: int) -> None:
    """The statistic of levels is the sum of squared excesses over spreads, on one degree less than levels."""
    made = tables(seed, 2, strata=3)
    found = associate_within(histograms(*made), np.ones(4, bool), scores_of(histograms(*made)), PARITY, 2, 1.0)
    for i, table in enumerate(made):
        excess, spread = loop_terms(table, 3)
        assert found.statistic[i] == pytest.approx(sum(e * e / v for e, v in zip(excess, spread, strict=True)))
        assert found.df[i] == len(table) - 1


@pytest.mark.parametrize("seed", range(5))
def test_ordered_statistics_by_loop(seed: int) -> None:
    """The statistic of an ordered attribute is its squared covariance with the excesses, over its variance."""
    made = tables(seed, 2, strata=3)
    counted = histograms(*made)
    found = associate_within(counted, np.zeros(4, bool), scores_of(counted), PARITY, 2, 1.0)
    for i, table in enumerate(made):
        excess, spread = loop_terms(table, 3)
        x = [float(v * v) for v in range(len(table))]
        mean = sum(a * b for a, b in zip(spread, x, strict=True)) / sum(spread)
        covariance = sum(e * (a - mean) for e, a in zip(excess, x, strict=True))
        variance = sum(v * (a - mean) ** 2 for v, a in zip(spread, x, strict=True))
        assert found.statistic[i] == pytest.approx(covariance**2 / variance)
        assert found.df[i] == 1


@pytest.mark.parametrize("seed", range(5))
def test_best_cuts_by_trying_all(seed: int) -> None:
    """The best split of levels is the best of all partitions, and that of an ordered attribute the best of all cuts."""
    made = tables(seed, 2, strata=3)
    for nominal in (True, False):
        found = best_splits_within(histograms(*made), np.full(4, nominal), PARITY, np.ones(4, np.int64), 2)
        for i, table in enumerate(made):
            excess, spread = loop_terms(table, 3)
            sides = (
                [side for side in product((True, False), repeat=len(table)) if side[0] and not all(side)]
                if nominal
                else [[v <= cut for v in range(len(table))] for cut in range(len(table) - 1)]
            )
            values = []
            for side in sides:
                left = sum(e for e, inside in zip(excess, side, strict=True) if inside)
                width = sum(v for v, inside in zip(spread, side, strict=True) if inside)
                values.append(left**2 / (width * (sum(spread) - width) / sum(spread)))
            assert found.statistic[i] == pytest.approx(max(values))


@pytest.mark.parametrize("seed", range(10))
def test_never_larger_than_cochran_mantel_haenszel(seed: int) -> None:
    """Of two values, the statistic is at most statsmodels' CMH; the same if both have equal shares of strata."""
    rng = np.random.default_rng(seed)
    table = rng.integers(1, 40, (2, 6))
    even = table.copy()
    even[1] = even[0].reshape(3, 2)[:, ::-1].ravel()
    for counts, same in ((table, False), (even, True)):
        strata = [counts.reshape(2, 3, 2)[:, s] for s in range(3)]
        expected = StratifiedTable(strata).test_null_odds(correction=False).statistic
        found = best_splits_within(histograms(counts), np.array([True]), PARITY, np.ones(1, np.int64), 2)
        assert found.statistic[0] <= expected * (1 + 1e-9)
        if same:
            assert found.statistic[0] == pytest.approx(expected)


def test_a_difference_between_strata_is_none() -> None:
    """Values that differ only because they are in other strata are not associated with the outcome."""
    table = np.array([[10, 90, 9, 1], [1, 9, 90, 10]])
    made = histograms(table)
    pooled = histograms(table.reshape(2, 2, 2).sum(axis=1))
    assert associate(pooled, np.array([True]), scores_of(made), PARITY).log_p[0] < -40
    found = associate_within(made, np.array([True]), scores_of(made), PARITY, 2, 1.0)
    assert found.log_p[0] == pytest.approx(0.0, abs=1e-9)
