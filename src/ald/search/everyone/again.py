"""Whether random halves of the people lead to the same groups, and by which descriptions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ald._core.arrays import BoolArray, FloatArray, IntArray
from ald._core.threads import in_threads
from ald.data.coded import AuditData, number_values
from ald.groups.membership import Members, member_mask
from ald.groups.rules import named_in
from ald.groups.tree import CodedCriterion
from ald.notions import RateCounter
from ald.search.adapting import few_strata
from ald.search.everyone.sizes import SPLITS, halvings
from ald.search.explore.representatives import MAX_CELLS, representatives
from ald.search.explore.scoring import Aim

# Groups whose memberships correlate at least this much are the same finding.
EQUIVALENT = 0.8
# Strata of legitimate factors leave room for so many patterns of membership in groups that are already taken.
_PATTERNS = 8


@dataclass(frozen=True, kw_only=True)
class Again:
    """In how many of some random halves the search finds a group again, and how often by which description."""

    found: int
    halves: int
    descriptions: tuple[tuple[CodedCriterion, int], ...]


def found_again(
    groups: Sequence[tuple[CodedCriterion, IntArray]],
    data: AuditData,
    rates: RateCounter,
    aim: Aim,
    *,
    seed: int = 0,
    splits: int = SPLITS,
    threads: int = 1,
    tell: Callable[[float], None] = lambda share: None,
) -> list[Again]:
    """Per group how often a search of half of the people, as halves are searched, finds one that is equivalent.

    groups: each with the strata of its round, within which it is told from others.
    """
    if not groups:
        return []
    left = [_within(member_mask(criterion, data), strata, data) for criterion, strata in groups]
    nobody = Members([], data.attributes)

    def search(halves: tuple[IntArray, IntArray]) -> list[CodedCriterion | None]:
        half = data.with_counts(halves[0])
        given = None
        if aim.given is not None:
            limit = max(2, MAX_CELLS // (_PATTERNS * data.n_cells))
            given = few_strata(number_values(aim.given[halves[0] > 0])[1], half, rates, limit)
        own = Aim(given=given, direction=aim.direction, factors=aim.factors)
        found = [named_in(r.criterion, half) for r in representatives(half, rates, nobody, len(groups), aim=own)]
        people = [member_mask(criterion, data) for criterion in found]
        return [
            next((c for c, other in zip(found, people, strict=True) if _same(own_left, other, strata, data)), None)
            for own_left, (_, strata) in zip(left, groups, strict=True)
        ]

    searched = in_threads(search, halvings(data, seed, splits), threads, tell)
    out = []
    for (criterion, _), column in zip(groups, zip(*searched, strict=True), strict=True):
        again = [other for other in column if other is not None]
        named = Counter(_words(other) for other in again)
        # Descriptions that differ in the ends of intervals count together, told by those nearest to the group's own.
        nearest = {
            words: min((c for c in again if _words(c) == words), key=partial(_far, criterion)) for words in named
        }
        ordered = sorted(((nearest[words], n) for words, n in named.items()), key=lambda item: (-item[1], item[0]))
        out.append(Again(found=len(again), halves=len(searched), descriptions=tuple(ordered)))
    return out


def _words(criterion: CodedCriterion) -> tuple[tuple[int, tuple[int, ...]], ...]:
    return tuple((condition.attribute, condition.levels) for condition in criterion)


def _far(criterion: CodedCriterion, other: CodedCriterion) -> tuple[int, CodedCriterion]:
    """How far the ends of intervals are from those of a group."""
    own = {condition.attribute: condition for condition in criterion}
    ends = [(c, own.get(c.attribute, c)) for c in other]
    return sum(abs(a.low - b.low) + abs(a.high - b.high) for a, b in ends), other


def _within(mask: BoolArray, strata: IntArray, data: AuditData) -> FloatArray:
    """Membership less the share of members in everyone's stratum."""
    people = np.bincount(strata, data.counts)
    return np.asarray(mask - (np.bincount(strata, data.counts * mask) / np.maximum(people, 1))[strata])


def _same(left: FloatArray, other: BoolArray, strata: IntArray, data: AuditData) -> bool:
    """Whether memberships within strata are as good as the same."""
    right = _within(other, strata, data)
    spread = float((data.counts * left**2).sum() * (data.counts * right**2).sum())
    return spread > 0 and abs(float((data.counts * left * right).sum())) >= EQUIVALENT * spread**0.5
