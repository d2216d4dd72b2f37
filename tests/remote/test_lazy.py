"""Lazy frames of engines: the counts that come back give the same audit as the data in memory."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from unittest import mock

import dask.dataframe as dd
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import ald
from ald import ColumnError, InputError
from ald.data.inputs import bins
from ald.data.inputs.bins import cut
from ald.data.inputs.reading import Reading
from ald.data.inputs.sources import load
from ald.remote import lazy
from tests.engine_data import decisions
from tests.flat import audit_flat

ENGINES: list[Any] = [
    pytest.param(duckdb.from_df, id="duckdb"),
    pytest.param(lambda frame: dd.from_pandas(frame, npartitions=3), id="dask"),
]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "options",
    [
        {"outcome": "hired"},
        {"prediction": "hired", "truth": "able", "notion": "equalized odds", "search": "paper", "trees": 3},
        {"outcome": "hired", "given": "size", "split": "remote", "named_groups": "age > 40 and sex = f"},
        {"outcome": "hired", "weights": "able", "kinds": {"size": ["S", "M", "L"]}, "reference": "sex = m"},
        {"outcome": "hired", "profile": "eu-ai-act", "columns": {"sex": "sex"}},
        {"outcome": "hired", "exclude": ["age", "size"], "named_groups": "age > 40"},
    ],
)
def test_the_same_audit_as_in_memory(engine: Any, options: dict[str, Any]) -> None:
    """Where no column is cut, the result is that of the data in memory, byte by byte, whatever the roles."""
    frame = decisions()
    expected = audit_flat(frame, **options)
    assert audit_flat(engine(frame), **options).to_json() == expected.to_json()
    assert expected.data_summary.rows > 2000


@pytest.fixture
def few_bins(monkeypatch: pytest.MonkeyPatch) -> int:
    """At most 512 bins: the expressions that cut columns in a database are long, and take their time."""
    for module in (bins, lazy):
        monkeypatch.setattr(module, "MOST_BINS", 512)
    return 512


def many_values(n: int = 9000) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "income": np.round(rng.lognormal(10, 1, n), 2),
            "at": [datetime(2024, 1, 1) + timedelta(seconds=int(s)) for s in rng.integers(0, 10**8, n)],
            "sex": rng.choice(["f", "m"], n),
        }
    )
    frame.loc[:2999, "income"] = 50_000.0
    frame.loc[7, "income"] = 1e300
    frame.loc[8, "income"] = -np.inf
    frame.loc[9, "income"] = np.nan
    frame["hired"] = (rng.random(n) < 0.4 + 0.3 * (frame["income"] > 30_000)).astype(int)
    return frame


@pytest.mark.parametrize("engine", ENGINES)
def test_bins(engine: Any, few_bins: int) -> None:
    """Numbers with very many values are cut into quantile bins that end at values of the data."""
    frame = many_values().drop(columns="at")
    table = load(engine(frame), reading=Reading(named={"income": ("20000",)}))
    assert table.binned == {"income"}
    assert table.counts is not None
    income = table["income"]
    assert income.values is not None
    finite = frame["income"][np.isfinite(frame["income"])]
    assert set(income.values) <= set(finite)
    assert income.values[-1] == finite.max()
    assert 200 < income.n_codes <= few_bins
    assert 50_000.0 in income.values
    assert 49_000.0 < income.values[np.searchsorted(income.values, 50_000.0) - 1] < 50_000.0
    assert finite[finite <= 20_000].max() in income.values
    assert (income.n_infinite, income.n_missing(table.counts)) == (1, 2)
    # Whoever is at or below an edge in the data is so in the table.
    for code in (0, 100, income.n_codes - 2):
        there = int(table.counts[income.codes <= code].sum())
        assert there == int((finite <= income.values[code]).sum())
    assert any("income" in note and "quantile bins" in note for note in income.notes)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("size", [1.7e308, 1e-310])
def test_bins_of_the_widest_and_narrowest_ranges(engine: Any, few_bins: int, size: float) -> None:
    """A range that a double cannot hold is cut like any other, and so is one of hardly any width."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"x": size * rng.uniform(-1, 1, 5000), "y": rng.integers(0, 2, 5000)})
    frame.loc[::3, "x"] *= 1e-3
    values = load(engine(frame), reading=Reading())["x"].values
    assert values is not None
    assert 300 < len(values) <= few_bins
    assert set(values) <= set(frame["x"])


