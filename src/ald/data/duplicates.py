"""Rows that are there several times, where that is no accident: copies of people count as people, and are none.

What is decided here is said, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ald._core.arrays import AnyArray, IntArray
from ald.data.coded import SORTED_ROWS, AuditData, merge
from ald.data.design import Design
from ald.data.hashing import row_hashes

# Rows that have an equal one are frequent from this share of all on, if the values of the columns let so many times
# fewer rows have one.
FREQUENT = 0.1
TIMES = 10
# Rows repeat equally often if nearly all different ones, and no fewer than these, are there k, 2k, 3k, ... times.
DIFFERENT = 20
NEARLY_ALL = 0.95
MOST_COPIES = 20
# Of data that was too large to be sorted, about so many rows are looked at; and people by whom chance is estimated.
_ROWS = 1 << 18
_PEOPLE = 20_000
# Ways to part the columns in two, and the least share of what they tell that either part has.
_PARTITIONS = 8
_PART = 1 / 3
# Pairs of different rows with one value from which it may be told what follows from it.
_PAIRS = 20


def repeated_rows(data: AuditData) -> list[str]:
    """Warns where rows are equal in every column, the outcome included, more often than is plausible."""
    rows = data.total
    if not data.attributes or rows < 2 or (data.one_each and data.design.half is None):
        return []
    data = _merge(data)
    copies = _copies(data.counts)
    if copies:
        return [
            f"nearly every row occurs {copies} times, or a multiple of that, equal in every audited column "
            f"({len(data.counts):,} different rows of {data.total:,}). {_ADVICE}"
        ]
    share = int(data.counts[data.counts > 1].sum()) / max(data.total, 1)
    if share < FREQUENT or TIMES * _share_by_chance(data) > share:
        return []
    return [
        f"{share:.0%} of {rows:,} rows are equal to another one in every audited column, although these columns have "
        f"so many values that hardly any should be. {_ADVICE}"
    ]


_ADVICE = (
    "Copies are not independent people, and make chance look like disparity. If a person has several rows, say "
    "cluster=... (whose row it is); if rows were repeated to give them weight, keep each once, with its number as "
    "weights=... (people, or ald.SurveyWeights); if they are mere copies, remove them."
)


def _merge(data: AuditData) -> AuditData:
    """Different rows in order, whatever half they are in; of many those with some values of their finest columns."""
    if data.design.half is not None:
        data = replace(data, design=replace(data.design, half=None))
    elif len(data.cells) <= SORTED_ROWS:
        return data
    if len(data.cells) > _ROWS:
        finest = sorted(range(len(data.codes)), key=lambda a: -data.attributes[a].size)[:3]
        hashes = row_hashes(
            replace(
                data,
                attributes=tuple(data.attributes[a] for a in finest),
                codes=tuple(data.codes[a] for a in finest),
                design=Design(),
                hashes=None,
            )
        )
        chosen = hashes % np.uint64(len(hashes) // _ROWS) == 0
        data = data.with_counts(np.where(chosen, data.counts, 0))
    return merge(data)


def _copies(counts: IntArray) -> int:
    """The largest k such that nearly all rows are there k, 2k, ... times; 0 if there is none above 1.

    Of independent rows at most every other number is even, whatever their distribution.
    """
    if len(counts) < DIFFERENT:
        return 0
    found = [k for k in range(2, MOST_COPIES + 1) if np.count_nonzero(counts % k == 0) >= NEARLY_ALL * len(counts)]
    return max(found, default=0)


def _share_by_chance(data: AuditData) -> float:
    """The share of rows that would have an equal one if some of the columns had nothing to do with the others.

    Which ones is tried: the columns are parted in two, neither of which tells most, and the largest share counts.
    Columns that follow from another one do not count.
    """
    rows = _draw(data)
    parts: list[tuple[AnyArray, int]] = [
        (code[rows], attribute.size + 1) for code, attribute in zip(data.codes, data.attributes, strict=True)
    ]
    parts += [(data.cells[rows], data.n_cells)]
    parts += [(values[rows], size) for values, size in data.design.parts()]
    told = -np.log([max(_agreement([part]), 1e-12) for part in parts])
    order = np.argsort(-told, kind="stable").tolist()
    first = np.unique(rows, return_index=True)[1]
    kept = _find_unrelated([parts[i][0][first] for i in order])
    parts, told = [parts[order[i]] for i in kept], told[[order[i] for i in kept]]
    if told.sum() < 1e-9:
        return 1.0
    both = 0.0
    for side in _sides(told):
        one, other = (_agreement([part for part, is_in in zip(parts, side == s, strict=True) if is_in]) for s in (0, 1))
        both = max(both, one * other)
    return float(-np.expm1(-data.total * both))


def _draw(data: AuditData) -> IntArray:
    """The rows of some people, the same ones every time."""
    people = np.random.default_rng(0).choice(data.total, min(data.total, _PEOPLE), replace=False)
    return np.searchsorted(np.cumsum(data.counts), people, side="right")


def _agreement(parts: Sequence[tuple[AnyArray, int]]) -> float:
    """The share of pairs of people who agree in all of these columns."""
    numbers = np.zeros(len(parts[0][0]), np.int64) if parts else np.zeros(0, np.int64)
    for values, size in parts:
        numbers = np.unique(numbers * size + values, return_inverse=True)[1]
    sizes = np.bincount(numbers).astype(float)
    n = sizes.sum()
    return float((sizes * (sizes - 1)).sum() / (n * (n - 1))) if n > 1 else 1.0


def _find_unrelated(columns: Sequence[AnyArray]) -> list[int]:
    """The columns, finest first, that do not follow from one before: given for different rows, in this order.

    Only values that several different rows have can tell: where there are hardly any, nothing follows from a column.
    """
    table = np.stack(columns)
    kept = list(range(len(columns)))
    for i in range(len(columns)):
        if i not in kept:
            continue
        by_value = np.argsort(table[i], kind="stable")
        alike = np.flatnonzero(np.diff(table[i][by_value]) == 0)
        if len(alike) >= _PAIRS:
            one, next_ = by_value[alike], by_value[alike + 1]
            kept = [k for k in kept if k <= i or (table[k][one] == table[k][next_]).mean() < NEARLY_ALL]
    return kept


def _sides(told: AnyArray) -> list[AnyArray]:
    """Ways to part columns in two sides, given what each of them tells; the same ones every time."""
    by_size = np.zeros(len(told), np.int64)
    sums = [0.0, 0.0]
    for i in np.argsort(-told, kind="stable").tolist():
        by_size[i] = sums[1] < sums[0]
        sums[by_size[i]] += told[i]
    out, rng = [by_size], np.random.default_rng(0)
    for _ in range(20 * _PARTITIONS):
        side = rng.integers(0, 2, len(told))
        if len(out) < _PARTITIONS and _PART <= told[side == 1].sum() / max(told.sum(), 1e-12) <= 1 - _PART:
            out.append(side)
    return out
