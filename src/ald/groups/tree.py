"""Forests and trees as inert data: what was grown, without how."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ald._core.arrays import AnyArray, BoolArray, FloatArray, IntArray
from ald.data.coded import Attribute
from ald.statistics.basics import round_reported


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


@dataclass(frozen=True, kw_only=True, eq=False)
class Sides(Mapping[int, tuple[tuple[int, ...], tuple[int, ...]]]):
    """The levels that splits of unordered attributes send left and right, by node.

    nodes: ascending; the levels of nodes[i] are codes[offsets[i]:offsets[i + 1]], ascending, each on the left or not.
    """

    nodes: IntArray
    offsets: IntArray
    codes: IntArray
    is_left: BoolArray

    @classmethod
    def of(cls, sides: Mapping[int, tuple[tuple[int, ...], tuple[int, ...]]]) -> Sides:
        """The same as arrays."""
        if isinstance(sides, Sides):
            return sides
        nodes = sorted(sides)
        levels = [
            sorted([(code, True) for code in sides[i][0]] + [(code, False) for code in sides[i][1]]) for i in nodes
        ]
        return cls(
            nodes=np.array(nodes, dtype=np.int64),
            offsets=np.cumsum([0, *map(len, levels)]),
            codes=np.array([code for each in levels for code, _ in each], dtype=np.int64),
            is_left=np.array([left for each in levels for _, left in each], dtype=bool),
        )

    @classmethod
    def concatenate(cls, parts: Sequence[Sides], at: Sequence[IntArray]) -> Sides:
        """Several, where the nodes of each have other numbers: at[i] those of parts[i]."""
        none = np.zeros(0, np.int64)
        nodes = np.concatenate([none, *at])
        lengths = np.concatenate([none, *(np.diff(part.offsets) for part in parts)])
        order = np.argsort(nodes, kind="stable")
        starts = np.concatenate([[0], np.cumsum(lengths)])[:-1][order]
        offsets = np.concatenate([[0], np.cumsum(lengths[order])])
        entries = np.repeat(starts - offsets[:-1], lengths[order]) + np.arange(offsets[-1])
        return cls(
            nodes=nodes[order],
            offsets=offsets,
            codes=np.concatenate([none, *(part.codes for part in parts)])[entries],
            is_left=np.concatenate([none.astype(bool), *(part.is_left for part in parts)])[entries],
        )

    def moved(self, position: IntArray) -> Sides:
        """Those of the nodes that are left. position: the new number of every node, in their order; -1: none."""
        kept = position[self.nodes] >= 0
        lengths = np.diff(self.offsets)
        entries = np.repeat(kept, lengths)
        return Sides(
            nodes=position[self.nodes[kept]],
            offsets=np.concatenate([[0], np.cumsum(lengths[kept])]),
            codes=self.codes[entries],
            is_left=self.is_left[entries],
        )

    def as_dict(self) -> dict[int, tuple[tuple[int, ...], tuple[int, ...]]]:
        """All of them at once."""
        bounds, codes, left = self.offsets.tolist(), self.codes.tolist(), self.is_left.tolist()
        right = (~self.is_left).tolist()
        return {
            node: (
                tuple(itertools.compress(codes[start:end], left[start:end])),
                tuple(itertools.compress(codes[start:end], right[start:end])),
            )
            for node, (start, end) in zip(self.nodes.tolist(), itertools.pairwise(bounds), strict=True)
        }

    def __getitem__(self, node: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        at = int(np.searchsorted(self.nodes, node))
        if at == len(self.nodes) or self.nodes[at] != node:
            raise KeyError(node)
        part = slice(int(self.offsets[at]), int(self.offsets[at + 1]))
        codes, left = self.codes[part], self.is_left[part]
        return tuple(codes[left].tolist()), tuple(codes[~left].tolist())

    def __iter__(self) -> Iterator[int]:
        return iter(self.nodes.tolist())

    def __len__(self) -> int:
        return len(self.nodes)


NO_SIDES = Sides.of({})


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
    sides: Sides
    statistic: FloatArray
    log_p: FloatArray
    attributes: tuple[Attribute, ...] = ()

    def __len__(self) -> int:
        return self.n_trees

    @classmethod
    def concatenate(cls, forests: Sequence[Forest], n_cells: int = 0) -> Forest:
        """The trees of several forests on the same attributes, one after the other; of none, an empty forest."""
        if len(forests) == 1:
            return forests[0]
        trees = np.cumsum([0, *(forest.n_trees for forest in forests)]).tolist()
        nodes = np.cumsum([0, *(forest.n_nodes for forest in forests)]).tolist()
        none = np.zeros(0, np.int64)

        def column(name: str, empty: AnyArray = none) -> Any:
            return np.concatenate([empty, *(getattr(forest, name) for forest in forests)])

        def positions(name: str) -> IntArray:
            parts = [getattr(forest, name) for forest in forests]
            return np.concatenate([none, *(np.where(p >= 0, p + at, p) for p, at in zip(parts, nodes, strict=False))])

        return cls(
            n_trees=trees[-1],
            tree=np.concatenate([none, *(forest.tree + at for forest, at in zip(forests, trees, strict=False))]),
            node=column("node"),
            parent=positions("parent"),
            left=positions("left"),
            right=positions("right"),
            counts=column("counts", np.zeros((0, forests[0].counts.shape[1] if forests else n_cells), np.int64)),
            attribute=column("attribute"),
            cut=column("cut"),
            sides=Sides.concatenate(
                [forest.sides for forest in forests],
                [forest.sides.nodes + at for forest, at in zip(forests, nodes, strict=False)],
            ),
            statistic=column("statistic", np.zeros(0)),
            log_p=column("log_p", np.zeros(0)),
            attributes=forests[0].attributes if forests else (),
        )

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
    def is_leaf(self) -> BoolArray:
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

    def criteria(self, sizes: Sequence[int]) -> list[CodedCriterion]:
        """The criterion of every node: the conditions on its path, merged per attribute. `sizes`: codes each has."""
        parents, attributes, cuts, lefts = (
            column.tolist() for column in (self.parent, self.attribute, self.cut, self.left)
        )
        out: list[CodedCriterion] = []
        sides = self.sides.as_dict()
        new, nothing = tuple.__new__, ()  # a NamedTuple's own constructor costs as much as all else in this loop
        for i, parent in enumerate(parents):
            if parent < 0:
                out.append(())
                continue
            attribute, is_left, inherited = attributes[parent], lefts[parent] == i, out[parent]
            at = bisect_left(inherited, (attribute,))
            old = inherited[at] if at < len(inherited) and inherited[at][0] == attribute else None
            if parent in sides:
                condition = new(CodedCondition, (attribute, 0, 0, sides[parent][0 if is_left else 1]))
            else:
                low, high = (old[1], old[2]) if old else (0, sizes[attribute])
                cut = cuts[parent] + 1
                bounds = (attribute, low, cut, nothing) if is_left else (attribute, cut, high, nothing)
                condition = new(CodedCondition, bounds)
            out.append((*inherited[:at], condition, *inherited[at + (old is not None) :]))
        return out

    def without(self, nodes: BoolArray) -> tuple[Forest, IntArray]:
        """The forest whose trees end above these nodes, and per node the position of the nearest one that is left.

        Both children of a node go, or neither. Roots stay.
        """
        ends = np.zeros(self.n_nodes + 1, bool)
        ends[self.parent[nodes]] = True  # the last entry answers for -1: roots are nobody's children
        ends[-1] = False
        gone, below = np.zeros(self.n_nodes + 1, bool), np.append(ends[self.parent], False)
        while (below & ~gone).any():
            gone |= below
            below = np.append(gone[self.parent], False)
        nearest, lost = np.arange(self.n_nodes), np.flatnonzero(gone[:-1])
        while lost.size:
            nearest[lost] = self.parent[nearest[lost]]
            lost = lost[gone[nearest[lost]]]
        kept = np.flatnonzero(~gone[:-1])
        position = np.full(self.n_nodes + 1, -1, dtype=np.int64)
        position[kept] = np.arange(len(kept))
        is_leaf = ends[kept]
        columns = {name: getattr(self, name)[kept] for name in (*_INTEGER_COLUMNS, "statistic", "log_p")}
        columns |= {name: position[columns[name]] for name in ("parent", "left", "right")}
        columns |= {name: np.where(is_leaf, -1, columns[name]) for name in ("attribute", "cut")}
        columns |= {name: np.where(is_leaf, np.nan, columns[name]) for name in ("statistic", "log_p")}
        starts = np.searchsorted(columns["tree"], columns["tree"])
        columns["node"] = np.arange(len(kept)) - starts + 1
        sides = self.sides.moved(np.where(ends, -1, position))
        return replace(self, **columns, sides=sides), position[nearest]

    def only(self, trees: Set[int]) -> Forest:
        """The forest without the nodes of all other trees; trees keep their numbers."""
        kept = np.flatnonzero(np.isin(self.tree, sorted(trees)))
        position = np.full(self.n_nodes + 1, -1, dtype=np.int64)  # the last entry answers for -1: no such node
        position[kept] = np.arange(len(kept))
        columns = {name: getattr(self, name)[kept] for name in (*_INTEGER_COLUMNS, "statistic", "log_p")}
        columns |= {name: position[columns[name]] for name in ("parent", "left", "right")}
        return replace(self, **columns, sides=self.sides.moved(position))

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
            "sides": {str(i): [list(left), list(right)] for i, (left, right) in self.sides.as_dict().items()},
            "statistic": [round_reported(value) for value in self.statistic.tolist()],
            "log_p": [round_reported(value) for value in self.log_p.tolist()],
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
        columns: dict[str, Any] = {**integers, **floats}
        return cls(n_trees=entry["trees"], attributes=attributes, sides=Sides.of(sides), **columns)


_INTEGER_COLUMNS = ("tree", "node", "parent", "left", "right", "counts", "attribute", "cut")


@dataclass(frozen=True, kw_only=True)
class Level:
    """The nodes of one depth, over all trees. `parent` is the position in the level above."""

    tree: IntArray
    parent: IntArray
    is_left: BoolArray
    counts: IntArray

    def __len__(self) -> int:
        return len(self.tree)


@dataclass(frozen=True, kw_only=True)
class LevelSplits:
    """How the nodes of a level split; attribute -1 for those that do not."""

    attribute: IntArray
    cut: IntArray
    sides: Sides
    statistic: FloatArray
    log_p: FloatArray

    @classmethod
    def none(cls, n: int) -> LevelSplits:
        """No node of a level of n splits."""
        nan = np.full(n, np.nan)
        return cls(attribute=np.full(n, -1), cut=np.full(n, -1), sides=NO_SIDES, statistic=nan, log_p=nan.copy())


def in_preorder(levels: Sequence[Level], splits: Sequence[LevelSplits], n_trees: int) -> Forest:
    """The forest of these levels, root level first."""
    starts = np.cumsum([0] + [len(level) for level in levels])
    n = int(starts[-1])
    tree = np.concatenate([level.tree for level in levels])
    is_left = np.concatenate([level.is_left for level in levels])
    above = [np.full(len(levels[0]), -1)]
    above += [start + level.parent for start, level in zip(starts, levels[1:], strict=False)]
    parent = np.concatenate(above)
    depths = [np.arange(a, b) for a, b in itertools.pairwise(starts)]
    size = np.ones(n, dtype=np.int64)
    for nodes in reversed(depths[1:]):
        np.add.at(size, parent[nodes], size[nodes])
    left, right = np.full(n, -1), np.full(n, -1)
    below = np.flatnonzero(parent >= 0)
    left[parent[below[is_left[below]]]] = below[is_left[below]]
    right[parent[below[~is_left[below]]]] = below[~is_left[below]]
    node = np.ones(n, dtype=np.int64)
    for nodes in depths[1:]:
        node[nodes] = node[parent[nodes]] + 1 + np.where(is_left[nodes], 0, size[left[parent[nodes]]])
    order = np.lexsort((node, tree))
    position = np.full(n + 1, -1, dtype=np.int64)  # the last entry answers for -1: no such node
    position[order] = np.arange(n)
    sides = [split.sides for split in splits]
    at = [position[start + each.nodes] for start, each in zip(starts, sides, strict=False)]
    return Forest(
        n_trees=n_trees,
        tree=tree[order],
        node=node[order],
        parent=position[parent[order]],
        left=position[left[order]],
        right=position[right[order]],
        counts=np.concatenate([level.counts for level in levels])[order],
        attribute=np.concatenate([split.attribute for split in splits])[order],
        cut=np.concatenate([split.cut for split in splits])[order],
        sides=Sides.concatenate(sides, at),
        statistic=np.concatenate([split.statistic for split in splits])[order],
        log_p=np.concatenate([split.log_p for split in splits])[order],
    )
