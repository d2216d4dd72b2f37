"""Forests and trees as inert data: what was grown, without how."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ald.arrays import AnyArray, FloatArray, IntArray
from ald.data.coded import Attribute
from ald.statistics import rounded


class CodedCondition(NamedTuple):
    """The code of an attribute is in [low, high), or, if levels are named, one of them (then low = high = 0)."""

    attribute: int
    low: int
    high: int
    levels: tuple[int, ...] = ()


# A conjunction of conditions, ordered by attribute.
CodedCriterion = tuple[CodedCondition, ...]


@dataclass(frozen=True, kw_only=True)
class Node:
    """One node of a tree. `id` counts from 1 in preorder; leaves have no attribute."""

    id: int
    parent: int
    counts: tuple[int, ...]
    attribute: int = -1
    cut: int = -1
    left_levels: tuple[int, ...] = ()
    right_levels: tuple[int, ...] = ()
    statistic: float = float("nan")
    log_p: float = float("nan")
    left: int = 0
    right: int = 0

    @property
    def is_leaf(self) -> bool:
        return self.attribute < 0

    @property
    def n(self) -> int:
        """People of the tree's sample in this node."""
        return sum(self.counts)


@dataclass(frozen=True, kw_only=True, eq=False)
class Forest:
    """All nodes of all trees as columns, by tree and then in preorder. `parent`, `left` and `right` are positions.

    `cut`: codes up to this one go left (ordered attributes). `sides`: the levels that go left and right (unordered).
    """

    n_trees: int
    tree: IntArray
    node: IntArray
    parent: IntArray
    left: IntArray
    right: IntArray
    counts: IntArray
    attribute: IntArray
    cut: IntArray
    sides: dict[int, tuple[tuple[int, ...], tuple[int, ...]]]
    statistic: FloatArray
    log_p: FloatArray
    attributes: tuple[Attribute, ...] = ()

    def __len__(self) -> int:
        return self.n_trees

    def with_attributes(self, attributes: tuple[Attribute, ...]) -> Forest:
        """The forest with the meaning of its codes."""
        return replace(self, attributes=attributes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Forest) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    @property
    def n_nodes(self) -> int:
        return len(self.tree)

    @property
    def is_leaf(self) -> AnyArray:
        return np.asarray(self.attribute < 0)

    def nodes(self, tree: int) -> list[Node]:
        """The nodes of one tree in preorder: node i + 1 at position i."""
        at = np.flatnonzero(self.tree == tree)
        base = int(at[0])
        return [self._view(i, base) for i in at.tolist()]

    def __iter__(self) -> Iterator[list[Node]]:
        return (self.nodes(tree) for tree in range(self.n_trees))

    def _view(self, i: int, base: int) -> Node:
        left_levels, right_levels = self.sides.get(i, ((), ()))
        return Node(
            id=int(self.node[i]),
            parent=int(self.parent[i]) - base + 1 if self.parent[i] >= 0 else 0,
            counts=tuple(self.counts[i].tolist()),
            attribute=int(self.attribute[i]),
            cut=int(self.cut[i]),
            left_levels=left_levels,
            right_levels=right_levels,
            statistic=float(self.statistic[i]),
            log_p=float(self.log_p[i]),
            left=int(self.left[i]) - base + 1 if self.left[i] >= 0 else 0,
            right=int(self.right[i]) - base + 1 if self.right[i] >= 0 else 0,
        )

    def criteria(self) -> list[CodedCriterion]:
        """The criterion of every node: the conditions on its path, merged per attribute."""
        parents, attributes, cuts, lefts = (
            column.tolist() for column in (self.parent, self.attribute, self.cut, self.left)
        )
        out: list[CodedCriterion] = []
        unbounded = 1 << 62
        for i, parent in enumerate(parents):
            if parent < 0:
                out.append(())
                continue
            attribute, is_left = attributes[parent], lefts[parent] == i
            inherited = out[parent]
            if parent in self.sides:
                condition = CodedCondition(attribute, 0, 0, self.sides[parent][0 if is_left else 1])
            else:
                old = next((c for c in inherited if c.attribute == attribute), None)
                low, high = (old.low, old.high) if old else (0, unbounded)
                cut = cuts[parent] + 1
                condition = CodedCondition(attribute, low, cut) if is_left else CodedCondition(attribute, cut, high)
            out.append((*(c for c in inherited if c.attribute < attribute), condition,
                        *(c for c in inherited if c.attribute > attribute)))  # fmt: skip
        return out

    def to_dict(self) -> dict[str, Any]:
        """The forest as plain data: columns of all nodes, and per attribute its levels or the cut points used."""
        codebook, cut = [], self.cut.copy()
        for a, attribute in enumerate(self.attributes):
            entry: dict[str, Any] = {"name": attribute.name, "kind": attribute.kind}
            if attribute.values is None:
                codebook.append(entry | {"levels": list(attribute.levels)})
                continue
            here = (self.attribute == a) & (self.cut >= 0)
            used, position = np.unique(self.cut[here], return_inverse=True)
            cut[here] = position
            codebook.append(entry | {"cuts": attribute.values[used].tolist()})
        return {
            "trees": self.n_trees,
            "attributes": codebook,
            **{name: getattr(self, name).tolist() for name in _INTEGER_COLUMNS if name != "cut"},
            "cut": cut.tolist(),
            "sides": {str(i): [list(left), list(right)] for i, (left, right) in self.sides.items()},
            "statistic": [rounded(value) for value in self.statistic.tolist()],
            "log_p": [rounded(value) for value in self.log_p.tolist()],
        }

    @classmethod
    def from_dict(cls, entry: dict[str, Any]) -> Forest:
        """The inverse of `to_dict`. Codes of ordered attributes then count the cut points used."""
        attributes = tuple(
            Attribute(name=book["name"], kind=book["kind"], levels=tuple(book["levels"]))
            if "levels" in book
            else Attribute(name=book["name"], kind=book["kind"], values=np.array(book["cuts"], dtype=float))
            for book in entry["attributes"]
        )
        integers = {name: np.array(entry[name], dtype=np.int64) for name in _INTEGER_COLUMNS}
        floats = {name: np.array([np.nan if v is None else v for v in entry[name]]) for name in ("statistic", "log_p")}
        sides = {int(i): (tuple(left), tuple(right)) for i, (left, right) in entry["sides"].items()}
        return cls(n_trees=entry["trees"], attributes=attributes, sides=sides, **integers, **floats)


