"""DataFrames of pandas, Polars and PyArrow, and arrays of theirs."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ald import ColumnError, InputError
from ald.data.columns import Column
from ald.data.inputs.sources import load


def rows(column: Column) -> list[str | None]:
    words: list[str | None] = [*column.words(), None]
    return [words[code] for code in column.codes]


@pytest.mark.parametrize("dtype", ["Int64", "int64[pyarrow]", "Float64", "double[pyarrow]"])
def test_nullable_numbers_of_pandas(dtype: str) -> None:
    """Every nullable number type of pandas is numeric with missing values."""
    column = load(pd.DataFrame({"a": pd.array([1, None, 3], dtype)}))["a"]
    assert (column.kind, rows(column)) == ("numeric", ["1", None, "3"])


@pytest.mark.parametrize("dtype", ["object", "str", "string", "string[pyarrow]", "category"])
def test_words_of_pandas(dtype: str) -> None:
    """Every text type of pandas is nominal with missing values."""
    column = load(pd.DataFrame({"a": pd.Series(["x", None, "y"], dtype=dtype)}))["a"]
    assert (column.kind, rows(column)) == ("nominal", ["x", None, "y"])


@pytest.mark.parametrize("dtype", ["boolean", "bool[pyarrow]", "object"])
def test_truth_values_of_pandas(dtype: str) -> None:
    """Every truth-value type of pandas is boolean with missing values."""
    column = load(pd.DataFrame({"a": pd.Series([True, None, False], dtype=dtype)}))["a"]
    assert (column.kind, rows(column)) == ("boolean", ["True", None, "False"])


FRAMES: list[Any] = [
    pytest.param(pd.DataFrame, id="pandas"),
    pytest.param(pl.DataFrame, id="polars"),
    pytest.param(pl.LazyFrame, id="lazy"),
    pytest.param(pa.table, id="pyarrow"),
    pytest.param(dict, id="dict"),
]


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize(
    ("values", "kind", "words"),
    [
        ([date(2020, 1, 1), None], "date", ["2020-01-01", None]),
        ([datetime(2020, 1, 1, 3), None], "datetime", ["2020-01-01 03:00:00", None]),
        ([datetime(2020, 1, 1), None], "date", ["2020-01-01", None]),
        ([datetime(1965, 1, 1, 3), None], "datetime", ["1965-01-01 03:00:00", None]),
        ([Decimal("1.5"), None], "numeric", ["1.5", None]),
        ([True, None], "boolean", ["True", None]),
        ([1, 2], "numeric", ["1", "2"]),
        ([1.5, None], "numeric", ["1.5", None]),
        (["NA", "x", None], "nominal", [None, "x", None]),
        (["", "missing"], "nominal", [None, "missing"]),
        (["$1,200.50", "-$3", "N/A"], "numeric", ["1200.5", "-3", None]),
        (["1", "?", "3"], "numeric", ["1", None, "3"]),
        (["1", "01"], "nominal", ["1", "01"]),
        ([time(3, 4), None], "nominal", ["03:04:00", None]),
    ],
)
def test_same_kinds_everywhere(frame: Any, values: list[Any], kind: str, words: list[str | None]) -> None:
    """The same values have the same kind and words in every library."""
    column = load(frame({"a": values}))["a"]
    assert (column.kind, rows(column)) == (kind, words)


def test_durations_are_seconds() -> None:
    """Durations are numbers of seconds in every library."""
    values = np.array([1, 90], "timedelta64[s]")
    data: list[Any] = [{"a": values}, pd.DataFrame({"a": values}), pl.DataFrame({"a": [timedelta(seconds=1)] * 2})]
    assert [load(table)["a"].words() for table in data] == [["1", "90"], ["1", "90"], ["1"]]


def test_ordered_categoricals() -> None:
    """Declared orders make a column ordinal: pandas, PyArrow, a Polars Enum, and a bare Categorical."""
    ordered = pd.Categorical(["S", None, "L"], ["S", "M", "L"], ordered=True)
    data: list[Any] = [
        pd.DataFrame({"a": ordered}),
        pa.table({"a": pa.array(ordered)}),
        pl.DataFrame({"a": pl.Series(["S", None, "L"], dtype=pl.Enum(["S", "M", "L"]))}),
        {"a": ordered},
    ]
    for table in data:
        column = load(table)["a"]
        assert (column.kind, column.levels, column.codes.tolist()) == ("ordinal", ("S", "L"), [0, 2, 1])


def test_unordered_categoricals() -> None:
    """Categories without an order are nominal, sorted by code point."""
    plain = pd.Categorical(["b", None, "a"], ["b", "a"])
    data: list[Any] = [
        pd.DataFrame({"a": plain}),
        pa.table({"a": pa.array(plain)}),
        pl.DataFrame({"a": pl.Series(["b", None, "a"], dtype=pl.Categorical)}),
        {"a": plain},
    ]
    for table in data:
        column = load(table)["a"]
        assert (column.kind, column.levels, column.codes.tolist()) == ("nominal", ("a", "b"), [1, 2, 0])


def test_categories_of_numbers() -> None:
    """Whole categories lose their ".0", and equal words become one level."""
    assert load({"a": pd.Categorical([1.0, 2.0])})["a"].levels == ("1", "2")
    assert load(pd.DataFrame({"a": pd.Categorical([1, "1", "x"])}))["a"].levels == ("1", "x")


def test_bins_are_ordered() -> None:
    """The bins of pandas.cut are ordered levels."""
    assert load(pd.DataFrame({"a": pd.cut(pd.Series([1, 9]), [0, 5, 10])}))["a"].levels == ("(0, 5]", "(5, 10]")


def test_zoned_times() -> None:
    """Times with a zone are UTC."""
    times = pd.to_datetime(pd.Series(["2020-01-01 03:00"])).dt.tz_localize("Europe/Berlin")
    assert load(pd.DataFrame({"a": times}))["a"].words() == ["2020-01-01 02:00:00"]


def test_names_that_are_not_text() -> None:
    """Numbers and tuples as column names go by their text."""
    assert load(pd.DataFrame([[1, 2], [3, 4]])).names == ["0", "1"]
    columns = pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])
    assert load(pd.DataFrame([[1, 2]], columns=columns)).names == ["('a', 'b')", "('a', 'c')"]


@pytest.mark.parametrize(
    "data",
    [
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
        pd.DataFrame([[1, 2]], columns=[1, "1"]),
        pa.table([[1], [2]], names=["a", "a"]),
        {1: [1], "1": [2]},
    ],
    ids=["pandas", "pandas numbers", "pyarrow", "dict"],
)
def test_repeated_names(data: Any) -> None:
    """Repeated column names are an error, also where they differ only in type."""
    with pytest.raises(InputError, match="more than one column named"):
        load(data)


@pytest.mark.parametrize("frame", FRAMES)
def test_no_such_column(frame: Any) -> None:
    """A missing column's error offers the nearest name."""
    with pytest.raises(ColumnError, match=r"there is no column 'gendr' in .* Did you mean 'gender'"):
        load(frame({"age": [1], "gender": [2]}), ["gendr"])


