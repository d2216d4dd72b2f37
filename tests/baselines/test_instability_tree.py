"""The instability tree, adapted to a single data set."""

from __future__ import annotations

from ald.baselines.instability_tree import search
from ald.baselines.interface import Search
from ald.datasets import make_synthetic
from tests.coded import PARITY, coded


def test_one_data_set_is_a_single_tree() -> None:
    """The adaptation is one tree, whose leaves part everyone."""
    data = coded(make_synthetic(1, rho=0.4))
    found = search(Search(data=data, rates=PARITY))
    assert found.forest is not None
    assert len(found.forest) == 1
    leaves = found.forest.counts[found.forest.is_leaf]
    assert leaves.sum() == data.total
