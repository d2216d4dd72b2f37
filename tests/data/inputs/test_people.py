"""What a model sees, and what stands beside it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from ald.data.inputs.people import people_of, rows_of
from ald.errors import ColumnError, InputError

TABLE = pd.DataFrame({"a": [1, 2, 3], "b": [4, 5, 6]}, index=["x", "y", "z"])


def test_columns_beside_are_aligned_by_index() -> None:
    """Rows of pandas are matched by their index, whatever their order, and further rows do not count."""
    beside = pd.DataFrame({"sex": ["w", "v", "u", "t"]}, index=["w", "z", "y", "x"])
    found = people_of(TABLE, beside)
    assert list(found.columns) == ["a", "b", "sex"]
    assert found.columns["sex"].tolist() == ["t", "u", "v"]
    assert found.model_input is TABLE
    assert people_of(TABLE, beside["sex"]).columns["sex"].tolist() == ["t", "u", "v"]


def test_rows_that_are_not_there_are_counted_and_named() -> None:
    """A missing row or a repeated one is an error with its number and label."""
    with pytest.raises(InputError, match=r"no row for 2 of 3 rows .* by their index: give"):
        people_of(TABLE, pd.Series([1], index=["x"], name="sex"))
    with pytest.raises(InputError, match=r"sensitive features repeats 1 values: make it unique"):
        people_of(TABLE, pd.Series([1, 1, 2, 3], index=["x", "x", "y", "z"], name="sex"))


@pytest.mark.parametrize(
    ("beside", "names"),
    [
        (np.array(["f", "m", "f"]), ["sensitive_feature"]),
        (["f", 1, None], ["sensitive_feature"]),
        (np.array([["f", "u"], ["m", "v"], ["f", "u"]]), ["sensitive_feature_0", "sensitive_feature_1"]),
        ({"sex": ["f", "m", "f"]}, ["sex"]),
        (pl.DataFrame({"sex": ["f", "m", "f"]}), ["sex"]),
        (pl.Series("sex", ["f", "m", "f"]), ["sex"]),
    ],
    ids=["array", "list", "matrix", "dictionary", "polars frame", "polars series"],
)
def test_columns_without_an_index_go_by_position(beside: Any, names: list[str]) -> None:
    """Arrays, lists, dictionaries and frames without an index have their rows in the order of the table's."""
    found = people_of(TABLE, beside)
    assert list(found.columns) == ["a", "b", *names]
    assert all(len(found.columns[name]) == 3 for name in names)


def test_columns_that_a_model_does_not_get() -> None:
    """Names take columns out of what the model sees; they still describe groups."""
    for table in (TABLE, pl.DataFrame({"a": [1, 2], "b": [3, 4]})):
        found = people_of(table, ["b"])
        assert list(found.model_input.columns) == ["a"]
        assert list(found.columns) == ["a", "b"]
    with pytest.raises(ColumnError, match="no column 'c' in the model's table"):
        people_of(TABLE, "c")
    with pytest.raises(InputError, match="out of DataFrames only"):
        people_of({"a": [1]}, "a")


def test_what_people_cannot_read_describes_no_groups() -> None:
    """A sparse matrix and texts have no columns of their own: those beside them describe groups, and must be given."""
    matrix, texts = sparse.csr_array(np.eye(3)), pd.Series(["long", "words", "here"])
    for table in (matrix, texts):
        assert list(people_of(table, {"sex": ["f", "m", "f"]}).columns) == ["sex"]
        assert rows_of(table) == 3
        with pytest.raises(InputError, match="no columns that could describe groups"):
            people_of(table, None)


def test_names_and_lengths_must_fit() -> None:
    """A name that the table has already, another length, or another number of named columns is refused."""
    with pytest.raises(InputError, match="has a column 'a' already"):
        people_of(TABLE, {"a": [1, 2, 3]})
    with pytest.raises(InputError, match="'sex' has 2 values, and the model's table has 3 rows"):
        people_of(TABLE, {"sex": [1, 2]})
    with pytest.raises(InputError, match="fitted on 3 columns, and the table has 2"):
        people_of(np.zeros((4, 2)), None, ["a", "b", "c"])
    with pytest.raises(InputError, match="two dimensions; it has 3"):
        people_of(np.zeros((4, 2, 2)), None)
    with pytest.raises(InputError, match="lazy frame"):
        people_of(pl.LazyFrame({"a": [1]}), None)
    with pytest.raises(InputError, match="lazy frame"):
        people_of(TABLE, pl.LazyFrame({"a": [1]}))
