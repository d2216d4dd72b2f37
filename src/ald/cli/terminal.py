"""What the command shows: a bar while it works, then the result, in the format that was asked for."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from ald.results.audit import Audit

# The whole table needs a terminal of this width.
_TABLE_WIDTH = 120


@contextlib.contextmanager
def show_progress() -> Iterator[Callable[[str, float], None] | None]:
    """A bar on stderr if that is a terminal; otherwise nothing."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    # Nobody knows how long loading takes: until it is done the bar moves to and fro, and the clock runs.
    steps = {"search": (0.0, 0.9), "repeat": (0.0, 0.9), "assess": (0.9, 0.06), "rank": (0.96, 0.04)}
    shown = TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), TimeElapsedColumn()
    with Progress(*shown, console=console(stderr=True), transient=True) as bar:
        task = bar.add_task("load", total=None)

        def update(step: str, share: float) -> None:
            if step in steps:
                start, width = steps[step]
                bar.update(task, description=step, total=1.0, completed=start + width * share)

        yield update


def console(*, stderr: bool = False) -> Any:
    from rich.console import Console

    return Console(stderr=stderr, markup=False, highlight=False, emoji=False)


def show(result: Audit, format_: str, output: tuple[str, ...]) -> None:
    from ald.groups.criterion import visible
    from ald.report.files import write_report

    for path in output:
        write_report(result, path)
        click.echo(f"Wrote {visible(path)}", err=True)
    if format_ == "table":
        print_table(result)
    else:
        text = {"json": result.to_json, "csv": result.to_csv, "markdown": result.to_markdown}[format_]()
        click.echo(text, nl=False)


def print_table(result: Audit, *, brief: bool = False) -> None:
    """Prints the listed groups and, unless it should be brief, what was done."""
    from rich import box
    from rich.table import Table

    from ald.groups.criterion import visible
    from ald.report.law import profile_sections
    from ald.report.sentences import headline
    from ald.report.summary import LIMITATION, facts
    from ald.report.summary import result as result_of
    from ald.report.table import printed
    from ald.report.text import section_text

    out = console()
    out.print(visible(headline(result)), style="bold")
    out.print(visible(result_of(result)))
    cells = printed(result)
    # A number is never cut: where the whole table does not fit, the main columns do, and the rest goes below it.
    narrow = out.width < _TABLE_WIDTH
    shown = [cell for cell in cells if cell.is_main] if narrow else cells
    if result.groups:
        table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 1, 0), pad_edge=False)
        for cell in shown:
            width = max(len(cell.header), *(len(cell.text(finding)) for finding in result.groups))
            table.add_column(visible(cell.header), justify="right" if cell.is_number else "left", overflow="fold",
                             no_wrap=cell.is_number and narrow, min_width=width if cell.is_short else 12)  # fmt: skip
        for finding in result.groups:
            table.add_row(*(visible(cell.text(finding)) for cell in shown))
        out.print(table)
    if narrow:
        for i, finding in enumerate(result.groups, 1):
            rest = ", ".join(
                f"{cell.header} {cell.text(finding)}" for cell in cells if not cell.is_main and cell.text(finding)
            )
            out.print(visible(f"Group {i}: {rest}."))
    for fact in [] if brief else facts(result):
        out.print(visible(fact), style="yellow" if fact.startswith("Warning") else "dim")
    for section in profile_sections(result):
        out.print(f"\n{section_text(section)}", soft_wrap=True)
    if not brief:
        out.print(LIMITATION, style="dim italic")
