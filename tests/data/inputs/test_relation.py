"""What DuckDB selects from."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import duckdb
import pytest

from ald import ColumnError
from ald.data.inputs import relation as relation_module
from ald.data.inputs.relation import (
    Relation,
    connect,
    identifier,
    in_words,
    interrupts,
    literal,
    read_all,
    workspace,
)
from ald.data.inputs.sources import load


def test_connections_are_silent() -> None:
    """No bar is drawn where results are printed, and nothing is fetched from anywhere."""
    settings = connect().execute(
        "SELECT current_setting('enable_progress_bar'), current_setting('autoinstall_known_extensions')"
    )
    assert settings.fetchall() == [(False, False)]


@pytest.mark.parametrize("last", ["mayor,1,9", 'mayor,"1\n2",9', "mayor,\xff"])
def test_errors_quote_no_row(tmp_path: Path, last: str) -> None:
    """What DuckDB says of a line that does not fit has the number of the line, and not what is in it."""
    path = tmp_path / "a.csv"
    lines = ["job,y", *["clerk,1", "nurse,0"] * 20_000, last]
    path.write_bytes("\n".join(lines).encode("latin-1") + b"\n")
    with pytest.raises(duckdb.Error, match="mayor") as found:
        connect().execute(
            f"SELECT * FROM read_csv('{path}', delim=',', header=true, quote='\"', escape='\"')"
        ).fetchall()
    said = in_words(found.value)
    assert "mayor" not in said
    assert "Line: 40002" in said


def test_errors_quote_no_value() -> None:
    """A value that cannot be converted is not told."""
    for query in ("SELECT CAST('mayor' AS INTEGER)", "SELECT CAST('2020-13-77' AS DATE)"):
        with pytest.raises(duckdb.Error, match=r"mayor|77") as found:
            connect().execute(query)
        assert "(a value)" in in_words(found.value)
        assert "mayor" not in in_words(found.value)
        assert "77" not in in_words(found.value)


LONG = "SELECT count(*) FROM range(100000000) a, range(100000) b WHERE (a.range * b.range) % 7 = 3"


def test_ctrl_c_is_ctrl_c() -> None:
    """What DuckDB makes of Ctrl-C is an interrupt; other errors stay what they are."""
    connection = connect()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt), interrupts(connection):
            connection.execute(LONG).fetchall()
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    with pytest.raises(RuntimeError, match="something else"), interrupts(connection):
        raise RuntimeError("something else")


def test_an_interrupt_from_another_thread_is_ctrl_c() -> None:
    """Whoever interrupts the connection."""
    connection, is_done = connect(), threading.Event()

    def interrupt() -> None:
        # Again and again: a query that has not begun does not notice.
        while not is_done.wait(0.05):
            connection.interrupt()

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt), interrupts(connection):
            connection.execute(LONG).fetchall()
    finally:
        is_done.set()
        thread.join()


def test_names_and_texts_are_quoted() -> None:
    """Names and texts of users are quoted as SQL asks for."""
    name, text = 'a"; drop', "it's"
    connection = connect()
    found = connection.execute(f"SELECT {literal(text)} AS {identifier(name)}")
    assert (found.fetchall(), found.description[0][0]) == ([(text,)], name)


def test_some_columns() -> None:
    """Columns are taken by name, in the order asked for; a name that is not there is an error with the nearest one."""
    relation = Relation(
        connection=connect(),
        sql="(SELECT 1 AS a, 'x' AS b)",
        columns={"a": ("a", "INTEGER"), "b": ("b", "VARCHAR")},
        source="the test",
        is_cheap=True,
    )
    assert read_all(relation, ["b", "a"]).names == ["b", "a"]
    assert read_all(relation, []).n_rows == 1
    with pytest.raises(ColumnError, match="there is no column 'aa' in the test"):
        relation.only(["aa"])


def test_workspace() -> None:
    """In a workspace rows are kept in a file, memory is limited to a half, and nothing is left afterwards."""
    connection = connect()
    with workspace(connection, 2 * 10**9) as folder:
        assert connection.execute("SELECT current_setting('memory_limit')").fetchall() == [("953.6 MiB",)]
        connection.execute("CREATE TABLE kept.main.rows AS SELECT 1 AS c0")
        assert Path(folder, "rows.duckdb").exists()
    assert not folder.exists()


def test_workspace_of_a_closed_connection() -> None:
    """A workspace that ends after its connection, as an interrupt may have it, is removed without an error."""
    connection = connect()
    with workspace(connection, 2 * 10**9) as folder:
        connection.close()
    assert not folder.exists()


def test_workspace_that_cannot_be_left() -> None:
    """Any other error of leaving a workspace is raised, and its folder is removed all the same."""
    connection = connect()
    with pytest.raises(duckdb.Error, match="kept"), workspace(connection, 2 * 10**9) as folder:
        connection.execute("DETACH kept")
    assert not folder.exists()


def test_wide_tables_are_read_as_narrow_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns that are fetched many at once are those that are fetched one by one: kinds, levels, codes, gaps."""
    rows = [
        ("whole", "part", "word", "truth", "day", "moment", "spelt", "none"),
        ("1", "0.5", "b", "true", "2020-01-02", "2020-01-02 03:04:05", "True", ""),
        ("", "", "", "", "", "", "", ""),
        ("-3", "nan", "a,é", "false", "1999-12-31", "2020-01-02 03:04:06", "FALSE", ""),
        ("1", "inf", "b", "true", "2020-01-02", "2020-01-02 03:04:05", "true", ""),
    ]
    file = tmp_path / "x.csv"
    file.write_text("\n".join(",".join(f'"{value}"' if "," in value else value for value in row) for row in rows))
    narrow = load(str(file))
    monkeypatch.setattr(relation_module, "_WIDE", 3)
    wide = load(str(file))
    assert wide.names == narrow.names == list(rows[0])
    for name in narrow.names:
        one, other = narrow[name], wide[name]
        assert (one.kind, one.levels, one.n_infinite) == (other.kind, other.levels, other.n_infinite)
        assert (one.codes.tolist(), one.codes.dtype) == (other.codes.tolist(), other.codes.dtype)
        assert (None if one.values is None else one.values.tolist()) == (
            None if other.values is None else other.values.tolist()
        )
