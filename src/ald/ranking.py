"""RANK: Step 3. Which assessed groups are listed, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ald.arrays import AnyArray, FloatArray, IntArray
from ald.data.coded import Attribute
from ald.evaluation import Assessment
from ald.search.rules import complexities
from ald.search.tree import CodedCriterion
from ald.statistics import adjust

RANKINGS: Sequence[str] = ("confidence", "magnitude")


@dataclass(frozen=True, kw_only=True, eq=False)
class Scores:
    """What groups are ranked by, one entry per candidate of all questions."""

    psi: FloatArray
    log_p: FloatArray
    log_p_adjusted: FloatArray


def joined(assessments: Sequence[Assessment], adjustment: str) -> Scores:
    """The candidates of several assessments one after the other, corrected together."""
    psi, log_p = (np.concatenate([getattr(one, name) for one in assessments]) for name in ("psi", "log_p"))
    return Scores(psi=psi, log_p=log_p, log_p_adjusted=adjust(log_p, adjustment))


def rank(
    assessment: Assessment | Scores, criteria: Sequence[CodedCriterion], attributes: Sequence[Attribute], ranking: str
) -> IntArray:
    """All candidates in ranked order: by "confidence" (smallest p first) or "magnitude" (largest |psi| first).

    Ties, such as a group and its complement: fewer conditions, then fewer levels, then canonical order. Undefined
    candidates come last.
    """
    key = sort_key(assessment, ranking)
    undefined = np.isnan(assessment.log_p)
    # Simplicity matters within ties only, and canonical order within those that are equally simple.
    words = np.zeros((len(key), 2), dtype=np.int64)
    tied = np.concatenate([np.zeros(0, np.int64), *_tied(np.lexsort((key, undefined)), [key])])
    if tied.size:
        words[tied] = complexities(criteria, tied.tolist(), attributes)
    order = np.lexsort((words[:, 1], words[:, 0], key, undefined))
    start = np.empty(len(order), dtype=np.int64)
    start[order] = np.arange(len(order))
    for places in _tied(order, [key, words[:, 0], words[:, 1]]):
        some = np.sort(start[places])
        order[some] = sorted(order[some].tolist(), key=lambda i: (bool(undefined[i]), criteria[i]))
    return np.asarray(order)


def _tied(order: IntArray, keys: Sequence[AnyArray]) -> list[IntArray]:
    """The runs of neighbours in an order that are equal in all keys, of at least two."""
    if len(order) == 0:
        return []
    differs = np.zeros(len(order) - 1, dtype=bool)
    for key in keys:
        differs |= key[order[1:]] != key[order[:-1]]
    edges = np.concatenate([[0], np.flatnonzero(differs) + 1, [len(order)]])
    return [order[edges[i] : edges[i + 1]].copy() for i in np.flatnonzero(np.diff(edges) > 1).tolist()]


def sort_key(assessment: Assessment | Scores, ranking: str) -> FloatArray:
    """What is sorted ascending; NaN (undefined) becomes +inf."""
    key = assessment.log_p if ranking == "confidence" else -np.abs(assessment.psi)
    return np.where(np.isnan(key), np.inf, key)


def listed(assessment: Assessment | Scores, order: IntArray, level: float, groups: int) -> IntArray:
    """The first groups in ranked order that are significant at `level` after correction."""
    with np.errstate(invalid="ignore"):
        significant = assessment.log_p_adjusted[order] <= np.log(level)
    return np.asarray(order[significant][:groups])
