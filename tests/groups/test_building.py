"""Trees built node by node."""

from __future__ import annotations

from ald.groups.building import ForestBuilder


def test_nodes_become_a_forest() -> None:
    """Two trees in preorder: the children of a node, numbers within the tree, people, cuts and sides are as said."""
    builder = ForestBuilder()
    root = builder.node(0, -1, [6, 4])
    builder.split(root, 2, 7, statistic=5.0, log_p=-3.0)
    left = builder.node(0, root, [1, 4])
    right = builder.node(0, root, [5, 0])
    other = builder.node(1, -1, [6, 4])
    builder.split(other, 0)
    builder.sides[other] = ((0, 2), (1,))
    builder.node(1, other, [3, 3])
    builder.node(1, other, [3, 1])
    forest = builder.forest(2)
    assert forest.n_trees == 2
    assert forest.tree.tolist() == [0, 0, 0, 1, 1, 1]
    assert forest.node.tolist() == [1, 2, 3, 1, 2, 3]
    assert forest.parent.tolist() == [-1, root, root, -1, other, other]
    assert (forest.left[root], forest.right[root]) == (left, right)
    assert forest.is_leaf.tolist() == [False, True, True, False, True, True]
    assert forest.counts.sum(axis=1).tolist() == [10, 5, 5, 10, 6, 4]
    assert (forest.attribute[root], forest.cut[root], forest.statistic[root], forest.log_p[root]) == (2, 7, 5.0, -3.0)
    assert (forest.attribute[other], forest.cut[other]) == (0, -1)


def test_no_nodes_no_trees() -> None:
    """A builder that was told nothing gives a forest without trees."""
    assert ForestBuilder().forest(2).n_trees == 0
