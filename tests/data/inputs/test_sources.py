"""Every door gives the same audit, and a finding can be looked up in the data again."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ald
from ald import InputError
from ald.data.inputs.reading import Reading
from ald.data.inputs.sources import load
from ald.data.prepare import Roles, prepare
from ald.notions import OUTCOME_CELLS
from tests.tables import people, public_data, write_csv


def as_csv(folder: Path, columns: dict[str, Any]) -> Path:
    pd.DataFrame(columns).to_csv(folder / "x.csv", index=False)
    return folder / "x.csv"


def as_tsv(folder: Path, columns: dict[str, Any]) -> Path:
    pd.DataFrame(columns).to_csv(folder / "x.tsv", index=False, sep="\t")
    return folder / "x.tsv"


def as_gzip(folder: Path, columns: dict[str, Any]) -> Path:
    pd.DataFrame(columns).to_csv(folder / "x.csv.gz", index=False)
    return folder / "x.csv.gz"


def as_zstd(folder: Path, columns: dict[str, Any]) -> Path:
    text = io.StringIO()
    pd.DataFrame(columns).to_csv(text, index=False)
    with pa.CompressedOutputStream(str(folder / "x.csv.zst"), "zstd") as out:
        out.write(text.getvalue().encode())
    return folder / "x.csv.zst"


def as_parquet(folder: Path, columns: dict[str, Any]) -> Path:
    pl.DataFrame(columns).write_parquet(folder / "x.parquet")
    return folder / "x.parquet"


def as_json_lines(folder: Path, columns: dict[str, Any]) -> Path:
    pl.DataFrame(columns).with_columns(pl.col("hired", "seen").cast(pl.String)).write_ndjson(folder / "x.jsonl")
    return folder / "x.jsonl"


def as_pandas_times(_: Path, columns: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame(columns | {"hired": pd.to_datetime(pd.Series(columns["hired"]))})


def as_duckdb(_: Path, columns: dict[str, Any]) -> Any:
    frame = pl.DataFrame(columns).to_arrow()
    connection = duckdb.connect()
    connection.register("frame", frame)
    return connection.sql("SELECT * FROM frame")


DOORS: dict[str, Callable[[Path, dict[str, Any]], Any]] = {
    "csv": as_csv,
    "tsv": as_tsv,
    "csv.gz": as_gzip,
    "csv.zst": as_zstd,
    "parquet": as_parquet,
    "json lines": as_json_lines,
    "text path": lambda folder, columns: str(as_csv(folder, columns)),
    "pandas": lambda _, columns: pd.DataFrame(columns),
    "pandas times": as_pandas_times,
    "polars": lambda _, columns: pl.DataFrame(columns),
    "polars lazy": lambda _, columns: pl.LazyFrame(columns),
    "pyarrow": lambda _, columns: pa.table(columns),
    "duckdb": as_duckdb,
    "arrays": lambda _, columns: {name: np.array(values) for name, values in columns.items()},
    "series": lambda _, columns: {name: pd.Series(values) for name, values in columns.items()},
    "arrow arrays": lambda _, columns: {name: pa.array(values) for name, values in columns.items()},
    "tuples": lambda _, columns: {name: tuple(values) for name, values in columns.items()},
}


@pytest.fixture(scope="module")
def expected() -> str:
    return ald.audit(people(), outcome="y", search=ald.Search(trees=5)).to_json()


@pytest.mark.parametrize("door", DOORS)
def test_same_bytes_through_every_door(tmp_path: Path, expected: str, door: str) -> None:
    """The same data gives the same audit, byte by byte, whatever carries it."""
    assert ald.audit(DOORS[door](tmp_path, people()), outcome="y", search=ald.Search(trees=5)).to_json() == expected


def test_kinds_are_inferred() -> None:
    """Each attribute of the table has the kind that its values say."""
    audit = ald.audit(people(), outcome="y", search=ald.Search(trees=2))
    assert {entry.name: entry.kind for entry in audit.data_summary.attributes} == {
        "age": "numeric", "sex": "nominal", "hired": "date", "seen": "datetime", "member": "boolean",
        "score": "numeric"}  # fmt: skip


def test_kinds_can_be_overridden() -> None:
    """kinds= decides how a column is read, and conditions follow it."""
    kinds: dict[str, Any] = {"age": "nominal", "sex": ["M", "F"], "hired": "ordinal"}
    audit = ald.audit(
        ald.source(people(), kinds=kinds), outcome="y", search=ald.Search(trees=5), attributes=["age", "sex", "hired"]
    )
    assert [entry.kind for entry in audit.data_summary.attributes] == ["nominal", "ordinal", "ordinal"]
    assert {condition.kind for finding in audit.candidates for condition in finding.criterion} <= {"nominal", "ordinal"}


@pytest.mark.parametrize("column", ["hired", "seen"])
def test_cut_points_of_times_are_readable(column: str) -> None:
    """Bounds on dates and times are dates and times, in words and in the document."""
    columns = people(2000)
    middle = sorted(columns[column])[1000]
    columns["y"] = [int(value > middle) if i % 3 else 0 for i, value in enumerate(columns[column])]
    audit = ald.audit(columns, outcome="y", attributes=[column], search=ald.Search(trees=5))
    condition = audit.groups[0].to_dict()["conditions"][0]
    bound = condition["lower"] or condition["upper"]
    assert bound[:7] == str(middle)[:7]
    assert bound in str(audit.groups[0].criterion)


@pytest.mark.parametrize("door", ["csv", "parquet", "json lines", "pandas", "pandas times", "polars lazy", "pyarrow"])
def test_masks_agree_between_doors(tmp_path: Path, door: str) -> None:
    """A criterion found in one source selects the same rows in every other."""
    audit = ald.audit(people(), outcome="y", search=ald.Search(trees=5))
    data = DOORS[door](tmp_path, people())
    assert audit.candidates
    for finding in audit.candidates[:30]:
        np.testing.assert_array_equal(finding.criterion.mask(data), finding.criterion.mask(people()))


def pandas_filter(criterion: ald.Criterion, frame: pd.DataFrame) -> pd.Series:
    """The criterion in pandas' own words."""
    member = pd.Series(True, index=frame.index)
    for condition in criterion:
        values = frame[condition.attribute]
        if isinstance(condition, ald.Levels):
            inside = values.astype(str).isin([level for level in condition.levels if level is not None])
            inside &= values.notna()
            inside |= values.isna() if None in condition.levels else False
            member &= ~inside & values.notna() if condition.negated else inside
            continue
        entry = condition.to_dict()
        convert = float if condition.kind == "numeric" else pd.Timestamp
        numbers = values if condition.kind == "numeric" else pd.to_datetime(values)
        if entry["lower"] is not None:
            member &= numbers > convert(entry["lower"])
        if entry["upper"] is not None:
            member &= numbers <= convert(entry["upper"])
    return member


