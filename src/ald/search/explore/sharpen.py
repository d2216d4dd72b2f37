"""Sharper criteria, on D1 alone: change one condition at a time while that pays.

A step adds, replaces or drops the condition on one attribute. Its value is the evidence of the group on all of D1 plus
the price of its description (see `scoring`). A condition on another attribute must also beat being told as a finding
of its own: two groups with separate effects are two findings, not one group where both apply.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np

from ald._core import kernels
from ald._core.arrays import AnyArray, BoolArray, FloatArray, IntArray
from ald._core.segments import few_sums
from ald._core.threads import in_threads
from ald.data.joint import joint_tables
from ald.groups.tree import CodedCondition, CodedCriterion
from ald.search.explore.conditions import Best, Conditions
from ald.search.explore.scoring import Scorer

_STEPS = 12
_PAYS = 1e-6
# Moves tried per step, best first, before a group counts as finished.
_TRIED = 3
_POLISHED = 3
# One group with two conditions is easier to read than two groups: it may be this much weaker.
_TOGETHER = 2.0
_WORTH_A_THREAD = 1_000_000
# Counts at the ends of intervals that are kept for the next look.
_KEPT = 1 << 14


class Sharpener:
    """The data in bins, and what groups of it are worth."""

    def __init__(self, scorer: Scorer, conditions: Conditions) -> None:
        self.scorer, self.view, self.data = scorer, scorer.view, scorer.view.data
        self.prices, self.conditions = scorer.prices, conditions
        self.k = len(self.view.columns)
        self.bins = [column.bins for column in self.view.columns]
        self.sizes = np.array([column.n + 1 for column in self.view.columns], dtype=np.int64)
        every = [(j,) for j in range(self.k)]
        self.root = joint_tables(self.bins, self.sizes.tolist(), every, self.data, threads=scorer.threads)
        self.masks: dict[CodedCondition, BoolArray] = {}
        self.inside: dict[CodedCriterion, IntArray] = {}
        self.values: dict[CodedCriterion, float] = {}
        self.ends: dict[tuple[CodedCriterion, int], _Ends] = {}
        self.weights = None if (self.data.counts == 1).all() else self.data.counts

    def singles(self) -> list[CodedCriterion]:
        """The best condition on every attribute by itself, best first."""
        tables, alone = [table[None] for table in self.root], np.ones((1, self.k), bool)
        best = self.conditions.best(self.scorer, self.scorer.comparison, range(self.k), tables, alone)
        chosen = np.flatnonzero(np.isfinite(best.value[0])).tolist()
        threads = self.scorer.threads if len(self.data.cells) * len(chosen) >= _WORTH_A_THREAD else 1
        found = in_threads(lambda j: self._refine((best.condition(0, j),), j), chosen, threads)
        return [criterion for _, criterion in sorted(zip(self.values_of(found), found, strict=True))]

    def sharpen(self, starts: Iterable[CodedCriterion]) -> dict[CodedCriterion, float]:
        """The groups that the starts lead to, each with its value on D1 (about a log p-value; lower is better)."""
        starts = list(dict.fromkeys(starts))
        moves: dict[CodedCriterion, CodedCriterion | None] = {}
        active = starts
        for _ in range(_STEPS):
            if not active:
                break
            new = self.step(active)
            moves |= new
            active = [to for to in dict.fromkeys(new.values()) if to is not None and to not in moves]
        return self.polish(dict.fromkeys(self._end(start, moves) for start in starts))

    def _end(self, start: CodedCriterion, moves: Mapping[CodedCriterion, CodedCriterion | None]) -> CodedCriterion:
        """The best group on the way from a start that was not given up for one with as many conditions or fewer.

        There is always one: where no move pays, or no step is left; and a way in a circle gains conditions somewhere,
        for moves that keep their number never lead back.
        """
        way: dict[CodedCriterion, CodedCriterion | None] = {}
        at: CodedCriterion | None = start
        while at is not None and at not in way:
            way[at] = moves.get(at)
            at = way[at]
        return min((c for c, to in way.items() if to is None or len(to) > len(c)), key=lambda c: (self.value(c), c))

    # What groups are

    def mask(self, conditions: Iterable[CodedCondition]) -> BoolArray:
        member = np.ones(len(self.data.cells), dtype=bool)
        for condition in conditions:
            if condition not in self.masks:
                self.masks[condition] = self._mask(condition)
            member &= self.masks[condition]
        return member

    def _mask(self, condition: CodedCondition) -> BoolArray:
        codes = self.data.codes[condition.attribute]
        if not condition.levels:
            return np.asarray((codes >= condition.low) & (codes < condition.high))
        table = np.zeros(self.data.attributes[condition.attribute].size + 1, dtype=bool)
        table[list(condition.levels)] = True
        return table[codes]

    def counts(self, criterion: CodedCriterion) -> IntArray:
        """The people of a group in all strata."""
        if criterion in self.inside:
            return self.inside[criterion]
        if len(criterion) == 1 and criterion[0].levels:
            ((j, _, _, levels),) = criterion
            named = set(levels)
            bins = [b for b, level in enumerate(self.view.columns[j].levels.tolist()) if level in named]
            return np.asarray(self.root[j][bins].sum(axis=0))
        rows = np.flatnonzero(self.mask(criterion))
        weights = None if self.weights is None else self.weights[rows]
        return np.bincount(self.data.cells[rows], weights, minlength=self.data.n_cells).astype(np.int64)

    def value(self, criterion: CodedCriterion) -> float:
        """Evidence plus price; nothing to say about everyone."""
        return self.values_of([criterion])[0]

    def values_of(self, criteria: Sequence[CodedCriterion]) -> list[float]:
        """The values of many groups."""
        new = list(dict.fromkeys(criterion for criterion in criteria if criterion not in self.values))
        if new:
            inside = np.stack([self.counts(criterion) for criterion in new])
            log_p = self.scorer.log_p(self.scorer.statistic(inside)).tolist()
            for criterion, evidence in zip(new, log_p, strict=True):
                self.values[criterion] = (evidence if criterion else 0.0) + self.prices.criterion(criterion)
        return [self.values[criterion] for criterion in criteria]

    # One step for all groups together

    def step(self, active: Sequence[CodedCriterion]) -> dict[CodedCriterion, CodedCriterion | None]:
        """The group that each group moves to (None: no move pays)."""
        tables = self._tables(active)
        values = self.values_of(active)
        alone = np.array([[_is_alone(criterion, j) for j in range(self.k)] for criterion in active])
        best = self.conditions.best(self.scorer, self.scorer.comparison, range(self.k), tables, alone)
        self.values_of([part for criterion in active for part in _parts(criterion)])
        return {
            criterion: self._move(criterion, values[s], best, s, [table[s] for table in tables])
            for s, criterion in enumerate(active)
        }

    def _price_of_others(self, others: CodedCriterion) -> float:
        """The price of the other conditions, and of choosing them and one more attribute."""
        own = sum(self.prices.condition(c, alone=True) for c in others)
        return own + self.prices.choice(len(others) + 1)

    def _tables(self, active: Sequence[CodedCriterion]) -> list[IntArray]:
        """Per attribute the counts per bin of every group, its own condition on that attribute set aside."""
        rows, starts, ends, owners, attributes = [], [], [], [], []
        filled = 0
        for s, criterion in enumerate(active):
            named = {condition.attribute for condition in criterion}
            wanted: list[tuple[CodedCriterion, list[int]]] = [(criterion, [j for j in range(self.k) if j not in named])]
            wanted += [(_without(criterion, j), [j]) for j in sorted(named)]
            for conditions, columns in wanted:
                members = np.flatnonzero(self.mask(conditions)).astype(np.uint32)
                rows.append(members)
                for j in columns:
                    starts.append(filled)
                    ends.append(filled + len(members))
                    owners.append(s)
                    attributes.append(j)
                filled += len(members)
        joined = np.concatenate(rows) if rows else np.zeros(0, np.uint32)
        weights = None if self.weights is None else self.weights[joined]
        return self._count(joined, weights, *(np.array(x, dtype=np.int64) for x in (starts, ends, owners, attributes)))

    def _count(
        self,
        rows: AnyArray,
        weights: IntArray | None,
        starts: IntArray,
        ends: IntArray,
        owners: IntArray,
        attributes: IntArray,
    ) -> list[IntArray]:
        sizes, n_cells = self.sizes, self.data.n_cells
        n_groups = int(owners.max()) + 1 if len(owners) else 0
        first = np.concatenate([[0], np.cumsum(n_groups * sizes)])
        out = np.zeros((int(first[-1]), n_cells), np.int64)
        at = first[attributes] + owners * sizes[attributes]

        def count(part: slice) -> None:
            wanted = starts[part], ends[part], attributes[part]
            capacity = int(np.minimum(wanted[1] - wanted[0], sizes[wanted[2]]).sum())
            codes, counts = np.empty(capacity, np.uint32), np.empty((capacity, n_cells), np.int64)
            used = np.zeros(len(wanted[0]), np.int64)
            written = kernels.kernel().count(
                self.bins, self.data.cells, rows, weights, *wanted, sizes, n_cells, codes, counts, used
            )
            out[np.repeat(at[part], used) + codes[:written]] = counts[:written]

        in_threads(count, kernels.chunks(ends - starts, self.scorer.threads, _WORTH_A_THREAD), self.scorer.threads)
        bounds = pairwise(first.tolist())
        return [out[start:end].reshape(n_groups, -1, n_cells) for start, end in bounds]

    def _move(
        self, criterion: CodedCriterion, value: float, best: Best, s: int, tables: list[IntArray]
    ) -> CodedCriterion | None:
        """The best move that pays, or None; `best`: the best conditions, of this group in row s."""
        named = {condition.attribute: condition for condition in criterion}
        drops = _drops(criterion)
        # A condition beside others must have gained its surcharge, or it goes.
        limits = dict.fromkeys(range(self.k), value - _PAYS)
        if len(named) > 1:
            limits |= {j: value + self.prices.surcharge(c) - _PAYS for j, c in named.items()}
        options = [(self.value(shorter), j, shorter, True) for j, shorter in drops.items()]
        price_beside = self._price_of_others(criterion)
        for j, own in enumerate(best.value[s].tolist()):
            others = _without(criterion, j) if j in named else criterion
            estimate = own + (self._price_of_others(others) if j in named else price_beside)
            if estimate < limits[j]:
                target = tuple(sorted((*others, best.condition(s, j))))
                if target != criterion:
                    options.append((estimate, j, target, False))
        tried = 0
        for estimate, j, target, is_drop in sorted(options):
            limit = limits[j]
            if is_drop:
                if estimate < limit:
                    return target
                first, both = self._told_apart(criterion, j, target, tables)
                if both < limit:
                    return first
                continue
            tried += 1
            if tried > _TRIED:
                break
            if j not in named and named:
                limit += min(self._own_finding(criterion, j, tables), 0.0)
                if estimate >= limit:
                    continue
            target = self._refine(target, j)
            added = self.prices.surcharge(next(c for c in target if c.attribute == j)) if len(target) > 1 else 0.0
            if self.value(target) + added < limit and target != criterion:
                return target
        return None

    def _told_apart(
        self, criterion: CodedCriterion, j: int, others: CodedCriterion, tables: list[IntArray]
    ) -> tuple[CodedCriterion, float]:
        """A group as two findings, one of them on attribute j alone: the stronger of them, and what both are worth."""
        own = (next(c for c in criterion if c.attribute == j),)
        if self.value(others) <= self.value(own):
            return others, self.value(others) + min(self._own_finding(others, j, tables), 0.0)
        inside = self.counts(criterion), self.counts(others) - self.counts(criterion)
        totals = self.counts(own), self.view.totals - self.counts(own)
        statistic = self.scorer.beside(np.concatenate(totals)).statistic(np.concatenate(inside))
        beside = float(self.scorer.log_p(statistic)) + self.prices.criterion(others) + _TOGETHER
        return own, self.value(own) + min(beside, 0.0)

    def _own_finding(self, criterion: CodedCriterion, j: int, tables: list[IntArray]) -> float:
        """What the best single condition on attribute j is worth as a finding of its own, given this group."""
        if not criterion:
            return 0.0
        inside = tables[j]
        outside = self.root[j] - inside
        both = np.concatenate([inside, outside], axis=1)[None]
        beside = self.scorer.beside(both[0].sum(axis=0))
        best = self.conditions.best(self.scorer, beside, [j], [both], np.array([[True]]))
        return float(best.value[0, 0]) + self.prices.choice(1) + _TOGETHER

    # Ends of intervals at full resolution

    def _refine(self, criterion: CodedCriterion, j: int) -> CodedCriterion:
        """The criterion with the ends of its interval on attribute j moved to the best codes nearby."""
        condition = next(c for c in criterion if c.attribute == j)
        # Where every value of D1 has a bin of its own, the ends were chosen among all of them already.
        if condition.levels or self.view.columns[j].n == self.prices.n_present[j]:
            return criterion
        ends = self._ends(_without(criterion, j), j)
        low, high = condition.low, condition.high
        for _ in range(_POLISHED):
            before = (low, high)
            low, high = ends.move(low, high, ends.strongest)
            if (low, high) == before:
                break
        refined = tuple(sorted((*_without(criterion, j), CodedCondition(j, low, high))))
        self.inside[refined] = ends.between(low, high)
        return refined

    def _ends(self, others: CodedCriterion, j: int) -> _Ends:
        """The ends of intervals on attribute j beside other conditions; kept where they are few."""
        known = self.ends.get((others, j))
        if known is None:
            known = _Ends(self, others, j)
            if known.running.size <= _KEPT:
                self.ends[others, j] = known
        return known

    def _settle(self, criterion: CodedCriterion) -> CodedCriterion:
        """The criterion with the ends of its intervals where they are expected, not where they happen to fit best.

        Near the best end many others are nearly as good; their mean, weighted by likelihood, is a steadier estimate of
        where the group really ends than the single best one.
        """
        for condition in criterion:
            if not condition.levels:
                ends = self._ends(_without(criterion, condition.attribute), condition.attribute)
                low, high = ends.move(condition.low, condition.high, ends.expected)
                settled = CodedCondition(condition.attribute, low, high)
                criterion = tuple(settled if c.attribute == condition.attribute else c for c in criterion)
        return criterion

    def polish(self, groups: Iterable[CodedCriterion]) -> dict[CodedCriterion, float]:
        """The groups with all their interval ends at full resolution, best first; everyone is no group."""
        out: dict[CodedCriterion, float] = {}
        for criterion in groups:
            refined = criterion
            for _ in range(_POLISHED):
                before = refined
                for condition in criterion:
                    refined = self._refine(refined, condition.attribute)
                if refined == before:
                    break
            best = min((refined, criterion), key=self.value)
            if best:
                settled = self._settle(best)
                out[settled] = min(out.get(settled, np.inf), self.value(best))
        return dict(sorted(out.items(), key=lambda item: (item[1], item[0])))


class _Ends:
    """The possible ends of a group's interval on one attribute, at full resolution.

    Ends are at codes that occur in the group's own range: a bound between two of them says nothing more.
    """

    def __init__(self, sharpener: Sharpener, others: CodedCriterion, j: int) -> None:
        """others: the group's conditions on other attributes."""
        data, self.comparison = sharpener.data, sharpener.scorer.comparison
        self.size = data.attributes[j].size
        rows = np.flatnonzero(sharpener.mask(others)) if others else None
        (table,) = joint_tables([data.codes[j]], [self.size + 1], [(0,)], data, rows=rows)
        self.occurs = np.flatnonzero(table[: self.size].any(axis=1))
        # Counts, and people, below each code that occurs.
        self.running = np.zeros((len(self.occurs) + 1, data.n_cells), np.int64)
        np.cumsum(table[self.occurs], axis=0, out=self.running[1:])
        self.people = few_sums(self.running, 1)
        self._strongest: dict[tuple[range, int], int | None] = {}

    def place(self, code: int) -> int:
        """How many codes that occur are below this one."""
        return int(np.searchsorted(self.occurs, code))

    def between(self, low: int, high: int) -> IntArray:
        """The people with a code in [low, high), in all strata."""
        return np.asarray(self.running[self.place(high)] - self.running[self.place(low)])

    def move(self, low: int, high: int, choose: Callable[[range, int], int | None]) -> tuple[int, int]:
        """Both ends moved, one after the other, where they are bounds at all."""
        if low > 0:
            chosen = choose(range(1, self.place(high)), self.place(high))
            low = low if chosen is None else int(self.occurs[chosen])
        if high < self.size:
            chosen = choose(range(self.place(low) + 1, len(self.occurs)), self.place(low))
            high = high if chosen is None else int(self.occurs[chosen - 1]) + 1
        return low, high

    def _statistic(self, choices: range, other: int) -> FloatArray:
        """The statistics of the groups between each of the choices and the other end, as places."""
        ends = np.arange(choices.start, choices.stop), np.full(len(choices), other)
        return self.comparison.between(self.running, *(ends if choices.start <= other else ends[::-1]))

    def strongest(self, choices: range, other: int) -> int | None:
        """The end among the choices that gives the strongest group, the other end kept."""
        if (choices, other) not in self._strongest:
            statistic = self._statistic(choices, other)
            best = int(np.argmax(statistic)) if len(choices) else 0
            self._strongest[choices, other] = choices[best] if len(choices) and statistic[best] > 0 else None
        return self._strongest[choices, other]

    def expected(self, choices: range, other: int) -> int | None:
        """The end at the likelihood-weighted mean of all choices, measured in people."""
        if len(choices) == 0:
            return None
        statistic = self._statistic(choices, other)
        if statistic.max() <= 0:
            return None
        with np.errstate(under="ignore"):
            weight = np.where(statistic > 0, np.exp((statistic - statistic.max()) / 2.0), 0.0)
        people = self.people[choices.start : choices.stop]
        mean = float(np.sum(weight * people) / weight.sum())
        return choices[int(np.argmin(np.abs(people - mean)))]


def _without(criterion: CodedCriterion, j: int) -> CodedCriterion:
    return tuple(condition for condition in criterion if condition.attribute != j)


def _drops(criterion: CodedCriterion) -> dict[int, CodedCriterion]:
    """The criterion without its condition on each attribute; a single condition cannot be dropped."""
    return {c.attribute: _without(criterion, c.attribute) for c in criterion} if len(criterion) > 1 else {}


def _parts(criterion: CodedCriterion) -> list[CodedCriterion]:
    """The criterion without each of its conditions, and each of them alone; a single condition has no parts."""
    return [*_drops(criterion).values(), *((c,) for c in criterion)] if len(criterion) > 1 else []


def _is_alone(criterion: CodedCriterion, j: int) -> bool:
    """Whether a condition on attribute j, in place of that on it, would be the only one."""
    return all(condition.attribute == j for condition in criterion)
