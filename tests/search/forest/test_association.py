"""The association test of an attribute in a node, against SciPy and by its invariances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from ald.notions import ACCURACY, ERROR, FNR, FPR, NOTIONS, SELECTION, RateCounter
from ald.search.forest.association import Association, associate
from tests.coded import PARITY, coded, histograms

ODDS = RateCounter(NOTIONS["equalized odds"].rates, 4)
OVERLAPPING = RateCounter([SELECTION, ACCURACY], 4)


def tables(n_cells: int) -> st.SearchStrategy[np.ndarray]:
    """Counts per value and cell."""
    return st.integers(1, 8).flatmap(lambda n: arrays(np.int64, (n, n_cells), elements=st.integers(0, 30)))


def nominal(table: np.ndarray, rates: RateCounter) -> Association:
    found = histograms(table)
    return associate(found, np.array([True]), np.zeros(len(found.codes)), rates)


def numeric(table: np.ndarray, values: np.ndarray, rates: RateCounter) -> Association:
    found = histograms(table)
    return associate(found, np.array([False]), np.asarray(values, float)[found.codes], rates)


def chi2(table: np.ndarray) -> tuple[float, int]:
    """(n - 1) / n times Pearson's statistic, and its degrees of freedom; (0, 0) if nothing varies."""
    table = table[table.sum(axis=1) > 0]
    if len(table) < 2 or not table.any(axis=0).all():
        return 0.0, 0
    n = table.sum()
    return float(stats.chi2_contingency(table, correction=False).statistic * (n - 1) / n), len(table) - 1


def squared_correlation(table: np.ndarray, values: np.ndarray) -> float:
    """(n - 1) r^2 of value and outcome, person by person."""
    x = np.concatenate([np.repeat(values, table[:, cell]) for cell in (0, 1)])
    y = np.repeat([0, 1], table.sum(axis=0))
    return float((len(x) - 1) * np.corrcoef(x, y)[0, 1] ** 2)


def varies(table: np.ndarray) -> bool:
    return bool((table.sum(axis=1) > 0).sum() >= 2 and table.any(axis=0).all())


@given(tables(2))
def test_nominal_is_pearson(table: np.ndarray) -> None:
    """For unordered levels the statistic is (n - 1) / n times Pearson's chi2 on one less df than levels that occur."""
    assume(varies(table))
    found, (statistic, df) = nominal(table, PARITY), chi2(table)
    assert found.statistic[0] == pytest.approx(statistic, rel=1e-9, abs=1e-9)
    assert found.df[0] == df
    assert found.log_p[0] == pytest.approx(stats.chi2.logsf(found.statistic[0], df), rel=1e-8, abs=1e-12)


@given(tables(2), st.lists(st.floats(0.01, 10), min_size=8, max_size=8))
def test_numeric_is_squared_correlation(table: np.ndarray, steps: list[float]) -> None:
    """For numbers the statistic is (n - 1) times the squared correlation with the outcome, on 1 df."""
    assume(varies(table))
    values = np.cumsum(steps)[: len(table)]
    found = numeric(table, values, PARITY)
    assert found.df[0] == 1
    assert found.statistic[0] == pytest.approx(squared_correlation(table, values), rel=1e-7, abs=1e-9)


def test_ordinal_scores_are_ranks_of_levels_that_occur() -> None:
    """Ordered levels are tested as the numbers 1, 2, ... over those that occur; absent levels leave no gap."""
    rng = np.random.default_rng(4)
    size = rng.choice(["s", "l", "xl"], 300)
    y = (rng.random(300) < np.where(size == "xl", 0.6, 0.4)).astype(int)
    data = coded({"size": size, "y": y}, kinds={"size": ["s", "m", "l", "xl"]})
    present = [data.attributes[0].levels.index(level) for level in ("s", "l", "xl")]
    table = np.array([[np.sum((size == level) & (y == cell)) for cell in (0, 1)] for level in ("s", "l", "xl")])
    found = numeric(table, data.scores()[0][present], PARITY)
    assert found.statistic[0] == pytest.approx(squared_correlation(table, np.array([1.0, 2.0, 3.0])))


@given(tables(4))
def test_equalized_odds_sums_two_tests(table: np.ndarray) -> None:
    """Equalized odds adds the test among actual negatives to that among actual positives, with both df."""
    parts = [chi2(table[:, :2]), chi2(table[:, 2:])]
    df = sum(part[1] for part in parts)
    assume(df > 0)
    found = nominal(table, ODDS)
    assert found.df[0] == df
    assert found.statistic[0] == pytest.approx(sum(part[0] for part in parts), rel=1e-9, abs=1e-9)
    assert found.log_p[0] == pytest.approx(stats.chi2.logsf(found.statistic[0], df), rel=1e-8, abs=1e-12)


