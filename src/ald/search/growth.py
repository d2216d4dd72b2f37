"""Growing the forest breadth-first: one counting call per level for all trees, statistics for all nodes at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from typing import Any

import numpy as np

from ald.arrays import AnyArray, BoolArray, FloatArray, IntArray
from ald.data.coded import AuditData, Attribute, draw
from ald.notions import RateCounter
from ald.search.association import Association, associate
from ald.search.counting import Counter, Histograms, MemoryCounter, Routing
from ald.search.segments import TIE, first_best, first_where, integer_sums, maxima, owner
from ald.search.splitting import Splits, best_splits
from ald.search.tree import Forest, in_preorder
from ald.statistics import log1m_exp


@dataclass(frozen=True, kw_only=True)
class GrowthRules:
    """When and how a node splits (SPEC 0). `tries`: attributes tried for an admissible split, best first."""

    alpha: float = 0.1
    minsplit: int = 20
    minbucket: int = 7
    minprob: float = 0.01
    tries: int = 2
    attributes_per_node: int | None = None
    bonferroni: bool = False

    def drawn(self, n_attributes: int) -> int:
        """How many attributes a node draws: ceil(sqrt(K)) unless said otherwise."""
        if self.attributes_per_node is None:
            return ceil(sqrt(n_attributes))
        return min(self.attributes_per_node, n_attributes)

    def min_bucket(self, n: IntArray) -> IntArray:
        """The least size of a child, from the size of the node (not of the root)."""
        return np.maximum(self.minbucket, np.ceil(self.minprob * n)).astype(np.int64)


SAMPLE_SHARE = 0.632
Select = Callable[[Association, BoolArray, IntArray, IntArray], IntArray]
Progress = Callable[[float], None]


def grow_forest(
    data: AuditData,
    rates: RateCounter,
    rules: GrowthRules,
    rngs: Sequence[np.random.Generator],
    *,
    threads: int = 1,
    progress: Progress | None = None,
) -> Forest:
    """Step 1: a forest of conditional inference trees, each on 0.632 of the data drawn without replacement."""
    n = int(SAMPLE_SHARE * data.total)
    samples = [draw(data.counts, n, rng) for rng in rngs]
    counter = MemoryCounter(data, samples, threads)
    return grow(counter, data.attributes, data.scores(), rates, rules, rngs, progress=progress)


def grow(
    counter: Counter,
    attributes: Sequence[Attribute],
    scores: Sequence[FloatArray],
    rates: RateCounter,
    rules: GrowthRules,
    rngs: Sequence[np.random.Generator],
    *,
    select: Select | None = None,
    progress: Progress | None = None,
) -> Forest:
    """Grows all trees level by level from what the counter counts.

    `select` orders the attributes of each node; tests replace it by the reference software's tie rule.
    """
    grower = _Grower(attributes, scores, rates, rules, select or select_by_log_p)
    counts = counter.roots()
    level: dict[str, Any] = {
        "tree": np.arange(len(counts)),
        "parent": np.full(len(counts), -1),
        "is_left": np.zeros(len(counts), bool),
        "counts": counts,
    }
    levels = [level]
    people = int(counts.sum())
    while True:
        split = grower.split_level(counter, level, rngs)
        level.update(split.columns)
        if progress is not None:
            progress(1.0 - split.children["counts"].sum() / max(people, 1))
        if split.routing is None:
            break
        counter.split(split.routing)
        level = split.children
        levels.append(level)
    for level in levels:
        level["sides"] = np.array(level["sides"], dtype=object)
    return in_preorder(levels, len(rngs))


@dataclass(frozen=True, kw_only=True)
class _LevelSplit:
    """What happens to a level: its split columns, how rows move (None: nowhere), and the next level."""

    columns: dict[str, Any]
    routing: Routing | None
    children: dict[str, Any]


class _Grower:
    """The parts of growing that stay the same from level to level."""

    def __init__(
        self,
        attributes: Sequence[Attribute],
        scores: Sequence[FloatArray],
        rates: RateCounter,
        rules: GrowthRules,
        select: Select,
    ) -> None:
        self.rates, self.rules, self.select = rates, rules, select
        self.sizes = np.array([attribute.size for attribute in attributes], dtype=np.int64)
        self.nominal = np.array([attribute.is_nominal for attribute in attributes], dtype=bool)
        # All attributes' scores in one table: entry (attribute, code) at score_start[attribute] + code.
        self.scores = np.concatenate([np.asarray(score, float) for score in scores])
        self.score_start = np.concatenate([[0], np.cumsum(self.sizes)])[:-1]

    def split_level(self, counter: Counter, level: dict[str, Any], rngs: Sequence[np.random.Generator]) -> _LevelSplit:
        counts: IntArray = level["counts"]
        open_nodes = np.flatnonzero(self._may_split(counts))
        drawn = self._draw(level["tree"][open_nodes], rngs)
        nodes = np.repeat(open_nodes, drawn.shape[1])
        attributes = drawn.ravel()
        histograms = self._observed(counter.histograms(nodes, attributes), attributes) if nodes.size else None
        if histograms is None:
            return self._no_split(level)
        association = associate(
            histograms, self.nominal[attributes], self._entry_scores(histograms, attributes), self.rates
        )
        per_node = np.arange(len(open_nodes) + 1) * drawn.shape[1]
        significant = self._significant(association, per_node)
        order = self.select(association, significant, attributes, per_node)
        return self._apply(level, open_nodes, nodes, attributes, histograms, association, order)

    def _may_split(self, counts: IntArray) -> BoolArray:
        """Enough people, and an outcome that is not constant: then something may be testable."""
        hits, bases = self.rates.hit(counts), self.rates.base(counts)
        varies = ((hits > 0) & (hits < bases)).any(axis=0)
        return np.asarray((counts.sum(axis=1) >= self.rules.minsplit) & varies)

    def _draw(self, trees: IntArray, rngs: Sequence[np.random.Generator]) -> IntArray:
        """The attributes that each node considers, ascending. Every tree has its own generator."""
        k = len(self.sizes)
        m = self.rules.drawn(k)
        if m >= k:
            return np.tile(np.arange(k), (len(trees), 1))
        sizes = np.bincount(trees, minlength=len(rngs))
        keys = [rng.random((size, k)) for rng, size in zip(rngs, sizes.tolist(), strict=True) if size]
        if not keys:
            return np.zeros((0, m), dtype=np.int64)
        return np.sort(np.argsort(np.concatenate(keys), axis=1, kind="stable")[:, :m], axis=1)

    def _observed(self, histograms: Histograms, attributes: IntArray) -> Histograms:
        """Without the entries of missing values, which take no part in tests and splits."""
        kept = histograms.codes < self.sizes[attributes][owner(histograms.offsets)]
        if kept.all():
            return histograms
        lengths = integer_sums(kept.astype(np.int64), histograms.offsets)
        return Histograms(
            offsets=np.concatenate([[0], np.cumsum(lengths)]),
            codes=histograms.codes[kept],
            counts=histograms.counts[kept],
        )

    def _entry_scores(self, histograms: Histograms, attributes: IntArray) -> FloatArray:
        return self.scores[self.score_start[attributes][owner(histograms.offsets)] + histograms.codes]

    def _significant(self, association: Association, per_node: IntArray) -> BoolArray:
        """Requests whose p-value is below alpha; strictly, so that alpha = 1 still needs p < 1 (SPEC 3.3)."""
        log_p = association.log_p
        if self.rules.bonferroni:
            tests = integer_sums(association.testable.astype(np.int64), per_node)
            log_p = log1m_exp(tests[owner(per_node)] * log1m_exp(log_p))
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(association.testable & (log_p < np.log(self.rules.alpha)))

    def _apply(
        self,
        level: dict[str, Any],
        open_nodes: IntArray,
        nodes: IntArray,
        attributes: IntArray,
        histograms: Histograms,
        association: Association,
        order: IntArray,
    ) -> _LevelSplit:
        """Splits every node by the first of its attributes, in order, that has an admissible split."""
        n = level["counts"].sum(axis=1)
        pending = np.arange(len(open_nodes))
        requests, pieces = [], []
        for attempt in range(order.shape[1]):
            chosen = order[pending, attempt]
            pending, chosen = pending[chosen >= 0], chosen[chosen >= 0]
            if chosen.size == 0:
                break
            part = histograms.select(chosen)
            splits = best_splits(part, self.nominal[attributes[chosen]], self.rates, self.rules.min_bucket(n[nodes[chosen]]))
            requests.append(chosen[splits.found])
            pieces.append((part, splits))
            pending = pending[~splits.found]
        if not requests or not sum(len(request) for request in requests):
            return self._no_split(level)
        return self._children(level, requests, pieces, nodes, attributes, association)

    def _children(
        self,
        level: dict[str, Any],
        requests: list[IntArray],
        pieces: list[tuple[Histograms, Splits]],
        nodes: IntArray,
        attributes: IntArray,
        association: Association,
    ) -> _LevelSplit:
        request = np.concatenate(requests)
        order = np.argsort(nodes[request], kind="stable")
        request = request[order]
        found = [np.flatnonzero(splits.found) for _, splits in pieces]
        parts = [part.select(at) for (part, _), at in zip(pieces, found, strict=True)]
        goes_left = np.concatenate(
            [splits.goes_left[splits.found[owner(part.offsets)]] for part, splits in pieces]
        )
        joined = Histograms(
            offsets=np.concatenate([[0], np.cumsum(np.concatenate([part.lengths for part in parts]))]),
            codes=np.concatenate([part.codes for part in parts]),
            counts=np.concatenate([part.counts for part in parts]),
        )
        flags = Histograms(offsets=joined.offsets, codes=goes_left.astype(np.int64), counts=joined.counts).select(order)
        histogram = joined.select(order)
        goes_left = flags.codes.astype(bool)
        parent, attribute = nodes[request], attributes[request]
        left = integer_sums(histogram.counts * goes_left[:, None], histogram.offsets)
        right = integer_sums(histogram.counts * ~goes_left[:, None], histogram.offsets)
        # Rows without a value of the attribute follow the larger child; they are on neither side of the criterion.
        missing = level["counts"][parent] - left - right
        missing_left = left.sum(axis=1) > right.sum(axis=1)
        left, right = left + missing * missing_left[:, None], right + missing * ~missing_left[:, None]
        columns = self._columns(level, parent, attribute, histogram, goes_left)
        columns["statistic"][parent] = association.statistic[request]
        columns["log_p"][parent] = association.log_p[request]
        children = {
            "tree": np.repeat(level["tree"][parent], 2),
            "parent": np.repeat(parent, 2),
            "is_left": np.tile([True, False], len(parent)),
            "counts": np.stack([left, right], axis=1).reshape(2 * len(parent), -1),
        }
        routing = self._routing(parent, attribute, histogram, goes_left, missing_left)
        return _LevelSplit(columns=columns, routing=routing, children=children)

    def _routing(
        self, parent: IntArray, attribute: IntArray, histogram: Histograms, goes_left: BoolArray, missing_left: BoolArray
    ) -> Routing:
        widths = self.sizes[attribute] + 1
        offsets = np.concatenate([[0], np.cumsum(widths)])
        tables = np.zeros(int(offsets[-1]), dtype=np.uint8)
        tables[offsets[:-1][owner(histogram.offsets)] + histogram.codes] = goes_left
        tables[offsets[1:] - 1] = missing_left
        return Routing(nodes=parent, attributes=attribute, tables=tables, offsets=offsets)

    def _columns(
        self, level: dict[str, Any], parent: IntArray, attribute: IntArray, histogram: Histograms, goes_left: BoolArray
    ) -> dict[str, Any]:
        columns = self._no_split(level).columns
        columns["attribute"][parent] = attribute
        nominal = self.nominal[attribute]
        last_left = np.where(goes_left, histogram.codes, -1)
        columns["cut"][parent] = np.where(nominal, -1, maxima(last_left.astype(float), histogram.offsets)).astype(np.int64)
        offsets, codes, flags = histogram.offsets.tolist(), histogram.codes.tolist(), goes_left.tolist()
        for s in np.flatnonzero(nominal).tolist():
            window = range(offsets[s], offsets[s + 1])
            sides = tuple(codes[i] for i in window if flags[i]), tuple(codes[i] for i in window if not flags[i])
            columns["sides"][int(parent[s])] = sides
        return columns

    def _no_split(self, level: dict[str, Any]) -> _LevelSplit:
        n = len(level["tree"])
        columns: dict[str, Any] = {
            "attribute": np.full(n, -1),
            "cut": np.full(n, -1),
            "sides": {},
            "statistic": np.full(n, np.nan),
            "log_p": np.full(n, np.nan),
        }
        children: dict[str, AnyArray] = {"counts": np.zeros((0, level["counts"].shape[1]), np.int64)}
        return _LevelSplit(columns=columns, routing=None, children=children)


def select_by_log_p(
    association: Association, significant: BoolArray, attributes: IntArray, per_node: IntArray, tries: int = 2
) -> IntArray:
    """Per node the requests to try, best first: smallest log p, then largest statistic, then first column.

    -1 where there is none. Values within the tie tolerance count as equal.
    """
    order = np.full((len(per_node) - 1, tries), -1, dtype=np.int64)
    left = significant.copy()
    node = owner(per_node)
    for attempt in range(tries):
        value = np.where(left, -association.log_p, -np.inf)
        best = maxima(value, per_node)
        with np.errstate(invalid="ignore"):
            tied = left & (value >= best[node] - TIE * np.abs(best[node]))
        order[:, attempt], _ = first_best(np.where(tied, association.statistic, -np.inf), per_node)
        chosen = order[:, attempt]
        left[chosen[chosen >= 0]] = False
    return order


__all__ = ["GrowthRules", "first_where", "grow", "grow_forest", "select_by_log_p"]
