"""ALD with CHAID as Step 1.

Source: G. V. Kass, "An exploratory technique for investigating large quantities of categorical data", Applied
Statistics 29 (1980). In every node, the levels of an attribute that differ least are merged, neighbours only where
levels have an order, until all differ at `MERGE`; the attribute with the smallest p-value, corrected for the ways to
merge (Kass's Bonferroni multipliers), splits the node into one child per merged level. Merged levels are not split
again (as in the R package CHAID by default). Numbers are rounded to whole numbers and have an order. A notion with
several rates takes part as in our trees: where no one counts for two rates, statistics and degrees of freedom add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import lgamma

import numpy as np

from ald._core.arrays import FloatArray, IntArray
from ald.baselines.interface import Ranked, Search, statistics
from ald.baselines.rounding import rounded_view
from ald.data.coded import AuditData
from ald.groups.derived import extend_data
from ald.notions import RateCounter
from ald.statistics.basics import chi2_2x2, chi2_log_sf

MERGE = 0.05
SPLIT = 0.05
MINSPLIT = 20
MINBUCKET = 7
MINPROB = 0.01


@dataclass(frozen=True, kw_only=True)
class Merged:
    """An attribute's levels, merged, and log p of the split, corrected for the ways to merge them."""

    groups: tuple[tuple[int, ...], ...]
    log_p: float


def search(request: Search) -> Ranked:
    """The leaves of one CHAID tree."""
    view = rounded_view(request.data)
    leaves: list[tuple[tuple[int, ...], ...]] = []
    rows = np.arange(len(view.data.cells))
    _grow(view.data, request.rates, rows, ((),) * len(view.data.attributes), leaves)
    criteria = list(dict.fromkeys(criterion for levels in leaves if (criterion := view.criterion(levels))))
    derived = view.derive_attributes()
    scores = statistics(criteria, extend_data(request.data, derived), request.rates)
    order = np.argsort(-scores, kind="stable").tolist()
    return Ranked(criteria=tuple(criteria[i] for i in order), score=tuple(scores[order].tolist()), derived=derived)


def _grow(
    data: AuditData,
    rates: RateCounter,
    rows: IntArray,
    levels: tuple[tuple[int, ...], ...],
    leaves: list[tuple[tuple[int, ...], ...]],
) -> None:
    """Splits a node into its children, or keeps it as a leaf. `levels`: those allowed per attribute, empty for all."""
    n = int(data.counts[rows].sum())
    best = _best(data, rates, rows, n) if n >= MINSPLIT else None
    if best is None:
        leaves.append(levels)
        return
    attribute, merged = best
    for group in merged.groups:
        member = np.isin(data.codes[attribute][rows], group)
        _grow(data, rates, rows[member], (*levels[:attribute], group, *levels[attribute + 1 :]), leaves)


def _best(data: AuditData, rates: RateCounter, rows: IntArray, n: int) -> tuple[int, Merged] | None:
    """The attribute that splits a node, if any does."""
    least = max(MINBUCKET, int(np.ceil(MINPROB * n)))
    found = []
    for a, attribute in enumerate(data.attributes):
        keys = data.codes[a][rows].astype(np.int64) * data.n_cells + data.cells[rows]
        flat = np.bincount(keys, weights=data.counts[rows], minlength=(attribute.size + 1) * data.n_cells)
        table = flat.reshape(attribute.size + 1, data.n_cells)[: attribute.size].astype(np.int64)
        merged = merge_levels(table, not attribute.is_nominal, rates, least=least)
        if len(merged.groups) > 1 and merged.log_p <= np.log(SPLIT):
            found.append((merged.log_p, a, merged))
    return min(found, key=lambda entry: entry[:2])[1:] if found else None


