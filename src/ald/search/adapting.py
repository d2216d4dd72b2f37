"""What the search makes of a design: whole people, few strata, and how far chi2 statistics can be trusted.

The search works on counts. It sees survey weights as counts of people, legitimate factors as a few strata, and clusters
as statistics that are too large by one factor. The assessment on D2 does without these simplifications.
"""

from __future__ import annotations

from math import log

import numpy as np

from ald._core.arrays import IntArray
from ald.data import coded
from ald.data.coded import AuditData, weighted_bincount
from ald.notions import RateCounter


def design_effect(data: AuditData, rates: RateCounter) -> float:
    """By how much a chi2 statistic of these rates is too large, at least 1."""
    one = np.eye(data.n_cells, dtype=np.int64)
    return coded.design_effect(data, rates.hit(one), rates.base(one))


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