def test_opposite_differences_add_up() -> None:
    """More false positives and fewer false negatives add up, although the share of errors is the same everywhere."""
    table = np.array([[70, 30, 10, 90], [90, 10, 30, 70]])
    found = nominal(table, ODDS)
    alone = [nominal(table, RateCounter([rate], 4)).statistic[0] for rate in (FPR, FNR)]
    assert found.statistic[0] == pytest.approx(sum(alone))
    assert nominal(table, RateCounter([ERROR], 4)).statistic[0] == 0.0


@given(tables(4))
def test_overlapping_rates_take_the_smallest_p(table: np.ndarray) -> None:
    """Where rows count in two rates, p is the smallest of the rates' own p-values times their number, at most 1."""
    alone = [nominal(table, RateCounter([rate], 4)) for rate in (SELECTION, ACCURACY)]
    log_ps = [part.log_p[0] for part in alone if part.df[0] > 0]
    assume(log_ps)
    assert not OVERLAPPING.disjoint
    assert nominal(table, OVERLAPPING).log_p[0] == pytest.approx(min(min(log_ps) + np.log(2), 0.0), abs=1e-12)


@given(tables(2), st.sampled_from([1.0, 1e-300, 1e300]), st.sampled_from([0.0, 1e8, -1e8]), st.booleans())
def test_shift_and_scale_do_not_matter(table: np.ndarray, scale: float, shift: float, is_reversed: bool) -> None:
    """Adding 1e8 to the numbers, or multiplying them by 1e-300 or 1e300, leaves the test as it is; so does reversal."""
    assume(varies(table))
    values = np.arange(len(table), dtype=float) ** 2
    expected = numeric(table, values, PARITY).statistic[0]
    moved = (values + shift) * scale if scale == 1.0 else values * scale
    if is_reversed:
        table, moved = table[::-1], -moved[::-1]
    assert numeric(table, moved, PARITY).statistic[0] == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_numbers_that_span_all_of_floating_point() -> None:
    """Numbers whose span is more than the largest one are tested as any others."""
    table = np.array([[30, 10], [20, 20], [10, 30]])
    wide = numeric(table, np.array([-1.7e308, 0.0, 1.7e308]), PARITY)
    assert wide.statistic[0] == pytest.approx(numeric(table, np.array([1.0, 2.0, 3.0]), PARITY).statistic[0])


@pytest.mark.parametrize(
    "table", [[[5, 9]], [[5, 9], [0, 0]], [[5, 0], [8, 0]], [[0, 5], [0, 8]]], ids=["one", "one left", "no", "yes"]
)
def test_what_does_not_vary_is_untestable(table: list[list[int]]) -> None:
    """A constant attribute or a constant outcome has no test: no df, no p-value."""
    for found in (nominal(np.array(table), PARITY), numeric(np.array(table), np.arange(len(table)), PARITY)):
        assert not found.testable[0]
        assert found.df[0] == 0
        assert np.isnan(found.log_p[0])


def test_exact_independence_has_statistic_zero() -> None:
    """Where the rate is the same for every value, the statistic is exactly 0 and p exactly 1."""
    table = np.array([[10, 20], [7, 14], [3, 6]])
    for found in (nominal(table, PARITY), numeric(table, np.array([0.1, 0.7, 12.3]), PARITY)):
        assert found.statistic[0] == 0.0
        assert found.log_p[0] == 0.0


def test_requests_do_not_touch_each_other() -> None:
    """Many attributes at once give what each gives alone."""
    rng = np.random.default_rng(0)
    many = [rng.integers(0, 40, (int(n), 2)) for n in rng.integers(1, 9, 12)]
    kinds = np.arange(12) % 2 == 0
    found = histograms(*many)
    together = associate(found, kinds, found.codes.astype(float), PARITY)
    for i, table in enumerate(many):
        alone = nominal(table, PARITY) if kinds[i] else numeric(table, np.arange(len(table)), PARITY)
        assert together.statistic[i] == pytest.approx(alone.statistic[0], rel=1e-12)
        assert together.df[i] == alone.df[0]


@pytest.mark.parametrize("k", [10**6, 10**9, 10**10])
def test_billions_of_people(k: int) -> None:
    """Counts whose products exceed 64 bits give a statistic in proportion to them."""
    table = np.array([[3, 1], [2, 2], [1, 3]]) * k
    assert nominal(table, PARITY).statistic[0] / k == pytest.approx(2.0, rel=1e-6)
