"""Growing trees breadth-first: one question to the splitter per level, for the open nodes of all trees at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ald._core.arrays import BoolArray, FloatArray, IntArray
from ald._core.segments import owner
from ald.data.coded import Attribute
from ald.groups.tree import Forest, Level, LevelSplits, Sides, in_preorder
from ald.notions import Measure
from ald.search.forest.counting import Routing
from ald.search.forest.rules import GrowthRules
from ald.search.forest.splitter import BestSplits, NodeTest, Splitter


def grow(
    splitter: Splitter,
    attributes: Sequence[Attribute],
    scores: Sequence[FloatArray],
    rates: Measure,
    rules: GrowthRules,
    rngs: Sequence[np.random.Generator],
    *,
    n_cells: int | None = None,
    effect: float = 1.0,
    progress: Callable[[float], None] | None = None,
) -> Forest:
    """Grows all trees, level by level. `n_cells`: the confusion cells, where nodes are counted in several strata."""
    counts = splitter.roots()
    test = NodeTest.of(attributes, scores, rates, rules, n_cells or counts.shape[1], effect)
    n_trees = len(counts)
    level = Level(tree=np.arange(n_trees), parent=np.full(n_trees, -1), is_left=np.zeros(n_trees, bool), counts=counts)
    levels, splits = [], []
    while len(level):
        found = _best_splits(splitter, level, test, rngs)
        levels.append(replace(level, counts=test.in_strata(level.counts).sum(axis=1)))
        splits.append(LevelSplits.none(len(level)) if found is None else _level_splits(level, found))
        if found is None:
            break
        sides = _sides(level, found, test)
        splitter.split(_routing(found, sides, test))
        level = _children(level, found, sides)
        if progress is not None:
            progress(1.0 - test.people(level.counts).sum() / max(int(test.people(counts).sum()), 1))
    if progress is not None:
        progress(1.0)
    return in_preorder(levels, splits, n_trees)


def may_split(counts: IntArray, test: NodeTest) -> BoolArray:
    """When to stop: nodes with enough people and an outcome that is not constant may split, others are leaves."""
    strata = test.in_strata(counts)
    hits, bases = test.rates.hit(strata), test.rates.base(strata)
    varies = (test.rates.margin(hits, bases, test.rates.squares(strata)) > 0).any(axis=(0, 2))
    return np.asarray((test.people(counts) >= test.rules.minsplit) & varies)


def draw_attributes(trees: IntArray, test: NodeTest, rngs: Sequence[np.random.Generator]) -> IntArray:
    """The attributes that each node considers, ascending, from the nodes' trees. Every tree has its own generator."""
    k = len(test.sizes)
    m = test.rules.draw(k)
    if m >= k:
        return np.tile(np.arange(k), (len(trees), 1))
    sizes = np.bincount(trees, minlength=len(rngs)).tolist()
    keys = [rng.random((size, k)) for rng, size in zip(rngs, sizes, strict=True) if size]
    if not keys:
        return np.zeros((0, m), dtype=np.int64)
    return _smallest(np.concatenate(keys), m)


def _smallest(keys: FloatArray, m: int) -> IntArray:
    """The columns of the m smallest numbers of every row, ascending; the first ones of equal numbers."""
    chosen = keys <= np.partition(keys, m - 1, axis=1)[:, m - 1 : m]
    if np.count_nonzero(chosen) == m * len(keys):
        return np.nonzero(chosen)[1].reshape(-1, m)
    return np.sort(np.argsort(keys, axis=1, kind="stable")[:, :m], axis=1)


def _best_splits(
    splitter: Splitter, level: Level, test: NodeTest, rngs: Sequence[np.random.Generator]
) -> BestSplits | None:
    """How the nodes of a level split that may and can; None if none does."""
    nodes = np.flatnonzero(may_split(level.counts, test))
    drawn = draw_attributes(level.tree[nodes], test, rngs)
    if drawn.size == 0:
        return None
    min_bucket = test.rules.min_bucket(test.people(level.counts[nodes]))
    found = splitter.best_splits(nodes, drawn, min_bucket, test)
    return found if len(found.node) else None


@dataclass(frozen=True, kw_only=True)
class _SplitSides:
    """The people of every child per cell, and whether rows without a value of the attribute go left."""

    left: IntArray
    right: IntArray
    missing_left: BoolArray


def _sides(level: Level, found: BestSplits, test: NodeTest) -> _SplitSides:
    """Rows without a value of the attribute follow the larger child; they are on neither side of the criterion."""
    left, right = found.cuts.left, found.cuts.right
    missing = level.counts[found.node] - left - right
    missing_left = test.people(left) > test.people(right)
    return _SplitSides(
        left=left + missing * missing_left[:, None],
        right=right + missing * ~missing_left[:, None],
        missing_left=missing_left,
    )


def _children(level: Level, found: BestSplits, sides: _SplitSides) -> Level:
    """The next level."""
    return Level(
        tree=np.repeat(level.tree[found.node], 2),
        parent=np.repeat(found.node, 2),
        is_left=np.tile([True, False], len(found.node)),
        counts=np.stack([sides.left, sides.right], axis=1).reshape(2 * len(found.node), -1),
    )


def _level_splits(level: Level, found: BestSplits) -> LevelSplits:
    """How the nodes of a level split, as the forest keeps it."""
    cuts = found.cuts
    unordered = np.flatnonzero(cuts.cut < 0)
    sides = Sides(
        nodes=found.node[unordered],
        offsets=np.concatenate([[0], np.cumsum(np.diff(cuts.offsets)[unordered])]),
        codes=cuts.codes,
        is_left=cuts.goes_left,
    )
    splits = replace(LevelSplits.none(len(level)), sides=sides)
    splits.attribute[found.node] = found.attribute
    splits.cut[found.node] = cuts.cut
    splits.statistic[found.node] = found.statistic
    splits.log_p[found.node] = found.log_p
    return splits


def _routing(found: BestSplits, sides: _SplitSides, test: NodeTest) -> Routing:
    """How rows move to the next level."""
    cuts = found.cuts
    return Routing(
        nodes=found.node,
        attributes=found.attribute,
        sizes=test.sizes[found.attribute],
        cut=cuts.cut,
        of_split=owner(cuts.offsets),
        codes=cuts.codes,
        goes_left=cuts.goes_left,
        missing_left=sides.missing_left,
    )
