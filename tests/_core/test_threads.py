"""Work in threads: items that are made ahead of their use, and signals that are noticed at once."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Generator
from contextlib import closing
from functools import cached_property
from threading import Event
from typing import Any

import pytest

from ald._core.threads import ahead, end_processes, ended_by_signals, in_threads, on_interrupt
from ald.search.forest.counting import Routing


def test_nothing_goes_on_after_a_failure() -> None:
    """Where one piece of work fails, those that run are waited for, and no others begin."""
    begun, ended = [], []

    def work(item: int) -> int:
        begun.append(item)
        if item == 0:
            raise KeyError(item)
        time.sleep(0.1)
        ended.append(item)
        return item

    with pytest.raises(KeyError):
        in_threads(work, range(50), 2)
    assert sorted(begun) == [0, *sorted(ended)]
    assert len(begun) < 50
    so_far = len(begun)
    time.sleep(0.15)
    assert len(begun) == so_far
    assert in_threads(str, range(50), 2) == [str(item) for item in range(50)]


def test_items_come_in_order() -> None:
    """All items come, in the order in which they are made, also if they are used slowly."""
    found = []
    for item in ahead((i for i in range(6)), lambda: None):
        time.sleep(0.02)
        found.append(item)
    assert found == [0, 1, 2, 3, 4, 5]


def test_errors_come_where_they_arise() -> None:
    """An error in the thread is raised after the items before it."""

    def items() -> Generator[int, None, None]:
        yield 1
        raise ValueError("no more")

    made = ahead(items(), lambda: None)
    assert next(made) == 1
    with pytest.raises(ValueError, match="no more"):
        next(made)


def test_unwanted_work_is_cancelled() -> None:
    """Who wants no more items does not wait for the next: it is cancelled, and what made it is closed."""
    cancelled, closed = Event(), Event()

    def items() -> Generator[int, None, None]:
        try:
            yield 1
            cancelled.wait(120)
            yield 2
        finally:
            closed.set()

    began = time.monotonic()
    with closing(ahead(items(), cancelled.set)) as made:
        assert next(made) == 1
    assert closed.wait(60)
    assert time.monotonic() - began < 60


def test_work_that_cannot_be_cancelled_is_left() -> None:
    """Nobody waits for work that does not heed being cancelled."""
    released = Event()

    def items() -> Generator[int, None, None]:
        yield 1
        released.wait(120)

    began = time.monotonic()
    with closing(ahead(items(), lambda: released.wait(120))) as made:
        next(made)
    assert time.monotonic() - began < 60
    released.set()


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGUSR1"])
def test_signals_are_noticed_while_the_main_thread_is_busy(name: str) -> None:
    """Those that ask us to stop; whoever listened before hears all of them, and listens on alone afterwards."""
    number = getattr(signal, name)
    handler = signal.signal(number, lambda *_: None)
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    before = signal.set_wakeup_fd(theirs.fileno())
    noticed = threading.Event()
    try:
        with on_interrupt(noticed.set):
            os.kill(os.getpid(), number)
            assert noticed.wait(1.0) == (name != "SIGUSR1")
            assert ours.recv(1) == bytes([number])
        assert signal.set_wakeup_fd(theirs.fileno()) == theirs.fileno()
    finally:
        signal.set_wakeup_fd(before)
        signal.signal(number, handler)
        ours.close()
        theirs.close()


def test_other_threads_have_no_signals() -> None:
    """There the work is done as it is."""
    done = []

    def work() -> None:
        with on_interrupt(lambda: done.append("interrupted")):
            done.append("done")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == ["done"]


def test_processes_end_once() -> None:
    """Processes that are noted are ended, the last one first, and no more than once."""
    ended: list[str] = []
    ended_by_signals(lambda: ended.append("first"))
    ended_by_signals(lambda: ended.append("last"))
    end_processes()
    end_processes()
    assert ended == ["last", "first"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs forks")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_while_another_thread_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A child process does not wait for a cached property that a thread of its parent was about to set."""
    held, done = Event(), Event()
    name = next(name for name, member in vars(Routing).items() if isinstance(member, cached_property))

    def slow(_: Any) -> int:
        held.set()
        done.wait(60)
        return 1

    monkeypatch.setattr(vars(Routing)[name], "func", slow)
    looking = threading.Thread(target=lambda: getattr(object.__new__(Routing), name))
    looking.start()
    assert held.wait(60)
    child = os.fork()
    if child == 0:
        done.set()
        signal.alarm(20)
        os._exit(getattr(object.__new__(Routing), name))
    _, status = os.waitpid(child, 0)
    done.set()
    looking.join()
    assert os.waitstatus_to_exitcode(status) == 1
