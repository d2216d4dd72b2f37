"""Files that come in: as large as is allowed, by any name, whole or not at all."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ald.errors import InputError
from ald.web.uploads import TooLargeError, in_words, receive_form
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
    """A file over the limit is refused with a page that says it, before it has come in."""
    server = start("--upload-limit", "256MB")
    client, large = server.client, b"a,b\n" + b"1,2\n" * 66_000_000
    answer = client.upload("large.csv", large)
    assert answer.status == 413
    assert "more than 256 MB" in answer.text
    assert incoming(server.folder) == []
    assert server.is_alive()


def form_of(content: bytes) -> list[bytes]:
    """A form with a file, in pieces."""
    head = b'--b\r\nContent-Disposition: form-data; name="ticket"\r\n\r\nt\r\n--b\r\n'
    head += b'Content-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
    whole = head + content + b"\r\n--b--\r\n"
    return [whole[i : i + 100] for i in range(0, len(whole), 100)]


def receive(pieces: list[bytes], path: Path, most: int, pause: float = 0.0) -> Any:
    """Takes a form in, as it comes."""

    async def stream() -> AsyncIterator[bytes]:
        for piece in pieces:
            await asyncio.sleep(pause)
            yield piece

    checked: list[dict[str, str]] = []
    received = asyncio.run(receive_form(stream(), "multipart/form-data; boundary=b", str(path), most, checked.append))
    assert checked == [{"ticket": "t"}]
    return received


def test_a_form_as_it_comes(tmp_path: Path) -> None:
    """A file that comes in pieces is written whole, for its owner alone, once the fields before it are checked."""
    content = b"a,b\n" * 500
    received = receive(form_of(content), tmp_path / "in", 2000)
    assert (received.name, received.size, received.fields) == ("a.csv", 2000, {"ticket": "t"})
    assert (tmp_path / "in").read_bytes() == content
    assert (tmp_path / "in").stat().st_mode & 0o777 == 0o600


def test_more_than_was_announced(tmp_path: Path) -> None:
    """A file that goes on beyond the limit, whatever its length was said to be, is stopped and removed."""
    with pytest.raises(TooLargeError, match="more than 1\\.99 kB"):
        receive(form_of(b"x" * 2000), tmp_path / "in", 1990)
    assert list(tmp_path.iterdir()) == []


def test_nothing_comes_any_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that sends nothing for long is given up, and leaves nothing."""
    monkeypatch.setattr("ald.web.uploads._PATIENCE", 0.05)
    with pytest.raises(InputError, match="nothing came for"):
        receive(form_of(b"x"), tmp_path / "in", 1000, pause=5)
    assert list(tmp_path.iterdir()) == []


def test_a_form_that_is_not_allowed(tmp_path: Path) -> None:
    """Where the fields do not allow a file, nothing of it is kept."""

    async def stream() -> AsyncIterator[bytes]:
        for piece in form_of(b"x"):
            yield piece

    def refuse(_: dict[str, str]) -> None:
        raise InputError("no")

    with pytest.raises(InputError, match="no"):
        asyncio.run(receive_form(stream(), "multipart/form-data; boundary=b", str(tmp_path / "in"), 9, refuse))
    assert list(tmp_path.iterdir()) == []


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


def wait_for(condition: Callable[[], bool], seconds: float = 90.0) -> None:
    """Waits until something is so."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_sizes_in_words() -> None:
    """Sizes are said in the unit that fits."""
    assert [in_words(n) for n in (999, 1000, 2_500_000, 10**9)] == ["999 bytes", "1 kB", "2.5 MB", "1 GB"]