def test_lazy_frames_collect_only_what_is_needed() -> None:
    """A lazy frame's other columns are never computed."""

    def fail(_: pl.Series) -> pl.Series:
        raise AssertionError("computed")

    frame = pl.LazyFrame({"a": [1], "b": [2]}).with_columns(pl.col("b").map_batches(fail, return_dtype=pl.Int64))
    assert load(frame, ["a"]).names == ["a"]


def test_bytes_are_words_as_in_a_file(tmp_path: Path) -> None:
    """Bytes that are no text stay apart, in every library, and have the words that they have in a Parquet file."""
    values = [b"\xfa", b"\xfb", None, "ü".encode(), b"\\xFA", b"plain", bytes(range(256)), b"\xfa"]
    table = pa.table({"x": values})
    pq.write_table(table, tmp_path / "x.parquet")
    expected = load(tmp_path / "x.parquet")["x"]
    assert len(expected.levels) == 6
    coded = pa.table({"x": table["x"].dictionary_encode()})
    frames = pd.DataFrame({"x": values}), coded.to_pandas(), pl.DataFrame({"x": values})
    for frame in (table, coded, *frames, {"x": values}):
        column = load(frame)["x"]
        assert (column.levels, column.codes.tolist()) == (expected.levels, expected.codes.tolist())


def test_dates_beyond_microseconds() -> None:
    """Dates of PyArrow may be further away than any number of microseconds says; the greatest are infinite."""
    column = load(pa.table({"x": pa.array([108_853_222, 1, None, 2**31 - 1, 1 - 2**31], pa.date32())}))["x"]
    assert column.values is not None
    assert (column.values.tolist(), column.codes.tolist()) == ([1, 108_853_222], [1, 0, 2, 2, 2])
    assert (column.kind, column.n_infinite) == ("date", 2)
