"""Columns that give the outcome away: one condition on such a column tells nearly everyone's outcome. Judged on D1.

The column is a copy of the outcome, was filled in after it, or is the rule itself. It hides all else, so the search
goes on without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ald._core.arrays import IntArray
from ald.data.coded import Attribute, AuditData, weighted_bincount
from ald.groups.rules import Candidates, candidates
from ald.groups.tree import CodedCondition, CodedCriterion, Forest
from ald.notions import RateCounter
from ald.search.forest.counting import MemoryCounter

# Who gives everyone the more frequent outcome errs; who goes by the condition errs at most this often in comparison.
LEFT = 0.2
# Fewer of the first errors say nothing: chance may leave none.
ERRORS = 20
# Levels of fewer people are taken together, for one person's level always tells this person's outcome.
PER_LEVEL = 5


class _Told(NamedTuple):
    """How many errors a condition leaves, and by what equally good ones are ordered: its words, its people."""

    errors: int
    words: int
    people: int
    condition: CodedCondition


def giveaways(
    d1: AuditData, rates: RateCounter, sign: int = 0, effect: float = 1.0, threads: int = 1
) -> tuple[CodedCriterion, ...]:
    """One condition for each attribute that gives the outcome away, those that leave the fewest errors first.

    sign: -1 where only disadvantaged groups count, 1 where only advantaged ones do. effect: by how much clusters or
    weights make people count too much.
    """
    return judge_tables(d1.attributes, _tables(d1, threads), rates, errors_of_guessing(d1, rates), sign, effect)


def _tables(d1: AuditData, threads: int) -> Iterator[IntArray]:
    """Per attribute the people per code (the last one: missing) and cell."""
    n = len(d1.attributes)
    found = MemoryCounter(d1, [d1.counts], threads).histograms(np.zeros(n, np.int64), np.arange(n))
    for attribute, (start, end) in zip(d1.attributes, pairwise(found.offsets.tolist()), strict=True):
        table = np.zeros((attribute.size + 1, d1.n_cells), np.int64)
        table[found.codes[start:end]] = found.counts[start:end]
        yield table


def errors_of_guessing(d1: AuditData, rates: RateCounter) -> IntArray:
    """Per rate how many people differ from the more frequent outcome, within strata of legitimate factors."""
    strata = np.zeros(len(d1.cells), np.int64) if d1.design.strata is None else d1.design.strata
    n = int(strata.max(initial=0)) + 1
    table = weighted_bincount(strata * d1.n_cells + d1.cells, d1.counts, n * d1.n_cells).reshape(n, d1.n_cells)
    hits = rates.hit(table)
    return np.asarray(np.minimum(hits, rates.base(table) - hits).sum(axis=1))


def judge_tables(
    attributes: Sequence[Attribute],
    tables: Iterable[IntArray],
    rates: RateCounter,
    guessing: IntArray,
    sign: int = 0,
    effect: float = 1.0,
) -> tuple[CodedCriterion, ...]:
    """The same from counts alone. tables: per attribute the people per code (the last one: missing) and cell.

    guessing: as `errors_of_guessing` has them.
    """
    sides = (rates.signs * sign).astype(np.int64).tolist()
    found = []
    for number, (attribute, table) in enumerate(zip(attributes, tables, strict=True)):
        hits, bases = rates.hit(table), rates.base(table)
        for hit, base, side, errors in zip(hits, bases, sides, guessing.tolist(), strict=True):
            if errors < ERRORS * effect:
                continue
            told = min(_conditions(number, attribute, hit, base - hit, (side,) if side else (1, -1), effect))
            if told.errors <= LEFT * errors:
                found.append((told.errors / errors, told))
    best: dict[int, CodedCriterion] = {}
    for _, told in sorted(found):
        best.setdefault(told.condition.attribute, (told.condition,))
    return tuple(best.values())


def _conditions(
    number: int, attribute: Attribute, hits: IntArray, misses: IntArray, sides: Sequence[int], effect: float
) -> Iterator[_Told]:
    """The condition that tells best who is a hit (side 1), and the one that tells who is a miss (side -1)."""
    people = hits + misses
    for side in sides:
        inside, outside = (hits, misses) if side > 0 else (misses, hits)
        if attribute.is_nominal:
            chosen = _levels(inside[: attribute.size] - outside[: attribute.size], people[: attribute.size], effect)
            condition, words = CodedCondition(number, 0, 0, tuple(chosen.tolist())), len(chosen)
        else:
            low, high = _interval(inside[: attribute.size] - outside[: attribute.size])
            chosen = low + np.flatnonzero(people[low:high])
            levels = attribute.kind == "ordinal"
            condition = CodedCondition(number, *((0, 0, tuple(chosen.tolist())) if levels else (low, high)))
            words = len(chosen) if levels else (low > 0) + (high < attribute.size)
        errors = int(inside.sum() - inside[chosen].sum() + outside[chosen].sum())
        yield _Told(errors, words, int(people[chosen].sum()), condition)


def _levels(excess: IntArray, people: IntArray, effect: float) -> IntArray:
    """The levels of which more people are on this side than on the other, small ones all together."""
    small = people < PER_LEVEL * effect
    inside = np.where(small, excess[small].sum() > 0, excess > 0)
    return np.flatnonzero(inside & (people > 0))


def _interval(excess: IntArray) -> tuple[int, int]:
    """The run of codes [low, high) of the largest sum; without a bound where it does not need one."""
    running = np.concatenate([[0], np.cumsum(excess)])
    gains = running - np.minimum.accumulate(running)
    high = len(excess) if gains[-1] == gains.max() else int(np.argmax(gains))
    return int(np.argmin(running[: high + 1])), high


def without(data: AuditData, giveaways: Sequence[CodedCriterion]) -> AuditData:
    """The data without the attributes that give the outcome away."""
    kept = kept_beside(data, giveaways)
    return replace(data, attributes=tuple(data.attributes[a] for a in kept), codes=tuple(data.codes[a] for a in kept))


def renumber(
    forest: Forest, found: Candidates, data: AuditData, giveaways: tuple[CodedCriterion, ...]
) -> tuple[Forest, Candidates]:
    """What a search without these attributes found, with the numbers that attributes have in the whole data."""
    if not giveaways:
        return forest, found
    kept = kept_beside(data, giveaways)
    forest = replace(forest, attribute=np.array([*kept, -1])[forest.attribute])
    if found.leaves is not None:
        return forest, replace(candidates(forest, data), giveaways=giveaways)

    def whole(criterion: CodedCriterion) -> CodedCriterion:
        return tuple(condition._replace(attribute=kept[condition.attribute]) for condition in criterion)

    criteria = tuple(whole(criterion) for criterion in found.criteria)
    also = tuple(tuple(whole(other) for other in others) for others in found.also)
    return forest, replace(found, criteria=criteria, also=also, giveaways=giveaways)


def kept_beside(data: AuditData, giveaways: Sequence[CodedCriterion]) -> list[int]:
    """The numbers of all other attributes."""
    left_out = {condition.attribute for (condition,) in giveaways}
    return [a for a in range(len(data.attributes)) if a not in left_out]


def no_search(n_cells: int) -> tuple[Forest, Candidates]:
    """What there is to find where every attribute gives the outcome away."""
    return Forest.concatenate([], n_cells), Candidates(criteria=(), tree=(), node=())
