"""Rows that are there several times: when that is said, and when it is no more than chance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ald
from ald.data import duplicates
from ald.data.duplicates import repeated_rows
from ald.data.inputs.sources import load
from ald.data.prepare import prepare
from ald.data.roles import Roles
from ald.notions import OUTCOME_CELLS
from tests.flat import audit_flat
from tests.tables import Columns, people, public_data


def independent(seed: int, n: int, *, fine: bool) -> Columns:
    """People whose outcome has nothing to do with their attributes, of many values or of few."""
    rng = np.random.default_rng(seed)
    attributes: Columns = (
        {"income": rng.normal(size=n), "age": rng.integers(18, 80, n), "region": rng.choice(list("abcde"), n)}
        if fine
        else {"age": rng.integers(0, 6, n), "sex": rng.choice(["F", "M"], n), "region": rng.choice(list("abc"), n)}
    )
    return attributes | {"y": (rng.random(n) < 0.4).astype(int)}


def repeated(columns: Columns, times: int) -> Columns:
    """Every row so many times."""
    return {name: np.repeat(np.asarray(values), times) for name, values in columns.items()}


def warned(columns: Columns, **roles: Any) -> list[str]:
    """What is said of copies in this data."""
    prepared = prepare(load(columns), Roles(outcome="y", **roles), OUTCOME_CELLS)
    return [warning for warning in prepared.summary.warnings if "Copies are not independent" in warning]


@pytest.mark.parametrize("fine", [True, False])
@pytest.mark.parametrize("times", [2, 4, 7])
@pytest.mark.parametrize("seed", range(5))
def test_people_who_are_there_equally_often(seed: int, times: int, fine: bool) -> None:
    """500 people several times each are told from several times as many people, whatever their columns hold."""
    (warning,) = warned(repeated(independent(seed, 500, fine=fine), times))
    assert f"there {times} times" in warning
    assert "cluster=" in warning
    assert "weights=" in warning
    assert warned(independent(seed, 500 * times, fine=fine)) == []


@pytest.mark.parametrize("seed", range(5))
def test_some_rows_are_copies(seed: int) -> None:
    """Where many values make equal rows unlikely, it is said that a fifth of the people are there twice."""
    columns = independent(seed, 1000, fine=True)
    rows = np.concatenate([np.arange(1000), np.random.default_rng(seed).choice(1000, 200, replace=False)])
    (warning,) = warned({name: np.asarray(values)[rows] for name, values in columns.items()})
    assert "33% of 1,200 rows are equal to another one" in warning


@pytest.mark.parametrize("options", [{"cluster": "who"}, {"weights": "times"}])
def test_nothing_is_said_where_it_is_known(options: Columns) -> None:
    """A column that says whose rows these are, or how many people they stand for, settles it."""
    columns = independent(0, 300, fine=True) | {"who": np.arange(300)}
    copies = repeated(columns, 4) | {"times": np.ones(1200, int)}
    assert warned(copies, **options) == []
    assert warned(copies, attributes=("income", "age", "region")) != []


def test_copies_in_halves_that_were_given() -> None:
    """Copies are seen although a column assigns them to different halves."""
    copies = repeated(independent(0, 500, fine=True), 4)
    assert warned(copies | {"half": [0, 1, 1, 1] * 500}, split="half") != []


@pytest.mark.parametrize("seed", range(3))
def test_dependent_columns_are_no_copies(seed: int) -> None:
    """Columns that follow from each other make equal rows likelier than their values suggest: nothing is said."""
    rng = np.random.default_rng(seed)
    spot = rng.integers(0, 400, 2000)
    columns = {
        "spot": [f"s{i}" for i in spot],
        "town": [f"t{i // 3}" for i in spot],
        "height": spot * 1.5,
        "sex": rng.choice(["F", "M"], 2000),
        "y": rng.integers(0, 2, 2000),
    }
    assert warned(columns) == []


def test_data_too_large_to_be_merged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of very many rows, those with some of the values are looked at, and copies are found all the same."""
    prepared = [
        prepare(load(columns), Roles(outcome="y"), OUTCOME_CELLS).data
        for columns in (repeated(independent(1, 3000, fine=True), 4), independent(1, 12_000, fine=True))
    ]
    monkeypatch.setattr(duplicates, "SORTED_ROWS", 2000)
    monkeypatch.setattr(duplicates, "_ROWS", 1000)
    copies, distinct = (repeated_rows(data) for data in prepared)
    assert "there 4 times" in copies[0]
    assert distinct == []


@pytest.mark.parametrize("attributes", [None, ["race"], ["race", "sex", "age_band", "priors"]])
def test_recidivism_data_has_no_copies(attributes: list[str] | None) -> None:
    """COMPAS is ordinary data, with all of its columns or few: nothing is said of copies."""
    options = {"prediction": "predicted_high_risk", "truth": "reoffended", "trees": 1}
    found = audit_flat(public_data("compas.csv"), attributes=attributes, **options)
    assert not any("Copies" in warning for warning in found.warnings)


@pytest.mark.parametrize("attributes", [None, ["age", "sex", "race", "education", "hours_per_week"]])
def test_census_data_has_no_copies(attributes: list[str] | None) -> None:
    """Adult is ordinary data, with all of its columns or five: nothing is said of copies."""
    options = {"outcome": "income", "favourable": ">50K", "trees": 1}
    found = audit_flat(public_data("adult.csv"), attributes=attributes, **options)
    assert not any("Copies" in warning for warning in found.warnings)


def test_small_and_embedded_data_has_no_copies() -> None:
    """A table of 4,526 people with few different rows, and people with many columns: nothing is said of copies."""
    found = ald.audit(ald.datasets.load_berkeley(), outcome="admitted", favourable="yes", search=ald.Search(trees=1))
    assert found.warnings == ()
    assert warned(people()) == []
