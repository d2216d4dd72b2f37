"""What tests of the page share: servers, and clients of them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.web.client import Client

pytest.importorskip("starlette")


class Server:
    """A server in a process of its own, whose temporary files lie in a folder of ours."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.folder = folder
        command = [sys.executable, "-m", "ald", "serve", "--no-open", "--port", "0", *arguments]
        environment = os.environ | {"TMPDIR": str(folder), "PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.search(r"(http://\S+:\d+)(/\S*)", line)
        assert found is not None, f"{line} {self.process.stderr.read() if self.process.stderr else ''}"
        self.address, self.way = found[1], found[2]
        self.client = Client(self.address)

    def is_alive(self) -> bool:
        return self.process.poll() is None

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Ends it as a signal does; its exit code."""
        if self.is_alive():
            self.process.send_signal(number)
        code = self.process.wait(90)
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        return code


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for tests that leave it as it was."""
    started = Server(tmp_path_factory.mktemp("serve"))
    yield started
    started.stop()


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    """A client of that server, which is alive after the test."""
    yield server.client
    assert server.is_alive()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Starts servers with options of their own."""
    started: list[Server] = []

    def run(*arguments: str) -> Server:
        folder = tmp_path / f"serve-{len(started)}"
        folder.mkdir()
        started.append(Server(folder, *arguments))
        return started[-1]

    yield run
    for each in started:
        each.stop()
