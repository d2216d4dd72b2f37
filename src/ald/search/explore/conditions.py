"""The best condition on every attribute, from counts per bin: an interval, a set of levels, or none.

All groups under study and all attributes are looked at together: arrays have one row per group, and a column per
condition. The people of a condition are those between two rows of running counts: over bins in their order, or over
levels in the order of their rates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, pairwise

import numpy as np

from ald._core.arrays import BoolArray, FloatArray, IntArray
from ald.data.coarse import CoarseColumn
from ald.groups.tree import CodedCondition
from ald.search.explore.evidence import Yardstick
from ald.search.explore.prices import Prices
from ald.search.explore.scoring import Scorer

# With several rates no order of levels is exact: up to so many levels every subset is looked at.
_ENUMERATED = 6


@dataclass(frozen=True, kw_only=True, eq=False)
class _Options:
    """The conditions on one attribute: the people of each are those between the rows `low` and `high`.

    kinds: where each kind of them ends; the best ones of all kinds are compared by what they are worth. prices: beside
    other conditions, and alone. orders: how many orders of the levels there are; 0 if the rows are the bins or subsets.
    """

    column: CoarseColumn
    rows: int
    low: IntArray
    high: IntArray
    kinds: tuple[int, ...]
    prices: FloatArray
    orders: int = 0

    def condition(self, attribute: int, chosen: int, orders: Sequence[IntArray]) -> CodedCondition:
        """The condition of that number; `orders`: the group's orders of the levels."""
        n = self.column.n
        if not self.column.nominal:
            edges = self.column.edges
            return CodedCondition(attribute, int(edges[self.low[chosen]]), int(edges[self.high[chosen]]))
        if not self.orders:
            members = np.flatnonzero(_all_subsets(n)[chosen])
        else:
            which = chosen // (2 * (n - 1))
            start, end = (int(row) - which * (n + 1) for row in (self.low[chosen], self.high[chosen]))
            members = np.sort(orders[which][start:end])
        return CodedCondition(attribute, 0, 0, tuple(self.column.levels[members].tolist()))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Layout:
    """The conditions on some attributes, one after the other.

    row_at: where the rows of every attribute start, and the end; at: where its conditions do; start: where every kind
    of conditions starts, and the end; kinds: the kinds of every attribute, filled up with the number of all; owner:
    the attribute of every condition, by its place among these.
    """

    attributes: tuple[int, ...]
    options: tuple[_Options, ...]
    row_at: list[int]
    low: IntArray
    high: IntArray
    prices: FloatArray
    owner: IntArray
    at: list[int]
    start: list[int]
    kinds: IntArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Best:
    """Per group and attribute the best condition's log p plus its own price (infinite: there is none)."""

    value: FloatArray
    _chosen: IntArray
    _layout: _Layout
    _orders: dict[int, list[IntArray]]

    def condition(self, group: int, place: int) -> CodedCondition:
        """The best condition of a group on an attribute, by its place among those asked for."""
        orders = [order[group] for order in self._orders.get(place, [])]
        chosen = int(self._chosen[group, place]) - self._layout.at[place]
        return self._layout.options[place].condition(self._layout.attributes[place], chosen, orders)


