"""The price of a description: the logarithm of the number of alternatives that the search had.

Evidence plus price is about the logarithm of a p-value that is honest on D1 itself. A condition is worth naming only if
it pays its price: spurious conditions fit any data a little better.
"""

from __future__ import annotations

from math import log

import numpy as np
from scipy import special

from ald._core.arrays import FloatArray, IntArray
from ald.data.coarse import CoarseView
from ald.groups.tree import CodedCondition, CodedCriterion

# Effective numbers of different cut points of a continuous attribute, and of different intervals that hold half of the
# people (narrower ones are more, in proportion): the 5 % point of the largest chi2 over all of them is about that of so
# many independent tests. A bound added to other conditions can shave off any thin slice of the group: more of them.
CUTS = {"alone": 30, "added": 500}
INTERVALS = {"alone": 120, "added": 300}
LEVELS_ADDED = 8
# Every further level named costs this much more than its share of the alternatives: short descriptions are preferred.
FURTHER_LEVEL = 0.7


class Prices:
    """The prices of descriptions of groups in one data set; each is computed once."""

    def __init__(self, view: CoarseView, factors: frozenset[int] = frozenset()) -> None:
        """`factors`: attributes that are legitimate factors themselves."""
        self.view, self.factors = view, factors
        self.n_attributes = len(view.columns)
        self.people = int(view.totals.sum())
        self.n_present = [int(np.count_nonzero(column.people)) for column in view.columns]
        self._known: dict[tuple[CodedCondition, bool], float] = {}
        self._below: dict[int, IntArray] = {}
        self._levels: dict[tuple[int, bool], list[float]] = {}

    def interval(self, attribute: int, share: FloatArray, *, two_sided: bool, alone: bool) -> FloatArray:
        """The price of intervals that hold a share of the people: the number of different ones."""
        n, kind = self.n_present[attribute], "alone" if alone else "added"
        if not two_sided:
            return np.full(np.shape(share), log(max(1, min(CUTS[kind], 2 * (n - 1)))))
        narrow = np.clip(np.minimum(share, 1.0 - share), 0.5 / self.people, 0.5)
        return np.log(np.clip(0.5 * INTERVALS[kind] / narrow, 1, max(1, n * (n - 1) // 2)))

    def root_people(self, attribute: int) -> FloatArray:
        """The share of people with a value below each edge of the attribute's bins."""
        below = self._people_below(attribute)
        return np.asarray(below[self.view.columns[attribute].edges] / max(below[-1], 1))

    def _people_below(self, attribute: int) -> IntArray:
        """The people with a code below each one, and with any."""
        if attribute not in self._below:
            self._below[attribute] = np.concatenate([[0], np.cumsum(self.view.columns[attribute].people)])
        return self._below[attribute]

    def levels(self, attribute: int, n_levels: IntArray, *, alone: bool) -> FloatArray:
        """The price of naming so many of the levels: how many, then which; more where a thin slice can be cut.

        Levels of a legitimate factor cannot cut a slice off a group: they are strata, each compared by itself.
        """
        n = self.view.columns[attribute].n
        k = np.minimum(n_levels, n)
        ways = special.gammaln(n + 1.0) - special.gammaln(k + 1.0) - special.gammaln(n - k + 1.0)
        if attribute in self.factors:
            return np.asarray(ways)
        thin = 0.0 if alone or n < 3 else log(LEVELS_ADDED)
        longer = FURTHER_LEVEL * np.maximum(np.minimum(k, n - k) - 1, 0)
        return np.asarray(log(max(n - 1, 1)) + ways + thin + longer)

    def choice(self, n_named: int) -> float:
        """The price of choosing attributes one after the other; each costs something, also where there are few."""
        return sum(log(max(self.n_attributes - i, 2)) for i in range(n_named))

    def condition(self, c: CodedCondition, *, alone: bool) -> float:
        """The price of one condition: by itself, or where it is added to others."""
        known = self._known.get((c, alone))
        if known is None:
            known = self._known[c, alone] = self._condition(c, alone=alone)
        return known

    def _condition(self, c: CodedCondition, *, alone: bool) -> float:
        if c.levels:
            return self._of_levels(c.attribute, alone=alone)[min(len(c.levels), self.view.columns[c.attribute].n)]
        below = self._people_below(c.attribute)
        share = np.asarray((below[c.high] - below[c.low]) / max(below[-1], 1))
        two_sided = c.low > 0 and c.high < len(below) - 1
        return float(self.interval(c.attribute, share, two_sided=two_sided, alone=alone))

    def _of_levels(self, attribute: int, *, alone: bool) -> list[float]:
        """The prices of naming no level, one, two and so on."""
        key = (attribute, alone)
        if key not in self._levels:
            n_levels = np.arange(self.view.columns[attribute].n + 1)
            self._levels[key] = self.levels(attribute, n_levels, alone=alone).tolist()
        return self._levels[key]

    def surcharge(self, c: CodedCondition) -> float:
        """What a condition must gain beyond its price to be worth adding to others.

        Nothing on a legitimate factor: it only says in which strata the others differ.
        """
        if c.attribute in self.factors:
            return 0.0
        return self.condition(c, alone=False) - self.condition(c, alone=True)

    def criterion(self, criterion: CodedCriterion) -> float:
        """The price of a whole description: which attributes, and what to say of each."""
        return self.choice(len(criterion)) + sum(self.condition(c, alone=True) for c in criterion)
