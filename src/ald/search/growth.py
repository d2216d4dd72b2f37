"""Growing the forest breadth-first: one counting call per level for all trees, statistics for all nodes at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from math import ceil, sqrt

import numpy as np

from ald.arrays import BoolArray, FloatArray, IntArray
from ald.data.coded import Attribute, AuditData
from ald.notions import RateCounter
from ald.search import kernels
from ald.search.association import Association, associate
from ald.search.counting import Counter, Histograms, MemoryCounter, Routing
from ald.search.segments import TIE, first_best, integer_sums, maxima, owner
from ald.search.splitting import best_splits
from ald.search.tree import Forest, Level, LevelSplits, in_preorder
from ald.search.within import associate_within, best_splits_within
from ald.statistics import log1m_exp
from ald.threads import in_threads

SAMPLE_SHARE = 0.632
# Rows of all samples below which drawing them in threads costs more than it saves.
_WORTH_A_THREAD = 500_000
# Entries of histograms that are tested at once.
_ENTRIES_AT_ONCE = 1 << 15
_COLUMNS = ("statistic", "df", "log_p")


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
        return np.asarray(np.maximum(self.minbucket, np.ceil(self.minprob * n)), dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class LevelTests:
    """The association tests of a level: `drawn` consecutive requests for every open node."""

    nodes: IntArray
    attributes: IntArray
    per_node: IntArray
    histograms: Histograms
    association: Association
    significant: BoolArray


# Orders the attributes of every node: [open nodes, tries] requests, best first, -1 for none.
Select = Callable[[LevelTests, int], IntArray]


def select_by_log_p(tests: LevelTests, tries: int) -> IntArray:
    """Smallest log p first, then largest statistic, then first column; within the tie tolerance values are equal."""
    order = np.full((len(tests.per_node) - 1, tries), -1, dtype=np.int64)
    left = tests.significant.copy()
    node = owner(tests.per_node)
    for attempt in range(tries):
        value = np.where(left, -tests.association.log_p, -np.inf)
        best = maxima(value, tests.per_node)[node]
        tied = left & (value >= best - TIE * np.abs(best))
        chosen, _ = first_best(np.where(tied, tests.association.statistic, -np.inf), tests.per_node)
        order[:, attempt] = chosen
        left[chosen[chosen >= 0]] = False
    return order


def grow_forest(
    data: AuditData,
    rates: RateCounter,
    rules: GrowthRules,
    rngs: Sequence[np.random.Generator],
    *,
    given: IntArray | None = None,
    effect: float = 1.0,
    threads: int = 1,
    progress: Callable[[float], None] | None = None,
) -> Forest:
    """Step 1: a forest of conditional inference trees, each on 0.632 of the data drawn without replacement.

    given: the stratum of every row; tests and splits are then within strata. effect: by how much clusters or weights
    inflate test statistics.
    """
    drawers = threads if len(rngs) * len(data.cells) >= _WORTH_A_THREAD else 1
    samples = in_threads(lambda rng: data.sample(SAMPLE_SHARE, rng), rngs, drawers)
    n_cells = data.n_cells
    if given is not None:
        cells = (given * n_cells + data.cells).astype(np.uint8)
        data = replace(data, cells=cells, n_cells=n_cells * (int(given.max()) + 1))
    counter = MemoryCounter(data, samples, threads)
    scores = data.scores()
    return grow(
        counter, data.attributes, scores, rates, rules, rngs,
        n_cells=n_cells, effect=effect, threads=threads, progress=progress,
    )  # fmt: skip


def grow(
    counter: Counter,
    attributes: Sequence[Attribute],
    scores: Sequence[FloatArray],
    rates: RateCounter,
    rules: GrowthRules,
    rngs: Sequence[np.random.Generator],
    *,
    select: Select = select_by_log_p,
    n_cells: int | None = None,
    effect: float = 1.0,
    threads: int = 1,
    progress: Callable[[float], None] | None = None,
) -> Forest:
    """Grows all trees level by level from what the counter counts.

    `select` is replaced in tests only, by the reference software's tie rule. `n_cells`: the number of confusion cells,
    where the counter counts them in several strata.
    """
    counts = counter.roots()
    grower = _Grower(attributes, scores, rates, rules, select, n_cells or counts.shape[1], effect, threads)
    n_trees = len(counts)
    level = Level(tree=np.arange(n_trees), parent=np.full(n_trees, -1), is_left=np.zeros(n_trees, bool), counts=counts)
    levels, splits = [], []
    while len(level):
        step = grower.split(counter, level, rngs)
        levels.append(level)
        splits.append(step.splits)
        if progress is not None:
            progress(1.0 - step.children.counts.sum() / max(int(counts.sum()), 1))
        if step.routing is not None:
            counter.split(step.routing)
        level = step.children
    return in_preorder([grower.pooled(level) for level in levels], splits, n_trees)


@dataclass(frozen=True, kw_only=True)
class _Step:
    """What happens to a level: how its nodes split, how rows move (None: not at all), and the next level."""

    splits: LevelSplits
    routing: Routing | None
    children: Level


class _Grower:
    """What stays the same from level to level."""

    def __init__(
        self,
        attributes: Sequence[Attribute],
        scores: Sequence[FloatArray],
        rates: RateCounter,
        rules: GrowthRules,
        select: Select,
        n_cells: int,
        effect: float,
        threads: int,
    ) -> None:
        self.rates, self.rules, self.select = rates, rules, select
        self.n_cells, self.effect, self.threads = n_cells, effect, threads
        self.sizes = np.array([attribute.size for attribute in attributes], dtype=np.int64)
        self.nominal = np.array([attribute.is_nominal for attribute in attributes], dtype=bool)
        # All attributes' scores in one table: entry (attribute, code) at score_start[attribute] + code.
        self.scores = np.concatenate([np.asarray(score, float) for score in scores])
        self.score_start = np.concatenate([[0], np.cumsum(self.sizes)])[:-1]

    def split(self, counter: Counter, level: Level, rngs: Sequence[np.random.Generator]) -> _Step:
        """LevelTests the open nodes of a level and splits those that may and can."""
        open_nodes = np.flatnonzero(self._may_split(level.counts))
        drawn = self._draw(level.tree[open_nodes], rngs)
        if drawn.size == 0:
            return _stop(level)
        tests = self._test(counter, open_nodes, drawn)
        request, histograms, goes_left = self._first_admissible(level, tests)
        if request.size == 0:
            return _stop(level)
        return self._step(level, tests, request, histograms, goes_left)

    def _strata(self, counts: IntArray) -> IntArray:
        """Counts as [nodes, strata, cells]."""
        return counts.reshape(len(counts), -1, self.n_cells)

    def pooled(self, level: Level) -> Level:
        """The level with its counts added up over strata."""
        return replace(level, counts=self._strata(level.counts).sum(axis=1))

    def _may_split(self, counts: IntArray) -> BoolArray:
        """Enough people, and an outcome that is not constant: then something may be testable."""
        strata = self._strata(counts)
        hits, bases = self.rates.hit(strata), self.rates.base(strata)
        varies = ((hits > 0) & (hits < bases)).any(axis=(0, 2))
        return np.asarray((counts.sum(axis=1) >= self.rules.minsplit) & varies)

    def _draw(self, trees: IntArray, rngs: Sequence[np.random.Generator]) -> IntArray:
        """The attributes that each open node considers, ascending. Every tree has its own generator."""
        k = len(self.sizes)
        m = self.rules.drawn(k)
        if m >= k:
            return np.tile(np.arange(k), (len(trees), 1))
        sizes = np.bincount(trees, minlength=len(rngs)).tolist()
        keys = [rng.random((size, k)) for rng, size in zip(rngs, sizes, strict=True) if size]
        if not keys:
            return np.zeros((0, m), dtype=np.int64)
        return np.sort(np.argsort(np.concatenate(keys), axis=1, kind="stable")[:, :m], axis=1)

    def _test(self, counter: Counter, open_nodes: IntArray, drawn: IntArray) -> LevelTests:
        nodes, attributes = np.repeat(open_nodes, drawn.shape[1]), drawn.ravel()
        per_node = np.arange(len(open_nodes) + 1) * drawn.shape[1]
        histograms = self._observed(counter.histograms(nodes, attributes), attributes)
        association = self._associate(histograms, attributes)
        return LevelTests(
            nodes=nodes,
            attributes=attributes,
            per_node=per_node,
            histograms=histograms,
            association=association,
            significant=self._significant(association, per_node),
        )

    def _associate(self, histograms: Histograms, attributes: IntArray) -> Association:
        """The tests of all requests, a few at a time: their arrays then stay in the processor's cache."""

        def associate_part(part: slice) -> Association:
            some = histograms.part(part)
            attribute = attributes[part]
            scores, nominal = (
                self.scores[self.score_start[attribute][some.request] + some.codes],
                self.nominal[attribute],
            )
            if some.counts.shape[1] == self.n_cells:
                return associate(some, nominal, scores, self.rates, self.effect)
            return associate_within(some, nominal, scores, self.rates, self.n_cells, self.effect)

        parts = kernels.chunks(histograms.lengths, 1 + len(histograms.codes) // _ENTRIES_AT_ONCE, 1)
        done = in_threads(associate_part, parts or [slice(0, len(attributes))], self.threads)
        if len(done) == 1:
            return done[0]
        statistic, df, log_p = (np.concatenate([getattr(one, name) for one in done]) for name in _COLUMNS)
        return Association(statistic=statistic, df=df, log_p=log_p)

    def _observed(self, histograms: Histograms, attributes: IntArray) -> Histograms:
        """Without the entries of missing values, which take no part in tests and splits."""
        filled = histograms.lengths > 0
        # A missing value has the largest code, so that it is the last entry of its request.
        last = histograms.offsets[1:][filled] - 1
        missing = last[histograms.codes[last] == self.sizes[attributes[filled]]]
        if len(missing) == 0:
            return histograms
        kept = np.ones(len(histograms.codes), dtype=bool)
        kept[missing] = False
        return histograms.keep(kept)

    def _significant(self, association: Association, per_node: IntArray) -> BoolArray:
        """Requests whose p-value is below alpha; strictly, so that alpha = 1 still needs p < 1 (SPEC 3.3)."""
        log_p = association.log_p
        if self.rules.bonferroni:
            tests = integer_sums(association.testable, per_node)
            log_p = log1m_exp(tests[owner(per_node)] * log1m_exp(log_p))
        with np.errstate(invalid="ignore"):
            return np.asarray(association.testable & (log_p < np.log(self.rules.alpha)))

    def _first_admissible(self, level: Level, tests: LevelTests) -> tuple[IntArray, Histograms, BoolArray]:
        """Per node that splits, in order: the request used, its histogram, and which of its entries go left."""
        n = level.counts.sum(axis=1)
        order = self.select(tests, self.rules.tries)
        pending = np.arange(len(order))
        requests, flags = [np.zeros(0, np.int64)], [np.zeros(0, bool)]
        for attempt in range(order.shape[1]):
            chosen = order[pending, attempt]
            pending, chosen = pending[chosen >= 0], chosen[chosen >= 0]
            if chosen.size == 0:
                break
            part = tests.histograms.select(chosen)
            min_bucket = self.rules.min_bucket(n[tests.nodes[chosen]])
            nominal = self.nominal[tests.attributes[chosen]]
            if part.counts.shape[1] == self.n_cells:
                splits = best_splits(part, nominal, self.rates, min_bucket)
            else:
                splits = best_splits_within(part, nominal, self.rates, min_bucket, self.n_cells)
            requests.append(chosen[splits.found])
            flags.append(splits.goes_left[splits.found[part.request]])
            pending = pending[~splits.found]
        # The histograms of one attempt follow those of another: back to the order of the nodes.
        request = np.concatenate(requests)
        by_node = np.argsort(request, kind="stable")
        found = tests.histograms.select(request)
        return request[by_node], found.select(by_node), np.concatenate(flags)[found.entries(by_node)]

    def _step(
        self, level: Level, tests: LevelTests, request: IntArray, histograms: Histograms, goes_left: BoolArray
    ) -> _Step:
        parent, attribute = tests.nodes[request], tests.attributes[request]
        by_cell = np.ascontiguousarray(histograms.counts.T)
        left = integer_sums(by_cell * goes_left, histograms.offsets).T
        right = integer_sums(by_cell, histograms.offsets).T - left
        # Rows without a value of the attribute follow the larger child; they are on neither side of the criterion.
        missing = level.counts[parent] - left - right
        missing_left = left.sum(axis=1) > right.sum(axis=1)
        left, right = left + missing * missing_left[:, None], right + missing * ~missing_left[:, None]
        children = Level(
            tree=np.repeat(level.tree[parent], 2),
            parent=np.repeat(parent, 2),
            is_left=np.tile([True, False], len(parent)),
            counts=np.stack([left, right], axis=1).reshape(2 * len(parent), -1),
        )
        splits = LevelSplits.none(len(level))
        nominal = self.nominal[attribute]
        last_left = maxima(np.where(goes_left, histograms.codes, -1).astype(float), histograms.offsets)
        splits.attribute[parent] = attribute
        splits.cut[parent] = np.where(nominal, -1, last_left)
        splits.sides.update(_sides(parent, histograms, goes_left, nominal))
        splits.statistic[parent] = tests.association.statistic[request]
        splits.log_p[parent] = tests.association.log_p[request]
        return _Step(
            splits=splits,
            routing=self._routing(parent, attribute, histograms, goes_left, missing_left),
            children=children,
        )

    def _routing(
        self,
        parent: IntArray,
        attribute: IntArray,
        histograms: Histograms,
        goes_left: BoolArray,
        missing_left: BoolArray,
    ) -> Routing:
        offsets = np.concatenate([[0], np.cumsum(self.sizes[attribute] + 1)])
        tables = np.zeros(int(offsets[-1]), dtype=np.uint8)
        tables[offsets[:-1][histograms.request] + histograms.codes] = goes_left
        tables[offsets[1:] - 1] = missing_left
        return Routing(nodes=parent, attributes=attribute, tables=tables, offsets=offsets)


def _stop(level: Level) -> _Step:
    """The level is the last: every node is a leaf."""
    none = np.zeros(0, np.int64)
    children = Level(tree=none, parent=none, is_left=none.astype(bool), counts=level.counts[:0])
    return _Step(splits=LevelSplits.none(len(level)), routing=None, children=children)


def _sides(
    parent: IntArray, histograms: Histograms, goes_left: BoolArray, nominal: BoolArray
) -> dict[int, tuple[tuple[int, ...], tuple[int, ...]]]:
    """The levels that go left and right, for the splits of unordered attributes."""
    offsets, codes, flags = histograms.offsets.tolist(), histograms.codes.tolist(), goes_left.tolist()
    sides, others = {}, (~goes_left).tolist()
    for s, node in zip(np.flatnonzero(nominal).tolist(), parent[nominal].tolist(), strict=True):
        start, end = offsets[s], offsets[s + 1]
        present = codes[start:end]
        sides[node] = (tuple(compress(present, flags[start:end])), tuple(compress(present, others[start:end])))
    return sides
