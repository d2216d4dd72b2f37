"""How many people of coded data satisfy criteria, by confusion cell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ald.arrays import AnyArray, BoolArray, IntArray
from ald.data.coded import AuditData
from ald.search import kernels
from ald.search.tree import CodedCondition, CodedCriterion
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