def test_an_audit_of_bins() -> None:
    """Groups begin and end at bins, and the audit says so."""
    found = ald.audit(dd.from_pandas(many_values(), npartitions=3), outcome="hired")
    assert any("income" in str(group.criterion) for group in found.groups)
    assert {"income", "at"} == {name for name in ("income", "at", "sex") if any(name in w for w in found.warnings)}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.usefixtures("few_bins")
def test_dates_of_times(engine: Any) -> None:
    """Times that are to be dates are cut at days."""
    rng = np.random.default_rng(0)
    seconds = rng.integers(0, 20_000 * 86_400, 9000)
    frame = pd.DataFrame({"at": [datetime(1980, 1, 1) + timedelta(seconds=int(s)) for s in seconds], "y": seconds % 2})
    table = load(engine(frame), reading=Reading(kinds={"at": "date"}))
    assert table.binned == {"at"}
    assert table["at"].kind == "date"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.usefixtures("few_bins")
def test_identifiers_are_not_counted(engine: Any) -> None:
    """Columns that identify people are left out before anything is counted, unless they are asked for."""
    frame = decisions().assign(number=np.arange(6000), name=[f"name {i}" for i in range(6000)])
    table = load(engine(frame), reading=Reading())
    assert set(table.left_out) == {"number", "name"}
    assert "identifier-like" in table.left_out["number"]
    assert "number" in load(engine(frame), reading=Reading(needed=("number", "sex"))).columns


@pytest.mark.parametrize("engine", ENGINES)
def test_what_cannot_be_read(engine: Any) -> None:
    """Unknown columns and empty data are errors in words."""
    frame = decisions(100)
    with pytest.raises(ColumnError, match="Did you mean 'hired'"):
        ald.audit(engine(frame), outcome="hird")
    with pytest.raises(ColumnError, match="no column 'agee'"):
        ald.audit(engine(frame), outcome="hired", attributes=["agee"])
    with pytest.raises(InputError, match="no rows"):
        ald.audit(engine(frame.iloc[:0]), outcome="hired")


def test_too_many_distinct_rows_for_an_engine_that_only_groups() -> None:
    """An engine that cannot count next to its rows says that there are too many, and what helps."""
    with (
        mock.patch.object(Reading, "most_distinct", 100),
        pytest.raises(InputError, match="different rows, of which 100 fit into memory"),
    ):
        ald.audit(duckdb.from_df(decisions()), outcome="hired")


def test_nested_values() -> None:
    """Columns of lists are named in an error, and do no harm where they are not needed."""
    relation = duckdb.sql("SELECT i % 2 AS y, i % 5 AS a, [i] AS l FROM range(1000) t(i)")
    with pytest.raises(ColumnError, match="'l'"):
        ald.audit(relation, outcome="y")
    assert ald.audit(relation, outcome="y", attributes=["a"]).data_summary.rows == 1000


def instants(zone: str, n: int) -> Any:
    """So many instants in a relation whose connection is in this zone."""
    connection = duckdb.connect()
    connection.execute(f"SET timezone = '{zone}'")
    return connection.sql(
        f"SELECT timestamptz '2020-03-01 00:00:00+00' + interval (i * 7919 % {n}) minute AS x, i % 2 AS y "
        "FROM range(9000) t(i)"
    )


