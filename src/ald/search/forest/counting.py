"""Counting: all that a place where rows are has to do for a forest to grow there.

A counter knows which rows are in which node, and numbers nodes as a splitter does. `HistogramSplitter` makes a splitter
of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from ald._core import kernels
from ald._core.arrays import AnyArray, BoolArray, ByteArray, IntArray
from ald._core.exact import moments
from ald._core.threads import in_threads
from ald.data.coded import AuditData
from ald.notions import AMOUNT_CELLS

# Row visits below which another thread costs more than it saves.
_WORTH_A_THREAD = 500_000


@dataclass(frozen=True, kw_only=True)
class Histograms:
    """Counts per code and cell, one segment per request; only codes that occur, ascending (as a GROUP BY gives).

    offsets: [requests + 1], codes: [entries], counts: [entries, cells].
    """

    offsets: IntArray
    codes: IntArray
    counts: IntArray

    @cached_property
    def lengths(self) -> IntArray:
        """Entries per request."""
        return np.asarray(self.offsets[1:] - self.offsets[:-1])

    @cached_property
    def request(self) -> IntArray:
        """The request of every entry."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    def entries(self, segments: IntArray) -> IntArray:
        """The positions of the entries of some of the requests."""
        lengths = self.lengths[segments]
        ends = np.cumsum(lengths)
        shift = np.repeat(self.offsets[segments] - (ends - lengths), lengths)
        return np.asarray(shift + np.arange(len(shift)))

    def select(self, segments: IntArray) -> Histograms:
        """The histograms of some of the requests."""
        entries = self.entries(segments)
        offsets = np.concatenate([[0], np.cumsum(self.lengths[segments])])
        return Histograms(offsets=offsets, codes=self.codes[entries], counts=self.counts[entries])

    def part(self, requests: slice) -> Histograms:
        """The histograms of consecutive requests, without a copy of the counts."""
        offsets = self.offsets[requests.start : requests.stop + 1]
        entries = slice(int(offsets[0]), int(offsets[-1]))
        return Histograms(offsets=offsets - offsets[0], codes=self.codes[entries], counts=self.counts[entries])

    def keep(self, kept: BoolArray) -> Histograms:
        """The histograms with some of their entries only."""
        running = np.concatenate([[0], np.cumsum(kept)])
        return Histograms(offsets=running[self.offsets], codes=self.codes[kept], counts=self.counts[kept])


@dataclass(frozen=True, kw_only=True)
class Routing:
    """How nodes split: rows of `nodes[s]` go left where `tables[offsets[s] + code of attributes[s]]` is 1.

    The same in short: `cut`, the last code on the left of ordered attributes; of unordered ones (-1) the levels
    `codes[of_split == s]`, which go left or right; rows without a value go left where `missing_left`.
    """

    nodes: IntArray
    attributes: IntArray
    sizes: IntArray
    cut: IntArray
    of_split: IntArray
    codes: IntArray
    goes_left: BoolArray
    missing_left: BoolArray

    @cached_property
    def offsets(self) -> IntArray:
        """Where the table of every split starts; one entry per code, the last for missing values."""
        return np.concatenate([[0], np.cumsum(self.sizes + 1)])

    @cached_property
    def tables(self) -> ByteArray:
        """Per split and code: 1 for left, 0 for right."""
        code = np.arange(self.offsets[-1]) - np.repeat(self.offsets[:-1], self.sizes + 1)
        tables = (code <= np.repeat(self.cut, self.sizes + 1)).astype(np.uint8)
        tables[self.offsets[self.of_split] + self.codes] = self.goes_left
        tables[self.offsets[1:] - 1] = self.missing_left
        return tables


class Counter(Protocol):
    """Histograms of nodes, wherever the rows are."""

    def roots(self) -> IntArray:
        """Counts per cell of every tree's sample: [trees, cells]."""

    def histograms(self, nodes: IntArray, attributes: IntArray) -> Histograms:
        """One histogram per request: of this attribute in this node of the current level."""

    def split(self, routing: Routing) -> None:
        """Replaces the current level by the children of the nodes that split."""


