"""The ledgers of a server: what was asked of which data, as long as it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ald.options.table import AUDIT_OPTIONS
from ald.results.ledger import Asked, Ledger


@dataclass(eq=False)
class Entry:
    """A question of a ledger. number: None until it is answered; what has no answer is no look at people."""

    words: str
    exploratory: bool
    number: int | None = None


@dataclass(eq=False)
class Book:
    """The ledger of one data set, and whether an answer about it has been seen."""

    entries: list[Entry] = field(default_factory=list)
    seen: bool = False

    def ask(self, options: Mapping[str, Any]) -> Entry:
        """Takes down a question; from the first answer on that somebody saw, questions are exploratory.

        The same question once more has the same answer: it is no further look.
        """
        words = in_words(options)
        return self._known(words) or Entry(words=words, exploratory=self.seen)

    def _known(self, words: str) -> Entry | None:
        return next((entry for entry in self.entries if entry.words == words), None)

    def answer(self, entry: Entry) -> None:
        """Takes down that a question is answered."""
        if entry.number is not None:
            return
        known = self._known(entry.words)  # asked twice before it was answered
        if known is None:
            self.entries.append(entry)
        entry.number = len(self.entries) if known is None else known.number

    def ledger(self, entry: Entry) -> Ledger:
        """All questions that are answered, seen from one of them; one that is not will be the next."""
        entries = self.entries if entry.number is not None else [*self.entries, entry]
        asked = tuple(Asked(number=i, words=one.words, exploratory=one.exploratory) for i, one in enumerate(entries, 1))
        return Ledger(number=entry.number or len(entries), asked=asked)


def in_words(options: Mapping[str, Any]) -> str:
    """A question by its options, in the order of the table; how data is read is no part of it.

    >>> in_words({"seed": 3, "outcome": "hired", "given": ["job"]})
    'outcome: hired; given: job; seed: 3'
    """
    told = [f"{key.replace('_', ' ')}: {_text(options[key])}" for key in AUDIT_OPTIONS if key in options]
    return "; ".join(told)


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_text(one)}" for name, one in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
