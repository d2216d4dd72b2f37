"""The command `ald`: parse, call, print. Heavy imports happen inside commands, so that --help is instant."""

from __future__ import annotations

import io
import os
import signal
import sys
from typing import Any

import click

from ald._core.version import __version__
from ald.cli.audit import audit, demo, profile
from ald.cli.check import check
from ald.cli.compare import compare
from ald.cli.lists import data, notions, version
from ald.cli.look import look
from ald.cli.report import report
from ald.cli.reproduce import reproduce
from ald.cli.signals import interrupted_by_signals
from ald.errors import AldError, CriterionError


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="ald", message="%(prog)s %(version)s")
def cli() -> None:
    """ALD: which groups of people get disparate outcomes, how large is the disparity, and how sure are we?"""


for command in (audit, look, profile, compare, check, report, demo, notions, data, reproduce, version):
    cli.add_command(command)


def main() -> None:
    """The entry point: errors are sentences on stderr with exit code 2, never tracebacks."""
    for stream in (sys.stdout, sys.stderr):  # a level's name may hold what the terminal's encoding does not
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    received: list[int] = []
    try:
        with interrupted_by_signals(received):
            status = _ended(received)
    except click.ClickException as error:
        error.show()
        status = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted; no file is half written.", err=True)
        status = 128 + (received[0] if received else signal.SIGINT)
    except AldError as error:
        from ald.groups.criterion import visible

        # An error in a criterion shows the place on lines of its own, in which nothing is left to be made visible.
        lines = str(error).split("\n") if isinstance(error, CriterionError) else [str(error)]
        click.echo("Error: " + "\n".join(visible(line) for line in lines), err=True)
        status = 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 0
    except OSError as error:
        from ald.groups.criterion import visible

        click.echo(f"Error: {visible(str(error))}", err=True)
        status = 2
    sys.exit(status if isinstance(status, int) else 0)


def _ended(received: list[int]) -> Any:
    """Runs the command. Whatever fails after a signal has ended its processes, failed by that."""
    try:
        return cli(prog_name="ald", standalone_mode=False)
    except Exception:
        if received:
            raise KeyboardInterrupt from None
        raise
