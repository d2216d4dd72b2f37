"""From a forest to candidate criteria: the leaves' paths, each group once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ald.criterion import Criterion
from ald.data.coded import Attribute, AuditData
from ald.search.tree import CodedCondition, CodedCriterion, Forest


@dataclass(frozen=True, kw_only=True)
class Candidates:
    """Distinct criteria with the tree and node that proposed each first."""

    criteria: tuple[CodedCriterion, ...]
    tree: tuple[int, ...]
    node: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.criteria)


def candidates(forest: Forest, data: AuditData) -> Candidates:
    """The criteria of all leaves, without repetition and without "everyone". `data` is what the forest grew on."""
    present = [
        np.flatnonzero(np.bincount(code, minlength=attribute.size)[: attribute.size]).tolist()
        if attribute.kind == "ordinal"
        else []
        for attribute, code in zip(data.attributes, data.codes, strict=True)
    ]
    paths = forest.criteria()
    seen: dict[CodedCriterion, int] = {}
    for i in np.flatnonzero(forest.is_leaf).tolist():
        criterion = tuple(_closed(condition, data.attributes, present) for condition in paths[i])
        if criterion:
            seen.setdefault(criterion, i)
    at = list(seen.values())
    return Candidates(criteria=tuple(seen), tree=tuple(forest.tree[at].tolist()), node=tuple(forest.node[at].tolist()))


def _closed(condition: CodedCondition, attributes: Sequence[Attribute], present: Sequence[list[int]]) -> CodedCondition:
    """The condition with its bounds within the attribute's codes. Ordered levels are named one by one: only those
    that the search saw, since a level it never saw satisfies no condition."""
    attribute = attributes[condition.attribute]
    if condition.levels:
        return condition
    high = min(condition.high, attribute.size)
    if attribute.kind == "ordinal":
        levels = tuple(code for code in present[condition.attribute] if condition.low <= code < high)
        return CodedCondition(condition.attribute, 0, 0, levels)
    return CodedCondition(condition.attribute, condition.low, high)


def decode(criterion: CodedCriterion, attributes: Sequence[Attribute]) -> Criterion:
    """The criterion in the words of the data."""
    return Criterion(
        attributes[c.attribute].level_condition(c.levels)
        if c.levels
        else attributes[c.attribute].condition(c.low, c.high)
        for c in criterion
    )


def complexity(criterion: CodedCriterion, attributes: Sequence[Attribute]) -> tuple[int, int]:
    """Number of conditions, and of levels and bounds named: what a reader has to read."""
    words = sum(len(c.levels) if c.levels else (c.low > 0) + (c.high < attributes[c.attribute].size) for c in criterion)
    return len(criterion), words
