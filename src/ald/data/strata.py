"""Strata of legitimate factors: people are compared with others of the same stratum only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ald._core.arrays import CodeArray, FloatArray, IntArray
from ald.data.changes import class_edges, finer_edges
from ald.data.coded import (
    Attribute,
    AuditData,
    design_effect,
    merge_rows,
    number_values,
    quantile_edges,
    weighted_bincount,
)
from ald.data.columns import compact
from ald.data.notes import Note
from ald.errors import InputError, shorten
from ald.groups.criterion import Condition, Criterion, Levels

# Numbers are cut into about the cube root of the number of people, within these bounds: more bins leave less of the
# factor's own effect inside a stratum, fewer leave more people to compare there.
BINS = (4, 100)
# Warn from these shares of people on: alone in their stratum, or in a stratum where everyone has the same outcome.
_ALONE = 0.2
_SILENT = 0.5
# Amounts are seen in so many parts where it is asked where they change.
_PARTS = 8


@dataclass(frozen=True, kw_only=True, eq=False)
class Factors:
    """Legitimate factors before they are cut, and the number of classes that numbers among them are cut into."""

    factors: tuple[Attribute, ...]
    bins: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Cut:
    """A legitimate factor in classes: the class of every code, the last one for missing values, and their meaning.

    ends: of a number, the largest value of every class. finer: per code whether it is in the upper part of its class,
    where classes are cut in two; None where none of them can be.
    """

    name: str
    table: IntArray
    conditions: tuple[Condition, ...]
    ends: FloatArray | None = None
    finer: IntArray | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Strata:
    """What strata mean: `classes[s]` has the class of every factor in stratum s."""

    classes: IntArray
    factors: tuple[Cut, ...]

    def __len__(self) -> int:
        return len(self.classes)

    def criterion(self, stratum: int) -> Criterion:
        """The stratum in words."""
        chosen = self.classes[stratum].tolist()
        return Criterion(factor.conditions[i] for factor, i in zip(self.factors, chosen, strict=True))

    @property
    def finer(self) -> tuple[str, ...]:
        """The factors that can be cut twice as fine, in the order of the design's arrays of that name."""
        return tuple(factor.name for factor in self.factors if factor.finer is not None)


def default_bins(people: int) -> int:
    """How many classes a number is cut into, for so many people.

    >>> default_bins(1_000), default_bins(30_000), default_bins(10**9)
    (10, 31, 100)
    """
    return int(np.clip(round(people ** (1 / 3)), *BINS))


def in_strata(parts: Sequence[AuditData], given: Factors, by: AuditData) -> tuple[Strata, list[AuditData]]:
    """Parts of the data with their strata, which are cut where the outcomes of `by` change.

    Strata are all combinations of the factors' classes that occur. Attributes that are factors have the classes as
    values: a group is made of whole classes, for within them people count as alike.
    """
    by = by if by.design.amounts is None else _in_parts(by)
    cuts = tuple(_cut(factor, by.design.factors[i], by, given.bins) for i, factor in enumerate(given.factors))
    codes = [np.concatenate([part.design.factors[i] for part in parts]) for i in range(len(cuts))]
    own = [cut.table[code] for cut, code in zip(cuts, codes, strict=True)]
    numbers = np.zeros(len(own[0]), np.int64)
    for cut, classes in zip(cuts, own, strict=True):
        numbers = number_values(numbers * len(cut.conditions) + classes)[1]
    first = np.empty(int(numbers.max()) + 1, np.int64)
    first[numbers[::-1]] = np.arange(len(numbers))[::-1]
    strata = Strata(classes=np.stack([classes[first] for classes in own], axis=1), factors=cuts)
    finer = [numbers * 2 + cut.finer[code] for cut, code in zip(cuts, codes, strict=True) if cut.finer is not None]
    ends = np.cumsum([0, *(len(part.cells) for part in parts)]).tolist()
    found = []
    for part, start, end in zip(parts, ends[:-1], ends[1:], strict=True):
        design = replace(
            part.design,
            factors=(),
            strata=numbers[start:end],
            finer=tuple(number_values(values[start:end])[1] for values in finer),
        )
        found.append(merge_rows(in_classes(replace(part, design=design), strata)))
    return strata, found


def _in_parts(data: AuditData) -> AuditData:
    """Amounts as a few cells of about as many people each: where these change, so does the outcome."""
    amounts = data.design.amounts
    assert amounts is not None
    distinct, numbers = np.unique(amounts, return_inverse=True)
    edges = quantile_edges(weighted_bincount(numbers, data.counts, len(distinct)), _PARTS)
    cells = np.searchsorted(edges[1:-1], numbers, side="right").astype(np.uint8)
    return replace(data, cells=cells, n_cells=len(edges) - 1, design=replace(data.design, amounts=None))


