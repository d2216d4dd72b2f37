"""What every system is given and gives back: coded data in, ranked criteria out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ald._core.arrays import FloatArray
from ald.baselines import get_system
from ald.baselines.paths import paths
from ald.data.coded import AuditData
from ald.errors import SettingError, nearest
from ald.groups.derived import Derived, extend_data
from ald.groups.membership import count_members
from ald.groups.rules import Candidates, candidates, named_in
from ald.groups.tree import CodedCriterion, Forest
from ald.notions import RateCounter
from ald.search.forest.splitting import two_sample


@dataclass(frozen=True, kw_only=True)
class Search:
    """What a system may look at. `given`: the attribute named beforehand, for systems that need one."""

    data: AuditData
    rates: RateCounter
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    alpha: float = 0.1
    given: str | None = None

    def given_attribute(self) -> int:
        """The position of the attribute named beforehand."""
        names = [attribute.name for attribute in self.data.attributes]
        if self.given not in names:
            raise SettingError(
                f"there is no attribute {self.given!r} among those audited. {nearest(str(self.given), names)}"
            )
        return names.index(self.given)


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """Criteria, best first by the system's own score. They may use derived attributes, which follow the data's own.

    `forest`: the trees that they are leaves of, in the order of `at`; without it a tree is made of every criterion.
    """

    criteria: tuple[CodedCriterion, ...]
    score: tuple[float, ...]
    derived: tuple[Derived, ...] = ()
    forest: Forest | None = None
    at: tuple[int, ...] = ()


def ranked_leaves(forest: Forest, data: AuditData, rates: RateCounter) -> Ranked:
    """The distinct leaves of a forest by their statistic against everyone else in this data."""
    found = candidates(forest, data)
    positions = {key: i for i, key in enumerate(zip(forest.tree.tolist(), forest.node.tolist(), strict=True))}
    at = [positions[key] for key in zip(found.tree, found.node, strict=True)]
    scores = statistics(found.criteria, data, rates)
    order = np.argsort(-scores, kind="stable").tolist()
    return Ranked(
        criteria=tuple(found.criteria[i] for i in order),
        score=tuple(scores[order].tolist()),
        forest=forest,
        at=tuple(at[i] for i in order),
    )


def statistics(criteria: Sequence[CodedCriterion], data: AuditData, rates: RateCounter) -> FloatArray:
    """The two-sample statistic of every group against everyone else."""
    if not criteria:
        return np.zeros(0)
    inside, everyone = count_members(criteria, data), data.cell_counts()
    hits, bases = rates.hit(everyone)[:, None], rates.base(everyone)[:, None]
    return two_sample(rates, rates.hit(inside), rates.base(inside), hits, bases, rates.margin(hits, bases))


def propose(
    method: str, data: AuditData, rates: RateCounter, rng: np.random.Generator, *, alpha: float
) -> tuple[Candidates, Forest]:
    """What the system that a method names proposes for this data, and the trees that show how."""
    system, given = get_system(method)
    return propose_ranked(system.search(Search(data=data, rates=rates, rng=rng, alpha=alpha, given=given)), data)


def propose_ranked(ranked: Ranked, data: AuditData) -> tuple[Candidates, Forest]:
    """The criteria as an audit takes them, each with its place in a forest: the system's own, or one path each."""
    data = extend_data(data, ranked.derived)
    forest, at = (ranked.forest, list(ranked.at)) if ranked.forest is not None else paths(ranked.criteria, data)
    found = Candidates(
        criteria=tuple(named_in(criterion, data) for criterion in ranked.criteria),
        tree=tuple(forest.tree[at].tolist()),
        node=tuple(forest.node[at].tolist()),
        derived=ranked.derived,
    )
    return found, forest
