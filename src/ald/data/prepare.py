"""From a table and the roles of its columns to coded audit data, with a summary of what was done and warnings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Any

import numpy as np

from ald.arrays import BoolArray, ByteArray, IntArray
from ald.criterion import KINDS
from ald.data import checks
from ald.data.coded import AuditData, encode
from ald.data.columns import Column, as_word, is_interval_kind
from ald.data.table import Table
from ald.errors import ColumnError, InputError, SettingError, nearest, shorten

# Unordered columns with more distinct values per row than this, and whole numbers that never repeat, identify
# people rather than describe them. Small tables are not judged.
_IDENTIFIER_SHARE = 0.9
_IDENTIFIER_ROWS = 50


@dataclass(frozen=True, kw_only=True)
class Roles:
    """Which column plays which part. Either `outcome`, or `prediction` and `truth`."""

    outcome: str | None = None
    favourable: Any = None
    prediction: str | None = None
    truth: str | None = None
    attributes: tuple[str, ...] | None = None
    weights: str | None = None
    kinds: Mapping[str, str | Sequence[str]] | None = None

    def __post_init__(self) -> None:
        for role in ("outcome", "prediction", "truth", "weights"):
            if not isinstance(getattr(self, role), (str, NoneType)):
                raise SettingError(f"{role} must be the name of a column (text), not {getattr(self, role)!r}")
        for name in (*(self.attributes or ()), *(self.kinds or {})):
            if not isinstance(name, str):
                raise SettingError(f"attributes and kinds go by names of columns (text), not {name!r}")
        for name, kind in (self.kinds or {}).items():
            if not isinstance(kind, (str, Sequence)):
                raise SettingError(f"the kind of column {name!r} must be a word or a list of levels, not {kind!r}")
        if self.outcome is not None and (self.prediction is not None or self.truth is not None):
            raise SettingError("give either outcome, or prediction and truth; not both")
        if self.outcome is None and self.prediction is None and self.truth is None:
            raise SettingError("name the column to audit: outcome=..., or prediction=... and truth=...")
        if self.outcome is None and (self.prediction is None or self.truth is None):
            missing, given = ("truth", "prediction") if self.truth is None else ("prediction", "truth")
            raise SettingError(
                f"{given} was given without {missing}. Give both, or outcome=... to audit one column by itself."
            )

    @property
    def outcome_columns(self) -> tuple[str, ...]:
        return tuple(name for name in (self.outcome, self.prediction, self.truth) if name is not None)

    @property
    def needed(self) -> tuple[str, ...] | None:
        """The columns to read, or None for all."""
        if self.attributes is None:
            return None
        extra = () if self.weights is None else (self.weights,)
        return tuple(dict.fromkeys((*self.outcome_columns, *extra, *self.attributes, *(self.kinds or {}))))


@dataclass(frozen=True, kw_only=True)
class AttributeSummary:
    """What is known of an audited attribute: its kind, number of different values and number of missing ones."""

    name: str
    kind: str
    distinct: int
    missing: int


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """A column that is not audited, and why."""

    name: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class DataSummary:
    """What was audited: people, outcomes per confusion cell, attributes, columns left out, warnings."""

    rows: int
    cells: dict[str, int]
    attributes: tuple[AttributeSummary, ...]
    left_out: tuple[LeftOut, ...]
    warnings: tuple[str, ...]
    rows_search: int = 0
    rows_assess: int = 0


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """Coded data and its summary."""

    data: AuditData
    summary: DataSummary


def prepare(table: Table, roles: Roles, cell_names: Sequence[str], minimum_rows: int = 1) -> Prepared:
    """Coded audit data of the table. `cell_names` are those of 2 cells (an outcome) or 4 (prediction and truth)."""
    if table.n_rows == 0:
        raise InputError(f"{table.source} has no rows")
    counts = _counts(table, roles.weights)
    if counts is not None and not counts.all():
        kept = np.flatnonzero(counts)
        table = Table(
            columns={name: column.take(kept) for name, column in table.columns.items()},
            n_rows=len(kept),
            source=table.source,
        )
        counts = counts[kept]
    total = table.n_rows if counts is None else int(counts.sum())
    cells, warnings = _cells(table, roles, ordered_rows=counts is None)
    if total < minimum_rows:
        raise InputError(
            f"{table.source} has {total:,} rows, too few to audit: a tree needs {minimum_rows:,} (half of them is set "
            "aside for testing, and each tree sees 0.632 of the rest)."
        )
    columns, left_out = _attributes(table, roles, counts, total)
    for column in columns:
        warnings.extend(column.notes)
        if column.n_infinite:
            warnings.append(f"{column.n_infinite:,} infinite values of {shorten(column.name)!r} count as missing")
    outcomes = [table[name] for name in roles.outcome_columns]
    warnings.extend(checks.similar_levels([*outcomes, *columns]))
    data = encode(columns, cells, counts, len(cell_names))
    cell_counts = data.cell_counts()
    summary = DataSummary(
        rows=total,
        cells={name: int(n) for name, n in zip(cell_names, cell_counts, strict=True)},
        attributes=tuple(_summarise(column, counts) for column in columns),
        left_out=tuple(left_out),
        warnings=tuple(warnings),
    )
    return Prepared(data=data, summary=summary)


def _summarise(column: Column, counts: IntArray | None) -> AttributeSummary:
    missing = column.missing
    n_missing = int(missing.sum()) if counts is None else int(counts[missing].sum())
    return AttributeSummary(name=column.name, kind=column.kind, distinct=column.n_codes, missing=n_missing)


def _counts(table: Table, name: str | None) -> IntArray | None:
    """The people per row from the weights column."""
    if name is None:
        return None
    column = table[name]
    if column.values is None or column.kind != "numeric":
        shown = f"such as {shorten(column.words()[0])!r}" if column.n_codes else "but all are missing"
        raise ColumnError(
            f"weights {name!r} must be whole numbers; the column holds values of kind {column.kind}, {shown}"
        )
    if column.missing.any():
        raise ColumnError(
            f"weights {name!r} has {int(column.missing.sum()):,} missing or infinite values; every row needs a count "
            "(0 leaves it out)"
        )
    bad = column.values[(column.values < 0) | (column.values != np.floor(column.values))]
    if len(bad):
        raise ColumnError(
            f"weights {name!r} must be whole numbers from 0 on (people per row); found {bad[0]:g}. "
            "Negative and fractional weights are not counts."
        )
    if column.values[column.codes].sum() >= 2**53:
        raise ColumnError(f"weights {name!r} add up to more people than can be counted exactly")
    counts = column.values.astype(np.int64)[column.codes]
    if not counts.any():
        raise ColumnError(f"weights {name!r} are all 0: there is nobody to audit")
    return counts


def _cells(table: Table, roles: Roles, *, ordered_rows: bool) -> tuple[ByteArray, list[str]]:
    """The confusion cell of every row, and warnings about the outcome columns."""
    if roles.outcome is not None:
        outcome = _binary(table[roles.outcome], roles.favourable, "outcome")
        warnings = checks.constant_block(roles.outcome, outcome) if ordered_rows else []
        return outcome.astype(np.uint8), warnings
    assert roles.prediction is not None
    assert roles.truth is not None
    predicted_column, truth_column = table[roles.prediction], table[roles.truth]
    _same_coding(predicted_column, truth_column)
    prediction = _binary(predicted_column, roles.favourable, "prediction")
    truth = _binary(truth_column, roles.favourable, "truth")
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


def _binary(column: Column, favourable: Any, role: str) -> BoolArray:
    """Where the column has its favourable value. The column must have two values and none missing."""
    missing = int(column.missing.sum())
    if missing:
        raise ColumnError(
            f"{role} {column.name!r} has {missing:,} missing values of {len(column.codes):,}. Remove these rows (they "
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
        raise ColumnError(
            f"which value of {role} {column.name!r} is the favourable one? It has {_shown(column)}. Say it with "
            f"favourable={words[-1]!r} (command line: --favourable {words[-1]!r})."
        )
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


def _attributes(table: Table, roles: Roles, counts: IntArray | None, total: int) -> tuple[list[Column], list[LeftOut]]:
    """The columns to audit in the order given, and those left out with reasons."""
    taken = {*roles.outcome_columns} | ({roles.weights} if roles.weights else set())
    kinds = dict(roles.kinds or {})
    for name, kind in kinds.items():
        table[name]
        if isinstance(kind, str) and kind not in KINDS:
            raise SettingError(f"unknown kind {kind!r} for column {name!r}. {nearest(kind, KINDS)}")
    explicit = roles.attributes is not None
    names = list(dict.fromkeys(roles.attributes or [name for name in table.names if name not in taken]))
    for name in names:
        if name in taken:
            raise SettingError(
                f"column {name!r} cannot be both an attribute and the outcome, prediction, truth or weights"
            )
    if not names:
        raise InputError(f"{table.source} has no column left to audit besides {', '.join(map(repr, sorted(taken)))}")
    columns, left_out = [], []
    for name in names:
        column = table[name]
        if name in kinds:
            column = column.as_kind(kinds[name])
        reason = _reason_to_leave_out(column, counts, total, explicit or name in kinds)
        if reason:
            left_out.append(LeftOut(name=name, reason=reason))
        else:
            columns.append(column)
    if not columns:
        reasons = "; ".join(f"{shorten(entry.name)!r}: {entry.reason}" for entry in left_out[:8])
        raise InputError(f"no attribute is left to audit ({reasons})")
    return columns, left_out


def _reason_to_leave_out(column: Column, counts: IntArray | None, total: int, wanted: bool) -> str:
    n_missing = int(column.missing.sum()) if counts is None else int(counts[column.missing].sum())
    distinct = column.n_codes
    if distinct == 0:
        return "no value at all"
    if distinct == 1 and (n_missing == 0 or column.kind not in ("nominal", "boolean")):
        return f"constant (always {shorten(column.words()[0])!r})"
    if wanted or total < _IDENTIFIER_ROWS:
        return ""
    observed = total - n_missing
    if not is_interval_kind(column.kind) and distinct > _IDENTIFIER_SHARE * observed:
        return f"identifier-like ({distinct:,} different values in {observed:,} rows)"
    if column.is_integer and distinct == total:
        return f"identifier-like (a different whole number in each of {observed:,} rows)"
    return ""
