"""The descriptions that are looked at in every lane: conditions on one attribute, and crossings of pairs and triples.

They and their prices depend on who people are, never on outcomes: they are the same for the data and for its shuffles.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise
from math import comb, prod

import numpy as np

from ald._core.arrays import AnyArray, BoolArray, FloatArray, IntArray
from ald.data.coarse import CoarseColumn, CoarseView, coarse_view, coarser
from ald.data.coded import AuditData
from ald.groups.tree import CodedCondition, CodedCriterion
from ald.search.explore.prices import Prices
from ald.search.explore.scoring import smallest_group
from ald.statistics.basics import chi2_isf

# Bins per attribute, by how many attributes are combined.
BINS = {2: 6, 3: 3}
# Attributes with more levels take no part in combinations, and sets of levels are then heads of orders only.
MOST_LEVELS = 12
FEW_LEVELS = {1: 3, 2: 6}
# Triples are looked at while people times triples stay below this.
TRIPLE_WORK = 20_000_000
# The value that the best of all groups has by chance, about; and the smallest log p whose statistic can be told.
_USUAL = -3.0
_TINY = -600.0
# Crossings that are counted together: their tables, all lanes of a block, stay in the cache.
_CROSSINGS_AT_ONCE = 1 << 11


@dataclass(frozen=True, kw_only=True, eq=False)
class Single:
    """The conditions on one attribute: the people between two of its rows, low and high.

    Rows are running counts over bins, the sums of `subsets` of levels after a row of nobody, or, if levels are ordered
    by their rates in every lane, the levels themselves; `prices` and `costs` are then by number of levels.
    """

    attribute: int
    column: CoarseColumn
    low: IntArray
    high: IntArray
    prices: FloatArray
    costs: FloatArray
    subsets: BoolArray | None = None

    @property
    def by_rates(self) -> bool:
        return len(self.low) == 0

    def rows(self, counts: AnyArray) -> AnyArray:
        """The rows of counts per bin (first axis)."""
        counts = counts[: self.column.n]
        if self.subsets is not None:
            sums = np.tensordot(self.subsets.astype(counts.dtype), counts, axes=1)
            return np.concatenate([np.zeros_like(counts[:1]), sums])
        if self.by_rates:
            return counts
        rows = np.zeros((len(counts) + 1, *counts.shape[1:]), counts.dtype)
        np.cumsum(counts, axis=0, out=rows[1:])
        return rows

    def criterion(self, chosen: int) -> CodedCriterion:
        """The condition of that number."""
        if self.subsets is not None:
            return self.of_levels(np.flatnonzero(self.subsets[chosen]))
        edges = self.column.edges
        return (CodedCondition(self.attribute, int(edges[self.low[chosen]]), int(edges[self.high[chosen]])),)

    def of_levels(self, bins: IntArray) -> CodedCriterion:
        """The condition that names the levels of these bins."""
        return (CodedCondition(self.attribute, 0, 0, tuple(np.sort(self.column.levels[bins]).tolist())),)


@dataclass(frozen=True, kw_only=True, eq=False)
class Combined:
    """The crossings of all combinations of so many attributes, in coarse bins.

    bins: per attribute that takes part; missing values are the last one. conditions, prices: of every such bin but that
    of missing values.
    """

    attributes: tuple[int, ...]
    columns: tuple[CoarseColumn, ...]
    parts: tuple[tuple[int, ...], ...]
    conditions: tuple[tuple[CodedCondition, ...], ...]
    prices: tuple[FloatArray, ...]
    choice: float

    @cached_property
    def sizes(self) -> list[int]:
        return [column.n + 1 for column in self.columns]

    def n_crossings(self, part: tuple[int, ...]) -> int:
        """How many crossings there are, missing values included."""
        return prod(self.sizes[k] for k in part)

    def crossing_prices(self, part: tuple[int, ...]) -> FloatArray:
        """The price of every crossing, infinite for missing values: [crossings]."""
        out = np.full((), self.choice)
        for k in part:
            out = out[..., None] + np.append(self.prices[k], np.inf)
        return out.ravel()

    def criterion(self, part: tuple[int, ...], crossing: int) -> CodedCriterion:
        """A crossing as a criterion."""
        place = np.unravel_index(crossing, [self.sizes[k] for k in part])
        return tuple(self.conditions[k][int(b)] for k, b in zip(part, place, strict=True))


@dataclass(frozen=True, kw_only=True, eq=False)
class Batch:
    """Some of the combinations of so many attributes: where the crossings of each end, and what all crossings cost."""

    combined: Combined
    parts: tuple[tuple[int, ...], ...]
    ends: IntArray
    prices: FloatArray
    costs: FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Descriptions:
    """All descriptions of groups of some people."""

    view: CoarseView
    prices: Prices
    singles: tuple[Single, ...]
    batches: tuple[Batch, ...]
    smallest: int

    @property
    def people(self) -> int:
        return self.prices.people


def descriptions(data: AuditData, n_rates: int, factors: frozenset[int] = frozenset()) -> Descriptions:
    """The descriptions of groups of these people that are looked at for so many rates at a time."""
    view = coarse_view(data)
    prices = Prices(view, factors)
    singles = [
        _levels(j, column, prices, n_rates) if column.nominal else _intervals(j, column, prices, n_rates)
        for j, column in enumerate(view.columns)
    ]
    combined = [found for order in BINS if (found := _combined(view, prices, order)) is not None]
    return Descriptions(
        view=view,
        prices=prices,
        singles=tuple(single for single in singles if single is not None),
        batches=tuple(batch for one in combined for batch in _batches(one, n_rates)),
        smallest=smallest_group(prices.people),
    )


def _intervals(j: int, column: CoarseColumn, prices: Prices, n_rates: int) -> Single | None:
    """All proper intervals of bins: those with one bound first."""
    n = column.n
    pairs = np.array([pair for pair in combinations(range(n + 1), 2) if pair != (0, n)], np.int64).reshape(-1, 2)
    if len(pairs) == 0:
        return None
    two_sided = (pairs[:, 0] > 0) & (pairs[:, 1] < n)
    pairs = pairs[np.argsort(two_sided, kind="stable")]
    low, high = pairs[:, 0].copy(), pairs[:, 1].copy()
    n_bounds = int(np.count_nonzero(~two_sided))
    below = prices.root_people(j)
    share = below[high] - below[low]
    own = [
        prices.interval(j, share[:n_bounds], two_sided=False, alone=True),
        prices.interval(j, share[n_bounds:], two_sided=True, alone=True),
    ]
    all_prices = np.concatenate(own) + prices.choice(1)
    return Single(
        attribute=j,
        column=column,
        low=low,
        high=high,
        prices=all_prices,
        costs=_costs(all_prices, n_rates),
    )


def _levels(j: int, column: CoarseColumn, prices: Prices, n_rates: int) -> Single | None:
    """All sets of levels, if they are few; else those that the order of their rates suggests."""
    n = column.n
    if n < 2:
        return None
    by_number = prices.levels(j, np.arange(n + 1), alone=True) + prices.choice(1)
    costs = _costs(by_number, n_rates)
    if n > FEW_LEVELS[min(n_rates, 2)]:
        none = np.zeros(0, np.int64)
        return Single(attribute=j, column=column, low=none, high=none, prices=by_number, costs=costs)
    subsets = ((np.arange(1, (1 << n) - 1)[:, None] >> np.arange(n)) & 1).astype(bool)
    return Single(
        attribute=j,
        column=column,
        low=np.zeros(len(subsets), np.int64),
        high=np.arange(1, len(subsets) + 1),
        prices=by_number[subsets.sum(axis=1)],
        costs=costs[subsets.sum(axis=1)],
        subsets=subsets,
    )


def _combined(view: CoarseView, prices: Prices, order: int) -> Combined | None:
    coarse = coarser(view, BINS[order])
    used = [j for j, column in enumerate(coarse.columns) if 2 <= column.n <= MOST_LEVELS]
    n = comb(len(used), order)
    if n == 0 or (order > 2 and n * prices.people > TRIPLE_WORK):
        return None
    conditions = [tuple(_condition(j, coarse.columns[j], b) for b in range(coarse.columns[j].n)) for j in used]
    return Combined(
        attributes=tuple(used),
        columns=tuple(coarse.columns[j] for j in used),
        parts=tuple(combinations(range(len(used)), order)),
        conditions=tuple(conditions),
        prices=tuple(np.array([prices.condition(c, alone=True) for c in own]) for own in conditions),
        choice=prices.choice(order),
    )


def _condition(j: int, column: CoarseColumn, b: int) -> CodedCondition:
    if column.nominal:
        return CodedCondition(j, 0, 0, (int(column.levels[b]),))
    return CodedCondition(j, int(column.edges[b]), int(column.edges[b + 1]))


def _costs(prices: FloatArray, n_rates: int) -> FloatArray:
    """What statistics have to pay to be compared without their p-values: groups that have a usual best value tie."""
    distinct, which = np.unique(prices, return_inverse=True)
    log_p = _USUAL - distinct
    with np.errstate(under="ignore"):
        statistic = chi2_isf(np.exp(np.maximum(log_p, _TINY)), np.asarray(n_rates))
    return np.where(log_p > _TINY, statistic, statistic + 2.0 * (_TINY - log_p))[which]


def _batches(combined: Combined, n_rates: int) -> list[Batch]:
    """The combinations in batches of about as many crossings."""
    ends = np.cumsum([combined.n_crossings(part) for part in combined.parts])
    batch = (ends - 1) // _CROSSINGS_AT_ONCE
    bounds = [0, *(np.flatnonzero(np.diff(batch)) + 1).tolist(), len(combined.parts)]
    batches = []
    for start, end in pairwise(bounds):
        prices = np.concatenate([combined.crossing_prices(part) for part in combined.parts[start:end]])
        batches.append(
            Batch(
                combined=combined,
                parts=combined.parts[start:end],
                ends=ends[start:end] - (ends[start - 1] if start else 0),
                prices=prices,
                costs=_costs(prices, n_rates),
            )
        )
    return batches
