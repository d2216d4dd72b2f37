"""The criteria of a forest's leaves: which of them say something new, and what they say, when somebody asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np

from ald._core.arrays import AnyArray, IntArray
from ald.groups.tree import CodedCondition, CodedCriterion, Forest

# Odd multipliers without a pattern: different criteria have different sums, but for accidents, which are looked at.
_VALUE, _ATTRIBUTE, _MIX = (np.uint64(value) for value in (0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, 0xBF58476D1CE4E5B9))
# Levels that are bits of a number.
_BITS = 64
_HALF, _LOWER = np.uint64(32), np.uint64(2**32 - 1)


class LeafCriteria(Sequence[CodedCriterion]):
    """The criteria of some leaves of a forest, each made when it is asked for.

    sizes: the codes that every attribute has; present: per ordered attribute with levels those that occur, which its
    conditions name one by one.
    """

    def __init__(
        self,
        forest: Forest,
        at: IntArray,
        sizes: Sequence[int],
        present: Mapping[int, list[int]],
        order: IntArray,
    ) -> None:
        """at: the leaves; order: of each what criteria are ordered by, as far as that is a few numbers.

        These are the number of conditions, that of levels and bounds named, and attribute, low and high of the first
        condition.
        """
        self._forest, self._sizes, self._present = forest, sizes, present
        self.at, self.order = at, order

    @classmethod
    def of(cls, forest: Forest, sizes: Sequence[int], present: Mapping[int, list[int]]) -> LeafCriteria:
        """Those of the leaves with different criteria, the first of those with the same one, and none of everyone."""
        found = _leaves(forest, sizes, present)
        criteria = cls(forest, found.at, sizes, present, found.order)
        _, inverse, counts = np.unique(found.sums, return_inverse=True, return_counts=True)
        if len(counts) == len(criteria):
            return criteria
        # Some have the same sum, and thereby nearly always the same criterion.
        doubtful = np.flatnonzero(counts[inverse] > 1)
        _, first = np.unique(found.said[doubtful], axis=0, return_index=True)
        kept = np.sort(np.concatenate([np.flatnonzero(counts[inverse] == 1), doubtful[first]]))
        return cls(forest, found.at[kept], sizes, present, found.order[kept])

    def __len__(self) -> int:
        return len(self.at)

    @overload
    def __getitem__(self, i: int) -> CodedCriterion: ...
    @overload
    def __getitem__(self, i: slice) -> tuple[CodedCriterion, ...]: ...
    def __getitem__(self, i: int | slice) -> CodedCriterion | tuple[CodedCriterion, ...]:
        if isinstance(i, slice):
            return tuple(self._criterion(at) for at in self.at[i].tolist())
        return self._criterion(int(self.at[i]))

    def __iter__(self) -> Iterator[CodedCriterion]:
        paths = self._forest.criteria(self._sizes)
        return (name_levels(paths[at], self._present) for at in self.at.tolist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def _columns(self) -> tuple[list[int], ...]:
        forest = self._forest
        return forest.parent.tolist(), forest.attribute.tolist(), forest.cut.tolist(), forest.left.tolist()

    def _criterion(self, at: int) -> CodedCriterion:
        parents, attributes, cuts, lefts = self._columns
        conditions: dict[int, CodedCondition] = {}
        while (parent := parents[at]) >= 0:
            attribute, is_left, cut = attributes[parent], lefts[parent] == at, cuts[parent] + 1
            old = conditions.get(attribute)
            if cut == 0:
                # Levels: the split that is nearest to the leaf has the last word.
                if old is None:
                    levels = self._forest.sides[parent][0 if is_left else 1]
                    conditions[attribute] = CodedCondition(attribute, 0, 0, levels)
            else:
                low, high = (old.low, old.high) if old is not None else (0, self._sizes[attribute])
                low, high = (low, min(high, cut)) if is_left else (max(low, cut), high)
                conditions[attribute] = CodedCondition(attribute, low, high)
            at = parent
        return name_levels(tuple(conditions[attribute] for attribute in sorted(conditions)), self._present)


def name_levels(criterion: CodedCriterion, present: Mapping[int, list[int]]) -> CodedCriterion:
    """Ordered levels named one by one: those that the search saw, since a level it never saw satisfies no condition."""
    if not present:
        return criterion
    return tuple(
        CodedCondition(c.attribute, 0, 0, tuple(code for code in present[c.attribute] if c.low <= code < c.high))
        if c.attribute in present and not c.levels
        else c
        for c in criterion
    )


@dataclass(frozen=True, kw_only=True)
class _Leaves:
    """All leaves but roots, in order.

    said: per attribute a number for what the criterion says about it, 0 for nothing; sums: one for all of these.
    """

    at: IntArray
    said: AnyArray
    sums: AnyArray
    order: IntArray


def _leaves(forest: Forest, sizes: Sequence[int], present: Mapping[int, list[int]]) -> _Leaves:
    """Goes down all trees at once, level by level.

    What a node's path says about an attribute is one number: 1 + twice the node with its levels, plus 1 for its right
    side; or the bounds, low in the upper half and high in the lower one; 0: nothing.
    """
    top = np.array(sizes, dtype=np.uint64)
    nodes = np.flatnonzero(forest.parent < 0)
    said = np.zeros((len(nodes), len(top)), np.uint64)
    is_leaf = forest.is_leaf
    found_at, found_said = [nodes[:0]], [said[:0]]
    while len(nodes):
        ends = np.flatnonzero(is_leaf[nodes] & (forest.parent[nodes] >= 0))
        found_at.append(nodes[ends])
        found_said.append(said[ends])
        inner = np.flatnonzero(~is_leaf[nodes])
        parents = nodes[inner]
        attribute, cut = forest.attribute[parents], (forest.cut[parents] + 1).astype(np.uint64)
        now = said[inner, attribute]
        bounds = np.where(now == 0, top[attribute], now)
        of_levels = 2 * parents.astype(np.uint64) + np.uint64(1)
        left = np.where(cut > 0, bounds & ~_LOWER | cut, of_levels)
        right = np.where(cut > 0, bounds & _LOWER | cut << _HALF, of_levels + np.uint64(1))
        said = np.concatenate([said[inner], said[inner]])
        said[np.arange(len(said)), np.tile(attribute, 2)] = np.concatenate([left, right])
        nodes = np.concatenate([forest.left[parents], forest.right[parents]])
    unordered = np.concatenate(found_at)
    place = np.empty(forest.n_nodes, np.int64)
    place[unordered] = np.arange(len(unordered))
    at = np.flatnonzero(is_leaf & (forest.parent >= 0))
    return _describe(forest, at, np.concatenate(found_said)[place[at]], top, present)


def _describe(forest: Forest, at: IntArray, said: AnyArray, top: AnyArray, present: Mapping[int, list[int]]) -> _Leaves:
    """What the leaves' paths say, as numbers that depend on the criterion alone."""
    left, right = _sides(forest, top)
    sums, words = np.zeros(len(at), np.uint64), np.zeros(len(at), np.int64)
    conditions, first = np.zeros(len(at), np.int64), np.full(len(at), -1, dtype=np.int64)
    first_bounds = np.zeros((2, len(at)), np.int64)
    nominal = np.unique(forest.attribute[forest.sides.nodes])
    for a in range(len(top)):
        has = np.flatnonzero(said[:, a])
        value = said[has, a]
        bounds = np.zeros((2, len(has)), np.int64)
        if a in nominal:
            node, is_right = np.divmod(value.astype(np.int64) - 1, 2)
            value, named_levels = (
                np.where(is_right == 1, there[node], here[node]) for here, there in zip(left, right, strict=True)
            )
        else:
            low, high = (value >> _HALF).astype(np.int64), (value & _LOWER).astype(np.int64)
            named_levels = (low > 0) + (high < int(top[a])).astype(np.int64)
            if a in present:
                # Ordered levels are named one by one: such a condition has no bounds.
                rank = np.searchsorted(present[a], np.arange(int(top[a]) + 1))
                low, high = rank[low], rank[high]
                named_levels, value = high - low, (low << 32 | high).astype(np.uint64) + np.uint64(1)
            else:
                bounds = np.stack([low, high])
        said[has, a] = value
        sums[has] += _mix(value * _VALUE + np.full(1, a + 1, np.uint64) * _ATTRIBUTE)
        words[has] += named_levels
        conditions[has] += 1
        new = first[has] < 0
        first[has[new]] = a
        first_bounds[:, has[new]] = bounds[:, new]
    return _Leaves(at=at, said=said, sums=sums, order=np.stack([conditions, words, first, *first_bounds], axis=1))


