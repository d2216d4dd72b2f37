"""The report as Markdown, for model cards and pull requests: everything but the pictures.

Text stays readable: only what would be markup where it stands is escaped.
"""

from __future__ import annotations

import re

from ald.errors import SettingError
from ald.groups.criterion import visible
from ald.report.model import Card, Grid, Report, Section
from ald.report.words import shorten

# Longer names are cut in headings.
_NAME = 120

# What renderers turn into links, mentions, references and pictures after all escapes are gone: shown as code instead.
_ACTIVE = re.compile(r"\S*(?:@\w|://|www\.|mailto:|xmpp:|#\d|\bGH-\d|:[\w+-]+:)\S*", re.IGNORECASE)

_SPECIAL = re.compile(
    r"""
    \\(?=[!-/:-@\[-`{-~]|$)             # a backslash that would escape something, or break the line
    | [`\[~$]
    | (?<!\s)\*+|\*+(?!\s)              # emphasis, but not a star between spaces
    | (?<![^\W_])_+|_+(?![^\W_])        # emphasis, but not inside a word
    | <(?=[A-Za-z/!?])                  # HTML, but not "less than"
    | &(?=\#?\w+;)                      # an entity
    | (?<=\s)\#+$                       # the end of a heading
    """,
    re.VERBOSE,
)
# A heading, quotation, list or rule where a block begins, up to the character to escape.
_START = re.compile(r"(?:[-+](?=\s|$)|\#(?=\#{0,5}(?:\s|$))|>|=(?==*\s*$)|-(?=[-\s]*$)|\d{1,9}[.)](?=\s|$))")


def escape(text: str) -> str:
    """Text that Markdown shows as it is: no markup, no HTML, no link.

    >>> print(escape("age <= 30 and high_risk = <b>"), escape("*a*"), escape("see www.example.org"))
    age <= 30 and high_risk = \\<b> \\*a\\* see `www.example.org`
    """
    escaped = _inline(text)
    start = _START.match(escaped)
    return f"{escaped[: start.end() - 1]}\\{escaped[start.end() - 1 :]}" if start else escaped


def _inline(text: str) -> str:
    """The same where no block can begin."""
    shown = visible(text).strip()
    parts, at = [], 0
    for active in _ACTIVE.finditer(shown):
        parts += [_escape(shown[at : active.start()]), code_span(active.group())]
        at = active.end()
    return "".join([*parts, _escape(shown[at:])])


def _escape(text: str) -> str:
    return _SPECIAL.sub(lambda match: "".join(f"\\{character}" for character in match.group()), text)


def code_span(text: str) -> str:
    """The text as code in a line, whatever backticks it holds.

    >>> print(code_span("a"), code_span("`b"))
    `a` `` `b ``
    """
    fence = _fence(text, 1)
    padding = " " if text.startswith("`") or text.endswith("`") or (text[:1] == text[-1:] == " ") else ""
    return f"{fence}{padding}{text}{padding}{fence}"


def code_block(text: str, language: str) -> list[str]:
    """The text as a block of code, whatever backticks it holds."""
    fence = _fence(text, 3)
    return [f"{fence}{language}", *visible(text).splitlines(), fence, ""]


def _fence(text: str, least: int) -> str:
    """More backticks than stand in a row anywhere in the text."""
    return "`" * max([least, *(len(run) + 1 for run in re.findall("`+", text) if len(run) + 1 > least)])


def to_markdown(report: Report, heading: int = 1) -> str:
    """Headline, ranked table, every group, and all sections; titles start at this level of heading."""
    if isinstance(heading, bool) or not isinstance(heading, int) or not 1 <= heading <= 4:
        raise SettingError(f"heading must be a level from 1 to 4, not {heading!r}")
    title = "#" * heading
    lines = [f"{title} {escape(report.title)}", "", *_paragraphs((" · ".join(report.made),))]
    lines += [f"**{escape(report.headline)}**", "", *_paragraphs((*report.lead, *report.notes, report.limitation))]
    if report.giveaways is not None:
        lines += _section(report.giveaways, title)
    lines += [f"{title}# {report.groups_title}", ""]
    lines += _paragraphs((report.result,))
    if report.brief.rows:
        lines += _list_groups(report)
    lines += _paragraphs((report.footnote,) if report.footnote and report.brief.rows else ())
    for section in report.overview:
        if section.has_words:
            lines += _section(section, title)
    for card in report.cards:
        lines += _card(card, f"{title}##")
    for section in report.sections:
        lines += _section(section, title)
    return "\n".join(lines)


def _section(section: Section, title: str) -> list[str]:
    tables = [line for table in (section.table, section.more) if table is not None for line in _table(table)]
    return [f"{title}# {escape(section.title)}", "", *_paragraphs(section.paragraphs), *tables]


def _paragraphs(texts: tuple[str, ...]) -> list[str]:
    return [line for text in texts for line in (escape(text), "")]


def _entry(text: str) -> str:
    """A text as an entry of a table: a bar in it ends no entry, not even in code."""
    return _inline(text).replace("|", "\\|")


def _list_groups(report: Report) -> list[str]:
    """The listed groups in the few columns that fit a page."""
    columns = report.brief.columns
    rows = [[str(i), *(_entry(entry.text) for entry in row)] for i, row in enumerate(report.brief.rows, 1)]
    header = ["#", *(_entry(column.header) for column in columns)]
    return _rows(header, [True, *(column.is_number for column in columns)], rows)


def _table(table: Grid) -> list[str]:
    header = [_entry(column.header) for column in table.columns]
    rows = [[_entry(entry.text) for entry in row] for row in table.rows]
    caption = escape(table.caption)
    return [f"{caption}:", "", *_rows(header, [column.is_number for column in table.columns], rows)]


def _rows(header: list[str], is_number: list[bool], rows: list[list[str]]) -> list[str]:
    lines = [f"| {' | '.join(entries)} |" for entries in (header, *rows)]
    lines.insert(1, "|" + "|".join("--:" if number else "---" for number in is_number) + "|")
    return [*lines, ""]


def _card(card: Card, title: str) -> list[str]:
    about = f" ({escape(card.about)})" if card.about else ""
    lines = [f"{title} Group {card.rank}: {escape(shorten(card.criterion, _NAME))}{about}", ""]
    lines += _paragraphs(card.sentences)
    for table in (card.numbers, card.quantiles, card.bands, card.breakdown, card.beside, card.strata, card.close):
        if table is not None:
            lines += _table(table)
    lines += code_block(card.pandas, "python")
    if card.sql is not None:
        lines += code_block(card.sql, "sql")
    return lines
