"""Which column plays which part: what goes together, and what does not."""

from __future__ import annotations

from typing import Any

import pytest

from ald import SettingError
from ald.data.roles import Roles


def test_an_outcome_or_several() -> None:
    """One outcome or several are the same to those who ask for all."""
    assert Roles(outcome="y").outcomes == ("y",)
    assert Roles(outcome=("y", "z")).outcomes == ("y", "z")
    assert Roles(prediction="p", truth="t").outcomes == ()
    assert Roles(prediction="p", truth="t").outcome_columns == ("p", "t")


def test_columns_with_a_role_are_no_attributes() -> None:
    """All columns with a role are taken, but legitimate factors may be attributes too."""
    roles = Roles(outcome="y", weights="n", survey_weights="w", cluster="c", split="s", given=("g",))
    assert set(roles.taken) == {"y", "n", "w", "c", "s"}


def test_only_what_is_needed_is_read() -> None:
    """With named attributes only the columns with a role, these, and those with a kind are read; otherwise all."""
    roles = Roles(outcome="y", attributes=("a",), given=("g",), cluster="c", kinds={"k": "nominal"})
    assert roles.needed == ("y", "c", "g", "a", "k")
    assert Roles(outcome="y").needed is None


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({}, "name the column to audit"),
        ({"outcome": "y", "prediction": "p", "truth": "t"}, "give either outcome, or prediction and truth"),
        ({"prediction": "p"}, "prediction was given without truth"),
        ({"truth": "t"}, "truth was given without prediction"),
        ({"outcome": 3}, r"outcome must be the name of a column \(text\), not 3"),
        ({"outcome": ("y", 3)}, "outcome must be the name of a column"),
        ({"outcome": "y", "given": (3,)}, "given must be the name of a column"),
        ({"outcome": "y", "cluster": 3}, "cluster must be the name of a column"),
        ({"outcome": "y", "survey_weights": 3}, "survey_weights must be the name of a column"),
        ({"outcome": "y", "split": 3}, "split must be the name of a column"),
        ({"outcome": ("y", "y")}, "column 'y' is named twice as outcome"),
        ({"outcome": "y", "given": ("g", "g")}, "column 'g' is named twice as given"),
        ({"outcome": "y", "given": ("y",)}, "column 'y' cannot be both outcome and given"),
        ({"outcome": "y", "cluster": "y"}, "column 'y' cannot be both outcome and cluster"),
        ({"outcome": "y", "weights": "w", "survey_weights": "w"}, "cannot be both weights and survey_weights"),
        ({"outcome": "y", "cluster": "c", "given": ("c",)}, "cannot be both given and cluster"),
        ({"outcome": "y", "cluster": "c", "split": "c"}, "cannot be both cluster and split"),
    ],
)
def test_what_does_not_go_together(options: dict[str, Any], problem: str) -> None:
    """A column that is named for two things, or a role without a name, is an error that says so."""
    with pytest.raises(SettingError, match=problem):
        Roles(**options)


def test_what_may_coincide() -> None:
    """The split may be a legitimate factor, such as the year, and a prediction its own truth (with a warning)."""
    assert Roles(outcome="y", given=("year",), split="year").given == ("year",)
    assert Roles(prediction="p", truth="p").outcome_columns == ("p", "p")
