"""Search trees as reports show them: every node in numbers and words, with the path of a group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ald.data.coded import Attribute
from ald.groups.criterion import format_bound
from ald.groups.tree import Forest
from ald.notions import Notion, RateCounter
from ald.report.words import shorten
from ald.results.details import TreePeople
from ald.statistics.basics import round_reported

# Characters of a short branch.
_SHORT = 18


@dataclass(frozen=True, kw_only=True)
class TreeNode:
    """A node: its people, their disparity against all others of the tree, and how it splits.

    `parent` and `children` are positions in the tree's nodes. `branch` says which values lead here from the parent, and
    `short_branch` the same where there is no room for many levels. `below`: how many nodes the tree has below this one.
    """

    id: int
    parent: int
    children: tuple[int, ...]
    depth: int
    n: int
    share: float
    psi: float | None
    rates: tuple[float | None, ...]
    rates_outside: tuple[float | None, ...]
    attribute: str
    log_p: float | None
    branch: str
    short_branch: str
    below: int


@dataclass(frozen=True, kw_only=True)
class Tree:
    """A search tree in preorder, grown for these rates. Its number counts from 0, as in the document.

    Nodes with too few people to be shown are not among its nodes, nor what stands beside and below them.

    `on_search`: its people are those on whom it was grown, and not those who tested.
    """

    number: int
    notion: Notion
    nodes: tuple[TreeNode, ...]
    on_search: bool

    @property
    def whose(self) -> str:
        """Whose numbers its nodes have, in a sentence."""
        if self.on_search:
            return "Numbers are of the people on whom the tree was grown, where chance looks like disparity."
        return "Numbers are of the people who were kept for the tests, by the conditions that lead to a node."

    def path(self, node: int) -> tuple[int, ...]:
        """The positions from the root to the node with this id, as far as they are shown."""
        return tuple(i for i, each in enumerate(self.nodes) if each.id <= node <= each.id + each.below)


def tree_of(forest: Forest, number: int, notion: Notion, people: TreePeople | None = None) -> Tree:
    """One tree of the forest, its disparities measured by the notion, among these people or those of the search."""
    at = np.flatnonzero(forest.tree == number)
    base, n = int(at[0]), len(at)
    cells = forest.counts.shape[1]
    known = [] if people is None else [(0,) * cells if row is None else row for row in people.counts]
    counts = forest.counts[at] if people is None else np.array(known, dtype=np.int64)
    is_small = [False] * n if people is None else [row is None for row in people.counts]
    rates = RateCounter(notion.rates, counts.shape[1])
    outside = counts[0] - counts
    inside_rates, outside_rates = rates.values(counts), rates.values(outside)
    psi = notion.psi(inside_rates - outside_rates)
    parent, left, right = ((column[at] - base).tolist() for column in (forest.parent, forest.left, forest.right))
    attribute, cut, log_p = (column[at].tolist() for column in (forest.attribute, forest.cut, forest.log_p))
    depth, below, branch, short = [0] * n, [0] * n, [""] * n, [""] * n
    for i in range(n):
        if attribute[i] >= 0:
            sides = forest.sides.get(base + i)
            for child, words in zip(
                (left[i], right[i]), _branches(forest.attributes[attribute[i]], cut[i], sides), strict=True
            ):
                branch[child], short[child] = ", ".join(words), _short(words)
            depth[left[i]] = depth[right[i]] = depth[i] + 1
    for i in range(n - 1, 0, -1):
        below[parent[i]] += below[i] + 1
    sizes = rates.people(counts)
    ends = [attribute[i] < 0 or is_small[left[i]] or is_small[right[i]] for i in range(n)]
    gone = [False] * n
    for i in range(1, n):
        gone[i] = gone[parent[i]] or ends[parent[i]]
    place = np.cumsum([not each for each in gone]).tolist()  # one more than the position among those that are shown
    nodes = tuple(
        TreeNode(
            id=i + 1,
            parent=place[parent[i]] - 1 if i else -1,
            children=() if ends[i] else (place[left[i]] - 1, place[right[i]] - 1),
            depth=depth[i],
            n=int(sizes[i]),
            share=float(sizes[i] / max(int(sizes[0]), 1)),
            psi=round_reported(psi[i]),
            rates=tuple(round_reported(value) for value in inside_rates[:, i].tolist()),
            rates_outside=tuple(round_reported(value) for value in outside_rates[:, i].tolist()),
            attribute="" if ends[i] else forest.attributes[attribute[i]].name,
            log_p=None if ends[i] else round_reported(log_p[i]),
            branch=branch[i],
            short_branch=short[i],
            below=below[i],
        )
        for i in range(n)
        if not gone[i]
    )
    return Tree(number=number, notion=notion, nodes=nodes, on_search=people is None)


def _branches(
    attribute: Attribute, cut: int, sides: tuple[Sequence[int], Sequence[int]] | None
) -> tuple[list[str], list[str]]:
    """Which values go left and right."""
    if sides is not None:
        left, right = ([_level(attribute.levels[code]) for code in codes] for codes in sides)
        return left, right
    if attribute.values is not None:
        bound = format_bound(float(attribute.values[cut]), attribute.kind)
    else:
        bound = _level(attribute.levels[cut])
    return [f"≤ {bound}"], [f"> {bound}"]


def _short(words: list[str]) -> str:
    """The values in few characters: the first of many, and how many more there are."""
    text = ", ".join(words)
    return text if len(words) == 1 or len(text) <= _SHORT else f"{shorten(words[0], _SHORT - 6)} + {len(words) - 1}"


def _level(level: str | None) -> str:
    return "missing" if level is None else level if level else '""'
