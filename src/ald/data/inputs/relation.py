"""Anything that DuckDB can select from, and how its columns become ours."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ald._core.arrays import IntArray
from ald._core.leftovers import to_be_removed
from ald._core.threads import on_interrupt
from ald.data.columns import MISSING_WORDS, Column, from_levels, from_numbers
from ald.data.table import Table, names_to_read, table_from
from ald.errors import ColumnError, nearest, shorten

if TYPE_CHECKING:
    import duckdb

# Columns of a table that are fetched one by one; of more, so many at once.
_WIDE = 100
# The table of rows in a workspace.
ROWS = "kept.main.rows"

_NUMBER_TYPES = re.compile(r"(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL\([\d, ]+\))$")
# What DuckDB quotes of the data in its messages: lines of a file, up to what it says of them, and values.
_ROWS = re.compile(
    r"Original Line:(?:.*?\n(?=Expected |Error when |Invalid unicode|Value with |Possible |Maximum )|.*)", re.DOTALL
)
_VALUES = re.compile(r"""(?<=convert string )(["']).*?\1(?= to )|(?<=out of range: )(["']).*?\2""", re.DOTALL)
_TIME_TYPES = re.compile(r"TIMESTAMP[A-Z_ ]*$")


@dataclass(frozen=True, kw_only=True)
class Relation:
    """Something to select from: `columns` has the identifier and the type of every column by its name.

    is_cheap: it can be read several times; otherwise what is read more than once is better kept.
    """

    connection: duckdb.DuckDBPyConnection
    sql: str
    columns: dict[str, tuple[str, str]]
    source: str
    is_cheap: bool

    def count(self) -> int:
        """The number of rows."""
        return int(self.row(f"SELECT count(*) FROM {self.sql}")[0])

    def row(self, query: str) -> tuple[Any, ...]:
        """The one row that a query gives."""
        row = self.connection.execute(query).fetchone()
        assert row is not None
        return row

    def fetch(self, query: str) -> np.ma.MaskedArray[Any, np.dtype[Any]]:
        """The one column that a query gives."""
        (values,) = self.connection.execute(query).fetchnumpy().values()
        return np.ma.asarray(values)

    def only(self, names: Sequence[str] | None) -> Relation:
        """The relation with some of its columns."""
        if names is None:
            return self
        for name in names:
            if name not in self.columns:
                raise ColumnError(
                    f"there is no column {shorten(name)!r} in {self.source}. {nearest(name, self.columns)}"
                )
        return replace(self, columns={name: self.columns[name] for name in names})

    def without(self, excluded: Collection[str]) -> Relation:
        """The relation without some of its columns, which must be there."""
        names = names_to_read(self.columns, excluded, self.source)
        return replace(self, columns={name: self.columns[name] for name in names})

    def selection(self) -> str:
        """The columns as c0, c1, ... for a SELECT."""
        return ", ".join(f"{sql} AS c{i}" for i, (sql, _) in enumerate(self.columns.values()))

    def keep(self) -> Relation:
        """The rows in the workspace, where they are read fast, any number of times, and have numbers."""
        self.connection.execute(f"CREATE TABLE {ROWS} AS SELECT {self.selection()} FROM {self.sql}")
        return self.as_table(ROWS)

    def as_table(self, table: str) -> Relation:
        """The relation of a table that holds the columns as c0, c1, ..."""
        columns = {name: (f"c{i}", kind) for i, (name, (_, kind)) in enumerate(self.columns.items())}
        return replace(self, sql=table, columns=columns, is_cheap=True)


def connect() -> duckdb.DuckDBPyConnection:
    """A connection that fetches no extension and prints nothing: it would draw a bar where results are printed."""
    import duckdb

    connection = duckdb.connect(config={"autoinstall_known_extensions": False})
    connection.execute("SET enable_progress_bar = false")
    return connection


@contextmanager
def interrupts(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Ctrl-C while DuckDB works is Ctrl-C: it may notice late, and some versions make an error of it."""
    import duckdb

    try:
        with on_interrupt(connection.interrupt):
            yield
    except (duckdb.InterruptException, RuntimeError) as error:
        if isinstance(error, duckdb.InterruptException) or str(error) == "Query interrupted":
            raise KeyboardInterrupt from None
        raise


@contextmanager
def workspace(connection: duckdb.DuckDBPyConnection, memory: int) -> Iterator[Path]:
    """A folder where the connection keeps rows (table `ROWS`) and whatever exceeds its half of the memory."""
    import duckdb

    with tempfile.TemporaryDirectory(prefix="ald-", ignore_cleanup_errors=True) as folder, to_be_removed(folder):
        connection.execute(f"SET temp_directory = {literal(folder)}")
        connection.execute(f"SET memory_limit = '{memory // 2 // 10**6}MB'")
        connection.execute(f"ATTACH {literal(os.path.join(folder, 'rows.duckdb'))} AS kept")
        try:
            yield Path(folder)
        finally:
            try:
                connection.execute("DETACH kept")
            except duckdb.ConnectionException as error:
                # An interrupt may come where `with` calls us: then we end late, when nothing is attached any more.
                if "already closed" not in str(error):
                    raise


def read_all(relation: Relation, only: Sequence[str] | None = None) -> Table:
    """All rows as a table of all columns, or of only some."""
    relation = relation.only(only)
    if not relation.columns:
        return Table(columns={}, n_rows=relation.count(), source=relation.source)
    relation.connection.execute(f"CREATE TEMP TABLE t AS SELECT {relation.selection()} FROM {relation.sql}")
    return table_from(_in_pieces(relation.as_table("t")), relation.source)


def _in_pieces(relation: Relation) -> Iterator[Column]:
    """The columns of a table. A query takes time for each column that the table has: those of a wide one are few."""
    names = list(relation.columns)
    if len(names) <= _WIDE:
        yield from columns_of(relation)
        return
    for start in range(0, len(names), _WIDE):
        piece = relation.only(names[start : start + _WIDE])
        asked = ", ".join(f"{_value(*found)} AS c{i}" for i, found in enumerate(piece.columns.values()))
        values = relation.connection.execute(f"SELECT {asked} FROM {piece.sql}").fetchnumpy()
        for i, (name, (sql, kind)) in enumerate(piece.columns.items()):
            yield _from_values(name, np.ma.asarray(values[f"c{i}"]), sql, kind)


def _value(sql: str, kind: str) -> str:
    """The expression of a column's values as NumPy holds them."""
    number = measure(sql, kind)
    if number is not None:
        return number[0]
    return f"CAST({sql} AS TINYINT)" if kind == "BOOLEAN" else as_text(sql, kind)


def _from_values(name: str, values: np.ma.MaskedArray[Any, np.dtype[Any]], sql: str, kind: str) -> Column:
    """A column of such values."""
    number = measure(sql, kind)
    if number is not None:
        return _from_masked(name, values, number[1], None)
    if kind == "BOOLEAN":
        return _truth(name, np.ma.filled(values.astype(np.int64), -1))
    numbers: dict[str, int] = {}
    absent = np.ma.getmaskarray(values).tolist()
    texts = zip(np.ma.getdata(values).tolist(), absent, strict=True)
    codes = np.array([-1 if gone else numbers.setdefault(text, len(numbers)) for text, gone in texts], np.int64)
    return _from_texts(name, codes, list(numbers))


def _truth(name: str, codes: IntArray) -> Column:
    return from_levels(name, codes, ["False", "True"], kind="boolean")


def _from_texts(name: str, codes: IntArray, levels: list[str]) -> Column:
    """A column of words, of truth values if they are the words for these."""
    coded = from_levels(name, codes, levels)
    if levels and {word.casefold() for word in levels} <= {"true", "false"}:
        truth = np.array([word.casefold() == "true" for word in coded.levels] + [-1], dtype=np.int64)
        return _truth(name, truth[coded.codes])
    return coded


def columns_of(relation: Relation, counts: IntArray | None = None) -> list[Column]:
    """The columns of a table. counts: how many rows of the data each of its rows stands for."""
    return [column(relation, name, counts) for name in relation.columns]


def column(relation: Relation, name: str, counts: IntArray | None = None) -> Column:
    """One column, coded. counts: how many rows of the data each row of the relation stands for."""
    sql, kind = relation.columns[name]
    number = measure(sql, kind)
    if number is not None:
        return _from_masked(name, relation.fetch(f"SELECT {number[0]} FROM {relation.sql}"), number[1], counts)
    if kind == "BOOLEAN":
        return _truth(name, _codes(relation, f"CAST({sql} AS TINYINT)"))
    # Words: DuckDB's own enumeration codes them, in code-point order.
    text = as_text(sql, kind)
    query = f"SELECT DISTINCT {text} AS level FROM {relation.sql} WHERE {sql} IS NOT NULL ORDER BY level"
    levels = [row[0] for row in relation.connection.execute(query).fetchall()]
    if not levels:
        return from_levels(name, np.full(relation.count(), -1), [])
    relation.connection.execute(f"CREATE OR REPLACE TEMP TYPE levels AS ENUM ({query})")
    codes = _codes(relation, f"enum_code(CAST({text} AS levels))")
    relation.connection.execute("DROP TYPE levels")
    return _from_texts(name, codes, levels)


def measure(sql: str, kind: str) -> tuple[str, str] | None:
    """The expression of a column of this type as a number, and its kind; None if it holds truth values or words."""
    if _NUMBER_TYPES.match(kind):
        return (f"CAST({sql} AS DOUBLE)" if kind.startswith(("DECIMAL", "HUGE", "UHUGE")) else sql), "numeric"
    if kind == "DATE":
        return _finite(sql, f"{sql} - DATE '1970-01-01'"), "date"
    if _TIME_TYPES.match(kind):
        return _finite(sql, f"epoch_us({sql})"), "datetime"
    return None


def would_merge(relation: Relation, sql: str) -> bool:
    """Whether some of the different whole numbers of an expression are equal in floating point."""
    long = f"abs(CAST({sql} AS HUGEINT)) >= {2**53}"
    distinct = f"count(DISTINCT {sql}) > count(DISTINCT CAST({sql} AS DOUBLE))"
    return bool(relation.row(f"SELECT {distinct} FROM {relation.sql} WHERE {long}")[0])


def as_text(sql: str, kind: str) -> str:
    """The expression of a column of words as text."""
    return f"({sql} ->> '$')" if kind == "JSON" else f"CAST({sql} AS VARCHAR)"


def in_words(error: Exception) -> str:
    """What DuckDB says, without the lines that point into our query, and without what it quotes of the data."""
    told = _VALUES.sub("(a value)", _ROWS.sub("", str(error)))
    lines = [line.strip() for line in told.splitlines()[:4]]
    return shorten("; ".join(line for line in lines if line and not line.startswith(("LINE ", "^"))), 300)


def _codes(relation: Relation, expression: str) -> IntArray:
    values = relation.fetch(f"SELECT {expression} FROM {relation.sql}")
    return np.asarray(np.ma.filled(values.astype(np.int64), -1))


def _finite(sql: str, number: str) -> str:
    """The number as it is, or infinity for the infinite dates that DuckDB knows."""
    return f"CASE WHEN isinf({sql}) THEN 'inf'::DOUBLE ELSE CAST({number} AS DOUBLE) END"


def _from_masked(
    name: str, values: np.ma.MaskedArray[Any, np.dtype[Any]], kind: str, counts: IntArray | None
) -> Column:
    numbers, missing = np.ma.getdata(values), np.ma.getmaskarray(values)
    coded = from_numbers(name, numbers, kind, missing)
    if counts is not None and coded.n_infinite:
        return replace(coded, n_infinite=int(counts[np.isinf(numbers)].sum()))
    return coded


def identifier(name: str) -> str:
    """A name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


# The words that stand for "no value" among numbers, for IN.
MISSING = ", ".join(literal(word) for word in sorted(MISSING_WORDS))
