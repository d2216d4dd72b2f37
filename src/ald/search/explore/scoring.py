"""What a description is worth on D1: its evidence, less the price of having looked for it.

D2 decides what is listed; this decides what is proposed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np

from ald._core.arrays import FloatArray, IntArray
from ald._core.segments import few_sums
from ald.data.coarse import CoarseView
from ald.groups.membership import count_members
from ald.groups.tree import CodedCriterion
from ald.notions import RateCounter
from ald.search.explore.evidence import Yardstick
from ald.search.explore.prices import Prices
from ald.statistics.basics import chi2_log_sf
from ald.statistics.stratified import mantel_haenszel, residuals


@dataclass(frozen=True, kw_only=True, eq=False)
class Aim:
    """How groups are compared in the search.

    given: per row the stratum of legitimate factors, from 0 on. direction: -1 for disadvantaged groups only, 1 for
    advantaged ones only, 0 for both. effect: by how much clusters or survey weights inflate chi2 statistics. factors:
    attributes that are legitimate factors themselves. parts: how many of the data's people are one person.
    """

    given: IntArray | None = None
    direction: int = 0
    effect: float = 1.0
    factors: frozenset[int] = frozenset()
    parts: int = 1

    @property
    def n_given(self) -> int:
        return 1 if self.given is None else int(self.given.max()) + 1


ANY_DIFFERENCE = Aim()


def smallest_group(people: int) -> int:
    """Groups, and everyone else, must be large enough for their chi2 to mean something."""
    return max(20, int(0.005 * people))


class Scorer:
    """Evidence and prices of groups in one data set, within the strata of groups that are already taken. Immutable.

    Counts have all strata in their last axis: patterns of membership in the groups taken, then strata of legitimate
    factors, then those outside and inside the reference group (if there is one), then confusion cells.
    """

    def __init__(
        self,
        view: CoarseView,
        rates: RateCounter,
        patterns: IntArray | None = None,
        aim: Aim = ANY_DIFFERENCE,
        prices: Prices | None = None,
        threads: int = 1,
    ) -> None:
        """`patterns`: a number per row, from 0 on; evidence is then that of the test within them.

        `prices`: those of this view, where they are known: they do not depend on the patterns.
        """
        self.prices = prices or Prices(view, aim.factors)
        self.threads = threads
        self.n_cells, self.aim = view.data.n_cells, aim
        self.n_patterns = 1 if patterns is None else int(patterns.max()) + 1
        reference = view.data.design.reference
        self.n_references = 1 if reference is None else 2
        # One block of these per pattern of groups taken.
        self.block = (aim.n_given, self.n_references, self.n_cells)
        self.plain = self.block[:2] == (1, 1) and aim.direction == 0
        if self.n_patterns * aim.n_given * self.n_references > 1:
            strata = np.zeros(len(view.data.cells), np.int64) if patterns is None else patterns
            for n, part in ((aim.n_given, aim.given), (self.n_references, reference)):
                strata = strata * n + (0 if part is None else part)
            cells = (strata * self.n_cells + view.data.cells).astype(np.uint8)
            data = replace(view.data, cells=cells, n_cells=self.n_patterns * prod(self.block))
            view = replace(view, data=data)
        self.view, self.rates = view, rates
        self.totals = self.by_pattern(view.totals)
        pooled = self.pool(view.totals)
        self.hits, self.bases = rates.hit(pooled), rates.base(pooled)
        self.df = len(rates.rates) if rates.disjoint else 1
        self.people = int(view.totals.sum())
        self.smallest = smallest_group(self.people // aim.parts) * aim.parts
        self.comparison = Yardstick(
            everyone=self.totals,
            rates=rates,
            direction=aim.direction,
            effect=aim.effect,
            smallest=self.smallest,
        )

    def by_pattern(self, counts: IntArray) -> IntArray:
        """Counts as [..., patterns, strata given, references, cells]."""
        return counts.reshape(*counts.shape[:-1], counts.shape[-1] // prod(self.block), *self.block)

    def pool(self, counts: IntArray) -> IntArray:
        """Counts per cell over all strata."""
        if counts.shape[-1] == self.n_cells:
            return counts
        strata = counts.shape[-1] // self.n_cells
        return few_sums(counts.reshape(*counts.shape[:-1], strata, self.n_cells), -2)

    def statistic(self, inside: IntArray) -> FloatArray:
        """The chi2 statistic of groups against everyone else, from their counts in all strata (last axis)."""
        return self.comparison.statistic(inside)

    def beside(self, totals: IntArray) -> Yardstick:
        """How conditions are compared that are told beside a group, whose two sides double the patterns in `totals`."""
        return replace(self.comparison, everyone=self.by_pattern(totals), smallest=0)

    def differences(self, inside: IntArray) -> tuple[FloatArray, IntArray]:
        """Per rate the differences of groups within strata given, and their bases, from counts [groups, cells]."""
        counts, totals = self.by_pattern(inside).sum(axis=1), self.totals.sum(axis=0)
        group = counts.sum(axis=-2)
        others = totals[..., -1, :] - counts[..., -1, :]
        found = [mantel_haenszel(a, b, self.rates).difference for a, b in zip(group, others, strict=True)]
        return np.nan_to_num(np.array(found).T), self.rates.base(self.pool(inside))

    def level_means(self, tables: IntArray) -> FloatArray:
        """How much the rates of levels differ from what their strata let expect, [rates, groups, levels]."""
        if self.plain:
            pooled = self.pool(tables)
            hit, base = self.rates.hit(pooled), self.rates.base(pooled)
            overall, spread = self._overall
            mean = np.where(base > 0, hit / np.maximum(base, 1), overall) - overall
            return np.asarray(mean / spread)
        totals = self.totals.sum(axis=(0, 2))
        excess, spread = residuals(self.by_pattern(tables).sum(axis=(-4, -2)), totals, self.rates)
        return np.asarray(excess / np.maximum(spread, 1e-12))

    @cached_property
    def _overall(self) -> tuple[FloatArray, FloatArray]:
        """Everyone's rates and the spread of single outcomes around them, [rates, 1, 1]."""
        overall = (self.hits / np.maximum(self.bases, 1))[:, None, None]
        return overall, np.sqrt(np.maximum(overall * (1 - overall), 1e-12))

    def log_p(self, statistic: FloatArray) -> FloatArray:
        """The evidence: log p of a statistic."""
        log_p = chi2_log_sf(np.asarray(statistic, float), np.asarray(self.df))
        return log_p if self.rates.disjoint else np.minimum(log_p + np.log(len(self.rates.rates)), 0.0)

    def values(self, criteria: Sequence[CodedCriterion]) -> FloatArray:
        """Evidence plus price of many groups at once."""
        inside = count_members(criteria, self.view.data, self.threads)
        prices = np.array([self.prices.criterion(criterion) for criterion in criteria])
        return np.asarray(self.log_p(self.statistic(inside)) + prices)
