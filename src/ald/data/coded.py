"""Coded audit data: what the engine works on. Integers only, no DataFrame, no notion.

One row per distinct row: attribute codes and a confusion cell, with the number of people who have them. No two rows are
alike, and halves and samples are drawn from what is in them, so that the order of the input's rows cannot matter.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np

from ald._core import kernels
from ald._core.arrays import AnyArray, BoolArray, ByteArray, CodeArray, FloatArray, IntArray
from ald._core.exact import moments
from ald._core.threads import in_threads
from ald.data.amounts import Unit
from ald.data.columns import Column, is_interval_kind
from ald.data.design import NO_DESIGN, Design
from ald.data.drawing import kept
from ald.data.hashing import drawn, drawn_bits, firsts, key_of, row_hashes, smallest
from ald.groups.criterion import Condition, Interval, Levels
from ald.notions import AMOUNT_CELLS

# Up to this many rows are always sorted, and so are all with a design: floating point adds them up.
SORTED_ROWS = 1 << 17
# Rows from which another thread saves more than it costs.
_WORTH_A_THREAD = 1 << 17
# Rows are merged by counting instead of sorting while there are at most this many possible keys per row.
_DENSE_KEYS = 8
# Levels from which on a set is told by the levels that it lacks, if these are few.
MANY = 4
# Cells that are looked for one after the other.
_FEW_CELLS = 4


@dataclass(frozen=True, kw_only=True)
class Attribute:
    """An attribute of the coded data: codes 0..size-1 stand for values or levels, `size` for missing.

    `None` as a level means "missing": for unordered attributes people without an answer are a group too.
    points: whether people name its values one by one, as `= 4`.
    """

    name: str
    kind: str
    values: FloatArray | None = None
    levels: tuple[str | None, ...] = ()
    points: bool = False

    @cached_property
    def size(self) -> int:
        return len(self.levels) if self.values is None else len(self.values)

    @property
    def is_nominal(self) -> bool:
        """Whether splits are subsets of levels; otherwise they are cut points."""
        return self.kind in ("nominal", "boolean")

    def condition(self, low: int, high: int) -> Condition:
        """The condition that the code is in [low, high)."""
        if self.values is not None:
            if self.points and high - low == 1:
                return Interval.point(self.name, self.kind, float(self.values[low]))
            lower = None if low == 0 else float(self.values[low - 1])
            upper = None if high == self.size else float(self.values[high - 1])
            return Interval(self.name, self.kind, lower, upper)
        return Levels(self.name, self.kind, self.levels[low:high])

    def level_condition(self, codes: Sequence[int]) -> Condition:
        """The condition that the code is one of these, told by the other levels where these are far fewer."""
        others = self.others(codes)
        negated = self.is_told_by(others)
        named = tuple(self.levels[code] for code in (others if negated else codes))
        return Levels(self.name, self.kind, named, negated, of=len(self.levels))

    def others(self, codes: Collection[int]) -> tuple[int, ...]:
        """The codes of all other levels."""
        chosen = set(codes)
        return tuple(code for code in range(self.size) if code not in chosen)

    def is_told_by(self, others: Collection[int]) -> bool:
        """Whether all levels but these are told by naming these, as `race != White`; "missing" never satisfies that."""
        n = self.size - len(others)
        without_missing = None not in self.levels or self.levels.index(None) in others
        return self.is_nominal and n >= MANY and 2 * len(others) <= n and without_missing


@dataclass(frozen=True, kw_only=True)
class AuditData:
    """Coded rows with counts, no two of them alike. `cells` holds 2 * truth + prediction, or the outcome alone if
    `n_cells` is 2.

    An outcome that is a number has amounts in the design, and the unit of these; then `n_cells` is the number of sums
    that are made of them, and everyone is in the first cell.

    hashes: by which a row's people, or its cluster, are drawn; they stay when the row is seen in another way, without
    some attributes or with other cells. None: those of what is in the row.
    """

    attributes: tuple[Attribute, ...]
    codes: tuple[CodeArray, ...]
    cells: ByteArray
    counts: IntArray
    n_cells: int
    design: Design = NO_DESIGN
    hashes: AnyArray | None = None
    unit: Unit | None = None

    @cached_property
    def total(self) -> int:
        """Number of people."""
        return int(self.counts.sum())

    @cached_property
    def one_each(self) -> bool:
        """Whether every row is one person."""
        return self.total == len(self.cells) and (self.total == 0 or int(self.counts.min()) == 1)

    def people(self, rows: BoolArray) -> int:
        """How many people some rows are."""
        return int(np.count_nonzero(rows)) if self.one_each else int(self.counts[rows].sum())

    def cell_counts(self) -> IntArray:
        """Number of people per confusion cell; of amounts what `ald.notions.AMOUNT_CELLS` names."""
        if self.design.amounts is not None:
            return self.tally(np.ones(len(self.cells), bool))
        if self.one_each and self.n_cells <= _FEW_CELLS:
            return np.array([np.count_nonzero(self.cells == cell) for cell in range(self.n_cells)], dtype=np.int64)
        return weighted_bincount(self.cells, self.counts, self.n_cells)

    def tally(self, rows: BoolArray) -> IntArray:
        """The same of some rows."""
        if self.design.amounts is not None:
            return np.asarray(moments(self.design.amounts[rows]).T @ self.counts[rows])
        return weighted_bincount(self.cells[rows], self.counts[rows], self.n_cells)

    @cached_property
    def ledger(self) -> AuditData:
        """Amounts as counts of cells: for every row four, of its people, their sum, and the words of their squares.

        Whatever adds up counts per cell then adds up amounts; there is nothing else to do with it.
        """
        assert self.design.amounts is not None
        width = len(AMOUNT_CELLS)
        return AuditData(
            attributes=self.attributes,
            codes=tuple(np.repeat(codes, width) for codes in self.codes),
            cells=np.tile(np.arange(width, dtype=np.uint8), len(self.cells)),
            counts=(moments(self.design.amounts) * self.counts[:, None]).ravel(),
            n_cells=width,
        )

    def with_counts(self, counts: IntArray, threads: int = 1) -> AuditData:
        """The same cells with other counts; empty cells are dropped, so that nothing of them remains."""
        kept = np.flatnonzero(counts)
        columns: tuple[AnyArray, ...] = (counts, self.cells, *self.codes)
        columns = columns if self.hashes is None else (*columns, self.hashes)
        some = threads if len(counts) >= _WORTH_A_THREAD else 1
        fewer, cells, *codes = in_threads(lambda column: column.take(kept), columns, some)
        return replace(
            self,
            codes=tuple(codes[: len(self.codes)]),
            cells=cells,
            counts=fewer,
            design=self.design.take(kept),
            hashes=None if self.hashes is None else codes[-1],
        )

    def with_cells(self, table: IntArray, n_cells: int) -> AuditData:
        """The same rows with other confusion cells: `table` holds the new cell of every old one."""
        return replace(self, cells=table.astype(np.uint8)[self.cells], n_cells=n_cells)

    def halves(self, rng: np.random.Generator, share: float = 0.5, threads: int = 1) -> tuple[AuditData, AuditData]:
        """D1 of about a share of all people, drawn at random, and D2 of all others.

        Clusters are drawn as a whole. Halves that were given are taken as they are.
        """
        data = replace(self, hashes=row_hashes(self, threads))
        if self.design.half is not None:
            first = np.where(self.design.half == 0, self.counts, 0)
        elif self.design.is_plain and self.one_each and kernels.draw() is not None:
            bits, n = drawn_bits(row_hashes(data), share, key_of(rng))
            return data._kept(bits, True, n, threads), data._kept(bits, False, self.total - n, threads)
        else:
            first = data.sample(share, rng)
        return data.with_counts(first, threads), data.with_counts(self.counts - first, threads)

    def _kept(self, bits: AnyArray, wanted: bool, n: int, threads: int) -> AuditData:
        """The n people, one in each row, who are in a sample, or are not."""
        some = threads if n >= _WORTH_A_THREAD else 1
        columns = (row_hashes(self), self.cells, *self.codes)
        hashes, cells, *codes = in_threads(lambda column: kept(column, bits, wanted, n), columns, some)
        return replace(self, codes=tuple(codes), cells=cells, counts=np.ones(n, np.int64), hashes=hashes)

    def sample(self, share: float, rng: np.random.Generator) -> IntArray:
        """How many people of each row are in a random sample of about a share of all people, or of all clusters.

        Everyone is drawn alone, with this chance; clusters are few, and exactly so many are drawn.
        """
        key = key_of(rng)
        if self.design.clusters is None:
            return drawn(row_hashes(self), self.counts, share, key)
        present, first = np.unique(self.design.clusters, return_index=True)
        chosen = smallest(row_hashes(self)[first], int(share * len(present)), key)
        return np.where(np.isin(self.design.clusters, present[chosen]), self.counts, 0)

    def scores(self) -> tuple[FloatArray, ...]:
        """Per attribute the numbers that its codes stand for in a test.

        Ordered levels score 1, 2, ... over those that occur in this very data; unordered ones have no scores.
        """
        return tuple(
            attribute.values
            if attribute.values is not None
            else np.zeros(attribute.size)
            if attribute.is_nominal
            else self._ranks(code, attribute.size)
            for attribute, code in zip(self.attributes, self.codes, strict=True)
        )

    @staticmethod
    def _ranks(codes: CodeArray, size: int) -> FloatArray:
        present = np.bincount(codes, minlength=size + 1)[:size] > 0
        return np.cumsum(present).astype(np.float64)


def weighted_bincount(codes: AnyArray, counts: IntArray, size: int) -> IntArray:
    """Exact integer sums of counts per code."""
    if counts.size and int(np.abs(counts).sum()) >= 2**53:
        out = np.zeros(size, dtype=np.int64)
        np.add.at(out, codes, counts)
        return out
    return np.bincount(codes, weights=counts, minlength=size).astype(np.int64)


def number_values(values: IntArray) -> tuple[IntArray, IntArray]:
    """The different values of integers from 0 on, ascending, and the number of each one among them.

    As NumPy's unique with its inverse, but by counting where the values are dense: no sort.
    """
    size = int(values.max()) + 1 if len(values) else 0
    if size > _DENSE_KEYS * len(values):
        distinct, numbers = np.unique(values, return_inverse=True)
        return distinct, numbers
    present = np.bincount(values, minlength=size) > 0
    return np.flatnonzero(present), (np.cumsum(present) - 1)[values]


def as_counts(data: AuditData) -> AuditData:
    """The data with survey weights turned into whole people, as many in all as were asked.

    Rows are in canonical order, so that those next to each other are alike: rounding the running sum instead of every
    weight keeps all groups within about one person of their weight.
    """
    weights = data.design.weights
    if weights is None:
        return data
    share = data.counts * weights
    running = np.floor(np.cumsum(share) * (data.total / share.sum()) + 0.5)
    people = np.diff(running, prepend=0.0).astype(np.int64)
    return data.with_counts(people)


def design_effect(data: AuditData, hits: IntArray | FloatArray, bases: IntArray | FloatArray) -> float:
    """By how much a chi2 statistic of these people is too large, at least 1; of several rates the largest.

    hits, bases: per rate whether people in a cell count. Clusters: the variance of the clusters' sums of residuals
    against that of independent rows (Rao and Scott 1984). Weights: one plus the squared coefficient of variation (Kish
    1965).
    """
    totals, residuals = data.cell_counts(), []
    for hit, base in zip(hits, bases, strict=True) if data.design.clusters is not None else ():
        mean = float(hit @ totals) / max(float(base @ totals), 1.0)
        residuals.append(np.where(base > 0, hit - mean, 0.0)[data.cells])
    return effect_of(data, residuals)


def effect_of(data: AuditData, residuals: Sequence[FloatArray]) -> float:
    """The same, from what everyone is beyond the mean; of several the largest."""
    design, effect = data.design, 1.0
    if design.weights is not None:
        first = float((data.counts * design.weights).sum())
        effect *= data.total * float((data.counts * design.weights**2).sum()) / first**2
    if design.clusters is not None:
        ratios = []
        for residual in residuals:
            sums = np.bincount(design.clusters, data.counts * residual)
            alone = float((data.counts * residual**2).sum())
            ratios.append(float((sums**2).sum()) / alone if alone > 0 else 1.0)
        effect *= max(1.0, *ratios)
    return max(1.0, effect)


def quantile_edges(people: IntArray, bins: int) -> IntArray:
    """Codes at which at most so many bins of about equal numbers of people start, then the number of codes."""
    present = np.flatnonzero(people)
    if len(present) == 0:
        return np.array([0, len(people)])
    if len(present) <= bins:
        starts = present
    else:
        running = np.cumsum(people[present])
        at = np.searchsorted(running, running[-1] * np.arange(1, bins) / bins, side="left") + 1
        starts = present[np.unique(np.concatenate([[0], at[at < len(present)]]))]
    return np.concatenate([[0], starts[1:], [len(people)]])


def encode(
    columns: Sequence[Column],
    cells: ByteArray,
    counts: IntArray | None,
    n_cells: int,
    design: Design = NO_DESIGN,
    *,
    besides: Sequence[AnyArray] = (),
    clusters: AnyArray | None = None,
) -> AuditData:
    """Coded data of these attribute columns, identical rows merged.

    besides: random numbers that rows have for what else is known of them; clusters: those of their clusters, which are
    drawn instead.
    """
    coded = [attribute_of(column) for column in columns]
    data = AuditData(
        attributes=tuple(attribute for attribute, _ in coded),
        codes=tuple(code for _, code in coded),
        cells=cells,
        counts=np.ones(len(cells), np.int64) if counts is None else counts,
        n_cells=n_cells,
        design=design,
    )
    hashes = clusters
    if besides and clusters is None:
        hashes = row_hashes(data)
        for numbers in besides:
            hashes = hashes + numbers
    return merge_rows(replace(data, hashes=hashes))


def attribute_of(column: Column) -> tuple[Attribute, CodeArray]:
    """A column as an attribute, and its codes."""
    codes = column.codes
    if is_interval_kind(column.kind):
        return Attribute(name=column.name, kind=column.kind, values=column.values, points=column.has_points), codes
    levels: tuple[str | None, ...] = column.levels
    # An unordered missing value is a level like any other; an ordered one has no place in the order.
    if column.kind != "ordinal" and column.n_missing() > 0:
        levels = (*levels, None)
        if len(levels) in (2**8, 2**16):  # the code for "missing" moved one up and may need a wider type
            codes = codes.astype(np.uint16 if len(levels) == 2**8 else np.uint32)
    return Attribute(name=column.name, kind=column.kind, levels=levels), codes


def merge_rows(data: AuditData) -> AuditData:
    """The data with identical rows merged."""
    rows = len(data.cells)
    if rows <= SORTED_ROWS or not data.design.is_plain or _possible_keys(data) <= _DENSE_KEYS * rows:
        return merge(data)
    data = replace(data, hashes=row_hashes(data))
    first = firsts(row_hashes(data))
    if first is None:
        return data
    again = np.flatnonzero(first != np.arange(rows))
    of = first[again]
    if any((part[again] != part[of]).any() for part in (*data.codes, data.cells)):
        return merge(data)  # different rows with one hash
    counts = data.counts.copy()
    np.add.at(counts, of, data.counts[again])
    counts[again] = 0
    fewer = data.with_counts(counts)
    return merge(fewer) if len(fewer.cells) <= SORTED_ROWS else fewer


def _possible_keys(data: AuditData) -> int:
    return prod(attribute.size + 1 for attribute in data.attributes) * data.n_cells


def merge(data: AuditData) -> AuditData:
    """Identical rows as one row with the sum of their counts, in canonical order. Exact."""
    keys, width = _row_keys(data, slice(None))
    if width <= _DENSE_KEYS * len(keys):
        sums = weighted_bincount(keys, data.counts, width)
        distinct = np.flatnonzero(sums)
        first = np.empty(width, dtype=np.int64)
        first[keys[::-1]] = np.arange(len(keys))[::-1]
        first, counts = first[distinct], sums[distinct]
    else:
        distinct, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        counts = weighted_bincount(inverse, data.counts, len(distinct))
    kept = counts > 0
    if not kept.all():
        first, counts = first[kept], counts[kept]
    return replace(
        data,
        codes=tuple(code[first] for code in data.codes),
        cells=data.cells[first],
        counts=counts,
        design=data.design.take(first),
        hashes=None if data.hashes is None else data.hashes[first],
    )


def _row_keys(data: AuditData, rows: IntArray | slice) -> tuple[IntArray, int]:
    """One integer below a bound per row, which orders rows lexicographically by codes, cell and design.

    Once no two rows are alike, the rest of their columns changes neither that nor their order.
    """
    keys = np.zeros(len(data.cells[rows]), dtype=np.int64)
    width = 1
    coded = zip(data.codes, (attribute.size + 1 for attribute in data.attributes), strict=True)
    for part, size in (*coded, (data.cells, data.n_cells), *data.design.parts()):
        if width * size >= 2**62:
            distinct, keys = np.unique(keys, return_inverse=True)
            width = len(distinct)
            if width == len(keys):
                break
        keys = keys * size + part[rows]
        width *= size
    return keys, width
