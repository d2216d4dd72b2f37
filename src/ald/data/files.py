"""Files, read by DuckDB: CSV, TSV (plain, gzip, zstd), Parquet, JSON lines. The only module that touches it."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ald.data.columns import MISSING_WORDS, Column, from_levels, from_numbers, parse_numbers
from ald.data.table import Table, check_names, table_from
from ald.errors import ColumnError, InputError, nearest, shorten

if TYPE_CHECKING:
    import duckdb

_READERS = {
    "csv": "csv", "tsv": "csv", "tab": "csv", "txt": "csv",
    "parquet": "parquet", "pq": "parquet",
    "jsonl": "json", "ndjson": "json", "json": "json",
}  # fmt: skip
_COMPRESSION = {"gz": "gzip", "zst": "zstd"}

_DECIMAL_COMMA = re.compile(r"[-+]?\d+(,\d+)?")
_NUMBER_TYPES = re.compile(r"(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL\([\d, ]+\))$")
_TIME_TYPES = re.compile(r"TIMESTAMP[A-Z_ ]*$")

# How CSV files are typed: by all their rows. Words such as yes, no, t and f are not turned into true and false.
_TYPED = (
    "header=true, sample_size=-1, "
    "auto_type_candidates=['NULL', 'BIGINT', 'DOUBLE', 'TIME', 'DATE', 'TIMESTAMP', 'TIMESTAMPTZ', 'VARCHAR']"
)


def read_file(path: str, only: Sequence[str] | None = None) -> Table:
    """The file as a table of all columns, or of only some."""
    import duckdb

    reader, source = _reader(path), f"the file {shorten(os.path.basename(path))!r}"
    if os.path.getsize(path) == 0:
        raise InputError(f"{source} is empty: it has no columns")
    connection = duckdb.connect(config={"autoinstall_known_extensions": False})
    try:
        call = _call(path, reader)
        described = connection.execute(f"DESCRIBE SELECT * FROM {call}").fetchall()
        types = [(str(row[0]), str(row[1])) for row in described]
        names = _names_in_file(connection, path, reader, [name for name, _ in types])
        check_names(names, source)
        if reader == "csv" and len(names) == 1 and "," in names[0]:
            _check_lines(connection, call, names[0])
        chosen = dict(zip(names, types, strict=True))
        if only is not None:
            for name in only:
                if name not in chosen:
                    raise ColumnError(f"there is no column {shorten(name)!r} in {source}. {nearest(name, chosen)}")
            chosen = {name: chosen[name] for name in only}
        selected = ", ".join(f"{_identifier(sql)} AS c{i}" for i, (sql, _) in enumerate(chosen.values()))
        connection.execute(f"CREATE TEMP TABLE t AS SELECT {selected or '1 AS c0'} FROM {call}")
        columns = [_column(connection, f"c{i}", name, kind) for i, (name, (_, kind)) in enumerate(chosen.items())]
        if not columns:
            count = connection.execute("SELECT count(*) FROM t").fetchone()
            return Table(columns={}, n_rows=int(count[0]) if count else 0, source=source)
        return table_from(columns, source)
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except duckdb.Error as error:
        lines = [line.strip() for line in str(error).splitlines()[:4]]
        reason = "; ".join(line for line in lines if line and not line.startswith(("LINE ", "^")))
        hint = (
            " It is not UTF-8 text: save it as UTF-8 (in a spreadsheet: CSV UTF-8)."
            if _is_foreign(path, reader)
            else ""
        )
        raise InputError(f"{source} cannot be read as {reader.upper()}: {shorten(reason, 300)}{hint}") from None
    finally:
        connection.close()


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


def _reader(path: str) -> str:
    if os.path.isdir(path):
        raise InputError(f"{shorten(path)!r} is a folder; give a file")
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
            f"{', '.join('.' + ending for ending in _READERS)}, each also with .gz or .zst (but Parquet)."
        )
    return _READERS[parts[-1]]


def _call(path: str, reader: str) -> str:
    """The table function that reads the file. Characters that would be a pattern stand for themselves."""
    literal = _literal(re.sub(r"([*?\[])", r"[\1]", path))
    if reader == "parquet":
        return f"read_parquet({literal})"
    compression = _COMPRESSION.get(path.rsplit(".", 1)[-1].casefold())
    packed = f", compression={_literal(compression)}" if compression else ""
    if reader == "json":
        return f"read_json({literal}, sample_size=-1{packed})"
    tabs = ", delim='\t'" if re.search(r"\.(tsv|tab)(\.\w+)?$", path, re.IGNORECASE) else ""
    # Every line counts: none is a comment or to be skipped. Yes and no stay words.
    return f"read_csv({literal}, {_TYPED}, skip=0, comment=''{tabs}{packed})"


def _names_in_file(connection: duckdb.DuckDBPyConnection, path: str, reader: str, names: list[str]) -> list[str]:
    """The column names as they stand in the file: DuckDB renames repeated ones (of any case) without a word."""
    call = _call(path, reader)
    if reader == "json":
        return names
    if reader == "parquet":
        schema = connection.execute(call.replace("read_parquet", "SELECT name, num_children FROM parquet_schema", 1))
        row: tuple[Any, ...] | None = _top_level(schema.fetchall())
    else:
        call = call.replace(_TYPED, "header=false, all_varchar=true")
        row = connection.execute(f"SELECT * FROM {call} LIMIT 1").fetchone()
    if row is None or len(row) != len(names):
        return names
    return [name if raw is None else str(raw) for raw, name in zip(row, names, strict=True)]


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


def _column(connection: duckdb.DuckDBPyConnection, sql: str, name: str, kind: str) -> Column:
    if _NUMBER_TYPES.match(kind):
        expression = f"CAST({sql} AS DOUBLE)" if kind.startswith(("DECIMAL", "HUGE", "UHUGE")) else sql
        return _from_masked(name, _fetch(connection, expression), "numeric")
    if kind == "BOOLEAN":
        codes = np.ma.filled(_fetch(connection, f"CAST({sql} AS TINYINT)").astype(np.int64), -1)
        return from_levels(name, codes, ["False", "True"], kind="boolean")
    if kind == "DATE":
        return _from_masked(name, _fetch(connection, _finite(sql, f"{sql} - DATE '1970-01-01'")), "date")
    if _TIME_TYPES.match(kind):
        return _from_masked(name, _fetch(connection, _finite(sql, f"epoch_us({sql})")), "datetime")
    # Words: DuckDB's own enumeration codes them, in code-point order.
    text = f"({sql} ->> '$')" if kind == "JSON" else f"CAST({sql} AS VARCHAR)"
    query = f"SELECT DISTINCT {text} AS level FROM t WHERE {sql} IS NOT NULL ORDER BY level"
    levels = [row[0] for row in connection.execute(query).fetchall()]
    if not levels:
        n_rows = len(_fetch(connection, "1"))
        return from_levels(name, np.full(n_rows, -1), [])
    connection.execute(f"CREATE TEMP TYPE e_{sql} AS ENUM ({query})")
    codes = np.ma.filled(_fetch(connection, f"enum_code(CAST({text} AS e_{sql}))").astype(np.int64), -1)
    column = from_levels(name, codes, levels)
    if {word.casefold() for word in levels} <= {"true", "false"}:
        truth = np.array([word.casefold() == "true" for word in column.levels] + [-1], dtype=np.int64)
        return from_levels(name, truth[column.codes], ["False", "True"], kind="boolean")
    return _numbers_in_words(column)


def _finite(sql: str, number: str) -> str:
    """The number as it is, or infinity for the infinite dates that DuckDB knows."""
    return f"CASE WHEN isinf({sql}) THEN 'inf'::DOUBLE ELSE CAST({number} AS DOUBLE) END"


def _decimal_commas(column: Column) -> Column:
    """The column with its decimal commas as points, if all its values are such numbers; with a note.

    If every comma is followed by three digits, it may as well separate thousands: such words stay as they are.
    """
    words = [word for word in column.levels if word.strip().casefold() not in MISSING_WORDS]
    commas = [word for word in words if "," in word]
    if not all(_DECIMAL_COMMA.fullmatch(word.strip()) for word in words):
        return column
    if all(len(word.strip().partition(",")[2]) == 3 for word in commas):
        return column
    numbers = parse_numbers([word.replace(",", ".") for word in column.levels])
    assert numbers is not None
    note = f"column {shorten(column.name)!r} was read as numbers with decimal commas, such as {commas[0]!r}"
    return replace(from_numbers(column.name, np.append(numbers, np.nan)[column.codes]), notes=(note,))


def _numbers_in_words(column: Column) -> Column:
    """A column of numbers in which words such as "NA" stand for missing values becomes numeric, with a note."""
    column = _decimal_commas(column)
    if column.values is not None:
        return column
    words = [word for word in column.levels if word.strip().casefold() in MISSING_WORDS]
    if not words or len(words) == len(column.levels) or parse_numbers(column.levels) is None:
        return column
    n = int(np.isin(column.codes, [column.levels.index(word) for word in words]).sum())
    shown = ", ".join(repr(word) for word in words)
    note = f"{n:,} values of column {shorten(column.name)!r} ({shown}) were read as missing, all others are numbers"
    return replace(column.as_kind("numeric"), notes=(note,))


def _fetch(
    connection: duckdb.DuckDBPyConnection, expression: str
) -> np.ma.MaskedArray[tuple[int], np.dtype[np.float64]]:
    return np.ma.asarray(connection.execute(f"SELECT {expression} AS x FROM t").fetchnumpy()["x"])


def _from_masked(name: str, values: np.ma.MaskedArray[tuple[int], np.dtype[np.float64]], kind: str) -> Column:
    return from_numbers(name, np.ma.getdata(values), kind, np.ma.getmaskarray(values))


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
