"""The audit as plain text, for `print(audit)` and files."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from ald.groups.criterion import visible
from ald.report.law import profile_sections
from ald.report.sentences import headline
from ald.report.summary import LIMITATION, Section, facts, result
from ald.report.table import Table, printed
from ald.report.words import shortened

if TYPE_CHECKING:
    from ald.results.audit import Audit

_WIDTH = 110
_CELL = 40


def to_text(audit: Audit) -> str:
    """Headline, one block per listed group, facts and limitation."""
    blocks = [textwrap.fill(visible(line), _WIDTH) for line in (headline(audit), result(audit))]
    cells = printed(audit)
    for i, finding in enumerate(audit.groups, 1):
        numbers = visible(", ".join(f"{cell.header} {cell.text(finding)}" for cell in cells[1:] if cell.text(finding)))
        details = textwrap.fill(numbers, _WIDTH, initial_indent="   ", subsequent_indent="   ")
        blocks.append(f"{i}. {cells[0].text(finding)}\n{details}")
    blocks.append("\n".join(textwrap.fill(visible(line), _WIDTH, subsequent_indent="  ") for line in facts(audit)))
    blocks += [section_text(section) for section in profile_sections(audit)]
    blocks.append(textwrap.fill(LIMITATION, _WIDTH))
    return "\n\n".join(blocks)


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
