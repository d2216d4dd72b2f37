"""What columns may be, by their names and values."""

from __future__ import annotations

from typing import Any

import pytest

from ald.data.columns import Column
from ald.data.guesses import Guess, audited_columns, favourable_value, is_protected, is_split, weights_kind
from ald.data.inputs.sources import load

YES_NO = ["yes", "no"]


def column(name: str, values: Any) -> Column:
    return load({name: values})[name]


@pytest.mark.parametrize(
    ("columns", "outcome"),
    [
        ({"sex": ["F", "M"], "loan_approved": [1, 0], "rural": YES_NO}, "loan_approved"),
        ({"LoanApproved": [1, 0], "rural": YES_NO}, "LoanApproved"),
        ({"status": ["granted", "refused"], "rural": YES_NO}, "status"),
        ({"gender": ["f", "m"], "rural": YES_NO}, "rural"),
        ({"rural": YES_NO, "urban": YES_NO}, "urban"),
        ({"split": ["train", "test"], "female": [0, 1], "z": [0, 1]}, "z"),
        ({"sex": ["F", "M"], "size": [3, 4], "n": [5, 5]}, "size"),
    ],
)
def test_outcomes(columns: dict[str, Any], outcome: str) -> None:
    """The outcome is the column of that name, or else the last with two values that describes no person."""
    found = audited_columns(load(columns))
    assert found is not None
    assert (found.outcome, found.prediction, found.truth) == (outcome, None, None)


def test_an_outcome_of_several_values() -> None:
    """A column of few values that is named so, and has a value that is good for people, may be the outcome."""
    found = audited_columns(load({"decision": ["granted", "refused", "withdrawn"], "age": [30, 40, 50]}))
    assert found == Guess(outcome="decision", favourable="granted", reason="by its name")


def test_prediction_and_truth() -> None:
    """Two columns with the same values are a prediction and its truth, if they are named so."""
    found = audited_columns(load({"x": [1, 0], "predicted_risk": [0, 1], "actual": [1, 0]}))
    assert found is not None
    assert found.parts == {"prediction": "predicted_risk", "truth": "actual"}
    assert found.result == "actual"


def test_no_outcome() -> None:
    """Without a column of two values there is none."""
    assert audited_columns(load({"sex": ["F", "M", "F"], "age": [30, 40, 50]})) is None


@pytest.mark.parametrize(
    ("name", "values", "favourable"),
    [
        ("approved", ["Yes", "No"], "Yes"),
        ("denied", ["yes", "no"], "no"),
        ("status", ["withdrawn", "granted"], "granted"),
        ("y", [0, 1], None),
        ("income", ["<=50K", ">50K"], None),
    ],
)
def test_favourable_values(name: str, values: Any, favourable: str | None) -> None:
    """A value is taken to be good for people by its word only; that 1 is, is never assumed."""
    assert favourable_value(column(name, values)) == favourable


def test_other_parts() -> None:
    """Weights, halves and protected attributes are known by names and values."""
    assert weights_kind(column("n", [1, 20, 300])) == "weights"
    assert weights_kind(column("survey weight", [0.5, 1.5, 2.5])) == "survey_weights"
    assert weights_kind(column("weight", ["a", "b", "c"])) == weights_kind(column("age", [1, 2, 3])) == ""
    assert is_split(column("x", ["train", "test"]))
    assert is_split(column("fold", [0, 1]))
    assert not is_split(column("x", [0, 1]))
    assert is_protected("applicant_Sex")
    assert not is_protected("message")
