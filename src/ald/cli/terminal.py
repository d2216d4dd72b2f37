"""What the command shows: a bar while it works, then the result, in the format that was asked for."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import click

from ald._core.steps import share_of_whole

if TYPE_CHECKING:
    from ald.report.identity import Identity
    from ald.results.reported import Reported


def tell(said: str | Callable[[], object]) -> None:
    """Says something on stderr, or has it said; a stream that takes nothing is no reason to stop."""
    with contextlib.suppress(OSError):
        if callable(said):
            said()
        else:
            click.echo(said, err=True)


@contextlib.contextmanager
def show_progress() -> Iterator[Callable[[str, float], None] | None]:
    """A bar on stderr if that is a terminal; otherwise nothing."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    from ald.report.terminal import open_console

    # Until it is known how far the audit is, the bar moves to and fro, and the clock runs.
    clocks = TimeElapsedColumn(), TextColumn("left:"), TimeRemainingColumn()
    shown = TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), *clocks
    with Progress(*shown, console=open_console(stderr=True), transient=True) as bar:
        task = bar.add_task("load", total=None)

        def update(step: str, share: float) -> None:
            done = share_of_whole(step, share)
            if done is not None:
                bar.update(task, description=step, total=1.0, completed=done)

        yield update


def show(result: Reported, format_: str | None, output: tuple[str, ...], identity: Identity) -> None:
    """Writes the reports, and prints the result in a format, if there is one."""
    from ald.groups.criterion import visible
    from ald.report.files import write_report
    from ald.report.markdown import to_markdown
    from ald.report.terminal import print_report

    for path in output:
        write_report(result, path, identity)
        tell(f"Wrote {visible(path)}")
    if format_ == "table":
        print_report(result.summarise(identity))
    elif format_ is not None:
        texts: dict[str, Callable[[], str]] = {
            "json": result.to_json,
            "csv": result.to_csv,
            "markdown": partial(to_markdown, result.summarise(identity)),
        }
        click.echo(texts[format_](), nl=False)