class Conditions:
    """All conditions that are looked at, on every attribute of a data set: the same for all groups."""

    def __init__(self, prices: Prices, n_rates: int) -> None:
        self.prices, self.n_rates = prices, n_rates
        self.columns = prices.view.columns
        self._options: dict[int, _Options] = {}
        self._layouts: dict[tuple[int, ...], _Layout] = {}

    def best(
        self,
        scorer: Scorer,
        comparison: Yardstick,
        attributes: Sequence[int],
        tables: Sequence[IntArray],
        alone: BoolArray,
    ) -> Best:
        """The best condition on every attribute given its counts per bin: tables [groups, bins + 1, all strata].

        comparison: whom groups are compared with. alone: whether there is no other condition, [groups, attributes].
        """
        layout = self._layout(tuple(attributes))
        groups = len(tables[0])
        running, orders = self._running(scorer, layout, tables)
        first = np.arange(groups)[:, None]
        low, high = ((first * running.shape[1] + rows).ravel() for rows in (layout.low, layout.high))
        value = comparison.between(running.reshape(-1, running.shape[2]), low, high).reshape(groups, -1)
        price = np.where(alone[:, layout.owner], layout.prices[1], layout.prices[0])
        # log p is about minus half the statistic: that is enough to choose by.
        gain = value - 2.0 * price
        chosen = np.zeros((groups, len(layout.start)), np.int64)
        for kind, (start, end) in enumerate(pairwise(layout.start)):
            chosen[:, kind] = gain[:, start:end].argmax(axis=1) + start
        kinds = chosen[:, :-1]
        strength = value[first, kinds]
        # The column after the last kind stands for none.
        score = np.full(chosen.shape, np.inf)
        score[:, :-1] = np.where(strength > 0, scorer.log_p(strength) + price[first, kinds], np.inf)
        by_kind = score[:, layout.kinds]
        best = by_kind.argmin(axis=2)
        places = np.arange(len(layout.attributes))
        return Best(
            value=by_kind[first, places, best],
            _chosen=chosen[first, layout.kinds[places, best]],
            _layout=layout,
            _orders=orders,
        )

    def _running(
        self, scorer: Scorer, layout: _Layout, tables: Sequence[IntArray]
    ) -> tuple[IntArray, dict[int, list[IntArray]]]:
        """The running counts of all attributes, [groups, rows, all strata], and the orders of levels that have some."""
        groups, _, width = tables[0].shape
        running, group = np.zeros((groups, layout.row_at[-1], width), np.int64), np.arange(groups)[:, None]
        several = [place for place, options in enumerate(layout.options) if options.orders]
        orders = _orders(scorer, [tables[place][:, : layout.options[place].column.n] for place in several])
        found = dict(zip(several, orders, strict=True))
        for place, (options, table) in enumerate(zip(layout.options, tables, strict=True)):
            start, n = layout.row_at[place], options.column.n
            table = table[:, :n]
            if options.orders:
                for order in found[place]:
                    table[group, order].cumsum(axis=1, out=running[:, start + 1 : start + 1 + n])
                    start += n + 1
            elif options.column.nominal and options.rows:
                np.matmul(_all_subsets(n), table, out=running[:, start + 1 : start + options.rows])
            elif options.rows:
                table.cumsum(axis=1, out=running[:, start + 1 : start + 1 + n])
        return running, found

    def _layout(self, attributes: tuple[int, ...]) -> _Layout:
        if attributes not in self._layouts:
            self._layouts[attributes] = self._make_layout(attributes)
        return self._layouts[attributes]

    def _make_layout(self, attributes: tuple[int, ...]) -> _Layout:
        for j in attributes:
            if j not in self._options:
                self._options[j] = self._levels(j) if self.columns[j].nominal else self._intervals(j)
        options = tuple(self._options[j] for j in attributes)
        row_at = [0, *np.cumsum([one.rows for one in options]).tolist()]
        at, start = [0], [0]
        n_kinds = [len(one.kinds) for one in options]
        kinds = np.full((len(options), max(n_kinds) or 1), sum(n_kinds))
        for place, one in enumerate(options):
            kinds[place, : len(one.kinds)] = np.arange(len(start) - 1, len(start) - 1 + len(one.kinds))
            start += [at[-1] + end for end in one.kinds]
            at.append(start[-1])
        none = np.zeros(0, np.int64)
        return _Layout(
            attributes=attributes,
            options=options,
            row_at=row_at,
            low=np.concatenate([none, *(row + one.low for row, one in zip(row_at, options, strict=False))]),
            high=np.concatenate([none, *(row + one.high for row, one in zip(row_at, options, strict=False))]),
            prices=np.concatenate([np.zeros((2, 0)), *(one.prices for one in options)], axis=1),
            owner=np.repeat(np.arange(len(options)), [len(one.low) for one in options]),
            at=at,
            start=start,
            kinds=kinds,
        )

    def _intervals(self, attribute: int) -> _Options:
        """All intervals of bins: those with one bound, then those with two."""
        column, people = self.columns[attribute], self.prices.root_people(attribute)
        low, high, n_bounds = _all_intervals(column.n)
        share = people[high] - people[low]
        sides = [(slice(n_bounds), False), (slice(n_bounds, None), True)]
        kinds = [(part, two) for part, two in sides if len(low[part])]
        prices = [
            [self.prices.interval(attribute, share[part], two_sided=two, alone=alone) for part, two in kinds]
            for alone in (False, True)
        ]
        return _Options(
            column=column,
            rows=column.n + 1 if len(low) else 0,
            low=low,
            high=high,
            kinds=tuple(np.cumsum([len(low[part]) for part, _ in kinds]).tolist()),
            prices=np.array([np.concatenate([np.zeros(0), *one]) for one in prices]),
        )

    def _levels(self, attribute: int) -> _Options:
        """The sets of levels to look at: all, if they are few, else heads and tails of orders by the levels' rates.

        With one rate the strongest set of all is a head or a tail of the order by that rate; with prices, nearly so.
        """
        few = self.columns[attribute].n <= (3 if self.n_rates == 1 else _ENUMERATED)
        return self._subsets(attribute) if few else self._heads_and_tails(attribute)

    def _subsets(self, attribute: int) -> _Options:
        """All sets of levels: after a row of nobody every set has a row of its own."""
        column = self.columns[attribute]
        sizes = _all_subsets(column.n).sum(axis=1)
        n = len(sizes)
        return _Options(
            column=column,
            rows=n + 1 if n else 0,
            low=np.zeros(n, np.int64),
            high=np.arange(1, n + 1),
            kinds=(n,) if n else (),
            prices=self._level_prices(attribute, sizes),
        )

    def _heads_and_tails(self, attribute: int) -> _Options:
        """The first and the last levels of every order, an order's rows after another's."""
        column = self.columns[attribute]
        n, orders = column.n, 1 if self.n_rates == 1 else self.n_rates + 2
        heads = np.arange(1, n)
        low, high = np.concatenate([np.zeros_like(heads), heads]), np.concatenate([heads, np.full_like(heads, n)])
        start = np.repeat(np.arange(orders) * (n + 1), len(low))
        return _Options(
            column=column,
            rows=orders * (n + 1),
            low=start + np.tile(low, orders),
            high=start + np.tile(high, orders),
            kinds=tuple(len(low) * (order + 1) for order in range(orders)),
            prices=self._level_prices(attribute, np.tile(high - low, orders)),
            orders=orders,
        )

    def _level_prices(self, attribute: int, sizes: IntArray) -> FloatArray:
        """The prices of sets of so many levels, beside other conditions and alone."""
        return np.stack([self.prices.levels(attribute, sizes, alone=alone) for alone in (False, True)])


