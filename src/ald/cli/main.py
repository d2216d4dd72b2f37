"""The command `ald`: parse, call, print. Heavy imports happen inside commands, so that --help is instant."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
from typing import Any

import click

from ald._core.shortage import shortage_in_words
from ald._core.version import __version__
from ald.cli.audit import audit, demo, profile
from ald.cli.check import check
from ald.cli.compare import compare
from ald.cli.lists import data, notions, version
from ald.cli.look import look
from ald.cli.report import report
from ald.cli.reproduce import reproduce
from ald.cli.serve import serve
from ald.cli.signals import interrupted_by_signals
from ald.cli.terminal import tell
from ald.cli.verify import verify
from ald.cli.watch import watch
from ald.errors import AldError, CriterionError


class _OutputClosedError(Exception):
    """Nobody reads what the command prints: it is done."""


class _Commands(click.Group):
    """The commands; Click would end with 1 where a reader of the output has gone, as `head` does."""

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except BrokenPipeError:
            raise _OutputClosedError from None


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="ald", message="%(prog)s %(version)s")
def cli() -> None:
    """ALD: which groups of people get disparate outcomes, how large is the disparity, and how sure are we?"""


for command in (
    audit,
    look,
    profile,
    compare,
    watch,
    check,
    report,
    verify,
    demo,
    notions,
    data,
    serve,
    reproduce,
    version,
):
    cli.add_command(command)


def main() -> None:
    """The entry point: errors are sentences on stderr with exit code 2, never tracebacks."""
    _open_streams()
    received: list[int] = []
    try:
        with interrupted_by_signals(received), shortage_in_words():
            status = _run_command(received)
            sys.stdout.flush()
    except click.ClickException as error:
        tell(error.show)
        status = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        tell("Interrupted; no file is half written.")
        status = 128 + (received[0] if received else signal.SIGINT)
    except AldError as error:
        from ald.groups.criterion import visible

        # An error in a criterion shows the place on lines of its own, in which nothing is left to be made visible.
        lines = str(error).split("\n") if isinstance(error, CriterionError) else [str(error)]
        tell("Error: " + "\n".join(visible(line) for line in lines))
        status = 2
    except (_OutputClosedError, BrokenPipeError):
        _discard(sys.stdout)
        status = 0
    except OSError as error:
        from ald.groups.criterion import visible

        tell(f"Error: {visible(str(error))}")
        _discard(sys.stdout)
        status = 2
    sys.exit(status if isinstance(status, int) else 0)


def _open_streams() -> None:
    """Streams that are closed lead nowhere, lest files that we open take their numbers."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):  # a level's name may hold what the terminal's encoding does not
            stream.reconfigure(errors="backslashreplace")


def _discard(stream: Any) -> None:
    """Has what is left in a stream that cannot be written to go nowhere, so that Python ends in peace."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _run_command(received: list[int]) -> Any:
    """Runs the command. Whatever fails after a signal has ended its processes, failed by that."""
    try:
        return cli(prog_name="ald", standalone_mode=False)
    except Exception:
        if received:
            raise KeyboardInterrupt from None
        raise
