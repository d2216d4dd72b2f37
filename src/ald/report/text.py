"""The audit as plain text, for `print(audit)` and files."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from ald.groups.criterion import visible
from ald.report.model import Column, Entry, Report, Section, Table
from ald.report.words import shortened

_WIDTH = 110
_CELL = 40


def to_text(report: Report) -> str:
    """Headline, one block per listed group, facts and limitation."""
    blocks = [textwrap.fill(visible(report.headline), _WIDTH)]
    blocks += [section_text(report.giveaways)] if report.giveaways is not None else []
    blocks.append(textwrap.fill(visible(report.result), _WIDTH))
    for i, row in enumerate(report.brief.rows, 1):
        details = textwrap.fill(visible(with_headers(report.brief.columns[1:], row[1:])), _WIDTH, initial_indent="   ",
                                subsequent_indent="   ")  # fmt: skip
        blocks.append(f"{i}. {row[0].text}\n{details}")
    lines = (*report.facts, *(f"Warning: {warning}" for warning in report.warnings))
    blocks.append("\n".join(textwrap.fill(visible(line), _WIDTH, subsequent_indent="  ") for line in lines))
    blocks += [section_text(section) for section in report.profile]
    blocks.append(textwrap.fill(report.limitation, _WIDTH))
    return "\n\n".join(blocks)


def with_headers(columns: Sequence[Column], row: Sequence[Entry]) -> str:
    """The entries of a row, each with its header; empty ones are left out."""
    pairs = zip(columns, row, strict=True)
    return ", ".join(f"{column.header} {entry.text}" for column, entry in pairs if entry.text)


def section_text(section: Section) -> str:
    """A section with its title, its sentences, and its table in aligned columns."""
    lines = [visible(section.title), *(textwrap.fill(visible(text), _WIDTH) for text in section.paragraphs)]
    return "\n".join(lines + (_aligned(section.table) if section.table is not None else []))


def _aligned(table: Table) -> list[str]:
    rows = [[column.header for column in table.columns], *([entry.text for entry in row] for row in table.rows)]
    shown = [[shortened(visible(text), _CELL) for text in row] for row in rows]
    widths = [max(len(row[k]) for row in shown) for k in range(len(table.columns))]
    pads = [str.rjust if column.is_number else str.ljust for column in table.columns]
    return [
        "  ".join(pad(text, width) for pad, text, width in zip(pads, row, widths, strict=True)).rstrip()
        for row in shown
    ]
