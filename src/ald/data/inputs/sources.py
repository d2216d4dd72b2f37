"""One door for every kind of input: files, DataFrames, dictionaries of arrays."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ald._core.arrays import AnyArray, IntArray
from ald._core.threads import in_threads
from ald.data.columns import Column, from_levels, from_numbers, from_objects, is_interval_kind, readable
from ald.data.inputs.addresses import is_address
from ald.data.inputs.books import is_book, read_book
from ald.data.inputs.fingerprint import unchanged
from ald.data.inputs.reading import Reading
from ald.data.inputs.texts import code_texts, has_characters
from ald.data.table import Table, check_names, names_to_read, row_numbers, stack, table_from, worth_threads
from ald.data.words import with_words
from ald.errors import ColumnError, InputError, SettingError, shorten

if TYPE_CHECKING:
    from ald.remote.lazy import RemoteTable

# Of rows that identify people this share may be alike by chance. Small tables are not judged.
_ALIKE = 0.01
_JUDGED = 50

# Years from 1970 that microseconds in 64 bits reach.
_YEARS = 290_000


def _is_database(data: Any) -> bool:
    return isinstance(data, str) and is_address(data)


def load(
    data: Any,
    only: Sequence[str] | None = None,
    reading: Reading | None = None,
    kinds: Mapping[str, str | Sequence[str]] | None = None,
) -> Table:
    """The data as a table: of all columns, or of only some (an error if one of them is missing).

    reading: how to read data that may be large; without it, every row is read as it stands. kinds: of columns, if not
    those of `reading`.
    """
    found = load_or_leave(data, only, reading, kinds)
    if not isinstance(found, Table):
        raise found.error()
    return found


def load_or_leave(
    data: Any,
    only: Sequence[str] | None = None,
    reading: Reading | None = None,
    kinds: Mapping[str, str | Sequence[str]] | None = None,
) -> Table | RemoteTable:
    """As `load`; data that does not fit into the memory stays where it is, if its engine can go on there."""
    if isinstance(data, Table):
        return data
    found = _load(data, only, reading)
    if not isinstance(found, Table):
        return found
    return with_words(found, (reading or Reading()).kinds if kinds is None else kinds)


def _load(data: Any, only: Sequence[str] | None, reading: Reading | None) -> Table | RemoteTable:
    query = None if reading is None else reading.query
    if _is_database(data):
        from ald.data.inputs.database import read_query

        return read_query(data, query, only, reading)
    if isinstance(data, (str, os.PathLike)) and is_book(os.fspath(data)):
        with unchanged(data):
            return read_book(os.fspath(data), query, only, () if reading is None else reading.excluded)
    if query is not None:
        raise SettingError(
            "a query needs a database: give its address, such as postgresql://user@host/name, in place of the data, or "
            "a SQLite file (or an Excel file, whose sheet it names)"
        )
    files = _several(data)
    if files is not None:
        return _one_shape(files, only, reading)
    if isinstance(data, (str, os.PathLike)):
        from ald.data.inputs.files import read_file

        with unchanged(data):
            return read_file(os.fspath(data), only, reading)
    if isinstance(data, Mapping):
        return _from_mapping(data, only, reading or Reading())
    from ald.data.inputs.frames import is_frame, read_frame

    if is_frame(data):
        return read_frame(data, only, reading)
    # A Series too: one column has no name to ask for and nothing to compare it with.
    raise InputError(
        f"cannot read data of type {type(data).__name__}. Give a path (CSV, TSV, Parquet, JSON lines), the address of "
        "a database with a query, a DataFrame (pandas, Polars, PyArrow, ...) or a dictionary of arrays."
    )


def _several(data: Any) -> list[str] | None:
    """The files of a list of paths or of a folder, in the order of their names; None of anything else."""
    if isinstance(data, (str, os.PathLike)) and os.path.isdir(data):
        folder = os.fspath(data)
        files = sorted(name for name in os.listdir(folder) if not name.startswith((".", "_")))
        if not files:
            raise InputError(f"the folder {shorten(folder, 120)!r} has no files")
        return [os.path.join(folder, name) for name in files]
    if isinstance(data, (list, tuple)) and data and all(isinstance(path, (str, os.PathLike)) for path in data):
        return [os.fspath(path) for path in data]
    return None


def _one_shape(files: Sequence[str], only: Sequence[str] | None, reading: Reading | None) -> Table:
    """Files with the same columns as one table."""
    whole: Table | None = None
    for path in files:
        if os.path.isdir(path):
            raise InputError(f"{shorten(path, 120)!r} is a folder within a folder; give files of one shape")
        table = _load(path, only, reading)
        if not isinstance(table, Table):
            raise table.error()
        if whole is not None and set(table.names) != set(whole.names):
            odd = sorted(set(table.names) ^ set(whole.names))[0]
            raise InputError(
                f"files that are audited together have the same columns: {shorten(odd)!r} is in {table.source} or in "
                f"{shorten(os.path.basename(files[0]))!r}, and not in both"
            )
        whole = table if whole is None else stack(whole, table)
    assert whole is not None
    return whole if len(files) == 1 else replace(whole, source=f"the {len(files):,} files")


def load_halves(
    data: tuple[Any, Any], only: Sequence[str] | None = None, reading: Reading | None = None
) -> tuple[Table, IntArray]:
    """Two data sets as one table, and per row 0 or 1 for the data set it came from. They must not share people."""
    if reading is not None and reading.query is not None and not all(map(_is_database, data)):
        raise SettingError(
            "--query does not go with --assess-on (nor a source's query with split=(a, b)), unless both are databases: "
            "select everyone at once, with a column that says who is for the search, and name it as the split (--split "
            "COLUMN)"
        )
    first, second = (load(part, only, reading) for part in data)
    if data[0] is data[1] or _same(first, second):
        raise InputError(
            "the data set for the search and the one for the assessment are the same: groups must be tested on people "
            "who did not suggest them"
        )
    table = stack(first, second)
    half = np.repeat([0, 1], [first.n_rows, second.n_rows])
    for column in table.columns.values():
        # A column of words that never repeats within a data set identifies rows.
        shared = _match_rows(column.codes, half, table.counts) if not is_interval_kind(column.kind) else []
        if len(shared):
            raise _not_apart(len(shared), f"by column {column.name!r}")
    # So do all columns together, where hardly two rows of a data set are alike.
    shared = _match_rows(row_numbers(table), half, table.counts, _ALIKE)
    if len(shared) > _ALIKE * np.bincount(half).min() and table.n_rows >= _JUDGED:
        raise _not_apart(len(shared), "alike in every column")
    return table, half


def _match_rows(numbers: AnyArray, half: IntArray, counts: IntArray | None, tolerated: float = 0.0) -> list[int]:
    """The numbers of rows in both halves, if (nearly) no number repeats within a half; else none."""
    parts = [numbers[half == part] for part in (0, 1)]
    rows = [len(part) for part in parts] if counts is None else [int(counts[half == part].sum()) for part in (0, 1)]
    distinct = [np.unique(part) for part in parts]
    if any(len(own) < (1 - tolerated) * n for own, n in zip(distinct, rows, strict=True)):
        return []
    return [int(number) for number in np.intersect1d(distinct[0], distinct[1])]


def _not_apart(n: int, how: str) -> InputError:
    return InputError(
        f"{n:,} rows are in both data sets ({how}): groups must be tested on people who did not suggest them"
    )


def _same(first: Table, second: Table) -> bool:
    """Whether two tables hold the same rows in the same order."""
    if (
        first.n_rows != second.n_rows
        or first.names != second.names
        or (first.counts is None) != (second.counts is None)
    ):
        return False
    if first.counts is not None and second.counts is not None and not np.array_equal(first.counts, second.counts):
        return False
    return all(
        np.array_equal(first[name].codes, second[name].codes) and first[name].words() == second[name].words()
        for name in first.names
    )


def _from_mapping(data: Mapping[Any, Any], only: Sequence[str] | None, reading: Reading) -> Table:
    source = "the dictionary"
    check_names([str(name) for name in data], source)
    columns = {str(name): values for name, values in data.items()}
    columns = {name: columns[name] for name in names_to_read(columns, reading.excluded, source)}
    if only is not None:
        missing = [name for name in only if name not in columns]
        if missing:
            Table(columns=dict.fromkeys(columns), n_rows=0, source=source)[missing[0]]  # type: ignore[arg-type]
        columns = {name: columns[name] for name in only}
    values = sum(column.size for column in columns.values() if isinstance(column, np.ndarray))
    threads = reading.threads if worth_threads(values) else 1
    read = in_threads(lambda name: _from_any(name, columns[name]), columns, threads)
    return table_from(read, source)


def _from_any(name: str, values: Any) -> Column:
    with readable(name):
        return from_array(name, values)


def from_array(name: str, values: Any) -> Column:
    """A column from anything one-dimensional: an array, a list, a Series, a pandas Categorical."""
    from ald.data.inputs.frames import as_series, is_series, read_series

    values = as_series(values)
    if is_series(values):
        return read_series(name, values)
    if isinstance(values, (str, bytes, Set, Mapping)) or not hasattr(values, "__len__"):
        raise InputError(f"column {name!r} must be a sequence of values, not {type(values).__name__}")
    missing = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else None
    # A list is looked at value by value: NumPy would turn [1, "a"] and [True, None] into something else.
    if not isinstance(values, np.ndarray):
        return from_objects(name, list(values))
    array = np.ma.getdata(values)
    if array.ndim != 1:
        raise InputError(f"column {name!r} must have one dimension; it has {array.ndim}")
    if array.dtype.kind == "U" and not has_characters(array):
        raise InputError(
            f"column {name!r} holds text with characters that Unicode does not have: its memory is damaged"
        )
    if array.dtype.kind in "iuf":
        return from_numbers(name, array, missing=missing)
    if array.dtype.kind == "M":
        return from_datetimes(name, np.where(missing, np.datetime64("NaT"), array) if missing is not None else array)
    if array.dtype.kind == "m":
        seconds = array / np.timedelta64(1, "s")
        return from_numbers(name, seconds, missing=missing)
    coded = code_texts(array) if missing is None else None
    if coded is not None:
        return from_levels(name, *coded)
    objects = array.tolist()
    if missing is not None:
        objects = [None if gone else value for value, gone in zip(objects, missing.tolist(), strict=True)]
    return from_objects(name, objects)


def from_datetimes(name: str, values: np.ndarray[Any, Any]) -> Column:
    """A column of NumPy dates (kind "date") or times (kind "datetime")."""
    absent = np.isnat(values)
    years = values[~absent].astype("datetime64[Y]").astype(np.int64)
    if len(years) and max(abs(int(years.min())), abs(int(years.max()))) > _YEARS:
        raise ColumnError(f"column {name!r} holds dates more than {_YEARS:,} years from 1970, which are none")
    if np.datetime_data(values.dtype)[0] in ("D", "W", "M", "Y"):
        return from_numbers(name, values.astype("datetime64[D]").astype(np.int64), "date", absent)
    return from_numbers(name, values.astype("datetime64[us]").astype(np.int64), "datetime", absent)
