"""GROW: Step 1. A forest on D1, and the groups to test that it leads to."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ald.data.coded import AuditData, as_counts, merge
from ald.groups.membership import NodeMembers
from ald.groups.rules import Candidates, candidates, named_in
from ald.groups.tree import Forest
from ald.notions import ERROR, SELECTION, Mean, MeanCounter, Rate, RateCounter
from ald.search.adapting import PARTS, amounts_effect, as_shares, beyond_strata, design_effect, few_strata
from ald.search.explore.proposals import not_screened
from ald.search.explore.representatives import MAX_CELLS, nearest_nodes, representatives
from ald.search.explore.scoring import Aim, smallest_group
from ald.search.forest.rules import GrowthRules
from ald.search.forest.sampling import grow_within_memory
from ald.search.giveaways import giveaways, no_search, renumber, without
from ald.search.pool import in_pool, pool_share

if TYPE_CHECKING:
    from ald.options import AuditConfig
    from ald.questions import Question

Progress = Callable[[float], None]
# Strata of legitimate factors leave room for so many patterns of membership in groups that are already taken.
_PATTERNS = 8


def search_rates(question: Question, config: AuditConfig) -> tuple[Rate, ...]:
    """What the trees split on: the notion's own rates, or in the paper's search the error indicator."""
    if config.search == "paper" and question.notion.needs_truth:
        return (ERROR,)
    return question.notion.rates


def propose_groups(
    d1: AuditData,
    question: Question,
    config: AuditConfig,
    rngs: Sequence[np.random.Generator],
    threads: int,
    progress: Progress,
    memory_limit: int | None = None,
) -> tuple[Forest, Candidates]:
    """The forest, and the groups to test; columns that give the outcome away are left out. d1: seen with the question
    in mind.
    """
    if config.mean is not None:
        return _propose_by_amounts(d1, config, config.mean, rngs, threads, progress, memory_limit)
    rates = RateCounter(search_rates(question, config), d1.n_cells)
    effect = design_effect(d1, rates)
    d1 = as_counts(d1)
    if config.system is not None:
        systems = importlib.import_module("ald.baselines.interface")
        proposed, forest = systems.propose(config.system, merge(d1), rates, rngs[0], alpha=config.alpha)
        return forest, proposed
    away = () if config.search == "paper" else giveaways(d1, rates, config.sign, effect, threads)
    found = _search(without(d1, away), rates, effect, config, rngs, threads, progress, memory_limit)
    return renumber(*found, d1, away)


def _propose_by_amounts(
    d1: AuditData,
    config: AuditConfig,
    mean: Mean,
    rngs: Sequence[np.random.Generator],
    threads: int,
    progress: Progress,
    memory_limit: int | None,
) -> tuple[Forest, Candidates]:
    """The same for an outcome that is a number: trees grow on amounts, or on what they are beyond their strata.

    Exploring looks at amounts as shares of people; D2 compares means.
    """
    effect = amounts_effect(d1)
    people, d1 = as_counts(d1), as_counts(beyond_strata(d1))
    told = (lambda share: progress(share / 2)) if config.explores else progress
    rates = MeanCounter(1.0 if mean.better == "higher" else -1.0)
    forest = grow_within_memory(
        d1, rates, GrowthRules(alpha=config.alpha), rngs,
        effect=effect, threads=threads, progress=told, memory_limit=memory_limit,
    )  # fmt: skip
    if not config.explores:
        return forest, candidates(forest, d1)
    shares, times = as_shares(people)
    of_shares = RateCounter((replace(SELECTION, better=mean.better),), shares.n_cells)
    strata = shares.design.strata
    references = 1 if shares.design.reference is None else 2
    limit = max(2, MAX_CELLS // (_PATTERNS * shares.n_cells * references))
    factors = frozenset(i for i, attribute in enumerate(d1.attributes) if attribute.name in config.given)
    aim = Aim(
        given=None if strata is None else few_strata(strata, shares, of_shares, limit),
        direction=config.sign,
        effect=effect * times,
        factors=factors,
        parts=PARTS,
    )
    return forest, explore_from(forest, shares, of_shares, config, aim, threads, progress)


def _search(
    d1: AuditData,
    rates: RateCounter,
    effect: float,
    config: AuditConfig,
    rngs: Sequence[np.random.Generator],
    threads: int,
    progress: Progress,
    memory_limit: int | None,
) -> tuple[Forest, Candidates]:
    """The same among attributes that give nothing away; d1 as counts."""
    if not d1.attributes:
        return no_search(d1.n_cells)
    strata = d1.design.strata
    references = 1 if d1.design.reference is None else 2
    limit = max(2, MAX_CELLS // (_PATTERNS * d1.n_cells * references))
    given = None if strata is None else few_strata(strata, d1, rates, limit)
    forest = grow_within_memory(
        d1, rates, GrowthRules(alpha=config.alpha), rngs,
        given=given, effect=effect, threads=threads, progress=lambda share: progress(share / 2),
        memory_limit=memory_limit,
    )  # fmt: skip
    if not config.explores:
        return forest, candidates(forest, d1)
    share = pool_share(len(d1.cells), d1.total)
    if share < 1.0:
        chosen = in_pool(d1, share, config.seed)
        given = None if given is None else given[np.flatnonzero(chosen)]
        d1 = d1.with_counts(chosen, threads)
    factors = frozenset(i for i, attribute in enumerate(d1.attributes) if attribute.name in config.given)
    aim = Aim(given=given, direction=config.sign, effect=effect, factors=factors)
    return forest, explore_from(forest, d1, rates, config, aim, threads, progress)


def explore_from(
    forest: Forest,
    d1: AuditData,
    rates: RateCounter,
    config: AuditConfig,
    aim: Aim,
    threads: int,
    progress: Progress,
) -> Candidates:
    """The representatives as candidates, each with the forest's node that comes closest to it."""
    progress(0.5)
    nodes = NodeMembers(forest, d1.attributes)
    found = representatives(d1, rates, nodes, config.groups, config.ranking, aim, threads)
    skipped = not_screened(d1)
    nearest = nearest_nodes([r.criterion for r in found], nodes, d1, threads)
    return Candidates(
        criteria=tuple(named_in(r.criterion, d1) for r in found),
        tree=tuple(forest.tree[nearest].tolist()),
        node=tuple(forest.node[nearest].tolist()),
        also=tuple(tuple(named_in(other, d1) for other in r.also) for r in found),
        skipped=skipped,
    )


