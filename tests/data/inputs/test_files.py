"""Files: every format, names as they stand, errors in words."""

from __future__ import annotations

import gzip
import json
import os
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ald
from ald import ColumnError, InputError
from ald.data.columns import Column
from ald.data.inputs.files import read_file
from ald.data.inputs.sources import load
from ald.data.table import Table
from tests.flat import audit_flat


def read(folder: Path, content: str | bytes, name: str = "x.csv", only: list[str] | None = None) -> Table:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return load(str(path), only)


def rows(column: Column) -> list[str | None]:
    words: list[str | None] = [*column.words(), None]
    return [words[code] for code in column.codes]


def test_kinds_of_a_csv_file(tmp_path: Path) -> None:
    """Numbers, dates, times, truth values and words are told apart."""
    table = read(
        tmp_path,
        "n,d,t,b,w\n1,2020-01-01,2020-01-01 03:00:00,true,x\n2.5,2020-01-02,2020-01-01 03:00:01,FALSE,y\n,,,,\n",
    )
    assert {name: column.kind for name, column in table.columns.items()} == {
        "n": "numeric", "d": "date", "t": "datetime", "b": "boolean", "w": "nominal"}  # fmt: skip
    assert rows(table["b"]) == ["True", "False", None]
    assert rows(table["t"]) == ["2020-01-01 03:00:00", "2020-01-01 03:00:01", None]


@pytest.mark.parametrize("words", [("yes", "no"), ("t", "f"), ("Y", "N"), ("T", "F")])
def test_yes_and_no_stay_words(tmp_path: Path, words: tuple[str, str]) -> None:
    """Words of a CSV file that could mean true and false are kept as they stand."""
    table = read(tmp_path, f"a,b\n{words[0]},1\n{words[1]},0\n")
    assert (table["a"].kind, rows(table["a"])) == ("nominal", list(words))


def test_leading_zeros_are_words(tmp_path: Path) -> None:
    """Codes such as 01234 are not numbers."""
    assert read(tmp_path, "zip\n01234\n00001\n")["zip"].levels == ("00001", "01234")


def test_numbers_with_marks_for_missing(tmp_path: Path) -> None:
    """A column of numbers with some "NA" is numeric, and a note says how many were read as missing."""
    column = read(tmp_path, "a\n1\nNA\n3\n?\n")["a"]
    assert (column.kind, rows(column)) == ("numeric", ["1", None, "3", None])
    assert column.notes == ("2 values of column 'a' ('?', 'NA') were read as missing, all others are numbers",)


def test_words_that_may_be_values_are_levels(tmp_path: Path) -> None:
    """In a column of words "NA" stands for no value, and words that often are values do not."""
    assert read(tmp_path, "a,b\nNA,1\nmissing,2\nnone,3\n?,4\n")["a"].levels == ("?", "missing", "none")


@pytest.mark.parametrize("text", ["1e308", "-1e308", "1e-308"])
def test_extreme_numbers(tmp_path: Path, text: str) -> None:
    """The largest and smallest numbers are read exactly."""
    column = read(tmp_path, f"a\n0\n{text}\n")["a"]
    assert column.values is not None
    assert float(text) in column.values.tolist()


@pytest.mark.parametrize("line", ["1,2,0,7", "1,2"])
def test_the_line_with_other_fields_is_told(tmp_path: Path, line: str) -> None:
    """Where one of many lines has more or fewer fields than the header, the error says which."""
    lines = ["a,b,y", *(f"{i % 5},{i % 3},{i % 2}" for i in range(3000))]
    lines[2501] = line
    with pytest.raises(InputError, match=rf"line 2,502 has {line.count(',') + 1} fields, and the header has 3\.$"):
        read(tmp_path, "\n".join(lines))