def merge_levels(table: IntArray, ordered: bool, rates: RateCounter, *, alpha: float = MERGE, least: int = 1) -> Merged:
    """Merges the levels (rows of counts per cell) that occur while the most alike pair does not differ at `alpha`.

    A merged level with fewer than `least` people goes to the level that is most like it.
    """
    groups: list[tuple[int, ...]] = [(code,) for code in np.flatnonzero(table.sum(axis=1)).tolist()]
    counts = [table[list(group)].sum(axis=0) for group in groups]
    n_levels = len(groups)
    while len(groups) > 1:
        pairs = [(i, i + 1) for i in range(len(groups) - 1)] if ordered else [
            (i, j) for i in range(len(groups)) for j in range(i + 1, len(groups))
        ]  # fmt: skip
        log_p = pair_log_p(np.array(counts), pairs, rates)
        small = [i for i, count in enumerate(counts) if count.sum() < least]
        # First the most alike pair; where all differ, the smallest level with too few people joins the nearest one.
        if log_p.max() > np.log(alpha):
            best = int(np.argmax(log_p))
        elif small:
            fewest = min(small, key=lambda i: int(counts[i].sum()))
            best = max((k for k, pair in enumerate(pairs) if fewest in pair), key=lambda k: log_p[k])
        else:
            break
        i, j = pairs[best]
        groups[i], counts[i] = tuple(sorted((*groups[i], *groups[j]))), counts[i] + counts[j]
        del groups[j], counts[j]
    total = table_log_p(np.array(counts), rates) + log_ways(n_levels, len(groups), ordered=ordered)
    return Merged(groups=tuple(groups), log_p=min(total, 0.0))


def pair_log_p(counts: IntArray, pairs: Sequence[tuple[int, int]], rates: RateCounter) -> FloatArray:
    """log p of Pearson's chi2 between pairs of levels; 0 where nothing can differ."""
    one, other = (counts[[pair[k] for pair in pairs]] for k in (0, 1))
    hit, base = rates.hit(one), rates.base(one)
    hit_other, base_other = rates.hit(other), rates.base(other)
    chi2 = np.stack([
        chi2_2x2(hit[r], base[r] - hit[r], hit_other[r], base_other[r] - hit_other[r]) for r in range(len(hit))
    ])  # fmt: skip
    return _combine(np.nan_to_num(chi2), (~np.isnan(chi2)).astype(np.int64), rates)


def table_log_p(counts: IntArray, rates: RateCounter) -> float:
    """log p of Pearson's chi2 of levels against outcomes."""
    hit, base = rates.hit(counts).astype(float), rates.base(counts).astype(float)
    overall = hit.sum(axis=1, keepdims=True) / np.maximum(base.sum(axis=1, keepdims=True), 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(base > 0, (hit - base * overall) ** 2 / (base * overall * (1 - overall)), 0.0)
    varies = ((overall > 0) & (overall < 1))[:, 0]
    df = np.where(varies, np.maximum((base > 0).sum(axis=1) - 1, 0), 0)
    chi2 = np.where(df > 0, np.nan_to_num(terms.sum(axis=1)), 0.0)
    return float(_combine(chi2[:, None], df[:, None], rates)[0])


def _combine(chi2: FloatArray, df: IntArray, rates: RateCounter) -> FloatArray:
    """One log p from those of the rates (first axis)."""
    if rates.disjoint:
        return np.nan_to_num(chi2_log_sf(chi2.sum(axis=0), df.sum(axis=0)))
    each = np.nan_to_num(chi2_log_sf(chi2, df))
    return np.asarray(np.minimum(each.min(axis=0) + np.log(len(each)), 0.0))


def log_ways(levels: int, groups: int, *, ordered: bool) -> float:
    """The logarithm of the number of ways to merge levels into groups: Kass's multiplier.

    >>> round(np.exp(log_ways(5, 2, ordered=True))), round(np.exp(log_ways(5, 2, ordered=False)))
    (4, 15)
    """
    if groups <= 1 or levels <= 1:
        return 0.0
    if ordered:
        return lgamma(levels) - lgamma(groups) - lgamma(levels - groups + 1)
    row = [1] + [0] * groups  # Stirling numbers of the second kind, exactly
    for n in range(1, levels + 1):
        for k in range(min(n, groups), 0, -1):
            row[k] = k * row[k] + row[k - 1]
        row[0] = 0
    return float(np.log(float(row[groups]))) if row[groups] < 10**300 else _log_integer(row[groups])


def _log_integer(value: int) -> float:
    bits = value.bit_length() - 60
    return float(np.log(value >> bits) + bits * np.log(2.0))
