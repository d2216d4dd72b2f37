"""Odds ratios of several strata, against statsmodels."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.contingency_tables import StratifiedTable

from ald.statistics.homogeneity import breslow_day, common_odds_ratio


@pytest.mark.parametrize("seed", range(20))
def test_both_are_those_of_statsmodels(seed: int) -> None:
    """The common odds ratio, and the test whether strata agree on it, with Tarone's correction."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 8))
    base_in, base_out = rng.integers(8, 80, (2, k)).astype(float)
    hits_in, hits_out = (np.clip(rng.binomial(base.astype(int), 0.4), 1, base - 1).astype(float)
                         for base in (base_in, base_out))  # fmt: skip
    tables = [
        np.array([[a, n - a], [b, m - b]]) for a, n, b, m in zip(hits_in, base_in, hits_out, base_out, strict=True)
    ]
    expected = StratifiedTable(tables)
    assert common_odds_ratio(hits_in, base_in, hits_out, base_out) == pytest.approx(expected.oddsratio_pooled)
    statistic, df, log_p = breslow_day(hits_in, base_in, hits_out, base_out)
    equal = expected.test_equal_odds(adjust=True)
    assert (statistic, np.exp(log_p)) == pytest.approx((equal.statistic, equal.pvalue), rel=1e-8)
    assert df == k - 1


def test_equal_odds_ratios_have_no_statistic() -> None:
    """Strata that agree exactly have the statistic 0, whether their odds ratio is 1 or not."""
    for hits_in in ([5.0, 10.0], [8.0, 16.0]):
        statistic, df, log_p = breslow_day(np.array(hits_in), *np.array([[10.0, 20], [5, 10], [10, 20]]))
        assert (statistic, df, log_p) == pytest.approx((0.0, 1, 0.0), abs=1e-9)


def test_strata_that_say_nothing_do_not_count() -> None:
    """An empty side, or one outcome for everyone, adds no degree of freedom; with one stratum left there is no test."""
    found = breslow_day(*np.array([[4.0, 0, 3, 5], [10, 0, 3, 9], [2, 4, 5, 7], [9, 8, 5, 12]]))
    alone = breslow_day(*np.array([[4.0, 5], [10, 9], [2, 7], [9, 12]]))
    assert found == pytest.approx(alone)
    assert np.isnan(breslow_day(*np.array([[4.0], [10], [2], [9]]))[2])
    assert np.isnan(common_odds_ratio(*np.array([[4.0], [4], [0], [9]])))
