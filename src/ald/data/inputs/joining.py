"""Attributes from a second table: rows of the data are matched with its rows by a key."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ald._core.arrays import IntArray
from ald.data.columns import Column, compact
from ald.data.notes import Note
from ald.data.table import Table
from ald.errors import InputError, shorten


def match_rows(table: Table, beside: Table, on: str, *, keep: bool = False) -> Table:
    """The table with the columns of another one, whose rows are matched by the key column of both.

    Who has no row there has no value in its columns; rows there that match nobody are ignored; both are counted. keep:
    whether the key stays a column.
    """
    key, other = table[on], beside[on]
    rows_per_key = np.bincount(other.codes, minlength=other.n_codes + 1)[: other.n_codes]
    repeated = np.flatnonzero(rows_per_key > 1)
    words = other.words()
    if len(repeated):
        raise InputError(
            f"{beside.source} has {len(repeated):,} keys of {shorten(on)!r} more than once, so it is not clear which "
            "row counts: keep one row for each"
        )
    names = [name for name in beside.names if name != on]
    twice = [name for name in names if name in table.columns]
    if twice:
        raise InputError(
            f"{table.source} and {beside.source} both have a column {shorten(twice[0])!r}: rename one of them"
        )
    if not names:
        raise InputError(f"{beside.source} has no column besides the key {shorten(on)!r}")
    row_of_key = np.full(other.n_codes + 1, -1)
    row_of_key[other.codes] = np.arange(len(other.codes))
    place = {word: int(row_of_key[code]) for code, word in enumerate(words)}
    found = np.array([*(place.get(word, -1) for word in key.words()), -1], np.int64)[key.codes]
    columns = {name: _match(beside[name], found) for name in names}
    own = table.columns if keep else {name: column for name, column in table.columns.items() if name != on}
    return replace(
        table,
        columns={**own, **columns},
        left_out=table.left_out | beside.left_out,
        notes=(*table.notes, *beside.notes, *_notes(table, beside, on, key, found)),
    )


def _match(column: Column, rows: IntArray) -> Column:
    """The column at these rows; no value where there is none."""
    codes = np.where(rows >= 0, column.codes[rows], column.n_codes)
    return replace(column, codes=compact(codes, column.n_codes)).take(np.arange(len(codes)))


def _notes(table: Table, beside: Table, on: str, key: Column, found: IntArray) -> list[str]:
    notes: list[str] = []
    lacking = np.flatnonzero(found < 0)
    if len(lacking) == table.n_rows:
        raise InputError(
            f"no row of {table.source} has a match in {beside.source} by {shorten(on)!r}: are these the same keys?"
        )
    if len(lacking):
        notes.append(
            Note.of(
                lambda people: (
                    f"{people(len(lacking))} of {table.n_rows:,} rows have no match in {beside.source} by "
                    f"{shorten(on)!r}: they have no value in its columns"
                )
            )
        )
    unused = beside.n_rows - len(np.unique(found[found >= 0]))
    if unused:
        notes.append(Note.of(lambda people: f"{people(unused)} rows of {beside.source} match nobody and are ignored"))
    return notes