@pytest.mark.parametrize("base", [2**53, 2**60, 2**63, 2**70])
@pytest.mark.parametrize("name", ["x.csv", "x.jsonl"])
def test_long_whole_numbers_stay_different(tmp_path: Path, base: int, name: str) -> None:
    """Numbers that floating point would merge are words; one long number among others is a number."""
    ids = [base + i % 5 for i in range(20)]
    if name == "x.csv":
        content = "id,n,y\n" + "".join(f"{one},{one if i == 3 else i},1\n" for i, one in enumerate(ids))
    else:
        content = "".join(f'{{"id": {one}, "n": {one if i == 3 else i}, "y": 1}}\n' for i, one in enumerate(ids))
    table = read(tmp_path, content, name)
    if name == "x.csv" or base < 2**64:  # DuckDB reads longer ones in JSON as floating point
        assert rows(table["id"]) == [str(one) for one in ids]
        assert table["id"].kind == "nominal"
    assert (table["n"].kind, table["n"].n_codes) == ("numeric", 20)


@pytest.mark.parametrize("first", [True, False])
def test_infinite_numbers_wherever_they_stand(tmp_path: Path, first: bool) -> None:
    """A column of numbers is one, also if its first value is infinite."""
    lines = ["-inf,a", "1.5,b", "2.5,a", "Infinity,b"]
    column = read(tmp_path, "\n".join(["x,y", *(lines if first else lines[1:] + lines[:1])]))["x"]
    assert (column.kind, column.n_infinite, column.n_missing(), column.words()) == ("numeric", 2, 2, ["1.5", "2.5"])
    words = read(tmp_path, "x,y\ninf,1\n-inf,2\n")["x"]
    assert words.n_codes == 0 or words.kind == "nominal"


def test_infinite_numbers_and_dates(tmp_path: Path) -> None:
    """Infinite values are missing and counted."""
    numbers = read(tmp_path, "a\n1\ninf\n-inf\nnan\n")["a"]
    assert (numbers.n_infinite, rows(numbers)) == (2, ["1", None, None, None])
    dates = read(tmp_path, "a\ninfinity\n2020-01-01\n")["a"]
    assert (dates.n_infinite, rows(dates)) == (1, [None, "2020-01-01"])


def test_dates_beyond_the_calendar_of_python(tmp_path: Path) -> None:
    """Dates after the year 9999 are read."""
    assert rows(read(tmp_path, "a\n0001-01-01\n12000-01-01\n")["a"]) == ["0001-01-01", "12000-01-01"]


@pytest.mark.parametrize("name", ["with space", 'with "quote"', "new\nline", "ünï©ode", "100%", "a & b", "a,b", "'"])
def test_column_names_as_they_stand(tmp_path: Path, name: str) -> None:
    """Column names may hold any character."""
    quoted = name.replace('"', '""')
    assert read(tmp_path, f'"{quoted}",y\n1,2\n3,4\n').names == [name, "y"]
    assert read(tmp_path, json.dumps({name: 1, "y": 2}) + "\n", "x.jsonl").names == [name, "y"]


def test_names_that_differ_by_case(tmp_path: Path) -> None:
    """Names that differ only by case are different columns."""
    assert read(tmp_path, "age,Age\n1,2\n").names == ["age", "Age"]
    pq.write_table(pa.table([[1], [2]], names=["age", "Age"]), tmp_path / "x.parquet")
    assert read_file(str(tmp_path / "x.parquet")).names == ["age", "Age"]


def test_nested_columns_of_parquet(tmp_path: Path) -> None:
    """Nested values are words, and the names of nested fields are not columns."""
    pq.write_table(pa.table({"a": [{"x": 1, "y": [1, 2]}], "b": [[1.5]], "c": [3]}), tmp_path / "x.parquet")
    table = read_file(str(tmp_path / "x.parquet"))
    assert (table.names, table["c"].kind, table["a"].kind) == (["a", "b", "c"], "numeric", "nominal")


