"""The best split of an attribute, against all admissible partitions."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ald.notions import NOTIONS, RateCounter
from ald.search.forest.splitting import Splits, best_splits
from tests.coded import PARITY, histograms

ODDS = RateCounter(NOTIONS["equalized odds"].rates, 4)
RATES = {2: PARITY, 4: ODDS}


@st.composite
def cases(draw: st.DrawFn, n_cells: int, most: int = 7) -> tuple[np.ndarray, int]:
    """Counts per level and cell (every level has people), and the least size of a side, up to half of everyone."""
    n = draw(st.integers(1, most))
    table = draw(arrays(np.int64, (n, n_cells), elements=st.integers(0, 12)))
    table[table.sum(axis=1) == 0, 0] = 1
    return table, draw(st.integers(1, max(1, int(table.sum()) // 2)))


def two_sample(left: np.ndarray, everyone: np.ndarray) -> float:
    """The sum over rates of (n - 1) r^2 between being on the left and being a hit; pairs of cells are (miss, hit)."""
    total = 0.0
    flip = {2: [(0, 1)], 4: [(0, 1), (3, 2)]}[len(everyone)]
    for miss, hit in flip:
        a, b = int(left[hit]), int(left[miss])
        c, d = int(everyone[hit]) - a, int(everyone[miss]) - b
        margins = (a + b) * (c + d) * (a + c) * (b + d)
        if margins:
            total += (a * d - b * c) ** 2 / margins * (a + b + c + d - 1)
    return total


def best_of(table: np.ndarray, min_bucket: int, lefts: list[np.ndarray]) -> float:
    """The largest statistic of the admissible partitions; 0 if there is none."""
    everyone = table.sum(axis=0)
    best = 0.0
    for left in lefts:
        inside = table[left].sum(axis=0)
        if min(inside.sum(), (everyone - inside).sum()) >= min_bucket:
            best = max(best, two_sample(inside, everyone))
    return best


def subsets(n: int) -> list[np.ndarray]:
    """All sets of levels that hold the first one."""
    return [np.array((True, *rest)) for rest in product((True, False), repeat=n - 1)]


def cuts(n: int) -> list[np.ndarray]:
    return [np.arange(n) <= last for last in range(n)]


def split(table: np.ndarray, min_bucket: int, *, nominal: bool) -> Splits:
    return best_splits(histograms(table), np.array([nominal]), RATES[table.shape[1]], np.array([min_bucket]))


def check(table: np.ndarray, min_bucket: int, *, nominal: bool) -> None:
    lefts = subsets(len(table)) if nominal else cuts(len(table))
    expected, found = best_of(table, min_bucket, lefts), split(table, min_bucket, nominal=nominal)
    assert found.found[0] == (expected > 0)
    assert found.statistic[0] == pytest.approx(expected, rel=1e-9)
    if expected > 0:
        assert any(np.array_equal(found.goes_left, left) for left in lefts)
        assert best_of(table, min_bucket, [found.goes_left]) == pytest.approx(expected, rel=1e-9)


@given(cases(2))
def test_best_cut_of_one_rate(case: tuple[np.ndarray, int]) -> None:
    """An ordered attribute is cut where the statistic is largest among all cuts with enough people on both sides."""
    check(*case, nominal=False)


@given(cases(4))
def test_best_cut_of_two_rates(case: tuple[np.ndarray, int]) -> None:
    """With equalized odds the best cut has the largest sum of both rates' statistics."""
    check(*case, nominal=False)


@settings(max_examples=150)
@given(cases(2))
def test_best_subset_of_one_rate(case: tuple[np.ndarray, int]) -> None:
    """Unordered levels are parted as well as any admissible partition, also where buckets forbid the order of means."""
    check(*case, nominal=True)


@given(cases(4, most=6))
def test_best_subset_of_two_rates(case: tuple[np.ndarray, int]) -> None:
    """With equalized odds, too, no admissible partition of the levels is better."""
    check(*case, nominal=True)


def test_a_bucket_that_breaks_the_order_of_means() -> None:
    """Where every cut of the order by means leaves a side too small, another partition is found."""
    table = np.array([[0, 4], [20, 20], [2, 1]])
    assert best_of(table, 7, [np.array([True, True, False]), np.array([True, False, False])]) == 0.0
    assert split(table, 7, nominal=True).goes_left.tolist() == [True, False, True]


@given(cases(2), st.integers(0, 6))
def test_the_first_level_is_on_the_left(case: tuple[np.ndarray, int], rotation: int) -> None:
    """The side that holds the first level present is the left one, whatever its rate."""
    table = np.roll(case[0], rotation, axis=0)
    found = split(table, case[1], nominal=True)
    assume(found.found[0])
    assert found.goes_left[0]
    assert not found.goes_left.all()


def test_tied_cuts_take_the_first() -> None:
    """Of two cuts that are equally good, the lower one is taken."""
    symmetric = np.array([[10, 0], [10, 20], [10, 0]])
    assert split(symmetric, 1, nominal=False).goes_left.tolist() == [True, False, False]


def test_tied_subsets_take_the_first() -> None:
    """Of equally good partitions, the one that sends earlier levels to the right is taken."""
    table = np.array([[40, 40, 40, 40], [10, 0, 10, 0], [0, 10, 0, 10]])
    found = split(table, 1, nominal=True)
    best = best_of(table, 1, subsets(3))
    assert best == pytest.approx(best_of(table, 1, [np.array([True, False, True])]))
    assert best == pytest.approx(best_of(table, 1, [np.array([True, True, False])]))
    assert found.goes_left.tolist() == [True, False, True]


@pytest.mark.parametrize("n", [21, 30, 300])
def test_many_levels_of_one_rate(n: int) -> None:
    """With more than 20 levels the best cut of the order by means is found, which is the best partition."""
    rng = np.random.default_rng(n)
    table = rng.integers(1, 40, (n, 2))
    order = np.argsort(table[:, 1] / table.sum(axis=1), kind="stable")
    heads = [np.isin(np.arange(n), order[:size]) for size in range(1, n)]
    found = split(table, 7, nominal=True)
    assert found.statistic[0] == pytest.approx(best_of(table, 1, heads), rel=1e-9)
    assert found.goes_left[0]


@pytest.mark.parametrize("n", [13, 25, 60])
def test_many_levels_of_two_rates(n: int) -> None:
    """With more levels than can be enumerated, two clear blocks are told apart by both rates together."""
    block = np.arange(n) % 3 == 0
    table = np.where(block[:, None], [60, 40, 10, 90], [80, 20, 30, 70])
    assert split(table, 7, nominal=True).goes_left.tolist() == block.tolist()


def test_many_levels_with_large_buckets() -> None:
    """With more than 20 levels and a bucket that forbids the best partition, an admissible one is still found."""
    table = np.tile([10, 10], (25, 1))
    table[3] = [0, 20]
    found = split(table, 200, nominal=True)
    sides = [int(table[found.goes_left == side].sum()) for side in (True, False)]
    assert found.found[0]
    assert min(sides) >= 200


def test_no_admissible_split() -> None:
    """No split is found where one side would always be too small, or where the rate is the same everywhere."""
    for nominal in (True, False):
        assert not split(np.array([[3, 0], [0, 40]]), 4, nominal=nominal).found[0]
        assert not split(np.array([[10, 20], [5, 10]]), 1, nominal=nominal).found[0]
