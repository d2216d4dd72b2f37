"""Threads for work that releases the GIL. Their number changes no result."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing, contextmanager, suppress
from functools import cache, cached_property
from queue import Empty, Full, Queue
from threading import Event, RLock, Thread, current_thread, main_thread
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

# Items that are made before they are asked for.
_AHEAD = 2
# Seconds: between two looks at what else has happened, and for work that is cancelled to end.
_MOMENT = 0.05
_PATIENCE = 0.8
# What ends processes that we have started.
_ENDINGS: list[Callable[[], object]] = []


def available_threads() -> int:
    """The cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="ald")


def _renew_locks() -> None:
    """Cached properties have locks before Python 3.12. One that another thread held at a fork is free in the child."""
    modules = [module for name, module in list(sys.modules.items()) if name.partition(".")[0] == "ald"]
    classes = [value for module in modules for value in list(vars(module).values()) if isinstance(value, type)]
    for member in (member for each in classes for member in vars(each).values()):
        if isinstance(member, cached_property) and hasattr(member, "lock"):
            member.lock = RLock()


# Threads do not survive a fork: a child process starts its own.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)
    os.register_at_fork(after_in_child=_renew_locks)


def in_threads(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    threads: int,
    told: Callable[[float], None] = lambda share: None,
) -> list[Result]:
    """The results of a function for every item, in order. Where one fails, no others go on.

    told: is called with the share of the items that is done, by the calling thread.
    """
    items = list(items)
    found: list[Result] = []
    if threads < 2 or len(items) < 2:
        for item in items:
            found.append(function(item))
            told(len(found) / len(items))
        return found
    working = [_pool(threads).submit(function, item) for item in items]
    try:
        for work in working:
            found.append(work.result())
            told(len(found) / len(items))
        return found
    except BaseException as error:
        for work in working:
            work.cancel()
        # Nothing goes on after a failure is told. Interrupts are told at once.
        if isinstance(error, Exception):
            wait(working)
        raise


def ahead(items: Generator[Item, None, None], cancel: Callable[[], object]) -> Generator[Item, None, None]:
    """The items (none of them None), made by a thread while those before are used: interrupts need not wait for them.

    cancel: makes the thread's work fail soon. It is called if no more items are wanted, from another thread: neither
    is waited for long.
    """
    made: Queue[Item | BaseException | None] = Queue(_AHEAD)
    unwanted = Event()

    def put(item: Item | BaseException | None) -> None:
        while not unwanted.is_set():
            with suppress(Full):
                made.put(item, timeout=_MOMENT)
                return

    def make() -> None:
        with closing(items):
            try:
                for item in items:
                    put(item)
                    if unwanted.is_set():
                        return
            except BaseException as error:
                put(error)
            else:
                put(None)

    def stop() -> None:
        while maker.is_alive():
            cancel()
            maker.join(_MOMENT)

    maker = Thread(target=make, name="ald-ahead", daemon=True)
    maker.start()
    try:
        while True:
            try:
                item = made.get(timeout=_MOMENT)  # a wait without end cannot be interrupted on Windows
            except Empty:
                continue
            if isinstance(item, BaseException):
                raise item
            if item is None:
                return
            yield item
    finally:
        unwanted.set()
        stopper = Thread(target=stop, name="ald-stop", daemon=True)
        stopper.start()
        stopper.join(_PATIENCE)


@contextmanager
def on_interrupt(action: Callable[[], object]) -> Iterator[None]:
    """Calls an action as soon as a signal asks us to stop, also while the main thread is busy outside of Python.

    Python itself handles signals only when that thread comes back to it. In other threads nothing is done.
    """
    if current_thread() is not main_thread():
        yield
        return
    stopping = {int(getattr(signal, name)) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)}
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    before = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)

    def listen() -> None:
        while received := ours.recv(64):
            if before != -1:  # somebody else listens too
                with suppress(OSError):
                    os.write(before, received)
            if stopping & set(received):
                action()

    listener = Thread(target=listen, name="ald-signals", daemon=True)
    listener.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        theirs.close()
        listener.join()
        ours.close()


def ended_by_signals(end: Callable[[], object]) -> None:
    """Has a process that we have started ended by `end` if a command is interrupted. Other programs keep it."""
    _ENDINGS.append(end)


def end_processes() -> None:
    """Ends the processes that we have started."""
    while _ENDINGS:
        _ENDINGS.pop()()
