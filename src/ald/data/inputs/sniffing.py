"""What our own reader finds in a text file, for engines that read the same file: its dialect, and how texts are values.

Engines split CSV and JSON lines into texts, and DuckDB makes values of them on every partition, as it does of whole
files: kinds and missing values agree by construction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from ald.data.columns import infinite_note
from ald.data.inputs.files import Dialect, are_lines, csv_dialect, open_file, own_columns
from ald.data.inputs.relation import MISSING, Relation, as_text, column, connect, in_words, literal, measure
from ald.data.words import ADORNMENT, SIGNS, decimal_commas, numbers_of
from ald.errors import InputError

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

Kind = Literal["integer", "number", "boolean", "date", "time", "words"]
_INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
_WORDS = ("VARCHAR", "JSON")
_SPACE = "' ' || chr(9) || chr(10) || chr(13)"


@dataclass(frozen=True, kw_only=True)
class TextColumn:
    """A column: what it holds, the SQL that makes its value of a text (`text`), and what is to be said of it."""

    name: str
    kind: Kind
    sql: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class TextFile:
    """How to read a text file.

    Of a CSV file the texts are the columns t0, t1, ...; of JSON lines there is one, the line. quote: empty if nothing
    is quoted. has_breaks: whether a quoted value goes over several lines.
    """

    reader: Literal["csv", "json"]
    columns: tuple[TextColumn, ...]
    delimiter: str = ","
    quote: str = ""
    escape: str = ""
    has_breaks: bool = False

    @property
    def texts(self) -> list[str]:
        """The names of the columns of text."""
        return ["line"] if self.reader == "json" else [f"t{i}" for i in range(len(self.columns))]

    @property
    def notes(self) -> dict[str, tuple[str, ...]]:
        """What is to be said of the columns, by their names."""
        return {each.name: each.notes for each in self.columns if each.notes}

    def values(self, texts: pa.Table) -> pa.Table:
        """The values, as c0, c1, ..., of a table of texts."""
        with _worker() as connection:
            connection.register("texts", texts.rename_columns(self.texts))
            return connection.sql(self._select("texts")).to_arrow_table()

    def read_all(self, path: str) -> pa.Table:
        """The values of a whole file."""
        with _worker() as connection:
            return connection.sql(self._select(self._call(path))).to_arrow_table()

    def _select(self, source: str) -> str:
        empty = " WHERE trim(line) <> ''" if self.reader == "json" and source == "texts" else ""
        return f"SELECT {', '.join(f'{one.sql} AS c{i}' for i, one in enumerate(self.columns))} FROM {source}{empty}"

    def _call(self, path: str) -> str:
        if self.reader == "json":
            call = f"read_json_objects({own_columns(path)}, format='newline_delimited')"
            return f"(SELECT CAST(json AS VARCHAR) AS line FROM {call})"
        columns = ", ".join(f"{text}: 'VARCHAR'" for text in self.texts)
        dialect = {"delim": self.delimiter, "quote": self.quote, "escape": self.escape}
        said = ", ".join(f"{option}={literal(value)}" for option, value in dialect.items())
        return f"read_csv({own_columns(path)}, auto_detect=false, header=true, {said}, columns={{{columns}}})"


@contextmanager
def _worker() -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection for one partition: others are at work beside it."""
    import duckdb

    connection = connect()
    try:
        connection.execute("SET threads = 1")
        yield connection
    except duckdb.Error as error:
        raise InputError(f"the file cannot be read: {in_words(error)}") from None
    finally:
        connection.close()


def sniff(path: str) -> TextFile:
    """What our reader finds in a text file. It reads all of it, as it does without an engine."""
    with open_file(path) as (relation, reader):
        seen = _look(relation)
        if reader == "json":
            if not are_lines(relation, path):
                raise InputError(f"{relation.source} is not JSON lines: an engine reads files of one object per line")
            texts = {name: f"json_extract_string(line, {_pointer(name)})" for name in relation.columns}
            columns = tuple(_column(relation, name, text, seen) for name, text in texts.items())
            return TextFile(reader="json", columns=columns)
        dialect = csv_dialect(relation, path)
        texts = {name: f"nullif(t{i}, '')" for i, name in enumerate(relation.columns)}
        return TextFile(
            reader="csv",
            columns=tuple(_column(relation, name, text, seen, dialect) for name, text in texts.items()),
            delimiter=dialect.delimiter,
            quote=dialect.quote,
            escape=dialect.escape,
            has_breaks=seen.has_breaks or any("\n" in name or "\r" in name for name in relation.columns),
        )


def _pointer(name: str) -> str:
    """A key of a JSON object as DuckDB asks for it, whatever is in its name."""
    return literal("/" + name.replace("~", "~0").replace("/", "~1"))


