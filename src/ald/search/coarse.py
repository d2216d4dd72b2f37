"""A coarse view of the data for exploring: numbers in at most a few dozen bins, levels as they are.

Exploring looks at many groups and attributes; bins make each look cheap. What is found is sharpened on the codes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ald.arrays import CodeArray, IntArray
from ald.data.coded import AuditData, quantile_edges, weighted_bincount
from ald.data.columns import compact

BINS = 32


@dataclass(frozen=True, kw_only=True, eq=False)
class CoarseColumn:
    """One attribute: the bin of every row, and per bin the codes [edges[b], edges[b + 1]); bin `n` is "missing".

    Unordered attributes have one bin per level that occurs: `levels[b]`.
    """

    bins: CodeArray
    n: int
    edges: IntArray
    levels: IntArray
    nominal: bool


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
    columns = []
    for attribute, codes in zip(data.attributes, data.codes, strict=True):
        people = weighted_bincount(codes, data.counts, attribute.size + 1)[: attribute.size]
        present = np.flatnonzero(people)
        if attribute.is_nominal:
            table = np.full(attribute.size + 1, len(present))
            table[present] = np.arange(len(present))
            edges, levels = np.arange(len(present) + 1), present
        else:
            edges, levels = quantile_edges(people, bins), np.zeros(0, np.int64)
            table = np.append(np.searchsorted(edges, np.arange(attribute.size), side="right") - 1, len(edges) - 1)
        n = len(edges) - 1
        columns.append(
            CoarseColumn(bins=compact(table, n)[codes], n=n, edges=edges, levels=levels, nominal=attribute.is_nominal)
        )
    return CoarseView(data=data, columns=tuple(columns))
