"""Databases: the result of a query on PostgreSQL, streamed in batches through ADBC. Passwords are never shown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ald.data.addresses import masked, secrets
from ald.data.reading import Reading
from ald.data.reduction import reduced
from ald.data.relation import ROWS, Relation, connected, in_words, whole, workspace
from ald.data.table import Table, check_names
from ald.errors import InputError, SettingError, needed_extra, shorten

if TYPE_CHECKING:
    import duckdb

_SCHEMES = ("postgresql", "postgres")


def read_query(
    address: str, query: str | None, only: Sequence[str] | None = None, reading: Reading | None = None
) -> Table:
    """The result of a query as a table; reduced to counts if it is large and `reading` says how."""
    import duckdb

    shown = masked(address)
    if address.partition(":")[0].casefold() not in _SCHEMES:
        raise InputError(f"cannot read from {shown!r}: of databases, PostgreSQL is known (postgresql://user@host/name)")
    if query is None or not query.strip():
        raise SettingError(
            f"say what to select from {shown!r}: query='select ...' (command line: --query 'select ...')"
        )
    source = f"the result of the query on {shown}"
    reading = reading or Reading()
    connection = connected()
    try:
        with workspace(connection, reading.memory) as folder:
            relation = _fetched(connection, address, query, source)
            rows = relation.count()
            if rows == 0:
                raise InputError(f"{source} has no rows")
            if reading.is_large(rows, len(relation.columns)):
                return reduced(relation, reading, folder)
            return whole(relation, only)
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except duckdb.Error as error:
        raise InputError(f"{source} cannot be read: {_without_secrets(in_words(error), address)}") from None
    finally:
        connection.close()


def _fetched(connection: duckdb.DuckDBPyConnection, address: str, query: str, source: str) -> Relation:
    """The rows in a table of ours, batch by batch."""
    try:
        import adbc_driver_postgresql.dbapi as postgresql
    except ImportError:
        raise needed_extra("databases", "sql") from None
    if find_spec("pyarrow") is None:  # the driver gives batches as its objects
        raise needed_extra("databases", "sql")
    try:
        server = postgresql.connect(address)
    except postgresql.Error as error:
        reason = _without_secrets(_reason(error), address)
        raise InputError(f"cannot connect to {masked(address)}: {reason}") from None
    with server, server.cursor() as cursor:
        try:
            cursor.execute(query)
            batches = cursor.fetch_record_batch()
            names = [str(name) for name in batches.schema.names]
            if not names:
                raise InputError(f"{source} has no columns: the query must select something")
            check_names(names, source)
            selected = ", ".join(_selected(i, field) for i, field in enumerate(batches.schema))
            # By position: DuckDB does not tell names of different case apart.
            numbered = ", ".join(f"b{i}" for i in range(len(names)))
            connection.register("batches", batches)
            connection.execute(f"CREATE TABLE {ROWS} AS SELECT {selected} FROM batches AS batches({numbered})")
        except postgresql.Error as error:
            reason = _without_secrets(_reason(error), address)
            raise InputError(f"the query on {masked(address)} failed: {reason}") from None
        finally:
            connection.unregister("batches")
    described = connection.execute(f"DESCRIBE {ROWS}").fetchall()
    columns = {name: (str(row[0]), str(row[1])) for name, row in zip(names, described, strict=True)}
    return Relation(connection=connection, sql=ROWS, columns=columns, source=source, is_cheap=True)


def _selected(i: int, field: Any) -> str:
    """A column of the batches as we keep it: the driver gives decimal numbers as text."""
    kind = (field.metadata or {}).get(b"POSTGRESQL:type")
    return f"TRY_CAST(b{i} AS DOUBLE) AS c{i}" if kind == b"numeric" else f"b{i} AS c{i}"


def _reason(error: Exception) -> str:
    """What the server or the driver says, in one line."""
    text = str(error)
    said = re.search(r"(?:ERROR|FATAL):\s*(.*)", text)
    line = (
        said[1] if said else re.sub(r"^[A-Z_]+: (\[libpq\] )?(Failed to connect: )?", "", text).strip().split("\n")[0]
    )
    return shorten(line, 300)


def _without_secrets(message: str, address: str) -> str:
    """The message, unless it repeats a part of a secret."""
    for part in secrets(address):
        if part in message:
            return (
                "the address cannot be understood. Characters such as @ : / % and spaces must be percent-encoded in a "
                "password, or give it by the variable PGPASSWORD."
            )
    return message
