"""A single conditional inference tree as a system."""

from __future__ import annotations

from ald.baselines.ctree import one_tree, search
from ald.baselines.interface import Search
from ald.datasets import make_synthetic
from tests.coded import PARITY, coded


def test_the_leaves_of_one_tree_are_proposed() -> None:
    """All of D1 is at the root of one tree, and its distinct leaves are what is proposed."""
    data = coded(make_synthetic(1, rho=0.4))
    request = Search(data=data, rates=PARITY)
    forest = one_tree(request, bonferroni=True)
    assert (len(forest), int(forest.counts[0].sum())) == (1, data.total)
    assert set(search(request).criteria) <= set(forest.criteria([attribute.size for attribute in data.attributes]))
    assert len(search(request).criteria) > 1


def test_correction_makes_trees_smaller() -> None:
    """Corrected for the number of attributes, fewer splits are significant."""
    request = Search(data=coded(make_synthetic(1, rho=0.2, irrelevant=8)), rates=PARITY, alpha=0.3)
    corrected, plain = (one_tree(request, bonferroni=bonferroni).n_nodes for bonferroni in (True, False))
    assert corrected < plain
