"""The statistic of groups: the C code against NumPy, bit by bit, and against itself in other strata."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ald.notions import ACCURACY, FNR, FPR, SELECTION, Rate, RateCounter
from ald.search.explore import evidence as module
from ald.search.explore.evidence import Yardstick

RATES = {
    2: [(SELECTION,)],
    4: [(SELECTION,), (FPR, FNR), (SELECTION, ACCURACY), (FNR, SELECTION, ACCURACY)],
}


@st.composite
def comparisons(draw: st.DrawFn) -> tuple[Yardstick, np.ndarray]:
    """Random people in all kinds of strata, and groups of them."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    cells = draw(st.sampled_from([2, 4]))
    shape = (draw(st.sampled_from([1, 2, 3, 8, 17, 130])), draw(st.integers(1, 3)), draw(st.integers(1, 2)), cells)
    most = draw(st.sampled_from([1, 3, 50, 10**6]))
    everyone = rng.integers(0, most + 1, shape)
    groups = rng.binomial(everyone.ravel(), rng.random((draw(st.integers(1, 6)), 1)))
    comparison = Yardstick(
        everyone=everyone,
        rates=RateCounter(draw(st.sampled_from(RATES[cells])), cells),
        direction=draw(st.sampled_from([-1, 0, 1])),
        effect=draw(st.sampled_from([1.0, 1.7])),
        smallest=draw(st.sampled_from([0, 20])),
    )
    return comparison, groups


def by_numpy(comparison: Yardstick, inside: np.ndarray) -> list[float]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ALD_KERNEL", "numpy")
        return comparison.statistic(inside).tolist()


@given(comparisons())
def test_c_and_numpy_give_the_same_bits(case: tuple[Yardstick, np.ndarray]) -> None:
    """For any strata, rates, directions and sizes, both give the same floating point numbers."""
    pytest.importorskip("ald.search.explore._evidence", reason="the C code was not built")
    comparison, groups = case
    assert comparison.statistic(groups).tolist() == by_numpy(comparison, groups)


@given(comparisons())
def test_groups_may_be_differences(case: tuple[Yardstick, np.ndarray]) -> None:
    """Groups between two rows of running counts are the differences of these rows, in C and by NumPy."""
    comparison, groups = case
    running = np.concatenate([np.zeros_like(groups[:1]), np.cumsum(groups, axis=0)])
    low, high = np.zeros(len(groups), np.int64), np.arange(1, len(groups) + 1)
    sums = comparison.statistic(running[1:]).tolist()
    assert comparison.between(running, low, high).tolist() == sums
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ALD_KERNEL", "numpy")
        patch.setattr(module, "_AT_ONCE", 2)
        assert comparison.between(running, low, high).tolist() == sums


def test_counts_too_large_for_exact_products() -> None:
    """From two billion people on, products of counts are rounded; C and NumPy round them alike."""
    everyone = np.array([5_000_000_000, 3_000_000_001, 70_000, 90_000]).reshape(1, 1, 1, 4)
    groups = np.array([[1_234_567_891, 1_000_000_007, 30_000, 20_000], [4_999_999_999, 3, 1, 89_999]])
    for rates in RATES[4]:
        comparison = Yardstick(everyone=everyone, rates=RateCounter(rates, 4))
        assert comparison.statistic(groups).tolist() == by_numpy(comparison, groups)


def test_many_rates() -> None:
    """Any number of rates is added up alike."""
    rates = [Rate(f"r{i}", f"rate {i}", hits=hits) for i, hits in enumerate(["tp", "fp", "tn", "fn", "tp fp"] * 2)]
    comparison = Yardstick(everyone=np.array([40, 30, 20, 10]).reshape(1, 1, 1, 4), rates=RateCounter(rates, 4))
    groups = np.array([[10, 20, 3, 4], [1, 2, 3, 4]])
    assert comparison.statistic(groups).tolist() == by_numpy(comparison, groups)


def test_shapes() -> None:
    """All axes but the last are kept, also where there is no group."""
    comparison = Yardstick(everyone=np.full((2, 1, 1, 2), 50), rates=RateCounter((SELECTION,), 2))
    assert comparison.statistic(np.full((3, 5, 4), 7)).shape == (3, 5)
    assert comparison.statistic(np.zeros((3, 0, 4), np.int64)).shape == (3, 0)


def test_few_people_say_nothing() -> None:
    """A group, or those that it is compared with, of fewer people than the smallest has the statistic 0."""
    comparison = Yardstick(everyone=np.full((1, 1, 1, 2), 50), rates=RateCounter((SELECTION,), 2), smallest=20)
    groups = np.array([[0, 19], [0, 20], [50, 31], [50, 30]])
    assert (comparison.statistic(groups) > 0).tolist() == [False, True, False, True]
    assert (replace(comparison, smallest=0).statistic(groups) > 0).all()


def arguments() -> dict[str, Any]:
    return {
        "table": np.array([[1, 2], [3, 4]]), "low": np.array([0]), "high": np.array([1]), "totals": np.array([10, 10]),
        "patterns": 1, "given": 1, "references": 1, "cells": 2, "hit_cells": np.array([0, 1], np.uint8),
        "base_cells": np.array([1, 1], np.uint8), "sides": np.zeros(1), "disjoint": True, "effect": 1.0, "smallest": 0,
        "out": np.empty(1),
    }  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        {"low": np.array([-1])}, {"high": np.array([2])}, {"low": np.array([0, 0])}, {"high": None},
        {"out": np.empty(2)}, {"patterns": 2}, {"given": 0}, {"references": 3}, {"cells": 1},
        {"patterns": 2**40, "given": 2**40}, {"totals": np.array([10, 10, 10])}, {"totals": np.zeros(0, np.int64)},
        {"hit_cells": np.zeros(1, np.uint8)}, {"base_cells": np.zeros(3, np.uint8)}, {"sides": np.zeros(0)},
        {"sides": np.zeros(65), "hit_cells": np.zeros(130, np.uint8), "base_cells": np.zeros(130, np.uint8)},
    ],
)  # fmt: skip
def test_the_c_code_refuses_arrays_that_do_not_fit(change: dict[str, Any]) -> None:
    """Arrays are checked before any of them is read."""
    compiled = pytest.importorskip("ald.search.explore._evidence", reason="the C code was not built")
    compiled.statistic(*arguments().values())
    with pytest.raises(ValueError, match="do not fit"):
        compiled.statistic(*(arguments() | change).values())


@pytest.mark.parametrize("name", ["table", "low", "high", "totals", "hit_cells", "base_cells", "sides", "out"])
def test_the_c_code_refuses_other_types(name: str) -> None:
    """Items of another width are refused."""
    compiled = pytest.importorskip("ald.search.explore._evidence", reason="the C code was not built")
    with pytest.raises(TypeError, match="bytes expected"):
        compiled.statistic(*(arguments() | {name: arguments()[name].astype(np.float32)}).values())
