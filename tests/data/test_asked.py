"""What an outcome column asks: numbers are amounts, or are cut into yes and no where `favourable` says so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ald
from ald import ColumnError, SettingError
from ald.data.asked import amount_asked, is_amount, with_cuts
from ald.data.inputs.sources import load
from ald.data.prepare import prepare
from ald.data.roles import Roles
from ald.data.table import Table
from ald.notions import OUTCOME_CELLS


def table(**columns: Any) -> Table:
    return load({"x": list("abab"), **columns})


def test_more_than_two_numbers_are_amounts() -> None:
    """A column of numbers asks how much, unless it has two values or one of its values is the favourable one."""
    data = table(wage=[1.5, 2, 3, 4], flag=[0, 1, 1, 0], word=list("pqrs"), day=["2024-01-01", "2024-01-02"] * 2)
    assert is_amount(data["wage"], None)
    assert is_amount(data["wage"], "higher")
    assert not is_amount(data["wage"], 3)
    assert not any(is_amount(data[name], None) for name in ("flag", "word", "day"))


def test_the_mean_that_is_asked_for() -> None:
    """It has the unit of the column, and says which way is good for people where that was said."""
    data = table(wage=[1.25, 2, 3, 4])
    found = amount_asked(data, Roles(outcome="wage", favourable="lower"))
    assert found is not None
    assert (found.name, found.better, found.per_one) == ("mean wage", "lower", 100.0)
    assert amount_asked(data, Roles(outcome="wage", favourable="3")) is None


@pytest.mark.parametrize(
    ("favourable", "chosen"),
    [(">= 3", [3, 4]), (">3", [4]), ("<= 2.5", [1, 2]), ("<2", [1])],
)
def test_numbers_are_cut(favourable: str, chosen: list[int]) -> None:
    """`favourable` as a comparison makes yes and no of a number; missing values stay missing."""
    data = with_cuts(table(y=[1, 2, 3, 4]), Roles(outcome="y", favourable=favourable))
    prepared = prepare(data, Roles(outcome="y", favourable=favourable), OUTCOME_CELLS)
    assert prepared.data.cell_counts().tolist() == [4 - len(chosen), len(chosen)]
    assert prepared.summary.outcomes[0].positive == favourable
    gap = with_cuts(table(y=[1, None, 3, 4]), Roles(outcome="y", favourable=favourable))
    assert gap["y"].missing.tolist() == [False, True, False, False]


def test_words_are_not_cut() -> None:
    """A text that looks like a comparison is a value like any other where the column holds words."""
    roles = Roles(outcome="y", favourable="> 3")
    data = with_cuts(table(y=["> 3", "<= 3", "> 3", "> 3"]), roles)
    assert data["y"].words() == ["<= 3", "> 3"]


def test_a_cut_that_parts_nobody() -> None:
    """A cut beyond all values is an error that says where they are."""
    with pytest.raises(ColumnError, match="is true of no value of 'y', which has values from 1 to 4"):
        with_cuts(table(y=[1, 2, 3, 4]), Roles(outcome="y", favourable=">= 9"))


def test_amounts_come_alone() -> None:
    """Several outcomes of which one is an amount are refused, with the way to cut it."""
    with pytest.raises(SettingError, match="outcome 'y' is a number: it is audited by itself"):
        amount_asked(table(y=[1, 2, 3, 4], z=[0, 1, 1, 0]), Roles(outcome=("y", "z")))


def test_a_direction_needs_to_know_what_is_good() -> None:
    """Who fares worse is no question as long as nobody said whether more is better."""
    with pytest.raises(SettingError, match="nothing says whether more of 'y' is good"):
        amount_asked(table(y=[1, 2, 3, 4]), Roles(outcome="y", directed=True))


def test_binned_amounts_are_refused() -> None:
    """Amounts that were cut into bins when they were read have no exact means."""
    data = replace(table(y=[1, 2, 3, 4]), binned=frozenset({"y"}))
    with pytest.raises(ColumnError, match="cut into bins"):
        amount_asked(data, Roles(outcome="y"))


def test_amounts_are_kept_as_integers() -> None:
    """Rows have their amounts, in the unit of the mean; rows without one are left out."""
    data, roles = table(y=[1.5, None, 3, 4]), Roles(outcome="y")
    mean = amount_asked(data, roles)
    assert mean is not None
    found = prepare(data, roles, ("people", "sum", "squares_high", "squares_low"), mean=mean).data
    assert found.unit is not None
    assert found.design.amounts is not None
    assert sorted(found.unit.values(found.design.amounts).tolist()) == [1.5, 3.0, 4.0]
    assert mean.value(*found.cell_counts()[[1, 0]]) == pytest.approx(np.mean([1.5, 3, 4]))


def test_a_cut_is_the_yes_no_column() -> None:
    """`favourable=">= 12"` is the audit of the column that says so."""
    rng = np.random.default_rng(0)
    frame = {"sex": rng.choice(["f", "m"], 800), "age": rng.integers(18, 70, 800)}
    frame["score"] = rng.integers(0, 25, 800) - 4 * (frame["sex"] == "f")
    cut = ald.audit(frame, outcome="score", favourable=">= 12")
    flags = {"sex": frame["sex"], "age": frame["age"], "high": (frame["score"] >= 12).astype(int)}
    same = ald.audit(flags, outcome="high", favourable="1")
    assert cut.groups
    assert [found.to_dict() for found in cut.groups] == [found.to_dict() for found in same.groups]
    assert "had score >= 12 in" in str(cut)
