"""Files, read by DuckDB: CSV, TSV (plain, gzip, zstd), Parquet, JSON lines."""

from __future__ import annotations

import csv
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ald._core.leftovers import to_be_removed
from ald.data.inputs.books import ENDINGS as BOOKS
from ald.data.inputs.reading import Reading
from ald.data.inputs.reduction import reduce_relation
from ald.data.inputs.relation import (
    Relation,
    connect,
    identifier,
    in_words,
    interrupts,
    literal,
    read_all,
    workspace,
    would_merge,
)
from ald.data.table import Table, check_names
from ald.errors import InputError, nearest, shorten

if TYPE_CHECKING:
    import duckdb

_READERS = {
    "csv": "csv", "tsv": "csv", "tab": "csv", "txt": "csv",
    "parquet": "parquet", "pq": "parquet",
    "jsonl": "json", "ndjson": "json", "json": "json",
}  # fmt: skip
_COMPRESSION = {"gz": "gzip", "zst": "zstd"}

# The rows of a text file are guessed by its size: bytes of a field, and of a packed byte when it is unpacked.
_BYTES_PER_FIELD = 5
_PACKED = 6

# What may separate columns other than tabs.
_SEPARATORS = {",": "commas", ";": "semicolons", "|": "bars"}

# What DuckDB says where there is no such character.
_EMPTY = "(empty)"

# Types of whole numbers beyond 64 bits.
_LONG = ("HUGEINT", "UHUGEINT")
# How CSV files are typed: by all their rows. Words such as yes, no, t and f are not turned into true and false.
_TYPED = (
    "header=true, sample_size=-1, "
    "auto_type_candidates=['NULL', 'BIGINT', 'HUGEINT', 'DOUBLE', 'TIME', 'DATE', 'TIMESTAMP', 'TIMESTAMPTZ', "
    "'VARCHAR']"
)


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """How a CSV file is written. quote: empty if nothing is quoted. date, time: forms that are not those of SQL."""

    delimiter: str
    quote: str
    escape: str
    date: str | None
    time: str | None


def read_file(path: str, only: Sequence[str] | None = None, reading: Reading | None = None) -> Table:
    """The file as a table of all columns, or of only some; reduced to counts if it is large and `reading` says how."""
    try:
        return _read(path, only, reading)
    except InputError:
        if not _is_windows(path):
            raise
    with tempfile.TemporaryDirectory(prefix="ald-", ignore_cleanup_errors=True) as folder, to_be_removed(folder):
        table = _read(_as_utf8(path, folder), only, reading)
    said = f"the file {shorten(os.path.basename(path))!r} is not UTF-8: it was read as Windows-1252 (cp1252)"
    return replace(table, notes=(*table.notes, said))


def _read(path: str, only: Sequence[str] | None, reading: Reading | None) -> Table:
    with open_file(path) as (relation, reader):
        if reading is None:
            return read_all(relation, only)
        relation = relation.without(reading.excluded)
        if not _may_be_large(relation, path, reader, reading):
            return read_all(relation, only)
        with workspace(relation.connection, reading.memory) as folder:
            relation = relation if relation.is_cheap else relation.only(only).keep()
            if reading.is_large(relation.count(), len(relation.columns)):
                return reduce_relation(relation, reading, folder)
            return read_all(relation, only)


def _precise(connection: duckdb.DuckDBPyConnection, call: str, sql: str) -> tuple[str, str]:
    """A column of whole numbers beyond 64 bits: numbers, or words if floating point would merge some of them."""
    relation = Relation(connection=connection, sql=call, columns={}, source="", is_cheap=False)
    kind = "VARCHAR" if would_merge(relation, sql) else "DOUBLE"
    return f"CAST({sql} AS {kind})", kind


@contextmanager
def open_file(path: str) -> Iterator[tuple[Relation, str]]:
    """The file as something to select from, and its format; whatever fails meanwhile is an error in words."""
    import duckdb

    reader, source = _reader(path), f"the file {shorten(os.path.basename(path))!r}"
    if os.path.getsize(path) == 0:
        raise InputError(f"{source} is empty: it has no columns")
    connection = connect()
    try:
        with interrupts(connection):
            yield _open(connection, path, reader, source), reader
    except duckdb.Error as error:
        said = in_words(error)
        if _is_foreign(path, reader):
            said += " It is not UTF-8 text: save it as UTF-8 (in a spreadsheet: CSV UTF-8)."
        elif reader == "csv" and "detect the CSV" in str(error):
            said = _uneven(path) or said
        raise InputError(f"{source} cannot be read as {reader.upper()}: {said}") from None
    finally:
        connection.close()


