"""A list without repetition, chosen on D1: which groups are tested on D2, in which order, and given which others.

Round by round the search looks for the strongest group given those already taken (a stratified test), so that no
finding is told twice and a weaker one is not hidden by a stronger one. Nothing here ever sees D2.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import ceil, log, prod

import numpy as np

from ald._core.arrays import BoolArray
from ald.data.coarse import coarse_view
from ald.data.coded import AuditData
from ald.groups.membership import (
    Members,
    correlation,
    correlation_of,
    count_members,
    member_mask,
    membership_strata,
)
from ald.groups.rules import complexity
from ald.groups.tree import CodedCondition, CodedCriterion
from ald.notions import RateCounter
from ald.search.explore.conditions import Conditions
from ald.search.explore.proposals import combinations_beyond_parts, forest_nodes
from ald.search.explore.scoring import ANY_DIFFERENCE, Aim, Scorer
from ald.search.explore.sharpen import Sharpener

# A group whose membership correlates this much with that of one already taken tells the same finding.
SAME = 0.6
# From this share of people on the smaller one of a group and its complement is about as large as the other.
BALANCED = 0.4
# Levels that are quickly said.
_SHORT = 2
# After the first group, the search stops when the best one left is no better than chance on D1 itself.
STOP = 0.25
# Search-adjusted p-value on D1 below which the evidence is clear enough to rank by magnitude.
CLEAR = 0.001
_LEVELS = 40
# Groups taken at most, per group that the list shall have.
PER_LISTED = 4 / 3
# Strata times confusion cells that can be counted: patterns of membership in the groups taken may double with each.
MAX_CELLS = 256
_AT_ONCE = 6
# Single conditions among the places to start from, and places where every round does.
_SINGLES = 8
_STARTS = 4


@dataclass(frozen=True, kw_only=True)
class Representative:
    """A group to be tested, given all representatives before it, and groups close to it that were found too."""

    criterion: CodedCriterion
    also: tuple[CodedCriterion, ...] = ()


def representatives(
    data: AuditData,
    rates: RateCounter,
    nodes: Members,
    groups: int,
    ranking: str = "confidence",
    aim: Aim = ANY_DIFFERENCE,
    threads: int = 1,
) -> tuple[Representative, ...]:
    """The groups to test on D2, in the order in which they condition on each other. `nodes`: those of the forest.

    Ranked by magnitude, a list shall begin with the largest disparities: then of the groups with clear evidence the one
    with the largest plausible |psi| on D1 is taken first, and single levels are looked at too.
    """
    view = coarse_view(data)
    plain = Scorer(view, rates, aim=aim, threads=threads)
    conditions = Conditions(plain.prices, len(rates.rates))
    supported = combinations_beyond_parts(plain, 2) | combinations_beyond_parts(plain, 3)
    best_nodes = forest_nodes(nodes, plain)
    # Seen from one side, or against a reference group, a group and its complement are different findings.
    either_side = aim.direction == 0 and plain.n_references == 1
    taken: list[CodedCriterion] = []
    masks: list[BoolArray] = []
    seen: dict[CodedCriterion, None] = {}
    while len(taken) < ceil(PER_LISTED * groups):
        patterns = membership_strata(masks) if masks else None
        if patterns is not None and (int(patterns.max()) + 1) * prod(plain.block) > MAX_CELLS:
            break
        scorer = Scorer(view, rates, patterns, aim, plain.prices, threads)
        sharpener = Sharpener(scorer, conditions)
        own = sharpener.singles()
        options = list(dict.fromkeys([*own[:_SINGLES], *supported, *best_nodes]))
        ranked = [criterion for _, criterion in sorted(zip(scorer.values(options).tolist(), options, strict=True))]
        # What is told already may lead on to something new, but takes no place from what is new.
        new = _starts(criterion for criterion in ranked if _is_new(criterion, data, masks))
        found = sharpener.sharpen([*_starts(ranked), *new])
        if not taken:
            found = {c: min(value, supported.get(c, 0.0)) for c, value in found.items()}
        # Sharpening may give a condition up for one that is weaker: those that it began with compete with it.
        found = sharpener.polish(own[:_SINGLES]) | found
        seen |= dict.fromkeys([*found, *own[:_SINGLES]])
        if ranking == "magnitude":
            found |= _single_levels(scorer)
        order = [(criterion, found[criterion]) for criterion in _order(found, scorer, ranking)]
        # Where all ways lead to what is told already, the best place to start from is the best group that is new.
        order += [(criterion, sharpener.value(criterion)) for criterion in new[:1]]
        best = next((c for c, value in order if not taken or (value < log(STOP) and _is_new(c, data, masks))), None)
        if best is None:
            break
        taken.append(simplest(best, data) if either_side else best)
        masks.append(member_mask(taken[-1], data))
    return _fold(taken, masks, list(seen), data, either_side, threads)


def _starts(ranked: Iterable[CodedCriterion]) -> list[CodedCriterion]:
    """The first places to start from, no two of them on the same attributes."""
    chosen: dict[tuple[int, ...], CodedCriterion] = {}
    for criterion in ranked:
        if len(chosen) == _STARTS:
            break
        chosen.setdefault(tuple(condition.attribute for condition in criterion), criterion)
    return list(chosen.values())


def _order(found: dict[CodedCriterion, float], scorer: Scorer, ranking: str) -> list[CodedCriterion]:
    """The groups found in the order in which they are considered: by evidence, or by |psi| where it is clear."""
    by_evidence = sorted(found, key=lambda c: (found[c], c))
    if ranking != "magnitude":
        return by_evidence
    differences, base = scorer.differences(count_members(by_evidence, scorer.view.data, scorer.threads))
    psi = np.abs(differences)
    overall = (scorer.hits / np.maximum(scorer.bases, 1))[:, None]
    # One standard error up: a small group's disparity may well be the larger one, and D2 will tell.
    plausible = (psi + np.sqrt(overall * (1 - overall) / np.maximum(base, 1))).mean(axis=0).tolist()
    clear = [i for i, criterion in enumerate(by_evidence) if found[criterion] < log(CLEAR)]
    first = [by_evidence[i] for i in sorted(clear, key=lambda i: (-plausible[i], by_evidence[i]))]
    return [*first, *(criterion for criterion in by_evidence if criterion not in set(first))]


def _single_levels(scorer: Scorer) -> dict[CodedCriterion, float]:
    """Every single level of the unordered attributes that do not have very many."""
    columns = [(j, column) for j, column in enumerate(scorer.view.columns) if column.nominal and column.n <= _LEVELS]
    criteria = [(CodedCondition(j, 0, 0, (level,)),) for j, column in columns for level in column.levels.tolist()]
    return dict(zip(criteria, scorer.values(criteria).tolist(), strict=True)) if criteria else {}


def _is_new(criterion: CodedCriterion, data: AuditData, masks: Sequence[BoolArray]) -> bool:
    """Whether a group is another finding than all those taken, given by their rows."""
    if not masks:
        return True
    mask = member_mask(criterion, data)
    return all(abs(correlation(mask, other, data)) < SAME for other in masks)


def simplest(best: CodedCriterion, data: AuditData) -> CodedCriterion:
    """Of a group of one condition and its complement, the smaller one, then the one with fewer words.

    Of two that are about as large it is the one with fewer words: rather one race than all others.
    """
    others = complement(best, data)
    if not others:
        return best
    # The complement of the complement: told by the levels that it lacks, where these are few.
    options = [*others, *complement(others[0], data)]
    people = {c: data.people(member_mask(c, data)) for c in options}
    words = {c: complexity(c, data.attributes) for c in options}
    smallest = min(options, key=lambda c: (people[c], words[c], c))
    shortest = min(options, key=lambda c: (words[c], people[c], c))
    long = words[smallest] > words[shortest] and words[smallest][-1] > _SHORT
    return shortest if long and people[smallest] >= BALANCED * data.total else smallest


def complement(criterion: CodedCriterion, data: AuditData) -> list[CodedCriterion]:
    """Everyone else as a criterion of one condition, where that can say it: nobody without a value is left out."""
    if len(criterion) != 1:
        return []
    (c,) = criterion
    attribute = data.attributes[c.attribute]
    if c.levels:
        rest = attribute.others(c.levels)
        if not attribute.is_told_by(c.levels):
            # Named one by one: a level that the search never saw satisfies no condition.
            present = np.bincount(data.codes[c.attribute], minlength=attribute.size) > 0
            rest = tuple(code for code in rest if present[code])
        return [(CodedCondition(c.attribute, 0, 0, rest),)] if rest else []
    if bool((data.codes[c.attribute] == attribute.size).any()):
        return []
    if c.low == 0:
        return [(CodedCondition(c.attribute, c.high, attribute.size),)]
    return [(CodedCondition(c.attribute, 0, c.low),)] if c.high == attribute.size else []


def _fold(
    taken: Sequence[CodedCriterion],
    masks: Sequence[BoolArray],
    seen: Sequence[CodedCriterion],
    data: AuditData,
    either_side: bool,
    threads: int,
) -> tuple[Representative, ...]:
    """The representatives, each with the groups found that are close to it."""
    also: list[list[CodedCriterion]] = [[] for _ in taken]
    others = Members([criterion for criterion in seen if criterion not in taken] if taken else [], data.attributes)
    # Per group taken the others' people outside and inside of it.
    tables = [others.count(replace(data, cells=mask.view(np.uint8), n_cells=2), threads) for mask in masks]
    sizes, n = [float(data.people(mask)) for mask in masks], float(data.total)
    for i, criterion in enumerate(others.criteria):
        people = [table[i].tolist() for table in tables]
        # Signed: the complement of a group is other people.
        alike = [correlation_of(n, sum(own), size, own[1]) for own, size in zip(people, sizes, strict=True)]
        if max(alike) >= SAME:
            also[alike.index(max(alike))].append(criterion)
        elif either_side and min(alike) <= -SAME:
            # A group that was found from its other side.
            rest = [c for c in complement(criterion, data) if c not in taken and c not in seen]
            also[alike.index(min(alike))] += rest
    return tuple(Representative(criterion=c, also=tuple(others)) for c, others in zip(taken, also, strict=True))


def nearest_nodes(criteria: Sequence[CodedCriterion], nodes: Members, data: AuditData, threads: int = 1) -> list[int]:
    """Per group the position of the forest's node whose people are most alike (for pictures of the search)."""
    if not criteria:
        return []
    if len(criteria) > _AT_ONCE:
        rest = nearest_nodes(criteria[_AT_ONCE:], nodes, data, threads)
        return nearest_nodes(criteria[:_AT_ONCE], nodes, data, threads) + rest
    # One count for all groups: people per node and pattern of membership.
    masks = [member_mask(criterion, data) for criterion in criteria]
    pattern = membership_strata(masks)
    first_row = np.empty(int(pattern.max()) + 1, dtype=np.int64)
    first_row[pattern] = np.arange(len(pattern))
    patterns = np.stack(masks)[:, first_row]
    split = replace(data, cells=pattern.astype(np.uint8), n_cells=len(first_row))
    counts = nodes.count(split, threads).astype(float)
    both, size = counts @ patterns.T, (patterns @ split.cell_counts()).astype(float)
    in_node, n = counts.sum(axis=1)[:, None], float(data.total)
    spread = np.sqrt(np.maximum(in_node * (n - in_node) * size * (n - size), 1.0))
    alike = (n * both - in_node * size) / spread
    # Of equals the one that the forest has last, at the first place where it has it.
    first, last = np.empty((2, len(nodes.criteria)), dtype=np.int64)
    places = np.arange(len(nodes.which))
    last[nodes.which], first[nodes.which[::-1]] = places, places[::-1]
    order = np.argsort(-last)
    return [int(at) for at in first[order[np.argmax(alike[order], axis=0)]]]
