"""Outcome columns, one or several: which rows are favourable."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from itertools import product
from typing import Any

import numpy as np
import pytest

import ald
from ald import ColumnError, SettingError
from ald.data.inputs.sources import load
from ald.data.outcomes import MOST_OUTCOMES, against_note, confusion_cells, known_outcomes, outcome_summaries
from ald.data.roles import Roles


def cells(columns: dict[str, Any], **roles: Any) -> list[int]:
    return confusion_cells(load(columns), Roles(**roles), ordered_rows=False)[0].tolist()


def test_one_outcome() -> None:
    """The cell is 1 where the outcome is favourable."""
    assert cells({"y": ["no", "yes", "no"]}, outcome="y", favourable="yes") == [0, 1, 0]


def test_prediction_and_truth() -> None:
    """The cell is 2 * truth + prediction."""
    columns = {"p": [0, 1, 0, 1], "t": [0, 0, 1, 1]}
    assert cells(columns, prediction="p", truth="t") == [0, 1, 2, 3]


def test_several_outcomes_have_a_bit_each() -> None:
    """The first outcome is the lowest bit of the cell, and so on."""
    rows = list(product((0, 1), repeat=3))
    columns = {name: [row[i] for row in rows] for i, name in enumerate("xyz")}
    assert cells(columns, outcome=("x", "y", "z")) == [x + 2 * y + 4 * z for x, y, z in rows]


def test_one_favourable_value_for_all_or_one_each() -> None:
    """A value holds for all outcomes; a dictionary gives each its own; those it leaves out must say themselves."""
    columns = {"x": ["a", "b"], "y": ["b", "a"], "z": [1, 0]}
    assert cells(columns, outcome=("x", "y"), favourable="b") == [2, 1]
    assert cells(columns, outcome=("x", "z"), favourable={"x": "b"}) == [2, 1]
    assert cells(columns, outcome="x", favourable={"x": "b"}) == [0, 1]
    with pytest.raises(ColumnError, match="which value of outcome 'y' is the favourable one"):
        cells(columns, outcome=("x", "y"), favourable={"x": "b"})


def test_favourable_of_no_outcome() -> None:
    """A dictionary that names another column is an error with the nearest outcome."""
    with pytest.raises(SettingError, match=r"favourable names 'hird', which is not an outcome.*Did you mean 'hired'"):
        cells({"hired": ["a", "b"]}, outcome=("hired",), favourable={"hird": "b"})


def test_so_many_outcomes_at_most() -> None:
    """Six outcomes fit one audit; a seventh is an error."""
    rng = np.random.default_rng(0)
    columns = {f"y{i}": rng.integers(0, 2, 50) for i in range(7)}
    assert max(cells(columns, outcome=tuple(columns)[:MOST_OUTCOMES])) < 2**MOST_OUTCOMES
    with pytest.raises(SettingError, match="at most 6 outcomes can be audited at once, not 7"):
        cells(columns, outcome=tuple(columns))


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        (["yes", "no", None], "outcome 'z' has 1 missing values of 3"),
        (["yes", "no", "yes."], "outcome 'z' has 3 different values"),
        (["yes", "yes", "yes"], "outcome 'z' has the value 'yes' in every row"),
    ],
)
def test_every_outcome_is_checked(values: list[Any], problem: str) -> None:
    """What is wrong with one of several outcomes is said of that one."""
    with pytest.raises(ColumnError, match=problem):
        cells({"y": [0, 1, 0], "z": values}, outcome=("y", "z"), favourable={"y": 1, "z": "yes"})


STATUS = ["granted", "refused", "withdrawn", "granted"]


def test_one_value_against_the_rest() -> None:
    """Of more than two values the favourable one is compared with all others, in outcomes, predictions and truth."""
    assert cells({"y": STATUS}, outcome="y", favourable="granted") == [1, 0, 0, 1]
    both = {"p": STATUS, "t": ["refused", "granted", "granted", "granted"]}
    assert cells(both, prediction="p", truth="t", favourable="granted") == [1, 2, 2, 3]


def test_values_against_are_named() -> None:
    """The summary and a note say what the favourable value was compared with; of two values there is no note."""
    table = load({"y": STATUS, "z": ["no", "yes", "no", "yes"]})
    roles = Roles(outcome=("y", "z"), favourable={"y": "granted", "z": "yes"})
    found = outcome_summaries(table, roles)
    assert [(one.positive, one.negative) for one in found] == [("granted", "refused or withdrawn"), ("yes", "no")]
    assert against_note(table, roles) == ["'y' has 3 values. Favourable: 'granted', against 'refused', 'withdrawn'."]


def test_which_of_several_values() -> None:
    """Of more than two values nobody guesses which one counts, and the error says how to name it."""
    with pytest.raises(ColumnError, match=r"has 3 different values.*favourable='granted'.*--favourable 'granted'"):
        cells({"y": STATUS}, outcome="y")


def test_numbers_are_cut_by_people() -> None:
    """One of a few grades may count against the others; one of many numbers may not."""
    assert cells({"y": [1, 2, 3]}, outcome="y", favourable=3) == [0, 0, 1]
    with pytest.raises(ColumnError, match=r"has 11 different values.*it must have two\. Turn it into a yes/no column"):
        cells({"y": list(range(11))}, outcome="y", favourable=3)


def test_known_outcomes() -> None:
    """Rows without an outcome are told apart and counted by rows of the data; if all are, that is an error."""
    table = load({"y": [1, None, 0, "N/A"], "z": [None, 1, 0, 1]})
    assert known_outcomes(table, ("y",))[0].tolist() == [0, 2]  # type: ignore[union-attr]
    rows, (warning,) = known_outcomes(replace(table, counts=np.array([1, 5, 10, 20])), ("y", "z"))
    assert rows is not None
    assert rows.tolist() == [2]
    assert "26 of 36 rows have no value of 'y' or 'z' and were left out" in warning
    assert known_outcomes(load({"y": [0, 1]}), ("y",)) == (None, [])
    with pytest.raises(ColumnError, match="no row has a value of 'y' and 'z'"):
        known_outcomes(load({"y": [1, None], "z": [None, 1]}), ("y", "z"))


def test_dates_are_no_outcome() -> None:
    """An outcome of many dates is refused without advice that does not work."""
    columns = {"sex": ["F", "M"] * 40, "day": [date(2024, 1 + i % 3, 1 + i % 28) for i in range(80)]}
    for favourable in (None, ">= 2024-02-01"):
        with pytest.raises(ColumnError, match="An outcome cannot be a date") as raised:
            ald.audit(columns, outcome="day", favourable=favourable)
        assert ">=" not in str(raised.value)