@pytest.mark.parametrize("zone", ["Etc/UTC", "Europe/Berlin", "America/St_Johns"])
@pytest.mark.parametrize("n", [100, 9000])
@pytest.mark.parametrize("kind", ["date", "datetime"])
@pytest.mark.usefixtures("few_bins")
def test_instants_in_any_zone(zone: str, n: int, kind: str) -> None:
    """Instants of DuckDB are the same whatever the zone of the connection is, cut into bins or not."""
    reading = Reading(kinds={"x": kind})
    found, expected = (load(instants(where, n), reading=reading)["x"] for where in (zone, "UTC"))
    assert found.kind == expected.kind
    assert np.array_equal(found.values, expected.values)


@pytest.mark.parametrize("days", [50, 3000])
@pytest.mark.parametrize("kind", ["DATE", "TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMP_S", "TIMESTAMP_NS"])
@pytest.mark.usefixtures("few_bins")
def test_infinite_dates(kind: str, days: int) -> None:
    """Infinite dates and times of DuckDB count as missing, with a warning, whether the column is cut or not."""
    relation = duckdb.sql(
        f"SELECT CASE i % 4 WHEN 0 THEN 'infinity' WHEN 1 THEN '-infinity' ELSE (DATE '2020-01-01' + (i % {days})::INT)"
        f"::TEXT END::{kind} AS x, i % 3 AS z, (i % 7 < 3)::INT AS y FROM range(20000) t(i)"
    )
    found = ald.audit(relation, outcome="y", search=ald.Search(trees=2))
    (attribute,) = (one for one in found.data_summary.attributes if one.name == "x")
    assert (attribute.kind, attribute.missing) == ("date", 10_000)
    assert any("'x'" in warning and "10,000 infinite" in warning for warning in found.data_summary.warnings)


def test_names_that_differ_in_case() -> None:
    """Columns of DuckDB whose names differ in case only stay apart."""
    relation = duckdb.sql('SELECT i % 2 AS a, i % 3 AS "A", i % 5 AS b FROM range(1000) t(i)')
    for reading in (None, Reading()):
        assert {name: column.n_codes for name, column in load(relation, reading=reading).columns.items()} == {
            "a": 2, "A": 3, "b": 5}  # fmt: skip


def closed() -> Any:
    """A relation whose connection is closed."""
    connection = duckdb.connect()
    relation = connection.sql("SELECT i % 2 AS y FROM range(10) t(i)")
    connection.close()
    return relation


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (closed, "DuckDB failed on the data: .*closed"),
        (lambda: duckdb.sql("SELECT i % 2 AS y, i % 3 AS y FROM range(10) t(i)"), "more than one column named 'y'"),
        (lambda: duckdb.sql("SELECT i AS y, ('x' || i)::INT AS x FROM range(10) t(i)"), "DuckDB failed .*'x0' to INT"),
        (lambda: pl.scan_parquet("nofile.parquet"), "Polars failed on the data: No such file .*nofile.parquet"),
        (lambda: pl.LazyFrame({"y": ["a"]}).cast(pl.Int64), "Polars failed on the data: conversion from"),
        (lambda: pl.LazyFrame({"y": ["a"]}).select("z"), "Polars failed on the data: unable to find column"),
    ],
)
@pytest.mark.parametrize("reading", [None, Reading()])
def test_frames_that_fail(make: Any, said: str, reading: Reading | None) -> None:
    """What fails while a lazy frame is computed is an error of ours, in one line."""
    with pytest.raises(InputError, match=said) as caught:
        load(make(), reading=reading)
    assert "\n" not in str(caught.value)


def test_cut() -> None:
    """Values go to the first end that is not smaller; what is not finite to none."""
    values = np.array([0.5, 1.0, 1.5, 3.0, np.nan, np.inf, -np.inf])
    ends = cut(values, np.array([1.0, 2.0, 3.0]))
    assert ends[:4].tolist() == [1.0, 1.0, 2.0, 3.0]
    assert np.isnan(ends[4:]).all()
