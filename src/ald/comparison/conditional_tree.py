"""A single conditional inference tree for a response of any numbers, grown node by node.

The tests are those of `ald.search.forest.association` (T. Hothorn, K. Hornik and A. Zeileis, "Unbiased recursive
partitioning", JCGS 15, 2006), for responses that are not yes or no: differences of two classifiers are -1, 0 or 1.
Written independently of the forest's engine, with which it agrees where both apply.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Protocol

import numpy as np

from ald._core.arrays import BoolArray, FloatArray, IntArray
from ald._core.exact import WORD
from ald._core.segments import TIE
from ald.data.coded import AuditData
from ald.groups.building import ForestBuilder
from ald.groups.tree import Forest
from ald.search.forest.rules import GrowthRules
from ald.statistics.basics import NOISE, chi2_log_sf, log1m_exp

# Up to this many levels all partitions are tried; beyond it, those along the order of each response's means.
_ENUMERATED = 10


class Response(Protocol):
    """What the tree explains, from counts whose last axis is the cell."""

    def people(self, counts: IntArray) -> IntArray:
        """Everyone."""

    def sums(self, counts: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """People, sum and sum of squares per part of the response (last axis)."""


@dataclass(frozen=True, kw_only=True)
class MeanResponse:
    """An amount, of which people, sum and both words of the sum of squares are counted; the largest is about 1."""

    largest: int

    def people(self, counts: IntArray) -> IntArray:
        """Everyone has an amount."""
        return np.asarray(counts[..., 0])

    def sums(self, counts: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """People, sum and sum of squares."""
        n, total, high, low = np.moveaxis(counts, -1, 0)
        square = (high * 2.0**WORD + low) / float(self.largest) ** 2
        return n[..., None], total[..., None] / self.largest, square[..., None]


@dataclass(frozen=True, kw_only=True)
class CellResponse:
    """Per part (first axis) and cell whether people of the cell count, and their value."""

    base: BoolArray
    value: FloatArray

    def people(self, counts: IntArray) -> IntArray:
        """Everyone, whether they count or not."""
        return np.asarray(counts.sum(axis=-1))

    def sums(self, counts: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """People, sum and sum of squares per part from counts whose last axis is the cell."""
        weighted = self.base * self.value
        return counts @ self.base.T.astype(float), counts @ weighted.T, counts @ (weighted * self.value).T


def two_sample(
    people: FloatArray, sums: FloatArray, total: FloatArray, whole: FloatArray, square: FloatArray
) -> FloatArray:
    """The two-sample permutation statistic of parts of a node, summed over the response's parts (last axis)."""
    mean = whole / np.maximum(total, 1)
    variance = square / np.maximum(total, 1) - mean**2
    spread = variance * people * (total - people) / np.maximum(total - 1, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = (sums - people * mean) ** 2 / spread
    return np.asarray(np.where(spread > NOISE, value, 0.0).sum(axis=-1))


@dataclass(frozen=True)
class Association:
    """The test of an attribute in a node: statistic, degrees of freedom and log p (NaN: not testable)."""

    statistic: float
    df: int
    log_p: float


def associate(table: IntArray, scores: FloatArray | None, response: Response) -> Association:
    """The permutation test of independence from counts [values, cells]; `scores` of ordered values, None for levels."""
    people, sums, squares = response.sums(table.astype(float))
    statistic, df = 0.0, 0
    for part in range(people.shape[1]):
        n, s = people[:, part], sums[:, part]
        total = n.sum()
        present = n > 0
        if total < 2 or np.count_nonzero(present) < 2:
            continue
        mean = s.sum() / total
        variance = squares[:, part].sum() / total - mean**2
        if variance < NOISE:
            continue
        excess = s - n * mean
        if scores is None:
            value, degrees = float((excess[present] ** 2 / n[present]).sum()), int(np.count_nonzero(present)) - 1
        else:
            centred = scores - (n @ scores) / total
            spread = float(n @ centred**2)
            if spread <= 0:
                continue
            value, degrees = float((excess @ centred) ** 2 / spread), 1
        statistic += value / variance * (total - 1) / total
        df += degrees
    log_p = float(chi2_log_sf(np.array([statistic]), np.array([df]))[0]) if df else float("nan")
    return Association(statistic, df, log_p)


def best_split(table: IntArray, ordered: bool, response: Response, min_bucket: int) -> tuple[float, BoolArray] | None:
    """The admissible split with the largest statistic, and which values (rows of the table) go left; None without."""
    people, sums, squares = response.sums(table.astype(float))
    size = response.people(table)
    present = np.flatnonzero(size)
    total, whole, square = people.sum(axis=0), sums.sum(axis=0), squares.sum(axis=0)
    best: tuple[float, BoolArray] | None = None
    for left in _sides(present, people, sums, ordered):
        n_left = int(size[left].sum())
        if min(n_left, int(size.sum()) - n_left) < min_bucket:
            continue
        value = float(two_sample(people[left].sum(axis=0), sums[left].sum(axis=0), total, whole, square))
        if value > 0 and (best is None or value > best[0] * (1 + TIE)):
            goes_left = np.zeros(len(table), dtype=bool)
            goes_left[left] = True
            best = value, goes_left
    return best


def _sides(present: IntArray, people: FloatArray, sums: FloatArray, ordered: bool) -> list[IntArray]:
    """The left sides to try: every cut of ordered values, every partition of a few levels."""
    if ordered:
        return [present[: i + 1] for i in range(len(present) - 1)]
    if len(present) <= _ENUMERATED:
        rest = present[1:].tolist()
        chosen = [gone for k in range(1, len(rest) + 1) for gone in combinations(rest, k)]
        return [np.array([code for code in present.tolist() if code not in gone]) for gone in chosen]
    out = []
    for part in range(people.shape[1]):
        mean = sums[present, part] / np.maximum(people[present, part], 1)
        order = present[np.argsort(mean, kind="stable")]
        out += [order[: i + 1] for i in range(len(order) - 1)]
    return out


def grow_tree(data: AuditData, response: Response, rules: GrowthRules) -> Forest:
    """One tree on all of the data; every node looks at every attribute."""
    builder = ForestBuilder()
    _Tree(data, response, rules, builder).grow(np.arange(len(data.cells)), -1)
    return builder.forest(data.n_cells)


class _Tree:
    """What stays the same from node to node."""

    def __init__(self, data: AuditData, response: Response, rules: GrowthRules, builder: ForestBuilder) -> None:
        self.data, self.response, self.rules, self.builder = data, response, rules, builder
        self.scores = data.scores()

    def grow(self, rows: IntArray, parent: int) -> None:
        counts = np.bincount(self.data.cells[rows], weights=self.data.counts[rows], minlength=self.data.n_cells)
        at = self.builder.node(0, parent, counts.astype(np.int64).tolist())
        n = int(self.response.people(counts.astype(np.int64)))
        if n < self.rules.minsplit:
            return
        tables = [self._table(rows, a) for a in range(len(self.data.attributes))]
        tests = [
            associate(table, None if attribute.is_nominal else score, self.response)
            for table, attribute, score in zip(tables, self.data.attributes, self.scores, strict=True)
        ]
        min_bucket = int(self.rules.min_bucket(np.array([n]))[0])
        for a in self._order(tests)[: self.rules.tries]:
            ordered = not self.data.attributes[a].is_nominal
            found = best_split(tables[a], ordered, self.response, min_bucket)
            if found is not None:
                self._split(rows, at, a, found[1], tests[a])
                return

    def _table(self, rows: IntArray, a: int) -> IntArray:
        """Counts per value and cell; missing values take no part."""
        size, cells = self.data.attributes[a].size, self.data.n_cells
        keys = self.data.codes[a][rows].astype(np.int64) * cells + self.data.cells[rows]
        table = np.bincount(keys, weights=self.data.counts[rows], minlength=(size + 1) * cells)
        return np.asarray(table.reshape(size + 1, cells)[:size], dtype=np.int64)

    def _order(self, tests: Sequence[Association]) -> list[int]:
        """The significant attributes, smallest p first."""
        testable = [a for a, test in enumerate(tests) if test.df]
        adjusted = {a: self._adjust(tests[a].log_p, len(testable)) for a in testable}
        kept = [a for a in testable if adjusted[a] < np.log(self.rules.alpha)]
        return sorted(kept, key=lambda a: (tests[a].log_p, -tests[a].statistic, a))

    def _adjust(self, log_p: float, tests: int) -> float:
        if not self.rules.bonferroni:
            return log_p
        return float(log1m_exp(tests * log1m_exp(np.asarray(log_p))))

    def _split(self, rows: IntArray, at: int, a: int, goes_left: BoolArray, test: Association) -> None:
        attribute, code = self.data.attributes[a], self.data.codes[a][rows]
        # Missing values follow the larger child.
        weights = np.bincount(code, weights=self.data.counts[rows], minlength=attribute.size + 1)[:-1]
        left_is_larger = weights[goes_left].sum() > weights[~goes_left].sum()
        left = np.append(goes_left, left_is_larger)[code]
        cut = -1 if attribute.is_nominal else int(np.flatnonzero(goes_left)[-1])
        self.builder.split(at, a, cut, statistic=test.statistic, log_p=test.log_p)
        if attribute.is_nominal:
            present = weights > 0
            sides = np.flatnonzero(goes_left & present), np.flatnonzero(~goes_left & present)
            self.builder.sides[at] = (tuple(sides[0].tolist()), tuple(sides[1].tolist()))
        self.grow(rows[left], at)
        self.grow(rows[~left], at)
