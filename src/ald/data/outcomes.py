"""The outcome columns: which rows are favourable, and what is wrong with columns that do not say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ald._core.arrays import BoolArray, ByteArray, IntArray
from ald.data import checks
from ald.data.columns import Column, as_word
from ald.data.roles import Roles
from ald.data.table import Table
from ald.errors import ColumnError, SettingError, nearest, shorten

# Outcomes share the 256 confusion cells that a row's byte can name.
MOST_OUTCOMES = 6


def confusion_cells(table: Table, roles: Roles, *, ordered_rows: bool) -> tuple[ByteArray, list[str]]:
    """The confusion cell of every row, and warnings about the outcome columns.

    Several outcomes share a cell: the bit of the first one is 1, that of the second 2, and so on.
    """
    if roles.outcomes:
        return _outcome_cells(table, roles, ordered_rows=ordered_rows)
    assert roles.prediction is not None
    assert roles.truth is not None
    predicted_column, truth_column = table[roles.prediction], table[roles.truth]
    _same_coding(predicted_column, truth_column)
    prediction = favourable_rows(predicted_column, roles.favourable, "prediction", table.counts)
    truth = favourable_rows(truth_column, roles.favourable, "truth", table.counts)
    _check_said(table, roles)
    others = [
        (name, np.asarray(column.codes == column.words().index(word)))
        for name, column in table.columns.items()
        if name not in roles.outcome_columns and column.n_codes == 2 and not column.missing.any()
        for word in [_favourable_word(predicted_column, roles.favourable, "prediction")]
        if word in column.words()
    ]
    warnings = checks.suspicious_truth(prediction, truth, (roles.prediction, roles.truth), others)
    if ordered_rows:
        warnings += checks.constant_block(roles.prediction, prediction)
        warnings += checks.constant_block(roles.truth, truth)
    return (2 * truth.astype(np.uint8) + prediction).astype(np.uint8), warnings


def _outcome_cells(table: Table, roles: Roles, *, ordered_rows: bool) -> tuple[ByteArray, list[str]]:
    if len(roles.outcomes) > MOST_OUTCOMES:
        raise SettingError(f"at most {MOST_OUTCOMES} outcomes can be audited at once, not {len(roles.outcomes)}")
    cells, warnings = np.zeros(table.n_rows, np.uint8), []
    favourable = roles.favourable if isinstance(roles.favourable, Mapping) else {}
    for name in favourable:
        if name not in roles.outcomes:
            raise SettingError(f"favourable names {name!r}, which is no outcome. {nearest(str(name), roles.outcomes)}")
    for i, name in enumerate(roles.outcomes):
        outcome = favourable_rows(table[name], roles.favourable_of(name), "outcome", table.counts)
        warnings += checks.constant_block(name, outcome) if ordered_rows else []
        cells |= outcome.astype(np.uint8) << i
    _check_said(table, roles)
    return cells, warnings


@dataclass(frozen=True, kw_only=True)
class OutcomeSummary:
    """What is known of an outcome, of the prediction or of the truth: its column, and the two values in words."""

    name: str
    negative: str
    positive: str


def outcome_summaries(table: Table, roles: Roles) -> tuple[OutcomeSummary, ...]:
    """Which values the columns have that are audited; each must have two."""
    out = []
    for name in dict.fromkeys(roles.outcome_columns):
        positive = _favourable_word(table[name], roles.favourable_of(name), roles.role_of(name))
        (negative,) = (word for word in table[name].words() if word != positive)
        out.append(OutcomeSummary(name=name, negative=negative, positive=positive))
    return tuple(out)


def _check_said(table: Table, roles: Roles) -> None:
    """Raises where a direction is asked for and nobody said which value is good for people: it need not be 1."""
    names = roles.outcomes or roles.outcome_columns[:1]
    unsaid = [name for name in names if roles.favourable_of(name) is None]
    if roles.directed and unsaid:
        column = table[unsaid[0]]
        raise SettingError(
            f"direction asks who fares worse or better, and nothing says which value of {roles.role_of(column.name)} "
            f"{column.name!r} is good for people. {_choices(column, of_several=len(names) > 1)}"
        )


def _choices(column: Column, *, of_several: bool = False) -> str:
    """How to say which value is the favourable one."""
    words = column.words()
    python = [
        f"favourable={{{column.name!r}: {word!r}, ...}}" if of_several else f"favourable={word!r}" for word in words
    ]
    options = [f"{column.name}={word}" if of_several else word for word in words]
    return (
        f"It has {_shown(column)}. Say {' or '.join(python)} (command line: "
        f"{' or '.join(f'--favourable {option!r}' for option in options)})."
    )


def _same_coding(prediction: Column, truth: Column) -> None:
    values = sorted({*prediction.words(), *truth.words()})
    if len(values) > 2 and max(prediction.n_codes, truth.n_codes) <= 2:
        raise ColumnError(
            f"prediction {prediction.name!r} and truth {truth.name!r} are coded differently: {_shown(prediction)} "
            f"against {_shown(truth)}. Recode one of them so that both use the same two values."
        )


def _shown(column: Column, limit: int = 8) -> str:
    words = column.words()
    text = ", ".join(repr(shorten(word)) for word in words[:limit])
    return text + (f", ... ({len(words):,} values)" if len(words) > limit else "")


def favourable_rows(column: Column, favourable: Any, role: str, counts: IntArray | None = None) -> BoolArray:
    """Where the column has its favourable value. The column must have two values and none missing."""
    missing = column.n_missing(counts)
    if missing:
        rows = len(column.codes) if counts is None else int(counts.sum())
        raise ColumnError(
            f"{role} {column.name!r} has {missing:,} missing values of {rows:,}. Remove these rows (they "
            f'say nothing of the {role}), for example with data.dropna(subset=["{column.name}"]), or fill them in.'
        )
    words = column.words()
    if len(words) > 2:
        similar = checks.similar_words(words)
        hint = f" Note that {' and '.join(map(repr, similar[0]))} differ only in spelling." if similar else ""
        raise ColumnError(
            f"{role} {column.name!r} has {len(words):,} different values ({_shown(column)}); it must have two.{hint} "
            "Turn it into a yes/no column first."
        )
    word = _favourable_word(column, favourable, role)
    if len(words) < 2:
        raise ColumnError(
            f"{role} {column.name!r} has the value {words[0]!r} in every row: there are no differences to locate."
        )
    return np.asarray(column.codes == words.index(word))


def _favourable_word(column: Column, favourable: Any, role: str) -> str:
    words = column.words()
    if favourable is None:
        folded = {word.casefold(): word for word in words}
        for positive, negative in (("1", "0"), ("true", "false")):
            if set(folded) <= {positive, negative}:
                return folded.get(positive, positive)
        raise ColumnError(f"which value of {role} {column.name!r} is the favourable one? {_choices(column)}")
    word = as_word(favourable)
    folded = {candidate.casefold(): candidate for candidate in words}
    if word not in words and {*folded, word.casefold()} <= {"true", "false"}:
        word = folded.get(word.casefold(), word)
    for here, there in (("01", ("false", "true")), (("false", "true"), "01")):
        if word not in words and word.casefold() in here and set(folded) <= set(there):
            word = folded.get(there[here.index(word.casefold())], word)
    if word not in words:
        raise ColumnError(f"{role} {column.name!r} never has the favourable value {word!r}. {nearest(word, words)}")
    return word
