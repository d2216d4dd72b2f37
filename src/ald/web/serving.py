"""Serves the pages until somebody stops it, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import socket
import sys
import tempfile
import webbrowser
from collections.abc import Callable, Iterator
from typing import Any

from ald._core.leftovers import to_be_removed
from ald._core.threads import ended_by_signals
from ald.data.inputs.memory import machine_memory, parse_size
from ald.errors import SettingError, needed_extra

PORT = 8737
# Bytes that an uploaded file may have, if nobody says.
UPLOAD = 2 * 10**9
_PREFIX = "ald-serve-"


def serve(
    path: str | None = None,
    *,
    host: str = "127.0.0.1",
    port: int = PORT,
    open_browser: bool = True,
    demand_token: bool = False,
    memory_limit: str | None = None,
    upload_limit: str | None = None,
    say: Callable[[str], object] = print,
) -> None:
    """Serves the pages; of a file, its own first. say: is told the address."""
    try:
        import python_multipart  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn
    except ModuleNotFoundError:
        raise needed_extra("The page", "web") from None
    from ald.web.app import make_app, refusal
    from ald.web.guard import Guard, is_loopback
    from ald.web.jobs import Jobs
    from ald.web.state import State

    memory = parse_size(memory_limit) or machine_memory() // 4 * 3
    most = parse_upload(upload_limit)
    with _listening(host, port) as sock, _workspace() as folder:
        port = sock.getsockname()[1]
        token = secrets.token_urlsafe(24) if demand_token or not is_loopback(host) else None
        state = State(folder, Jobs(folder, memory), most)
        address = f"http://{_in_address(host)}:{port}"
        way = f"/?token={token}" if token else "/"

        async def opened(_: Any) -> None:
            if path is not None:
                data = state.add_given(path)
                own = f"/data/{data.id}" + (f"?token={token}" if token else "")
            else:
                own = way
            say(f"The page is {address}{own}\nStop it with Ctrl-C. Nothing leaves this machine.")
            if open_browser:
                asyncio.get_running_loop().run_in_executor(None, webbrowser.open, address + own)

        if path is not None:
            state.check_given(path)
        app, pages = make_app(state, opened)
        guarded = Guard(
            app, host=host, port=port, token=token, refuse=lambda status, words: refusal(status, words).encode()
        )
        config = uvicorn.Config(
            guarded,
            log_level="error",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=2,
            timeout_keep_alive=15,
            h11_max_incomplete_event_size=64_000,
            ws="none",
            http="h11",
            loop="asyncio",
            lifespan="on",
        )

        class Server(uvicorn.Server):
            """Has pages that wait for news stop waiting as soon as the server is stopped."""

            def handle_exit(self, sig: int, frame: Any) -> None:
                pages.closing.set()
                super().handle_exit(sig, frame)

        ended_by_signals(state.jobs.kill_all)
        Server(config).run(sockets=[sock])


def parse_upload(limit: str | None) -> int:
    """The bytes that a file may have.

    >>> parse_upload("300MB"), parse_upload(None)
    (300000000, 2000000000)
    """
    if limit is None:
        return UPLOAD
    try:
        return parse_size(limit) or UPLOAD
    except SettingError as error:
        raise SettingError(str(error).replace("memory_limit", "upload_limit")) from None


def _in_address(host: str) -> str:
    return f"[{host}]" if ":" in host else host


@contextlib.contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    """A socket that listens there; of a port that is taken, an error that says so."""
    sock = None
    try:
        family, _, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        sock = socket.socket(family, socket.SOCK_STREAM)
        if sys.platform != "win32":
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(place)
        sock.listen(128)
    except OSError as error:
        if sock is not None:
            sock.close()
        raise SettingError(
            f"nothing can be served at {host} port {port}: {error.strerror or error}. Another port: --port 0 takes any "
            "that is free."
        ) from None
    with sock:
        yield sock


@contextlib.contextmanager
def _workspace() -> Iterator[str]:
    """A folder for its owner alone, which is gone afterwards."""
    _sweep()
    with tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True) as folder, to_be_removed(folder):
        with open(os.path.join(folder, "pid"), "w", encoding="ascii") as file:
            file.write(str(os.getpid()))
        yield folder


def _sweep() -> None:
    """Removes what servers that were killed have left: folders of ours whose process is gone."""
    import shutil

    for entry in os.scandir(tempfile.gettempdir()):
        if entry.name.startswith(_PREFIX) and entry.is_dir(follow_symlinks=False):
            with contextlib.suppress(OSError, ValueError):
                if hasattr(os, "geteuid") and entry.stat(follow_symlinks=False).st_uid != os.geteuid():
                    continue
                with open(os.path.join(entry.path, "pid"), encoding="ascii") as file:
                    process = int(file.read())
                if not _is_alive(process):
                    shutil.rmtree(entry.path, ignore_errors=True)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
