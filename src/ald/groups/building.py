"""Trees as inert data, built node by node by whoever has an engine of its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ald.groups.tree import Forest, Sides

_NAN = float("nan")


class ForestBuilder:
    """Collects nodes tree by tree, each tree in preorder, and turns them into a forest."""

    def __init__(self) -> None:
        self.sides: dict[int, tuple[tuple[int, ...], tuple[int, ...]]] = {}
        self._nodes: list[tuple[int, int, int]] = []  # tree, parent, number in the tree
        self._counts: list[Sequence[int]] = []
        self._splits: list[tuple[int, int, float, float]] = []  # attribute, cut, statistic, log p
        self._children: list[list[int]] = []

    def node(self, tree: int, parent: int, counts: Sequence[int]) -> int:
        """Adds a node, a leaf until it is split, and gives its position. A left child comes before its sibling."""
        at = len(self._nodes)
        first = at if parent < 0 else self._nodes[parent][2]
        if parent >= 0:
            self._children[parent].append(at)
        self._nodes.append((tree, parent, first))
        self._counts.append(counts)
        self._splits.append((-1, -1, _NAN, _NAN))
        self._children.append([])
        return at

    def split(self, at: int, attribute: int, cut: int = -1, *, statistic: float = _NAN, log_p: float = _NAN) -> None:
        """Says how a node splits; where levels part, `sides` says which go where."""
        self._splits[at] = (attribute, cut, statistic, log_p)

    def forest(self, n_cells: int) -> Forest:
        """The forest of the nodes so far."""
        n = len(self._nodes)
        tree, parent, first = (np.array(self._nodes, dtype=np.int64).reshape(n, 3)[:, k] for k in range(3))
        children = np.array([kids or [-1, -1] for kids in self._children], dtype=np.int64).reshape(n, 2)
        attribute, cut, statistic, log_p = (np.array(self._splits).reshape(n, 4)[:, k] for k in range(4))
        return Forest(
            n_trees=int(tree[-1]) + 1 if n else 0,
            tree=tree,
            node=np.arange(n) - first + 1,
            parent=parent,
            left=children[:, 0],
            right=children[:, 1],
            counts=np.array(self._counts, dtype=np.int64).reshape(n, n_cells),
            attribute=attribute.astype(np.int64),
            cut=cut.astype(np.int64),
            sides=Sides.of(self.sides),
            statistic=statistic,
            log_p=log_p,
        )