@pytest.mark.parametrize(
    "name", ["a*b.csv", "a[1].csv", "it's.csv", "{x}.csv", "a?b.csv", "ü ñ.csv", "%41.csv", "a;b.CSV", "k=1.csv"]
)
def test_file_names_are_no_patterns(tmp_path: Path, name: str) -> None:
    """Characters that are patterns elsewhere stand for themselves in a file's name."""
    (tmp_path / "aXb.csv").write_text("other\n9\n")
    assert read(tmp_path, "a,b\n1,x\n", name).names == ["a", "b"]


@pytest.mark.parametrize("name", ["~/x.csv", "~x.csv", "./~/x.csv", "~", "~root/x.csv"])
def test_a_tilde_is_no_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A name with ~ stands for itself, from wherever it is read; the shell alone makes a home folder of it."""
    home = tmp_path / "home"
    for folder, content in ((home, "other\n9\n"), (tmp_path / "here" / "~", "a,b\n1,x\n")):
        folder.mkdir(parents=True)
        (folder / "x.csv").write_text(content)
    (tmp_path / "here" / "~root").mkdir()
    for place in ("~x.csv", "~root/x.csv"):
        (tmp_path / "here" / place).write_text("a,b\n1,x\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(tmp_path / "here")
    if name == "~":
        with pytest.raises(InputError, match="'~' is a folder"):
            read_file(name)
    else:
        assert read_file(name).names == ["a", "b"]


@pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.csv.gz", "x.parquet", "x.jsonl", "x.json", "x.jsonl.gz"])
@pytest.mark.parametrize("folder", ["sex=Z", "new=1", "y=7/json=0"])
def test_names_of_folders_are_no_data(tmp_path: Path, name: str, folder: str) -> None:
    """A folder called sex=Z, as partitioned data sets have them, neither adds nor replaces a column of a file in it."""
    content = [{"sex": "F", "y": 1}, {"sex": "M", "y": 0}]
    path = tmp_path / folder / name
    path.parent.mkdir(parents=True)
    if name.endswith("parquet"):
        pq.write_table(pa.Table.from_pylist(content), path)
    else:
        separator = "\t" if "tsv" in name else ","
        lines = ["sex,y", "F,1", "M,0"] if "json" not in name else [json.dumps(row) for row in content]
        text = "".join(f"{line.replace(',', separator) if 'json' not in name else line}\n" for line in lines).encode()
        path.write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    table = read_file(str(path))
    assert {column: rows(table[column]) for column in table.names} == {"sex": ["F", "M"], "y": ["1", "0"]}


@pytest.mark.parametrize(
    ("name", "content", "sign"),
    [
        ("x.tsv", "a,b,y\nx,y,1\nz,q,0\n", "commas"),
        ("x.tab", "a,b\n1\n2\n", "commas"),
        ("x.tsv.gz", "a;b;y\nx;y;1\n", "semicolons"),
    ],
)
def test_a_file_of_tabs_without_tabs(tmp_path: Path, name: str, content: str, sign: str) -> None:
    """Where a .tsv file has something else between its columns, the error says what, and what to do."""
    packed = gzip.compress(content.encode()) if name.endswith("gz") else content
    with pytest.raises(InputError, match=rf"has {sign} in its header and no tabs.*name that ends in \.csv"):
        read(tmp_path, packed, name)


def test_pipes_are_no_files(tmp_path: Path) -> None:
    """A pipe is refused at once, not waited for."""
    os.mkfifo(tmp_path / "x.csv")
    for options in ({}, {"engine": "dask"}):
        with pytest.raises(InputError, match="is a pipe or a device; write its output to a file"):
            audit_flat(tmp_path / "x.csv", outcome="y", **options)


def test_only_some_columns(tmp_path: Path) -> None:
    """Only the columns asked for are read, in the order asked for."""
    assert read(tmp_path, "a,b,c\n1,2,3\n", only=["c", "a"]).names == ["c", "a"]


def test_mixed_json_values(tmp_path: Path) -> None:
    """Numbers and words in one JSON column are words, without JSON's quotes."""
    assert read(tmp_path, '{"a":1}\n{"a":"x"}\n', "x.jsonl")["a"].levels == ("1", "x")


