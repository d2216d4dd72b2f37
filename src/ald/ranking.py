"""RANK: Step 3. Which assessed groups are listed, and in which order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ald.arrays import FloatArray, IntArray
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
    order = np.lexsort((np.arange(len(key)), key, undefined))
    # Simplicity and canonical order matter within ties only: sort those few in Python.
    ranked = key[order]
    edges = np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1], [True]]))
    for start in np.flatnonzero(np.diff(edges) > 1).tolist():
        place = slice(int(edges[start]), int(edges[start + 1]))
        tied = order[place].tolist()
        simple = dict(zip(tied, complexities(criteria, tied, attributes), strict=True))
        common = Counter(simple.values())

        def canonical(
            i: int, simple: dict[int, tuple[int, int]] = simple, common: Counter[tuple[int, int]] = common
        ) -> tuple[bool, tuple[int, int], CodedCriterion]:
            # A criterion that is simpler or more complex than all others need not be looked at.
            return bool(undefined[i]), simple[i], criteria[i] if common[simple[i]] > 1 else ()

        order[place] = sorted(tied, key=canonical)
    return np.asarray(order)


def sort_key(assessment: Assessment | Scores, ranking: str) -> FloatArray:
    """What is sorted ascending; NaN (undefined) becomes +inf."""
    key = assessment.log_p if ranking == "confidence" else -np.abs(assessment.psi)
    return np.where(np.isnan(key), np.inf, key)


def listed(assessment: Assessment | Scores, order: IntArray, level: float, groups: int) -> IntArray:
    """The first groups in ranked order that are significant at `level` after correction."""
    with np.errstate(invalid="ignore"):
        significant = assessment.log_p_adjusted[order] <= np.log(level)
    return np.asarray(order[significant][:groups])
