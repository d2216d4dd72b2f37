"""Files that come in: as large as is allowed, by any name, whole or not at all."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ald.web.uploads import in_words
from tests.web.client import Client, berkeley, files_below


def incoming(folder: Path) -> list[Path]:
    """The files of uploads below a folder."""
    return [path for path in files_below(folder) if path.parent.name.startswith("data-")]


@pytest.mark.parametrize(
    "name",
    ["../../evil.csv", "/etc/evil.csv", "..\\..\\evil.csv", "C:\\evil.csv", "a/b/evil.csv",
     "evil\x00.csv", "..csv", "ё" * 300 + ".csv"],
)  # fmt: skip
def test_names_never_become_paths(name: str, client: Client, server: Any) -> None:
    """Whatever a file is called, it lies in a folder of ours under a name of ours, for its owner alone."""
    before = set(incoming(server.folder))
    page = client.open_file(name, berkeley())
    (stored,) = set(incoming(server.folder)) - before
    assert stored.name == "data.csv"
    assert stored.stat().st_mode & 0o777 == 0o600
    assert stored.parent.stat().st_mode & 0o777 == 0o700
    assert stored.parent.parent.stat().st_mode & 0o777 == 0o700
    assert client.get(page).status == 200
    client.send("/", f"{page}/forget")


def test_too_large(start: Callable[..., Any]) -> None:
    """A file over the limit is refused with a page that says it, whether its length is announced truly or not."""
    server = start("--upload-limit", "256MB")
    client, large = server.client, b"a,b\n" + b"1,2\n" * 66_000_000
    answer = client.upload("large.csv", large)
    assert answer.status == 413
    assert "more than 256 MB" in answer.text
    assert incoming(server.folder) == []
    assert server.is_alive()


def test_endings(client: Client, server: Any) -> None:
    """A file of a kind that is not read, an empty one, and none at all are refused with the reason."""
    before = incoming(server.folder)
    assert "cannot be told by its ending" in client.upload("paper.doc", b"x").text
    assert "is empty" in client.upload("a.csv", b"").text
    assert client.upload("", b"").status == 400
    assert incoming(server.folder) == before


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("text/plain", b"x"),
        ("multipart/form-data", b"x"),
        ("multipart/form-data; boundary=b", b"no such form"),
        (
            "multipart/form-data; boundary=b",
            b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\na',
        ),
    ],
)
def test_malformed_forms(kind: str, body: bytes, client: Client, server: Any) -> None:
    """What is no form, or ends in the middle of one, is refused and leaves nothing."""
    before = incoming(server.folder)
    assert client.ask("POST", "/data", body, Content_Type=kind).status == 400
    assert incoming(server.folder) == before


def test_twenty_at_once(client: Client, server: Any) -> None:
    """Twenty uploads at once are twenty data sets."""
    tickets = [client.ticket("/", "/data") for _ in range(20)]
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda i: client.upload(f"{i}.csv", berkeley(), ticket=tickets[i]), range(20)))
    assert [answer.status for answer in answers] == [303] * 20
    pages = {answer.location for answer in answers}
    assert len(pages) == 20
    for page in pages:
        client.settle(page)
        client.send("/", f"{page}/forget")


def test_a_client_that_goes_away(client: Client, server: Any) -> None:
    """A connection that breaks in the middle of a file leaves nothing of it."""
    before = incoming(server.folder)
    ticket = client.ticket("/", "/data")
    head = f'--b\r\nContent-Disposition: form-data; name="ticket"\r\n\r\n{ticket}\r\n--b\r\n'
    head += 'Content-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
    with socket.create_connection((client.host, client.port or 80)) as sock:
        sock.sendall(
            f"POST /data HTTP/1.1\r\nHost: {client.host}:{client.port}\r\nContent-Length: 1000000\r\n"
            f"Content-Type: multipart/form-data; boundary=b\r\n\r\n{head}a,b\n1,2\n".encode()
        )
        wait_for(lambda: len(incoming(server.folder)) > len(before))
    wait_for(lambda: incoming(server.folder) == before)


def test_a_slow_client(client: Client) -> None:
    """While one client sends a byte now and then, others are answered."""
    with socket.create_connection((client.host, client.port or 80)) as sock:
        sock.sendall(f"POST /data HTTP/1.1\r\nHost: {client.host}:{client.port}\r\nContent-Length: 99\r\n".encode())
        for _ in range(5):
            sock.sendall(b"X: y\r\n")
            assert client.get("/").status == 200


def wait_for(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    """Waits until something is so."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_sizes_in_words() -> None:
    """Sizes are said in the unit that fits."""
    assert [in_words(n) for n in (999, 1000, 2_500_000, 10**9)] == ["999 bytes", "1 kB", "2.5 MB", "1 GB"]
