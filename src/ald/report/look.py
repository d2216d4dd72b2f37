"""A look at data as text and for notebooks: sections that both lay out."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from ald.groups.criterion import visible
from ald.report.markup import Markup, element
from ald.report.model import Entry, Grid, Heading, Section
from ald.report.notebook import fragment
from ald.report.text import section_text
from ald.report.units import POINTS, units_of
from ald.report.words import list_words, percent, shorten
from ald.results.look import ColumnLook, Look

_BLOCKS = " ▁▂▃▄▅▆▇█"
# Columns of the terminal: for a name, for values, for all; and for an end of a range of numbers or dates.
_NAME, _VALUES, _WIDTH = 19, 30, 80
_END = 10
# Values of words that a look has at most.
LEVELS = 5
_GUESSES = "Guessed from names and values: check them."


def histogram(counts: Sequence[int | None]) -> str:
    """Counts as blocks of up to full height; whatever is not 0 is seen, and what is too small to be told is a dot.

    >>> histogram((0, 1, 50, 100, None))
    ' ▁▄█·'
    """
    most = max((*(n for n in counts if n is not None), 1))
    return "".join(
        "·" if n is None else _BLOCKS[0 if n == 0 else max(1, n * (len(_BLOCKS) - 1) // most)] for n in counts
    )


def values(column: ColumnLook) -> str:
    """The range and histogram of numbers, or the most frequent values, as many as there is room for."""
    if column.histogram:
        low, high = (shorten((end or "").partition(" ")[0], _END) for end in (column.low, column.high))
        pairs = zip(column.histogram[::2], column.histogram[1::2], strict=True)
        return f"{low} {histogram([_sum_known(pair) for pair in pairs])} {high}"
    shown = [f"{shorten(one.level, 12)} {one.rows:,}" for one in column.levels]
    if not shown:
        return f"{column.distinct:,} values of few rows" if column.distinct else ""
    for n in range(len(shown), 0, -1):
        more = column.distinct - n
        text = ", ".join([*shown[:n], f"{more:,} more"] if more else shown[:n])
        if len(text) <= _VALUES:
            return text
    return shorten(", ".join(shown[:1]), _VALUES)


def _sum_known(counts: Sequence[int | None]) -> int | None:
    """Their sum; None where nothing is known but that it is small."""
    known = [n for n in counts if n is not None]
    return sum(known) if len(known) == len(counts) or any(known) else None


def sections(look: Look) -> tuple[Section, ...]:
    """Everything that is shown of a look."""
    parts = [f"{one.part.replace('_', ' ')}: {one.column!r} ({one.reason})" for one in look.parts]
    left_out = [f"{one.name!r}: {one.reason}" for one in look.left_out]
    found = [
        Section(
            key="columns",
            title=f"{look.rows:,} rows, {len(look.columns):,} columns",
            paragraphs=_say_hidden(look),
            table=_columns(look),
        ),
        Section(key="parts", title="What the columns may be", paragraphs=(*parts, _GUESSES)) if parts else None,
        Section(key="left-out", title="An audit leaves out", paragraphs=tuple(left_out)) if left_out else None,
        Section(key="warnings", title="Warnings", paragraphs=look.warnings) if look.warnings else None,
        _fitting(look),
        _power(look),
        Section(key="next", title="Next", paragraphs=tuple(text for text in (look.command, look.python) if text)),
    ]
    return tuple(section for section in found if section is not None)


def look_text(look: Look) -> str:
    """The look as plain text of 80 columns."""
    blocks = []
    for section in sections(look):
        if section.key == "next":  # commands stay in one piece, to be copied
            blocks.append("\n".join([section.title, *(f"  {visible(line)}" for line in section.paragraphs)]))
        elif section.table is not None:
            blocks.append(section_text(section))
        else:
            blocks.append("\n".join([section.title, *map(_fill, section.paragraphs)]))
    return "\n\n".join(blocks)


def _fill(text: str) -> str:
    return textwrap.fill(visible(text), _WIDTH, initial_indent="  ", subsequent_indent="    ")


def look_html(look: Look) -> str:
    """The look as a fragment for notebooks."""
    content: list[Markup] = []
    for section in sections(look):
        content.append(element("p", section.title, class_="headline"))
        tag = "code" if section.key == "next" else "span"
        content += [element("p", element(tag, shorten(text, 2000))) for text in section.paragraphs]
        content += [_table(section.table)] if section.table is not None else []
    return fragment(*content)


def _table(table: Grid) -> Markup:
    classes = ["number" if column.is_number else None for column in table.columns]
    head = [element("th", one.header, class_=c, scope="col") for one, c in zip(table.columns, classes, strict=True)]
    rows = [
        element("tr", [element("td", one.text, class_=c) for one, c in zip(row, classes, strict=True)])
        for row in table.rows
    ]
    return element("table", element("thead", element("tr", head)), element("tbody", rows))


def _columns(look: Look) -> Grid:
    headers = (("name", False), ("kind", False), ("distinct", True), ("missing", True), ("values", False))
    return Grid(
        caption="Columns",
        columns=tuple(Heading(key=key, header=key, is_number=is_number) for key, is_number in headers),
        rows=tuple(_row(column) for column in look.columns),
    )


def _row(column: ColumnLook) -> tuple[Entry, ...]:
    return (
        Entry(text=shorten(column.name, _NAME), value=column.name),
        Entry(text=column.kind, value=column.kind),
        Entry(text=f"{column.distinct:,}", value=column.distinct),
        Entry(text=_missing(column), value=column.missing_share),
        Entry(text=shorten(values(column), _VALUES), value=column.low),
    )


def _say_hidden(look: Look) -> tuple[str, ...]:
    """That numbers of few rows are not told, where there are such."""
    gone = any(
        column.missing is None or None in column.histogram or (not column.histogram and _is_short(column))
        for column in look.columns
    )
    told = f"Values of fewer than {look.min_group_size:,} rows, and such numbers, are not shown (min_group_size)."
    return (told,) if gone and look.min_group_size > 1 else ()


def _is_short(column: ColumnLook) -> bool:
    """Whether values are missing from the most frequent ones."""
    return len(column.levels) < min(column.distinct, LEVELS)


def _missing(column: ColumnLook) -> str:
    if column.missing_share is None:
        return "few"
    return percent(column.missing_share) if column.missing else ""


def _fitting(look: Look) -> Section | None:
    if not look.notions:
        return None
    named = f"{list_words(list(look.notions))}."
    return Section(key="notions", title="Notions that fit", paragraphs=(named,))


def _power(look: Look) -> Section | None:
    if not look.detectable:
        return None
    units = POINTS if look.mean is None else units_of(look.mean)
    seen = [
        f"a group of {entry.share:.0%} of the people: "
        + ("no gap, however large" if entry.psi is None else f"gaps of {units.size(entry.psi)} or more")
        for entry in look.detectable
    ]
    return Section(key="power", title="What an audit could see (with 80 % power)", paragraphs=tuple(seen))
