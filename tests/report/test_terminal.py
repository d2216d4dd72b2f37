"""The report on a terminal: what fits stands in the table, the rest below it."""

from __future__ import annotations

import io
import sys

import pytest

import ald
from ald.report.model import Report
from ald.report.terminal import open_console, print_report
from tests.tables import hostile, people


@pytest.fixture(scope="module")
def report() -> Report:
    columns = people()
    columns["sex"] = [value if i % 3 else value.lower() for i, value in enumerate(columns["sex"])]
    return ald.audit(columns, outcome="y", search=ald.Search(trees=5)).report()


@pytest.mark.parametrize("width", [60, 80, 140])
def test_every_number_is_there(
    report: Report, width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """At every width each number of the listed groups is printed whole."""
    monkeypatch.setenv("COLUMNS", str(width))
    print_report(report)
    printed = " ".join(capsys.readouterr().out.split())
    assert report.brief.rows
    for column, *entries in zip(report.brief.columns, *report.brief.rows, strict=True):
        if column.is_number and column.is_short:
            assert all(entry.text in printed for entry in entries)


def test_brief(report: Report, capsys: pytest.CaptureFixture[str]) -> None:
    """The brief form has the headline and the groups, and leaves out what was done."""
    print_report(report, brief=True)
    brief = " ".join(capsys.readouterr().out.split())
    print_report(report)
    whole = " ".join(capsys.readouterr().out.split())
    assert report.headline in brief
    assert "Warning: " in whole
    assert "Warning: " not in brief
    assert report.limitation in whole


def test_hostile_names_do_not_act_on_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """Control characters in names and levels are shown, not sent; square brackets are no markup."""
    names = ["\x1b[31mred", "[bold]x[/bold]"]
    print_report(ald.audit(hostile(names, ["[red]a", "b\x07", "c"]), outcome="y", search=ald.Search(trees=2)).report())
    printed = capsys.readouterr().out
    assert "\x1b" not in printed
    assert "\x07" not in printed
    assert "[bold]x[/bold]" in printed or "[red]a" in printed


def test_nobody_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    """That nobody reads is an error like that of any other stream, for the command to say what it means."""

    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stdout", Gone())
    with pytest.raises(BrokenPipeError):
        open_console().print("x")