def why_none(d1: AuditData, question: Question, config: AuditConfig) -> str:
    """Why the search proposed no group. d1: seen with the question in mind."""
    if config.mean is not None:
        if not config.explores:
            return f"no tree finds a split at alpha {config.alpha:g}"
        least = smallest_group(d1.total)
        return (
            f"no condition on one attribute gives a group of {least:,} people or more that differs from as many others"
        )
    rates = RateCounter(search_rates(question, config), d1.n_cells)
    hits, bases = (column(d1.cell_counts()).tolist() for column in (rates.hit, rates.base))
    same = [
        f"the {rate.name} is undefined: no one there counts for it" if base == 0 else
        f"the {rate.name} is {'0' if hit == 0 else '1'} for everyone"
        for rate, hit, base in zip(rates.rates, hits, bases, strict=True)
        if hit in (0, base)
    ]  # fmt: skip
    if len(same) == len(rates.rates):
        return " and ".join(same)
    if config.system is not None:
        return f"{config.system} proposes none"
    if not config.explores:
        return f"no tree finds a split at alpha {config.alpha:g}"
    least = smallest_group(d1.total)
    which = "differs from" if config.direction == "both" else f"is {config.direction} compared with"
    within = " within the strata given" if config.given else ""
    return (
        f"no condition on one attribute gives a group of {least:,} people or more that {which} {least:,} others or "
        f"more{within}"
    )
