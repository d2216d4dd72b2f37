"""The words of the language: names, values, operators and brackets, each with its position.

Tokens are read one at a time, so that the first mistake of a text is the one that is reported.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from ald.errors import CriterionError, shorten
from ald.groups.criterion import visible

NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
DATE = re.compile(r"[0-9]{4,5}-[0-9]{2}-[0-9]{2}")
_TIME = r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?(?:Z|[+-][0-9]{2}(?::?[0-9]{2})?)?"
MOMENT = re.compile(rf"{DATE.pattern}(?:[ T]{_TIME})?")

_SPACE = re.compile(r"\s*")
# Moments first: a time holds a space and colons, which no other word does. Then words, and numbers with a sign.
_WORD = re.compile(rf"(?:{MOMENT.pattern})(?![\w.+/-])|\w[\w.+/-]*|[+-]?\.?[0-9][\w.+/-]*")
_QUOTED = re.compile(r""" "(?:[^"\\]|\\.)*+" | '(?:[^'\\]|\\.)*+' | `(?:[^`\\]|\\.)*+` """, re.DOTALL | re.VERBOSE)
_ESCAPE = re.compile(
    r"""\\(?:(?P<self>[\\"'`])|(?P<short>[nrt])|x(?P<x>[0-9a-fA-F]{2})|u(?P<u>[0-9a-fA-F]{4})|U(?P<U>[0-9a-fA-F]{8}))"""
)
_SHORT = {"n": "\n", "r": "\r", "t": "\t"}
_SYMBOL = re.compile(r"==|!=|<>|<=|>=|=<|=>|&&|\|\||\*\*|[=<>≤≥≠&|!~(){}\[\],+\-*/%^]")

# Characters of a long text that a message shows before and after the mistake.
_BEFORE, _AFTER = 50, 25


@dataclass(frozen=True, kw_only=True)
class Token:
    """One word of a text: `form` is "word", "quoted", "symbol" or "end"; `text` is what it says, without quotes."""

    form: str
    text: str
    position: int

    @property
    def is_operand(self) -> bool:
        """Whether it can be a name or a value."""
        return self.form in ("word", "quoted")

    def says(self, *words: str) -> bool:
        """Whether it is one of these words or symbols, in any case and without quotes."""
        return self.form in ("word", "symbol") and self.text.casefold() in words

    def __str__(self) -> str:
        if self.form == "end":
            return "the end"
        shown = shorten(visible(self.text), 40)
        return f'"{shown}"' if self.form == "quoted" else f"`{shown}`"


class Reader:
    """The tokens of a text in order, with one of them in view."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._end = 0
        self.token = self._read()

    def take(self) -> Token:
        """The token in view; the next one comes into view."""
        taken = self.token
        self.token = self._read()
        return taken

    def error(self, problem: str, at: Token | int) -> CriterionError:
        """The error that says what is wrong and shows where."""
        return error(problem, self.text, at if isinstance(at, int) else at.position)

    def _read(self) -> Token:
        start = _SPACE.match(self.text, self._end).end()  # type: ignore[union-attr]  # it matches nothing, too
        if start == len(self.text):
            return Token(form="end", text="", position=start)
        for form, pattern in (("word", _WORD), ("quoted", _QUOTED), ("symbol", _SYMBOL)):
            match = pattern.match(self.text, start)
            if match:
                self._end = match.end()
                said = self._unescape(match) if form == "quoted" else match.group()
                return Token(form=form, text=said, position=start)
        found = self.text[start]
        if found in "\"'`":
            raise self.error(f"this quotation does not end: a second {found} is missing", start)
        raise self.error(
            f'unexpected {visible(found)!r}: put names and values that are not plain words in quotes, such as "a & b"',
            start,
        )

    def _unescape(self, match: re.Match[str]) -> str:
        """What stands between quotes: the inverse of `ald.groups.criterion.quote`."""
        start, end = match.start() + 1, match.end() - 1
        pieces: list[str] = []
        while True:
            escape = self.text.find("\\", start, end)
            if escape < 0:
                return "".join((*pieces, self.text[start:end]))
            found = _ESCAPE.match(self.text, escape, end)
            code = found and (found["x"] or found["u"] or found["U"])
            if found is None or (code and int(code, 16) > 0x10FFFF):
                raise self.error(
                    r"unknown escape: a backslash in quotes is written \\, a quote \", a character \n, \x1b or \u200b",
                    escape,
                )
            pieces.append(self.text[start:escape])
            pieces.append(chr(int(code, 16)) if code else found["self"] or _SHORT[found["short"]])
            start = found.end()


def error(problem: str, text: str, position: int) -> CriterionError:
    """The error with a message of three lines: what is wrong, the text around it, and a mark below the place."""
    first, last = max(0, position - _BEFORE), position + _AFTER
    before = ("..." if first else "") + visible(text[first:position])
    after = visible(text[position:last]) + ("..." if last < len(text) else "")
    mark = " " * sum(map(_width, before)) + "^"
    return CriterionError(f"{problem}\n  {before}{after}\n  {mark}", text, position)


def _width(character: str) -> int:
    """How many places a terminal gives to a character."""
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
