"""Growing the forest breadth-first: one counting call per level for all trees, statistics for all nodes at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, sqrt

import numpy as np

from ald._core import kernels
from ald._core.arrays import AnyArray, BoolArray, FloatArray, IntArray
from ald._core.segments import TIE, few_sums, integer_sums, maxima, owner
from ald._core.threads import in_threads
from ald.data import packing
from ald.data.coded import Attribute, AuditData
from ald.data.packing import PackedRows
from ald.groups.tree import Forest, Level, LevelSplits, Sides, in_preorder
from ald.notions import RateCounter
from ald.search.forest import packed
from ald.search.forest.association import Association, associate, combine
from ald.search.forest.counting import Counter, Histograms, MemoryCounter, Routing
from ald.search.forest.packed import ASK, FOUND, PackedCounter, Plan, Tested
from ald.search.forest.splitting import Splits, best_splits
from ald.search.forest.within import associate_within, best_splits_within
from ald.statistics.basics import chi2_isf, log1m_exp

SAMPLE_SHARE = 0.632
# Rows of all samples below which drawing them in threads costs more than it saves.
_WORTH_A_THREAD = 500_000
# Bytes per row of a tree's sample where rows are not packed.
_UNPACKED_BYTES = 16
# Entries of histograms that are tested at once.
_ENTRIES_AT_ONCE = 1 << 15
# Degrees of freedom per rate for which significance is known beforehand, and the smallest alpha for which it is.
_MOST_DEGREES = 64
_SMALL = 1e-100
_COLUMNS = ("statistic", "df", "log_p")


@dataclass(frozen=True, kw_only=True)
class GrowthRules:
    """When and how a node splits. `tries`: attributes tried for an admissible split, best first."""

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
    association: Association
    significant: BoolArray


@dataclass(frozen=True, kw_only=True)
class Parts:
    """How nodes part: the request of each, and the people per cell on the left and on the right.

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
    def of(cls, requests: IntArray, histograms: Histograms, splits: Splits, nominal: BoolArray) -> Parts:
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
    def tested(cls, requests: IntArray, tested: Tested, nominal: BoolArray) -> Parts:
        """Those that the counter found. nominal: of every request."""
        unordered = nominal[requests]
        present = np.where(unordered, tested.present_bits[requests], np.uint64(0))
        split, codes = np.nonzero(_bits(present))
        left = tested.left[requests]
        return cls(
            request=requests,
            cut=np.where(unordered, -1, tested.cut[requests]),
            left=left,
            right=tested.observed[requests] - left,
            offsets=np.concatenate([[0], np.cumsum(np.bincount(split, minlength=len(requests)))]),
            codes=codes,
            goes_left=_bits(tested.left_bits[requests])[split, codes],
        )

    @classmethod
    def in_order(cls, parts: Sequence[Parts], n_cells: int) -> Parts:
        """Several as one, by request, and thereby by node."""
        if len(parts) == 1:
            return parts[0]
        none = np.zeros(0, np.int64)
        request = np.concatenate([none, *(part.request for part in parts)])
        order = np.argsort(request, kind="stable")
        empty = np.zeros((0, n_cells), np.int64)
        lengths = np.concatenate([none, *(np.diff(part.offsets) for part in parts)])
        starts = np.concatenate([[0], np.cumsum(lengths)])[:-1][order]
        offsets = np.concatenate([[0], np.cumsum(lengths[order])])
        entries = np.repeat(starts - offsets[:-1], lengths[order]) + np.arange(offsets[-1])
        return cls(
            request=request[order],
            cut=np.concatenate([none, *(part.cut for part in parts)])[order],
            left=np.concatenate([empty, *(part.left for part in parts)])[order],
            right=np.concatenate([empty, *(part.right for part in parts)])[order],
            offsets=offsets,
            codes=np.concatenate([none, *(part.codes for part in parts)])[entries],
            goes_left=np.concatenate([none.astype(bool), *(part.goes_left for part in parts)])[entries],
        )


def _bits(words: AnyArray) -> BoolArray:
    """The bits of every word, lowest first: [words, 64]."""
    little = words.astype("<u8").view(np.uint8).reshape(len(words), 8)
    return np.unpackbits(little, axis=1, bitorder="little").astype(bool)


def _smallest(keys: FloatArray, m: int) -> IntArray:
    """The columns of the m smallest numbers of every row, ascending; the first ones of equal numbers."""
    chosen = keys <= np.partition(keys, m - 1, axis=1)[:, m - 1 : m]
    if np.count_nonzero(chosen) == m * len(keys):
        return np.nonzero(chosen)[1].reshape(-1, m)
    return np.sort(np.argsort(keys, axis=1, kind="stable")[:, :m], axis=1)


# How some requests part, those that can.
Cutter = Callable[[IntArray], Parts]
# Orders the attributes of every node: [open nodes, tries] requests, best first, -1 for none.
Select = Callable[[LevelTests, int], IntArray]


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


