"""The order of the list, and who is on it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ald.assess.assessment import Assessment, assess_counts
from ald.data.coded import Attribute
from ald.groups.tree import CodedCondition, CodedCriterion
from ald.notions import NOTIONS
from ald.ranking import rank, significant
from ald.statistics.basics import adjust

ATTRIBUTES = (
    Attribute(name="g", kind="nominal", levels=("a", "b", "c", "d")),
    Attribute(name="h", kind="nominal", levels=("u", "v")),
)
NAN = float("nan")


def one(*levels: int) -> CodedCriterion:
    return (CodedCondition(0, 0, 0, levels),)


def assessed(log_p: Any, psi: Any = None) -> Assessment:
    """An assessment with these results, corrected by Benjamini and Hochberg's method."""
    log_p = np.array(log_p, float)
    psi = np.zeros(len(log_p)) if psi is None else np.array(psi, float)
    blank = assess_counts(np.tile([1, 1], (len(log_p), 1)), np.array([4, 4]), NOTIONS["statistical parity"])
    return replace(blank, log_p=log_p, psi=psi, log_p_adjusted=adjust(log_p, "bh"))


def order(assessment: Assessment, criteria: list[CodedCriterion] | None = None, ranking: str = "confidence") -> list:
    same = [one(0)] * len(assessment) if criteria is None else criteria
    return rank(assessment, same, ATTRIBUTES, ranking).tolist()


@given(st.lists(st.floats(-1e6, 0.0), min_size=1, max_size=20, unique=True))
def test_confidence_is_by_log_p(log_p: list[float]) -> None:
    """The smallest log p comes first, also where all p-values underflow to 0."""
    assert [log_p[i] for i in order(assessed(log_p))] == sorted(log_p)


def test_confidence_where_p_is_zero() -> None:
    """Groups whose p-values are all 0 in floating point are told apart by log p."""
    log_p = [-2000.0, -5000.0, -3000.0]
    assert np.exp(log_p).tolist() == [0.0, 0.0, 0.0]
    assert order(assessed(log_p)) == [1, 2, 0]


@given(st.lists(st.floats(-1, 1).map(lambda v: round(v, 6)), min_size=1, max_size=20, unique_by=abs))
def test_magnitude_is_by_absolute_psi(psi: list[float]) -> None:
    """The largest disparity comes first, whatever its sign and its p-value."""
    found = order(assessed(np.linspace(-50, -1, len(psi)), psi), ranking="magnitude")
    assert [psi[i] for i in found] == sorted(psi, key=abs, reverse=True)


@pytest.mark.parametrize("ranking", ["confidence", "magnitude"])
@pytest.mark.parametrize(
    ("criteria", "expected"),
    [
        ([(*one(0), CodedCondition(1, 0, 0, (0,))), one(0, 1, 2)], [1, 0]),
        ([one(0, 1, 2), one(3)], [1, 0]),
        ([one(2), one(1), one(3)], [1, 0, 2]),
        ([one(0, 3), (*one(0), CodedCondition(1, 0, 0, (0,))), one(1, 2), one(3)], [3, 0, 2, 1]),
    ],
    ids=["fewer conditions", "fewer levels", "canonical order", "all three"],
)
def test_ties(ranking: str, criteria: list[CodedCriterion], expected: list[int]) -> None:
    """Among equals come fewer conditions, then fewer levels, then canonical order."""
    n = len(criteria)
    assert order(assessed([-3.0] * n, [0.2] * n), criteria, ranking) == expected


@pytest.mark.parametrize("ranking", ["confidence", "magnitude"])
def test_undefined_comes_last(ranking: str) -> None:
    """Undefined groups follow all defined ones, even where their psi is large."""
    assessment = assessed([NAN, -0.1, NAN, -5.0], [0.9, 0.01, NAN, 0.1])
    criteria = [one(0), one(1, 2), one(3), one(1)]
    assert set(order(assessment, criteria, ranking)[:2]) == {1, 3}
    assert significant(assessment, rank(assessment, criteria, ATTRIBUTES, ranking), 1.0).tolist() == [3, 1]


@given(st.lists(st.floats(-20, 0.0), min_size=1, max_size=15), st.floats(0.001, 1.0))
def test_significant_groups_in_order(log_p: list[float], level: float) -> None:
    """Significant are the groups whose corrected p is at most the level, and no others, in ranked order."""
    assessment = assessed(log_p)
    ranked = rank(assessment, [one(0)] * len(log_p), ATTRIBUTES, "confidence")
    expected = [i for i in ranked.tolist() if assessment.log_p_adjusted[i] <= np.log(level)]
    assert significant(assessment, ranked, level).tolist() == expected


def test_magnitude_without_its_bias() -> None:
    """With signs from other data, differences count in their direction: one of the other sign comes last."""
    assessment = assessed([-3.0, -3.0, -3.0])
    rates = np.array([[0.5, 0.7, 0.1]])
    assessment = replace(
        assessment, rate_in=rates, rate_out=np.full((1, 3), 0.4), expected=np.array([[1.0, -1.0, -1.0]])
    )
    assert assessment.magnitude.tolist() == pytest.approx([0.1, -0.3, 0.3])
    assert order(assessment, ranking="magnitude") == [2, 0, 1]


def test_level_one_lists_all_that_is_defined() -> None:
    """With level 1 every defined group is listed, p = 1 included, and no undefined one."""
    assessment = assessed([0.0, NAN, -0.5, -9.0])
    ranked = rank(assessment, [one(0)] * 4, ATTRIBUTES, "confidence")
    assert significant(assessment, ranked, 1.0).tolist() == [3, 2, 0]


def test_nothing_to_rank() -> None:
    """Without candidates the order and the list are empty."""
    assessment = assessed([])
    assert order(assessment) == []
    assert significant(assessment, rank(assessment, [], ATTRIBUTES, "magnitude"), 0.05).tolist() == []