def test_late_keys_of_json_lines(tmp_path: Path) -> None:
    """A key that only later lines have is missing in the first."""
    assert rows(read(tmp_path, '{"a":1}\n{"a":2,"b":"x"}\n', "x.jsonl")["b"]) == [None, "x"]


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("x.csv", "", "the file 'x.csv' is empty"),
        ("x.jsonl", "", "is empty"),
        ("x.parquet", "", "is empty"),
        ("x.csv", "a,a,b\n1,2,3\n", "more than one column named 'a'"),
        ("x.csv", "a,b\n1,2\n1,2,3\n", "Line: 3"),
        ("x.csv", "a,b,c\n1,2,3\n1,2\n", "Line: 3"),
        ("x.csv", b"a,b\n\x81,1\nx,2\n", "not utf-8"),
        ("x.csv.gz", "a,b\n1,2\n", "not a GZIP stream"),
        ("x.csv.zst", "a,b\n1,2\n", "cannot be read as CSV"),
        ("x.parquet", "abc", "cannot be read as PARQUET"),
        ("x.jsonl", "{a", "cannot be read as JSON"),
        ("x.ods", "a", r"cannot tell the format .* Known endings: \.csv"),
        ("x", "a", "cannot tell the format"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, name: str, content: str | bytes, problem: str) -> None:
    """Every unreadable file is an InputError that says what is wrong."""
    with pytest.raises(InputError, match=problem):
        read(tmp_path, content, name)


def test_header_only(tmp_path: Path) -> None:
    """A file with a header and nothing else has no rows to audit."""
    path = tmp_path / "x.csv"
    path.write_text("a,y\n")
    with pytest.raises(InputError, match=r"the file 'x\.csv' has no rows"):
        ald.audit(path, outcome="y")


def test_no_such_file(tmp_path: Path) -> None:
    """A missing file's error offers the nearest name in its folder."""
    (tmp_path / "people.csv").write_text("a\n1\n")
    with pytest.raises(InputError, match=r"there is no file .*Did you mean 'people\.csv'\?"):
        read_file(str(tmp_path / "poeple.csv"))
    with pytest.raises(InputError, match="Its folder does not exist or is empty"):
        read_file(str(tmp_path / "none" / "x.csv"))


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    """A folder's error says so."""
    with pytest.raises(InputError, match="is a folder; give a file"):
        read_file(str(tmp_path))


def test_no_such_column(tmp_path: Path) -> None:
    """A missing column's error offers the nearest name."""
    with pytest.raises(ColumnError, match=r"there is no column 'gendr' in the file 'x.csv'. Did you mean 'gender'"):
        read(tmp_path, "age,gender\n1,2\n", only=["gendr"])


def test_file_names_that_are_not_utf8(tmp_path: Path) -> None:
    """A file whose name is not valid UTF-8 is an error in words."""
    path = os.fsencode(tmp_path) + b"/\xff.csv"
    Path(os.fsdecode(path)).write_bytes(b"a\n1\n")
    with pytest.raises(InputError, match="not valid UTF-8"):
        read_file(os.fsdecode(path))


def test_ten_thousand_levels(tmp_path: Path) -> None:
    """A column of ten thousand levels is read in code-point order."""
    column = read(tmp_path, "a\n" + "".join(f"l{i}\n" for i in range(10_000)))["a"]
    assert column.levels == tuple(sorted(f"l{i}" for i in range(10_000)))
    assert rows(column)[1234] == "l1234"


def test_gzip_of_tabs(tmp_path: Path) -> None:
    """A compressed file of tabs keeps commas in its values."""
    assert rows(read(tmp_path, gzip.compress(b"a\tb\np,q\tx\nr,s\ty\n"), "x.tsv.gz")["a"]) == ["p,q", "r,s"]


