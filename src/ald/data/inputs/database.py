"""Databases: the result of a query on PostgreSQL, in batches through ADBC. The query cannot write."""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from contextlib import closing, suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ald._core.threads import ahead
from ald.data.inputs.addresses import is_broken, is_postgresql, mask_secrets, spell_scheme, without_secrets
from ald.data.inputs.reading import Reading
from ald.data.inputs.reduction import reduce_relation
from ald.data.inputs.relation import ROWS, Relation, connect, in_words, interrupts, read_all, workspace
from ald.data.table import Table, check_names
from ald.errors import InputError, SettingError, needed_extra, shorten

if TYPE_CHECKING:
    import duckdb

# Types that the driver reads. Of all others it gives the bytes that the server sends, and of money the cents.
_READ = frozenset((
    "bool", "int2", "int4", "int8", "float4", "float8", "numeric", "text", "varchar", "bpchar", "name", "char", "date",
    "timestamp", "timestamptz", "time", "json", "jsonb", "bytea",
))  # fmt: skip
# No date or time of PostgreSQL is earlier. Infinite ones overflow in the driver, to times before it.
_EARLIEST = "4714-11-24 (BC)"

_ONLY = "only one SELECT, VALUES, WITH or TABLE that writes nothing can be read, and nothing after a semicolon"
_NO_WRITING = ". Queries may not write: run what writes before the audit, and select from its result."
_BROKEN = (
    "the address cannot be understood. Characters such as @ : / % and spaces must be percent-encoded in a password, or "
    "give it by the variable PGPASSWORD."
)
# SQLSTATE of what can be prepared but not selected from: EXPLAIN, DELETE ... RETURNING; and WITH ... DELETE.
_SYNTAX_ERROR, _UNSUPPORTED = "42601", "0A000"


def read_query(
    address: str, query: str | None, only: Sequence[str] | None = None, reading: Reading | None = None
) -> Table:
    """The result of a query as a table; reduced to counts if it is large and `reading` says how."""
    import duckdb

    shown = mask_secrets(address)
    if not is_postgresql(address):
        raise InputError(
            f"cannot read from {shown!r}: the only database supported is PostgreSQL (postgresql://user@host/name)"
        )
    if query is None or not query.strip():
        raise SettingError(
            f"say what to select from {shown!r}: ald.source(address, query='select ...') (command line: --query "
            "'select ...')"
        )
    source = f"the result of the query on {shown}"
    reading = reading or Reading()
    connection = connect()
    try:
        with interrupts(connection), workspace(connection, reading.memory) as folder:
            relation = _fetch(connection, address, query, source).without(reading.excluded)
            rows = relation.count()
            if rows == 0:
                raise InputError(f"{source} has no rows")
            if reading.is_large(rows, len(relation.columns)):
                return reduce_relation(relation, reading, folder)
            return read_all(relation, only)
    except duckdb.Error as error:
        raise InputError(f"{source} cannot be read: {without_secrets(in_words(error), address)}") from None
    finally:
        connection.close()


def _fetch(connection: duckdb.DuckDBPyConnection, address: str, query: str, source: str) -> Relation:
    """The rows in a table of ours, batch by batch."""
    servers: list[Any] = []
    with closing(ahead(_answer(address, query, source, servers), lambda: _cancel(servers))) as answer:
        names, empty = next(answer)
        # By position: DuckDB does not tell names of different case apart.
        numbered = ", ".join(f"b{i}" for i in range(len(names)))
        selected = ", ".join(_select(i, field) for i, field in enumerate(empty.schema))
        selection = f"SELECT {selected} FROM batch AS batch({numbered})"
        connection.register("batch", empty)
        connection.execute(f"CREATE TABLE {ROWS} AS {selection}")
        for batch in answer:
            connection.register("batch", type(empty).from_batches([batch]))
            connection.execute(f"INSERT INTO {ROWS} {selection}")
        connection.unregister("batch")
    described = connection.execute(f"DESCRIBE {ROWS}").fetchall()
    columns = {name: (str(row[0]), str(row[1])) for name, row in zip(names, described, strict=True)}
    return Relation(connection=connection, sql=ROWS, columns=columns, source=source, is_cheap=True)


