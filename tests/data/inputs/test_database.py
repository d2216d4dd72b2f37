"""Databases: a real PostgreSQL server on loopback, errors in words, and no password anywhere."""

from __future__ import annotations

import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import ald
from ald import InputError, SettingError
from ald.data.inputs.reading import Reading
from ald.data.inputs.sources import load

PASSWORD = "pa55 w@rd:x/%"
ENCODED = "pa55%20w%40rd%3Ax%2F%25"


def binaries() -> Path | None:
    """The folder of the server's programs: Debian does not put them on the path."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    found = str(folders[-1]) if folders else shutil.which("initdb")
    return Path(found).parent if found else None


def as_somebody(command: list[str]) -> None:
    """Runs a command as a user who is not root: the server refuses to."""
    if os.getuid() == 0:
        command = ["runuser", "-u", somebody(), "--", *command]
    subprocess.run(command, check=True, capture_output=True, timeout=60)


def somebody() -> str:
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a server of our own, with a password and a table of decisions."""
    programs = binaries()
    if programs is None:
        if os.environ.get("ALD_POSTGRESQL") == "required":
            pytest.fail("there is no PostgreSQL server, although ALD_POSTGRESQL=required")
        pytest.skip("needs a PostgreSQL server (Debian: apt-get install postgresql)")
    folder = Path(tempfile.mkdtemp(prefix="ald-postgresql-"))
    try:
        (folder / "password").write_text(PASSWORD)
        folder.chmod(0o755)
        (folder / "data").mkdir()
        if os.getuid() == 0:
            for path in (folder, folder / "password", folder / "data"):
                shutil.chown(path, somebody())
        data = str(folder / "data")
        as_somebody([str(programs / "initdb"), "-D", data, "-U", "ann", "-A", "scram-sha-256", "-E", "UTF8",
                     "--no-sync", "--pwfile", str(folder / "password")])  # fmt: skip
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        settings = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off"
        control = [str(programs / "pg_ctl"), "-D", data, "-w", "-l", str(folder / "log")]
        as_somebody([*control, "-o", settings, "start"])
        try:
            address = f"postgresql://ann:{ENCODED}@127.0.0.1:{port}/postgres"
            _fill(address)
            yield address
        finally:
            as_somebody([*control, "-m", "immediate", "stop"])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _fill(address: str) -> None:
    dbapi = pytest.importorskip("adbc_driver_postgresql.dbapi")
    with dbapi.connect(address) as connection, connection.cursor() as cursor:
        cursor.execute(
            "create table decisions as select i as id, 20 + i % 40 as age, case i % 3 when 0 then 'f' else 'm' end as "
            "sex, (i % 7) * 1.5 as income, date '2024-01-01' + i % 5 as day, timestamptz '2024-01-01 10:00+00' + "
            "(i % 4) * interval '1 hour' as seen, i % 2 = 0 as member, case when i % 11 = 0 then null else i % 4 end "
            "as score, (((i * 2654435761) % 1000) < 300 + 300 * (i % 3 = 0)::int)::int as approved "
            "from generate_series(1, 3000) i"
        )
        cursor.execute("create schema later")
        cursor.execute(
            "create table later.decisions as select id + 3000 as id, 59 - age % 20 as age, sex, income, day, seen, "
            "member, score, 1 - approved as approved from decisions"
        )
        cursor.execute("create sequence numbers")
        cursor.execute("create type mood as enum ('happy', 'sad')")
        connection.commit()


QUERY = "select age, sex, income, day, seen, member, score, approved from decisions order by id"


def test_kinds_of_columns(server: str) -> None:
    """Columns have the kinds that the database gives them; exact decimals are numbers."""
    table = load(server, None, Reading(query=QUERY))
    assert {name: column.kind for name, column in table.columns.items()} == {
        "age": "numeric", "sex": "nominal", "income": "numeric", "day": "date", "seen": "datetime", "member": "boolean",
        "score": "numeric", "approved": "numeric"}  # fmt: skip
    assert table.n_rows == 3000
    assert table["income"].words()[:3] == ["0", "1.5", "3"]
    assert table["score"].n_missing() == 272


