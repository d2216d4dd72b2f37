"""Excel workbooks and SQLite files: one table of them, whose values come as Python's objects."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from ald._core.threads import on_interrupt
from ald.data.columns import from_objects, readable
from ald.data.inputs.relation import identifier
from ald.data.table import Table, check_names, names_to_read, table_from
from ald.errors import ColumnError, InputError, nearest, needed_extra, shorten

_EXCEL, _SQLITE = ("xlsx", "xlsm"), ("sqlite", "sqlite3", "db")
ENDINGS = (*_EXCEL, *_SQLITE)


def is_book(path: str) -> bool:
    """Whether a file is one of these, by its ending."""
    return path.rsplit(".", 1)[-1].casefold() in ENDINGS


def read_book(path: str, query: str | None, only: Sequence[str] | None = None, excluded: Sequence[str] = ()) -> Table:
    """The table of a file. query: the sheet of a workbook, or what to select in SQLite; needed where there are more."""
    source = f"the file {shorten(os.path.basename(path))!r}"
    if not os.path.isfile(path):
        raise InputError(f"there is no file {shorten(path, 120)!r}")
    is_excel = path.rsplit(".", 1)[-1].casefold() in _EXCEL
    names, rows = _sheet(path, query, source) if is_excel else _select(path, query, source)
    check_names(names, source)
    wanted = names_to_read(names, excluded, source) if only is None else list(only)
    for name in wanted:
        if name not in names:
            raise ColumnError(f"there is no column {shorten(name)!r} in {source}. {nearest(name, names)}")
    columns = []
    for name in wanted:
        at = names.index(name)
        with readable(name):
            columns.append(from_objects(name, [row[at] if at < len(row) else None for row in rows]))
    return table_from(columns, source) if columns else Table(columns={}, n_rows=len(rows), source=source)


def _sheet(path: str, sheet: str | None, source: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The names in the first row of a sheet, and all rows below it that hold anything."""
    try:
        import openpyxl
    except ModuleNotFoundError:
        raise needed_extra("Excel files", "excel") from None
    try:
        with closing(openpyxl.load_workbook(path, read_only=True, data_only=True)) as book:
            filled = {one.title: found for one in book.worksheets if (found := _fill(one.iter_rows(values_only=True)))}
    except (BadZipFile, KeyError, OSError, ValueError, TypeError) as error:
        raise InputError(f"{source} cannot be read as an Excel workbook: {type(error).__name__}") from None
    chosen = _choose(filled, sheet, source, "sheet")
    header, *rows = filled[chosen]
    names = ["" if value is None else str(value) for value in header]
    while names and not names[-1]:
        names.pop()
    if "" in names:
        raise InputError(
            f"{source}: column {names.index('') + 1} of sheet {shorten(chosen)!r} has no name in its first row"
        )
    return names, [row[: len(names)] for row in rows]


def _fill(rows: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The rows that hold anything; spreadsheets end with many that do not."""
    return [row for row in rows if any(value is not None for value in row)]


def _select(path: str, query: str | None, source: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """What is selected in a SQLite file, which is opened for reading only."""
    address = f"{Path(os.path.abspath(path)).as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True)) as connection, on_interrupt(connection.interrupt):
            if query is None:
                asked = connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
                tables = [name for (name,) in asked if not name.startswith("sqlite_")]
                query = f"SELECT * FROM {identifier(_choose(tables, None, source, 'table'))}"
            found = connection.execute(query)
            if found.description is None:
                raise InputError("the query gives no rows: it must select some, such as 'select * from decisions'")
            return [str(column[0]) for column in found.description], found.fetchall()
    except (sqlite3.Error, sqlite3.Warning) as error:
        if "interrupted" in str(error):
            raise KeyboardInterrupt from None
        raise InputError(f"{source} cannot be read as SQLite: {error}") from None


def _choose(parts: Iterable[str], name: str | None, source: str, what: str) -> str:
    """The sheet or table that is meant: the named one, or the only one."""
    known = list(parts)
    if not known:
        raise InputError(f"{source} has no {what} with anything in it")
    if name is not None and name not in known:
        raise InputError(f"{source} has no {what} {shorten(name)!r}. {nearest(name, known)}")
    if name is None and len(known) > 1:
        say = "query='SHEET' (--query SHEET)" if what == "sheet" else "query='select * from ...' (--query)"
        shown = ", ".join(repr(shorten(one)) for one in known[:20])
        raise InputError(f"{source} has {len(known):,} {what}s: {shown}. Say which one by {say}")
    return known[0] if name is None else name
