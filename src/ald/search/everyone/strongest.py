"""The strongest group in every lane: the best of log p plus price over all descriptions.

Of the conditions on an attribute, and of the crossings of some combinations, only the best one is priced exactly: that
with the largest statistic less cost.

In a stratum the people of a group, and the hits of everyone, are the same in every shuffle. So how many hits a group
lets expect, and their variance, are known once: a lane takes one count, one difference and one square per group.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ald._core import kernels
from ald._core.arrays import AnyArray, CodeArray, FloatArray, IntArray
from ald._core.threads import in_threads
from ald.data.columns import compact
from ald.data.joint import joint_tables
from ald.groups.tree import CodedCriterion
from ald.search.everyone.descriptions import Batch, Descriptions, Single
from ald.search.everyone.layout import Layout
from ald.search.everyone.shuffles import LANES
from ald.statistics.basics import chi2_log_sf
from ald.statistics.stratified import NO_VARIANCE

# A group whose membership correlates this much with that of one already taken tells the same finding.
SAME = 0.6


@dataclass(frozen=True, kw_only=True, eq=False)
class Strongest:
    """Per lane the value (log p plus price) of the strongest group, and that of lane 0 of the first block."""

    values: FloatArray
    first: CodedCriterion


@dataclass(frozen=True, kw_only=True, eq=False)
class _Work:
    """Groups that are counted and compared together.

    columns, sizes, parts, offsets, slots: as the kernel counts them, [people] each; crossing: of the groups of a
    combination, its part and its number there.
    """

    columns: Sequence[CodeArray]
    sizes: IntArray
    parts: IntArray
    offsets: IntArray
    slots: AnyArray
    n_slots: int
    low: IntArray
    high: IntArray
    expected: FloatArray
    scale: FloatArray
    prices: FloatArray
    costs: FloatArray
    single: Single | None = None
    batch: Batch | None = None
    crossing: tuple[IntArray, IntArray] | None = None
    heads: tuple[IntArray, IntArray, FloatArray] | None = None


class Round:
    """All descriptions in one layout of people: made ready once, for any number of lanes."""

    def __init__(
        self,
        described: Descriptions,
        layout: Layout,
        *,
        sides: FloatArray | None = None,
        taken: IntArray | None = None,
        threads: int = 1,
    ) -> None:
        """sides: per rate 1 or -1 if only such a difference counts, else 0. taken: whether every stratum is in each of
        the groups that are already taken, [groups, strata]: what is nearly one of them is left out."""
        self.described, self.layout, self.threads = described, layout, threads
        self.rates = layout.rates
        self.sides = np.zeros(self.rates) if sides is None else sides
        self.taken = np.zeros((0, layout.n_strata), np.int64) if taken is None else taken
        self._strata = np.asarray(layout.strata)
        self._rate = layout.rate_of_people()
        self._everyone = self._bases([], [], [()])[0][0].sum(axis=1)
        self._work = [self._single(single) for single in described.singles]
        for combined in dict.fromkeys(batch.combined for batch in described.batches):
            columns = [column.bins for column in combined.columns]
            of_people = [compact(column[layout.rows], 255) for column in columns]
            batches = [batch for batch in described.batches if batch.combined is combined]
            self._work += in_threads(partial(self._crossings, columns=columns, of_people=of_people), batches, threads)

    def strongest(self, words: AnyArray, told: Callable[[float], None] = lambda share: None) -> Strongest:
        """The strongest group in every lane of these words."""
        if not self._work:
            return Strongest(values=np.full(len(words) * LANES, np.inf), first=())
        found = in_threads(lambda work: self._best(work, words), self._work, self.threads, told)
        values = np.array([value for value, _ in found])
        best = int(np.argmin(values[:, 0]))
        return Strongest(values=values.min(axis=0), first=found[best][1])

    # What is the same in all lanes

    def _bases(
        self, columns: Sequence[CodeArray], sizes: Sequence[int], parts: Sequence[tuple[int, ...]]
    ) -> list[IntArray]:
        """People per combination of codes, stratum and rate (the last: none): [crossings, strata, rates + 1]."""
        every = [*columns, self._strata]
        chosen = [(*part, len(columns)) for part in parts]
        tables = joint_tables(every, [*sizes, self.layout.n_strata], chosen, self.layout.data)
        return [table.reshape(-1, self.layout.n_strata, self.rates + 1) for table in tables]

    def _terms(self, bases: IntArray) -> tuple[FloatArray, FloatArray]:
        """Per group and rate the hits that are expected, and one by their variance; 0 if it is not looked at."""
        base = np.moveaxis(bases[..., : self.rates], -1, 1).astype(float)
        expected = (base * self.layout.share).sum(axis=-1)
        variance = (self.layout.weight * (base * (self.layout.size - base))).sum(axis=-1)
        scale = np.where(variance > NO_VARIANCE, 1.0 / np.where(variance > NO_VARIANCE, variance, 1.0), 0.0)
        scale[~self._allowed(bases.sum(axis=-1))] = 0.0
        return expected, scale

    def _allowed(self, people: IntArray) -> AnyArray:
        """Whether groups are large enough, and others than those taken: people [groups, strata]."""
        n, total, smallest = people.sum(axis=-1), self.described.people, self.described.smallest
        allowed = (n >= smallest) & (total - n >= smallest)
        for taken in self.taken:
            inside, both = float(self._everyone @ taken), people @ taken
            spread = n * (total - n) * inside * (total - inside)
            alike = np.abs(total * both - n * inside) >= SAME * np.sqrt(np.maximum(spread, 0.0))
            allowed &= ~alike | (spread <= 0)
        return np.asarray(allowed)

    def _single(self, single: Single) -> _Work:
        n = single.column.n
        bins = single.column.bins
        bases = self._bases([bins], [n + 1], [(0,)])[0]
        columns, sizes, part = [compact(bins[self.layout.rows], n)], [n + 1], [0]
        slots = np.repeat(np.where(np.arange(n + 1) < n, np.arange(n + 1), -1)[:, None], self.rates, axis=1)
        if self.rates > 1:
            columns, sizes, part = [*columns, self._rate], [*sizes, self.rates], [0, 1]
            slots = np.where(slots >= 0, slots * self.rates + np.arange(self.rates), -1)
        low, high = single.low, single.high
        heads = None
        if single.by_rates:
            of_levels = np.moveaxis(bases[:n, :, : self.rates], -1, 1)
            share = self.layout.share
            expected = (of_levels * share).sum(axis=-1)
            scale = (of_levels * (share * (1.0 - share))).sum(axis=-1)
            heads = (bases[:n].sum(axis=(1, 2)), np.ascontiguousarray(of_levels), scale)
        else:
            rows = single.rows(bases)
            expected, scale = self._terms(rows[high] - rows[low])
        return _Work(
            columns=columns,
            sizes=np.array(sizes, np.int64),
            parts=np.array(part, np.int64),
            offsets=np.array([0, slots.size], np.int64),
            slots=slots.astype(np.int32).ravel(),
            n_slots=n * self.rates,
            low=low,
            high=high,
            expected=np.ascontiguousarray(expected),
            scale=np.ascontiguousarray(scale),
            prices=single.prices,
            costs=single.costs,
            single=single,
            heads=heads,
        )

    def _crossings(self, batch: Batch, columns: Sequence[CodeArray], of_people: Sequence[CodeArray]) -> _Work:
        sizes, parts, ends, prices = batch.combined.sizes, batch.parts, batch.ends, batch.prices
        bases = np.concatenate(self._bases(columns, sizes, parts))
        expected, scale = self._terms(bases)
        # Crossings that are not looked at are not even counted.
        used = np.flatnonzero(np.isfinite(prices) & scale.any(axis=1))
        part_of = np.searchsorted(ends, used, side="right")
        slots = np.full((len(prices), self.rates), -1, np.int64)
        slots[used] = np.arange(len(used))[:, None] * self.rates + np.arange(self.rates)
        chosen = np.array(parts, np.int64)
        everyone: Sequence[CodeArray] = of_people
        if self.rates > 1:
            everyone, sizes = [*of_people, self._rate], [*sizes, self.rates]
            chosen = np.column_stack([chosen, np.full(len(parts), len(of_people))])
        return _Work(
            columns=everyone,
            sizes=np.array(sizes, np.int64),
            parts=chosen.ravel(),
            offsets=np.concatenate([[0], ends * self.rates]),
            slots=slots.astype(np.int32).ravel(),
            n_slots=len(used) * self.rates,
            low=np.zeros(len(used), np.int64),
            high=np.arange(1, len(used) + 1),
            expected=np.ascontiguousarray(expected[used]),
            scale=np.ascontiguousarray(scale[used]),
            prices=prices[used],
            costs=batch.costs[used],
            batch=batch,
            crossing=(part_of, used - np.concatenate([[0], ends])[part_of]),
        )

    # What differs from lane to lane

    def _best(self, work: _Work, words: AnyArray) -> tuple[FloatArray, CodedCriterion]:
        kernel, lanes = kernels.lanes(), len(words) * LANES
        table = np.zeros((self.rates + work.n_slots, lanes), np.int32)
        counts = table[self.rates :]
        kernel.count(work.columns, work.sizes, work.parts, work.offsets, work.slots, words, counts)
        if work.heads is not None:
            return self._best_heads(work, counts, lanes)
        if work.single is not None:
            table = np.ascontiguousarray(work.single.rows(counts.reshape(-1, self.rates, lanes)))
        statistic, at = np.empty(lanes), np.empty(lanes, np.int64)
        kernel.best(
            table, lanes, work.low, work.high, work.expected, work.scale, work.costs, self.sides,
            np.array([0, len(work.low)]), statistic, at,
        )  # fmt: skip
        values = self.log_p(statistic) + np.append(work.prices, np.inf)[at]
        chosen = int(at[0])
        if chosen < 0:
            return values, ()
        if work.single is not None:
            return values, work.single.criterion(chosen)
        assert work.batch is not None
        assert work.crossing is not None
        part, crossing = (int(numbers[chosen]) for numbers in work.crossing)
        return values, work.batch.combined.criterion(work.batch.parts[part], crossing)

    def _best_heads(self, work: _Work, counts: AnyArray, lanes: int) -> tuple[FloatArray, CodedCriterion]:
        assert work.heads is not None
        assert work.single is not None
        people, bases, spread = work.heads
        orders = 1 if self.rates == 1 else self.rates + 2
        statistic, at = np.empty((orders, lanes)), np.empty((orders, lanes), np.int64)
        kernels.lanes().best_heads(
            np.ascontiguousarray(counts), lanes, people, self.described.smallest, bases, self.layout.weight,
            self.layout.size, work.expected, spread, work.costs, self.sides, statistic, at,
        )  # fmt: skip
        # A set of levels and its complement have one price, however it is told.
        values = self.log_p(statistic) + np.where(at == 0, np.inf, work.prices[np.abs(at)])
        order = int(np.argmin(values[:, 0]))
        chosen = int(at[order, 0])
        if chosen == 0:
            return values.min(axis=0), ()
        first = np.ascontiguousarray(counts[:, 0].reshape(len(people), self.rates))
        levels = self._ordered(first, work.expected, spread, order)
        named = levels[:chosen] if chosen > 0 else levels[chosen:]
        return values.min(axis=0), work.single.of_levels(named)

    def _ordered(self, hits: IntArray, expected: FloatArray, spread: FloatArray, order: int) -> IntArray:
        """The levels in one of the orders by their rates, as the kernel puts them."""
        with np.errstate(divide="ignore", invalid="ignore"):
            means = np.where(spread > 0, (hits - expected) / spread, 0.0).T
        value = means[order if order < self.rates else 0].copy()
        if order == self.rates:
            for mean in means[1:]:
                value += mean
        elif order > self.rates:
            others = means[1].copy()
            for mean in means[2:]:
                others += mean
            value -= others
        return np.argsort(value, kind="stable")

    def log_p(self, statistic: FloatArray) -> FloatArray:
        """log p of sums of statistics over rates."""
        return chi2_log_sf(statistic, np.asarray(self.rates))
