"""Strata of legitimate factors: people are compared with others of the same stratum only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ald.arrays import IntArray
from ald.criterion import Condition, Criterion, Interval, Levels
from ald.data.coded import quantile_edges, weighted_bincount
from ald.data.columns import Column, is_interval_kind
from ald.errors import InputError, shorten

# Numbers are cut into about the cube root of the number of people, within these bounds: more bins leave less of the
# factor's own effect inside a stratum, fewer leave more people to compare there.
BINS = (4, 100)
# Warn from these shares of people on: alone in their stratum, or in a stratum where everyone has the same outcome.
_ALONE = 0.2
_SILENT = 0.5


@dataclass(frozen=True, kw_only=True, eq=False)
class Factor:
    """One legitimate factor: what each of its classes means."""

    name: str
    conditions: tuple[Condition, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Strata:
    """The stratum of every row, and what strata mean: `classes[s]` has the class of every factor in stratum s."""

    numbers: IntArray
    classes: IntArray
    factors: tuple[Factor, ...]

    def __len__(self) -> int:
        return len(self.classes)

    def criterion(self, stratum: int) -> Criterion:
        """The stratum in words."""
        chosen = self.classes[stratum].tolist()
        return Criterion(factor.conditions[i] for factor, i in zip(self.factors, chosen, strict=True))


def default_bins(people: int) -> int:
    """How many quantile bins a number is cut into, for so many people.

    >>> default_bins(1_000), default_bins(30_000), default_bins(10**9)
    (10, 31, 100)
    """
    return int(np.clip(round(people ** (1 / 3)), *BINS))


def make_strata(columns: Sequence[Column], counts: IntArray, bins: int | None) -> Strata:
    """Strata of all combinations of the factors' classes that occur; numbers in quantile bins, others by level."""
    people = int(counts.sum())
    classes, factors = [], []
    numbers = np.zeros(len(counts), np.int64)
    for column in columns:
        own, conditions = _classes(column, counts, bins or default_bins(people))
        classes.append(own)
        factors.append(Factor(name=column.name, conditions=conditions))
        numbers = np.unique(numbers * len(conditions) + own, return_inverse=True)[1]
    first = np.unique(numbers, return_index=True)[1]
    return Strata(numbers=numbers, classes=np.stack([own[first] for own in classes], axis=1), factors=tuple(factors))


def _classes(column: Column, counts: IntArray, bins: int) -> tuple[IntArray, tuple[Condition, ...]]:
    """The class of every row, and what each class means; missing values are the last class."""
    missing = Levels(column.name, "nominal", (None,))
    if column.values is None or not is_interval_kind(column.kind):
        levels = tuple(Levels(column.name, column.kind, (level,)) for level in column.levels)
        return column.codes.astype(np.int64), (*levels, missing)
    people = weighted_bincount(column.codes, counts, column.n_codes + 1)[: column.n_codes]
    edges = quantile_edges(people, bins)
    conditions = tuple(_interval(column, low, high) for low, high in pairwise(edges.tolist()))
    table = np.append(np.searchsorted(edges, np.arange(column.n_codes), side="right") - 1, len(conditions))
    return table[column.codes], (*conditions, missing)


def _interval(column: Column, low: int, high: int) -> Condition:
    assert column.values is not None
    lower = None if low == 0 else float(column.values[low - 1])
    upper = None if high == column.n_codes else float(column.values[high - 1])
    return Interval(column.name, column.kind, lower, upper)


def check_strata(strata: Strata, cells: IntArray, counts: IntArray, n_cells: int) -> list[str]:
    """Warnings about strata that say little; an error where they leave nothing to compare."""
    names = ", ".join(repr(shorten(factor.name)) for factor in strata.factors)
    n = len(strata)
    table = weighted_bincount(strata.numbers * n_cells + cells, counts, n * n_cells).reshape(n, n_cells)
    people = table.sum(axis=1)
    total = int(people.sum())
    alone = int(people[people == 1].sum())
    if alone == total:
        raise InputError(
            f"given {names} puts each of {total:,} people into a stratum of one: nobody is left to compare with. Give "
            "factors with fewer different values, or fewer of them."
        )
    silent = int(people[(table > 0).sum(axis=1) == 1].sum())
    if silent == total:
        raise InputError(
            f"given {names} determines the outcome: everyone in a stratum has the same one, so there is no difference "
            "left to locate. Is a factor a copy or a consequence of the outcome?"
        )
    warnings = []
    if n == 1:
        warnings.append(f"given {names} has one stratum only: it changes nothing")
    if alone > _ALONE * total:
        warnings.append(
            f"given {names} makes {n:,} strata, and {alone:,} of {total:,} people are alone in theirs: they are "
            "compared with nobody. Fewer factors or coarser ones would let more people count."
        )
    elif silent > _SILENT * total:
        warnings.append(
            f"given {names}, {silent:,} of {total:,} people are in a stratum where everyone has the same outcome: they "
            "say nothing about differences. Is a factor a consequence of the outcome?"
        )
    return warnings
