"""The report on a terminal."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table as Grid

from ald.groups.criterion import visible
from ald.report.model import Report, Table
from ald.report.text import section_text, with_headers

# The whole table needs a terminal of this width.
_TABLE_WIDTH = 120


def open_console(*, stderr: bool = False) -> Console:
    """A console on which no text is taken for markup."""
    return Console(stderr=stderr, markup=False, highlight=False, emoji=False)


def print_report(report: Report, *, brief: bool = False) -> None:
    """Prints the listed groups and, unless it should be brief, what was done."""
    console = open_console()
    console.print(visible(report.headline), style="bold")
    if report.giveaways is not None:
        console.print(visible(report.giveaways.title), style="bold")
        for text in report.giveaways.paragraphs:
            console.print(visible(text))
        if report.giveaways.table is not None:
            _print_table(report.giveaways.table, "Column", console)
    console.print(visible(report.result))
    _print_table(report.brief, "Group", console)
    if not brief:
        for fact in report.facts:
            console.print(visible(fact), style="dim")
        for warning in report.warnings:
            console.print(visible(f"Warning: {warning}"), style="yellow")
    for section in report.profile:
        console.print(f"\n{section_text(section)}", soft_wrap=True)
    if not brief:
        console.print(report.limitation, style="dim italic")


def _print_table(table: Table, what: str, console: Console) -> None:
    # A number is never cut: where the whole table does not fit, the main columns do, and the rest goes below it.
    narrow = console.width < _TABLE_WIDTH
    if table.rows:
        console.print(_grid(table, narrow))
    for i, row in enumerate(table.rows if narrow else (), 1):
        rest = [k for k, column in enumerate(table.columns) if not column.is_main]
        numbers = with_headers([table.columns[k] for k in rest], [row[k] for k in rest])
        console.print(visible(f"{what} {i}: {numbers}."))


def _grid(table: Table, narrow: bool) -> Grid:
    shown = [k for k, column in enumerate(table.columns) if column.is_main or not narrow]
    grid = Grid(box=box.SIMPLE_HEAD, padding=(0, 1, 1, 0), pad_edge=False)
    for k in shown:
        column = table.columns[k]
        width = max(len(column.header), *(len(row[k].text) for row in table.rows))
        grid.add_column(visible(column.header), justify="right" if column.is_number else "left", overflow="fold",
                        no_wrap=column.is_number and narrow, min_width=width if column.is_short else 12)  # fmt: skip
    for row in table.rows:
        grid.add_row(*(visible(row[k].text) for k in shown))
    return grid
