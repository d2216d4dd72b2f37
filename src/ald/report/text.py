"""The audit as plain text, for `print(audit)` and files."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from ald.groups.criterion import visible
from ald.report.layout import lines_of
from ald.report.model import Report, Section

_WIDTH = 110


def to_text(report: Report) -> str:
    """The first screen, then what was done."""
    blocks = list(first_screen(report, _WIDTH))
    lines = (*report.facts, *(f"Warning: {warning}" for warning in report.warnings))
    blocks.append("\n".join(textwrap.fill(visible(line), _WIDTH, subsequent_indent="  ") for line in lines))
    blocks += [section_text(section) for section in report.profile]
    blocks.append(textwrap.fill(report.limitation, _WIDTH))
    return "\n\n".join(blocks)


def first_screen(report: Report, width: int, *, brief: bool = False) -> Iterator[str]:
    """The verdict, the groups, every attribute's own gap, and what could have been seen, as blocks of lines.

    brief: without what explains the tables.
    """

    def filled(text: str) -> str:
        return textwrap.fill(visible(text), width)

    if not brief:
        yield filled(" · ".join((report.title, *report.made)))
    yield filled(report.headline)
    if not brief:
        yield from (filled(note) for note in report.notes)
        yield filled(" ".join((*report.lead, *_mind(report))))
    if report.giveaways is not None:
        yield section_text(report.giveaways, width)
    groups = lines_of(report.brief, width, numbered=True) if report.brief.rows else []
    note = [filled(report.footnote)] if report.footnote and groups and not brief else []
    yield "\n".join([filled(report.result), *groups, *note])
    for section in report.overview[: 1 if brief else None]:
        if section.has_words:
            yield section_text(section, width)


def _mind(report: Report) -> Iterator[str]:
    """That there are warnings, said where nobody overlooks it."""
    n = len(report.warnings)
    if n:
        yield f"Mind the {'warning' if n == 1 else f'{n:,} warnings'} below."


def section_text(section: Section, width: int = _WIDTH) -> str:
    """A section with its title, its sentences, and its table."""
    lines = [visible(section.title), *(textwrap.fill(visible(text), width) for text in section.paragraphs)]
    return "\n".join(lines + (lines_of(section.table, width) if section.table is not None else []))
