"""Excel workbooks and SQLite files."""

from __future__ import annotations

import datetime
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest

import ald
from ald import InputError, SettingError
from ald.data.inputs.sources import load
from tests.tables import people

ROWS: list[tuple[Any, ...]] = [
    ("whole", "part", "word", "truth", "moment", "none"),
    (1, 0.5, "b", True, datetime.datetime(2020, 1, 2, 3, 4, 5), None),
    (None, None, None, None, None, None),
    (3, 2, "a,é", False, datetime.datetime(2021, 1, 2), None),
]


def workbook(path: Path, **sheets: list[tuple[Any, ...]]) -> str:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return str(path)


def database(path: Path, **tables: list[tuple[Any, ...]]) -> str:
    with closing(sqlite3.connect(path)) as connection:
        for name, (header, *rows) in tables.items():
            connection.execute(f'CREATE TABLE "{name}" ({", ".join(header)})')
            connection.executemany(f'INSERT INTO "{name}" VALUES ({", ".join("?" * len(header))})', rows)
        connection.commit()
    return str(path)


def test_a_sheet_has_typed_columns(tmp_path: Path) -> None:
    """Numbers, words, truth values and times of a sheet are columns of these kinds; empty rows count for nothing."""
    table = load(workbook(tmp_path / "x.xlsx", people=ROWS, empty=[]))
    kinds = {name: column.kind for name, column in table.columns.items()}
    assert kinds["whole"] == kinds["part"] == "numeric"
    assert (kinds["word"], kinds["truth"], kinds["moment"]) == ("nominal", "boolean", "datetime")
    assert table.n_rows == 2
    assert table["word"].levels == ("a,é", "b")
    assert table["none"].n_missing(None) == 2


@pytest.mark.parametrize("make", [workbook, database])
def test_the_same_audit(tmp_path: Path, make: Callable[..., str]) -> None:
    """A workbook and a SQLite file give the audit of their columns, to the byte."""
    columns = {name: np.asarray(people(300)[name]).tolist() for name in ("age", "sex", "score", "y")}
    rows = [tuple(columns), *zip(*columns.values(), strict=True)]
    path = make(tmp_path / ("x.xlsx" if make is workbook else "x.sqlite"), people=rows)
    plain = ald.audit(columns, outcome="y", search=ald.Search(trees=2))
    assert ald.audit(path, outcome="y", search=ald.Search(trees=2)).to_json() == plain.to_json()


def test_which_sheet_and_which_table(tmp_path: Path) -> None:
    """Of several sheets or tables one is named; the message says how."""
    book = workbook(tmp_path / "x.xlsx", one=[("a",), (1,)], two=[("b",), (2,)])
    base = database(tmp_path / "x.db", one=[("a",), (1,)], two=[("b",), (2,)])
    with pytest.raises(InputError, match=r"has 2 sheets: 'one', 'two'. Say which one by query='SHEET'"):
        load(book)
    with pytest.raises(InputError, match=r"has 2 tables: 'one', 'two'. Say which one by query='select"):
        load(base)
    with pytest.raises(InputError, match=r"has no sheet 'tow'. Did you mean 'two'"):
        ald.look(ald.source(book, query="tow"))
    assert [column.name for column in ald.look(ald.source(book, query="two")).columns] == ["b"]
    assert [column.name for column in ald.look(ald.source(base, query="select b as c from two")).columns] == ["c"]


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("x.xlsx", b"not a zip", "cannot be read as an Excel workbook"),
        ("x.xlsx", b"", "cannot be read as an Excel workbook"),
        ("x.sqlite", b"not a database at all, but long enough", "cannot be read as SQLite"),
        ("x.db", b"", "has no table with anything in it"),
    ],
)
def test_files_that_are_none(tmp_path: Path, name: str, content: bytes, problem: str) -> None:
    """What only ends like one of these files is an error in words."""
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=problem):
        load(str(tmp_path / name))
    with pytest.raises(InputError, match="there is no file"):
        load(str(tmp_path / f"none{name}"))


def test_sheets_that_are_no_tables(tmp_path: Path) -> None:
    """A sheet without anything, and a column without a name, are errors that say so."""
    with pytest.raises(InputError, match="has no sheet with anything in it"):
        load(workbook(tmp_path / "x.xlsx", one=[]))
    with pytest.raises(InputError, match="column 1 of sheet 'one' has no name in its first row"):
        load(workbook(tmp_path / "y.xlsx", one=[(None, "b"), (1, 2)]))


@pytest.mark.parametrize("query", ["delete from one", "drop table one", "select * from one; select 1", "select"])
def test_nothing_is_written(tmp_path: Path, query: str) -> None:
    """A query reads and does nothing else."""
    base = database(tmp_path / "x.db", one=[("a",), (1,)])
    before = Path(base).read_bytes()
    with pytest.raises(InputError, match=r"cannot be read as SQLite|gives no rows"):
        ald.look(ald.source(base, query=query))
    assert Path(base).read_bytes() == before


def test_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A workbook without openpyxl is an error with the command that installs it."""
    path = workbook(tmp_path / "x.xlsx", one=[("a",), (1,)])
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(SettingError, match=r"Excel files need an optional package: pip install 'ald-audit\[excel\]'"):
        load(path)
