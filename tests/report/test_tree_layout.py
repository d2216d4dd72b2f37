"""The tidy layout keeps its laws on any tree."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ald.report.tree_layout import tidy

Children = list[list[int]]


def grown(choices: list[int], most: int) -> Children:
    """A tree: each number says which of the nodes so far gets the next child, if it has room."""
    children: Children = [[]]
    for choice in choices:
        parent = choice % len(children)
        if len(children[parent]) < most:
            children[parent].append(len(children))
            children.append([])
    return children


def depths(children: Children) -> list[int]:
    out = [0] * len(children)
    for node, below in enumerate(children):
        for child in below:
            out[child] = out[node] + 1
    return out


trees = st.builds(grown, st.lists(st.integers(0, 10**6), max_size=80), st.integers(1, 5))


def by_depth(children: Children) -> list[list[int]]:
    """Nodes per depth, from left to right."""
    rows = [[0]]
    while rows[-1]:
        rows.append([child for node in rows[-1] for child in children[node]])
    return rows[:-1]


@given(trees)
def test_nothing_overlaps(children: Children) -> None:
    """Nodes of one depth keep their order and a distance of at least 1."""
    place = tidy(children)
    for row in by_depth(children):
        for left, right in pairwise(row):
            assert place[right] - place[left] >= 1 - 1e-9


@given(trees)
def test_parents_are_centred(children: Children) -> None:
    """A parent stands in the middle between its first and its last child."""
    place = tidy(children)
    for node, below in enumerate(children):
        if below:
            assert place[node] == pytest.approx((place[below[0]] + place[below[-1]]) / 2)


@given(trees)
def test_the_drawing_starts_at_zero_and_is_no_wider_than_its_leaves(children: Children) -> None:
    """Places start at 0, and a binary drawing is at most as wide as one with a place for every leaf."""
    place = tidy(children)
    assert min(place) == 0
    leaves = sum(not below for below in children)
    if all(len(below) in (0, 2) for below in children):
        assert max(place) <= leaves - 1 + 1e-9


@given(trees)
def test_mirrored_trees(children: Children) -> None:
    """The mirror image of a binary tree is drawn as the mirror image."""
    if any(len(below) > 2 for below in children):
        return
    place, mirrored = tidy(children), tidy([below[::-1] for below in children])
    for node in range(len(children)):
        assert mirrored[node] == pytest.approx(max(place) - place[node])


@given(trees)
def test_same_tree_same_places(children: Children) -> None:
    """The layout is a function of the tree."""
    assert tidy(children) == tidy([list(below) for below in children])


def test_equal_subtrees_are_drawn_equally() -> None:
    """Subtrees of the same shape have the same inner distances, wherever they stand."""
    #      0
    #   1     2
    #  3 4   5 6        3 and 6 have a pair of children each
    children = [[1, 2], [3, 4], [5, 6], [7, 8], [], [], [9, 10], [], [], [], []]
    place = tidy(children)
    assert place[8] - place[7] == place[10] - place[9] == 1
    assert place[4] - place[3] == place[6] - place[5]


def test_deep_and_large_trees() -> None:
    """A chain of 20,000 nodes and a tree of 65,535 are no problem: nothing recurses."""
    assert tidy([[i + 1] for i in range(19_999)] + [[]]) == [0.0] * 20_000
    n = 2**16 - 1
    whole = [[2 * i + 1, 2 * i + 2] if 2 * i + 2 < n else [] for i in range(n)]
    place = tidy(whole)
    assert max(place) == 2**15 - 1


def test_rows_share_no_place() -> None:
    """A thread of the contour leads past a shallow subtree: the deep one beside it does not reach into it."""
    children: Children = [[1, 2, 3], [4], [], [5, 6, 7], [8], [], [], [], [9, 10], [], []]
    place = tidy(children)
    used: dict[int, list[float]] = defaultdict(list)
    for node, depth in enumerate(depths(children)):
        used[depth].append(round(place[node], 6))
    assert all(len(set(row)) == len(row) for row in used.values())
