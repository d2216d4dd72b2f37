"""What can go wrong, in one hierarchy. Every message says what was found, what was expected and how to fix it.

AldError
├── InputError        the data cannot be audited as given
│   └── ColumnError   a column is missing or cannot play its role
├── SettingError      an option has a value that makes no sense
│   └── CriterionError   a text does not name a group
└── ShortageError     the machine has too little memory, or too few threads
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class AldError(Exception):
    """Base class of all errors that ALD raises on purpose."""


class InputError(AldError, ValueError):
    """The data cannot be audited as given."""


class ColumnError(InputError):
    """A named column is missing or cannot play the role it was given."""


class SettingError(AldError, ValueError):
    """An option has a value that makes no sense."""


class ShortageError(AldError):
    """The machine has too little memory, or too few threads."""


class CriterionError(SettingError):
    """A text does not name a group; `position` is where in `text` that shows."""

    def __init__(self, message: str, text: str, position: int) -> None:
        super().__init__(message, text, position)
        self.text = text
        self.position = position

    def __str__(self) -> str:
        return str(self.args[0])


def nearest(name: str, available: Iterable[str]) -> str:
    """A hint that offers the nearest of the available names.

    >>> nearest("gendr", ["age", "gender"])
    "Did you mean 'gender'? Available: 'age', 'gender'."
    """
    names = [str(candidate) for candidate in available]
    folded = {candidate.casefold(): candidate for candidate in reversed(names)}
    close = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.5)
    shown = ", ".join(repr(shorten(candidate)) for candidate in names[:20])
    if len(names) > 20:
        shown += f", ... ({len(names)} in all)"
    hint = f"Did you mean {shorten(folded[close[0]])!r}? " if close else ""
    return f"{hint}Available: {shown}."


def shown(value: object, limit: int = 60) -> str:
    """Any value as a message shows it: short, also where it cannot say what it is.

    >>> shown("F"), shown(list(range(100)), 20)
    ("'F'", '[0, 1, 2, 3,...99]')
    """
    try:
        return shorten(repr(value), limit)
    except Exception:
        return f"something of type {type(value).__name__}"


def needed_extra(what: str, extra: str) -> SettingError:
    """The error that says how to install what an optional part of ALD needs.

    >>> print(needed_extra("PDF reports", "pdf"))
    PDF reports need an optional package: pip install 'ald-audit[pdf]'
    """
    return SettingError(f"{what} need an optional package: pip install 'ald-audit[{extra}]'")


def shorten(text: str, limit: int = 60) -> str:
    """The text, cut in the middle if it is too long to be read in a message.

    >>> shorten("abcdefghij", 7)
    'abc...j'
    """
    if len(text) <= limit:
        return text
    tail = (limit - 3) // 3
    return f"{text[: limit - 3 - tail]}...{text[len(text) - tail :]}"
