"""Trees as inert data, from systems with an engine of their own: node by node, or a path per criterion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ald._core.arrays import IntArray
from ald.data.coded import AuditData
from ald.groups.membership import count_members
from ald.groups.tree import CodedCondition, CodedCriterion, Forest, Sides

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


def paths(criteria: Sequence[CodedCriterion], data: AuditData) -> tuple[Forest, list[int]]:
    """A tree per criterion, one condition after the other, and where its members end."""
    builder = ForestBuilder()
    ends = [_path(builder, tree, criterion, data) for tree, criterion in enumerate(criteria)]
    return builder.forest(data.n_cells), ends


def _path(builder: ForestBuilder, tree: int, criterion: CodedCriterion, data: AuditData) -> int:
    steps = [step for condition in criterion for step in _steps(condition, data)]
    inside = count_members([tuple(steps[:i]) for i in range(len(steps) + 1)], data)
    at = builder.node(tree, -1, inside[0].tolist())
    waiting: list[tuple[int, IntArray]] = []  # right siblings of members, to be added when their left side is whole
    for step, before, members in zip(steps, inside, inside[1:], strict=False):
        above = not step.levels and step.low > 0
        builder.split(at, step.attribute, (step.low if above else step.high) - 1 if not step.levels else -1)
        if step.levels:
            builder.sides[at] = (step.levels, _other_levels(step, data))
        if above:
            builder.node(tree, at, (before - members).tolist())
        else:
            waiting.append((at, before - members))
        at = builder.node(tree, at, members.tolist())
    for parent, counts in reversed(waiting):
        builder.node(tree, parent, counts.tolist())
    return at


def _steps(condition: CodedCondition, data: AuditData) -> list[CodedCondition]:
    """A condition as splits: levels in one, an interval in one or two."""
    if condition.levels:
        return [condition]
    size = data.attributes[condition.attribute].size
    steps = []
    if condition.low > 0:
        steps.append(condition._replace(high=size))
    if condition.high < size:
        steps.append(condition._replace(low=0))
    return steps


def _other_levels(step: CodedCondition, data: AuditData) -> tuple[int, ...]:
    return tuple(code for code in range(data.attributes[step.attribute].size) if code not in step.levels)
