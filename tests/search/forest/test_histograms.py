"""Splits from histograms: every place that can count gives those of the fastest splitter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ald.notions import SELECTION, RateCounter
from ald.search.forest import packed
from ald.search.forest.counting import MemoryCounter
from ald.search.forest.histograms import HistogramSplitter, without_missing
from ald.search.forest.packed import PackedSplitter
from ald.search.forest.rules import GrowthRules
from ald.search.forest.splitter import BestSplits, NodeTest, Splitter
from tests.coded import coded
from tests.coded import histograms as histograms_of
from tests.search.forest.test_packed import random_data


def roots_split(splitter: Splitter, test: NodeTest, trees: int) -> BestSplits:
    """How the roots of all trees split, if they consider every attribute."""
    counts = splitter.roots()
    drawn = np.tile(np.arange(len(test.sizes)), (trees, 1))
    return splitter.best_splits(np.arange(trees), drawn, test.rules.min_bucket(counts.sum(axis=1)), test)


@given(seed=st.integers(0, 10**6), missing=st.booleans(), weighted=st.booleans())
def test_both_splitters_give_the_same(seed: int, missing: bool, weighted: bool) -> None:
    """Nodes, attributes, tests, sides and people are the same to the last bit."""
    data = random_data(seed, 300, 2, weighted, missing)
    if not packed.available(data):
        pytest.skip("needs the compiled kernels, which were not built")
    samples = [data.counts, np.where(np.arange(300) % 3, data.counts, 0)]
    rules = GrowthRules(alpha=0.9, minbucket=1)
    test = NodeTest.of(data.attributes, data.scores(), RateCounter([SELECTION], 2), rules, 2)
    ours = roots_split(PackedSplitter.of(data, samples), test, 2)
    theirs = roots_split(HistogramSplitter(MemoryCounter(data, samples)), test, 2)
    for name in ("node", "attribute", "statistic", "log_p"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    for name in ("request", "cut", "left", "right", "offsets", "codes", "goes_left"):
        np.testing.assert_array_equal(getattr(ours.cuts, name), getattr(theirs.cuts, name))


def test_a_node_splits_by_what_matters() -> None:
    """The attribute that decides the outcome is chosen, and its levels part as the outcome does."""
    data = coded({"g": ["a", "b", "c", "d"] * 30, "x": list(range(120)), "y": [1, 0, 0, 1] * 30})
    test = NodeTest.of(data.attributes, data.scores(), RateCounter([SELECTION], 2), GrowthRules(), 2)
    found = roots_split(HistogramSplitter(MemoryCounter(data, [data.counts])), test, 1)
    names = [attribute.name for attribute in data.attributes]
    assert (found.node.tolist(), names[found.attribute[0]]) == ([0], "g")
    assert found.cuts.codes[found.cuts.goes_left].tolist() == [0, 3]
    assert (found.cuts.left.tolist(), found.cuts.right.tolist()) == ([[0, 60]], [[60, 0]])


def test_missing_values_take_no_part() -> None:
    """The entry behind the last code is dropped, wherever there is one."""
    data = coded({"x": [1.0, 2.0] * 20, "z": [3.0, 4.0] * 20, "y": [0, 1] * 20})
    test = NodeTest.of(data.attributes, data.scores(), RateCounter([SELECTION], 2), GrowthRules(), 2)
    counted = histograms_of([[3, 1], [1, 3], [2, 2]], [[4, 4], [4, 4]])
    seen = without_missing(counted, np.array([0, 1]), test)
    assert (seen.offsets.tolist(), seen.codes.tolist()) == ([0, 2, 4], [0, 1, 0, 1])
