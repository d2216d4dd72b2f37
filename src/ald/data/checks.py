"""Sanity checks of the input. Each returns warnings: sentences that say what was seen and what it may mean."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from ald._core.arrays import BoolArray, IntArray
from ald.data.columns import Column
from ald.data.notes import Note, Words
from ald.errors import shorten

# Spelling that carries no meaning. Comparison signs do ("<=50K" and ">50K"), and so do a minus before a number, one
# after a word (the grade "A-") and whatever stands between digits ("1.5" and "15", "1-2" and "12").
_KEPT = re.compile(r"^-(?=[\d.])|(?<=\w)-$|(?<=\d)[.,:/-](?=\d)")
_SPACE_IN_NUMBER = re.compile(r"(?<=\d)\s*([.,:/-])\s*(?=\d)")
_IGNORED = re.compile(r"[\s.,;:_'\"`´’/\\()\[\]{}|-]+")
_PRIVATE = 0xE000

# A block of one outcome is suspicious from this many rows and this share of all rows on.
_BLOCK_ROWS = 1000
_BLOCK_SHARE = 0.05


def similar_words(words: Sequence[str]) -> list[tuple[str, ...]]:
    """Groups of words that differ only by case, space or punctuation.

    >>> similar_words([">50K", ">50K.", "<=50K"])
    [('>50K', '>50K.')]
    """
    groups: dict[str, list[str]] = {}
    for word in words:
        text = _SPACE_IN_NUMBER.sub(r"\1", unicodedata.normalize("NFKC", word).casefold().strip())
        kept = _KEPT.sub(lambda match: chr(_PRIVATE + ord(match.group())), text)
        folded = _IGNORED.sub("", kept)
        if folded:
            groups.setdefault(folded, []).append(word)
    return [tuple(group) for group in groups.values() if len(group) > 1]


def similar_levels(columns: Iterable[Column], counts_of: Callable[[str], IntArray | None]) -> list[str]:
    """Warns of levels that are probably one level spelt in several ways.

    counts_of: how many rows each row of a column stands for. Where the warning is to count no few people, levels of few
    are not named.
    """
    warnings: list[str] = []
    for column in columns:
        if column.values is not None:
            continue
        groups = similar_words(column.levels)[:3]
        if groups:
            rows = _count_levels(column, counts_of(column.name))
            place = {word: i for i, word in enumerate(column.levels)}
            warnings += [_similar_note(column.name, [(w, rows[place[w]]) for w in group[:4]]) for group in groups]
    return warnings


def _similar_note(name: str, group: Sequence[tuple[str, int]]) -> Note:
    def tell(people: Words) -> str:
        shown = [repr(shorten(word)) for word, n in group if people(n) == f"{n:,}"]
        small = [n for _, n in group if people(n) != f"{n:,}"]
        if small:
            each = " each" if len(small) > 1 else ""
            shown.append(f"{'one' if len(small) == 1 else len(small)} of {people(small[0])} people{each}")
        return (
            f"levels of {shorten(name)!r} differ only by case, space or punctuation: {', '.join(shown)}. "
            "If they mean the same, unify them before the audit."
        )

    return Note.of(tell)


def _count_levels(column: Column, counts: IntArray | None) -> list[int]:
    """How many people have each level of a column."""
    people = np.ones(len(column.codes), np.int64) if counts is None else counts
    found = np.bincount(column.codes, people, minlength=column.n_codes + 1)
    return [int(n) for n in found[: column.n_codes].tolist()]


def constant_block(name: str, outcome: BoolArray) -> list[str]:
    """Warns of a long run of rows with one outcome in data whose order otherwise looks random.

    Typical cause: labels of one of several joined files were not matched. Data sorted or grouped by outcome has
    few runs everywhere and is not reported.
    """
    n = len(outcome)
    if n < _BLOCK_ROWS:
        return []
    starts = np.concatenate([[0], np.flatnonzero(outcome[1:] != outcome[:-1]) + 1])
    lengths = np.diff(np.append(starts, n))
    longest = int(np.argmax(lengths))
    block = int(lengths[longest])
    if block < max(_BLOCK_ROWS, _BLOCK_SHARE * n):
        return []
    first = int(starts[longest])
    rest = np.delete(outcome, slice(first, first + block))
    rate = float(rest.mean()) if len(rest) else 0.0
    expected_runs = 2 * len(rest) * rate * (1 - rate)
    if len(rest) < _BLOCK_ROWS or rate in (0.0, 1.0) or len(lengths) - 1 < 0.25 * expected_runs:
        return []
    # In random data the longest run is about log(n) / -log(rate of the value); ten times that is no accident.
    chance = np.log(n) / -np.log(rate if outcome[first] else 1 - rate)
    if block < 10 * chance:
        return []
    share = f"{int(outcome[first])}"
    return [
        f"rows {first + 1:,} to {first + block:,} ({block:,} of {n:,}) all have the same {shorten(name)!r} (rate "
        f"exactly {share}), while its rate is {rate:.3f} in the other rows. Were the labels of one of several joined "
        "files not matched?"
    ]


def suspicious_truth(
    prediction: BoolArray, truth: BoolArray, names: tuple[str, str], others: Iterable[tuple[str, BoolArray]]
) -> list[str]:
    """Warns of a truth column that is not the truth: a copy of the prediction, or a correctness flag."""
    agree = prediction == truth
    predicted, true = (shorten(name) for name in names)
    if agree.all():
        return [
            f"the truth {true!r} equals the prediction {predicted!r} in every row: they never disagree, so there are "
            "no errors to audit. Is one a copy of the other?"
        ]
    if not agree.any():
        return [
            f"the truth {true!r} is the opposite of the prediction {predicted!r} in every row. Is one of them coded "
            "the other way round?"
        ]
    return [
        f"the truth {true!r} equals ({predicted!r} == {shorten(name)!r}) in every row: it looks like a flag that says "
        f"whether the prediction was correct. Use truth={shorten(name)!r} instead?"
        for name, other in others
        if np.array_equal(truth, prediction == other)
    ]