def bytes_per_row(data: AuditData) -> int:
    """The memory that growing one tree takes for every row of the data."""
    if not packing.available(data):
        return _UNPACKED_BYTES
    return 8 * packing.words_per_row(data)


def counter_of(data: AuditData, samples: Sequence[IntArray], threads: int = 1) -> Counter:
    """The faster counter of those that can count this data. samples: per tree how often each row is in its sample."""
    return (
        PackedCounter.of(data, samples, threads) if packing.available(data) else MemoryCounter(data, samples, threads)
    )


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
    rows: PackedRows | None = None,
) -> Forest:
    """Step 1: a forest of conditional inference trees, each on 0.632 of the data drawn without replacement.

    given: the stratum of every row; tests and splits are then within strata. effect: by how much clusters or weights
    inflate test statistics. rows: of the data, if they are packed already.
    """
    n_cells = data.n_cells
    counter: Counter
    if given is None and packing.available(data):
        counter = PackedCounter.drawn(data, SAMPLE_SHARE, rngs, threads, rows)
    else:
        drawers = threads if len(rngs) * len(data.cells) >= _WORTH_A_THREAD else 1
        samples = in_threads(lambda rng: data.sample(SAMPLE_SHARE, rng), rngs, drawers)
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
    n_counted = counts.shape[1]
    grower = _Grower(attributes, scores, rates, rules, select, n_cells or n_counted, n_counted, effect, threads)
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
        n_counted: int,
        effect: float,
        threads: int,
    ) -> None:
        self.rates, self.rules, self.select = rates, rules, select
        self.n_cells, self.n_counted, self.effect, self.threads = n_cells, n_counted, effect, threads
        self.sizes = np.array([attribute.size for attribute in attributes], dtype=np.int64)
        self.nominal = np.array([attribute.is_nominal for attribute in attributes], dtype=bool)
        # All attributes' scores in one table: entry (attribute, code) at score_start[attribute] + code.
        self.scores = np.concatenate([np.asarray(score, float) for score in scores])
        self.score_start = np.concatenate([[0], np.cumsum(self.sizes)])[:-1]
        self.plan = self._plan()

    def _plan(self) -> Plan:
        hits, bases = self.rates.masks()
        df = np.arange(1, len(hits) * _MOST_DEGREES)
        # A little below where significance begins. Where something else decides about it, everything is looked at.
        usual = self.select is select_by_log_p and self.rules.alpha > _SMALL
        critical = chi2_isf(self.rules.alpha, df) * self.effect * (1 - 1e-6) if usual else np.zeros(0)
        return Plan(
            nominal=self.nominal.astype(np.uint8),
            scores=self.scores,
            hits=hits,
            bases=bases,
            critical=np.concatenate([[0.0], critical]) if usual else critical,
            disjoint=self.rates.disjoint,
        )

    def split(self, counter: Counter, level: Level, rngs: Sequence[np.random.Generator]) -> _Step:
        """LevelTests the open nodes of a level and splits those that may and can."""
        open_nodes = np.flatnonzero(self._may_split(level.counts))
        drawn = self._draw(level.tree[open_nodes], rngs)
        if drawn.size == 0:
            return _stop(level)
        parts, tests = self._parts(counter, level, open_nodes, drawn)
        if parts.request.size == 0:
            return _stop(level)
        return self._step(level, tests, parts)

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
        return _smallest(np.concatenate(keys), m)

    def _parts(self, counter: Counter, level: Level, open_nodes: IntArray, drawn: IntArray) -> tuple[Parts, LevelTests]:
        """How the open nodes part that do, and all their tests."""
        nodes, attributes = np.repeat(open_nodes, drawn.shape[1]), drawn.ravel()
        per_node = np.arange(len(open_nodes) + 1) * drawn.shape[1]
        min_bucket = self.rules.min_bucket(level.counts[open_nodes].sum(axis=1))
        cutter: Cutter
        tested = None
        if isinstance(counter, PackedCounter):
            tested = counter.tests(open_nodes, drawn, min_bucket, self.plan)
            association = self._association(tested)
            cutter = partial(self._cut_tested, counter, tested, nodes, attributes, min_bucket)
        else:
            histograms = self._observed(counter.histograms(nodes, attributes), attributes)
            association = self._associate(histograms, attributes)
            cutter = partial(self._cut, histograms, attributes, np.repeat(min_bucket, drawn.shape[1]))
        tests = LevelTests(
            nodes=nodes,
            attributes=attributes,
            per_node=per_node,
            association=association,
            significant=self._significant(association, per_node),
        )
        if tested is not None and self.select is select_by_log_p:
            columns = association.log_p, association.statistic, tests.significant
            chosen = packed.choose(tested, *columns, len(open_nodes), self.rules.tries)
            if chosen is not None:
                return Parts.tested(chosen[chosen >= 0], tested, self.nominal[attributes]), tests
        return self._first_admissible(tests, cutter), tests

    def _association(self, tested: Tested) -> Association:
        """What the counter found, as tests. Where nothing can be significant, the p-value is not worth its time: 1."""
        statistic = tested.statistic if self.effect == 1.0 else tested.statistic / self.effect
        known = len(self.plan.critical)
        if known == 0 or not self.rates.disjoint:
            return combine(statistic, tested.df, self.rates)
        df = few_sums(tested.df, 0)
        total = tested.statistic.sum(axis=0)
        worth = np.flatnonzero((df >= known) | (total >= self.plan.critical[np.minimum(df, known - 1)]))
        some = combine(statistic[:, worth], tested.df[:, worth], self.rates)
        association = Association(statistic=statistic.sum(axis=0), df=df, log_p=np.where(df > 0, 0.0, np.nan))
        association.log_p[worth] = some.log_p
        return association

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
        """Requests whose p-value is below alpha; strictly, so that alpha = 1 still needs p < 1."""
        log_p = association.log_p
        if self.rules.bonferroni:
            tests = integer_sums(association.testable, per_node)
            log_p = log1m_exp(tests[owner(per_node)] * log1m_exp(log_p))
        with np.errstate(invalid="ignore"):
            return np.asarray(association.testable & (log_p < np.log(self.rules.alpha)))

    def _first_admissible(self, tests: LevelTests, cutter: Cutter) -> Parts:
        """How the nodes part that do, in order: by the first of their attributes that has an admissible split."""
        order = self.select(tests, self.rules.tries)
        pending = np.arange(len(order))
        found = []
        for attempt in range(order.shape[1]):
            chosen = order[pending, attempt]
            pending, chosen = pending[chosen >= 0], chosen[chosen >= 0]
            if chosen.size == 0:
                break
            parts = cutter(chosen)
            found.append(parts)
            pending = pending[~np.isin(chosen, parts.request)]
        return Parts.in_order(found, len(tests.nodes) and self.n_counted)

    def _cut(self, histograms: Histograms, attributes: IntArray, min_bucket: IntArray, chosen: IntArray) -> Parts:
        """The best splits of some requests, from their histograms."""
        part = histograms.select(chosen)
        nominal = self.nominal[attributes[chosen]]
        if part.counts.shape[1] == self.n_cells:
            splits = best_splits(part, nominal, self.rates, min_bucket[chosen])
        else:
            splits = best_splits_within(part, nominal, self.rates, min_bucket[chosen], self.n_cells)
        return Parts.of(chosen, part, splits, nominal)

    def _cut_tested(
        self,
        counter: PackedCounter,
        tested: Tested,
        nodes: IntArray,
        attributes: IntArray,
        min_bucket: IntArray,
        chosen: IntArray,
    ) -> Parts:
        """The best splits of some requests, as the counter found them, or as it asks us to."""
        parts = [Parts.tested(chosen[tested.state[chosen] == FOUND], tested, self.nominal[attributes])]
        open_questions = chosen[tested.state[chosen] == ASK]
        if open_questions.size:
            asked = attributes[open_questions]
            histograms = self._observed(counter.histograms(nodes[open_questions], asked), asked)
            per_node = len(nodes) // len(min_bucket)
            found = self._cut(histograms, asked, min_bucket[open_questions // per_node], np.arange(len(asked)))
            parts.append(replace(found, request=open_questions[found.request]))
        return Parts.in_order(parts, self.n_counted)

    def _step(self, level: Level, tests: LevelTests, parts: Parts) -> _Step:
        parent, attribute = tests.nodes[parts.request], tests.attributes[parts.request]
        left, right = parts.left, parts.right
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
        unordered = np.flatnonzero(parts.cut < 0)
        none = LevelSplits.none(len(level))
        splits = replace(
            none,
            sides=Sides(
                nodes=parent[unordered],
                offsets=np.concatenate([[0], np.cumsum(np.diff(parts.offsets)[unordered])]),
                codes=parts.codes,
                is_left=parts.goes_left,
            ),
        )
        splits.attribute[parent] = attribute
        splits.cut[parent] = parts.cut
        splits.statistic[parent] = tests.association.statistic[parts.request]
        splits.log_p[parent] = tests.association.log_p[parts.request]
        routing = Routing(
            nodes=parent,
            attributes=attribute,
            sizes=self.sizes[attribute],
            cut=parts.cut,
            of_split=owner(parts.offsets),
            codes=parts.codes,
            goes_left=parts.goes_left,
            missing_left=missing_left,
        )
        return _Step(splits=splits, routing=routing, children=children)


def _stop(level: Level) -> _Step:
    """The level is the last: every node is a leaf."""
    none = np.zeros(0, np.int64)
    children = Level(tree=none, parent=none, is_left=none.astype(bool), counts=level.counts[:0])
    return _Step(splits=LevelSplits.none(len(level)), routing=None, children=children)