def test_infinite_times(server: str) -> None:
    """Infinite dates and times, of either sign, are counted and missing; others stay, however old."""
    query = (
        "select day, day::timestamp as time, day::timestamptz at time zone 'UTC' at time zone 'UTC' as instant from "
        "(values (date 'infinity'), ('-infinity'), ('2024-05-01'), ('4713-01-01 BC'), (null)) as x(day)"
    )
    table = load(server, None, Reading(query=query))
    for column in table.columns.values():
        assert (column.n_infinite, column.n_missing(), column.n_codes) == (2, 3, 2)
    assert table["day"].words()[1] == "2024-05-01"


@pytest.mark.parametrize(
    ("value", "kind", "word"),
    [
        ("inet '10.0.0.1'", "nominal", "10.0.0.1/32"),
        ("macaddr '08:00:2b:01:02:03'", "nominal", "08:00:2b:01:02:03"),
        ("int4range(1, 5)", "nominal", "[1,5)"),
        ("B'101'", "nominal", "101"),
        ("point '(1,2)'", "nominal", "(1,2)"),
        ("to_tsvector('simple', 'b a')", "nominal", "'a':2 'b':1"),
        ("timetz '10:00+02'", "nominal", "10:00:00+02"),
        ("interval '1 day'", "nominal", "1 day"),
        ("uuid '00000000-0000-0000-0000-000000000001'", "nominal", "00000000-0000-0000-0000-000000000001"),
        ("array[inet '10.0.0.1']", "nominal", "{10.0.0.1}"),
        ("row(1, 2)", "nominal", "(1,2)"),
        ("'happy'::mood", "nominal", "happy"),
        ("12.5::numeric::money", "numeric", "12.5"),
        ("12.5::numeric", "numeric", "12.5"),
        ("'{\"a\": 1}'::jsonb", "nominal", '{"a":1}'),
    ],
)
def test_types_that_the_driver_does_not_read(server: str, value: str, kind: str, word: str) -> None:
    """Values of every type are what the server prints, never the bytes that it sends; money is an amount."""
    column = load(server, None, Reading(query=f"select {value} as x, 1 as y -- ;"))["x"]
    assert (column.kind, column.words()) == (kind, [word])


def test_scheme_in_capitals(server: str) -> None:
    """The scheme of an address may be written in any case."""
    assert load(server.replace("postgresql", "PostgreSQL"), None, Reading(query="select 1 as x;")).n_rows == 1


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize(
    "query",
    [
        "select i, random() as x, 1 as approved from generate_series(1, 1000000000) i",
        "select pg_sleep(600), 1 as approved",
    ],
)
def test_interrupts(server: str, tmp_path: Path, query: str, number: int, status: int) -> None:
    """Ctrl-C and SIGTERM end a query at once, on the server too, and leave no rows behind."""
    # Whoever started the tests may ignore SIGINT.
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from ald.cli.main import main; main()"
    )
    command = [sys.executable, "-c", code, "audit", server, "--query", query, "--outcome", "approved"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | {"TMPDIR": str(tmp_path)}
    )
    running = (
        "select count(*) as n from pg_stat_activity "
        "where query like 'COPY%' and state = 'active' and pid <> pg_backend_pid()"
    )
    while process.poll() is None and load(server, None, Reading(query=running))["n"].words() == ["0"]:
        time.sleep(0.05)
    began = time.monotonic()
    process.send_signal(number)
    _, errors = process.communicate(timeout=120)
    assert (process.returncode, errors.strip()) == (status, "Interrupted; no file is half written.")
    assert time.monotonic() - began < 60
    assert not list(tmp_path.iterdir())
    assert load(server, None, Reading(query=running))["n"].words() == ["0"]


