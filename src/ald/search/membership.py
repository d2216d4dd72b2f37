"""How many people of coded data satisfy criteria, by confusion cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ald.arrays import AnyArray, BoolArray, ByteArray, IntArray
from ald.data.coded import AuditData
from ald.search import _numpy_kernel, kernels, packed
from ald.search.tree import CodedCondition, CodedCriterion, Forest
from ald.threads import in_threads

_WORTH_A_THREAD = 1_000_000


def count_members(criteria: Sequence[CodedCriterion], data: AuditData, threads: int = 1) -> IntArray:
    """Counts per criterion and cell: [criteria, cells]. Membership is the criterion's alone, never a tree's routing."""
    out = np.zeros((len(criteria), data.n_cells), dtype=np.int64)
    # Rows by cell, so that each cell's sum runs over neighbours.
    order = np.argsort(data.cells, kind="stable")
    by_cell = [code[order] for code in data.codes], data.counts[order]
    bounds = np.searchsorted(data.cells[order], np.arange(data.n_cells + 1)).astype(np.int64)
    work = np.array([1 + len(criterion) for criterion in criteria], dtype=np.int64) * len(data.cells)
    parts = kernels.chunks(work, threads, _WORTH_A_THREAD) if len(criteria) else []

    def count(part: slice) -> None:
        arrays = _conditions(criteria[part], data)
        kernels.kernel().members(*by_cell, bounds, *arrays, out[part])

    in_threads(count, parts, threads)
    return out


@dataclass(frozen=True, kw_only=True, eq=False)
class Leaves:
    """Criteria that are paths to leaves of a forest: everyone is sent down its trees instead of held against each.

    at: the positions of the leaves in the forest; `present`: per ordered attribute with levels those that its criteria
    name. A value that a split does not name goes nowhere, so that this counts members, not where trees route people.
    """

    forest: Forest
    at: IntArray
    present: Mapping[int, list[int]]

    def count(self, data: AuditData, threads: int = 1) -> IntArray:
        """As `count_members`: [criteria, cells]."""
        forest = self.forest
        sizes = np.array([attribute.size + 1 for attribute in data.attributes], dtype=np.int64)
        tables_at, tables = self._tables(sizes)
        if packed.available(data):
            return packed.count_leaves(data, forest, (tables_at, tables), threads)[self.at]
        out = np.zeros((forest.n_nodes, data.n_cells), dtype=np.int64)
        roots = np.flatnonzero(forest.parent < 0)
        _numpy_kernel.descend(
            data.codes, data.cells, data.counts, roots, forest.attribute, forest.left, forest.right, forest.cut,
            tables_at, tables, sizes, data.n_cells, out,
        )  # fmt: skip
        return np.asarray(out[self.at])

    def _tables(self, sizes: IntArray) -> tuple[IntArray, ByteArray]:
        """Per node whose split names levels: where its table starts (-1 for others), and all tables.

        A table has an entry per code: 1 for left, 0 for right, 2 for neither.
        """
        forest = self.forest
        ordered = np.flatnonzero(np.isin(forest.attribute, list(self.present)))
        sides = forest.sides
        nodes = np.concatenate([sides.nodes, ordered])
        ends = np.cumsum(sizes[forest.attribute[nodes]])
        tables_at = np.full(forest.n_nodes, -1, dtype=np.int64)
        tables_at[nodes] = np.concatenate([[0], ends])[: len(nodes)]
        tables = np.full(int(ends[-1]) if len(nodes) else 1, 2, dtype=np.uint8)
        starts = np.repeat(tables_at[sides.nodes], np.diff(sides.offsets))
        tables[starts + sides.codes] = sides.is_left
        for node in ordered.tolist():
            codes = np.array(self.present[int(forest.attribute[node])])
            tables[tables_at[node] + codes] = codes <= forest.cut[node]
        return tables_at, tables


def _conditions(criteria: Sequence[CodedCriterion], data: AuditData) -> tuple[AnyArray, ...]:
    """The kernel's arrays: every different condition once, and per criterion the numbers of its conditions."""
    number: dict[CodedCondition, int] = {}
    used = [number.setdefault(condition, len(number)) for criterion in criteria for condition in criterion]
    offsets = np.concatenate([[0], np.cumsum([len(criterion) for criterion in criteria])]).astype(np.int64)
    tables = [_table(condition, data) for condition in number if condition.levels]
    ends = np.cumsum([len(table) for table in tables])
    tables_at = np.full(len(number), -1, dtype=np.int64)
    tables_at[[k for condition, k in number.items() if condition.levels]] = np.concatenate([[0], ends])[: len(tables)]
    joined = np.concatenate(tables).astype(np.uint8) if tables else np.zeros(1, np.uint8)
    columns = np.array([condition[:3] for condition in number], dtype=np.int64).reshape(-1, 3).T
    attributes, lows, highs = (np.ascontiguousarray(column) for column in columns)
    return attributes, lows, highs, tables_at, joined, offsets, np.array(used, dtype=np.int64)


def _table(condition: CodedCondition, data: AuditData) -> BoolArray:
    table = np.zeros(data.attributes[condition.attribute].size + 1, dtype=bool)
    table[list(condition.levels)] = True
    return table


def member_mask(criterion: CodedCriterion, data: AuditData) -> BoolArray:
    """Which rows of coded data satisfy a criterion."""
    mask = np.ones(len(data.cells), dtype=bool)
    for condition in criterion:
        code = data.codes[condition.attribute]
        if condition.levels:
            mask &= _table(condition, data)[code]
        else:
            mask &= (code >= condition.low) & (code < condition.high)
    return mask


def membership_strata(masks: Sequence[BoolArray]) -> IntArray:
    """The stratum of every row: its pattern of membership, numbered over the patterns that occur."""
    pattern = np.zeros(len(masks[0]), dtype=np.int64)
    for mask in masks:
        pattern = 2 * pattern + mask
    return np.unique(pattern, return_inverse=True)[1]
