"""What an outcome column asks: yes or no, a number that is cut into yes and no, or how much."""

from __future__ import annotations

import re
from dataclasses import replace
from math import floor, log10
from typing import Any

import numpy as np

from ald._core.arrays import FloatArray
from ald.data.amounts import Unit
from ald.data.arrangement import row_weights
from ald.data.columns import Column, compact, parse_numbers
from ald.data.outcomes import BETTER, is_amount
from ald.data.roles import Roles
from ald.data.table import Table
from ald.errors import ColumnError, SettingError, shorten
from ald.notions import MOST_DECIMALS, Mean

# Where a number is favourable: a comparison, and the number.
_CUT = re.compile(r"\s*(>=|<=|>|<)\s*(\S+)\s*")
_OTHERWISE = {">=": "<", "<=": ">", ">": "<=", "<": ">="}
# A unit behind what a column holds: wage (EUR), or wage [EUR].
_UNIT = re.compile(r"(.*\S)\s*(?:\(([^()\[\]]{1,20})\)|\[([^()\[\]]{1,20})\])\s*")
# The largest amount, and one over the least range: beyond them, squares have no place in a document.
LARGEST = 1e12


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


def with_positions(table: Table, roles: Roles) -> Table:
    """The table with an outcome of ordered levels as numbers: the place of its level, from 1 on."""
    if len(roles.outcomes) != 1:
        return table
    name = roles.outcomes[0]
    kind = (roles.kinds or {}).get(name)
    column = table[name] if kind is None else table[name].as_kind(kind)
    if column.kind != "ordinal" or column.n_codes < 3 or roles.favourable_of(name) not in (None, *BETTER):
        return table
    first, last = (shorten(word) for word in (column.words()[0], column.words()[-1]))
    places = np.arange(1.0, column.n_codes + 1.0)
    note = f"{name!r} has ordered levels, which count as 1 ({first}) to {column.n_codes} ({last}): means are of these"
    numbers = replace(column, kind="numeric", values=places, levels=())
    return replace(table, columns={**table.columns, name: numbers}, notes=(*table.notes, note))


def refuse_amounts(table: Table, roles: Roles, why: str) -> None:
    """Raises where an outcome is a number, or a score, and it cannot be audited as one. why: what is in the way."""
    if roles.score is not None:
        raise SettingError(f"score {roles.score!r}: {why}. Give a prediction instead, such as the score cut in two.")
    for name in roles.outcomes:
        if name in table.columns and is_amount(table[name], roles.favourable_of(name)):
            raise SettingError(
                f"outcome {name!r} is a number with more than two values, and {why}. Say where it is favourable, such "
                "as favourable='>= NUMBER', to ask for yes or no (command line: --favourable '>= NUMBER')."
            )


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
            f"it as yes or no, say where it is favourable, such as favourable={{{name!r}: '>= NUMBER'}}."
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
    check_size(f"outcome {name!r}", values)
    unit = Unit.of(values)
    what, written = parse_unit(name)
    return Mean(
        "mean",
        f"mean {what}",
        better=better or "higher",
        per_one=unit.per_one,
        origin=unit.origin,
        unit=written,
        decimals=decimals_of(values[table[name].codes[~table[name].missing]]),
        is_signed=bool(values[0] < 0),
    )


def check_size(who: str, values: FloatArray) -> None:
    """Raises where amounts are so large, or so nearly the same, that their squares have no place."""
    low, high = float(values.min()), float(values.max())
    if max(abs(low), abs(high)) > LARGEST or 0.0 < high - low < 1.0 / LARGEST:
        raise ColumnError(
            f"{who} has values from {low:g} to {high:g}, and amounts are at most {LARGEST:g} and differ by "
            f"{1.0 / LARGEST:g} at least. Use another unit: divide or multiply the column by a power of ten."
        )


def parse_unit(name: str) -> tuple[str, str]:
    """What a column holds, and the unit behind it in brackets, if there is one.

    >>> parse_unit("wage (EUR)"), parse_unit("waiting [days]"), parse_unit("wage")
    (('wage', 'EUR'), ('waiting', 'days'), ('wage', ''))
    """
    found = _UNIT.fullmatch(name)
    return (name, "") if found is None else (found[1], found[2] or found[3])


def decimals_of(amounts: FloatArray) -> int:
    """How many decimals say something of means of amounts that differ so much.

    >>> decimals_of(np.array([1000.0, 2000.0, 3500.0])), decimals_of(np.array([1.0, 2.0, 5.0]))
    (0, 2)
    """
    low, high = np.quantile(amounts, [0.25, 0.75])
    spreads = [spread for spread in (float(amounts.std()), float(high - low) / 1.35) if spread > 0]
    return int(np.clip(2 - floor(log10(min(spreads))), 0, MOST_DECIMALS)) if spreads else 0
