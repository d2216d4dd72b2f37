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


def best_condition(scorer: Scorer, attribute: int, tables: IntArray, statistic: Statistic, alone: BoolArray) -> Choice:
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


def _best_interval(scorer: Scorer, attribute: int, tables: IntArray, statistic: Statistic, alone: BoolArray) -> Choice:
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


def _best_levels(scorer: Scorer, attribute: int, tables: IntArray, statistic: Statistic, alone: BoolArray) -> Choice:
    groups, n, _ = tables.shape
    best, members = np.full(groups, np.inf), np.zeros((groups, n), bool)
    nothing = np.zeros(groups, np.int64)
    if n < 2:
        return Choice(value=best, low=nothing, high=nothing, members=members)
    prices = np.stack([scorer.level_prices(attribute, np.arange(n + 1), alone=single) for single in (False, True)])
    cost = prices[alone.astype(np.int64)]
    rows = np.arange(groups)
    for inside, sizes, picked in _level_sets(scorer, tables):
        value = statistic(inside)
        # log p is about minus half the statistic: that is enough to choose by.
        chosen = np.argmax(value - 2.0 * cost[:, sizes], axis=1)
        strength = value[rows, chosen]
        here = np.where(strength > 0, scorer.log_p(strength) + cost[rows, sizes[chosen]], np.inf)
        better = here < best
        best = np.where(better, here, best)
        members[better] = picked(chosen)[better]
    return Choice(value=best, low=nothing, high=nothing, members=members)


# Counts inside of some sets of levels [groups, sets, cells], the sets' sizes, and who is in each group's chosen set.
_LevelSets = tuple[IntArray, IntArray, Callable[[IntArray], BoolArray]]


def _level_sets(scorer: Scorer, tables: IntArray) -> list[_LevelSets]:
    """The sets of levels to look at: all, if they are few, else heads and tails of orders by the levels' rates.

    With one rate the strongest set of all is a head or a tail of the order by that rate; with prices, nearly so.
    """
    n = tables.shape[1]
    rates = scorer.rates
    if n <= (3 if len(rates.rates) == 1 else _ENUMERATED):
        subsets = _all_subsets(n)
        # Exact: sums of integers below 2^53 in floating point, which has fast matrix products.
        inside = (subsets.astype(float) @ tables.astype(float)).astype(np.int64)
        return [(inside, subsets.sum(axis=1), lambda chosen: subsets[chosen].astype(bool))]
    mean = scorer.level_means(tables)
    directions = [mean[0]] if len(mean) == 1 else [*mean, mean.sum(axis=0), mean[0] - mean[1:].sum(axis=0)]
    return [_heads_and_tails(tables, direction) for direction in directions]


def _heads_and_tails(tables: IntArray, direction: FloatArray) -> _LevelSets:
    n = tables.shape[1]
    order = np.argsort(direction, axis=1, kind="stable")
    heads = np.cumsum(np.take_along_axis(tables, order[:, :, None], 1), axis=1)
    inside = np.concatenate([heads[:, :-1], heads[:, -1:] - heads[:, :-1]], axis=1)
    sizes = np.concatenate([np.arange(1, n), np.arange(n - 1, 0, -1)])
    place = np.argsort(order, axis=1)

    def picked(chosen: IntArray) -> BoolArray:
        head = (chosen < n - 1)[:, None]
        cut = np.where(chosen < n - 1, chosen, chosen - (n - 1))[:, None]
        return np.asarray((place <= cut) == head)

    return inside, sizes, picked


@cache
def _all_subsets(n: int) -> IntArray:
    """All proper subsets of n levels."""
    numbers = np.arange(1, (1 << n) - 1)
    return ((numbers[:, None] >> np.arange(n)) & 1).astype(np.int64)
