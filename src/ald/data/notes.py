"""Warnings that count people: in full, or without saying how few there are."""

from __future__ import annotations

from collections.abc import Callable, Iterable

# A number of people in words.
Words = Callable[[int], str]


class Note(str):
    """A warning that counts people; `at_least` tells it again without numbers that are too small to be told."""

    _tell: Callable[[Words], str]

    @classmethod
    def of(cls, tell: Callable[[Words], str]) -> Note:
        """The warning that this function writes, given how numbers of people are written.

        >>> note = Note.of(lambda people: f"{people(3)} values are missing")
        >>> note, note.at_least(10)
        ('3 values are missing', 'fewer than 10 values are missing')
        """
        note = cls(tell(lambda people: f"{people:,}"))
        note._tell = tell
        return note

    def at_least(self, least: int) -> str:
        """The warning, in which fewer people than that are not counted."""
        return self._tell(lambda people: few(people, least))


def few(people: int, least: int) -> str:
    """A number of people, unless there are some, but too few to say how many."""
    return f"fewer than {least:,}" if 0 < people < least else f"{people:,}"


def tell_notes(notes: Iterable[str], least: int) -> tuple[str, ...]:
    """The warnings, in which fewer people than that are not counted."""
    return tuple(note.at_least(least) if isinstance(note, Note) else note for note in notes)
