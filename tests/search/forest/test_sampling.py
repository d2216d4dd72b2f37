"""Forests on samples: who splits their nodes, and how many trees grow at a time, change nothing."""

from __future__ import annotations

import numpy as np
import pytest

from ald.data import packing
from ald.notions import SELECTION, MeanCounter, RateCounter
from ald.search.forest.counting import MemoryCounter
from ald.search.forest.histograms import HistogramSplitter
from ald.search.forest.packed import PackedSplitter
from ald.search.forest.rules import GrowthRules
from ald.search.forest.sampling import bytes_per_row, counter_of, grow_forest, grow_within_memory, splitter_of
from tests.search.forest.test_packed import random_amounts, random_data

RATES = RateCounter([SELECTION], 2)


@pytest.mark.parametrize("memory_limit", [None, 1, 10**5])
def test_memory_does_not_matter(memory_limit: int | None) -> None:
    """As many trees at a time as the memory holds are the forest of all at once, and progress ends with 1."""
    data, shares = random_data(2, 400, 2), list[float]()
    expected, found = ([np.random.default_rng(seed) for seed in np.random.SeedSequence(1).spawn(5)] for _ in range(2))
    forest = grow_within_memory(
        data, RATES, GrowthRules(), found, progress=shares.append, threads=2, memory_limit=memory_limit
    )
    assert forest.to_dict() == grow_forest(data, RATES, GrowthRules(), expected).to_dict()
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)


@pytest.mark.parametrize("threads", [1, 2])
def test_memory_that_is_used_again_does_not_matter(monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    """Trees on amounts that grow one after the other where others grew are those of all at once."""
    monkeypatch.setattr("ald.search.forest.sampling._BYTES_AT_ONCE", 1)
    monkeypatch.setattr("ald.search.forest.sampling._WORTH_GROUPS", 1)
    data = random_amounts(2, 400, "whole")
    expected, found = ([np.random.default_rng(seed) for seed in np.random.SeedSequence(1).spawn(5)] for _ in range(2))
    forest = grow_within_memory(data, MeanCounter(), GrowthRules(), found, progress=lambda share: None, threads=threads)
    assert forest.to_dict() == grow_forest(data, MeanCounter(), GrowthRules(), expected).to_dict()


@pytest.mark.parametrize("is_available", [True, False])
def test_rows_are_packed_where_that_is_possible(monkeypatch: pytest.MonkeyPatch, is_available: bool) -> None:
    """With the compiled kernel nodes split on packed rows, and otherwise by histograms of rows in memory."""
    data = random_data(0, 50, 2)
    if is_available and not packing.available(data):
        pytest.skip("needs the compiled kernels, which were not built")
    monkeypatch.setattr(packing, "available", lambda data: is_available)
    assert type(splitter_of(data, [data.counts])) is (PackedSplitter if is_available else HistogramSplitter)
    assert type(counter_of(data, [data.counts])) is (PackedSplitter if is_available else MemoryCounter)
    assert bytes_per_row(data) == (8 * packing.words_per_row(data) if is_available else 16)
