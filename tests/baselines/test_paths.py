"""Trees that show criteria."""

from __future__ import annotations

import pytest

from ald.baselines.paths import paths
from ald.groups.membership import count_members
from ald.groups.tree import CodedCondition, CodedCriterion
from tests.coded import coded

DATA = coded({"x": [1, 2, 3, 4, 5, 6] * 5, "g": list("pqr") * 10, "y": [0, 1] * 15})
ORDER = {attribute.name: a for a, attribute in enumerate(DATA.attributes)}
G, X = ORDER["g"], ORDER["x"]
BAND = CodedCondition(X, 1, 4)
LEVELS = CodedCondition(G, 0, 0, (0, 2))


@pytest.mark.parametrize("criterion", [(BAND,), (LEVELS,), tuple(sorted((BAND, LEVELS)))])
def test_a_path_ends_at_the_members(criterion: CodedCriterion) -> None:
    """The end of a criterion's path holds its members and spells it out; children part their parent."""
    forest, (end,) = paths([criterion], DATA)
    assert forest.counts[end].tolist() == count_members([criterion], DATA)[0].tolist()
    inner = [node for node in range(forest.n_nodes) if not forest.is_leaf[node]]
    assert inner
    for node in inner:
        children = forest.counts[forest.left[node]] + forest.counts[forest.right[node]]
        assert children.tolist() == forest.counts[node].tolist()
    assert forest.criteria([attribute.size for attribute in DATA.attributes])[end] == criterion


def test_a_tree_per_criterion() -> None:
    """Every criterion has a tree of its own, in the same order."""
    forest, ends = paths([(BAND,), (LEVELS,)], DATA)
    assert forest.tree[ends].tolist() == [0, 1]
