"""The Java process of a Spark session that ald starts: it starts silently, and ends when the command is interrupted."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread, current_thread, main_thread
from typing import Any

from pyspark import SparkConf, SparkContext, java_gateway

from ald._core.threads import ended_by_signals

# Options of Java are the weakest of Spark's settings: any configuration of the user's takes precedence.
_DEFAULTS = "-Dspark.ui.showConsoleProgress=false"
# Ends what is held back; no log has it.
_MARK = b"\0ald\0"
# Seconds: between two looks at signals, and for Java to end.
_MOMENT, _END = 0.05, 5.0


class Errors:
    """What a process writes on stderr: held back until it is known whether it is wanted, and passed on from then on."""

    def __init__(self) -> None:
        self._source, self.target = os.pipe()
        self._is_wanted, self._is_told = True, Event()
        Thread(target=self._pass_on, name="ald-errors", daemon=True).start()

    def release(self, *, is_wanted: bool) -> None:
        """Shows what was written so far, or drops it."""
        self._is_wanted = is_wanted
        os.write(self.target, _MARK)
        os.close(self.target)
        self._is_told.wait(_END)

    def _pass_on(self) -> None:
        held = b""
        while _MARK not in held and (data := os.read(self._source, 1 << 16)):
            held += data
        before, _, after = held.partition(_MARK)
        with suppress(OSError):  # nobody may read our stderr any more
            _write(before + after if self._is_wanted else after)
            self._is_told.set()
            while data := os.read(self._source, 1 << 16):
                _write(data)
        self._is_told.set()


def _write(data: bytes) -> None:
    while data:
        data = data[os.write(2, data) :]


@contextmanager
def silently() -> Iterator[None]:
    """Without a warning that Spark gives of any pandas that is newer than itself; no pandas takes part here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        yield


@contextmanager
def own_handler() -> Iterator[None]:
    """A new session takes Ctrl-C over from Python; from a program that handles it itself, it shall not."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if before not in (None, signal.default_int_handler) and current_thread() is main_thread():
            signal.signal(signal.SIGINT, before)


def launch(master: str | None) -> Errors | None:
    """Starts Java for a session, if there is none yet that it would use, and gives what Java writes on stderr.

    In a thread: Spark forgets a process that is interrupted while it starts, and that process would not end.
    """
    if SparkContext._gateway is not None or "PYSPARK_GATEWAY_PORT" in os.environ:
        return None
    settings = SparkConf().setAppName("ald")
    settings = settings if master is None else settings.setMaster(master)
    errors, made, failed, is_done = Errors(), [], [], Event()
    processes: list[subprocess.Popen[Any]] = []

    def start() -> None:
        try:
            with SparkContext._lock, _java_options(), _record_process(processes):
                made.append(java_gateway.launch_gateway(settings, {"stderr": errors.target}))
        except BaseException as error:
            failed.append(error)
        is_done.set()

    try:
        Thread(target=start, name="ald-spark", daemon=True).start()
        while not is_done.wait(_MOMENT):  # a join that is interrupted takes the thread for ended, until Python 3.12
            pass
    except BaseException:
        # An interrupt may come before the thread began, and then it never does.
        end = time.monotonic() + _END
        while not processes and not is_done.wait(_MOMENT) and time.monotonic() < end:
            pass
        for process in processes:
            _end(process)
        is_done.wait(_END)  # it removes a folder
        errors.release(is_wanted=False)
        raise
    if failed:
        errors.release(is_wanted=True)
        raise failed[0]
    (gateway,) = made
    SparkContext._ensure_initialized(gateway=gateway)
    ended_by_signals(lambda: _end_for_good(gateway.proc))
    return errors


@contextmanager
def _record_process(processes: list[subprocess.Popen[Any]]) -> Iterator[None]:
    """Notes the process that Spark starts, which it gives to nobody before it answers."""

    class Recorded(subprocess.Popen[Any]):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            processes.append(self)

    before = java_gateway.Popen
    java_gateway.Popen = Recorded
    try:
        yield
    finally:
        java_gateway.Popen = before


@contextmanager
def _java_options() -> Iterator[None]:
    before = os.environ.get("SPARK_SUBMIT_OPTS")
    os.environ["SPARK_SUBMIT_OPTS"] = f"{_DEFAULTS} {before or ''}".strip()
    try:
        yield
    finally:
        if before is None:
            del os.environ["SPARK_SUBMIT_OPTS"]
        else:
            os.environ["SPARK_SUBMIT_OPTS"] = before


def _end_for_good(process: subprocess.Popen[Any]) -> None:
    """Ends Java in a program that ends too: that connections break then is no news.

    Py4J logs it, in several logs, and its finalizers, which the signal may have interrupted too, would print it.
    """
    logging.disable()
    sys.unraisablehook = lambda _: None
    _end(process)


def _end(process: subprocess.Popen[Any]) -> None:
    """Ends Java, which removes its temporary files if it can."""
    process.terminate()
    try:
        process.wait(_END)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
