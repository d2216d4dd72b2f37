"""What growing a forest asks of whoever has the rows: the best splits of nodes.

A splitter knows which rows are in which node. The nodes of the current level are numbered 0, 1, ...; after `split` the
children are the current level: left and right of the first split, left and right of the second, and so on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from ald._core.arrays import BoolArray, FloatArray, IntArray
from ald._core.segments import integer_sums, maxima
from ald.data.coded import Attribute
from ald.notions import Measure
from ald.search.forest.counting import Histograms, Routing
from ald.search.forest.rules import GrowthRules
from ald.search.forest.splitting import Splits
from ald.statistics.basics import chi2_isf

# Degrees of freedom per rate for which significance is known beforehand, and the smallest alpha for which it is.
_MOST_DEGREES = 64
_SMALL = 1e-100


@dataclass(frozen=True, kw_only=True, eq=False)
class NodeTest:
    """What every node of a forest is tested for.

    sizes, nominal, scores: of all attributes, the codes they have, whether these are unordered, and the numbers that
    stand for them. n_cells: the confusion cells; where the counts of a node have more, these are strata of as many
    cells each. effect: by how much clusters or weights inflate test statistics.
    """

    sizes: IntArray
    nominal: BoolArray
    scores: FloatArray
    rates: Measure
    rules: GrowthRules
    n_cells: int
    effect: float = 1.0

    @classmethod
    def of(
        cls,
        attributes: Sequence[Attribute],
        scores: Sequence[FloatArray],
        rates: Measure,
        rules: GrowthRules,
        n_cells: int,
        effect: float = 1.0,
    ) -> NodeTest:
        """scores: of every attribute."""
        return cls(
            sizes=np.array([attribute.size for attribute in attributes], dtype=np.int64),
            nominal=np.array([attribute.is_nominal for attribute in attributes], dtype=bool),
            scores=np.concatenate([np.asarray(score, float) for score in scores]),
            rates=rates,
            rules=rules,
            n_cells=n_cells,
            effect=effect,
        )

    @cached_property
    def score_start(self) -> IntArray:
        """Where the scores of every attribute begin."""
        return np.concatenate([[0], np.cumsum(self.sizes)])[:-1]

    @cached_property
    def critical(self) -> FloatArray:
        """Per degrees of freedom a statistic that is not significant, if only just; empty where none is known."""
        if self.rules.alpha <= _SMALL:
            return np.zeros(0)
        df = np.arange(1, len(self.rates) * _MOST_DEGREES)
        return np.concatenate([[0.0], chi2_isf(self.rules.alpha, df) * self.effect * (1 - 1e-6)])

    def in_strata(self, counts: IntArray) -> IntArray:
        """Counts of nodes as [nodes, strata, cells]."""
        return counts.reshape(len(counts), -1, self.n_cells)

    def people(self, counts: IntArray) -> IntArray:
        """Everyone in the nodes with these counts."""
        return np.asarray(self.rates.people(self.in_strata(counts)).sum(axis=1))


@dataclass(frozen=True, kw_only=True)
class Cuts:
    """How nodes are cut in two: the request for each, and the people per cell on the left and on the right.

    cut: the last code on the left; -1 for unordered attributes, whose levels are codes[offsets[i]:offsets[i + 1]].
    """

    request: IntArray
    cut: IntArray
    left: IntArray
    right: IntArray
    offsets: IntArray
    codes: IntArray
    goes_left: BoolArray

    @classmethod
    def of(cls, requests: IntArray, histograms: Histograms, splits: Splits, nominal: BoolArray) -> Cuts:
        """Those of the requests, one per histogram, for which there is a split."""
        kept = np.flatnonzero(splits.found)
        goes_left = splits.goes_left[histograms.entries(kept)]
        some = histograms.select(kept)
        by_cell = np.ascontiguousarray(some.counts.T)
        left = integer_sums(by_cell * goes_left, some.offsets).T
        last_left = maxima(np.where(goes_left, some.codes, -1).astype(float), some.offsets)
        named = nominal[kept][some.request]
        return cls(
            request=requests[kept],
            cut=np.where(nominal[kept], -1, last_left).astype(np.int64),
            left=left,
            right=integer_sums(by_cell, some.offsets).T - left,
            offsets=np.concatenate([[0], np.cumsum(np.where(nominal[kept], some.lengths, 0))]),
            codes=some.codes[named],
            goes_left=goes_left[named],
        )

    @classmethod
    def none(cls) -> Cuts:
        """No node is cut."""
        none = np.zeros(0, np.int64)
        people = np.zeros((0, 0), np.int64)
        offsets = np.zeros(1, np.int64)
        return cls(
            request=none, cut=none, left=people, right=people, offsets=offsets, codes=none, goes_left=none.astype(bool)
        )

    @classmethod
    def in_order(cls, cuts: Sequence[Cuts]) -> Cuts:
        """Several as one, by request, and thereby by node."""
        if len(cuts) < 2:
            return cuts[0] if cuts else cls.none()
        request = np.concatenate([some.request for some in cuts])
        order = np.argsort(request, kind="stable")
        lengths = np.concatenate([np.diff(some.offsets) for some in cuts])
        starts = np.concatenate([[0], np.cumsum(lengths)])[:-1][order]
        offsets = np.concatenate([[0], np.cumsum(lengths[order])])
        entries = np.repeat(starts - offsets[:-1], lengths[order]) + np.arange(offsets[-1])
        return cls(
            request=request[order],
            cut=np.concatenate([some.cut for some in cuts])[order],
            left=np.concatenate([some.left for some in cuts])[order],
            right=np.concatenate([some.right for some in cuts])[order],
            offsets=offsets,
            codes=np.concatenate([some.codes for some in cuts])[entries],
            goes_left=np.concatenate([some.goes_left for some in cuts])[entries],
        )


@dataclass(frozen=True, kw_only=True)
class BestSplits:
    """The nodes of a level that split, in order: by which attribute, with which test of it, and how."""

    node: IntArray
    attribute: IntArray
    statistic: FloatArray
    log_p: FloatArray
    cuts: Cuts


class Splitter(Protocol):
    """The rows of a forest's nodes, wherever they are."""

    def roots(self) -> IntArray:
        """Counts per cell of every tree's sample: [trees, cells]."""

    def best_splits(self, nodes: IntArray, drawn: IntArray, min_bucket: IntArray, test: NodeTest) -> BestSplits:
        """The best splits of these nodes of the current level, of those that have one.

        drawn: the attributes that each node considers, [nodes, attributes]. min_bucket: the least people on a side.
        """

    def split(self, routing: Routing) -> None:
        """Replaces the current level by the children of the nodes that split."""
