"""Outcomes, or predictions and truths, of several classes: which these are, and the class of every row."""

from __future__ import annotations

import numpy as np

from ald._core.arrays import ByteArray, IntArray
from ald.data import checks
from ald.data.columns import Column, is_interval_kind
from ald.data.outcomes import known_outcomes
from ald.data.roles import Roles
from ald.data.table import Table
from ald.errors import ColumnError

# The 256 confusion cells that a row's byte can name hold the pairs of so many classes; of an outcome more would fit.
MOST = 12


def classes_asked(table: Table, roles: Roles) -> tuple[str, ...]:
    """The classes that are audited one by one; none where there are two values, or one was said to be favourable."""
    # Who is favoured, where a direction is asked for, is another class for every class.
    if roles.score is not None or roles.favourable is not None or roles.directed or len(roles.outcomes) > 1:
        return ()
    columns = [table[name] for name in roles.outcome_columns]
    words = sorted({word for column in columns for word in column.words()})
    if len(words) <= 2 or checks.similar_words(words) or any(map(_is_no_class, columns)):
        return ()
    if roles.outcomes and columns[0].kind == "numeric":
        return ()
    if not roles.outcomes and (roles.truth is None or len({column.kind for column in columns}) > 1):
        return ()
    known, _ = known_outcomes(table, roles.outcome_columns)
    kept = [column if known is None else column.take(known) for column in columns]
    present = {column.words()[code] for column in kept for code in np.unique(column.codes).tolist()}
    # In the order of their levels, if they have one.
    ordered = tuple(dict.fromkeys(word for column in columns for word in column.words() if word in present))
    if len(ordered) > MOST:
        who = " and ".join(repr(name) for name in roles.outcome_columns)
        raise ColumnError(
            f"{who} {'has' if len(columns) == 1 else 'have'} {len(ordered):,} different values, and at most {MOST} are "
            "audited class by class. Merge the rare ones, or say which value is favourable, to compare it with all "
            f"others: favourable={ordered[0]!r} (command line: --favourable {ordered[0]!r})."
        )
    return ordered if len(ordered) > 2 else ()


def _is_no_class(column: Column) -> bool:
    """Whether the values are measured rather than named: fractions, dates and times."""
    return is_interval_kind(column.kind) and not (column.kind == "numeric" and column.is_integer)


def class_cells(table: Table, roles: Roles, classes: tuple[str, ...]) -> ByteArray:
    """The class of every row, or n times the class that was true and the class that was predicted."""
    numbers = [_class_of(table[name], classes) for name in roles.outcome_columns]
    # The prediction comes before the truth.
    cells = numbers[0] if len(numbers) == 1 else len(classes) * numbers[1] + numbers[0]
    return cells.astype(np.uint8)


def _class_of(column: Column, classes: tuple[str, ...]) -> IntArray:
    place = {word: i for i, word in enumerate(classes)}
    # A level that no row has stands for none.
    return np.array([place.get(word, 0) for word in column.words()], np.int64)[column.codes]


def class_note(roles: Roles, classes: tuple[str, ...]) -> str:
    """What is said of an outcome with several classes."""
    who = " and ".join(repr(name) for name in roles.outcome_columns)
    has = "has" if len(roles.outcome_columns) == 1 else "have"
    one = f"To ask about one only, say favourable={classes[0]!r}."
    return f"{who} {has} {len(classes)} values, and each is compared with all others. {one}"
