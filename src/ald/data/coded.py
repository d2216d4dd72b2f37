"""Coded audit data: what the engine works on. Integers only, no DataFrame, no notion.

One row per cell: a combination of attribute codes and a confusion cell, with the number of people in it. Cells are
in canonical order, so that the order of the input's rows cannot matter.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ald._core.arrays import AnyArray, BoolArray, ByteArray, CodeArray, FloatArray, IntArray
from ald._core.threads import in_threads
from ald.data.columns import Column, is_interval_kind
from ald.data.design import PLAIN, Design
from ald.data.drawing import Drawer, kept, people_drawn
from ald.groups.criterion import Condition, Interval, Levels

# Up to this many rows identical rows are always merged; above it only where that pays.
ALWAYS_MERGE = 1_000_000
_SAMPLE = 1 << 16
# Rows from which another thread saves more than it costs.
_WORTH_A_THREAD = 1 << 17
# Rows are merged by counting instead of sorting while there are at most this many possible keys per row.
_DENSE_KEYS = 8
# Levels from which on a set is told by the levels that it lacks, if these are few.
MANY = 4
# Cells that are looked for one after the other.
_FEW_CELLS = 4

# Up to this many people per row a sample is drawn person by person.
PEOPLE_PER_ROW = 16
# NumPy's "marginals" method refuses totals from 10^9 on; its "count" method takes memory for every person.
_MARGINALS_LIMIT = 10**9 - 1
# People picked one by one; more are drawn in bulk first.
_PICK_LIMIT = 10**6


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
    """Coded rows with counts. `cells` holds 2 * truth + prediction, or the outcome alone if `n_cells` is 2."""

    attributes: tuple[Attribute, ...]
    codes: tuple[CodeArray, ...]
    cells: ByteArray
    counts: IntArray
    n_cells: int
    design: Design = PLAIN

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
        """Number of people per confusion cell."""
        if self.one_each and self.n_cells <= _FEW_CELLS:
            return np.array([np.count_nonzero(self.cells == cell) for cell in range(self.n_cells)], dtype=np.int64)
        return weighted_bincount(self.cells, self.counts, self.n_cells)

    def with_counts(self, counts: IntArray, threads: int = 1) -> AuditData:
        """The same cells with other counts; empty cells are dropped, so that nothing of them remains."""
        kept = np.flatnonzero(counts)
        columns: tuple[AnyArray, ...] = (counts, self.cells, *self.codes)
        some = threads if len(counts) >= _WORTH_A_THREAD else 1
        fewer, cells, *codes = in_threads(lambda column: column.take(kept), columns, some)
        return replace(
            self,
            codes=tuple(codes),
            cells=cells,
            counts=fewer,
            design=self.design.take(kept),
        )

    def with_cells(self, table: IntArray, n_cells: int) -> AuditData:
        """The same rows with other confusion cells: `table` holds the new cell of every old one."""
        return replace(self, cells=table.astype(np.uint8)[self.cells], n_cells=n_cells)

    def halves(self, rng: np.random.Generator, share: float = 0.5, threads: int = 1) -> tuple[AuditData, AuditData]:
        """D1 of floor(share * N) people drawn at random without replacement, and D2 of all others.

        Clusters are drawn as a whole. Halves that were given are taken as they are.
        """
        if self.design.half is not None:
            first = np.where(self.design.half == 0, self.counts, 0)
        elif self.design is PLAIN and self.one_each and Drawer.available(self.total):
            n = int(share * self.total)
            bits = Drawer(self.total).pick(n, rng)
            return self._kept(bits, True, n, threads), self._kept(bits, False, self.total - n, threads)
        else:
            first = self.sample(share, rng)
        return self.with_counts(first, threads), self.with_counts(self.counts - first, threads)

    def _kept(self, bits: AnyArray, wanted: bool, n: int, threads: int) -> AuditData:
        """The n people, one in each row, who are in a sample, or are not."""
        some = threads if n >= _WORTH_A_THREAD else 1
        cells, *codes = in_threads(lambda column: kept(column, bits, wanted, n), (self.cells, *self.codes), some)
        return replace(self, codes=tuple(codes), cells=cells, counts=np.ones(n, np.int64))

    def sample(self, share: float, rng: np.random.Generator) -> IntArray:
        """How many people of each row are in a random sample of a share of all people, or of all clusters."""
        if self.design.clusters is None:
            return draw(self.counts, int(share * self.total), rng)
        present = np.unique(self.design.clusters)
        drawn = rng.permutation(len(present))[: int(share * len(present))]
        return np.where(np.isin(self.design.clusters, present[drawn]), self.counts, 0)

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
    if counts.size and int(counts.sum()) >= 2**53:
        out = np.zeros(size, dtype=np.int64)
        np.add.at(out, codes, counts)
        return out
    return np.bincount(codes, weights=counts, minlength=size).astype(np.int64)


def numbered(values: IntArray) -> tuple[IntArray, IntArray]:
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
    design, effect = data.design, 1.0
    if design.weights is not None:
        first = float((data.counts * design.weights).sum())
        effect *= data.total * float((data.counts * design.weights**2).sum()) / first**2
    if design.clusters is not None:
        totals = data.cell_counts()
        ratios = []
        for hit, base in zip(hits, bases, strict=True):
            mean = float(hit @ totals) / max(float(base @ totals), 1.0)
            residual = np.where(base > 0, hit - mean, 0.0)[data.cells]
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


def draw(counts: IntArray, n: int, rng: np.random.Generator) -> IntArray:
    """How many of `n` people drawn without replacement fall into each cell (multivariate hypergeometric)."""
    total = int(counts.sum())
    if total <= PEOPLE_PER_ROW * counts.size:
        return people_drawn(counts, n, rng)
    if total <= _MARGINALS_LIMIT:
        return rng.multivariate_hypergeometric(counts, n, method="marginals")
    # Everyone tosses a coin, then a random part of those drawn too many is given back (or the opposite): a random
    # subset of a random subset is a random subset, so the result is exact.
    drawn = rng.binomial(counts, n / total)
    excess = int(drawn.sum()) - n
    return drawn - _pick(drawn, excess, rng) if excess > 0 else drawn + _pick(counts - drawn, -excess, rng)


def _pick(counts: IntArray, n: int, rng: np.random.Generator) -> IntArray:
    """As `draw`, for few people out of very many: distinct positions in the list of all people."""
    if n > _PICK_LIMIT:
        return draw(counts, n, rng)
    ends = np.cumsum(counts)
    positions = rng.choice(int(ends[-1]), size=n, replace=False, shuffle=False)
    return np.bincount(np.searchsorted(ends, positions, side="right"), minlength=counts.size)


def encode(
    columns: Sequence[Column], cells: ByteArray, counts: IntArray | None, n_cells: int, design: Design = PLAIN
) -> AuditData:
    """Coded data of these attribute columns, identical rows merged."""
    coded = [attribute_of(column) for column in columns]
    attributes = tuple(attribute for attribute, _ in coded)
    codes = tuple(code for _, code in coded)
    data = AuditData(
        attributes=attributes,
        codes=codes,
        cells=cells,
        counts=np.ones(len(cells), np.int64) if counts is None else counts,
        n_cells=n_cells,
        design=design,
    )
    return merged(data)


def attribute_of(column: Column) -> tuple[Attribute, CodeArray]:
    """A column as an attribute, and its codes."""
    codes = column.codes
    if is_interval_kind(column.kind):
        return Attribute(name=column.name, kind=column.kind, values=column.values, points=column.has_points), codes
    levels: tuple[str | None, ...] = column.levels
    # An unordered missing value is a level like any other; an ordered one has no place in the order.
    if column.kind != "ordinal" and bool(column.missing.any()):
        levels = (*levels, None)
        if len(levels) in (2**8, 2**16):  # the code for "missing" moved one up and may need a wider type
            codes = codes.astype(np.uint16 if len(levels) == 2**8 else np.uint32)
    return Attribute(name=column.name, kind=column.kind, levels=levels), codes


def merged(data: AuditData) -> AuditData:
    """The data with identical rows merged, where that is quick or pays."""
    return merge(data) if len(data.cells) <= ALWAYS_MERGE or _merging_pays(data) else data


def _merging_pays(data: AuditData) -> bool:
    """Whether merging looks worth a sort, judged by an evenly spaced sample of rows."""
    rows = np.linspace(0, len(data.cells) - 1, _SAMPLE).astype(np.int64)
    return len(np.unique(_row_keys(data, rows)[0])) < _SAMPLE // 2


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
