"""Whether the attributes of a group matter together: a claim of its own about every group of two or three attributes.

The group is tested on D2 beyond the main effects of its attributes' levels or bins (of three attributes beyond their
pairs too), within the strata of the groups before it and of legitimate factors. Bins and levels depend on who the
people of D2 are, never on outcomes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ald._core.arrays import IntArray
from ald.data.coded import Attribute, number_values, quantile_edges
from ald.groups.tree import CodedCondition, CodedCriterion
from ald.notions import Notion, RateCounter
from ald.statistics.basics import combine_bonferroni, combine_fisher
from ald.statistics.beyond import Crossings, Score, score_beyond

# Effects of an attribute, in groups of so many attributes.
MOST_EFFECTS = {2: 24, 3: 8}
# Groups before one that are still told apart: a bit each.
_MOST_BEFORE = 30


@dataclass(frozen=True, kw_only=True, eq=False)
class Asked:
    """A group, as people are to be counted for it.

    columns: per attribute its number, the effect that each of its codes has, and how many effects there are. before:
    the groups in whose strata it is tested. inside: per attribute which effects belong to the group.
    """

    columns: tuple[tuple[int, IntArray, int], ...]
    inside: tuple[IntArray, ...]
    before: tuple[CodedCriterion, ...]


@dataclass(frozen=True)
class Jointly:
    """The people of D2 by what a group is made of: keys and counts per cell, as `people_jointly` numbers them."""

    asked: Asked
    keys: IntArray
    counts: IntArray
    n_strata: int


@dataclass(frozen=True, kw_only=True)
class Combination:
    """The claim that a group's attributes matter together, as it was tested. Fields as in `ald.results.claims`."""

    statistic: float
    df: int
    log_p: float
    as_strong: int | None
    drawn: int | None


def ask(
    criterion: CodedCriterion,
    before: Sequence[CodedCriterion],
    attributes: Sequence[Attribute],
    people_along: Callable[[int], IntArray],
) -> Asked | None:
    """How to count people for a group; None if it does not name two or three attributes.

    people_along: the people per code of an attribute, the last one for "missing".
    """
    if len(criterion) not in MOST_EFFECTS or len(before) > _MOST_BEFORE:
        return None
    most = MOST_EFFECTS[len(criterion)]
    columns, inside = [], []
    for condition in criterion:
        attribute = attributes[condition.attribute]
        effects, belongs = _effects(condition, attribute, people_along(condition.attribute), most)
        columns.append((condition.attribute, effects, len(belongs)))
        inside.append(belongs)
    return Asked(columns=tuple(columns), inside=tuple(inside), before=tuple(before))


def _effects(condition: CodedCondition, attribute: Attribute, people: IntArray, most: int) -> tuple[IntArray, IntArray]:
    """The effect of every code of an attribute, and which effects belong to the condition.

    Runs of ordered codes that hold about as many people, cut at the condition's ends too; levels as they are, the
    rarest ones together. "Missing" has an effect of its own.
    """
    holds = np.zeros(attribute.size + 1, bool)
    holds[list(condition.levels) if condition.levels else slice(condition.low, condition.high)] = True
    if not attribute.is_nominal:
        edges = quantile_edges(people[: attribute.size], most)
        bins = np.append(np.repeat(np.arange(len(edges) - 1), np.diff(edges)), len(edges))
    else:
        order = np.argsort(-people[: attribute.size], kind="stable")
        rank = np.empty(attribute.size, np.int64)
        rank[order] = np.arange(attribute.size)
        bins = np.append(np.minimum(rank, most - 1), most)
    effects = np.unique(2 * bins + holds, return_inverse=True)[1].astype(np.int64)
    belongs = np.zeros(int(effects.max()) + 1, np.int64)
    belongs[effects] = holds
    return effects, belongs


def assess_together(
    people: Jointly, notion: Notion, direction: int = 0, seed: Sequence[int] = (0,)
) -> Combination | None:
    """The test; None where there is nothing to test: the group follows from the effects, or no outcome is left open."""
    asked, counts = people.asked, people.counts
    combination, stratum = np.divmod(people.keys, people.n_strata << len(asked.before))
    strata = number_values(stratum)[1]
    place: list[IntArray] = []
    left = combination
    for _, _, size in reversed(asked.columns):
        left, own = np.divmod(left, size)
        place.insert(0, own)
    member = np.all([belongs[own] for belongs, own in zip(asked.inside, place, strict=True)], axis=0)
    sizes = [size for *_, size in asked.columns]
    families = [
        np.ravel_multi_index([place[k] for k in chosen], [sizes[k] for k in chosen])
        for order in range(1, len(place))
        for chosen in combinations(range(len(place)), order)
    ]
    rates = RateCounter(notion.rates, counts.shape[1])
    sides = (rates.signs * direction).astype(np.int64).tolist()
    scores: list[Score] = []
    hit, bases = rates.hit(counts), rates.base(counts)
    for r in range(len(notion.rates)):
        hits: IntArray = np.asarray(hit[r])
        base: IntArray = np.asarray(bases[r])
        some = base > 0
        if not member[some].any() or member[some].all():
            return None
        crossings = Crossings(
            people=base[some].astype(float),
            member=member[some],
            effects=[number_values(family[some])[1] for family in families],
            strata=number_values(strata[some])[1],
        )
        found = score_beyond(crossings, hits[some].astype(float), sides[r], np.random.default_rng([*seed, r]))
        if found is None:
            return None
        scores.append(found)
    return _combined(scores, rates, sides)


def _combined(scores: Sequence[Score], rates: RateCounter, sides: Sequence[int]) -> Combination:
    """One test of all rates, as those of groups are combined."""
    first = scores[0]
    if len(scores) == 1:
        return Combination(
            statistic=first.statistic, df=1, log_p=first.log_p, as_strong=first.as_strong, drawn=first.drawn
        )
    log_ps = np.array([[one.log_p] for one in scores])
    against = any(sides) and not any(one.difference * side > 0 for one, side in zip(scores, sides, strict=True))
    if rates.disjoint:
        statistic, log_p = combine_fisher(log_ps)
        df = 2 * len(scores)
    else:
        statistic, log_p, df = np.array([max(one.statistic for one in scores)]), combine_bonferroni(log_ps), 1
    return Combination(
        statistic=float(statistic[0]), df=df, log_p=0.0 if against else float(log_p[0]), as_strong=None, drawn=None
    )
