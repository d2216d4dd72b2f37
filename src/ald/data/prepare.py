"""From a table and the roles of its columns to coded audit data, with a summary of what was done and warnings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ald._core.arrays import AnyArray, BoolArray, FloatArray, IntArray
from ald.data import checks
from ald.data.amounts import Unit
from ald.data.arrangement import cluster_numbers, mark_rows, own_halves, row_weights
from ald.data.asked import with_cuts
from ald.data.classes import class_cells, class_note
from ald.data.coded import AuditData, attribute_of, encode, weighted_bincount
from ald.data.columns import Column, infinite_note, is_interval_kind
from ald.data.design import Design
from ald.data.duplicates import repeated_rows
from ald.data.hashing import named as named_hashes
from ald.data.hashing import number_hashes, value_hashes
from ald.data.identifiers import (
    IDENTIFIER_ROWS,
    IDENTIFIER_SHARE,
    Occurrences,
    cluster_hint,
    counts_rows,
    numbers_reason,
    repeated_reason,
    words_reason,
)
from ald.data.outcomes import (
    OutcomeSummary,
    against_note,
    amount_summary,
    confusion_cells,
    known_outcomes,
    outcome_summaries,
)
from ald.data.roles import Roles
from ald.data.scores import amounts_of_score, scores_of
from ald.data.strata import Factors, Strata, check_strata, default_bins, in_strata
from ald.data.table import Table
from ald.errors import ColumnError, InputError, SettingError, nearest, shorten
from ald.groups.criterion import KINDS, Criterion
from ald.notions import Mean


@dataclass(frozen=True, kw_only=True)
class AttributeSummary:
    """What is known of an audited attribute: its kind, number of different values and number of missing ones.

    missing: None where so few have none, or so few have one, that it is not shown.
    """

    name: str
    kind: str
    distinct: int
    missing: int | None


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """A column that is not audited, and why."""

    name: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class DataSummary:
    """What was audited: people, outcomes per confusion cell, attributes, columns left out, warnings.

    rows: people, or with a cluster column rows, and then `clusters` are the people. strata: of legitimate factors.
    outcomes: the columns that are audited, with their values.
    """

    rows: int
    outcomes: tuple[OutcomeSummary, ...]
    cells: dict[str, int]
    attributes: tuple[AttributeSummary, ...]
    left_out: tuple[LeftOut, ...]
    warnings: tuple[str, ...]
    rows_search: int = 0
    rows_assess: int = 0
    clusters: int | None = None
    clusters_search: int | None = None
    clusters_assess: int | None = None
    strata: int | None = None

    def outcome(self, name: str) -> OutcomeSummary:
        """The audited column of this name."""
        return next(outcome for outcome in self.outcomes if outcome.name == name)


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """Coded data, its summary, and the named groups.

    given: legitimate factors, which are cut where the search's half says (None without any). whole: all data within
    strata that it cuts itself, and what these mean: for groups that were named, and for what is said of the data.
    """

    data: AuditData
    summary: DataSummary
    whole: AuditData
    strata: Strata | None = None
    given: Factors | None = None
    named: tuple[Criterion, ...] = ()


def with_kinds(table: Table, kinds: Mapping[str, str | Sequence[str]] | None, taken: Collection[str] = ()) -> Table:
    """The table with its columns read as the kinds that the user gave; those that are taken are what they are."""
    columns = dict(table.columns)
    for name, kind in (kinds or {}).items():
        column = table[name]
        if isinstance(kind, str) and kind not in KINDS:
            raise SettingError(f"unknown kind {kind!r} for column {name!r}. {nearest(kind, KINDS)}")
        if name not in taken:
            columns[name] = column.as_kind(kind)
    return replace(table, columns=columns)


def check_rows(table: Table) -> None:
    """Raises where there is nobody to audit."""
    if table.n_rows == 0:
        raise InputError(f"{table.source} has no rows")


def prepare(
    table: Table,
    roles: Roles,
    cell_names: Sequence[str],
    minimum_rows: int = 1,
    *,
    half: IntArray | None = None,
    reference: Criterion | None = None,
    named: Sequence[Criterion] = (),
    search: bool = True,
    look_at_order: bool = False,
    mean: Mean | None = None,
    classes: tuple[str, ...] = (),
    beside: FloatArray | None = None,
) -> Prepared:
    """Coded audit data of the table. `cell_names` are those of 2 cells (an outcome) or 4 (prediction and truth).

    mean: what is asked of an outcome that is a number; then `cell_names` name what is added up of it. classes: those of
    an outcome, or of prediction and truth, that has more than two values.

    half: 0 for rows of the search and 1 for those of the assessment, where these were given as two data sets.
    reference, named: groups in words, which become marks of the rows. search: False if only these are tested.
    beside: a number of every row that stays with it, in place of a score. None of the rows may then be left out for
    want of an outcome.
    look_at_order: warn of what the order of the rows says; an audit does not depend on it.
    """
    check_rows(table)
    table = with_cuts(with_kinds(table, roles.kinds, roles.taken), roles)
    known, without = known_outcomes(table, roles.outcome_columns)
    if known is not None:
        table, half = table.take(known), None if half is None else half[known]
    counts, weights, kept = row_weights(table, roles)
    if kept is not None:
        table, half = table.take(kept), None if half is None else half[kept]
        beside = None if beside is None else beside[kept]
    total = table.n_rows if counts is None else int(counts.sum())
    ordered = look_at_order and counts is None and known is None
    if classes:
        cells, warnings = class_cells(table, roles, classes), [class_note(roles, classes)]
    elif mean is not None:
        cells, warnings = np.zeros(table.n_rows, np.uint8), []
    else:
        cells, warnings = confusion_cells(table, roles, ordered_rows=ordered)
        warnings = [*against_note(table, roles), *warnings]
    warnings = [*table.notes, *without, *warnings]
    if total < minimum_rows:
        raise InputError(
            f"{table.source} has {total:,} rows, too few to audit: at least {minimum_rows:,} are needed to search "
            "them, and to test what is found."
        )
    columns, left_out, hints = choose_columns(table, roles, lambda name: counts, total) if search else ([], [], [])
    warnings.extend(hints)
    warnings.extend(column_warnings(columns, [table[name] for name in roles.outcome_columns], lambda name: counts))
    people = np.ones(table.n_rows, np.int64) if counts is None else counts
    factors = [attribute_of(table[name]) for name in roles.given]
    clusters = cluster_numbers(table, roles, people)
    of_number = mean is not None and mean.of_number
    scores, truths = (None, None) if roles.score is None or of_number else scores_of(table, roles)
    design = Design(
        amounts=None if mean is None else _amounts(table, roles, mean),
        scores=scores if beside is None else beside,
        truths=truths,
        factors=tuple(codes for _, codes in factors),
        clusters=clusters,
        weights=weights,
        half=own_halves(table, roles, half, clusters),
        reference=None if reference is None else mark_rows(table, reference, people, "reference"),
        named=tuple(mark_rows(table, criterion, people, "named group") for criterion in named),
    )
    audited_names = {column.name for column in columns}
    besides = [value_hashes(factor)[codes] for factor, codes in factors if factor.name not in audited_names]
    if weights is not None:
        besides.append(number_hashes("survey weight", weights))
    if design.amounts is not None:
        besides.append(number_hashes("amount", design.amounts.astype(float)))
    if design.scores is not None:
        besides.append(number_hashes("score", design.scores))
    besides += [
        named_hashes(str(criterion), mark)
        for criterion, mark in _marks(reference, named, design)
        if any(condition.attribute not in audited_names for condition in criterion)
    ]
    drawn_by = None if clusters is None else _cluster_hashes(table[roles.cluster or ""])
    data = encode(columns, cells, counts, len(cell_names), design, besides=besides, clusters=drawn_by)
    if mean is not None:
        data = replace(data, unit=Unit(per_one=mean.per_one, origin=mean.origin))
    if roles.cluster is None and roles.weights is None:
        warnings.extend(repeated_rows(data))
    whole, strata, given = data, None, None
    if factors:
        given = Factors(factors=tuple(factor for factor, _ in factors), bins=roles.given_bins or default_bins(total))
        strata, (whole,) = in_strata([data], given, data)
        warnings.extend(check_strata(strata, whole))
    cell_counts = data.cell_counts()
    summary = DataSummary(
        rows=total,
        outcomes=(amount_summary(table[roles.outcomes[0]]),)
        if mean is not None and roles.outcomes
        else outcome_summaries(table, roles, classes),
        cells={name: int(n) for name, n in zip(cell_names, cell_counts, strict=True)},
        attributes=tuple(summarise(column, counts) for column in columns),
        left_out=tuple(left_out),
        warnings=tuple(warnings),
        clusters=None if clusters is None else int(clusters.max()) + 1,
        strata=None if strata is None else len(strata),
    )
    return Prepared(data=data, summary=summary, whole=whole, strata=strata, given=given, named=tuple(named))


def _marks(
    reference: Criterion | None, named: Sequence[Criterion], design: Design
) -> list[tuple[Criterion, BoolArray]]:
    """The groups in words, with who belongs to each."""
    marks = list(zip(named, design.named, strict=True))
    return marks if reference is None or design.reference is None else [(reference, design.reference), *marks]


def _cluster_hashes(column: Column) -> AnyArray:
    attribute, codes = attribute_of(column)
    return value_hashes(attribute)[codes]


def _amounts(table: Table, roles: Roles, mean: Mean) -> IntArray:
    """The outcome of every row, or what is asked of its score, as an integer. None may be missing."""
    unit = Unit(per_one=mean.per_one, origin=mean.origin)
    if roles.score is not None:
        return unit.integers(amounts_of_score(table, roles, mean))
    column = table[roles.outcomes[0]]
    assert column.values is not None
    if column.n_codes < 2:
        raise ColumnError(
            f"outcome {column.name!r} has the value {column.words()[0]!r} in every row: there are no differences to "
            "locate."
        )
    return unit.integers(column.values)[column.codes]


def column_warnings(
    columns: Sequence[Column], outcomes: Sequence[Column], counts_of: Callable[[str], IntArray | None]
) -> list[str]:
    """What is to be said of the columns that are audited. counts_of: how many rows each row of a column stands for."""
    warnings: list[str] = []
    for column in columns:
        warnings.extend(column.notes)
        if column.n_infinite:
            warnings.append(infinite_note(column.name, column.n_infinite))
    return [*warnings, *checks.similar_levels([*outcomes, *columns], counts_of)]


def summarise(column: Column, counts: IntArray | None) -> AttributeSummary:
    """What is known of an attribute, where `counts` says how many rows each one stands for."""
    return AttributeSummary(
        name=column.name, kind=column.kind, distinct=column.n_codes, missing=column.n_missing(counts)
    )


def choose_columns(
    table: Table, roles: Roles, counts_of: Callable[[str], IntArray | None], total: int
) -> tuple[list[Column], list[LeftOut], list[str]]:
    """The columns to audit in the order given, those left out with reasons, and what to do with some of them.

    counts_of: how many rows each row of a column stands for.
    """
    taken = set(roles.taken)
    explicit = roles.attributes is not None
    free = [name for name in table.names if name not in taken and name not in roles.exclude]
    names = list(dict.fromkeys(roles.attributes or free))
    for name in names:
        if name in taken:
            raise SettingError(
                f"column {name!r} cannot be both an attribute and the outcome, prediction, truth, weights, cluster or "
                "split"
            )
    if not names:
        besides = sorted({*taken, *roles.exclude})
        raise InputError(f"{table.source} has no column left to audit besides {', '.join(map(repr, besides))}")
    columns, hints = [], []
    left_out = [LeftOut(name=name, reason="excluded") for name in roles.exclude]
    left_out += [LeftOut(name=name, reason=reason) for name, reason in table.left_out.items() if not explicit]
    for name in names:
        column = table[name]
        if name in roles.given and not roles.given_in_criteria:
            reason = "legitimate factor: people are compared within its strata"
        else:
            reason, hint = judge_column(column, counts_of(name), total, explicit or name in (roles.kinds or {}))
            hints += [hint] if hint and roles.cluster is None else []
            # Where rows count several people, numbers of rows repeat in the data that these stand for.
            if not (reason or explicit) and roles.weights is not None and column.is_integer:
                reason = numbers_reason(table.n_rows) if counts_rows(column.values, table.n_rows) else ""
        if reason:
            left_out.append(LeftOut(name=name, reason=reason))
        else:
            columns.append(column)
    if not columns:
        reasons = "; ".join(f"{shorten(entry.name)!r}: {entry.reason}" for entry in left_out[:8])
        raise InputError(f"no attribute is left to audit ({reasons})")
    return columns, left_out, hints


def judge_column(column: Column, counts: IntArray | None, total: int, wanted: bool = False) -> tuple[str, str]:
    """Why a column is left out, and what to do if its values stand for people with several rows; or empty."""
    n_missing, distinct = column.n_missing(counts), column.n_codes
    if distinct == 0:
        return "no value at all", ""
    if distinct == 1 and (n_missing == 0 or column.kind not in ("nominal", "boolean")):
        return f"constant (always {shorten(column.words()[0])!r})", ""
    is_number = column.is_integer
    if wanted or total < IDENTIFIER_ROWS or (is_interval_kind(column.kind) and not is_number):
        return "", ""
    observed = total - n_missing
    if is_number and distinct == total:
        return numbers_reason(observed), ""
    if not is_number and distinct > IDENTIFIER_SHARE * observed:
        return words_reason(distinct, observed), ""
    rows = column.rows if counts is None else weighted_bincount(column.codes, counts, distinct + 1)
    found = Occurrences.of(rows[:distinct])
    return repeated_reason(found, is_number=is_number), cluster_hint(column.name, found, is_number=is_number)


def check_halves(searched: int, assessed: int, least: int) -> None:
    """Raises if halves that were given are too small."""
    if searched < least or assessed == 0:
        raise InputError(
            f"the half for the search has {searched:,} rows and the one for the assessment {assessed:,}: the search "
            f"needs {least:,} at least, and the assessment some"
        )
