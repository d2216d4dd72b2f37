"""What ends the command from outside: Ctrl-C, SIGTERM and SIGHUP."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator

from ald._core.leftovers import remove_leftovers

# Seconds within which whatever runs outside of Python must come back after a signal.
_PATIENCE = 3.0


@contextlib.contextmanager
def interrupted_by_signals(received: list[int]) -> Iterator[None]:
    """Ctrl-C, SIGTERM and SIGHUP end our processes and remove temporary files; `received` gets their number.

    Python handles a signal when its main thread comes back to it. A library that reads a large packed file does not for
    long: then another thread cleans up and ends the process.
    """

    def interrupt(number: int, _: object) -> None:
        # Once: another one shall not interrupt the cleaning up. Ctrl-C may, should that take too long.
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_IGN)
        received.append(number)
        if "ald._core.threads" in sys.modules:
            sys.modules["ald._core.threads"].end_processes()
        raise KeyboardInterrupt

    names = ("SIGINT", "SIGTERM", "SIGHUP")  # Windows: no SIGHUP
    before = {number: signal.getsignal(number) for name in names if (number := getattr(signal, name, None))}
    # What is ignored stays so: nohup has SIGHUP ignored.
    taken = {number: what for number, what in before.items() if what in (signal.SIG_DFL, signal.default_int_handler)}
    for number in taken:
        signal.signal(number, interrupt)
    try:
        with _watch(set(taken), received):
            yield
    finally:
        for number, what in taken.items():
            signal.signal(number, what)


@contextlib.contextmanager
def _watch(numbers: set[int], received: list[int]) -> Iterator[None]:
    """Ends the process some time after one of these signals, if nobody has handled it by then."""
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    before = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)

    def watch() -> None:
        while said := ours.recv(64):
            number = next((one for one in said if one in numbers), None)
            if number is None:
                continue
            ours.settimeout(_PATIENCE)
            try:
                while not received and ours.recv(64):  # nothing more: the command is over
                    pass
            except TimeoutError:
                if not received:
                    _end_now(number)
            ours.settimeout(None)

    watcher = threading.Thread(target=watch, name="ald-watch", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        theirs.close()
        watcher.join()
        ours.close()


def _end_now(number: int) -> None:
    """Cleans up and ends the process, from a thread that is not the main one."""
    if "ald._core.threads" in sys.modules:
        sys.modules["ald._core.threads"].end_processes()
    remove_leftovers()
    with contextlib.suppress(OSError):
        os.write(2, b"Interrupted; no file is half written.\n")
    os._exit(128 + number)
