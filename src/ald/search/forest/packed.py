"""A splitter that keeps rows packed in words, side by side in their nodes, and tests nodes while it visits them.

It gives what `HistogramSplitter` gives with a `MemoryCounter`, to the last bit, and needs the compiled kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ald._core import kernels
from ald._core.arrays import AnyArray, BoolArray, ByteArray, FloatArray, IntArray
from ald._core.segments import few_sums
from ald._core.threads import in_threads
from ald.data.coded import AuditData
from ald.data.drawing import as_bits
from ald.data.hashing import drawn_bits, key_of, row_hashes
from ald.data.packing import WORTH_A_THREAD, PackedRows, WordLayout, kernel
from ald.notions import AMOUNT_CELLS, RateCounter
from ald.search.forest.association import Association, combine
from ald.search.forest.choice import LevelTests, first_admissible, select_by_log_p
from ald.search.forest.counting import Histograms, Routing
from ald.search.forest.histograms import cuts_of, without_missing
from ald.search.forest.splitter import BestSplits, Cuts, NodeTest

# People in all samples below which drawing them in threads costs more than it saves.
_WORTH_DRAWING_IN_THREADS = 200_000
# Unordered attributes with this many codes or more part by tables, and Python finds how.
_BITS = 64
# The one mean of amounts is not made of cells.
_NO_CELLS = np.zeros(1, np.int64)
# What the kernel says of a request: there is no admissible cut, here is the best one, or Python has to look for it.
NO_CUT, CUT, UNSETTLED = 0, 1, 2


@dataclass(frozen=True, kw_only=True)
class KernelTest:
    """What every node is tested for, as the kernel reads it. `hits` and `bases`: the cells of every rate, as bits.

    critical: statistics below critical[df] are not worth a cut; may be empty. disjoint: whether rates add up.
    """

    nominal: ByteArray
    scores: FloatArray
    hits: IntArray
    bases: IntArray
    critical: FloatArray
    disjoint: bool

    @classmethod
    def of(cls, test: NodeTest) -> KernelTest:
        """The test of all nodes of a forest."""
        hits, bases = test.rates.masks() if isinstance(test.rates, RateCounter) else (_NO_CELLS, _NO_CELLS)
        return cls(
            nominal=test.nominal.astype(np.uint8),
            scores=test.scores,
            hits=hits,
            bases=bases,
            critical=test.critical,
            disjoint=test.rates.disjoint,
        )

    @classmethod
    def none(cls, sizes: IntArray) -> KernelTest:
        """Rows are moved only, and nothing is tested. sizes: of all attributes."""
        one = np.ones(1, np.int64)
        return cls(
            nominal=np.zeros(len(sizes), np.uint8), scores=np.zeros(int(sizes.sum())),
            hits=one, bases=one, critical=np.zeros(0), disjoint=True,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Visit:
    """Per request the statistic and degrees of freedom of every rate [rates, requests], and the best cut.

    state: NO_CUT, CUT or UNSETTLED. cut: the last code on the left; left_bits, present_bits: the levels on the left,
    and all that occur; left, observed: people per cell on the left, and with a value at all.
    """

    statistic: FloatArray
    df: IntArray
    state: ByteArray
    cut: IntArray
    left_bits: AnyArray
    present_bits: AnyArray
    left: IntArray
    observed: IntArray

    @classmethod
    def empty(cls, rates: int, requests: int, n_cells: int) -> Visit:
        """Room for what the kernel finds."""
        return cls(
            statistic=np.empty((rates, requests)),
            df=np.empty((rates, requests), np.int64),
            state=np.empty(requests, np.uint8),
            cut=np.empty(requests, np.int64),
            left_bits=np.empty(requests, np.uint64),
            present_bits=np.empty(requests, np.uint64),
            left=np.empty((requests, n_cells), np.int64),
            observed=np.empty((requests, n_cells), np.int64),
        )

    def association(self, test: NodeTest) -> Association:
        """The tests of all requests. Where nothing can be significant, the p-value is not worth its time: 1."""
        statistic = self.statistic if test.effect == 1.0 else self.statistic / test.effect
        critical, known = test.critical, len(test.critical)
        if known == 0 or not test.rates.disjoint:
            return combine(statistic, self.df, test.rates)
        df = few_sums(self.df, 0)
        total = self.statistic.sum(axis=0)
        worth = np.flatnonzero((df >= known) | (total >= critical[np.minimum(df, known - 1)]))
        some = combine(statistic[:, worth], self.df[:, worth], test.rates)
        association = Association(statistic=statistic.sum(axis=0), df=df, log_p=np.where(df > 0, 0.0, np.nan))
        association.log_p[worth] = some.log_p
        return association

    def cuts(self, requests: IntArray, nominal: BoolArray) -> Cuts:
        """Those of some requests, all of which have one. nominal: of every request."""
        unordered = nominal[requests]
        present = np.where(unordered, self.present_bits[requests], np.uint64(0))
        split, codes = np.nonzero(_bits(present))
        left = self.left[requests]
        return Cuts(
            request=requests,
            cut=np.where(unordered, -1, self.cut[requests]),
            left=left,
            right=self.observed[requests] - left,
            offsets=np.concatenate([[0], np.cumsum(np.bincount(split, minlength=len(requests)))]),
            codes=codes,
            goes_left=_bits(self.left_bits[requests])[split, codes],
        )


def _bits(words: AnyArray) -> BoolArray:
    """The bits of every word, lowest first: [words, 64]."""
    little = words.astype("<u8").view(np.uint8).reshape(len(words), 8)
    return np.unpackbits(little, axis=1, bitorder="little").astype(bool)


def choose(visit: Visit, tests: LevelTests, tries: int) -> IntArray | None:
    """The request by which each node splits, -1 for none; None if the cuts of some requests are unsettled.

    The first with a cut of those that `ald.search.forest.choice.select_by_log_p` puts first.
    """
    if (visit.state == UNSETTLED).any():
        return None
    chosen = np.empty(len(tests.per_node) - 1, np.int64)
    statistic = np.ascontiguousarray(tests.association.statistic)
    arrays = (tests.association.log_p, statistic, tests.significant.view(np.uint8), visit.state, chosen)
    kernel().choose(tries, arrays)
    return chosen


class PackedSplitter:
    """Splits nodes of coded data in memory, as packed rows; a counter too, where others test and split."""

    def __init__(
        self,
        data: AuditData,
        layout: WordLayout,
        rows: AnyArray,
        starts: IntArray,
        ends: IntArray,
        counts: IntArray,
        threads: int,
    ) -> None:
        """rows: those of all trees, each tree's from starts[tree] to ends[tree]; counts: people per tree and cell, or
        what `ald.notions.AMOUNT_CELLS` names.
        """
        self._layout, self._threads = layout, threads
        self._sizes = np.array([attribute.size for attribute in data.attributes], dtype=np.int64)
        self._amounts = data.design.amounts is not None
        self._n_cells = len(AMOUNT_CELLS) if self._amounts else data.n_cells
        self._rows, self._counts = rows, counts
        self._starts, self._ends = starts, ends
        self._routing: Routing | None = None

    @classmethod
    def draw(
        cls,
        data: AuditData,
        share: float,
        rngs: Sequence[np.random.Generator],
        threads: int = 1,
        rows: PackedRows | None = None,
        room: AnyArray | None = None,
    ) -> PackedSplitter:
        """A tree per generator, on a sample of about a share of all people. rows: of the data, if they are packed.

        room: words for the rows of all trees, as many as the data has for each.
        """
        everyone = rows or PackedRows.of(data, threads)
        data = replace(data, hashes=row_hashes(data, threads))
        by_bits = data.design.clusters is None and data.one_each and kernels.draw() is not None

        def samples(group: slice) -> Iterator[AnyArray]:
            for rng in rngs[group]:
                if by_bits:
                    yield drawn_bits(row_hashes(data), share, key_of(rng))[0]
                else:
                    yield data.sample(share, rng)

        some = threads if len(rngs) * data.total >= _WORTH_DRAWING_IN_THREADS else 1
        return cls._fill(data, everyone, samples, len(rngs), len(data.cells), threads, some, room)

    @classmethod
    def of(cls, data: AuditData, samples: Sequence[IntArray], threads: int = 1) -> PackedSplitter:
        """samples: per tree how often each row of the data is in its sample."""
        most = max((int(sample.max()) for sample in samples if len(sample)), default=1)
        rows = max((int(np.count_nonzero(sample)) for sample in samples), default=0)
        everyone = PackedRows.of(data, threads, most)
        return cls._fill(data, everyone, lambda group: iter(samples[group]), len(samples), rows, threads, 1)

    @classmethod
    def _fill(
        cls,
        data: AuditData,
        everyone: PackedRows,
        samples: Callable[[slice], Iterator[AnyArray]],
        n_trees: int,
        most: int,
        threads: int,
        drawers: int,
        room: AnyArray | None = None,
    ) -> PackedSplitter:
        """samples: of some trees, one after the other, as bits of rows or as people per row; most: rows in one."""
        layout = everyone.layout
        words = n_trees * most * layout.n_words
        out = (np.empty(words, np.uint64) if room is None else room[:words]).reshape(-1, layout.n_words)
        cells = np.zeros((n_trees, 1 << layout.cell_bits), np.int64)

        def fill(group: slice) -> list[int]:
            lengths = []
            for tree, sample in zip(range(group.start, group.stop), samples(group), strict=True):
                place = slice(tree * most, (tree + 1) * most)
                is_counted = layout.weight[0] >= 0
                taken = (None, sample) if is_counted else (as_bits(sample), None)
                lengths.append(kernel().select(layout.shape, (everyone.words, *taken, out[place], cells[tree])))
            return lengths

        # A few trees at a time: handing over single ones takes longer than drawing small samples.
        groups = kernels.chunks(np.ones(n_trees, np.int64), 2 * drawers if drawers > 1 else 1, 1)
        filled = in_threads(fill, groups, drawers)
        lengths = np.array([length for group in filled for length in group], dtype=np.int64)
        starts = np.arange(n_trees, dtype=np.int64) * most
        counts = cells[:, : data.n_cells]
        if data.design.amounts is not None:
            counts = np.empty((n_trees, len(AMOUNT_CELLS)), np.int64)

            def add(group: slice) -> None:
                arrays = (out, starts[group], starts[group] + lengths[group], counts[group])
                kernel().sum_amounts(layout.shape, arrays)

            in_threads(add, groups, drawers)
        return cls(data, layout, out, starts, starts + lengths, counts, threads)

    def roots(self) -> IntArray:
        return self._counts

    def split(self, routing: Routing) -> None:
        """Rows move when the next question about them comes: then it is known which nodes are still of interest."""
        self._settle()
        self._routing = routing

    def histograms(self, nodes: IntArray, attributes: IntArray) -> Histograms:
        self._settle()
        starts, ends = self._starts[nodes], self._ends[nodes]
        layout = self._layout
        capacity = int(np.minimum(ends - starts, self._sizes[attributes] + 1).sum())
        codes, counts = np.empty(capacity, np.uint32), np.empty((capacity, self._n_cells), np.int64)
        used = np.zeros(len(nodes), np.int64)
        arrays = (*layout.fields(self._sizes), self._rows, starts, ends, attributes, codes, counts, used)
        written = (
            kernel().count_amounts(layout.shape, arrays)
            if self._amounts
            else kernel().count(layout.shape, self._n_cells, arrays)
        )
        offsets = np.concatenate([[0], np.cumsum(used)])
        return Histograms(offsets=offsets, codes=codes[:written].astype(np.int64), counts=counts[:written])

    def best_splits(self, nodes: IntArray, drawn: IntArray, min_bucket: IntArray, test: NodeTest) -> BestSplits:
        visit = self.visit(nodes, drawn, min_bucket, KernelTest.of(test))
        tests = LevelTests.of(nodes, drawn, visit.association(test), test.rules)
        chosen = choose(visit, tests, test.rules.tries)
        if chosen is not None:
            return tests.split_by(visit.cuts(chosen[chosen >= 0], test.nominal[tests.attributes]))
        cut = partial(self._cut, visit=visit, tests=tests, min_bucket=min_bucket, test=test)
        return tests.split_by(first_admissible(select_by_log_p(tests, test.rules.tries), cut))

    def _cut(self, chosen: IntArray, *, visit: Visit, tests: LevelTests, min_bucket: IntArray, test: NodeTest) -> Cuts:
        """The best splits of some requests, as the visit found them, or by NumPy where it did not settle them."""
        cuts = [visit.cuts(chosen[visit.state[chosen] == CUT], test.nominal[tests.attributes])]
        left = chosen[visit.state[chosen] == UNSETTLED]
        if left.size:
            attributes = tests.attributes[left]
            histograms = without_missing(self.histograms(tests.nodes[left], attributes), attributes, test)
            least = min_bucket[left // tests.per_node[1]]
            found = cuts_of(histograms, np.arange(len(left)), attributes=attributes, min_bucket=least, test=test)
            cuts.append(replace(found, request=left[found.request]))
        return Cuts.in_order(cuts)

    def visit(self, nodes: IntArray, drawn: IntArray, min_bucket: IntArray, test: KernelTest) -> Visit:
        """Tests the drawn attributes [nodes, drawn] of these nodes; all others of the level are forgotten."""
        found = Visit.empty(len(test.hits), drawn.size, self._n_cells)
        self._visit(nodes, drawn, min_bucket, test, found)
        return found

    def _settle(self) -> None:
        """Moves all rows to where the last split sends them."""
        if self._routing is None:
            return
        nodes = np.arange(2 * len(self._routing.nodes))
        none = np.zeros((len(nodes), 0), np.int64)
        self.visit(nodes, none, np.zeros(len(nodes), np.int64), KernelTest.none(self._sizes))

    def _visit(self, nodes: IntArray, drawn: IntArray, min_bucket: IntArray, test: KernelTest, found: Visit) -> None:
        routing, layout = self._routing, self._layout
        if routing is None:
            size = len(self._starts)
            units = _Units.still(self._starts[nodes], self._ends[nodes])
        else:
            size = 2 * len(routing.nodes)
            place_of = np.full(size, -1, dtype=np.int64)
            place_of[nodes] = np.arange(len(nodes))
            units = _Units.moving(routing, self._starts, self._ends, place_of, test.nominal.astype(bool))
        node_start, node_end = np.zeros(len(nodes), np.int64), np.zeros(len(nodes), np.int64)
        arrays = (
            *layout.fields(self._sizes, test.nominal, test.scores), *units.arrays,
            np.ascontiguousarray(drawn.ravel()), min_bucket, test.hits, test.bases,
            test.critical, self._rows, node_start, node_end, found.statistic, found.df, found.state,
            found.cut, found.left_bits, found.present_bits, found.left, found.observed,
        )  # fmt: skip
        compiled = kernel()

        def visit(part: slice) -> None:
            if self._amounts:
                compiled.visit_amounts(layout.shape, part.start, part.stop, arrays)
            else:
                compiled.visit(layout.shape, self._n_cells, part.start, part.stop, int(test.disjoint), arrays)

        in_threads(visit, kernels.chunks(units.work, self._threads, WORTH_A_THREAD), self._threads)
        self._starts, self._ends = np.zeros(size, np.int64), np.zeros(size, np.int64)
        self._starts[nodes], self._ends[nodes] = node_start, node_end
        self._routing = None


@dataclass(frozen=True, kw_only=True)
class _Units:
    """The kernel's pieces of work: nodes to visit where they are, or to part."""

    arrays: tuple[AnyArray, ...]
    work: IntArray

    @classmethod
    def still(cls, starts: IntArray, ends: IntArray) -> _Units:
        n = len(starts)
        zero, none = np.zeros(n, np.int64), np.full(n, -1, dtype=np.int64)
        bits = np.zeros(n, np.uint64)
        arrays = (starts, ends, none, zero, zero, bits, none, np.arange(n), none, np.zeros(1, np.uint8))
        return cls(arrays=arrays, work=ends - starts)

    @classmethod
    def moving(
        cls, routing: Routing, starts: IntArray, ends: IntArray, place_of: IntArray, nominal: BoolArray
    ) -> _Units:
        """place_of: per child its place among the nodes of interest, or -1."""
        left, right = place_of[0::2], place_of[1::2]
        used = np.flatnonzero((left >= 0) | (right >= 0))
        nodes = routing.nodes[used]
        bits = np.zeros(len(routing.nodes), np.uint64)
        few = routing.sizes < _BITS
        flags = routing.goes_left & few[routing.of_split]
        at = routing.of_split[flags]
        np.bitwise_or.at(bits, at, np.uint64(1) << routing.codes[flags].astype(np.uint64))
        unordered = routing.cut < 0
        missing = unordered & few & routing.missing_left
        bits[missing] |= np.uint64(1) << routing.sizes[missing].astype(np.uint64)
        by_table = unordered & ~(few & nominal[routing.attributes])
        table_at, tables = np.full(len(used), -1, dtype=np.int64), np.zeros(1, np.uint8)
        if by_table.any():
            tables = routing.tables
            table_at = np.where(by_table, routing.offsets[:-1], -1)[used]
        arrays = (
            starts[nodes], ends[nodes], routing.attributes[used], routing.cut[used],
            routing.missing_left[used].astype(np.int64), bits[used], table_at, left[used], right[used], tables,
        )  # fmt: skip
        return cls(arrays=tuple(np.ascontiguousarray(array) for array in arrays), work=ends[nodes] - starts[nodes])
