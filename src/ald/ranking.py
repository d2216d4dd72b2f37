"""RANK: Step 3. Which assessed groups are listed, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ald.arrays import FloatArray, IntArray
from ald.data.coded import Attribute
from ald.evaluation import Assessment
from ald.search.rules import complexity
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
    order = np.lexsort((np.arange(len(key)), key, undefined))
    # Simplicity and canonical order matter within ties only: sort those few in Python.
    out: list[int] = []
    ranked = key[order]
    edges = np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1], [True]]))
    for start, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        tied = order[start:end].tolist()
        if len(tied) > 1:
            tied.sort(key=lambda i: (bool(undefined[i]), *complexity(criteria[i], attributes), criteria[i]))
        out.extend(tied)
    return np.array(out, dtype=np.int64)


def sort_key(assessment: Assessment | Scores, ranking: str) -> FloatArray:
    """What is sorted ascending; NaN (undefined) becomes +inf."""
    key = assessment.log_p if ranking == "confidence" else -np.abs(assessment.psi)
    return np.where(np.isnan(key), np.inf, key)


def listed(assessment: Assessment | Scores, order: IntArray, level: float, groups: int) -> IntArray:
    """The first groups in ranked order that are significant at `level` after correction."""
    with np.errstate(invalid="ignore"):
        significant = assessment.log_p_adjusted[order] <= np.log(level)
    return np.asarray(order[significant][:groups])