def _mix(values: AnyArray) -> AnyArray:
    values = (values ^ (values >> np.uint64(30))) * _MIX
    return np.asarray(values ^ (values >> np.uint64(27)))


def _sides(forest: Forest, top: AnyArray) -> list[tuple[AnyArray, IntArray]]:
    """For left and right, per node: a number for the levels that go there, another one for others, and how many.

    The number has a bit for every level, where they are few.
    """
    sides = forest.sides
    wide = np.flatnonzero(top[forest.attribute[sides.nodes]] > _BITS)
    bits = np.uint64(1) << (sides.codes.astype(np.uint64) % np.uint64(_BITS))
    out = []
    numbers: dict[tuple[int, ...], int] = {}
    for side, kept in enumerate((sides.is_left, ~sides.is_left)):
        levels, lengths = np.zeros(forest.n_nodes, np.uint64), np.zeros(forest.n_nodes, np.int64)
        if len(sides.nodes):
            levels[sides.nodes] = np.bitwise_or.reduceat(np.where(kept, bits, np.uint64(0)), sides.offsets[:-1])
            lengths[sides.nodes] = np.add.reduceat(kept.astype(np.int64), sides.offsets[:-1])
        for node in sides.nodes[wide].tolist():
            levels[node] = numbers.setdefault(sides[node][side], 1 + len(numbers))
        out.append((levels, lengths))
    return out
