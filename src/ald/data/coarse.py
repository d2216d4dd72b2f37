"""A coarse view of the data for exploring: numbers in at most a few dozen bins, levels as they are.

Exploring looks at many groups and attributes; bins make each look cheap. What is found is sharpened on the codes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ald._core.arrays import CodeArray, IntArray
from ald.data.coded import AuditData, quantile_edges, weighted_bincount
from ald.data.columns import compact

BINS = 32


@dataclass(frozen=True, kw_only=True, eq=False)
class CoarseColumn:
    """One attribute: the bin of every row, and per bin the codes [edges[b], edges[b + 1]); bin `n` is "missing".

    Unordered attributes have one bin per level that occurs: `levels[b]`. people: how many have each code.
    """

    codes: CodeArray
    people: IntArray
    n: int
    edges: IntArray
    levels: IntArray
    nominal: bool

    @cached_property
    def bins(self) -> CodeArray:
        if not self.nominal:
            table = np.append(np.repeat(np.arange(self.n), np.diff(self.edges)), self.n)
        elif len(self.levels) == len(self.people):
            return compact(self.codes, self.n)
        else:
            table = np.full(len(self.people) + 1, self.n)
            table[self.levels] = np.arange(self.n)
        return compact(table, self.n)[self.codes]


@dataclass(frozen=True, kw_only=True, eq=False)
class CoarseView:
    """The columns of a data set in bins."""

    data: AuditData
    columns: tuple[CoarseColumn, ...]

    @cached_property
    def totals(self) -> IntArray:
        """Everyone, per confusion cell."""
        return self.data.cell_counts()

    def table(self, attribute: int, rows: IntArray | None = None) -> IntArray:
        """Counts per bin (the last one: missing) and cell, of all rows or some: [bins + 1, cells]."""
        column, data = self.columns[attribute], self.data
        bins, cells, counts = column.bins, data.cells, data.counts
        if rows is not None:
            bins, cells, counts = bins[rows], cells[rows], counts[rows]
        keys = bins.astype(np.int64) * data.n_cells + cells
        return weighted_bincount(keys, counts, (column.n + 1) * data.n_cells).reshape(-1, data.n_cells)


def coarse_view(data: AuditData, bins: int = BINS) -> CoarseView:
    """The data in at most `bins` bins of about equal numbers of people per ordered attribute."""
    people = [
        weighted_bincount(codes, data.counts, attribute.size + 1)[: attribute.size]
        for attribute, codes in zip(data.attributes, data.codes, strict=True)
    ]
    return _view(data, people, bins)


def coarser(view: CoarseView, bins: int) -> CoarseView:
    """The same data in fewer bins."""
    return _view(view.data, [column.people for column in view.columns], bins)


def _view(data: AuditData, people: Sequence[IntArray], bins: int) -> CoarseView:
    columns = []
    for attribute, codes, by_code in zip(data.attributes, data.codes, people, strict=True):
        if attribute.is_nominal:
            levels = np.flatnonzero(by_code)
            edges = np.arange(len(levels) + 1)
        else:
            levels, edges = np.zeros(0, np.int64), quantile_edges(by_code, bins)
        columns.append(
            CoarseColumn(
                codes=codes,
                people=by_code,
                n=len(edges) - 1,
                edges=edges,
                levels=levels,
                nominal=attribute.is_nominal,
            )
        )
    return CoarseView(data=data, columns=tuple(columns))