def test_parquet_types(tmp_path: Path) -> None:
    """Types of Parquet become kinds; an ordinary timestamp at midnight is a date."""
    table: dict[str, Any] = {
        "i": pa.array([1, None], pa.int8()),
        "f": pa.array([1.5, None], pa.float32()),
        "u": pa.array([2**63, None], pa.uint64()),
        "b": [True, None],
        "d": [date(2020, 1, 1), None],
        "t": [datetime(2020, 1, 1, 3), None],
        "m": [datetime(2020, 1, 1), None],
        "z": pa.array([datetime(2020, 1, 1, 3), None], pa.timestamp("us", "UTC")),
        "s": ["x", None],
    }
    pq.write_table(pa.table(table), tmp_path / "x.parquet")
    read_back = read_file(str(tmp_path / "x.parquet"))
    assert [read_back[name].kind for name in table] == [
        "numeric", "numeric", "numeric", "boolean", "date", "datetime", "date", "datetime", "nominal"]  # fmt: skip
    assert all(rows(read_back[name])[1] is None for name in table)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), min_size=1), min_size=1))
def test_words_survive_json_lines(tmp_path: Path, words: list[str]) -> None:
    """Any text with a letter in front is read back as it was written."""
    words = [f"x{word}" for word in words]
    lines = "".join(json.dumps({"a": word, "i": i}) + "\n" for i, word in enumerate(words))
    assert rows(read(tmp_path, lines, "x.jsonl")["a"]) == words


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_numbers_survive_csv(tmp_path: Path, numbers: list[float]) -> None:
    """Any finite number is read back exactly, or within the last digit where DuckDB rounds."""
    column = read(tmp_path, "a,b\n" + "".join(f"{number!r},0.5\n" for number in numbers))["a"].as_kind("numeric")
    assert column.values is not None
    np.testing.assert_array_equal(np.append(column.values, np.nan)[column.codes], np.array(numbers) + 0.0)


def test_decimal_commas_are_numbers(tmp_path: Path) -> None:
    """Numbers with decimal commas, as spreadsheets write them in much of Europe, are read as numbers, with a note."""
    path = tmp_path / "europe.csv"
    path.write_text("score;place\n1,5;a\n2;b\nNA;a\n-0,25;b\n", encoding="utf-8")
    column = load(str(path))["score"]
    assert column.kind == "numeric"
    assert column.values is not None
    assert column.values.tolist() == [-0.25, 1.5, 2.0]
    assert column.codes.tolist() == [1, 2, 3, 0]
    assert "decimal commas" in column.notes[0]


def test_commas_between_thousands(tmp_path: Path) -> None:
    """Where every comma is followed by three digits it separates thousands."""
    path = tmp_path / "thousands.csv"
    path.write_text("amount;place\n1,500;a\n2,250;b\n", encoding="utf-8")
    assert load(str(path))["amount"].words() == ["1500", "2250"]


def test_what_windows_wrote(tmp_path: Path) -> None:
    """A text file that is not UTF-8 is read as Windows-1252, and it is said; what cannot be that either is an error."""
    text = "städt,grün\n“ja”,1\nneïn,2\n"
    (tmp_path / "x.csv").write_bytes(text.encode("cp1252"))
    (tmp_path / "y.csv").write_bytes(text.encode("utf-8"))
    old, new = load(str(tmp_path / "x.csv")), load(str(tmp_path / "y.csv"))
    assert old.names == new.names == ["städt", "grün"]
    assert old["städt"].levels == new["städt"].levels
    assert old.notes == ("the file 'x.csv' is not UTF-8: it was read as Windows-1252 (cp1252)",)
    assert new.notes == ()
    for odd in (text.encode("utf-16"), b"a,b\n\x81,1\n", b"a,b\n\xe4\x00,1\n"):
        (tmp_path / "z.csv").write_bytes(odd)
        with pytest.raises(InputError, match="UTF-8"):
            load(str(tmp_path / "z.csv"))
