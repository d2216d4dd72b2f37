"""What an outcome column asks: yes or no, a number that is cut into yes and no, or how much."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np

from ald.data.amounts import Unit
from ald.data.arrangement import row_weights
from ald.data.columns import Column, compact, parse_numbers
from ald.data.roles import Roles
from ald.data.table import Table
from ald.errors import ColumnError, SettingError
from ald.notions import Mean

# Where a number is favourable: a comparison, and the number.
_CUT = re.compile(r"\s*(>=|<=|>|<)\s*(\S+)\s*")
_OTHERWISE = {">=": "<", "<=": ">", ">": "<=", "<": ">="}
# What is good for people, of an outcome that is an amount.
BETTER = ("higher", "lower")


def with_cuts(table: Table, roles: Roles) -> Table:
    """The table with outcomes that are numbers as yes or no, where `favourable` says which numbers are favourable."""
    columns = dict(table.columns)
    for name in dict.fromkeys(roles.outcome_columns):
        cut = _cut_of(roles.favourable_of(name))
        if cut is None or name not in columns or columns[name].values is None:
            continue
        columns[name] = _as_yes_no(columns[name], *cut)
    return replace(table, columns=columns)


def _cut_of(favourable: Any) -> tuple[str, str, float] | None:
    """The words, the comparison and the number that they say; None if they say none."""
    found = _CUT.fullmatch(favourable) if isinstance(favourable, str) else None
    numbers = None if found is None else parse_numbers((found[2],))
    return None if found is None or numbers is None else (favourable, found[1], float(numbers[0]))


def _as_yes_no(column: Column, words: str, comparison: str, number: float) -> Column:
    assert column.values is not None
    compare = {">=": np.greater_equal, "<=": np.less_equal, ">": np.greater, "<": np.less}[comparison]
    holds = compare(column.values, number)
    if holds.all() or not holds.any():
        low, high = column.words()[0], column.words()[-1]
        raise ColumnError(
            f"favourable={words!r} is true of {'every' if holds.all() else 'no'} value of {column.name!r}, which has "
            f"values from {low} to {high}: there are no differences to locate."
        )
    number_word = words.strip()[len(comparison) :].strip()
    codes = compact(np.append(holds.astype(np.int64), 2)[column.codes], 2)
    levels = (f"{_OTHERWISE[comparison]} {number_word}", words)
    return replace(column, kind="nominal", codes=codes, values=None, levels=levels)


def is_amount(column: Column, favourable: Any) -> bool:
    """Whether the question is how much: a column of more than two numbers, none of which is the favourable one."""
    return column.kind == "numeric" and column.n_codes > 2 and (favourable is None or favourable in BETTER)


def amount_asked(table: Table, roles: Roles) -> Mean | None:
    """The mean that is asked for, if the outcome is a number; what cannot be done with it is refused by name."""
    if roles.weights is not None or roles.survey_weights is not None:
        kept = row_weights(table, roles)[2]
        table = table if kept is None else table.take(kept)
    amounts = [name for name in roles.outcomes if is_amount(table[name], roles.favourable_of(name))]
    if not amounts:
        return None
    name = amounts[0]
    if len(roles.outcomes) > 1:
        raise SettingError(
            f"outcome {name!r} is a number: it is audited by itself, not with {len(roles.outcomes) - 1} more. To audit "
            f"it as yes or no, say where it is favourable, such as favourable={{{name!r}: '>= 640'}}."
        )
    if name in table.binned:
        raise ColumnError(
            f"outcome {name!r} has so many values that they were cut into bins when {table.source} was read: means are "
            "of the values themselves. Give more memory (memory_limit), or fewer rows."
        )
    better = roles.favourable_of(name)
    if roles.directed and better is None:
        raise SettingError(
            f"direction asks who fares worse or better, and nothing says whether more of {name!r} is good for people. "
            "Say favourable='higher' or favourable='lower' (command line: --favourable higher)."
        )
    values = table[name].values
    assert values is not None
    unit = Unit.of(values)
    return Mean("mean", f"mean {name}", better=better or "higher", per_one=unit.per_one, origin=unit.origin)