def test_masks_are_what_the_words_say() -> None:
    """Criterion.mask equals a filter written in pandas, for every candidate."""
    frame = pd.DataFrame(people())
    audit = ald.audit(frame, outcome="y", search=ald.Search("paper", trees=10))
    assert audit.n_candidates > 5
    for finding in audit.candidates:
        np.testing.assert_array_equal(finding.criterion.mask(frame), pandas_filter(finding.criterion, frame))


def second_half(columns: dict[str, Any]) -> pd.DataFrame:
    """D2 of an audit with seed 0 as a table in words, with a column of counts."""
    prepared = prepare(load(columns), Roles(outcome="y"), OUTCOME_CELLS).data
    _, d2 = prepared.halves(np.random.default_rng(np.random.SeedSequence(0).spawn(2)[0]))
    frame = pd.DataFrame({"count": d2.counts})
    for attribute, codes in zip(d2.attributes, d2.codes, strict=True):
        words = attribute.levels if attribute.values is None else tuple(attribute.values.tolist())
        if attribute.kind in ("date", "datetime"):
            unit = "D" if attribute.kind == "date" else "us"
            words = tuple(np.datetime64(int(word), unit) for word in words)  # type: ignore[arg-type]
        frame[attribute.name] = [(*words, None)[code] for code in codes]
    return frame


def test_sizes_are_those_of_a_filter_of_the_second_half() -> None:
    """A finding's size is the number of people of D2 that a filter written in pandas selects, for every candidate."""
    audit = ald.audit(people(), outcome="y", search=ald.Search("paper", trees=10))
    frame = second_half(people())
    assert frame["count"].sum() == audit.data_summary.rows_assess
    assert audit.n_candidates > 5
    for finding in audit.candidates:
        member = pandas_filter(finding.criterion, frame)
        assert finding.size == frame["count"][member].sum()
        assert finding.size == frame["count"][finding.criterion.mask(frame)].sum()
        assert finding.size + sum(finding.counts_outside.values()) == audit.data_summary.rows_assess