def csv_dialect(relation: Relation, path: str) -> Dialect:
    """How a CSV file is written, as it is read."""
    call = _call(path, "csv").replace("read_csv", "sniff_csv", 1)
    asked = "Delimiter, Quote, Escape, DateFormat, TimestampFormat"
    delimiter, quote, escape, date, time = relation.row(f"SELECT {asked} FROM {call}")
    return Dialect(
        delimiter=delimiter,
        quote="" if quote == _EMPTY else quote,
        escape="" if escape == _EMPTY else escape,
        date=date,
        time=time,
    )


def are_lines(relation: Relation, path: str) -> bool:
    """Whether a JSON file has one object per line."""
    import duckdb

    lines = f"{_call(path, 'json')[:-1]}, format='newline_delimited', records=true)"
    try:
        described = relation.connection.execute(f"DESCRIBE SELECT * FROM {lines}").fetchall()
    except duckdb.Error:
        return False
    return [str(row[0]) for row in described] == list(relation.columns)


def _open(connection: duckdb.DuckDBPyConnection, path: str, reader: str, source: str) -> Relation:
    """The file as something to select from, with the names that its columns have in the file."""
    call = _call(path, reader)
    described = connection.execute(f"DESCRIBE SELECT * FROM {call}").fetchall()
    types = [(str(row[0]), str(row[1])) for row in described]
    names = _names_in_file(connection, path, reader, [name for name, _ in types])
    check_names(names, source)
    if reader == "csv" and len(names) == 1:
        _check_header(names[0], path, source)
        if "," in names[0]:
            _check_lines(connection, call, names[0])
    columns = {
        name: _precise(connection, call, identifier(sql)) if kind in _LONG else (identifier(sql), kind)
        for name, (sql, kind) in zip(names, types, strict=True)
    }
    return Relation(connection=connection, sql=call, columns=columns, source=source, is_cheap=reader == "parquet")


def _may_be_large(relation: Relation, path: str, reader: str, reading: Reading) -> bool:
    """Whether the file is large; of text files, whether their size suggests it."""
    n_columns = len(relation.columns if reading.needed is None else reading.needed)
    if reader == "parquet":
        return reading.is_large(relation.count(), n_columns)
    packed = path.rsplit(".", 1)[-1].casefold() in _COMPRESSION
    rows = os.path.getsize(path) * (_PACKED if packed else 1) // (_BYTES_PER_FIELD * max(len(relation.columns), 1))
    return reading.is_large(rows, n_columns)


def _is_windows(path: str) -> bool:
    """Whether a text file is not UTF-8 and may be what Windows wrote: its bytes are characters there, and none is 0."""
    if not os.path.isfile(path) or _reader(path) != "csv" or not _is_foreign(path, "csv"):
        return False
    try:
        with open(path, encoding="cp1252") as file:
            return not any("\0" in piece for piece in iter(lambda: file.read(2**20), ""))
    except UnicodeDecodeError:
        return False


def _as_utf8(path: str, folder: str) -> str:
    """A copy of such a file in UTF-8, under its own name."""
    copy = os.path.join(folder, os.path.basename(path))
    with open(path, encoding="cp1252", newline="") as old, open(copy, "w", encoding="utf-8", newline="") as new:
        shutil.copyfileobj(old, new)
    return copy


def _is_foreign(path: str, reader: str) -> bool:
    """Whether a text file is not UTF-8, the usual cause of a file that cannot be read."""
    if reader == "parquet" or path.rsplit(".", 1)[-1].casefold() in _COMPRESSION:
        return False
    try:
        with open(path, encoding="utf-8") as file:
            for _ in file:
                pass
    except UnicodeDecodeError:
        return True
    return False


def _uneven(path: str) -> str:
    """The first line of a CSV file that has more or fewer fields than its header, in words; empty if there is none."""
    if path.rsplit(".", 1)[-1].casefold() in _COMPRESSION:
        return ""
    with open(path, encoding="utf-8-sig", newline="") as file:
        header = file.readline()
        delimiter = max(",;\t|", key=header.count)
        file.seek(0)
        lines = csv.reader(file, delimiter=delimiter)
        try:
            n = len(next(lines))
            for fields in lines:
                if fields and len(fields) != n:
                    return f"line {lines.line_num:,} has {len(fields):,} fields, and the header has {n:,}."
        except csv.Error:
            return ""
    return ""


def _has_tabs(path: str) -> bool:
    """Whether tabs separate the columns of a text file, by its ending."""
    return re.search(r"\.(tsv|tab)(\.\w+)?$", path, re.IGNORECASE) is not None


def _reader(path: str) -> str:
    if os.path.isdir(path):
        raise InputError(f"{shorten(path)!r} is a folder; give a file")
    refuse_pipe(path)
    if not os.path.exists(path):
        folder = os.path.dirname(path) or "."
        files = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        hint = nearest(os.path.basename(path), files) if files else "Its folder does not exist or is empty."
        raise InputError(f"there is no file {shorten(path, 120)!r}. {hint}")
    try:
        path.encode()
    except UnicodeEncodeError:
        raise InputError(f"the name of the file {path!r} is not valid UTF-8; rename it") from None
    parts = os.path.basename(path).casefold().split(".")
    if parts[-1] in _COMPRESSION:
        parts.pop()
    if len(parts) < 2 or parts[-1] not in _READERS:
        raise InputError(
            f"cannot tell the format of {shorten(path, 120)!r} by its ending. Known endings: "
            f"{', '.join('.' + ending for ending in _READERS)}, each also with .gz or .zst (except Parquet)."
        )
    return _READERS[parts[-1]]


