"""How many people of coded data satisfy criteria, by confusion cell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ald.arrays import BoolArray, IntArray
from ald.data.coded import AuditData
from ald.search import kernels
from ald.search.tree import CodedCondition, CodedCriterion

_WORTH_A_THREAD = 1_000_000


def count_members(criteria: Sequence[CodedCriterion], data: AuditData, threads: int = 1) -> IntArray:
    """Counts per criterion and cell: [criteria, cells]. Membership is the criterion's alone, never a tree's routing."""
    out = np.zeros((len(criteria), data.n_cells), dtype=np.int64)
    work = np.array([1 + len(criterion) for criterion in criteria], dtype=np.int64) * len(data.cells)
    parts = kernels.chunks(work, threads, _WORTH_A_THREAD) if len(criteria) else []

    def count(part: slice) -> None:
        _count(criteria[part], data, out[part])

    if len(parts) > 1:
        list(kernels.pool(threads).map(count, parts))
    else:
        for part in parts:
            count(part)
    return out


def _count(criteria: Sequence[CodedCriterion], data: AuditData, out: IntArray) -> None:
    conditions = [condition for criterion in criteria for condition in criterion]
    offsets = np.concatenate([[0], np.cumsum([len(criterion) for criterion in criteria])]).astype(np.int64)
    attributes = np.array([condition.attribute for condition in conditions], dtype=np.int64)
    lows = np.array([condition.low for condition in conditions], dtype=np.int64)
    highs = np.array([condition.high for condition in conditions], dtype=np.int64)
    # One table per different set of levels; every table covers the code for "missing" too.
    starts: dict[tuple[int, tuple[int, ...]], int] = {}
    tables: list[BoolArray] = []
    tables_at = np.full(len(conditions), -1, dtype=np.int64)
    filled = 0
    for k, condition in enumerate(conditions):
        if condition.levels:
            key = (condition.attribute, condition.levels)
            if key not in starts:
                starts[key] = filled
                tables.append(_table(condition, data))
                filled += len(tables[-1])
            tables_at[k] = starts[key]
    joined = np.concatenate(tables).astype(np.uint8) if tables else np.zeros(1, np.uint8)
    kernels.kernel().members(
        data.codes,
        data.cells,
        data.counts,
        offsets,
        attributes,
        lows,
        highs,
        tables_at,
        joined,
        data.n_cells,
        out,
    )


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