class MemoryCounter:
    """Counts coded data in memory. A node's rows are contiguous in one array for the whole forest.

    Where outcomes are amounts, it counts what `ald.notions.MeanCounter` reads: people, sum, and sum of squares.
    """

    def __init__(self, data: AuditData, samples: Sequence[IntArray], threads: int = 1) -> None:
        """`samples`: per tree how often each row of the data is in its sample."""
        self._data = data
        self._amounts = data.design.amounts
        self._columns = data.n_cells if self._amounts is None else len(AMOUNT_CELLS)
        self._kernel = kernels.kernel()
        self._threads = threads
        self._sizes = np.array([attribute.size + 1 for attribute in data.attributes], dtype=np.int64)
        found = [_present(sample) for sample in samples]
        rows = [row for row, _ in found]
        self._rows = np.concatenate(rows) if rows else np.zeros(0, np.uint32)
        self._weights: IntArray | None = None
        if any(weights is not None for _, weights in found):
            each = [np.ones(len(row), np.int64) if weights is None else weights for row, weights in found]
            self._weights = np.concatenate(each)
        lengths = np.array([len(row) for row in rows], dtype=np.int64)
        self._ends = np.cumsum(lengths)
        self._starts = self._ends - lengths

    def roots(self) -> IntArray:
        return np.array([self._cells_of(*bounds) for bounds in zip(self._starts, self._ends, strict=True)]).reshape(
            -1, self._columns
        )

    def _cells_of(self, start: int, end: int) -> IntArray:
        """Counts per cell of consecutive rows."""
        rows = self._rows[start:end]
        weights = None if self._weights is None else self._weights[start:end]
        if self._amounts is not None:
            people = np.ones(len(rows), np.int64) if weights is None else weights
            return moments(self._amounts[rows]).T @ people
        cells = self._data.cells[rows]
        return np.bincount(cells, weights, minlength=self._data.n_cells).astype(np.int64)

    def histograms(self, nodes: IntArray, attributes: IntArray) -> Histograms:
        starts, ends = self._starts[nodes], self._ends[nodes]

        def count(part: slice) -> tuple[IntArray, IntArray, IntArray]:
            return self._count(starts[part], ends[part], attributes[part])

        pieces = self._in_threads(count, ends - starts)
        used = np.concatenate([piece[0] for piece in pieces]) if pieces else np.zeros(0, np.int64)
        return Histograms(
            offsets=np.concatenate([[0], np.cumsum(used)]),
            codes=np.concatenate([piece[1] for piece in pieces]) if pieces else np.zeros(0, np.int64),
            counts=np.concatenate([piece[2] for piece in pieces]) if pieces else np.zeros((0, self._columns), np.int64),
        )

    def _count(self, starts: IntArray, ends: IntArray, attributes: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        capacity = int(np.minimum(ends - starts, self._sizes[attributes]).sum())
        codes = np.empty(capacity, np.uint32)
        counts = np.empty((capacity, self._columns), np.int64)
        used = np.zeros(len(starts), np.int64)
        where = (self._rows, self._weights, starts, ends, attributes, self._sizes)
        found = (codes, counts, used)
        if self._amounts is None:
            n_cells = self._data.n_cells
            written = self._kernel.count(self._data.codes, self._data.cells, *where, n_cells, *found)
        else:
            written = self._kernel.count_amounts(self._data.codes, self._amounts, *where, *found)
        return used, codes[:written].astype(np.int64), counts[:written]

    def split(self, routing: Routing) -> None:
        starts, ends = self._starts[routing.nodes], self._ends[routing.nodes]
        lengths = ends - starts
        total = int(lengths.sum())
        rows = np.empty(total, np.uint32)
        weights = None if self._weights is None else np.empty(total, np.int64)
        middles = np.zeros(len(starts), np.int64)
        at = np.concatenate([[0], np.cumsum(lengths)])

        def partition(part: slice) -> None:
            window = slice(int(at[part.start]), int(at[part.stop]))
            self._kernel.partition(
                self._data.codes, self._rows, self._weights, starts[part], ends[part], routing.attributes[part],
                routing.tables, routing.offsets[part.start : part.stop + 1], rows[window],
                None if weights is None else weights[window], middles[part], len(self._data.cells),
            )  # fmt: skip

        self._in_threads(partition, lengths)
        self._rows, self._weights = rows, weights
        self._starts = np.stack([at[:-1], at[:-1] + middles], axis=1).ravel()
        self._ends = np.stack([at[:-1] + middles, at[1:]], axis=1).ravel()

    def _in_threads(self, function: Callable[[slice], Any], work: IntArray) -> list[Any]:
        """The results for consecutive parts of the work, in order. How it is cut changes no result."""
        return in_threads(function, kernels.chunks(work, self._threads, _WORTH_A_THREAD), self._threads)


def _present(sample: IntArray) -> tuple[AnyArray, IntArray | None]:
    """The rows of a sample and how often each is in it; None: once."""
    rows = np.flatnonzero(sample).astype(np.uint32)
    return rows, None if len(rows) == int(sample.sum()) else sample[rows]
