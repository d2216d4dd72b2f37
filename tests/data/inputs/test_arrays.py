"""Outcomes, predictions and truths as values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ald
from tests.tables import decisions, people

COLUMNS = people()
Y = COLUMNS["y"]
X = {name: values for name, values in COLUMNS.items() if name != "y"}
ATTRIBUTES = ["age", "sex", "member", "score"]
SEARCH = ald.Search(trees=2)


def found(data: Any, **options: Any) -> ald.Audit:
    return ald.audit(data, attributes=ATTRIBUTES, search=SEARCH, **options)


@pytest.mark.parametrize(
    "values",
    [list(Y), tuple(Y), np.array(Y), pd.Series(Y), pl.Series(Y), pa.array(Y), pd.Series(Y).array, np.array(Y) == 1],
    ids=["list", "tuple", "NumPy", "pandas", "Polars", "PyArrow", "pandas array", "booleans"],
)
@pytest.mark.parametrize("data", [X, pd.DataFrame(X), pl.DataFrame(X), pa.table(X)], ids=["dict", "pd", "pl", "pa"])
def test_outcomes_as_values(data: Any, values: Any) -> None:
    """Values of any kind beside data of any kind give the audit of a column with them."""
    audit = found(data, outcome=values)
    assert audit.config.outcome == "outcome"
    expected = found(COLUMNS, outcome="y")
    assert [(one.criterion, one.psi) for one in audit.groups] == [(one.criterion, one.psi) for one in expected.groups]
    assert audit.groups


def test_the_name_of_a_series() -> None:
    """The column has the name of the Series, and the audit is the one of the whole table."""
    frame = pd.DataFrame(COLUMNS)
    assert found(frame[[*X]], outcome=frame["y"]).to_json() == found(frame, outcome="y").to_json()


def test_predictions_and_truth() -> None:
    """Prediction and truth may be values both, or one of them."""
    columns = pd.DataFrame(decisions())
    rest = columns.drop(columns=["predicted", "true"])
    options: dict[str, Any] = {"notion": "equalized odds", "search": SEARCH}
    expected = ald.audit(columns, prediction="predicted", truth="true", **options)
    both = ald.audit(rest, prediction=columns["predicted"], truth=columns["true"], **options)
    mixed = ald.audit(rest.assign(true=columns["true"]), prediction=columns["predicted"], truth="true", **options)
    plain = ald.audit(rest, prediction=columns["predicted"].to_numpy(), truth=columns["true"].to_list(), **options)
    assert both.to_json() == expected.to_json() == mixed.to_json()
    assert plain.config.outcome_columns == ("prediction", "truth")
    assert [one.psi for one in plain.candidates] == [one.psi for one in expected.candidates]


def test_texts_are_names_or_values() -> None:
    """Texts that all name columns are columns; other texts are values."""
    words = ["good" if value else "bad" for value in Y]
    assert found(X, outcome=words, favourable="good").config.outcome == "outcome"
    assert found(COLUMNS | {"z": Y[::-1]}, outcome=["y", "z"]).config.outcomes == ("y", "z")


def test_the_data_is_left_as_it_was() -> None:
    """No column appears in the user's own data."""
    frame, columns = pd.DataFrame(X), dict(X)
    found(frame, outcome=Y)
    found(columns, outcome=Y)
    assert list(frame) == list(columns) == list(X)


def test_profiles() -> None:
    """A profile takes values too."""
    counted = ald.profile("nyc-ll144", X, columns={"sex": "sex"}, outcome=Y, search=SEARCH).profile
    assert counted is not None
    assert counted.tables[0].people == 600


FRAME = pd.DataFrame(X)


@pytest.mark.parametrize(
    ("data", "options", "problem"),
    [
        (X, {"outcome": Y[:-1]}, "outcome has 599 values, and the data has 600 rows"),
        (FRAME, {"outcome": np.zeros((600, 2))}, "must have one dimension; it has 2"),
        (FRAME, {"outcome": np.array(1)}, "must have one dimension; it has 0"),
        (FRAME, {"outcome": pd.DataFrame({"y": Y})}, "outcome is a whole DataFrame: give one of its columns"),
        (FRAME, {"outcome": pd.Series(Y, index=range(1, 601))}, r"another index .* outcome.loc\[data.index\]"),
        (COLUMNS, {"outcome": pd.Series(Y, name="y")}, "has such a column already: give the column's name instead"),
        (X | {"outcome": Y}, {"outcome": Y}, "named 'outcome', and the data has such a column already"),
        (FRAME, {"prediction": pd.Series(Y, name="y"), "truth": pd.Series(Y, name="y")}, "such a column already"),
        (COLUMNS, {"outcome": ["y", "zz"]}, "there is no column 'zz' in the data. Available: 'age'"),
        ("x.csv", {"outcome": np.array(Y)}, "needs a DataFrame or a dictionary of arrays, .* put it into the data"),
        (pl.LazyFrame(X), {"outcome": Y}, "not data of type LazyFrame"),
        (None, {"split": (X, X), "outcome": Y}, "not two data sets"),
        (X, {"outcome": 3}, "outcome must be the name of a column"),
        (X, {"outcome": {"y": 1}}, "outcome must be the name of a column"),
    ],
)
def test_values_that_do_not_fit(data: Any, options: dict[str, Any], problem: str) -> None:
    """Values that are not one for each row of data in memory are refused, with the fix."""
    with pytest.raises(ald.AldError, match=problem):
        ald.audit(data, **options)
