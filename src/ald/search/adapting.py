"""What the search makes of a design: whole people, few strata, and how far chi2 statistics can be trusted.

The search works on counts. It sees survey weights as counts of people, legitimate factors as a few strata, and clusters
as statistics that are too large by one factor. The assessment on D2 does without these simplifications.
"""

from __future__ import annotations

from dataclasses import replace
from math import log

import numpy as np

from ald._core.arrays import IntArray
from ald._core.exact import WORD
from ald.data import coded
from ald.data.coded import AuditData, weighted_bincount
from ald.notions import RateCounter


def design_effect(data: AuditData, rates: RateCounter) -> float:
    """By how much a chi2 statistic of these rates is too large, at least 1."""
    one = np.eye(data.n_cells, dtype=np.int64)
    return coded.design_effect(data, rates.hit(one), rates.base(one))


def amounts_effect(data: AuditData) -> float:
    """The same of tests of amounts."""
    assert data.design.amounts is not None
    mean = float(data.counts @ data.design.amounts) / max(data.total, 1)
    return coded.effect_of(data, [np.asarray(data.design.amounts - mean, float)])


def beyond_strata(data: AuditData) -> AuditData:
    """The data with amounts as what they are beyond the mean of their stratum, in whole units."""
    design, amounts = data.design, data.design.amounts
    if design.strata is None or amounts is None:
        return data
    weight = data.counts if design.weights is None else data.counts * design.weights
    total, people = (np.bincount(design.strata, values) for values in (weight * amounts, weight))
    means = np.rint(total / np.maximum(people, 1e-300)).astype(np.int64)
    rest = amounts - means[design.strata]
    # Residuals may have twice the range; a coarser unit holds them.
    if len(rest) and int(np.abs(rest).max()) >= 1 << WORD:
        rest = rest >> 1
    return replace(data, design=replace(design, amounts=rest))


# The parts of a person where amounts are told as shares.
PARTS = 1 << 16


def as_shares(data: AuditData) -> tuple[AuditData, float]:
    """Amounts as yes and no: of every person as many parts are a hit as the amount is above the least, up to the most.

    Then rates are means, in units of the range, and a statistic of rates is that of means times a factor, which is the
    second result: the parts of a person do not vary by themselves.
    """
    amounts = data.design.amounts
    assert amounts is not None
    low, high = (int(amounts.min()), int(amounts.max())) if len(amounts) else (0, 0)
    hits = np.rint((amounts - low) / max(high - low, 1) * PARTS).astype(np.int64)
    share = hits / PARTS
    mean = float(data.counts @ share) / max(data.total, 1)
    variance = float(data.counts @ (share - mean) ** 2) / max(data.total, 1)
    counts = np.stack([PARTS - hits, hits], axis=-1) * data.counts[:, None]
    kept = np.flatnonzero(counts)
    rows = kept // 2
    shares = replace(
        data,
        codes=tuple(codes[rows] for codes in data.codes),
        cells=(kept % 2).astype(np.uint8),
        counts=counts.ravel()[kept],
        n_cells=2,
        design=replace(data.design, amounts=None).take(rows),
        unit=None,
    )
    return shares, PARTS * variance / (mean * (1.0 - mean)) if variance > 0 else 1.0


def few_strata(strata: IntArray, data: AuditData, rates: RateCounter, limit: int) -> IntArray:
    """Strata merged to at most `limit`, those with similar rates together (Hansen 2008: prognostic scores).

    Whatever makes people of different strata differ in their rates no longer does so within classes of equal rates.
    """
    present, numbers = np.unique(strata, return_inverse=True)
    n = len(present)
    if n <= limit:
        return numbers
    table = weighted_bincount(numbers * data.n_cells + data.cells, data.counts, n * data.n_cells)
    counts = table.reshape(n, data.n_cells)
    hit, base = rates.hit(counts), rates.base(counts)
    overall = hit.sum(axis=1) / np.maximum(base.sum(axis=1), 1)
    # Small strata are drawn towards the overall rate, so that they do not end up among the extreme ones by chance.
    means = (hit + overall[:, None]) / (base + 1.0)
    # As many classes per rate as all rates together leave room for; if that is not two, then only for the first rates.
    per_rate = max(2, int(limit ** (1 / len(means)) + 1e-9))
    people = counts.sum(axis=1)
    classes = np.zeros(n, np.int64)
    for mean in means[: int(log(limit, per_rate) + 1e-9)]:
        order = np.argsort(mean, kind="stable")
        before = np.cumsum(people[order]) - people[order] / 2
        quantile = np.empty(n, np.int64)
        quantile[order] = np.minimum(per_rate * before / people.sum(), per_rate - 1).astype(np.int64)
        classes = classes * per_rate + quantile
    return np.unique(classes, return_inverse=True)[1][numbers]
