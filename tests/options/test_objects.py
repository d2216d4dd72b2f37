"""What one parameter takes where it is more than one word."""

from __future__ import annotations

from typing import Any

import pytest

import ald
from ald.errors import SettingError
from ald.options.objects import options_of
from tests.flat import audit_flat
from tests.tables import people


@pytest.mark.parametrize(
    ("parameter", "value", "options"),
    [
        ("search", ald.Search(trees=3), {"trees": 3}),
        ("search", ald.Search("leaves", alpha=0.5), {"search": "leaves", "alpha": 0.5}),
        ("split", ald.Split(fraction=0.4), {"fraction": 0.4}),
        ("split", ald.Split(repeats=2), {"repeats": 2}),
        ("given", ald.Given("member", in_criteria=True), {"given": "member", "given_in_criteria": True}),
        ("given", ald.Given(["score"], bins=3), {"given": ["score"], "given_bins": 3}),
        ("weights", ald.SurveyWeights("w"), {"survey_weights": "w"}),
        ("weights", ald.SurveyWeights("w", counts="n"), {"survey_weights": "w", "weights": "n"}),
    ],
)
def test_objects_are_options(parameter: str, value: Any, options: dict[str, Any]) -> None:
    """An object asks for the same audit as its options by their names."""
    columns = people() | {"w": [0.5, 1.5] * 300, "n": [1, 2, 3] * 200}
    attributes = ["age", "sex", "member", "score"]
    asked = ald.audit(columns, outcome="y", attributes=attributes, **{parameter: value})
    assert asked.to_json() == audit_flat(columns, outcome="y", attributes=attributes, **options).to_json()


def test_words_stay_words() -> None:
    """What is no object is the option of the parameter's name."""
    assert options_of({"search": "paper", "given": ["a"], "weights": None}) == {
        "search": "paper",
        "given": ["a"],
        "weights": None,
    }


def test_objects_are_values() -> None:
    """Objects compare by what they say, and cannot be changed."""
    assert ald.Search("paper") == ald.Search("paper", trees=25)
    with pytest.raises(AttributeError):
        ald.Search().trees = 3  # type: ignore[misc]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"query": 1}, "query must be a text"),
        ({"threads": 0}, "threads must be a whole number from 1 on, not 0"),
        ({"threads": 1.5}, "threads must be a whole number from 1 on, not 1.5"),
    ],
)
def test_sources_are_checked(options: dict[str, Any], problem: str) -> None:
    """A source with a wrong value is refused when it is made."""
    with pytest.raises(SettingError, match=problem):
        ald.source("x.csv", **options)


def test_a_source_of_a_source() -> None:
    """A source is no data of another one."""
    with pytest.raises(SettingError, match="already a source"):
        ald.source(ald.source("x.csv"))


def test_sources_of_a_split() -> None:
    """Two data sets may be sources that are read in the same way; otherwise the difference is named."""
    last, this = people(seed=1), people(seed=2)
    kinds = {"age": "ordinal"}
    both = tuple(ald.source(half, kinds=kinds) for half in (last, this))
    found = ald.audit(split=both, outcome="y", search=ald.Search(trees=2))
    assert {entry.name: entry.kind for entry in found.data_summary.attributes}["age"] == "ordinal"
    with pytest.raises(
        SettingError, match=r"read in the same way: kinds is \{'age': 'ordinal'\} for the search and None"
    ):
        ald.audit(split=(ald.source(last, kinds=kinds), this), outcome="y")
