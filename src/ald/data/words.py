"""Words that stand for no value, and numbers written for people, in columns of text from any input.

`$2,210.00`, `80.0%` and `1,234` become numbers where every value of the column is one; `N/A` and its like become
missing. What was done is said in a note. A column whose kind was given as nominal keeps its words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ald._core.arrays import FloatArray, IntArray
from ald.data.columns import MISSING_WORDS, Column, as_word, compact, from_numbers, merge_in, parse_numbers
from ald.data.notes import Note
from ald.data.table import Table
from ald.errors import shorten

# What stands for "no value" in every column of words. Words that often are values ("none", "?", "-") do so only where
# all others are numbers (`MISSING_WORDS`).
NO_VALUE = frozenset({"", "na", "n/a", "#n/a", "<na>", "nan", "null"})

SIGNS = "$€£¥%"
_MONEY = "[$€£¥]?"
_DIGITS = r"(?:[1-9]\d{0,2}(?:,\d{3})+|\d+)(?:\.\d+)?"
# A number as people write it, for Python's and DuckDB's expressions alike.
WRITTEN = rf"[-+]?\s?{_MONEY}\s?[-+]?{_DIGITS}\s?[{SIGNS}]?"
_WRITTEN = re.compile(WRITTEN)
# What is taken out of it.
ADORNMENT = rf"[{SIGNS},\s]"
_ADORNMENT = re.compile(ADORNMENT)
_DECIMAL_COMMA = re.compile(r"[-+]?\d+(,\d+)?")
# Digits that floating point holds.
LONGEST = 15


def with_words(table: Table, kinds: Mapping[str, str | Sequence[str]]) -> Table:
    """The table with its columns of text read. kinds: as the user gave them."""
    columns = {name: read_words(column, kinds.get(name), table.counts) for name, column in table.columns.items()}
    return replace(table, columns=columns)


def read_words(column: Column, kind: str | Sequence[str] | None = None, counts: IntArray | None = None) -> Column:
    """The column with its words read. kind: what the user says it is, or the levels to keep apart.

    counts: how many rows of the data each row of the column stands for.
    """
    if column.kind != "nominal" or column.values is not None or kind == "nominal":
        return column
    if kind in (None, "numeric", "ordinal"):
        column = numbers_of(column, counts)
    kept = [as_word(level) for level in kind] if kind is not None and not isinstance(kind, str) else []
    return column if column.values is not None else _without_words(column, kept, counts)


def numbers_of(column: Column, counts: IntArray | None = None) -> Column:
    """A column of words as numbers, if they are some that floating point does not merge; otherwise as it is.

    Plain numbers stay the words that they are, unless some stand for missing or infinite values. Others have commas
    for points, or are written as people do.
    """
    if column.values is not None:
        return column
    if decimal_commas(column.levels):
        commas = next(word for word in column.levels if "," in word)
        note = f"column {shorten(column.name)!r} was read as numbers with decimal commas, such as {commas!r}"
        return _numeric(column, parse_numbers([word.replace(",", ".") for word in column.levels]), note)
    numbers = parse_numbers(column.levels)
    if numbers is None:
        return _read_numbers(column, counts)
    if not np.isfinite(numbers).any() or np.isfinite(numbers).all() or merge_in(column.levels):
        return column
    infinite = np.append(np.isinf(numbers), False)[column.codes]
    n_infinite = int(infinite.sum() if counts is None else counts[infinite].sum())
    gone = np.flatnonzero(np.isnan(numbers)).tolist()
    n, which = _absent(column, gone, counts)
    numbers_besides = Note.of(
        lambda people: f"{people(n)} values of {which} were read as missing, all others are numbers"
    )
    note = numbers_besides if gone else ""
    return replace(_numeric(column, numbers, note), n_infinite=n_infinite)


def decimal_commas(words: Sequence[str]) -> bool:
    """Whether all words are numbers, some with a decimal comma.

    If every comma is followed by three digits, it may as well separate thousands.
    """
    commas = []
    for word in words:
        if word.strip().casefold() in MISSING_WORDS:
            continue
        if not _DECIMAL_COMMA.fullmatch(word.strip()):
            return False
        commas += [word] if "," in word else []
    return any(len(word.strip().partition(",")[2]) != 3 for word in commas)


def written_numbers(words: Sequence[str]) -> FloatArray | None:
    """The words as the numbers that people write: with one sign of currency, percent and commas between thousands.

    NaN where a word stands for no value; None if another word is no such number, or none has a sign or a comma.

    >>> written_numbers(["$2,210.00", "$5", "N/A"])
    array([2210.,    5.,   nan])
    """
    plain, signs, adorned = [], set(), False
    for word in words:
        text = word.strip()
        if text.casefold() in MISSING_WORDS:
            plain.append("nan")
            continue
        bare = _ADORNMENT.sub("", text)
        if not _WRITTEN.fullmatch(text) or len(bare) > LONGEST:
            return None
        signs.add("".join(sign for sign in text if sign in SIGNS))
        adorned |= bare != text
        plain.append(bare)
    return parse_numbers(plain) if adorned and are_one_measure(signs) else None


def are_one_measure(signs: set[str]) -> bool:
    """Whether numbers with these signs are of one measure: not two currencies, nor shares among plain numbers."""
    return len(signs - {""}) <= 1 and all(len(sign) < 2 for sign in signs) and not {"", "%"} <= signs


def written_note(name: str, example: str) -> str:
    """What is said of a column of such numbers."""
    return (
        f"column {shorten(name)!r} was read as numbers, {example!r} as {_ADORNMENT.sub('', example)} "
        "(kind nominal keeps words)"
    )


def _read_numbers(column: Column, counts: IntArray | None) -> Column:
    """The column as numbers, if all its words are numbers as people write them."""
    numbers = written_numbers(column.levels)
    if numbers is None:
        return column
    adorned = next(word for word, n in zip(column.levels, numbers, strict=True) if n == n and _ADORNMENT.search(word))
    gone = np.flatnonzero(np.isnan(numbers)).tolist()
    note = written_note(column.name, adorned)
    if not gone:
        return _numeric(column, numbers, note)
    n, which = _absent(column, gone, counts)
    return _numeric(column, numbers, Note.of(lambda people: f"{note}; {people(n)} values of {which} as missing"))


def _numeric(column: Column, numbers: FloatArray | None, note: str) -> Column:
    assert numbers is not None
    out = from_numbers(column.name, np.append(numbers, np.nan)[column.codes])
    return replace(out, notes=(*column.notes, note) if note else column.notes)


def _without_words(column: Column, kept: Collection[str], counts: IntArray | None) -> Column:
    """The column in which words for "no value" are missing, but for those that are kept."""
    gone = [
        i
        for i, word in enumerate(column.levels)
        if len(word) < 2 * LONGEST and word.strip().casefold() in NO_VALUE and word not in kept
    ]
    if not gone:
        return column
    n, which = _absent(column, gone, counts)
    note = Note.of(lambda people: f"{people(n)} values of {which} were read as missing (kind nominal keeps words)")
    left = [word for i, word in enumerate(column.levels) if i not in set(gone)]
    translate = np.full(column.n_codes + 1, len(left))
    translate[np.setdiff1d(np.arange(column.n_codes), gone)] = np.arange(len(left))
    codes = compact(translate[column.codes], len(left))
    return replace(column, codes=codes, levels=tuple(left), notes=(*column.notes, note))


def _absent(column: Column, gone: Sequence[int], counts: IntArray | None) -> tuple[int, str]:
    """How many rows have one of these words, and which."""
    there = np.isin(column.codes, gone)
    n = int(there.sum() if counts is None else counts[there].sum())
    shown = ", ".join(repr(column.levels[i]) for i in gone)
    return n, f"column {shorten(column.name)!r} ({shown})"
