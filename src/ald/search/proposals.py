"""Where sharpening starts: single attributes, pairs and triples that matter together, and the forest's nodes.

A disparity may exist in a combination only. So all pairs, and where affordable all triples, are screened on coarse
tables for association with the outcome beyond what their parts show, and the cells of the best ones are proposed.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb, log, prod

import numpy as np

from ald.arrays import CodeArray, FloatArray, IntArray
from ald.data.coded import weighted_bincount
from ald.search.coarse import CoarseView, coarse_view
from ald.search.membership import count_members
from ald.search.scoring import Scorer
from ald.search.tree import CodedCondition, CodedCriterion
from ald.statistics import chi2_log_sf
from ald.stratified import residuals

# Bins per attribute and number of the combinations kept, by how many attributes are combined.
_SCREEN_BINS = {2: 6, 3: 3}
_KEPT = {2: 6, 3: 3}
_CELLS_PER_COMBINATION = 2
_MAX_LEVELS = 12
# Triples are screened while rows times triples stay below this.
_TRIPLE_WORK = 20_000_000
_PRICED = 60
_FROM_FOREST = 8


def combinations_beyond_parts(scorer: Scorer, order: int) -> dict[CodedCriterion, float]:
    """Cells of the pairs (order 2) or triples (order 3) whose joint association exceeds that of their parts most.

    With each cell goes the evidence of its combination: log p, corrected for all combinations and its cells.
    """
    data = scorer.view.data
    coarse = coarse_view(data, _SCREEN_BINS[order])
    usable = [j for j, column in enumerate(coarse.columns) if 2 <= column.n <= _MAX_LEVELS]
    n = comb(len(usable), order)
    if order > 2 and n * len(data.cells) > _TRIPLE_WORK:
        return {}
    screen = _Screen(coarse, scorer)
    ranked = screen.beyond_parts(list(combinations(usable, order)))
    out: dict[CodedCriterion, float] = {}
    for log_p, parts in ranked[: _KEPT[order]]:
        if log_p + log(n) < log(0.5):
            cells = prod(coarse.columns[j].n for j in parts)
            out |= dict.fromkeys(screen.best_cells(parts), log_p + log(n) + log(cells))
    return out


class _Screen:
    """Chi-square statistics of coarse tables of several attributes, each table counted once."""

    def __init__(self, coarse: CoarseView, scorer: Scorer) -> None:
        self.coarse, self.scorer = coarse, scorer
        self.known: dict[tuple[int, ...], tuple[FloatArray, IntArray]] = {}
        data = coarse.data
        self.keys = [column.bins.astype(np.int64) for column in coarse.columns]
        self.cells = data.cells.astype(np.int64)

    def table(self, parts: tuple[int, ...]) -> IntArray:
        """Counts per combination of bins (missing included) and cell: [bins of first, ..., cells]."""
        shape = [self.coarse.columns[j].n + 1 for j in parts]
        key: CodeArray | IntArray = self.keys[parts[0]]
        for j, size in zip(parts[1:], shape[1:], strict=True):
            key = key * size + self.keys[j]
        n_cells = self.coarse.data.n_cells
        key = key * n_cells + self.cells
        return weighted_bincount(key, self.coarse.data.counts, int(np.prod(shape)) * n_cells).reshape(*shape, n_cells)

    def chi2(self, parts: tuple[int, ...]) -> tuple[FloatArray, IntArray]:
        """Per rate the chi-square of the outcome over the joint bins, and its degrees of freedom."""
        if parts not in self.known:
            table = self.table(parts).reshape(-1, self.coarse.data.n_cells)
            counts, totals = self.scorer.by_pattern(table).sum(axis=(1, 3)), self.scorer.totals.sum(axis=(0, 2))
            excess, spread = residuals(counts, totals, self.scorer.rates)
            terms = np.where(spread > 0, excess**2 / np.maximum(spread, 1e-12), 0.0) / self.scorer.terms.effect
            self.known[parts] = terms.sum(axis=1), (spread > 0).sum(axis=1) - 1
        return self.known[parts]

    def beyond_parts(self, combined: list[tuple[int, ...]]) -> list[tuple[float, tuple[int, ...]]]:
        """log p of what joint tables show beyond their parts (by inclusion and exclusion), smallest first."""
        statistic = np.zeros((len(combined), len(self.scorer.rates.rates)))
        df = np.zeros(statistic.shape, np.int64)
        for i, parts in enumerate(combined):
            for size in range(len(parts), 0, -1):
                sign = (-1) ** (len(parts) - size)
                for smaller in combinations(parts, size):
                    value, degrees = self.chi2(smaller)
                    statistic[i] += sign * value
                    df[i] += sign * degrees
        log_p = chi2_log_sf(np.maximum(statistic, 0.0).sum(axis=1), np.maximum(df, 0).sum(axis=1))
        return sorted(zip(np.nan_to_num(log_p, nan=0.0).tolist(), combined, strict=True))

    def best_cells(self, parts: tuple[int, ...]) -> list[CodedCriterion]:
        """The strongest cells of a joint table, among those above and those below the overall rate."""
        table = self.table(parts)[tuple(slice(self.coarse.columns[j].n) for j in parts)]
        flat = table.reshape(-1, table.shape[-1])
        statistic = self.scorer.statistic(flat)
        pooled = self.scorer.pooled(flat)
        hit, base = self.scorer.rates.hit(pooled)[0], self.scorer.rates.base(pooled)[0]
        above = hit * self.scorer.bases[0] >= base * self.scorer.hits[0]
        out = []
        for side in (above, ~above):
            strongest = np.argsort(np.where(side, -statistic, 1.0), kind="stable")[:_CELLS_PER_COMBINATION]
            for cell in strongest[side[strongest] & (statistic[strongest] > 0)].tolist():
                place = np.unravel_index(cell, table.shape[:-1])
                out.append(tuple(self._condition(j, int(b)) for j, b in zip(parts, place, strict=True)))
        return out

    def _condition(self, j: int, b: int) -> CodedCondition:
        column = self.coarse.columns[j]
        if column.nominal:
            return CodedCondition(j, 0, 0, (int(column.levels[b]),))
        return CodedCondition(j, int(column.edges[b]), int(column.edges[b + 1]))


def forest_nodes(paths: Sequence[CodedCriterion], scorer: Scorer) -> list[CodedCriterion]:
    """The best nodes of the forest, inner ones too, judged on all of D1."""
    found = [path for path in dict.fromkeys(paths) if path]
    if not found:
        return []
    # Pricing is the slow part: only for those with the strongest evidence.
    strongest = np.argsort(-scorer.statistic(count_members(found, scorer.view.data)), kind="stable")[:_PRICED]
    priced = [found[i] for i in strongest.tolist()]
    values = scorer.values(priced).tolist()
    return [criterion for _, criterion in sorted(zip(values, priced, strict=True))[:_FROM_FOREST]]
