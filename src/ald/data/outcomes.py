"""The outcome columns: which rows are favourable, and what is wrong with columns that do not say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ald._core.arrays import BoolArray, ByteArray, IntArray
from ald.data import checks
from ald.data.columns import Column, as_word, is_interval_kind
from ald.data.notes import Note, Words
from ald.data.roles import Roles
from ald.data.table import Table
from ald.errors import ColumnError, SettingError, nearest, shorten

# Outcomes share the 256 confusion cells that a row's byte can name.
MOST_OUTCOMES = 6
# What is good for people, of an outcome that is an amount.
BETTER = ("higher", "lower")
# Of numbers with more values than this, one against all others is no question that anybody asks.
_MOST_NUMBERS = 10


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


def known_outcomes(table: Table, names: Sequence[str]) -> tuple[IntArray | None, list[str]]:
    """The rows in which none of these columns is missing (None for all), and a warning that counts the others.

    A row without an outcome says nothing of it.
    """
    known = np.ones(table.n_rows, bool)
    for name in names:
        known &= ~table[name].missing
    if known.all():
        return None, []
    if not known.any():
        raise ColumnError(f"no row has a value of {' and '.join(map(repr, names))}: there is no outcome to audit")
    gone = int((~known).sum() if table.counts is None else table.counts[~known].sum())
    return np.flatnonzero(known), [left_out_note(gone, table.rows, names)]


def left_out_note(gone: int, rows: int, names: Sequence[str]) -> str:
    """What is said of rows without an outcome."""
    shown = " or ".join(repr(shorten(name)) for name in names)

    def tell(people: Words) -> str:
        alone = people(gone) == "1"
        return (
            f"{people(gone)} of {rows:,} rows {'has' if alone else 'have'} no value of {shown} and "
            f"{'was' if alone else 'were'} left out: if these people differ from the others, this audit does "
            "not show it. To count them, fill in the missing values."
        )

    return Note.of(tell)


def against_note(table: Table, roles: Roles) -> list[str]:
    """What is said of outcomes with more than two values: one counts, against all others."""
    return [
        f"{found.name!r} has {table[found.name].n_codes:,} values. Favourable: {found.positive!r}, against "
        f"{_list_words([word for word in table[found.name].words() if word != found.positive])}."
        for found in outcome_summaries(table, roles)
        if table[found.name].n_codes > 2
    ]


def _outcome_cells(table: Table, roles: Roles, *, ordered_rows: bool) -> tuple[ByteArray, list[str]]:
    if len(roles.outcomes) > MOST_OUTCOMES:
        raise SettingError(f"at most {MOST_OUTCOMES} outcomes can be audited at once, not {len(roles.outcomes)}")
    cells, warnings = np.zeros(table.n_rows, np.uint8), []
    favourable = roles.favourable if isinstance(roles.favourable, Mapping) else {}
    for name in favourable:
        if name not in roles.outcomes:
            raise SettingError(
                f"favourable names {name!r}, which is not an outcome. {nearest(str(name), roles.outcomes)}"
            )
    for i, name in enumerate(roles.outcomes):
        outcome = favourable_rows(table[name], roles.favourable_of(name), "outcome", table.counts)
        warnings += checks.constant_block(name, outcome) if ordered_rows else []
        cells |= outcome.astype(np.uint8) << i
    _check_said(table, roles)
    return cells, warnings


@dataclass(frozen=True, kw_only=True)
class OutcomeSummary:
    """What is known of an outcome, of the prediction or of the truth: its column, and the two values in words.

    Of a number the smallest and the largest.
    """

    name: str
    negative: str
    positive: str


def is_amount(column: Column, favourable: Any) -> bool:
    """Whether the question is how much: a column of more than two numbers, none of which is the favourable one."""
    return column.kind == "numeric" and column.n_codes > 2 and (favourable is None or favourable in BETTER)


def amount_summary(column: Column) -> OutcomeSummary:
    """The same of a number: the smallest and the largest."""
    words = column.words()
    return OutcomeSummary(name=column.name, negative=words[0], positive=words[-1])


def outcome_summaries(table: Table, roles: Roles, classes: Sequence[str] = ()) -> tuple[OutcomeSummary, ...]:
    """Which values the columns have that are audited: the positive one, and all others."""
    out = []
    for name in dict.fromkeys(roles.outcome_columns):
        if classes:
            out.append(OutcomeSummary(name=name, negative="any other", positive=f"each of {len(classes)} classes"))
            continue
        if name == roles.score or is_amount(table[name], roles.favourable_of(name)):
            out.append(amount_summary(table[name]))
            continue
        positive = _favourable_word(table[name], roles.favourable_of(name), roles.role_of(name))
        others = [word for word in table[name].words() if word != positive]
        negative = others[0] if len(others) == 1 else " or ".join(some([shorten(word) for word in others]))
        out.append(OutcomeSummary(name=name, negative=negative, positive=positive))
    return tuple(out)


def _check_said(table: Table, roles: Roles) -> None:
    """Raises where a direction is asked for and nobody said which value is good for people: it need not be 1."""
    names = roles.outcomes or roles.outcome_columns[:1]
    unsaid = [name for name in names if roles.favourable_of(name) is None]
    if roles.directed and unsaid:
        column = table[unsaid[0]]
        raise SettingError(
            f"direction asks who fares worse or better, but nothing says which value of {roles.role_of(column.name)} "
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
        f"It has {_show(column)}. Say {' or '.join(python)} (command line: "
        f"{' or '.join(f'--favourable {option!r}' for option in options)})."
    )


def _same_coding(prediction: Column, truth: Column) -> None:
    values = sorted({*prediction.words(), *truth.words()})
    if len(values) > 2 and max(prediction.n_codes, truth.n_codes) <= 2:
        raise ColumnError(
            f"prediction {prediction.name!r} and truth {truth.name!r} are coded differently: {_show(prediction)} "
            f"against {_show(truth)}. Recode one of them so that both use the same two values."
        )


def _show(column: Column) -> str:
    return _list_words(column.words())


def _list_words(words: Sequence[str]) -> str:
    return ", ".join(some([repr(shorten(word)) for word in words]))


def some(words: Sequence[str], limit: int = 8) -> list[str]:
    """The words, of very many the first ones and how many they are."""
    return list(words) if len(words) <= limit else [*words[:limit], f"... ({len(words):,} values)"]


def favourable_rows(column: Column, favourable: Any, role: str, counts: IntArray | None = None) -> BoolArray:
    """Where the column has its favourable value. None may be missing; of more than two values one must be said."""
    missing = column.n_missing(counts)
    if missing:
        rows = len(column.codes) if counts is None else int(counts.sum())
        raise ColumnError(f"{role} {column.name!r} has {missing:,} missing values of {rows:,}")
    words = column.words()
    if len(words) > 2:
        _check_favourable(column, favourable, role)
    word = _favourable_word(column, favourable, role)
    if len(words) < 2:
        raise ColumnError(
            f"{role} {column.name!r} has the value {words[0]!r} in every row: there are no differences to locate."
        )
    return np.asarray(column.codes == words.index(word))


def _check_favourable(column: Column, favourable: Any, role: str) -> None:
    """Raises where it is not clear which of more than two values counts, against all others."""
    words = column.words()
    similar = [group for group in checks.similar_words(words) if favourable is None or as_word(favourable) in group]
    hint = f" Note that {' and '.join(map(repr, similar[0]))} differ only in spelling." if similar else ""
    found = f"{role} {column.name!r} has {len(words):,} different values ({_show(column)})"
    if column.kind in ("date", "datetime"):
        raise ColumnError(
            f"{found}; it must have two. An outcome cannot be a date: turn it into a yes/no column first, for example "
            "by asking whether it is before some day."
        )
    errors = (
        ""
        if role == "outcome"
        else " Where a number was predicted, its errors are audited: name the prediction as the score, and "
        "notion='residual' (command line: --score, --notion residual)."
    )
    if is_interval_kind(column.kind) and len(words) > _MOST_NUMBERS:
        raise ColumnError(
            f"{found}; it must have two. Turn it into a yes/no column first, for example by asking whether it is above "
            f"some number: favourable='>= ...' (command line: --favourable '>= ...').{errors}"
        )
    if favourable is None:
        raise ColumnError(
            f"{found}; it must have two.{hint} Turn it into a yes/no column first, or say which value is favourable, "
            f"to compare it with all others: favourable={words[0]!r} (command line: --favourable {words[0]!r})."
        )
    if similar:
        raise ColumnError(f"{found}.{hint} Unify them first: otherwise they count as opposites.")


def counted_value(column: Column) -> str | None:
    """The value that counts if nobody says which one does: 1 of 0 and 1, true of true and false; None of others."""
    folded = {word.casefold(): word for word in column.words()}
    for positive, negative in (("1", "0"), ("true", "false")):
        if set(folded) <= {positive, negative}:
            return folded.get(positive, positive)
    return None


def _favourable_word(column: Column, favourable: Any, role: str) -> str:
    words = column.words()
    if favourable is None:
        counted = counted_value(column)
        if counted is not None:
            return counted
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
