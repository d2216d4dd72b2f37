"""Warnings that count people, told in full and told without small numbers."""

from __future__ import annotations

import pytest

from ald.data.notes import Note, few, tell_notes


@pytest.mark.parametrize(
    ("people", "least", "words"),
    [
        (0, 10, "0"),
        (1, 10, "fewer than 10"),
        (9, 10, "fewer than 10"),
        (10, 10, "10"),
        (3, 1, "3"),
        (1234, 10, "1,234"),
    ],
)
def test_few_people_are_not_counted(people: int, least: int, words: str) -> None:
    """Nobody and enough people are counted, those between are not."""
    assert few(people, least) == words


def test_a_note_is_the_full_warning_until_it_is_told_again() -> None:
    """A note is a text like any other; what is no note stays as it is."""
    note = Note.of(lambda people: f"{people(3)} of {people(40)} rows")
    assert note == "3 of 40 rows"
    assert tell_notes([note, "3 rows"], 10) == ("fewer than 10 of 40 rows", "3 rows")
