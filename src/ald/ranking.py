"""RANK: Step 3. Which assessed groups are listed, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ald._core.arrays import AnyArray, BoolArray, FloatArray, IntArray
from ald.assess.assessment import Assessment
from ald.data.coded import Attribute
from ald.groups.rules import simplicity
from ald.groups.tree import CodedCriterion
from ald.statistics.basics import adjust


@dataclass(frozen=True, kw_only=True, eq=False)
class Scores:
    """What groups are ranked by, one entry per candidate of all questions."""

    magnitude: FloatArray
    log_p: FloatArray
    log_p_adjusted: FloatArray


def join_assessments(assessments: Sequence[Assessment], adjustment: str) -> Scores:
    """The candidates of several assessments one after the other, corrected together."""
    magnitude, log_p = (np.concatenate([getattr(one, name) for one in assessments]) for name in ("magnitude", "log_p"))
    return Scores(magnitude=magnitude, log_p=log_p, log_p_adjusted=adjust(log_p, adjustment))


def rank(
    assessment: Assessment | Scores, criteria: Sequence[CodedCriterion], attributes: Sequence[Attribute], ranking: str
) -> IntArray:
    """All candidates in ranked order: by "confidence" (smallest p first) or "magnitude" (largest first).

    Ties, such as a group and its complement: fewer conditions, then fewer levels, then canonical order. Undefined
    candidates come last.
    """
    key = sort_key(assessment, ranking)
    undefined = np.isnan(assessment.log_p)
    order = np.lexsort((key, undefined))
    # Simplicity and canonical order matter within ties only, whole criteria only where a few numbers are equal.
    places = np.flatnonzero(_equal_neighbours(order, [key]))
    tied = order[places]
    if tied.size == 0:
        return order
    keys = [*simplicity(criteria, tied.tolist(), attributes).T[::-1], key[tied], undefined[tied]]
    among = np.lexsort(keys)
    equal = among[_equal_neighbours(among, keys)].tolist()
    if equal:
        exact = {i: criteria[tied[i]] for i in equal}
        last = np.zeros(len(tied), dtype=np.int64)
        last[sorted(exact, key=lambda i: exact[i])] = np.arange(len(exact))
        among = np.lexsort([last, *keys])
    order[places] = tied[among]
    return order


def _equal_neighbours(order: IntArray, keys: Sequence[AnyArray]) -> BoolArray:
    """Which places of an order have a neighbour that is equal in all keys."""
    equal = np.ones(max(len(order) - 1, 0), dtype=bool)
    for key in keys:
        equal &= key[order[1:]] == key[order[:-1]]
    return np.concatenate([equal, [False]]) | np.concatenate([[False], equal]) if len(order) else np.zeros(0, bool)


def sort_key(assessment: Assessment | Scores, ranking: str) -> FloatArray:
    """What is sorted ascending; NaN (undefined) becomes +inf."""
    key = assessment.log_p if ranking == "confidence" else -assessment.magnitude
    return np.where(np.isnan(key), np.inf, key)


def significant(assessment: Assessment | Scores, order: IntArray, level: float) -> IntArray:
    """The groups that are significant at `level` after correction, in ranked order."""
    with np.errstate(invalid="ignore"):
        return np.asarray(order[assessment.log_p_adjusted[order] <= np.log(level)])
