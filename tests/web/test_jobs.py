"""Work in processes of its own: killed, out of memory, or fed with what no file should be, it is one failed audit."""

from __future__ import annotations

import gzip
import io
import os
import re
import signal
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ald.web.jobs import Job
from tests.tables import people
from tests.web.client import Client, csv_of, files_below, heading
from tests.web.test_app import SLOW
from tests.web.test_uploads import wait_for

pytestmark = pytest.mark.usefixtures("heard_signals")


def workers(server: Any) -> list[int]:
    """The processes that a server has started."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            status, command = (folder / "status").read_text(), (folder / "cmdline").read_bytes()
        except OSError:
            continue
        parent = re.search(r"^PPid:\s+(\d+)", status, re.MULTILINE)
        if parent is not None and int(parent[1]) == server.process.pid and b"ald.web.worker" in command:
            found.append(int(folder.name))
    return found


# The processes of a server are found by their parents, which only /proc tells without another package.
needs_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")


def slow_question(client: Client) -> str:
    """An audit that takes minutes."""
    page = client.open_file("people.csv", csv_of(people(4000, 9)))
    return client.send(page, page, [*client.fields(page), *SLOW, ("do", "ask")]).location


@needs_proc
def test_a_killed_process(start: Callable[..., Any]) -> None:
    """A process that is killed costs its audit: the page says so, and the next audit runs."""
    server = start()
    question = slow_question(server.client)
    wait_for(lambda: len(workers(server)) > 0)
    for process in workers(server):
        os.kill(process, signal.SIGKILL)
    shown = server.client.get(server.client.settle(question)).text
    assert heading(shown) == "The audit could not be made"
    assert "signal 9" in shown
    assert server.client.document(server.client.run(server.client.open_embedded()))["groups"]


@needs_proc
def test_cancelling_ends_the_process(start: Callable[..., Any]) -> None:
    """An audit that is cancelled has no process any more, and its page says that it was cancelled."""
    server = start()
    question = slow_question(server.client)
    wait_for(lambda: len(workers(server)) > 0)
    found = re.search(r'data-events="(/jobs/[^"]+)/events"', server.client.get(question).text)
    assert found is not None
    server.client.send(question, f"{found[1]}/cancel")
    wait_for(lambda: workers(server) == [])
    assert heading(server.client.get(question).text) == "The audit was cancelled"


@needs_proc
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_stopping_leaves_nothing(number: int, start: Callable[..., Any]) -> None:
    """Stopped in the middle of an audit, the server leaves no process and no file."""
    server = start()
    slow_question(server.client)
    wait_for(lambda: len(workers(server)) > 0)
    processes = workers(server)
    assert files_below(server.folder)
    server.stop(number)
    wait_for(lambda: not any(Path(f"/proc/{process}").exists() for process in processes))
    assert list(server.folder.iterdir()) == []


@needs_proc
def test_what_a_killed_server_left_is_swept(start: Callable[..., Any], monkeypatch: Any) -> None:
    """Killed at once, a server takes its processes with it; the next one removes its files."""
    server = start()
    slow_question(server.client)
    wait_for(lambda: len(workers(server)) > 0)
    processes = workers(server)
    server.stop(signal.SIGKILL)
    wait_for(lambda: not any(Path(f"/proc/{process}").exists() for process in processes))
    assert list(server.folder.iterdir())
    monkeypatch.setenv("TMPDIR", str(server.folder))
    from ald.web import serving

    monkeypatch.setattr("tempfile.tempdir", str(server.folder))
    serving._sweep()
    assert list(server.folder.iterdir()) == []


def zip_bomb() -> bytes:
    """A workbook of few bytes that unpacks to very many."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr("[Content_Types].xml", "<x>" + " " * 200_000_000)
        book.writestr("xl/workbook.xml", "<x>" + " " * 200_000_000)
    return out.getvalue()


MALICIOUS: dict[str, Callable[[], bytes]] = {
    "garbage.csv": lambda: bytes(range(256)) * 4000,
    "garbage.parquet": lambda: b"PAR1" + os.urandom(10_000) + b"PAR1",
    "garbage.xlsx": lambda: b"PK\x03\x04" + os.urandom(10_000),
    "garbage.sqlite": lambda: b"SQLite format 3\x00" + os.urandom(10_000),
    "line.csv": lambda: b"x" * 30_000_000,
    "bomb.xlsx": zip_bomb,
    "bomb.csv.gz": lambda: gzip.compress(b"a,b\n" + b"1,2\n" * 10 + b"9" * 300_000_000),
    "deep.json": lambda: b"[" * 100_000,
    "wide.csv": lambda: (",".join(f"c{i}" for i in range(10_000)) + "\n" + ",".join("1" * 10_000) + "\n").encode() * 1,
}


@pytest.mark.parametrize("name", MALICIOUS)
def test_malicious_files(name: str, start: Callable[..., Any]) -> None:
    """Garbage, an endless line, bombs and 10,000 columns are answered within the memory that a process has."""
    server = start("--memory-limit", "1GB")
    page = server.client.settle(server.client.upload(name, MALICIOUS[name]()).location)
    answer = server.client.get(page)
    assert answer.status in (200, 422)
    assert server.client.document(server.client.run(server.client.open_embedded()))["groups"]


def test_time_left() -> None:
    """Nothing is said of the time left before something is known; at the end there is none."""
    import asyncio

    async def told() -> list[float | None]:
        job = Job(kind="audit", task={}, folder="")
        job.started = 0.0
        out = [job.seconds_left()]
        for share in (0.0, 0.5):
            job.hear({"event": "progress", "step": "search", "share": share})
            out.append(job.seconds_left())
        job.hear({"event": "progress", "step": "report", "share": 1.0})
        return [*out, job.seconds_left()]

    before, first, middle, end = asyncio.run(told())
    assert (before, first, end) == (None, None, 0.0)
    assert middle is not None
    assert middle >= 0
