"""Counting where the rows are: what is sent to every partition of a cluster, and a Counter made of it.

Nothing is remembered between jobs: each partition draws its halves and samples again and sends its rows down the trees
again. So a task that fails is simply run once more, anywhere, and gives the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ald._core.arrays import AnyArray, IntArray
from ald.data.coded import AuditData, merge, weighted_bincount
from ald.data.hashing import drawn, row_hashes
from ald.groups.membership import Leaves, count_members, member_mask, people_along, people_jointly
from ald.groups.tree import CodedCriterion
from ald.remote.engines.blocks import KeyLayout
from ald.remote.engines.protocols import Blocks
from ald.search.forest.counting import Histograms, Routing
from ald.search.forest.sampling import counter_of
from ald.search.pool import pool_people

Sums = tuple[IntArray, IntArray]


@dataclass(frozen=True, kw_only=True, eq=False)
class Partition:
    """How a partition sees its rows: their layout, how halves are drawn, and the cells of the question, if not all.

    key: of the halves. cells: the confusion cell of the question for every one that the rows have.
    """

    layout: KeyLayout
    key: int
    fraction: float
    cells: tuple[int, ...] | None = None
    n_cells: int

    def half(self, blocks: Sequence[bytes], number: int) -> AuditData:
        """D1 (number 0) or D2 (1) of the partition."""
        data = self.layout.data(blocks)
        data = replace(data, hashes=row_hashes(data))
        if data.design.half is not None:
            first = np.where(data.design.half == 0, data.counts, 0)
        else:
            first = drawn(row_hashes(data), data.counts, self.fraction, self.key)
        return data.with_counts(data.counts - first if number else first)

    def view(self, data: AuditData) -> AuditData:
        """The data with the cells of the question."""
        return data if self.cells is None else data.with_cells(np.array(self.cells), self.n_cells)


@dataclass(frozen=True, kw_only=True, eq=False)
class CountValues:
    """Both halves along every attribute: keys are the half and the place of attribute and code in one list.

    After these comes how many different rows D1 has.
    """

    partition: Partition

    def __call__(self, blocks: Sequence[bytes]) -> Sums:
        ends, _ = value_places(self.partition.layout)
        n_cells, tables, rows = self.partition.layout.n_cells, [], list[int]()
        for data in (self.partition.half(blocks, number) for number in (0, 1)):
            for code, (start, end) in zip(data.codes, pairwise(ends.tolist()), strict=True):
                keys = code.astype(np.int64) * n_cells + data.cells
                tables.append(weighted_bincount(keys, data.counts, (end - start) * n_cells).reshape(-1, n_cells))
            rows.append(len(data.cells))
        different = np.zeros((1, n_cells), np.int64)
        different[0, 0] = rows[0]
        return _sparse(np.concatenate([*tables, different]))


def value_places(layout: KeyLayout) -> tuple[IntArray, int]:
    """Where the codes of every attribute begin in one list of all, and how long it is."""
    ends = np.concatenate([[0], np.cumsum([attribute.size + 1 for attribute in layout.attributes])])
    return ends, int(ends[-1])


def _sparse(table: IntArray) -> Sums:
    """The rows of a table that are not all 0, and their numbers."""
    rows = np.flatnonzero(table.any(axis=1))
    return rows, table[rows]


@dataclass(frozen=True, kw_only=True, eq=False)
class CountTrees:
    """Counts per cell of every tree's sample, or once trees have split, histograms of nodes of the current level.

    samples: the keys of the trees' samples. routings: the levels so far. Keys are trees, or places of request and
    code.
    """

    partition: Partition
    share: float
    samples: tuple[int, ...]
    routings: tuple[Routing, ...] = ()
    requests: tuple[IntArray, IntArray] | None = None
    stride: int = 1

    def __call__(self, blocks: Sequence[bytes]) -> Sums:
        d1 = self.partition.half(blocks, 0)
        samples = [drawn(row_hashes(d1), d1.counts, self.share, key) for key in self.samples]
        counter = counter_of(self.partition.view(d1), samples)
        if self.requests is None:
            return _sparse(counter.roots())
        for routing in self.routings:
            counter.split(routing)
        found = counter.histograms(*self.requests)
        return found.request * self.stride + found.codes, found.counts


class ClusterCounter:
    """A Counter whose rows stay on a cluster: one job for the roots, then one for every level of all trees."""

    def __init__(
        self,
        blocks: Blocks,
        partition: Partition,
        share: float,
        samples: Sequence[int],
        attributes: Sequence[int] | None = None,
    ) -> None:
        """share: that of D1 in a tree's sample. samples: their keys. attributes: those to grow on, if not all."""
        self._blocks, self._partition = blocks, partition
        self._attributes = np.arange(len(partition.layout.attributes)) if attributes is None else np.array(attributes)
        self._share, self._samples = share, tuple(samples)
        self._routings: tuple[Routing, ...] = ()
        self._stride = 1 + max(attribute.size for attribute in partition.layout.attributes)

    def roots(self) -> IntArray:
        width = self._partition.n_cells
        trees, counts = self._blocks.sum_by_key(self._job(None), width)
        out = np.zeros((len(self._samples), width), np.int64)
        out[trees] = counts
        return out

    def histograms(self, nodes: IntArray, attributes: IntArray) -> Histograms:
        keys, counts = self._blocks.sum_by_key(
            self._job((nodes, self._attributes[attributes])), self._partition.n_cells
        )
        request, codes = np.divmod(keys, self._stride)
        offsets = np.searchsorted(request, np.arange(len(nodes) + 1))
        return Histograms(offsets=offsets, codes=codes, counts=counts)

    def split(self, routing: Routing) -> None:
        self._routings = (*self._routings, replace(routing, attributes=self._attributes[routing.attributes]))

    def _job(self, requests: tuple[IntArray, IntArray] | None) -> CountTrees:
        return CountTrees(
            partition=self._partition,
            share=self._share,
            samples=self._samples,
            routings=self._routings,
            requests=requests,
            stride=self._stride,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class DrawPool:
    """A part of D1 that comes back: the rows of a partition as arrays. seed: of the audit."""

    partition: Partition
    share: float
    seed: int

    def __call__(self, blocks: Sequence[bytes]) -> tuple[tuple[AnyArray, ...], AnyArray, IntArray]:
        d1 = self.partition.half(blocks, 0)
        pool = pool_people(d1, self.share, self.seed)
        return pool.codes, pool.cells, pool.counts


def draw_pool(blocks: Blocks, partition: Partition, share: float, seed: int) -> AuditData:
    """A part of D1, in canonical order."""
    parts = blocks.gather(DrawPool(partition=partition, share=share, seed=seed))
    none = partition.layout.data([])
    return merge(
        AuditData(
            attributes=none.attributes,
            codes=tuple(
                np.concatenate([empty, *(codes[i] for codes, _, _ in parts)]) for i, empty in enumerate(none.codes)
            ),
            cells=np.concatenate([none.cells, *(cells for _, cells, _ in parts)]),
            counts=np.concatenate([none.counts, *(counts for _, _, counts in parts)]),
            n_cells=none.n_cells,
        )
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class CountMembers:
    """Counts per cell of the people of D2 at every one of some leaves; keys are the leaves."""

    partition: Partition
    leaves: Leaves

    def __call__(self, blocks: Sequence[bytes]) -> Sums:
        d2 = self.partition.half(blocks, 1)
        return _sparse(self.leaves.count(self.partition.view(d2)))


@dataclass(frozen=True, kw_only=True, eq=False)
class CountGroups:
    """Counts per cell of the people of a half who satisfy every one of some criteria; keys are the criteria."""

    partition: Partition
    criteria: tuple[CodedCriterion, ...]
    half: int = 1

    def __call__(self, blocks: Sequence[bytes]) -> Sums:
        people = self.partition.half(blocks, self.half)
        return _sparse(count_members(self.criteria, self.partition.view(people)))


@dataclass(frozen=True, kw_only=True, eq=False)
class CountPatterns:
    """Counts per cell of the people of D2, by which criteria they satisfy.

    Keys have a bit per criterion, the last one lowest, above the number of the pattern of all criteria before. These
    are in `known`: some criteria at a time, and the keys that occur, as they came back from the job for them.
    """

    partition: Partition
    criteria: tuple[CodedCriterion, ...]
    known: tuple[tuple[tuple[CodedCriterion, ...], IntArray], ...] = ()

    def __call__(self, blocks: Sequence[bytes]) -> Sums:
        d2 = self.partition.half(blocks, 1)
        d2 = self.partition.view(d2)
        pattern = np.zeros(len(d2.cells), np.int64)
        for criteria, keys in self.known:
            pattern = np.searchsorted(keys, _with_members(pattern, criteria, d2))
        pattern = _with_members(pattern, self.criteria, d2)
        present, place = np.unique(pattern, return_inverse=True)
        counts = weighted_bincount(place * d2.n_cells + d2.cells, d2.counts, len(present) * d2.n_cells)
        return present, counts.reshape(-1, d2.n_cells)


def _with_members(pattern: IntArray, criteria: Sequence[CodedCriterion], data: AuditData) -> IntArray:
    for criterion in criteria:
        pattern = 2 * pattern + member_mask(criterion, data)
    return pattern


@dataclass(frozen=True, kw_only=True, eq=False)
class CountJointly:
    """People of D2 by what groups are made of, as `people_jointly` numbers them, each group's keys after `starts`.

    columns, before: of every group.
    """

    partition: Partition
    columns: tuple[tuple[tuple[int, IntArray, int], ...], ...]
    before: tuple[tuple[CodedCriterion, ...], ...]
    starts: tuple[int, ...]

    def __call__(self, blocks: Sequence[bytes]) -> Sums:
        d2 = self.partition.view(self.partition.half(blocks, 1))
        tables = [people_jointly(d2, columns, own) for columns, own in zip(self.columns, self.before, strict=True)]
        keys = [start + keys for start, (keys, _) in zip(self.starts, tables, strict=True)]
        return np.concatenate(keys), np.concatenate([counts for _, counts in tables])


@dataclass(frozen=True, kw_only=True, eq=False)
class CountShared:
    """Of pairs of criteria, the people of D2 who satisfy the first, the second, and both; keys are the pairs."""

    partition: Partition
    pairs: tuple[tuple[CodedCriterion, CodedCriterion], ...]

    def __call__(self, blocks: Sequence[bytes]) -> Sums:
        d2 = self.partition.half(blocks, 1)
        sums = []
        for first, second in self.pairs:
            masks = member_mask(first, d2), member_mask(second, d2)
            sums.append([d2.people(mask) for mask in (*masks, masks[0] & masks[1])])
        return np.arange(len(sums)), np.array(sums, np.int64)


@dataclass(frozen=True, kw_only=True, eq=False)
class CountAlong:
    """The people of D2 who satisfy a criterion, along an attribute, for several pairs: keys are pair and code."""

    partition: Partition
    pairs: tuple[tuple[int, CodedCriterion], ...]
    stride: int

    def __call__(self, blocks: Sequence[bytes]) -> Sums:
        d2 = self.partition.half(blocks, 1)
        keys, values = [np.zeros(0, np.int64)], [np.zeros((0, d2.n_cells), np.int64)]
        for i, (attribute, criterion) in enumerate(self.pairs):
            codes, counts = _sparse(people_along(d2, attribute, criterion))
            keys.append(i * self.stride + codes)
            values.append(counts)
        return np.concatenate(keys), np.concatenate(values)
