"""The report on a terminal."""

from __future__ import annotations

import textwrap

from rich.console import Console

from ald.groups.criterion import visible
from ald.report.model import Report
from ald.report.text import first_screen, section_text

# Wider lines are hard to read.
_WIDEST = 140


class _Console(Console):
    """A console that leaves to others what it means that nobody reads; Rich would end with 1."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def open_console(*, stderr: bool = False) -> Console:
    """A console on which no text is taken for markup."""
    return _Console(stderr=stderr, markup=False, highlight=False, emoji=False)


def print_report(report: Report, *, brief: bool = False) -> None:
    """Prints the first screen and, unless it should be brief, what was done."""
    console = open_console()
    width = _width(console)
    blocks = list(first_screen(report, width, brief=brief))
    if not brief:
        console.print(blocks.pop(0), style="dim", soft_wrap=True)
    console.print(blocks.pop(0), style="bold", soft_wrap=True)
    for block in blocks:
        console.print(f"\n{block}", soft_wrap=True)
    if brief:
        return
    console.print()
    for fact in report.facts:
        console.print(visible(fact), style="dim")
    for warning in report.warnings:
        console.print(visible(f"Warning: {warning}"), style="yellow")
    for section in report.profile:
        console.print(f"\n{section_text(section, width)}", soft_wrap=True)
    console.print(report.limitation, style="dim italic")


def print_named(report: Report) -> None:
    """Prints what was found of the groups that were named, and each in every stratum."""
    console = open_console()
    width = _width(console)
    told = [section for section in report.sections if section.key.startswith("named-")]
    console.print(textwrap.fill(visible(report.facts[0]), width), style="bold", soft_wrap=True)
    for section in told:
        console.print(section_text(section, width), soft_wrap=True)


def _width(console: Console) -> int:
    return min(console.width, _WIDEST)
