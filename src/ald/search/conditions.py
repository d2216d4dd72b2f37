"""The best condition on one attribute, from counts per bin: an interval, a set of levels, or none.

All groups under study are looked at together: arrays have one row per group.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np

from ald.arrays import BoolArray, FloatArray, IntArray
from ald.search.scoring import Scorer

# Evidence of groups from counts of those inside, [groups, choices, cells] -> [groups, choices].
Statistic = Callable[[IntArray], FloatArray]

# With several rates no order of levels is exact: up to so many levels every subset is looked at.
_ENUMERATED = 6


@dataclass(frozen=True, kw_only=True)
class Choice:
    """Per group the best condition on the attribute: log p plus its own price, and which bins it takes."""

    value: FloatArray
    low: IntArray  # ordered attributes: bins [low, high)
    high: IntArray
    members: BoolArray  # unordered attributes: [groups, bins]


def best_condition(
    scorer: Scorer, attribute: int, tables: IntArray, statistic: Statistic, alone: BoolArray
) -> Choice:
    """The best condition on an attribute given its counts per bin: tables [groups, bins + 1, cells of all strata].

    `alone` per group: there is no other condition.
    """
    column = scorer.view.columns[attribute]
    observed = tables[:, : column.n]
    if column.nominal:
        return _best_levels(scorer, attribute, observed, statistic, alone)
    return _best_interval(scorer, attribute, observed, statistic, alone)


@cache
def _intervals(n: int) -> tuple[IntArray, IntArray, BoolArray]:
    """All proper intervals of n bins: their ends, and whether both are inside."""
    pairs = np.array([pair for pair in combinations(range(n + 1), 2) if pair != (0, n)], dtype=np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1], (pairs[:, 0] > 0) & (pairs[:, 1] < n)


def _best_interval(
    scorer: Scorer, attribute: int, tables: IntArray, statistic: Statistic, alone: BoolArray
) -> Choice:
    groups, n, _ = tables.shape
    low, high, two_sided = _intervals(n)
    empty = np.zeros((groups, 0), bool)
    if len(low) == 0:
        nothing = np.zeros(groups, np.int64)
        return Choice(value=np.full(groups, np.inf), low=nothing, high=nothing, members=empty)
    running = np.concatenate([np.zeros_like(tables[:, :1]), np.cumsum(tables, axis=1)], axis=1)
    inside = running[:, high] - running[:, low]
    value = statistic(inside)
    people = scorer.root_people(attribute)
    share = people[high] - people[low]
    best, results = np.full(groups, np.inf), np.zeros((groups, 2), np.int64)
    for kind in (False, True):
        at = np.flatnonzero(two_sided == kind)
        if at.size == 0:
            continue
        price = [scorer.interval_price(attribute, share[at], two_sided=kind, alone=single) for single in (False, True)]
        cost = np.where(alone[:, None], price[1], price[0])
        # log p is about minus half the statistic: that is enough to choose by.
        column = np.argmax(value[:, at] - 2.0 * cost, axis=1)
        strength = value[np.arange(groups), at[column]]
        score = np.where(strength > 0, scorer.log_p(strength) + cost[np.arange(groups), column], np.inf)
        better = score < best
        best = np.where(better, score, best)
        results[better] = np.stack([low[at[column]], high[at[column]]], axis=1)[better]
    return Choice(value=best, low=results[:, 0], high=results[:, 1], members=empty)


def _best_levels(
    scorer: Scorer, attribute: int, tables: IntArray, statistic: Statistic, alone: BoolArray
) -> Choice:
    groups, n, _ = tables.shape
    best, members = np.full(groups, np.inf), np.zeros((groups, n), bool)
    nothing = np.zeros(groups, np.int64)
    if n < 2:
        return Choice(value=best, low=nothing, high=nothing, members=members)
    prices = np.array([[scorer.level_price(attribute, k, alone=a) for k in range(n + 1)] for a in (False, True)])
    cost = prices[alone.astype(np.int64)]
    for subsets in _subsets(scorer, tables):
        inside = subsets.astype(np.int64) @ tables if subsets.ndim == 3 else np.einsum("sb,gbc->gsc", subsets, tables)
        value = statistic(inside)
        sizes = subsets.sum(axis=-1)
        price = np.take_along_axis(cost, sizes, 1) if subsets.ndim == 3 else cost[:, sizes]
        score = np.where(value > 0, scorer.log_p(value) + price, np.inf)
        chosen = np.argmin(score, axis=1)
        here = score[np.arange(groups), chosen]
        better = here < best
        best = np.where(better, here, best)
        picked = subsets[np.arange(groups), chosen] if subsets.ndim == 3 else subsets[chosen]
        members[better] = picked[better].astype(bool)
    return Choice(value=best, low=nothing, high=nothing, members=members)


def _subsets(scorer: Scorer, tables: IntArray) -> list[IntArray]:
    """Sets of levels to look at: [sets, bins] for all groups, or [groups, sets, bins] where they depend on the group.

    With one rate the best set of every size is a head or a tail of the levels ordered by their rate.
    """
    groups, n, _ = tables.shape
    rates = scorer.rates
    if n <= (3 if len(rates.rates) == 1 else _ENUMERATED):
        return [_all_subsets(n)]
    pooled = scorer.pooled(tables)
    hit, base = rates.hit(pooled), rates.base(pooled)
    overall = (scorer.hits / np.maximum(scorer.bases, 1))[:, None, None]
    mean = np.where(base > 0, hit / np.maximum(base, 1), overall) - overall
    mean = mean / np.sqrt(np.maximum(overall * (1 - overall), 1e-12))
    directions = [mean[0]] if len(mean) == 1 else [*mean, mean.sum(axis=0), mean[0] - mean[1:].sum(axis=0)]
    out = []
    for direction in directions:
        place = np.argsort(np.argsort(direction, axis=1, kind="stable"), axis=1)
        sizes = np.arange(1, n)[None, :, None]
        heads = (place[:, None, :] < sizes).astype(np.int64)
        out += [heads, 1 - heads]
    return out


@cache
def _all_subsets(n: int) -> IntArray:
    """All proper subsets of n levels."""
    numbers = np.arange(1, (1 << n) - 1)
    return ((numbers[:, None] >> np.arange(n)) & 1).astype(np.int64)

