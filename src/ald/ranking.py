"""RANK: Step 3. Which assessed groups are listed, and in which order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ald.arrays import FloatArray, IntArray
from ald.data.coded import Attribute
from ald.evaluation import Assessment
from ald.search.rules import complexity
from ald.search.tree import CodedCriterion

RANKINGS: Sequence[str] = ("confidence", "magnitude")


def rank(
    assessment: Assessment, criteria: Sequence[CodedCriterion], attributes: Sequence[Attribute], ranking: str
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


def sort_key(assessment: Assessment, ranking: str) -> FloatArray:
    """What is sorted ascending; NaN (undefined) becomes +inf."""
    key = assessment.log_p if ranking == "confidence" else -np.abs(assessment.psi)
    return np.where(np.isnan(key), np.inf, key)


def listed(assessment: Assessment, order: IntArray, level: float, groups: int) -> IntArray:
    """The first groups in ranked order that are significant at `level` after correction."""
    with np.errstate(invalid="ignore"):
        significant = assessment.log_p_adjusted[order] <= np.log(level)
    return np.asarray(order[significant][:groups])
