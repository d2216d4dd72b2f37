"""Outcomes, predictions and truths of several classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn import metrics

import ald
from ald.errors import ColumnError

LEVELS = ["bad", "fair", "good"]


def graded(n: int = 4000, seed: int = 1) -> dict[str, Any]:
    """Women over 40 are seldom good, and are often said to be bad."""
    rng = np.random.default_rng(seed)
    sex, age = rng.choice(["f", "m"], n), rng.integers(18, 70, n)
    group = (sex == "f") & (age > 40)
    grade = rng.choice(LEVELS, n, p=[0.3, 0.5, 0.2])
    grade = np.where(group & (grade == "good") & (rng.random(n) < 0.7), "fair", grade)
    said = np.where(rng.random(n) < 0.7, grade, rng.choice(LEVELS, n))
    return {"sex": sex, "age": age, "grade": grade, "said": np.where(group & (rng.random(n) < 0.3), "bad", said)}


@pytest.mark.parametrize("split", ["random", "none"])
def test_every_class_against_the_others(split: str) -> None:
    """Each class is asked about with one correction for all, and findings say which class they are about."""
    audit = ald.audit(graded(), outcome="grade", exclude="said", split=split)
    assert {found.outcome for found in audit.candidates} <= set(LEVELS)
    first = audit.groups[0]
    assert first.outcome == "good"
    assert {condition.attribute for condition in first.criterion} == {"age", "sex"}
    assert "had grade = good in" in audit.report().headline
    assert "each is compared with all others" in audit.warnings[0]
    assert ald.Audit.from_json(audit.to_json()).to_json() == audit.to_json()


def test_named_groups_are_those_of_yes_no_columns() -> None:
    """A class against all others has the numbers of the yes/no column that says so, but for the correction."""
    data = graded()
    asked: dict[str, Any] = {"search": "none", "named_groups": "sex = f"}
    classes = {one.outcome: one for one in ald.audit(data, outcome="grade", **asked).named_groups}
    assert set(classes) == set(LEVELS)
    for name, found in classes.items():
        alone = ald.audit(data, outcome="grade", favourable=name, **asked).named_groups[0]
        assert (found.psi, found.p_value, found.size) == (alone.psi, alone.p_value, alone.size)
        assert (found.p_adjusted or 0) >= (alone.p_adjusted or 0)


def test_error_rates_of_every_class_by_scikit_learn() -> None:
    """With a truth there is accuracy over all classes, and recall and false positive rates of each."""
    data = graded()
    audit = ald.audit(
        data, prediction="said", truth="grade", notion=["accuracy", "equalized odds"], search="none",
        named_groups="sex = f",
    )  # fmt: skip
    inside = data["sex"] == "f"
    accuracy = next(one for one in audit.named_groups if one.notion == "accuracy")
    assert accuracy.outcome is None
    for rates, side in ((accuracy.rates_inside, inside), (accuracy.rates_outside, ~inside)):
        assert rates["accuracy"] == pytest.approx(metrics.accuracy_score(data["grade"][side], data["said"][side]))
    odds = {one.outcome: one for one in audit.named_groups if one.notion == "equalized odds"}
    assert set(odds) == set(LEVELS)
    recall = metrics.recall_score(data["grade"][inside], data["said"][inside], labels=LEVELS, average=None)
    for name, value in zip(LEVELS, recall, strict=True):
        assert odds[name].rates_inside["fnr"] == pytest.approx(1 - value)
        wrong = (data["said"] == name)[inside & (data["grade"] != name)]
        assert odds[name].rates_inside["fpr"] == pytest.approx(wrong.mean())
    assert "were wrongly given said = bad" in str(audit) + str(ald.audit(data, prediction="said", truth="grade",
                                                                         notion="equalized odds"))  # fmt: skip


@pytest.mark.parametrize("how", ["kinds", "pandas"])
def test_ordered_classes_have_scores(how: str) -> None:
    """Ordered levels count as 1, 2, ...: means of these are compared, with ranks beside them."""
    data = graded()
    frame: Any = ald.source(data, kinds={"grade": LEVELS})
    if how == "pandas":
        frame = pd.DataFrame(data).assign(grade=pd.Categorical(data["grade"], LEVELS, ordered=True))
    one = ald.audit(frame, outcome="grade", exclude="said", search="none", named_groups="sex = f").named_groups[0]
    score, inside = np.array([LEVELS.index(level) + 1 for level in data["grade"]]), data["sex"] == "f"
    assert one.rates_inside["mean"] == pytest.approx(score[inside].mean())
    ranks = stats.mannwhitneyu(score[inside], score[~inside], method="asymptotic", use_continuity=False)
    assert one.log10_p_ranks == pytest.approx(np.log10(ranks.pvalue))


def test_what_cannot_be_asked_of_classes() -> None:
    """Many classes, classes that differ in spelling, and a direction without a favourable value are refused."""
    data = graded(600)
    many = data | {"grade": np.array([f"c{i}" for i in range(20)])[np.arange(600) % 20]}
    with pytest.raises(ColumnError, match="at most 12 are audited class by class"):
        ald.audit(many, outcome="grade", exclude="said")
    spelt = data | {"grade": np.where(np.arange(600) % 3 == 0, "Bad", data["grade"])}
    with pytest.raises(ColumnError, match="differ only in spelling"):
        ald.audit(spelt, outcome="grade", exclude="said")
    with pytest.raises(ColumnError, match="say which value is favourable"):
        ald.audit(data, outcome="grade", exclude="said", direction="disadvantaged")


def test_a_favourable_value_makes_two() -> None:
    """Who says which class is favourable asks about that one alone, as ever."""
    audit = ald.audit(graded(), outcome="grade", favourable="good", exclude="said", split="random")
    assert {found.outcome for found in audit.candidates} == {None}
    assert audit.config.classes == ()
