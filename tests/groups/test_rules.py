"""From paths to criteria: each group once, ordered levels by name, in the words of the data."""

from __future__ import annotations

import numpy as np

from ald.data.coded import AuditData
from ald.groups.membership import member_mask
from ald.groups.rules import candidates, complexity, decode, named_in
from ald.groups.tree import CodedCondition
from tests.coded import PARITY, coded, forest_of


def sizes(*levels: str) -> AuditData:
    """People of these sizes, of which all but "xl" have the outcome more and more often."""
    rng = np.random.default_rng(0)
    size = rng.choice(levels, 800)
    y = rng.random(800) < np.select([size == "s", size == "l"], [0.2, 0.8], 0.5)
    return coded(
        {"size": size, "x": rng.integers(0, 5, 800), "y": y.astype(int)}, kinds={"size": ["s", "m", "l", "xl"]}
    )


def test_ordered_levels_are_named() -> None:
    """A range of ordered levels names the levels in it that occur, one by one, without the upper end."""
    j = [attribute.name for attribute in sizes("s", "m", "l", "xl").attributes].index("size")
    everyone, without_m = sizes("s", "m", "l", "xl"), sizes("s", "l", "xl")
    assert named_in((CodedCondition(j, 0, 2),), everyone) == (CodedCondition(j, 0, 0, (0, 1)),)
    assert named_in((CodedCondition(j, 1, 4),), everyone) == (CodedCondition(j, 0, 0, (1, 2, 3)),)
    first = without_m.attributes[j].levels.index("l")
    found = named_in((CodedCondition(j, 0, first + 1),), without_m)
    assert str(decode(found, without_m.attributes)) == "size in {s, l}"


def test_naming_changes_no_membership() -> None:
    """A criterion with its levels named holds for the same people."""
    data = sizes("s", "m", "l", "xl")
    paths = forest_of(data, PARITY).criteria([attribute.size for attribute in data.attributes])
    assert len(paths) > 1
    for path in paths:
        assert np.array_equal(member_mask(path, data), member_mask(named_in(path, data), data))


def test_candidates_are_distinct_leaves() -> None:
    """Every leaf's criterion is a candidate once, with the first tree and node that have it; everyone is none."""
    data = sizes("s", "m", "l", "xl")
    forest = forest_of(data, PARITY, trees=10)
    found = candidates(forest, data)
    paths = forest.criteria([attribute.size for attribute in data.attributes])
    leaves = [named_in(paths[i], data) for i in np.flatnonzero(forest.is_leaf)]
    assert () not in found.criteria
    assert list(found.criteria) == [path for path in dict.fromkeys(leaves) if path]
    for criterion, tree, node in zip(found.criteria, found.tree, found.node, strict=True):
        at = np.flatnonzero((forest.tree == tree) & (forest.node == node))[0]
        assert named_in(paths[at], data) == criterion


def test_complexity_counts_what_is_read() -> None:
    """A reader reads conditions, and in them levels and bounds."""
    data = coded({"g": ["a", "b", "c"] * 20, "x": [i + 0.5 for i in range(60)], "y": [0, 1] * 30})
    g, x = (next(j for j, a in enumerate(data.attributes) if a.name == name) for name in ("g", "x"))
    assert complexity((CodedCondition(g, 0, 0, (0, 2)),), data.attributes) == (1, 2)
    assert complexity((CodedCondition(x, 5, 60),), data.attributes) == (1, 1)
    both = tuple(sorted((CodedCondition(g, 0, 0, (1,)), CodedCondition(x, 5, 20))))
    assert complexity(both, data.attributes) == (2, 3)
