"""What a description is worth on D1: its evidence, less the price of having looked for it.

The price is the logarithm of the number of alternatives that the search had, so that evidence plus price is about
the logarithm of a p-value that is honest on D1 itself. A condition is worth naming only if it pays its price: spurious
conditions fit any data a little better. D2 decides what is listed; this decides what is proposed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log, prod

import numpy as np
from scipy import special

from ald.arrays import FloatArray, IntArray
from ald.data.coded import weighted_bincount
from ald.notions import RateCounter
from ald.search.coarse import CoarseView
from ald.search.evidence import Comparison
from ald.search.membership import count_members
from ald.search.segments import few_sums
from ald.search.tree import CodedCondition, CodedCriterion
from ald.statistics import chi2_log_sf
from ald.stratified import mantel_haenszel, residuals

# Effective numbers of different cut points of a continuous attribute, and of different intervals that hold half of the
# people (narrower ones are more, in proportion): the 5 % point of the largest chi2 over all of them is about that of so
# many independent tests. A bound added to other conditions can shave off any thin slice of the group: more of them.
CUTS = {"alone": 30, "added": 500}
INTERVALS = {"alone": 120, "added": 300}
LEVELS_ADDED = 8
# Every further level named costs this much more than its share of the alternatives: short descriptions are preferred.
FURTHER_LEVEL = 0.7


@dataclass(frozen=True, kw_only=True, eq=False)
class Terms:
    """How groups are compared in the search.

    given: per row the stratum of legitimate factors, from 0 on. direction: -1 for disadvantaged groups only, 1 for
    advantaged ones only, 0 for both. effect: by how much clusters or survey weights inflate chi2 statistics. factors:
    attributes that are legitimate factors themselves.
    """

    given: IntArray | None = None
    direction: int = 0
    effect: float = 1.0
    factors: frozenset[int] = frozenset()

    @property
    def n_given(self) -> int:
        return 1 if self.given is None else int(self.given.max()) + 1


PLAIN = Terms()


class Scorer:
    """Evidence and prices of groups in one data set, within the strata of groups that are already taken. Immutable.

    Counts have all strata in their last axis: patterns of membership in the groups taken, then strata of legitimate
    factors, then those outside and inside the reference group (if there is one), then confusion cells.
    """

    def __init__(
        self, view: CoarseView, rates: RateCounter, patterns: IntArray | None = None, terms: Terms = PLAIN
    ) -> None:
        """`patterns`: a number per row, from 0 on; evidence is then that of the test within them."""
        self.n_cells, self.terms = view.data.n_cells, terms
        self.n_patterns = 1 if patterns is None else int(patterns.max()) + 1
        reference = view.data.design.reference
        self.n_references = 1 if reference is None else 2
        # One block of these per pattern of groups taken.
        self.block = (terms.n_given, self.n_references, self.n_cells)
        self.plain = self.block[:2] == (1, 1) and terms.direction == 0
        if self.n_patterns * terms.n_given * self.n_references > 1:
            strata = np.zeros(len(view.data.cells), np.int64) if patterns is None else patterns
            for n, part in ((terms.n_given, terms.given), (self.n_references, reference)):
                strata = strata * n + (0 if part is None else part)
            cells = (strata * self.n_cells + view.data.cells).astype(np.uint8)
            data = replace(view.data, cells=cells, n_cells=self.n_patterns * prod(self.block))
            view = replace(view, data=data)
        self.view, self.rates = view, rates
        self.n_attributes = len(view.columns)
        self.totals = self.by_pattern(view.totals)
        pooled = self.pooled(view.totals)
        self.hits, self.bases = rates.hit(pooled), rates.base(pooled)
        self.df = len(rates.rates) if rates.disjoint else 1
        # Groups must be large enough for their chi2 to mean something.
        self.people = int(view.totals.sum())
        self._prices: dict[tuple[CodedCondition, bool], float] = {}
        self.smallest = max(20, int(0.005 * self.people))
        self.comparison = Comparison(
            everyone=self.totals,
            rates=rates,
            direction=terms.direction,
            effect=terms.effect,
            smallest=self.smallest,
        )
        data = view.data
        self.people_by_code = [
            np.zeros(0) if a.is_nominal else weighted_bincount(codes, data.counts, a.size + 1)[: a.size]
            for a, codes in zip(data.attributes, data.codes, strict=True)
        ]

    def by_pattern(self, counts: IntArray) -> IntArray:
        """Counts as [..., patterns, strata given, references, cells]."""
        return counts.reshape(*counts.shape[:-1], counts.shape[-1] // prod(self.block), *self.block)

    def pooled(self, counts: IntArray) -> IntArray:
        """Counts per cell over all strata."""
        if counts.shape[-1] == self.n_cells:
            return counts
        strata = counts.shape[-1] // self.n_cells
        return few_sums(counts.reshape(*counts.shape[:-1], strata, self.n_cells), -2)

    def statistic(self, inside: IntArray) -> FloatArray:
        """The chi2 statistic of groups against everyone else, from their counts in all strata (last axis)."""
        return self.comparison.statistic(inside)

    def beside(self, totals: IntArray) -> Comparison:
        """How conditions are compared that are told beside a group, whose two sides double the patterns in `totals`."""
        return replace(self.comparison, everyone=self.by_pattern(totals), smallest=0)

    def differences(self, inside: IntArray) -> tuple[FloatArray, IntArray]:
        """Per rate the differences of groups within strata given, and their bases, from counts [groups, cells]."""
        counts, totals = self.by_pattern(inside).sum(axis=1), self.totals.sum(axis=0)
        group = counts.sum(axis=-2)
        others = totals[..., -1, :] - counts[..., -1, :]
        found = [mantel_haenszel(a, b, self.rates).difference for a, b in zip(group, others, strict=True)]
        return np.nan_to_num(np.array(found).T), self.rates.base(self.pooled(inside))

    def level_means(self, tables: IntArray) -> FloatArray:
        """How much the rates of levels differ from what their strata let expect, [rates, groups, levels]."""
        if self.plain:
            pooled = self.pooled(tables)
            hit, base = self.rates.hit(pooled), self.rates.base(pooled)
            overall = (self.hits / np.maximum(self.bases, 1))[:, None, None]
            mean = np.where(base > 0, hit / np.maximum(base, 1), overall) - overall
            return np.asarray(mean / np.sqrt(np.maximum(overall * (1 - overall), 1e-12)))
        totals = self.totals.sum(axis=(0, 2))
        excess, spread = residuals(self.by_pattern(tables).sum(axis=(-4, -2)), totals, self.rates)
        return np.asarray(excess / np.maximum(spread, 1e-12))

    def log_p(self, statistic: FloatArray) -> FloatArray:
        """The evidence: log p of a statistic."""
        log_p = chi2_log_sf(np.asarray(statistic, float), np.asarray(self.df))
        return log_p if self.rates.disjoint else np.minimum(log_p + np.log(len(self.rates.rates)), 0.0)

    def interval_price(self, attribute: int, share: FloatArray, *, two_sided: bool, alone: bool) -> FloatArray:
        """The price of intervals that hold a share of the people: the number of different ones."""
        n, kind = int(np.count_nonzero(self.people_by_code[attribute])), "alone" if alone else "added"
        if not two_sided:
            return np.full(np.shape(share), log(max(1, min(CUTS[kind], 2 * (n - 1)))))
        narrow = np.clip(np.minimum(share, 1.0 - share), 0.5 / self.people, 0.5)
        return np.log(np.clip(0.5 * INTERVALS[kind] / narrow, 1, max(1, n * (n - 1) // 2)))

    def root_people(self, attribute: int) -> FloatArray:
        """The share of people with a value below each edge of the attribute's bins."""
        column = self.view.columns[attribute]
        running = np.concatenate([[0], np.cumsum(self.people_by_code[attribute])])
        return np.asarray(running[column.edges] / max(running[-1], 1))

    def level_prices(self, attribute: int, n_levels: IntArray, *, alone: bool) -> FloatArray:
        """The price of naming so many of the levels: how many, then which; more where a thin slice can be cut.

        Levels of a legitimate factor cannot cut a slice off a group: they are strata, each compared by itself.
        """
        n = self.view.columns[attribute].n
        k = np.minimum(n_levels, n)
        ways = special.gammaln(n + 1.0) - special.gammaln(k + 1.0) - special.gammaln(n - k + 1.0)
        if attribute in self.terms.factors:
            return np.asarray(ways)
        thin = 0.0 if alone or n < 3 else log(LEVELS_ADDED)
        longer = FURTHER_LEVEL * np.maximum(np.minimum(k, n - k) - 1, 0)
        return np.asarray(log(max(n - 1, 1)) + ways + thin + longer)

    def choice_price(self, n_named: int) -> float:
        """The price of choosing attributes one after the other; each costs something, also where there are few."""
        return sum(log(max(self.n_attributes - i, 2)) for i in range(n_named))

    def condition_price(self, c: CodedCondition, *, alone: bool) -> float:
        """The price of one condition: by itself, or where it is added to others."""
        if (c, alone) not in self._prices:
            self._prices[c, alone] = self._condition_price(c, alone=alone)
        return self._prices[c, alone]

    def _condition_price(self, c: CodedCondition, *, alone: bool) -> float:
        attribute = self.view.data.attributes[c.attribute]
        if c.levels:
            return float(self.level_prices(c.attribute, np.array(len(c.levels)), alone=alone))
        people = self.people_by_code[c.attribute]
        share = np.asarray(people[c.low : c.high].sum() / max(people.sum(), 1))
        two_sided = c.low > 0 and c.high < attribute.size
        return float(self.interval_price(c.attribute, share, two_sided=two_sided, alone=alone))

    def surcharge(self, c: CodedCondition) -> float:
        """What a condition must gain beyond its price to be worth adding to others.

        Nothing on a legitimate factor: it only says in which strata the others differ.
        """
        if c.attribute in self.terms.factors:
            return 0.0
        return self.condition_price(c, alone=False) - self.condition_price(c, alone=True)

    def values(self, criteria: Sequence[CodedCriterion]) -> FloatArray:
        """Evidence plus price of many groups at once."""
        inside = count_members(criteria, self.view.data)
        prices = np.array([self.price(criterion) for criterion in criteria])
        return np.asarray(self.log_p(self.statistic(inside)) + prices)

    def price(self, criterion: CodedCriterion) -> float:
        """The price of a whole description: which attributes, and what to say of each."""
        return self.choice_price(len(criterion)) + sum(self.condition_price(c, alone=True) for c in criterion)
