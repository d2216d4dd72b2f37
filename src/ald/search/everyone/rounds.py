"""Round by round: the strongest group, as long as shuffled outcomes seldom have one as strong.

In every round outcomes are shuffled among people of one rate's base who are in the same groups of those already taken.
The first round that fails is the last one. So the chance that anything false is listed is at most the level: only the
first group that is not there can be listed wrongly, and its round has that chance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from math import ceil, floor, log

import numpy as np

from ald._core.arrays import AnyArray, BoolArray, FloatArray, IntArray
from ald.data.coded import AuditData, number_values
from ald.groups.membership import correlation, member_mask
from ald.groups.tree import CodedCriterion
from ald.notions import RateCounter
from ald.search.everyone.descriptions import Descriptions, descriptions
from ald.search.everyone.layout import Layout, layout
from ald.search.everyone.shuffles import blocks_of, shuffled
from ald.search.everyone.strongest import SAME, Round
from ald.search.explore.conditions import Conditions
from ald.search.explore.representatives import complement, simplest
from ald.search.explore.scoring import Aim, Scorer
from ald.search.explore.sharpen import Sharpener
from ald.statistics.stratified import cmh_statistics

# Shuffles per round at least, and at least so many for every one that may be as strong.
SHUFFLES = 999
PER_LEVEL = 20
# Strata times confusion cells that can be searched when a group is sharpened.
_MOST_STRATA = 256


@dataclass(frozen=True, kw_only=True)
class Chance:
    """How often shuffled outcomes have something as strong.

    as_strong: of how many shuffles (`shuffles`) there were. critical: the value that has to be beaten; NaN if the round
    failed and was stopped early.
    """

    as_strong: int
    shuffles: int
    stopped: bool
    critical: float

    @property
    def p(self) -> float:
        """The p-value. Stopped early: the share of those seen (Besag and Clifford 1991)."""
        return self.as_strong / self.shuffles if self.stopped else (1 + self.as_strong) / (self.shuffles + 1)

    @property
    def bound(self) -> bool:
        """Whether the p-value is only known to be no larger."""
        return self.as_strong == 0


def shuffles_for(level: float) -> int:
    """The shuffles of a round whose p-value is compared with this level.

    >>> shuffles_for(0.05), shuffles_for(0.005)
    (999, 3999)
    """
    return max(SHUFFLES, ceil(PER_LEVEL / level - 1e-9) - 1)


def allowed_exceedances(level: float, shuffles: int) -> int:
    """With so many shuffles as strong as the data, or more, p is above the level.

    >>> allowed_exceedances(0.05, 999), allowed_exceedances(0.05, 19), allowed_exceedances(0.05, 18)
    (50, 1, 0)
    """
    return floor(level * (shuffles + 1) + 1e-9)


def chance(values: Callable[[int, int], FloatArray], shuffles: int, level: float, *, complete: bool = False) -> Chance:
    """How often shuffles are as strong as the data: `values` of the lanes of some blocks, the data in the very first.

    No more is shuffled once p is certainly above the level, unless all shuffles are wanted (`complete`).
    """
    most = allowed_exceedances(level, shuffles)
    found = values(0, 1)
    observed, found = found[0], found[1 : shuffles + 1]
    at = np.flatnonzero(found <= observed)
    if (complete or len(at) < most) and len(found) < shuffles:
        found = np.concatenate([found, values(1, blocks_of(shuffles + 1) - 1)[: shuffles - len(found)]])
        at = np.flatnonzero(found <= observed)
    if len(at) >= max(most, 1) and not complete:
        seen = int(at[max(most, 1) - 1]) + 1
        return Chance(as_strong=max(most, 1), shuffles=seen, stopped=True, critical=float("nan"))
    critical = float(np.sort(found)[most - 1]) if most else -np.inf
    return Chance(as_strong=len(at), shuffles=shuffles, stopped=False, critical=critical)


def part_of_round(tell: Callable[[float], None], shuffles: int, first: int, blocks: int) -> Callable[[float], None]:
    """What tells how much of a round is done, from how much of these blocks of its shuffles is.

    >>> part_of_round(print, 1023, 1, 1)(0.5)
    0.75
    """
    of = blocks_of(shuffles + 1)
    return lambda share: tell((first + blocks * share) / of)


@dataclass(frozen=True, kw_only=True, eq=False)
class Taken:
    """A group of the list, or the one that was not strong enough.

    found: the description that was the strongest of all, with its `value`; criterion: as it is named, with its
    `statistic`, `named_value` and `price`. rates: the numbers of the rates it was found in; strata: those of its round,
    per row. critical: the values to beat of all rates together, or of every rate by itself; known in the first round,
    and of groups that are listed.
    """

    found: CodedCriterion
    value: float
    criterion: CodedCriterion
    statistic: float
    named_value: float
    price: float
    rates: tuple[int, ...]
    chance: Chance
    critical: tuple[float, ...]
    log_p: float
    strata: IntArray
    listed: bool


class Everyone:
    """The search of all people, with what is the same in every round."""

    def __init__(
        self,
        data: AuditData,
        rates: RateCounter,
        aim: Aim,
        *,
        seed: int = 0,
        shuffles: int | None = None,
        level: float = 0.05,
        threads: int = 1,
    ) -> None:
        self.data, self.rates, self.aim = data, rates, aim
        self.seed, self.level, self.threads = seed, level, threads
        self.tell: Callable[[float], None] = lambda share: None
        self.given = np.zeros(len(data.cells), np.int64) if aim.given is None else aim.given
        # Where people are in the base of several rates, every rate is shuffled by itself.
        self.sets: list[tuple[int, ...]] = (
            [tuple(range(len(rates.rates)))] if rates.disjoint else [(r,) for r in range(len(rates.rates))]
        )
        self.shuffles = shuffles_for(level / len(self.sets)) if shuffles is None else shuffles
        self.counters = [RateCounter([rates.rates[r] for r in one], data.n_cells) for one in self.sets]
        self.described = [descriptions(data, len(one), aim.factors) for one in self.sets]

    def at_level(self, level: float) -> Everyone:
        """The same search at another level, with as many shuffles as that needs."""
        other = copy(self)
        other.level, other.shuffles = level, shuffles_for(level / len(self.sets))
        return other

    def within(self, given: IntArray) -> Everyone:
        """The same search within other strata of legitimate factors."""
        other = copy(self)
        other.given = given
        return other

    def rounds(self) -> Iterator[Taken]:
        """Group after group; the last one may be one that is not listed."""
        masks: list[BoolArray] = []
        while True:
            taken = self._round(masks)
            yield taken
            if not taken.listed:
                return
            masks.append(member_mask(taken.criterion, self.data))

    def _round(self, masks: Sequence[BoolArray]) -> Taken:
        strata, inside = self._strata(masks)
        n = len(self.sets)
        results = []
        for which, (counter, described) in enumerate(zip(self.counters, self.described, strict=True)):
            found = self.strongest(which, counter, described, strata, inside, len(masks))
            results.append((found[0].p, found[1], which, *found))
        _, value, which, result, _, best = min(results, key=lambda one: one[:3])
        log_p = min(log(result.p) + log(n), 0.0)
        listed = log_p <= log(self.level) + 1e-12 and bool(best)
        named = self._named(best, value, which, strata, masks) if listed else self._simplest(best) if best else best
        statistic = self._statistic(named, which, strata) if named else 0.0
        return Taken(
            found=best,
            value=value,
            criterion=named,
            statistic=statistic,
            named_value=self._valued(named, statistic, which) if named else 0.0,
            price=self.described[which].prices.criterion(named),
            rates=self.sets[which],
            chance=result,
            critical=self._critical(results, strata, inside, len(masks)) if listed or not masks else (),
            log_p=log_p,
            strata=strata,
            listed=listed,
        )

    def _critical(
        self, results: Sequence[tuple[float, float, int, Chance, float, CodedCriterion]], strata: IntArray,
        inside: IntArray, number: int,
    ) -> tuple[float, ...]:  # fmt: skip
        """The values to beat, also of rates that were not shuffled to the end."""
        out = []
        for _, _, which, result, _, _ in results:
            if result.stopped:
                counter, described = self.counters[which], self.described[which]
                result, *_ = self.strongest(which, counter, described, strata, inside, number, complete=True)
            out.append(result.critical)
        return tuple(out)

    def strongest(
        self,
        which: int,
        counter: RateCounter,
        described: Descriptions,
        strata: IntArray,
        inside: IntArray,
        number: int,
        *,
        complete: bool = False,
    ) -> tuple[Chance, float, CodedCriterion]:
        """The strongest group within strata, its value, and how often shuffles have one as strong."""
        people = layout(self.data, counter, strata)
        sides = counter.signs * self.aim.direction
        ready = Round(described, people, sides=sides, taken=inside, threads=self.threads)
        own: list[tuple[float, CodedCriterion]] = []

        def values(first: int, blocks: int) -> FloatArray:
            words = self.words(people, number * len(self.sets) + which, first, blocks)
            found = ready.strongest(words, part_of_round(self.tell, self.shuffles, first, blocks))
            if first == 0:
                own.append((float(found.values[0]), found.first))
            return found.values

        return chance(values, self.shuffles, self.level / len(self.sets), complete=complete), *own[0]

    def chance_of(self, taken: Taken, before: Sequence[CodedCriterion]) -> float:
        """log p of a group that was found within other strata, if it were the strongest one within these."""
        strata, inside = self._strata([member_mask(criterion, self.data) for criterion in before])
        which = self.sets.index(taken.rates)
        people = layout(self.data, self.counters[which], strata)
        sides = self.counters[which].signs * self.aim.direction
        ready = Round(self.described[which], people, sides=sides, taken=inside, threads=self.threads)
        own = self._value(taken.criterion, which, strata)

        def values(first: int, blocks: int) -> FloatArray:
            found = ready.strongest(self.words(people, len(before) * len(self.sets) + which, first, blocks)).values
            return np.concatenate([[own], found[1:]]) if first == 0 else found

        found = chance(values, self.shuffles, self.level / len(self.sets))
        return min(log(found.p) + log(len(self.sets)), 0.0)

    def words(self, people: Layout, number: int, first: int, blocks: int) -> AnyArray:
        return shuffled(people, self.seed, number, first, blocks)

    def _strata(self, masks: Sequence[BoolArray]) -> tuple[IntArray, IntArray]:
        """The stratum of every row, and whether each stratum is in each of the groups."""
        pattern = self.given
        for mask in masks:
            pattern = 2 * pattern + mask
        present, strata = number_values(pattern)
        bits = np.arange(len(masks))[::-1, None]
        return strata, (present >> bits) & 1

    # What is named

    def _value(self, criterion: CodedCriterion, which: int, strata: IntArray) -> float:
        """log p plus price of a group within strata, as that of the strongest group is."""
        return self._valued(criterion, self._statistic(criterion, which, strata), which)

    def _valued(self, criterion: CodedCriterion, statistic: float, which: int) -> float:
        return float(self._scorers[which].log_p(np.asarray(statistic))) + self.described[which].prices.criterion(
            criterion
        )

    def _statistic(self, criterion: CodedCriterion, which: int, strata: IntArray) -> float:
        """The sum of the rates' statistics of a group within strata."""
        mask = member_mask(criterion, self.data)
        n = int(strata.max(initial=0)) + 1
        keys = strata * self.data.n_cells + self.data.cells
        size = n * self.data.n_cells
        totals = np.bincount(keys, self.data.counts, size).astype(np.int64).reshape(n, -1)
        inside = np.bincount(keys[mask], self.data.counts[mask], size).astype(np.int64).reshape(n, -1)
        counter = self.counters[which]
        parts = np.nan_to_num(cmh_statistics(inside, totals, counter), nan=0.0)
        if self.aim.direction:
            excess = counter.hit(inside) - counter.base(inside) * (
                counter.hit(totals) / np.maximum(counter.base(totals), 1)
            )
            parts = np.where(excess.sum(axis=-1) * counter.signs * self.aim.direction > 0, parts, 0.0)
        return float(parts.sum(axis=0))

    @cached_property
    def _scorers(self) -> list[Scorer]:
        return [
            Scorer(described.view, counter, None, Aim(direction=self.aim.direction), described.prices)
            for described, counter in zip(self.described, self.counters, strict=True)
        ]

    def _named(
        self, found: CodedCriterion, value: float, which: int, strata: IntArray, masks: Sequence[BoolArray]
    ) -> CodedCriterion:
        """The description that is reported: sharpened from what was found, and never a weaker one.

        Seen from both sides, a group and its complement are one finding: which of them was counted says nothing, but
        only one of them may be sharpened further.
        """
        counter, described = self.counters[which], self.described[which]
        n = int(strata.max(initial=0)) + 1
        within = strata if n * self.data.n_cells <= _MOST_STRATA else None
        aim = Aim(given=within, direction=self.aim.direction, factors=self.aim.factors)
        scorer = Scorer(described.view, counter, None, aim, described.prices, self.threads)
        sharpener = Sharpener(scorer, Conditions(described.prices, len(counter.rates)))

        def is_new(criterion: CodedCriterion) -> bool:
            mask = member_mask(criterion, self.data)
            return all(abs(correlation(mask, other, self.data)) < SAME for other in masks)

        named: dict[CodedCriterion, float] = {}
        for start in [found, *([] if self.aim.direction else complement(found, self.data))]:
            for criterion in [*sharpener.sharpen([start]), *sharpener.polish({start: 0.0})]:
                own = self._value(criterion, which, strata)
                if criterion and own <= value + 1e-9 and is_new(criterion):
                    named[criterion] = own
                    break
        return self._simplest(min(named, key=lambda c: (round(named[c], 9), c)) if named else found)

    def _simplest(self, criterion: CodedCriterion) -> CodedCriterion:
        plain = self.aim.direction == 0
        return simplest(criterion, self.data) if plain else criterion