def _answer(address: str, query: str, source: str, servers: list[Any]) -> Generator[Any, None, None]:
    """What the server answers: the names of the columns with an empty table of them, then batches of rows.

    servers: gets the connection, by which another thread can cancel what it does.
    """
    try:
        import adbc_driver_postgresql.dbapi as postgresql
    except ModuleNotFoundError:
        raise needed_extra("databases", "sql") from None
    if find_spec("pyarrow") is None:  # the driver gives batches as its objects
        raise needed_extra("databases", "sql")
    try:
        server = postgresql.connect(spell_scheme(address))
    except postgresql.Error as error:
        # Of a broken address the driver may take any part of the password for a host or a port, and show it.
        why = _BROKEN if is_broken(address) else _reason(error, address)
        raise InputError(f"cannot connect to {mask_secrets(address)}: {why}") from None
    servers.append(server)
    fields = None
    with server, server.cursor() as cursor:
        try:
            cursor.execute("SET TRANSACTION READ ONLY")
            fields = cursor.adbc_execute_schema(query)
            _check_fields(fields, source)
            cursor.execute(_cast(query, fields))
            batches = cursor.fetch_record_batch()
            yield [str(name) for name in fields.names], batches.schema.empty_table()
            yield from batches
        except InputError:
            raise
        except (postgresql.Error, OSError, ValueError) as error:  # the last two are those of batches
            failure = _failure(error, address, is_known=fields is not None)
            raise InputError(f"the query on {mask_secrets(address)} failed: {failure}") from None


def _check_fields(fields: Any, source: str) -> None:
    """Raises where the result of a query has no columns, or several of one name."""
    if not fields.names:
        raise InputError(f"{source} has no columns: give a query that returns rows (SELECT, VALUES, WITH or TABLE)")
    check_names([str(name) for name in fields.names], source)


def _cast(query: str, fields: Any) -> str:
    """The query with columns as text where the driver does not read their type. It may end in a comment."""
    numbered = ", ".join(f"c{i}" for i in range(len(fields)))
    selected = ", ".join(f"c{i}{_as_read(field)}" for i, field in enumerate(fields))
    return f"SELECT {selected} FROM (\n{query.rstrip().rstrip(';')}\n) AS q({numbered})"


def _as_read(field: Any) -> str:
    """The cast that a column needs."""
    kind = _type(field)
    return "" if kind in _READ or not kind else "::numeric" if kind == "money" else "::text"


def _select(i: int, field: Any) -> str:
    """A column of the batches as we keep it: the driver gives decimal numbers as text, and infinite times wrong."""
    kind = _type(field)
    if kind == "numeric":
        return f"TRY_CAST(b{i} AS DOUBLE) AS c{i}"
    if str(field.type).startswith(("date", "timestamp")):
        own = f"cast_to_type('infinity', b{i})"
        return f"CASE WHEN b{i} < TIMESTAMP '{_EARLIEST}' THEN {own} ELSE b{i} END AS c{i}"
    return f"b{i} AS c{i}"


def _type(field: Any) -> str:
    """The server's name of a column's type; older drivers give it only where they do not read the type."""
    known = field.metadata or {}
    return str(known.get(b"POSTGRESQL:type", known.get(b"ADBC:postgresql:typname", b"")).decode())


def _cancel(servers: list[Any]) -> None:
    """Makes the server stop what it does, if it listens."""
    for server in servers:
        with suppress(server.Error):
            server.adbc_cancel()


def _failure(error: Exception, address: str, *, is_known: bool) -> str:
    """Why a query failed. is_known: the server knows its columns; what is no syntax to it now is no SELECT."""
    state = getattr(error, "sqlstate", None)
    if is_known and state == _SYNTAX_ERROR:
        return _ONLY
    reason = _reason(error, address)
    if "read-only transaction" in reason:  # errors of batches have no SQLSTATE
        return reason + _NO_WRITING
    return f"{reason}; {_ONLY}" if state == _UNSUPPORTED else reason


def _reason(error: Exception, address: str) -> str:
    """What the server or the driver says, in one line without secrets."""
    text = str(error)
    said = re.search(r"\w+:  (.*)", text)  # as in "ERROR:  division by zero", in the language of the server
    own = re.sub(r"^([A-Z_]+: )?(\[libpq\] )?(Failed to connect: )?", "", text).strip().split("\n")[0]
    return shorten(without_secrets(said[1] if said else own, address), 300)