def test_same_audit_as_of_a_file(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An audit of a query is that of its result in a file, also where it counts as large."""
    dbapi = pytest.importorskip("adbc_driver_postgresql.dbapi")
    parquet = pytest.importorskip("pyarrow.parquet")
    with dbapi.connect(server) as connection, connection.cursor() as cursor:
        cursor.execute(QUERY.replace("income", "income::float8 as income"))
        parquet.write_table(cursor.fetch_arrow_table(), tmp_path / "x.parquet")
    expected = ald.audit(tmp_path / "x.parquet", outcome="approved", search=ald.Search(trees=5))
    assert expected.groups
    found = ald.audit(ald.source(server, query=QUERY), outcome="approved", search=ald.Search(trees=5))
    assert found.to_json() == expected.to_json()
    assert found.input_sha256 is None
    monkeypatch.setattr(Reading, "is_large", lambda self, rows, columns: True)
    assert (
        ald.audit(ald.source(server, query=QUERY), outcome="approved", search=ald.Search(trees=5)).to_json()
        == expected.to_json()
    )


def test_command_line(server: str) -> None:
    """The command takes an address and a query, and neither output shows the password."""
    command = [sys.executable, "-m", "ald", "audit", server, "--query", QUERY, "--outcome", "approved", "--trees", "5"]
    done = subprocess.run([*command, "--memory-limit", "1GB"], capture_output=True, text=True, check=True)
    assert "sex = f" in done.stdout
    for secret in (PASSWORD, ENCODED, "pa55"):
        assert secret not in done.stdout + done.stderr


def test_two_databases(server: str) -> None:
    """One query serves two databases, one for the search and one for the assessment; profiles count both."""
    later = f"{server}?options=-csearch_path%3Dlater"
    both = tuple(ald.source(address, query=QUERY) for address in (server, later))
    audit = ald.profile("nyc-ll144", split=both, outcome="approved", search=ald.Search(trees=5), columns={"sex": "sex"})
    assert audit.data_summary.rows == 6000
    assert audit.profile is not None
    (table,) = audit.profile.tables
    assert [(category.names, category.people, category.selected) for category in table.categories] == [
        (("f",), 2000, 1000), (("m",), 4000, 2000)]  # fmt: skip
    with pytest.raises(ald.SettingError, match="unless both are databases"):
        ald.audit(split=(both[0], ald.source({"sex": ["f"], "approved": [0]}, query=QUERY)), outcome="approved")


def test_group_in_words(server: str) -> None:
    """Groups that one names are tested on the result of a query."""
    named = ald.audit(
        ald.source(server, query=QUERY), search="none", named_groups="sex = f and age > 40", outcome="approved"
    ).named_groups[0]
    assert named.size == sum(20 + i % 40 > 40 and i % 3 == 0 for i in range(1, 3001))


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("delete from decisions returning 1 as approved", "only one SELECT, VALUES, WITH or TABLE"),
        ("with x as (delete from decisions returning 1) select 1 as approved", "that writes nothing can be read"),
        ("delete from decisions", "give a query that returns rows"),
        ("select nextval('numbers') as approved", "cannot execute nextval.* Queries may not write"),
        ("select * from decisions for update", "cannot execute SELECT FOR UPDATE.* Queries may not write"),
    ],
)
def test_nothing_is_written(server: str, query: str, said: str) -> None:
    """Queries that write are refused, also those that no rollback takes back."""
    with pytest.raises(InputError, match=said):
        ald.audit(ald.source(server, query=query), outcome="approved")
    assert load(server, None, Reading(query="select * from decisions")).n_rows == 3000
    assert load(server, None, Reading(query="select is_called from numbers"))["is_called"].words() == ["False"]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("select * from nothing", 'relation "nothing" does not exist'),
        ("selec 1", 'syntax error at or near "selec"'),
        ("select * from decisions where false", "has no rows"),
        ("select age, age from decisions", "more than one column named 'age'"),
        ("select 1 / 0 as approved", r"failed: division by zero$"),
        ("select 1 / (id - 2900) as approved from decisions", r"failed: division by zero$"),
        ("-- all", "has no columns: give a query that returns rows"),
        ("explain select 1", "failed: only one SELECT, VALUES, WITH or TABLE"),
        ("select 1 as a; select 2", "multiple commands"),
        ("select 1 as a; -- all", "nothing after a semicolon"),
    ],
)
def test_wrong_queries(server: str, query: str, said: str) -> None:
    """What is wrong with a query is said in the server's words, without the password."""
    with pytest.raises(InputError, match=said) as caught:
        ald.audit(ald.source(server, query=query), outcome="approved")
    assert "pa55" not in str(caught.value)
    assert "ann:***@127.0.0.1" in str(caught.value)


def test_wrong_places(server: str) -> None:
    """No such database, a wrong password and a silent port are errors in words."""
    for address, said in (
        (server.replace("/postgres", "/nowhere"), 'database "nowhere" does not exist'),
        (server.replace("pa55", "pa66"), "password authentication failed"),
        ("postgresql://ann:pa55@127.0.0.1:1/x", "Connection refused"),
    ):
        with pytest.raises(InputError, match=said) as caught:
            ald.audit(ald.source(address, query="select 1"), outcome="approved")
        assert not any(secret in str(caught.value) for secret in ("pa55", "pa66"))


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ann:pa55 word@127.0.0.1:1/x",
        "postgresql://ann:pa55%zzz@127.0.0.1:1/x",
        "postgresql://ann:pa55@word@127.0.0.1:1/x",
        "postgresql://ann@127.0.0.1:1/x?password=pa55%25word&connect_timeout=q",
    ],
)
def test_addresses_that_cannot_be_read(address: str) -> None:
    """A password that breaks the address is not shown either."""
    pytest.importorskip("adbc_driver_postgresql")
    with pytest.raises(InputError, match="cannot connect to postgresql://ann") as caught:
        ald.audit(ald.source(address, query="select 1"), outcome="approved")
    assert not any(secret in str(caught.value) for secret in ("pa55", "word@", "zzz"))


