"""The criteria of a forest's leaves: which of them say something new, and what they say, when somebody asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np

from ald.arrays import AnyArray, IntArray
from ald.search.tree import CodedCondition, CodedCriterion, Forest

# Odd multipliers without a pattern: different criteria have different sums, but for accidents, which are looked at.
_LOW, _HIGH, _LEVELS, _ATTRIBUTE, _MIX = (
    np.uint64(value)
    for value in (
        0x9E3779B97F4A7C15,
        0xC2B2AE3D27D4EB4F,
        0x165667B19E3779F9,
        0xD6E8FEB86659FD93,
        0xBF58476D1CE4E5B9,
    )
)


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
        seen: dict[CodedCriterion, int] = {}
        doubtful = np.flatnonzero(counts[inverse] > 1).tolist()
        repeated = [i for i in doubtful if seen.setdefault(criteria[i], i) != i]
        at, order = (np.delete(column, repeated, axis=0) for column in (found.at, found.order))
        return cls(forest, at, sizes, present, order)

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
        return (named(paths[at], self._present) for at in self.at.tolist())

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
        return named(tuple(conditions[attribute] for attribute in sorted(conditions)), self._present)


def named(criterion: CodedCriterion, present: Mapping[int, list[int]]) -> CodedCriterion:
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
    """All leaves but roots, in order. sums: a number for each that depends on its criterion alone."""

    at: IntArray
    sums: AnyArray
    order: IntArray


def _leaves(forest: Forest, sizes: Sequence[int], present: Mapping[int, list[int]]) -> _Leaves:
    """Goes down all trees at once, level by level, with the bounds and levels of every node."""
    of_sides = _side_sums(forest)
    ranks = {a: np.searchsorted(present[a], np.arange(sizes[a] + 1)) for a in present}
    nodes = np.flatnonzero(forest.parent < 0)
    top = np.array(sizes, dtype=np.int64)
    low, high = np.zeros((len(nodes), len(top)), np.int64), np.tile(top, (len(nodes), 1))
    levels, named_levels = np.zeros(low.shape, np.uint64), np.zeros(low.shape, np.int64)
    found = [_Leaves(at=nodes[:0], sums=levels[:0, :0].sum(axis=1), order=np.zeros((0, 5), np.int64))]
    is_leaf = forest.is_leaf
    while len(nodes):
        ends = np.flatnonzero(is_leaf[nodes] & (forest.parent[nodes] >= 0))
        columns = low[ends], high[ends], levels[ends], named_levels[ends]
        found.append(_described(nodes[ends], *columns, top, ranks))
        inner = np.flatnonzero(~is_leaf[nodes])
        parents = nodes[inner]
        attribute, cut = forest.attribute[parents], forest.cut[parents] + 1
        nodes = np.concatenate([forest.left[parents], forest.right[parents]])
        twice = np.concatenate([inner, inner])
        low, high, levels, named_levels = (column[twice] for column in (low, high, levels, named_levels))
        left, right = np.arange(len(parents)), np.arange(len(parents), 2 * len(parents))
        ordered = cut > 0
        high[left[ordered], attribute[ordered]] = cut[ordered]
        low[right[ordered], attribute[ordered]] = cut[ordered]
        for (sums, lengths), rows in zip(of_sides, (left, right), strict=True):
            place = rows[~ordered], attribute[~ordered]
            levels[place], named_levels[place] = sums[parents[~ordered]], lengths[parents[~ordered]]
    at, sums, order = (np.concatenate([getattr(part, name) for part in found]) for name in ("at", "sums", "order"))
    by_place = np.argsort(at, kind="stable")
    return _Leaves(at=at[by_place], sums=sums[by_place], order=order[by_place])


def _described(
    at: IntArray,
    low: IntArray,
    high: IntArray,
    levels: AnyArray,
    named_levels: IntArray,
    top: IntArray,
    ranks: Mapping[int, AnyArray],
) -> _Leaves:
    bounds = (low > 0) + (high < top).astype(np.int64)
    words = bounds + named_levels
    for a, rank in ranks.items():
        # Ordered levels are named one by one.
        low[:, a], high[:, a] = rank[low[:, a]], rank[high[:, a]]
        words[:, a] = np.where(bounds[:, a] > 0, high[:, a] - low[:, a], 0)
    attribute = np.arange(len(top), dtype=np.uint64) * _ATTRIBUTE
    parts = low.astype(np.uint64) * _LOW + high.astype(np.uint64) * _HIGH + levels * _LEVELS + attribute
    has = bounds + named_levels > 0
    first = has.argmax(axis=1)
    # Conditions that name levels have no bounds.
    has_bounds = (bounds > 0) & ~np.isin(np.arange(len(top)), list(ranks))
    place = np.arange(len(at)), first
    bound = [np.where(has_bounds[place], column[place], 0) for column in (low, high)]
    order = np.stack([np.count_nonzero(has, axis=1), words.sum(axis=1), first, *bound], axis=1)
    return _Leaves(at=at, sums=_mixed(parts).sum(axis=1, dtype=np.uint64), order=order)


def _mixed(values: AnyArray) -> AnyArray:
    values = (values ^ (values >> np.uint64(30))) * _MIX
    return np.asarray(values ^ (values >> np.uint64(27)))


def _side_sums(forest: Forest) -> list[tuple[AnyArray, IntArray]]:
    """For left and right, per node: a number for the levels that go there, and how many they are."""
    sides = forest.sides
    codes = _mixed((sides.codes.astype(np.uint64) + np.uint64(1)) * _LOW)
    out = []
    for kept in (sides.is_left, ~sides.is_left):
        sums, lengths = np.zeros(forest.n_nodes, np.uint64), np.zeros(forest.n_nodes, np.int64)
        for column, values in ((sums, np.where(kept, codes, np.uint64(0))), (lengths, kept.astype(np.int64))):
            running = np.concatenate([values[:0], np.zeros(1, values.dtype), np.cumsum(values, dtype=values.dtype)])
            column[sides.nodes] = running[sides.offsets[1:]] - running[sides.offsets[:-1]]
        out.append((sums, lengths))
    return out