def _orders(scorer: Scorer, tables: Sequence[IntArray]) -> list[list[IntArray]]:
    """Per attribute, given the counts of its levels, the orders of these by their rates: [groups, levels] each."""
    if not tables:
        return []
    # One look at the levels of all attributes.
    mean = scorer.level_means(np.concatenate(tables, axis=1))
    directions = [mean[0]] if len(mean) == 1 else [*mean, mean.sum(axis=0), mean[0] - mean[1:].sum(axis=0)]
    bounds = np.cumsum([0, *(table.shape[1] for table in tables)]).tolist()
    return [
        [np.argsort(direction[:, start:end], axis=1, kind="stable") for direction in directions]
        for start, end in pairwise(bounds)
    ]


@cache
def _all_intervals(n: int) -> tuple[IntArray, IntArray, int]:
    """All proper intervals of n bins: their ends, those with one bound first, and how many these are."""
    pairs = np.array([pair for pair in combinations(range(n + 1), 2) if pair != (0, n)], dtype=np.int64).reshape(-1, 2)
    two_sided = (pairs[:, 0] > 0) & (pairs[:, 1] < n)
    pairs = pairs[np.argsort(two_sided, kind="stable")]
    return pairs[:, 0].copy(), pairs[:, 1].copy(), int(np.count_nonzero(~two_sided))


@cache
def _all_subsets(n: int) -> IntArray:
    """All proper subsets of n levels."""
    numbers = np.arange(1, (1 << n) - 1)
    return ((numbers[:, None] >> np.arange(n)) & 1).astype(np.int64)