def in_classes(data: AuditData, strata: Strata | None) -> AuditData:
    """The data with numbers that are legitimate factors in their classes."""
    cuts = {} if strata is None else {cut.name: cut for cut in strata.factors if cut.ends is not None}
    if not any(attribute.name in cuts for attribute in data.attributes):
        return data
    attributes, codes = list(data.attributes), list(data.codes)
    for i, attribute in enumerate(attributes):
        if attribute.name in cuts:
            cut = cuts[attribute.name]
            attributes[i] = replace(attribute, values=cut.ends)
            codes[i] = compact(cut.table[codes[i]], attributes[i].size)
    return replace(data, attributes=tuple(attributes), codes=tuple(codes))


def _cut(factor: Attribute, codes: CodeArray, by: AuditData, bins: int) -> Cut:
    """Numbers in classes, others by level; missing values are the last class."""
    missing = Levels(factor.name, "nominal", (None,))
    if factor.values is None or not factor.size:  # a factor of missing values alone is one class
        levels = tuple(
            missing if level is None else Levels(factor.name, factor.kind, (level,)) for level in factor.levels
        )
        return Cut(name=factor.name, table=np.arange(factor.size + 1), conditions=(*levels, missing))
    keys = codes.astype(np.int64) * by.n_cells + by.cells
    size = (factor.size + 1) * by.n_cells
    counts = weighted_bincount(keys, by.counts, size).reshape(-1, by.n_cells)[:-1]
    said = counts.astype(float)
    if by.design.weights is not None:
        weights = by.counts * by.design.weights
        said = np.bincount(keys, weights * (by.total / weights.sum()), minlength=size).reshape(-1, by.n_cells)[:-1]
    # Clusters and weights say less than so many people do.
    said = said / design_effect(by, np.eye(by.n_cells), np.ones((by.n_cells, by.n_cells)))
    edges = class_edges(said, counts.sum(axis=1), bins)
    middles, classes = finer_edges(said, edges), _count_reached(edges[1:], factor.size)
    return Cut(
        name=factor.name,
        table=np.append(classes, len(edges) - 1),
        conditions=(*(factor.condition(low, high) for low, high in pairwise(edges.tolist())), missing),
        ends=factor.values[edges[1:] - 1],
        finer=_upper_part(middles, edges, classes) if len(middles) else None,
    )


def _count_reached(starts: IntArray, n_codes: int) -> IntArray:
    """How many of these starts every code has reached."""
    return np.searchsorted(starts, np.arange(n_codes), side="right")


def _upper_part(middles: IntArray, edges: IntArray, classes: IntArray) -> IntArray:
    """Per code whether it has reached the middle of its class; 0 for missing values."""
    reached = _count_reached(middles, len(classes))
    return np.append(reached - reached[edges[:-1]][classes], 0)


def check_strata(strata: Strata, data: AuditData) -> list[str]:
    """Warnings about strata that say little; an error where they leave nothing to compare."""
    assert data.design.strata is not None
    names = ", ".join(repr(shorten(factor.name)) for factor in strata.factors)
    n = len(strata)
    people = weighted_bincount(data.design.strata, data.counts, n)
    total = int(people.sum())
    alone = int(people[people == 1].sum())
    if alone == total:
        raise InputError(
            f"given {names} puts each of {total:,} people into a stratum of one: nobody is left to compare with. Give "
            "factors with fewer different values, or fewer of them."
        )
    outcome = data.cells if data.design.amounts is None else data.design.amounts
    least, most = np.full(n, np.iinfo(np.int64).max), np.full(n, np.iinfo(np.int64).min)
    np.minimum.at(least, data.design.strata, outcome)
    np.maximum.at(most, data.design.strata, outcome)
    silent = int(people[least == most].sum())
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
            Note.of(
                lambda people: (
                    f"given {names} makes {n:,} strata, and {people(alone)} of {total:,} people are alone "
                    "in theirs: they are compared with nobody. Fewer factors or coarser ones would let more people "
                    "count."
                )
            )
        )
    elif silent > _SILENT * total:
        warnings.append(
            Note.of(
                lambda people: (
                    f"given {names}, {people(silent)} of {total:,} people are in a stratum where everyone "
                    "has the same outcome: they say nothing about differences. Is a factor a consequence of the "
                    "outcome?"
                )
            )
        )
    return warnings
