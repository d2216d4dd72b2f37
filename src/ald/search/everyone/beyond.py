"""Combinations of attributes that matter together: beyond the main effects of their attributes.

A crossing of a pair (one level or bin of each) is compared with what the effects of its attributes' levels or bins let
expect, on the scale of rates; one of a triple with those of its pairs too. Its score is the sum of outcomes, weighted
by what is left of its membership after projection on these effects: a fixed linear form of the crossings' hits. How
strong the best one of all combinations is by chance is seen in outcomes drawn from the main effects of all attributes.

Levels, bins and strata are projected out together (Frisch, Waugh and Lovell): people's excess over their stratum's rate
is what is left of outcomes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import combinations
from math import log, prod

import numpy as np

from ald._core import kernels
from ald._core.arrays import AnyArray, CodeArray, FloatArray, IntArray
from ald._core.threads import in_threads
from ald.data.coded import AuditData, number_values
from ald.data.columns import compact
from ald.data.joint import joint_counts
from ald.groups.tree import CodedCriterion
from ald.notions import RateCounter
from ald.search.everyone.descriptions import Batch, Combined, Descriptions, descriptions
from ald.search.everyone.layout import Layout, layout
from ald.search.everyone.rounds import SHUFFLES, Chance, chance, part_of_round
from ald.search.everyone.shuffles import LANES, redrawn
from ald.search.explore.scoring import Aim
from ald.statistics.basics import chi2_log_sf
from ald.statistics.stratified import NO_VARIANCE

# Crossings of a combination that are looked at, missing values included.
_MOST_CROSSINGS = 200
# Effects that are nearly those of others are taken as none: part of the mean of a matrix' diagonal.
_RIDGE = 1e-9
# A crossing's score has no variance to speak of, if it has no more than this per person.
_NOTHING_LEFT = 1e-6
# A variance of 1, in the whole numbers that tables hold.
_UNIT = 1 << 24
# Scores that differ by less than this share are equal.
_TIE = 1e-6
# Digits of fitted chances: what a machine's linear algebra adds must not decide a draw.
_DIGITS = 9
# Of numbers of draws: those of shuffles are below it.
_FIRST_DRAW = 1 << 16


@dataclass(frozen=True, kw_only=True, eq=False)
class Together:
    """A combination that matters beyond its parts, or the best one, which did not matter enough.

    attributes: their numbers; criterion: the crossing with the best score, of several the strongest by itself.
    statistic: that of the score on `df` degrees of freedom; value: its log p plus price. strata: those of the round.
    """

    attributes: tuple[int, ...]
    criterion: CodedCriterion
    statistic: float
    df: int
    value: float
    rates: tuple[int, ...]
    chance: Chance
    log_p: float
    strata: IntArray
    listed: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class _Forms:
    """The linear forms of a batch of combinations, as the kernel takes them."""

    batch: Batch
    columns: Sequence[CodeArray]
    sizes: IntArray
    parts: IntArray
    offsets: IntArray
    slots: AnyArray
    rows_at: IntArray
    groups_at: IntArray
    coefs: FloatArray
    common_coefs: FloatArray
    scale: FloatArray
    prices: FloatArray
    costs: FloatArray
    crossing: tuple[IntArray, IntArray]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Best:
    """The best combination of lane 0: its value and statistic, and its crossings, several if they tie."""

    value: float
    statistic: float
    combined: Combined
    part: tuple[int, ...]
    crossings: IntArray


class Beyond:
    """All combinations in one layout of people: made ready once, for any number of lanes."""

    def __init__(self, described: Descriptions, people: Layout, threads: int = 1) -> None:
        self.described, self.layout, self.threads = described, people, threads
        self.rates, self.n_strata = people.rates, people.n_strata
        self.several = self.n_strata > 1
        data = people.data
        self._all_strata = np.asarray(people.strata)
        self._stratum = self._all_strata[people.rows]
        self._rate = people.rate_of_people()
        self.expected = self._main_effects()
        own = np.append(self.expected, np.zeros((1, len(data.cells))), axis=0)[data.cells, np.arange(len(data.cells))]
        # In whole units: tables are counted.
        self._spread = replace(data, counts=np.rint(data.counts * own * (1.0 - own) * _UNIT).astype(np.int64))
        self._forms: list[_Forms] = []
        for combined in dict.fromkeys(batch.combined for batch in described.batches):
            columns = [column.bins for column in combined.columns]
            of_people = [compact(column[people.rows], 255) for column in columns]
            batches = [batch for batch in described.batches if batch.combined is combined]
            make = partial(self._make, columns=columns, of_people=of_people)
            self._forms += [forms for forms in in_threads(make, batches, threads) if forms is not None]

    def chances(self) -> FloatArray:
        """Every person's chance of a hit by the main effects."""
        return np.asarray(self.expected[self._rate, self.layout.rows])

    def best(
        self, words: AnyArray, told: Callable[[float], None] = lambda share: None
    ) -> tuple[FloatArray, _Best | None]:
        """Per lane the best value of all combinations, and the one that lane 0 has it from."""
        lanes = len(words) * LANES
        common = np.zeros((self.n_strata if self.several else 0, self.rates, lanes), np.int32)
        if self.several:
            sizes = np.array([self.n_strata, self.rates], np.int64)
            columns = [compact(self._stratum, self.n_strata), self._rate]
            slots = np.arange(self.n_strata * self.rates, dtype=np.int32)
            bounds = np.array([0, len(slots)])
            kernels.lanes().count(columns, sizes, np.array([0, 1]), bounds, slots, words, common)
        found = in_threads(lambda forms: self._best(forms, words, common), self._forms, self.threads, told)
        if not found:
            return np.full(lanes, np.inf), None
        values = np.array([value for value, _ in found])
        return values.min(axis=0), found[int(np.argmin(values[:, 0]))][1]

    def _best(self, forms: _Forms, words: AnyArray, common: AnyArray) -> tuple[FloatArray, _Best | None]:
        lanes = len(words) * LANES
        table = np.zeros((int(forms.rows_at[-1]), self.rates, lanes), np.int32)
        kernel = kernels.lanes()
        kernel.count(forms.columns, forms.sizes, forms.parts, forms.offsets, forms.slots, words, table)
        statistic, at = np.empty(lanes), np.empty(lanes, np.int64)
        kernel.best_forms(
            table, common, lanes, self.rates, forms.rows_at, forms.groups_at, forms.coefs, forms.common_coefs,
            forms.scale, forms.costs, statistic, at,
        )  # fmt: skip
        values = chi2_log_sf(statistic, np.asarray(self.rates)) + np.append(forms.prices, np.inf)[at]
        chosen = int(at[0])
        if chosen < 0:
            return values, None
        part, _ = forms.crossing
        some = np.flatnonzero(part == part[chosen])
        worth = (
            self._statistics(forms, some, table[..., 0].astype(np.int64), common[..., 0].astype(np.int64))
            - forms.costs[some]
        )
        best = _Best(
            value=float(values[0]),
            statistic=float(statistic[0]),
            combined=forms.batch.combined,
            part=forms.batch.parts[int(part[chosen])],
            crossings=forms.crossing[1][some[worth >= worth.max() - _TIE * statistic[0]]],
        )
        return values, best

    def _statistics(self, forms: _Forms, some: IntArray, hits: IntArray, common: IntArray) -> FloatArray:
        """The statistics of all groups of one combination in one lane."""
        t = int(np.searchsorted(forms.groups_at, some[0], side="right")) - 1
        rows, groups = np.diff(forms.rows_at), np.diff(forms.groups_at)
        start = int((rows * groups)[:t].sum()) * self.rates
        coefs = forms.coefs[start : start + rows[t] * groups[t] * self.rates].reshape(groups[t], self.rates, rows[t])
        sums = np.einsum("grk,kr->gr", coefs, hits[forms.rows_at[t] : forms.rows_at[t + 1]])
        sums += np.einsum("grs,sr->gr", forms.common_coefs.reshape(len(forms.costs), self.rates, -1)[some], common)
        return np.asarray((sums**2 * forms.scale[some]).sum(axis=1))

    # What is the same in all lanes

    def _tables(
        self, columns: Sequence[CodeArray], sizes: Sequence[int], parts: Sequence[tuple[int, ...]], data: AuditData
    ) -> tuple[IntArray, IntArray]:
        """People per combination of codes, stratum and rate, [crossings, strata, rates], and where each table ends."""
        chosen = np.array([(*part, len(columns)) for part in parts], np.int64).reshape(len(parts), -1)
        counts, ends = joint_counts([*columns, self._all_strata], [*sizes, self.n_strata], chosen, data)
        return counts.reshape(-1, self.n_strata, self.rates + 1)[..., : self.rates], ends // self.n_strata

    def _main_effects(self) -> FloatArray:
        """Per rate and row the chance of a hit by the main effects of all attributes and strata: [rates, rows]."""
        share = self.layout.share[:, self._all_strata]
        combined = next((batch.combined for batch in self.described.batches), None)
        if combined is None:
            return share
        columns, sizes = [column.bins for column in combined.columns], combined.sizes
        starts = np.concatenate([[0], np.cumsum(sizes)])
        n = int(starts[-1])
        out = np.empty_like(share)
        data = self.layout.data
        singles, _ = self._tables(columns, sizes, [(k,) for k in range(len(columns))], data)
        pairs = list(combinations(range(len(columns)), 2))
        joint: list[IntArray] = []
        if pairs:
            counts, ends = self._tables(columns, sizes, pairs, data)
            joint = np.split(counts.sum(axis=1), ends[:-1])
        for r in range(self.rates):
            by_stratum = singles[..., r].astype(float)
            gram = np.diag(by_stratum.sum(axis=1))
            for (a, b), table in zip(pairs, joint, strict=True):
                block = table[:, r].reshape(sizes[a], sizes[b]).astype(float)
                gram[starts[a] : starts[a + 1], starts[b] : starts[b + 1]] = block
                gram[starts[b] : starts[b + 1], starts[a] : starts[a + 1]] = block.T
            size = np.maximum(self.layout.size[r], 1.0)
            gram -= np.einsum("is,js->ij", by_stratum / size, by_stratum)
            hits = np.zeros(n)
            rows, outcome = self.layout.rows[self._rate == r], self.layout.outcome[self._rate == r]
            hit = np.bincount(rows, outcome, len(data.cells))
            for k, column in enumerate(columns):
                hits[starts[k] : starts[k + 1]] = np.bincount(column, hit, sizes[k])
            gram[np.diag_indices(n)] += _RIDGE * max(float(np.trace(gram)) / n, 1e-300)
            effect = np.linalg.solve(gram, hits - by_stratum @ self.layout.share[r])
            mean = (by_stratum * effect[:, None]).sum(axis=0) / size
            fitted = share[r] - mean[self._all_strata]
            for k, column in enumerate(columns):
                fitted = fitted + effect[starts[k] : starts[k + 1]][column]
            out[r] = np.round(np.clip(fitted, 0.0, 1.0), _DIGITS)
        return out

    def _make(self, batch: Batch, columns: Sequence[CodeArray], of_people: Sequence[CodeArray]) -> _Forms | None:
        combined, sizes = batch.combined, batch.combined.sizes
        parts = [t for t, part in enumerate(batch.parts) if combined.n_crossings(part) <= _MOST_CROSSINGS]
        if not parts:
            return None
        chosen = [batch.parts[t] for t in parts]
        tables, ends = self._tables(columns, sizes, chosen, self.layout.data)
        spreads, _ = self._tables(columns, sizes, chosen, self._spread)
        begins = ends - np.diff(ends, prepend=0)
        # Combinations that look alike are made ready together, and follow one another.
        alike: dict[tuple[tuple[int, ...], bytes], list[int]] = {}
        occurs = np.asarray(tables.any(axis=(1, 2)))
        for i, (part, begin, end) in enumerate(zip(chosen, begins.tolist(), ends.tolist(), strict=True)):
            occur = occurs[begin:end].nonzero()[0]
            alike.setdefault((tuple(sizes[k] for k in part), occur.tobytes()), []).append(i)
        starts, smallest, total = np.concatenate([[0], batch.ends]), self.described.smallest, self.described.people
        n_rows, slots, numbers = 0, [], []
        rows, groups, coefs, common, scales = ([] for _ in range(5))
        for (shape, filled), some in alike.items():
            crossings, m = np.frombuffer(filled, np.int64), len(some)
            effects = _effects(filled, shape)
            at = begins[some][:, None] + crossings
            own, spread = tables[at].astype(float), spreads[at].astype(float)
            weights = [self._weights(own[..., r], effects, r, spread[..., r] / _UNIT) for r in range(self.rates)]
            of_rows, of_strata, scale = (np.stack([one[kind] for one in weights], axis=2) for kind in range(3))
            slot = np.full((m, prod(shape), self.rates), -1)
            n_rows_here = m * len(crossings)
            slot[:, crossings] = (n_rows * self.rates + np.arange(n_rows_here * self.rates)).reshape(m, -1, self.rates)
            people = own.sum(axis=(2, 3))
            t = np.array([parts[i] for i in some])
            wanted = (people >= smallest) & (total - people >= smallest) & (scale > 0).any(axis=2)
            wanted &= np.isfinite(batch.prices[starts[t][:, None] + crossings])
            n_rows += n_rows_here
            slots.append(slot.reshape(m, -1))
            rows += [len(crossings)] * m
            groups += np.count_nonzero(wanted, axis=1).tolist()
            coefs.append(of_rows[wanted].ravel())
            common.append(of_strata[wanted].ravel())
            scales.append(scale[wanted])
            which, crossing = np.nonzero(wanted)
            numbers.append(np.stack([t[which], crossings[crossing]]))
        order = [i for some in alike.values() for i in some]
        of_part, crossing = np.concatenate(numbers, axis=1)
        priced = starts[of_part] + crossing
        lengths = np.repeat([one.shape[1] for one in slots], [len(one) for one in slots])
        return _Forms(
            batch=batch,
            columns=[*of_people, self._rate],
            sizes=np.array([*sizes, self.rates], np.int64),
            parts=np.array([(*chosen[i], len(of_people)) for i in order], np.int64).ravel(),
            offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            slots=np.concatenate([one.ravel() for one in slots]).astype(np.int32),
            rows_at=np.concatenate([[0], np.cumsum(rows)]).astype(np.int64),
            groups_at=np.concatenate([[0], np.cumsum(groups)]).astype(np.int64),
            coefs=np.concatenate(coefs),
            common_coefs=np.concatenate(common),
            scale=np.ascontiguousarray(np.concatenate(scales)),
            prices=batch.prices[priced],
            costs=batch.costs[priced],
            crossing=(of_part, crossing),
        )

    def _weights(
        self, table: FloatArray, effects: FloatArray, r: int, spread: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Per combination and crossing the weights of all crossings' hits, of strata's hits, and one by the variance.

        table: people [combinations, crossings, strata]; spread: the sum of their outcomes' variances.
        """
        n = table.shape[1]
        size = np.maximum(self.layout.size[r], 1.0)
        gram = np.eye(n) * table.sum(axis=2)[:, None, :] - (table / size) @ table.swapaxes(1, 2)
        inner = effects.T @ gram @ effects
        mean = np.trace(inner, axis1=1, axis2=2) / len(inner[0])
        inner += np.eye(len(inner[0])) * np.maximum(_RIDGE * mean, 1e-300)[:, None, None]
        solved = np.linalg.solve(inner, effects.T @ gram)
        weights = (np.eye(n) - effects @ solved).swapaxes(1, 2)
        means = (weights @ table) / size
        if not self.several:
            weights, means = weights - means, np.zeros_like(means)
        # The sum of (weight - mean of its stratum)^2 times the variance of outcomes.
        parts = weights**2 @ spread - 2.0 * means * (weights @ spread) + means**2 * spread.sum(axis=1)[:, None, :]
        variance = parts.sum(axis=2)
        usable = variance > np.maximum(NO_VARIANCE, _NOTHING_LEFT * table.sum(axis=2))
        scale = np.where(usable, 1.0 / np.where(usable, variance, 1.0), 0.0)
        return weights, -means if self.several else means[..., :0], scale


@lru_cache(maxsize=4096)
def _effects(crossings: bytes, sizes: tuple[int, ...]) -> FloatArray:
    """The effects that are given: of levels, and in triples of pairs of them: [crossings, effects].

    Each against the first level that occurs, so that none follows from the others where all crossings are there; the
    mean is that of strata.
    """
    place = np.unravel_index(np.frombuffer(crossings, np.int64), sizes)
    levels = [(own[:, None] == np.unique(own)[1:]).astype(float) for own in place]
    columns = list(levels)
    if len(sizes) == 3:
        for a, b in combinations(levels, 2):
            columns.append((a[:, :, None] * b[:, None, :]).reshape(len(a), -1))
    both = np.concatenate(columns, axis=1)
    return np.asarray(both[:, both.any(axis=0)])


class Combinations:
    """Combinations of attributes that matter together, one after the other."""

    def __init__(
        self,
        data: AuditData,
        rates: RateCounter,
        aim: Aim,
        *,
        seed: int = 0,
        draws: int = SHUFFLES,
        level: float = 0.05,
        threads: int = 1,
        described: Sequence[Descriptions] | None = None,
    ) -> None:
        """described: as for the search of groups, where they are known."""
        self.data, self.rates, self.aim = data, rates, aim
        self.seed, self.draws, self.level, self.threads = seed, draws, level, threads
        self.tell: Callable[[float], None] = lambda share: None
        self.given = np.zeros(len(data.cells), np.int64) if aim.given is None else aim.given
        self.sets = [tuple(range(len(rates.rates)))] if rates.disjoint else [(r,) for r in range(len(rates.rates))]
        self.counters = [RateCounter([rates.rates[r] for r in one], data.n_cells) for one in self.sets]
        self.described = described or [descriptions(data, len(one), aim.factors) for one in self.sets]

    def rounds(self) -> Iterator[Together]:
        """Combination after combination, each within the crossings of those before; the last may be one that is not."""
        strata, number = self.given, 0
        while (found := self._round(strata, number)) is not None:
            yield found
            if not found.listed:
                return
            combined = next(b.combined for b in self.described[0].batches if len(b.parts[0]) == len(found.attributes))
            for k in found.attributes:
                column = combined.columns[combined.attributes.index(k)]
                strata = number_values(strata * (column.n + 1) + column.bins)[1]
            number += 1

    def _round(self, strata: IntArray, number: int) -> Together | None:
        results = []
        for which in range(len(self.sets)):
            result, best = self._best(which, strata, _FIRST_DRAW + number * len(self.sets) + which)
            if best is not None:
                results.append((result.p, best.value, which, result, best))
        if not results:
            return None
        _, value, which, result, best = min(results, key=lambda one: one[:3])
        log_p = min(log(result.p) + log(len(self.sets)), 0.0)
        return Together(
            attributes=tuple(best.combined.attributes[k] for k in best.part),
            criterion=self._strongest_crossing(best, which, strata),
            statistic=best.statistic,
            df=len(self.sets[which]),
            value=value,
            rates=self.sets[which],
            chance=result,
            log_p=log_p,
            strata=strata,
            listed=log_p <= log(self.level) + 1e-12,
        )

    def _best(self, which: int, strata: IntArray, number: int) -> tuple[Chance, _Best | None]:
        """The best combination for some rates, and how often outcomes of main effects have one as good."""
        people = layout(self.data, self.counters[which], strata)
        ready = Beyond(self.described[which], people, self.threads)
        chances = ready.chances()
        own: list[_Best | None] = []

        def values(first: int, blocks: int) -> FloatArray:
            words = redrawn(people, chances, self.seed, number, first, blocks)
            found, best = ready.best(words, part_of_round(self.tell, self.draws, first, blocks))
            if first == 0:
                own.append(best)
            return found

        return chance(values, self.draws, self.level / len(self.sets)), own[0]

    def _strongest_crossing(self, best: _Best, which: int, strata: IntArray) -> CodedCriterion:
        """Of the crossings of a combination that have its best score, the one that is the strongest group by itself."""
        combined, part, counter = best.combined, best.part, self.counters[which]
        people = layout(self.data, counter, strata)
        n, prices = people.n_strata, combined.crossing_prices(part)
        key = np.zeros(len(self.data.cells), np.int64)
        for k in part:
            key = key * combined.sizes[k] + combined.columns[k].bins
        size = len(prices) * n * self.data.n_cells
        keys = (key * n + strata) * self.data.n_cells + self.data.cells
        table = np.bincount(keys, self.data.counts, size).astype(np.int64).reshape(-1, n, self.data.n_cells)
        hit, base = (counts[:, best.crossings].astype(float) for counts in (counter.hit(table), counter.base(table)))
        excess = (hit - base * people.share[:, None]).sum(axis=-1)
        variance = (people.weight[:, None] * base * (people.size[:, None] - base)).sum(axis=-1)
        statistic = np.where(variance > NO_VARIANCE, excess**2 / np.maximum(variance, NO_VARIANCE), 0.0).sum(axis=0)
        values = chi2_log_sf(statistic, np.asarray(len(hit))) + prices[best.crossings]
        return combined.criterion(part, int(best.crossings[np.argmin(values)]))
