"""All commands on damaged files, documents and policies; and the page under requests of all kinds."""

from __future__ import annotations

import atexit
import contextlib
import functools
import http.client
import io
import random
import socket
import sys
import threading
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from benchmarks.torturing.checking import Check, LackingError, as_csv, people


def damage(data: bytes, rng: random.Random, most: int = 3) -> bytes:
    """The bytes with some of them changed, cut, repeated or put in between."""
    out = bytearray(data)
    for _ in range(rng.randrange(most + 1)):
        at = rng.randrange(len(out) + 1)
        way = rng.randrange(6)
        if way == 0 and at < len(out):
            out[at] = rng.randrange(256)
        elif way == 1:
            del out[at : at + rng.randrange(1, 40)]
        elif way == 2:
            out[at:at] = out[at : at + rng.randrange(1, 400)]
        elif way == 3:
            out[at:at] = rng.choice([b'"', b"\0", b"\r", b"\n", b"\xff", b"\xef\xbb\xbf", b",,", b"NaN", b"1e999"])
        elif way == 4:
            out[at:at] = b"x" * rng.randrange(5000)
        else:
            del out[at + 1 :]
    return bytes(out)


POLICY = b"""
[defaults]
outcome = "y"

[checks.first]
data = "people.csv"
limit = 0.2

[checks.second]
data = "people.csv"
limit = 0.9
accept = [{ group = "sex = f", reason = "on purpose", until = 2027-01-31 }]
"""
CONFIG = b'outcome = "y"\nsplit = "random"\ntrees = 2\nmin_group_size = 10\nkinds = { age = "numeric" }\n'


def _ready(folder: Path) -> None:
    """What all of them work on: people, two models' predictions, and a document of an audit."""
    if (folder / "whole.json").exists():
        return
    columns, rng = people(400), np.random.default_rng(0)
    for name, wrong in (("old", 0.2), ("new", 0.3)):
        columns[name] = np.where(rng.random(400) < wrong, 1 - np.array(columns["y"]), columns["y"]).tolist()
    (folder / "whole.csv").write_bytes(as_csv(columns))
    told = ["audit", str(folder / "whole.csv"), "--outcome", "y", "--exclude", "old", "--exclude", "new", "-o",
            str(folder / "whole.json")]  # fmt: skip
    assert run(told)[0] == 0


def run(arguments: list[str]) -> tuple[Any, str]:
    """A command in this process: its exit code, and what it says."""
    from ald.cli import main

    out = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
    told = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
    with mock.patch.multiple(sys, argv=["ald", *arguments], stdout=out, stderr=told):
        try:
            main.main()
        except SystemExit as end:
            code = end.code
    return code, told.buffer.getvalue().decode("utf-8", "replace")  # type: ignore[attr-defined]


def commands(check: Check, rng: random.Random, folder: Path) -> None:
    """Every command on files, documents, config files and policies that are whole or damaged: exit code 0, 1 or 2."""
    with contextlib.redirect_stdout(io.StringIO()):
        _ready(folder)
    data, document, policy, config = (
        folder / name for name in ("people.csv", "document.json", "ald.toml", "config.toml")
    )
    damaged = rng.choice([data, data, document, policy, config, None, None, None])
    for path, whole in (
        (data, (folder / "whole.csv").read_bytes()),
        (document, (folder / "whole.json").read_bytes()),
        (policy, POLICY),
        (config, CONFIG),
    ):
        path.write_bytes(damage(whole, rng, 1) if path == damaged else whole)
    others = ["--exclude", "old", "--exclude", "new"]
    lines: dict[str, list[str]] = {
        "audit": ["audit", str(data), "--config", str(config), *others, "--format", rng.choice(["json", "table"])],
        "look": ["look", str(data), "--outcome", rng.choice(["y", "old", "job", "none"])],
        "compare": ["compare", str(data), "--prediction", "old", "--prediction", "new", "--truth", "y", "--trees", "2"],
        "check": ["check", str(policy), *rng.choice([[], ["--format", "json"], ["--format", "junit"]])],
        "watch": ["watch", str(data), "--by", "day", "--outcome", "y", "--named-group", "sex = f", *others],
        "verify": ["verify", str(document), str(data)],
        "report": [
            "report",
            str(document),
            "-o",
            str(folder / f"r.{rng.choice(['html', 'md', 'csv', 'xlsx', 'svg'])}"),
        ],
        "profile": ["profile", "adverse-impact", str(data), "--outcome", "y", "--column", "job=job", *others],
    }
    name = rng.choice(sorted(lines))

    def attempt() -> None:
        code, said = run(lines[name])
        assert code in (0, 1, 2), f"exit code {code}"
        assert "Traceback" not in said, "a traceback"
        if code == 2:
            check.refused += 1
            assert "Error: " in said, f"no sentence: {said[-80:]}"

    check.attempt(name, attempt)


@functools.cache
def _server() -> Any:
    try:
        from tests.web.conftest import Server
    except BaseException:
        raise LackingError("skipped: needs starlette and uvicorn") from None
    import tempfile

    started = Server(Path(tempfile.mkdtemp(prefix="torture-serve-")))
    atexit.register(started.stop)
    # What it says on the side is read, lest it wait for that.
    threading.Thread(target=lambda: [None for _ in started.process.stderr], daemon=True).start()
    return started


def serving(check: Check, rng: random.Random, folder: Path) -> None:
    """The page: requests that are damaged, too long, forged or cut off; after each it still answers."""
    check.attempt("request", lambda: _ask(rng))


def _ask(rng: random.Random) -> None:
    server = _server()
    host, port = server.client.host, server.client.port
    paths = ["/", "/look", "/audit", "/static/page.css", "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/jobs/1",
             "/\0", "/" + "x" * 9000, "//", "/?" + "a=b&" * 500, "/reports/../../x", server.way]  # fmt: skip
    method = rng.choice(["GET", "GET", "POST", "PUT", "DELETE", "HEAD", "X" * 20])
    body = damage(as_csv(people(50)), rng) if method in ("POST", "PUT") else b""
    form = (b"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"../../x.csv\"\r\n\r\n" + body
            + b"\r\n--b--\r\n")  # fmt: skip
    head = [
        f"{method} {rng.choice(paths)} HTTP/1.1",
        f"Host: {rng.choice([f'{host}:{port}', 'evil.example', 'localhost', ''])}",
        f"Content-Length: {rng.choice([len(form), len(form), 0, -1, 10**12])}",
        rng.choice(["Content-Type: multipart/form-data; boundary=b", "Content-Type: text/plain", "Origin: http://evil.example"]),
        rng.choice(["Cookie: ald=1", "Transfer-Encoding: chunked", "X: " + "y" * 70000, "Expect: 100-continue"]),
    ]  # fmt: skip
    request = damage("\r\n".join(head).encode("latin-1") + b"\r\n\r\n" + form, rng, 2)
    with contextlib.suppress(OSError), socket.create_connection((host, port), timeout=5) as connection:
        connection.settimeout(0.2)
        connection.sendall(request[: rng.choice([len(request), rng.randrange(len(request) + 1)])])
        answer = b""
        with contextlib.suppress(OSError):
            while part := connection.recv(65536):
                answer += part
        assert b"Traceback" not in answer, "a traceback"
        assert b"root:" not in answer, "a file of the machine"
        assert not answer.startswith(b"HTTP/1.1 500"), f"500 for {head[0][:60]}"
    assert server.is_alive(), "the server has ended"
    plain = http.client.HTTPConnection(host, port, timeout=60)
    plain.request("GET", "/")
    assert plain.getresponse().status < 500, "it no longer answers"
    plain.close()