def test_a_finding_of_public_data_can_be_looked_up() -> None:
    """On Adult, the share of members among all rows is close to the finding's share of D2."""
    path = public_data("adult.csv")
    table = load(path)
    outcome = table.names[-1]
    favourable = table[outcome].words()[-1]
    try:
        audit = ald.audit(path, outcome=outcome, favourable=favourable, search=ald.Search(trees=5))
    except ald.ColumnError as error:
        pytest.skip(f"this copy of Adult has another outcome: {error}")
    frame = pd.read_csv(path, skipinitialspace=False, na_values=[""], keep_default_na=False)
    assert audit.groups
    for finding in audit.groups:
        mask = finding.criterion.mask(path)
        assert mask.mean() == pytest.approx(finding.share, abs=0.02)
        np.testing.assert_array_equal(mask, pandas_filter(finding.criterion, frame))


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (42, "cannot read data of type int"),
        ([{"a": 1}], "cannot read data of type list"),
        (np.zeros((2, 2)), "cannot read data of type ndarray"),
        ({"a": "text"}, "column 'a' must be a sequence of values, not str"),
        ({"a": {1, 2}}, "column 'a' must be a sequence of values, not set"),
        ({"a": 5}, "column 'a' must be a sequence of values, not int"),
        ({"a": np.zeros((2, 2))}, "must have one dimension; it has 2"),
        ({"a": [1, 2], "b": [1]}, "differ in length: 'a' has 2, 'b' has 1"),
        ({}, "the dictionary has no rows"),
        ({"y": []}, "the dictionary has no rows"),
        (pd.DataFrame({"y": []}), "the data has no rows"),
    ],
)
def test_data_that_cannot_be_read(data: Any, problem: str) -> None:
    """Other data is an InputError that says what was expected."""
    with pytest.raises(InputError, match=problem):
        ald.audit(data, outcome="y")


def test_masked_arrays() -> None:
    """Masked entries of NumPy arrays are missing, for numbers, words and dates."""
    mask = [False, True]
    dates = np.array(["2020-01-01", "2020-01-02"], "datetime64[D]")
    table = load({
        "n": np.ma.array([1, 2], mask=mask),
        "w": np.ma.array(["x", "y"], mask=mask),
        "d": np.ma.array(dates, mask=mask),
    })  # fmt: skip
    assert [column.codes.tolist() for column in table.columns.values()] == [[0, 1]] * 3


@pytest.mark.parametrize("make", [dict, pd.DataFrame], ids=["dictionary", "frame"])
def test_threads_read_the_same_table(monkeypatch: pytest.MonkeyPatch, make: Any) -> None:
    """Columns that several threads read are in the order given, with the same codes and values."""
    monkeypatch.setattr("ald.data.table._WORTH_THREADS", 1)
    data = make({"x": np.array([3.5, 1.0, 2.0]), "g": np.array(["b", "a", "b"]), "n": np.array([7, 7, 8])})
    alone, together = (load(data, None, Reading(threads=threads)) for threads in (1, 3))
    assert together.names == alone.names == ["x", "g", "n"]
    for name in alone.names:
        assert together[name].words() == alone[name].words()
        assert together[name].codes.tolist() == alone[name].codes.tolist()


def test_several_files_of_one_shape(tmp_path: Path) -> None:
    """A list of files, and a folder, are the audit of all rows; hidden files in it do not count."""
    columns = people(300)
    (tmp_path / "folder").mkdir()
    parts = [{name: values[start::3] for name, values in columns.items()} for start in range(3)]
    paths = [write_csv(tmp_path / "folder" / f"{i}.csv", part) for i, part in enumerate(parts)]
    (tmp_path / "folder" / ".hidden").touch()
    whole = ald.audit(columns, outcome="y", search=ald.Search(trees=2))
    for data in (paths, tmp_path / "folder"):
        assert ald.audit(data, outcome="y", search=ald.Search(trees=2)).groups == whole.groups


def test_files_of_other_shapes(tmp_path: Path) -> None:
    """Files that differ in their columns, folders in folders and empty ones are errors that name what is odd."""
    (tmp_path / "in").mkdir()
    first = write_csv(tmp_path / "in" / "a.csv", {"x": [1, 2]})
    second = write_csv(tmp_path / "in" / "b.csv", {"z": [1, 2]})
    with pytest.raises(ald.InputError, match=r"have the same columns: 'x' is in .*b\.csv.* or in 'a\.csv'"):
        load([first, second])
    with pytest.raises(ald.InputError, match="is a folder within a folder"):
        load([first, tmp_path / "in"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(ald.InputError, match="has no files"):
        load(tmp_path / "empty")
