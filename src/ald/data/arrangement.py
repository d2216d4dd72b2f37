"""How people are arranged for an audit, from the columns that say so: weights, clusters, halves, marked groups."""

from __future__ import annotations

import numpy as np

from ald._core.arrays import BoolArray, FloatArray, IntArray
from ald.data.coded import weighted_bincount
from ald.data.columns import Column, is_interval_kind, parse_numbers
from ald.data.roles import Roles
from ald.data.table import Table
from ald.errors import ColumnError, InputError, shorten
from ald.groups.criterion import Criterion
from ald.groups.wording import readable

# Words for the two halves in a column that assigns rows: to the search, and to the assessment.
HALF_WORDS = (("search", "assess"), ("train", "test"), ("d1", "d2"), ("development", "validation"), ("false", "true"))


def row_weights(table: Table, roles: Roles) -> tuple[IntArray | None, FloatArray | None, IntArray | None]:
    """People per row, survey weight per person, and the rows to keep: those that stand for nobody are left out."""
    counts = table.counts if roles.weights is None else _counts(table[roles.weights], table.counts)
    weights = None if roles.survey_weights is None else _survey_weights(table[roles.survey_weights], table.counts)
    kept = np.ones(table.n_rows, bool)
    if counts is not None:
        kept &= counts > 0
    if weights is not None:
        kept &= weights > 0
    if kept.all():
        return counts, weights, None
    rows = np.flatnonzero(kept)
    return (None if counts is None else counts[rows]), (None if weights is None else weights[rows]), rows


def _numbers(column: Column, role: str, wanted: str, rows: IntArray | None) -> FloatArray:
    """The distinct values of a column of weights, which must be numbers, with none missing and none negative."""
    if column.values is None or column.kind != "numeric":
        missing = "" if column.n_codes else ", but all are missing"
        raise ColumnError(
            f"{role} {column.name!r} must be {wanted}; the column holds values of kind {column.kind}{missing}"
        )
    if column.missing.any():
        raise ColumnError(
            f"{role} {column.name!r} has {column.n_missing(rows):,} missing or infinite values; every row needs one "
            "(0 leaves it out)"
        )
    if not column.values.any():
        raise ColumnError(f"{role} {column.name!r} are all 0: there is nobody to audit")
    return column.values


def _counts(column: Column, rows: IntArray | None) -> IntArray:
    values = _numbers(column, "weights", "whole numbers", rows)
    bad = values[(values < 0) | (values != np.floor(values))]
    if len(bad):
        raise ColumnError(
            f"weights {column.name!r} must be whole numbers from 0 on (people per row); found {bad[0]:g}. "
            f"Fractional weights are not counts: for a survey, say weights=ald.SurveyWeights({column.name!r}) "
            f"(command line: --survey-weights {column.name})."
        )
    if (values[column.codes] * (1 if rows is None else rows)).sum() >= 2**53:
        raise ColumnError(f"weights {column.name!r} add up to more people than can be counted exactly")
    people = values.astype(np.int64)[column.codes]
    return people if rows is None else people * rows


def _survey_weights(column: Column, rows: IntArray | None) -> FloatArray:
    values = _numbers(column, "survey weights", "numbers above 0", rows)
    if values.min() < 0:
        raise ColumnError(
            f"survey weights {column.name!r} must not be negative; found {values.min():g}. A row stands for that many "
            "people of the population (0 leaves it out)."
        )
    return np.asarray(values[column.codes])


def cluster_numbers(table: Table, roles: Roles, people: IntArray) -> IntArray | None:
    """The cluster of every row, from 0 on."""
    if roles.cluster is None:
        return None
    column = table[roles.cluster]
    missing = column.n_missing(table.counts)
    if missing:
        raise ColumnError(
            f"cluster {column.name!r} has {missing:,} missing values of {table.rows:,}: every row "
            "needs the person or unit that it belongs to"
        )
    sizes = weighted_bincount(column.codes, people, column.n_codes)
    largest, total = int(np.argmax(sizes)), int(sizes.sum())
    if 2 * int(sizes[largest]) > total:
        raise ColumnError(
            f"cluster {column.name!r}: one of its values has {int(sizes[largest]):,} of {total:,} rows, more than half "
            "of the data, which then cannot be halved by cluster. Is this the right column?"
        )
    return column.codes.astype(np.int64)


def own_halves(table: Table, roles: Roles, half: IntArray | None, clusters: IntArray | None) -> IntArray | None:
    """The half of every row: 0 for the search, 1 for the assessment; None if it is drawn at random."""
    if roles.split is not None:
        half = _halves_by(table[roles.split], table.counts)
    if half is not None and clusters is not None:
        both = np.intersect1d(clusters[half == 0], clusters[half == 1])
        if len(both):
            assert roles.cluster is not None
            raise InputError(
                f"{len(both):,} clusters of {roles.cluster!r} are in both halves: then the data that tests a group has "
                "helped to suggest it. Give all rows of one person to the same half."
            )
    return half


def _halves_by(column: Column, rows: IntArray | None) -> IntArray:
    words = column.words()
    if column.missing.any():
        raise ColumnError(
            f"split {column.name!r} has {column.n_missing(rows):,} missing values: every row needs a half"
        )
    shown = ", ".join(repr(shorten(word)) for word in words[:5]) + (", ..." if len(words) > 5 else "")
    if len(words) != 2:
        raise ColumnError(
            f"split {column.name!r} must have two values, one for the search and one for the assessment; it has "
            f"{len(words):,}: {shown}"
        )
    folded = [word.casefold() for word in words]
    for first, second in HALF_WORDS:
        if sorted(folded) == sorted((first, second)):
            return np.asarray(column.codes != folded.index(first), dtype=np.int64)
    if is_interval_kind(column.kind) or column.kind == "ordinal":
        return column.codes.astype(np.int64)
    numbers = parse_numbers(words)
    if numbers is not None and not np.isnan(numbers).any():
        return np.asarray(numbers == numbers.max(), dtype=np.int64)[column.codes]
    known = "; ".join(f"{first} and {second}" for first, second in HALF_WORDS)
    raise ColumnError(
        f"split {column.name!r} has the values {shown}: which of them is for the search? Use numbers or dates (the "
        f"lower one is for the search), or one of these pairs of words: {known}."
    )


def mark_rows(table: Table, criterion: Criterion, people: IntArray, role: str) -> BoolArray:
    """The rows of a group in words, which must be some people but not all."""
    member = np.ones(table.n_rows, bool)
    for condition in criterion.conditions:
        member &= table[condition.attribute].matches(condition)
    inside, total = int(people[member].sum()), int(people.sum())
    if inside == 0:
        raise InputError(f"the {role} {readable(criterion)!r} is empty: nobody of {total:,} people satisfies it")
    if inside == total:
        raise InputError(f"the {role} {readable(criterion)!r} is everyone: nobody is left to compare with")
    return member
