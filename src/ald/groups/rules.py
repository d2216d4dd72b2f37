"""From a forest to candidate criteria: the leaves' paths, each group once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ald._core.arrays import IntArray
from ald.data.coded import Attribute, AuditData
from ald.groups.criterion import Criterion
from ald.groups.derived import Derived
from ald.groups.leaves import LeafCriteria, name_levels
from ald.groups.membership import Leaves
from ald.groups.tree import CodedCriterion, Forest


@dataclass(frozen=True, kw_only=True)
class Candidates:
    """Distinct criteria with the tree and node that proposed each first. `leaves`: if all are leaves of one forest.

    `giveaways`: the conditions that give the outcome away, on attributes without which was searched.
    `skipped`: what the search did not look at, in words.
    """

    criteria: Sequence[CodedCriterion]
    tree: tuple[int, ...]
    node: tuple[int, ...]
    also: tuple[tuple[CodedCriterion, ...], ...] = ()
    derived: tuple[Derived, ...] = ()
    giveaways: tuple[CodedCriterion, ...] = ()
    skipped: str = ""
    # Not compared: another way to say the same criteria, and arrays have no single answer to "equal".
    leaves: Leaves | None = field(default=None, compare=False)

    def __len__(self) -> int:
        return len(self.criteria)


def candidates(forest: Forest, data: AuditData) -> Candidates:
    """The criteria of all leaves, without repetition and without "everyone". `data` is what the forest grew on."""
    present = _present(data)
    sizes = [attribute.size for attribute in data.attributes]
    criteria = LeafCriteria.of(forest, sizes, present)
    at = criteria.at
    return Candidates(
        criteria=criteria,
        tree=tuple(forest.tree[at].tolist()),
        node=tuple(forest.node[at].tolist()),
        leaves=Leaves(forest=forest, at=at, present=present),
    )


def _present(data: AuditData) -> dict[int, list[int]]:
    """Per ordered attribute with levels: the levels that occur."""
    return {
        a: np.flatnonzero(np.bincount(code, minlength=attribute.size)[: attribute.size]).tolist()
        for a, (attribute, code) in enumerate(zip(data.attributes, data.codes, strict=True))
        if attribute.kind == "ordinal"
    }


def named_in(criterion: CodedCriterion, data: AuditData) -> CodedCriterion:
    """The criterion with ordered levels named one by one, as `candidates` gives it."""
    return name_levels(criterion, _present(data))


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


def simplicity(criteria: Sequence[CodedCriterion], some: Sequence[int], attributes: Sequence[Attribute]) -> IntArray:
    """What some of the criteria are ordered by, as far as that is a few numbers: [some, 5].

    Their complexity, then attribute, low and high of the first condition.
    """
    if isinstance(criteria, LeafCriteria):
        return np.asarray(criteria.order[some])
    rows = [(*complexity(criteria[i], attributes), *(criteria[i][0][:3] if criteria[i] else (-1, 0, 0))) for i in some]
    return np.array(rows, dtype=np.int64).reshape(-1, 5)