def readable_ending(name: str) -> str:
    """The ending by which a file of this name is read; empty where it is not.

    >>> readable_ending("A.CSV.gz"), readable_ending("book.xlsx"), readable_ending("notes.doc")
    ('csv.gz', 'xlsx', '')
    """
    parts = name.casefold().split(".")[1:]
    packed = parts[-1:] if parts and parts[-1] in _COMPRESSION else []
    kind = parts[: len(parts) - len(packed)][-1:]
    if not packed and kind and kind[0] in BOOKS:
        return kind[0]
    return ".".join([*kind, *packed]) if kind and kind[0] in _READERS else ""


def refuse_pipe(path: str) -> None:
    """Raises for a pipe or a device: it cannot be read twice, and nobody could say later what was in it."""
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        raise InputError(f"{shorten(path, 120)!r} is a pipe or a device; write its output to a file first")


def absolute(path: str) -> str:
    """The path from the root on, with nothing resolved: libraries take a leading ~ for the home folder."""
    return path if os.path.isabs(path) else os.path.join(os.getcwd(), path)


def as_pattern(path: str) -> str:
    """A path for DuckDB. Characters that would be a pattern stand for themselves."""
    return literal(re.sub(r"([*?\[])", r"[\1]", absolute(path)))


def own_columns(path: str) -> str:
    """The first arguments of DuckDB's readers: the file, and that a folder such as sex=F adds or replaces no column."""
    return f"{as_pattern(path)}, hive_partitioning=false"


def _call(path: str, reader: str) -> str:
    """The table function that reads the file."""
    name = own_columns(path)
    if reader == "parquet":
        return f"read_parquet({name})"
    compression = _COMPRESSION.get(path.rsplit(".", 1)[-1].casefold())
    packed = f", compression={literal(compression)}" if compression else ""
    if reader == "json":
        return f"read_json({name}, sample_size=-1{packed})"
    tabs = ", delim='\t'" if _has_tabs(path) else ""
    # Every line counts: none is a comment or to be skipped. Yes and no stay words.
    return f"read_csv({name}, {_TYPED}, skip=0, comment=''{tabs}{packed})"


def _names_in_file(connection: duckdb.DuckDBPyConnection, path: str, reader: str, names: list[str]) -> list[str]:
    """The column names as they stand in the file: DuckDB renames repeated ones (of any case) without a word."""
    if reader == "json":
        return names
    if reader == "parquet":
        schema = connection.execute(f"SELECT name, num_children FROM parquet_schema({as_pattern(path)})")
        row: tuple[Any, ...] | None = _top_level(schema.fetchall())
    else:
        call = _call(path, reader).replace(_TYPED, "header=false, all_varchar=true")
        row = connection.execute(f"SELECT * FROM {call} LIMIT 1").fetchone()
    if row is None or len(row) != len(names):
        return names
    return [name if raw is None else str(raw) for raw, name in zip(row, names, strict=True)]


def _check_header(header: str, path: str, source: str) -> None:
    """Raises where the header of a file of tabs has none, but what separates columns elsewhere."""
    found = next((name for sign, name in _SEPARATORS.items() if sign in header), None)
    if found and _has_tabs(path):
        raise InputError(
            f"{source} has {found} in its header and no tabs, which separate columns in .tsv and .tab files: give it a "
            "name that ends in .csv"
        )


def _check_lines(connection: duckdb.DuckDBPyConnection, call: str, header: str) -> None:
    """Raises where lines differ in length: DuckDB then takes the whole line for one column, without a word."""
    import duckdb

    commas = f"{call[:-1]}, delim=',', quote='\"', escape='\"')"
    try:
        connection.execute(f"SELECT count(*) FROM {commas}").fetchall()
    except duckdb.Error:
        columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(header.count(",") + 1))
        fixed = commas.replace(_TYPED, f"header=true, auto_detect=false, columns={{{columns}}}").replace(
            ", comment=''", ""
        )
        connection.execute(f"SELECT count(*) FROM {fixed}").fetchall()
        raise


def _top_level(schema: list[tuple[str, int | None]]) -> tuple[str, ...]:
    """The names of the columns in a Parquet schema, which lists the tree of nested fields in preorder."""
    names, at = [], 1
    while at < len(schema):
        names.append(schema[at][0])
        open_fields = 1
        while open_fields:
            open_fields += (schema[at][1] or 0) - 1
            at += 1
    return tuple(names)
