"""Tables as lines of text: aligned, never wider than the room, and no number cut."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Sequence

from ald.groups.criterion import visible
from ald.report.model import Entry, Grid, Heading
from ald.report.words import shorten

_GAP = "  "
_INDENT = "   "
# Where a table has one line per row, names have at least this room, and are cut; on a line of their own they are whole.
_NAME = 26


def lines_of(table: Grid, width: int, *, numbered: bool = False) -> list[str]:
    """The table with one line per row where that fits, and otherwise with each name on a line above its numbers.

    numbered: rows have numbers, and names are not cut.
    """
    names = [f"{f'{i}. ' if numbered else ''}{visible(row[0].text)}" for i, row in enumerate(table.rows, 1)]
    block = _Block(table.columns[1:], [row[1:] for row in table.rows])
    room = max(width - len(_GAP) - block.width, _NAME)
    shown = names if numbered else [shorten(name, room) for name in names]
    first = max([_room(table.columns[0].header), *map(_room, shown)], default=0)
    if first + len(_GAP) + block.width <= width:
        head = [" " * first] * (len(block.head) - 1) + [_left(visible(table.columns[0].header), first)]
        left = [*head, *(_left(name, first) for name in shown)]
        right = [*block.head, *block.rows]
        return [f"{name}{_GAP}{numbers}".rstrip() for name, numbers in zip(left, right, strict=True)]
    room = width - len(_INDENT)
    main, rest = _split(table.columns[1:], [row[1:] for row in table.rows], room)
    block = _Block([table.columns[1:][k] for k in main], [[row[1:][k] for k in main] for row in table.rows])
    out = [f"{_INDENT}{line}".rstrip() for line in block.head]
    for name, line, row in zip(names, block.rows, table.rows, strict=True):
        out += textwrap.wrap(name, width, subsequent_indent=_INDENT)
        out.append(f"{_INDENT}{line}".rstrip())
        told = with_headers([table.columns[1:][k] for k in rest], [row[1:][k] for k in rest])
        out += textwrap.wrap(visible(told), width, initial_indent=_INDENT, subsequent_indent=_INDENT)
    return out


def with_headers(columns: Sequence[Heading], row: Sequence[Entry]) -> str:
    """The entries of a row, each with its header; empty ones are left out."""
    pairs = zip(columns, row, strict=True)
    return ", ".join(f"{column.header} {entry.text}" for column, entry in pairs if entry.text)


class _Block:
    """Some columns as lines: headers, broken between words where that makes a column narrower, and rows."""

    def __init__(self, columns: Sequence[Heading], rows: Sequence[Sequence[Entry]]) -> None:
        texts = [[visible(entry.text) for entry in row] for row in rows]
        heads = [visible(column.header) for column in columns]
        widths = [_width(head, [row[k] for row in texts]) for k, head in enumerate(heads)]
        broken = [textwrap.wrap(head, width) or [""] for head, width in zip(heads, widths, strict=True)]
        height = max(map(len, broken), default=1)
        stacked = [[""] * (height - len(lines)) + lines for lines in broken]
        pads = [_right if column.is_number else _left for column in columns]

        def line(texts: Sequence[str]) -> str:
            return _GAP.join(pad(text, width) for pad, text, width in zip(pads, texts, widths, strict=True))

        self.head = [line([lines[i] for lines in stacked]) for i in range(height)]
        self.rows = [line(row) for row in texts]
        self.width = sum(widths) + len(_GAP) * max(len(widths) - 1, 0)


def _width(head: str, texts: Sequence[str]) -> int:
    """What a column needs: its longest text, or its header in two lines."""
    words = head.split()
    halves = [max(_room(" ".join(words[:k])), _room(" ".join(words[k:]))) for k in range(1, len(words) + 1)]
    return max([1, *map(_room, texts), min(halves, default=0)])


def _split(columns: Sequence[Heading], rows: Sequence[Sequence[Entry]], room: int) -> tuple[list[int], list[int]]:
    """The columns that fit beside one another, and those that do not: the widest that are not main go first."""
    main, rest = list(range(len(columns))), list[int]()

    def width(k: int) -> int:
        return _width(visible(columns[k].header), [visible(row[k].text) for row in rows])

    while len(main) > 1 and sum(map(width, main)) + len(_GAP) * (len(main) - 1) > room:
        least = max(main, key=lambda k: (*columns[k].leaves, width(k)))
        # Several rates stay together.
        rates = [k for k in main if columns[k].is_rates]
        gone = rates if least in rates else [least]
        main = [k for k in main if k not in gone]
        rest += gone
    return main, sorted(rest)


def _room(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def _left(text: str, width: int) -> str:
    return text + " " * (width - _room(text))


def _right(text: str, width: int) -> str:
    return " " * (width - _room(text)) + text