@pytest.mark.parametrize("password", ["hunter2@ab", "hunter2/ab", "ab@hunter2", "ab hunter2"])
def test_plain_characters_in_passwords(password: str) -> None:
    """Where a character of a password breaks the address, no part of it is shown, and the error says what to do."""
    pytest.importorskip("adbc_driver_postgresql")
    with pytest.raises(InputError, match="must be percent-encoded in a password") as caught:
        ald.audit(ald.source(f"postgresql://ann:{password}@127.0.0.1:1/x", query="select 1"), outcome="approved")
    assert "hunter2" not in str(caught.value)
    assert not re.search(r"\bab\b", str(caught.value))


def test_passwords_in_what_the_server_says(server: str) -> None:
    """A password that occurs in the server's reason is masked there; the reason stays."""
    dbapi = pytest.importorskip("adbc_driver_postgresql.dbapi")
    with dbapi.connect(server) as connection, connection.cursor() as cursor:
        cursor.execute("create role bob login password 'base'")
        connection.commit()
    address = server.replace(f"ann:{ENCODED}", "bob:base")
    with pytest.raises(InputError, match=r'bob:\*\*\*@.* failed: relation "\*\*\*line" does not exist'):
        ald.audit(ald.source(address, query="select * from baseline"), outcome="approved")


def test_query_and_address_belong_together() -> None:
    """An address without a query, a query without an address, and other databases are errors that say what to do."""
    with pytest.raises(SettingError, match="say what to select"):
        ald.audit("postgresql://ann:secret@h/x", outcome="y")
    with pytest.raises(SettingError, match="needs a database"):
        ald.audit(ald.source({"y": [0, 1]}, query="select 1"), outcome="y")
    with pytest.raises(SettingError, match="query must be a text"):
        ald.audit(ald.source("postgresql://h/x", query=1), outcome="y")  # type: ignore[arg-type]
    halves = [ald.source(data, query="select 1") for data in ("postgresql://h/x", {"y": [0, 1]})]
    with pytest.raises(SettingError, match="--query does not go with --assess-on"):
        ald.audit(split=halves, outcome="y")
    with pytest.raises(InputError, match="supported is PostgreSQL") as caught:
        ald.audit(ald.source("mysql://ann:secret@h/x", query="select 1"), outcome="y")
    assert "secret" not in str(caught.value)


def test_missing_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the driver, the error has the command that installs it."""
    monkeypatch.setitem(sys.modules, "adbc_driver_postgresql", None)
    monkeypatch.setitem(sys.modules, "adbc_driver_postgresql.dbapi", None)
    with pytest.raises(SettingError, match=r"pip install 'ald-audit\[sql\]'"):
        ald.audit(ald.source("postgresql://h/x", query="select 1"), outcome="y")
