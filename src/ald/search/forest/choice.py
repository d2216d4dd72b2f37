"""Which attribute a node splits by: the most significant one that has an admissible split."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ald._core.arrays import AnyArray, BoolArray, IntArray
from ald._core.segments import TIE, integer_sums, owner
from ald.search.forest.association import Association
from ald.search.forest.rules import GrowthRules
from ald.search.forest.splitter import BestSplits, Cuts
from ald.statistics.basics import log1m_exp


@dataclass(frozen=True, kw_only=True)
class LevelTests:
    """The association tests of some nodes of a level: consecutive requests for every node, as many for each."""

    nodes: IntArray
    attributes: IntArray
    per_node: IntArray
    association: Association
    significant: BoolArray

    @classmethod
    def of(cls, nodes: IntArray, drawn: IntArray, association: Association, rules: GrowthRules) -> LevelTests:
        """The tests of the drawn attributes [nodes, drawn]."""
        per_node = np.arange(len(nodes) + 1) * drawn.shape[1]
        return cls(
            nodes=np.repeat(nodes, drawn.shape[1]),
            attributes=drawn.ravel(),
            per_node=per_node,
            association=association,
            significant=are_significant(association, per_node, rules),
        )

    def split_by(self, cuts: Cuts) -> BestSplits:
        """The nodes that these cuts part, with the tests that chose them."""
        return BestSplits(
            node=self.nodes[cuts.request],
            attribute=self.attributes[cuts.request],
            statistic=self.association.statistic[cuts.request],
            log_p=self.association.log_p[cuts.request],
            cuts=cuts,
        )


# How the nodes of some requests are cut, of those requests that have an admissible split.
Cutter = Callable[[IntArray], Cuts]
# Orders the attributes of every node: [nodes, tries] requests, best first, -1 for none.
Select = Callable[[LevelTests, int], IntArray]


def are_significant(association: Association, per_node: IntArray, rules: GrowthRules) -> BoolArray:
    """Requests whose p-value is below alpha; strictly, so that alpha = 1 still needs p < 1."""
    log_p = association.log_p
    if rules.bonferroni:
        tests = integer_sums(association.testable, per_node)
        log_p = log1m_exp(tests[owner(per_node)] * log1m_exp(log_p))
    with np.errstate(invalid="ignore"):
        return np.asarray(association.testable & (log_p < np.log(rules.alpha)))


def select_by_log_p(tests: LevelTests, tries: int) -> IntArray:
    """Smallest log p first, then largest statistic, then first column; within the tie tolerance values are equal."""
    per_node = int(tests.per_node[1]) if len(tests.per_node) > 1 else 0
    order = np.full((len(tests.per_node) - 1, tries), -1, dtype=np.int64)

    # One row per attribute drawn: NumPy is fast along the longer axis.
    def rows(column: AnyArray) -> AnyArray:
        return np.ascontiguousarray(column.reshape(-1, per_node)[nodes].T)

    nodes = np.flatnonzero(tests.significant.reshape(-1, per_node).any(axis=1)) if per_node else np.zeros(0, np.int64)
    if len(nodes) == 0:
        return order
    left, value = rows(tests.significant), rows(-tests.association.log_p)
    statistic = rows(tests.association.statistic)
    for attempt in range(tries):
        best = np.where(left, value, -np.inf).max(axis=0)
        with np.errstate(invalid="ignore"):
            tied = left & (value >= best - TIE * np.abs(best))
        largest = np.where(tied, statistic, -np.inf).max(axis=0)
        tied &= statistic >= largest - TIE * np.abs(largest)
        chosen = np.where(tied.any(axis=0), tied.argmax(axis=0), -1)
        order[nodes, attempt] = np.where(chosen >= 0, nodes * per_node + chosen, -1)
        left[chosen[chosen >= 0], np.flatnonzero(chosen >= 0)] = False
    return order


def first_admissible(order: IntArray, cut: Cutter) -> Cuts:
    """How nodes are cut: each by the first of its requests, [nodes, tries] in `order`, with an admissible split."""
    pending = np.arange(len(order))
    found = []
    for attempt in range(order.shape[1]):
        chosen = order[pending, attempt]
        pending, chosen = pending[chosen >= 0], chosen[chosen >= 0]
        if chosen.size == 0:
            break
        cuts = cut(chosen)
        found.append(cuts)
        pending = pending[~np.isin(chosen, cuts.request)]
    return Cuts.in_order(found)
