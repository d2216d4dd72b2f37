"""What ends the command from outside: Ctrl-C, SIGTERM and SIGHUP."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def interrupted_by_signals(received: list[int]) -> Iterator[None]:
    """Ctrl-C, SIGTERM and SIGHUP end our processes and remove temporary files; `received` gets their number."""

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
        yield
    finally:
        for number, what in taken.items():
            signal.signal(number, what)