@dataclass(frozen=True, kw_only=True)
class _Seen:
    """What one look at all rows says.

    more: the columns of words that may be numbers or truth values. has_breaks: whether a word has a line break.
    infinite: rows with an infinite date or time, by column.
    """

    more: frozenset[str]
    has_breaks: bool
    infinite: Mapping[str, int]


def _look(relation: Relation) -> _Seen:
    words = [name for name, (_, kind) in relation.columns.items() if kind in _WORDS]
    times = [name for name, (_, kind) in relation.columns.items() if kind.startswith(("DATE", "TIMESTAMP"))]
    asked = ["count(*)"]
    for name in words:
        text = as_text(*relation.columns[name])
        asked += [
            f"bool_and(lower(trim({text}, {_SPACE})) IN ({MISSING}, 'true', 'false') "
            f"OR regexp_matches({text}, '^\\s*[-+{SIGNS}\\s]*([0-9.]|inf)', 'i'))",
            f"bool_or(regexp_matches({text}, '[\\n\\r]'))",
        ]
    asked += [f"count(*) FILTER (isinf({relation.columns[name][0]}))" for name in times]
    _, *found = relation.row(f"SELECT {', '.join(asked)} FROM {relation.sql}")
    of_words, of_times = found[: 2 * len(words)], found[2 * len(words) :]
    return _Seen(
        more=frozenset(name for name, may in zip(words, of_words[::2], strict=True) if may),
        has_breaks=any(of_words[1::2]),
        infinite=dict(zip(times, of_times, strict=True)),
    )


def _column(relation: Relation, name: str, text: str, seen: _Seen, dialect: Dialect | None = None) -> TextColumn:
    """How a text becomes the value that our reader makes of it."""
    kind = relation.columns[name][1]
    if kind in _WORDS:
        return _from_words(relation, name, text) if name in seen.more else TextColumn(name=name, kind="words", sql=text)
    if kind == '"NULL"':
        return TextColumn(name=name, kind="words", sql="CAST(NULL AS VARCHAR)")
    if kind == "BOOLEAN":
        return TextColumn(name=name, kind="boolean", sql=f"CAST({text} AS BOOLEAN)")
    if name in seen.infinite:
        return _time(name, text, kind, seen.infinite[name], dialect)
    if measure("", kind) is None:  # times of the day, and what is nested: words, as DuckDB writes them
        inner = text.replace("json_extract_string", "json_extract", 1) if kind.endswith((")", "]")) else text
        return TextColumn(name=name, kind="words", sql=f"CAST(CAST({inner} AS {kind}) AS VARCHAR)")
    if kind in _INTEGERS:
        return TextColumn(name=name, kind="integer", sql=f"CAST({text} AS BIGINT)")
    return TextColumn(name=name, kind="number", sql=f"CAST({text} AS DOUBLE)")


def _time(name: str, text: str, kind: str, infinite: int, dialect: Dialect | None) -> TextColumn:
    """A column of dates or times; those with a zone become times of UTC. No engine has infinite ones."""
    form = None if dialect is None else dialect.date if kind == "DATE" else dialect.time
    if form is not None and kind.endswith("ZONE") and "%z" not in form.casefold():
        form = None  # that form is of another column
    value = f"CAST({text} AS {kind})" if form is None else f"CAST(strptime({text}, {literal(form)}) AS {kind})"
    finite = f"CASE WHEN isinf({value}) THEN NULL ELSE {value} END"
    return TextColumn(
        name=name,
        kind="date" if kind == "DATE" else "time",
        sql=finite if kind == "DATE" else f"make_timestamp(epoch_us({finite}))",
        notes=(infinite_note(name, infinite),) if infinite else (),
    )


def _from_words(relation: Relation, name: str, text: str) -> TextColumn:
    """A column of words that our reader may turn into numbers or truth values: it is asked, with every word once."""
    sql, kind = relation.columns[name]
    relation.connection.execute(
        f"CREATE OR REPLACE TEMP TABLE words AS SELECT {as_text(sql, kind)} AS c0, count(*) AS n "
        f"FROM {relation.sql} GROUP BY ALL"
    )
    once = replace(relation, sql="words", columns={name: ("c0", "VARCHAR")})
    counts = np.asarray(once.fetch("SELECT n FROM words"), np.int64)
    words = column(once, name, counts)
    found = numbers_of(words, counts)
    if found.kind == "boolean":
        return TextColumn(name=name, kind="boolean", sql=f"lower({text}) = 'true'")
    if found.values is None:
        return TextColumn(name=name, kind="words", sql=text)
    trimmed = f"trim({text}, {_SPACE})"
    point = "." if decimal_commas(words.levels) else ""
    bare = f"regexp_replace(replace({trimmed}, ',', '{point}'), {literal(ADORNMENT)}, '', 'g')"
    number = f"CAST({bare} AS DOUBLE)"
    return TextColumn(
        name=name,
        kind="number",
        sql=f"CASE WHEN lower({trimmed}) IN ({MISSING}) THEN NULL ELSE {number} END",
        notes=found.notes,
    )