_INTEGER_COLUMNS = ("tree", "node", "parent", "left", "right", "counts", "attribute", "cut")


def in_preorder(levels: Sequence[dict[str, AnyArray]], n_trees: int) -> Forest:
    """A forest from its levels, root level first.

    Each level has the columns `tree`, `parent` (position in the level above), `is_left`, `counts` and, for the
    nodes that split, `attribute`, `cut`, `sides`, `statistic`, `log_p`.
    """
    starts = np.cumsum([0] + [len(level["tree"]) for level in levels])
    n = int(starts[-1])
    tree = np.concatenate([level["tree"] for level in levels])
    is_left = np.concatenate([level["is_left"] for level in levels])
    parent = np.concatenate(
        [np.full(len(levels[0]["tree"]), -1)]
        + [starts[depth] + level["parent"] for depth, level in enumerate(levels[1:])]
    )
    size = np.ones(n, dtype=np.int64)
    for depth in range(len(levels) - 1, 0, -1):
        part = slice(starts[depth], starts[depth + 1])
        np.add.at(size, parent[part], size[part])
    left, right = np.full(n, -1), np.full(n, -1)
    children = np.flatnonzero(parent >= 0)
    left[parent[children[is_left[children]]]] = children[is_left[children]]
    right[parent[children[~is_left[children]]]] = children[~is_left[children]]
    node = np.ones(n, dtype=np.int64)
    for depth in range(1, len(levels)):
        part = np.arange(starts[depth], starts[depth + 1])
        above = parent[part]
        node[part] = node[above] + 1 + np.where(is_left[part], 0, size[left[above]])
    order = np.lexsort((node, tree))
    position = np.empty(n + 1, dtype=np.int64)
    position[order] = np.arange(n)
    position[-1] = -1
    columns = {name: np.concatenate([level[name] for level in levels])[order]
               for name in ("counts", "attribute", "cut", "statistic", "log_p")}  # fmt: skip
    sides = {
        int(position[starts[depth] + i]): both for depth, level in enumerate(levels) for i, both in level["sides"].item().items()
    }
    return Forest(
        n_trees=n_trees,
        tree=tree[order],
        node=node[order],
        parent=position[parent[order]],
        left=position[left[order]],
        right=position[right[order]],
        sides=dict(sorted(sides.items())),
        **columns,
    )
