"""Where sharpening starts: single attributes, pairs and triples that matter together, and the forest's nodes.

A disparity may exist in a combination only. So all pairs, and where affordable all triples, are screened on coarse
tables for association with the outcome beyond what their parts show. Of the best ones the strongest crossings (one
level or bin of each attribute) are proposed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from math import comb, isqrt, log, prod

import numpy as np

from ald._core.arrays import FloatArray, IntArray
from ald.data.coarse import CoarseView, coarse_view, coarser
from ald.data.coded import AuditData
from ald.data.joint import joint_counts, joint_tables
from ald.groups.membership import Members
from ald.groups.tree import CodedCondition, CodedCriterion
from ald.search.explore.scoring import Scorer
from ald.statistics.basics import chi2_log_sf
from ald.statistics.stratified import residuals

# Bins per attribute and number of the combinations kept, by how many attributes are combined.
_SCREEN_BINS = {2: 6, 3: 3}
_KEPT = {2: 6, 3: 3}
_CROSSINGS_PER_COMBINATION = 2
_MAX_LEVELS = 12
# Pairs and triples are screened while rows times combinations stay below this, and so many pairs in any case.
_WORK = {2: 1_000_000_000, 3: 20_000_000}
_ALWAYS = 5_000
_PRICED = 60
# Entries of the tables that are held at a time.
_ENTRIES_AT_ONCE = 1 << 22
_FROM_FOREST = 8


def combinations_beyond_parts(scorer: Scorer, order: int) -> dict[CodedCriterion, float]:
    """Crossings of the pairs (order 2) or triples (order 3) whose joint association exceeds that of their parts most.

    With each crossing goes the evidence of its combination: log p, corrected for all combinations and its crossings.
    """
    coarse = coarser(scorer.view, _SCREEN_BINS[order])
    screen = _Screen(coarse, scorer)
    usable = _usable(coarse)
    if order > 2 and not triples_affordable(len(usable), len(coarse.data.cells)):
        return {}
    usable = screen.strongest(usable, affordable(len(usable), len(coarse.data.cells)))
    n = comb(len(usable), order)
    ranked = screen.beyond_parts(usable, order)
    out: dict[CodedCriterion, float] = {}
    for log_p, parts in ranked[: _KEPT[order]]:
        if log_p + log(n) < log(0.5):
            crossings = prod(coarse.columns[j].n for j in parts)
            out |= dict.fromkeys(screen.best_crossings(parts), log_p + log(n) + log(crossings))
    return out


def affordable(attributes: int, rows: int) -> int:
    """Of so many attributes, how many can have all their pairs screened.

    >>> affordable(500, 5_000), affordable(2_000, 5_000)
    (500, 632)
    """
    pairs = max(_WORK[2] // max(rows, 1), _ALWAYS)
    return attributes if comb(attributes, 2) <= pairs else (1 + isqrt(1 + 8 * pairs)) // 2


def triples_affordable(attributes: int, rows: int) -> bool:
    """Whether all triples of so many attributes can be screened."""
    return comb(attributes, 3) * rows <= _WORK[3]


def not_screened(data: AuditData) -> str:
    """Which combinations of attributes are not looked at, in words; empty where all are that can be."""
    rows = len(data.cells)
    if triples_affordable(len(data.attributes), rows) and affordable(len(data.attributes), rows) == len(
        data.attributes
    ):
        return ""
    view = coarse_view(data)
    n, threes = (len(_usable(coarser(view, _SCREEN_BINS[order]))) for order in (2, 3))
    pairs = affordable(n, rows)
    if pairs < n:
        return (
            f"pairs were looked at among {pairs:,} of {n:,} attributes only, those that say most about the outcome by "
            "themselves, and triples not at all: what shows in other combinations alone may have been missed. Name "
            "fewer attributes to have all their pairs looked at."
        )
    if not triples_affordable(threes, rows):
        return (
            "triples of attributes were not looked at, for they are too many: what shows in three attributes together, "
            "and in no two of them, may have been missed."
        )
    return ""


def _usable(coarse: CoarseView) -> list[int]:
    """The attributes of which combinations are screened: those with levels, and not too many."""
    return [j for j, column in enumerate(coarse.columns) if 2 <= column.n <= _MAX_LEVELS]


@lru_cache(maxsize=2)
def _inclusion(
    attributes: tuple[int, ...], order: int
) -> tuple[list[tuple[int, ...]], list[tuple[IntArray, list[IntArray]]]]:
    """All combinations of so many attributes, and their parts by size, the whole first.

    Of every size the different parts, and for every choice of places the number of each combination's part.
    """
    combined, parts = list(combinations(attributes, order)), []
    for size in range(order, 0, -1):
        smaller = sorted({part for each in combined for part in combinations(each, size)})
        number = {part: i for i, part in enumerate(smaller)}
        places = [
            np.array([number[tuple(each[place] for place in chosen)] for each in combined], np.int64)
            for chosen in combinations(range(order), size)
        ]
        parts.append((np.array(smaller, np.int64).reshape(-1, size), places))
    return combined, parts


class _Screen:
    """Chi-square statistics of coarse tables of several attributes, each table counted once."""

    def __init__(self, coarse: CoarseView, scorer: Scorer) -> None:
        self.coarse, self.scorer = coarse, scorer
        self.sizes = [column.n + 1 for column in coarse.columns]

    def table(self, parts: tuple[int, ...]) -> IntArray:
        """Counts per combination of bins (missing included) and cell: [bins of first, ..., cells]."""
        return joint_tables(
            [self.coarse.columns[j].bins for j in parts],
            [self.sizes[j] for j in parts],
            [tuple(range(len(parts)))],
            self.coarse.data,
        )[0]

    def chi2(self, combined: IntArray) -> tuple[FloatArray, IntArray]:
        """Per combination and rate the chi-square of the outcome over the joint bins, and its degrees of freedom.

        combined: [combinations, attributes].
        """
        n_rates, sizes = len(self.scorer.rates.rates), np.array(self.sizes, np.int64)
        statistic, df = np.zeros((len(combined), n_rates)), np.zeros((len(combined), n_rates), np.int64)
        entries = np.cumsum(sizes[combined].prod(axis=1))
        batch = entries * self.coarse.data.n_cells // _ENTRIES_AT_ONCE
        totals = self.scorer.totals.sum(axis=(0, 2))
        used, parts = np.unique(combined, return_inverse=True)
        parts, columns = parts.reshape(combined.shape), [self.coarse.columns[j].bins for j in used.tolist()]
        for chosen in np.split(np.arange(len(combined)), np.flatnonzero(np.diff(batch)) + 1):
            tables, ends = joint_counts(
                columns, sizes[used].tolist(), parts[chosen], self.coarse.data, threads=self.scorer.threads
            )
            counts = self.scorer.by_pattern(tables).sum(axis=(1, 3))
            excess, spread = residuals(counts, totals, self.scorer.rates)
            terms = np.where(spread > 0, excess**2 / np.maximum(spread, 1e-12), 0.0) / self.scorer.aim.effect
            filled = spread > 0
            lengths = np.diff(ends, prepend=0)
            starts = ends - lengths
            for length in np.unique(lengths).tolist():  # tables of one size at once
                same = lengths == length
                places = starts[same][:, None] + np.arange(length)
                statistic[chosen[same]] = terms[:, places].sum(axis=2).T
                df[chosen[same]] = np.count_nonzero(filled[:, places], axis=2).T - 1
        return statistic, df

    def strongest(self, attributes: list[int], n: int) -> list[int]:
        """The n attributes that say most about the outcome by themselves, in their order; the first of equal ones."""
        if n >= len(attributes):
            return attributes
        statistic, df = self.chi2(np.array(attributes, np.int64)[:, None])
        log_p = chi2_log_sf(statistic.sum(axis=1), np.maximum(df, 0).sum(axis=1))
        order = np.argsort(np.nan_to_num(log_p, nan=0.0), kind="stable")[:n]
        return [attributes[i] for i in sorted(order.tolist())]

    def beyond_parts(self, attributes: Sequence[int], order: int) -> list[tuple[float, tuple[int, ...]]]:
        """log p of what joint tables of so many attributes show beyond their parts, smallest first."""
        combined, parts = _inclusion(tuple(attributes), order)
        if not combined:
            return []
        statistic, df = np.zeros((len(combined), len(self.scorer.rates.rates))), 0
        for size, (smaller, places) in zip(range(order, 0, -1), parts, strict=True):
            value, degrees = self.chi2(smaller)
            sign = (-1) ** (order - size)
            for at in places:
                statistic, df = statistic + sign * value[at], df + sign * degrees[at]
        log_p = chi2_log_sf(np.maximum(statistic, 0.0).sum(axis=1), np.maximum(df, 0).sum(axis=1))
        return sorted(zip(np.nan_to_num(log_p, nan=0.0).tolist(), combined, strict=True))

    def best_crossings(self, parts: tuple[int, ...]) -> list[CodedCriterion]:
        """The strongest crossings of a joint table, among those above and those below the overall rate."""
        table = self.table(parts)[tuple(slice(self.coarse.columns[j].n) for j in parts)]
        flat = table.reshape(-1, table.shape[-1])
        statistic = self.scorer.statistic(flat)
        pooled = self.scorer.pool(flat)
        hit, base = self.scorer.rates.hit(pooled)[0], self.scorer.rates.base(pooled)[0]
        above = hit * self.scorer.bases[0] >= base * self.scorer.hits[0]
        out = []
        for side in (above, ~above):
            strongest = np.argsort(np.where(side, -statistic, 1.0), kind="stable")[:_CROSSINGS_PER_COMBINATION]
            for crossing in strongest[side[strongest] & (statistic[strongest] > 0)].tolist():
                place = np.unravel_index(crossing, table.shape[:-1])
                out.append(tuple(self._condition(j, int(b)) for j, b in zip(parts, place, strict=True)))
        return out

    def _condition(self, j: int, b: int) -> CodedCondition:
        column = self.coarse.columns[j]
        if column.nominal:
            return CodedCondition(j, 0, 0, (int(column.levels[b]),))
        return CodedCondition(j, int(column.edges[b]), int(column.edges[b + 1]))


def forest_nodes(nodes: Members, scorer: Scorer) -> list[CodedCriterion]:
    """The best nodes of the forest, inner ones too, judged on all of D1."""
    found = np.array([i for i, criterion in enumerate(nodes.criteria) if criterion], dtype=np.int64)
    if len(found) == 0:
        return []
    # Pricing is the slow part: only for those with the strongest evidence.
    inside = nodes.count(scorer.view.data, scorer.threads)[found]
    statistic = scorer.statistic(inside)
    strongest = np.argsort(-statistic, kind="stable")[:_PRICED]
    log_p = scorer.log_p(statistic[strongest]).tolist()
    priced = [nodes.criteria[i] for i in found[strongest].tolist()]
    values = [own + scorer.prices.criterion(criterion) for own, criterion in zip(log_p, priced, strict=True)]
    return [criterion for _, criterion in sorted(zip(values, priced, strict=True))[:_FROM_FOREST]]
