"""Every attribute's own gap: each of its levels against everyone else, on all data.

Nothing was searched for here: the levels follow from the attributes alone, before anybody looks at an outcome. So they
are tested on everyone, as a family of their own, and their intervals hold all together (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from math import exp, isfinite, log
from typing import Any

import numpy as np

from ald._core.arrays import BoolArray, IntArray
from ald.assess.assessment import Assessment, Terms, assess_counts, assess_masks, assessment_terms
from ald.data.coded import Attribute, AuditData, quantile_edges
from ald.groups.criterion import Criterion, Levels
from ald.groups.membership import people_along_each
from ald.options import AuditConfig
from ald.questions import Question
from ald.ranking import join_assessments
from ald.results.privacy import is_too_small, too_few
from ald.statistics.basics import round_reported

# Of an attribute with more levels those of the most people stand for it.
LEVELS = 20
# Numbers, dates, and orders of more levels than that, are cut into so many parts of about equal size.
PARTS = 4


@dataclass(frozen=True, kw_only=True)
class Gap:
    """People with one level of an attribute, or in one part of a number, against whom they are compared with.

    As in findings, and on all data: `psi`, its `parts` per rate, and the rates. The intervals hold for all gaps of the
    audit together, and p-values are corrected for their number. None is undefined; `undefined` says why.
    """

    criterion: Criterion
    notion: str
    outcome: str | None
    size: int
    people: int | None
    share: float
    psi: float | None
    parts: dict[str, float | None]
    rates_inside: dict[str, float | None]
    rates_outside: dict[str, float | None]
    interval: tuple[float | None, float | None]
    part_intervals: dict[str, tuple[float | None, float | None]]
    p_adjusted: float | None
    log10_p_adjusted: float | None
    test: str
    undefined: str = ""

    @property
    def attribute(self) -> str:
        """The attribute that the gap is along."""
        return self.criterion.conditions[0].attribute

    def to_dict(self) -> dict[str, Any]:
        """The gap as plain data."""
        entry = {field.name: getattr(self, field.name) for field in fields(self)}
        entry["interval"] = list(self.interval)
        entry["part_intervals"] = {key: list(bounds) for key, bounds in self.part_intervals.items()}
        criterion = entry.pop("criterion")
        return {"criterion": str(criterion), "conditions": criterion.to_list(), **entry}

    @classmethod
    def from_dict(cls, entry: dict[str, Any]) -> Gap:
        """The inverse of `to_dict`."""
        values = {key: value for key, value in entry.items() if key != "conditions"}
        values["criterion"] = Criterion.from_list(entry["conditions"])
        values["interval"] = tuple(entry["interval"])
        values["part_intervals"] = {key: tuple(bounds) for key, bounds in entry["part_intervals"].items()}
        return cls(**values)


@dataclass(frozen=True, kw_only=True)
class Gaps:
    """All gaps of an audit: those that are significant first, each part of the list by size, undefined ones last.

    compared: how many could be tested, for all of which the intervals hold together with confidence `interval_level`.
    hidden: how many levels are not among the rows, because too few people are in them or outside them.
    shortened: per attribute with too many levels how many were not compared. absent: why there are none.
    """

    rows: tuple[Gap, ...] = ()
    compared: int = 0
    interval_level: float = 0.95
    shortened: dict[str, int]
    absent: str = ""
    hidden: int = 0

    def __len__(self) -> int:
        return len(self.rows)

    def largest(self) -> tuple[Gap, ...]:
        """The first gap of every attribute."""
        first: dict[str, Gap] = {}
        for gap in self.rows:
            first.setdefault(gap.attribute, gap)
        return tuple(first.values())

    def first(self, n: int) -> Gaps:
        """The same with the first gaps only."""
        return replace(self, rows=self.rows[:n])

    def to_dict(self) -> dict[str, Any]:
        """The gaps as plain data (the schema's `gaps`)."""
        return {
            "compared": self.compared,
            "interval_level": self.interval_level,
            "shortened": dict(self.shortened),
            "absent": self.absent,
            "hidden": self.hidden,
            "rows": [gap.to_dict() for gap in self.rows],
        }

    @classmethod
    def from_dict(cls, entry: dict[str, Any]) -> Gaps:
        """The inverse of `to_dict`."""
        return cls(**entry | {"rows": tuple(Gap.from_dict(row) for row in entry["rows"])})


NOTHING_SEARCHED = "only the named groups were tested, and no attribute was read"


@dataclass(frozen=True, kw_only=True, eq=False)
class Part:
    """A level or a part of an attribute: its condition, its codes, and its people per confusion cell."""

    criterion: Criterion
    attribute: int
    codes: IntArray
    counts: IntArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Counted:
    """What all data says of attributes one by one: their parts, and everyone, per confusion cell of all questions."""

    parts: tuple[Part, ...]
    everyone: IntArray
    shortened: dict[str, int]


def count_parts(attributes: Sequence[Attribute], tables: Sequence[IntArray], config: AuditConfig) -> Counted:
    """The parts of every attribute. tables: per attribute the people per code (the last one: missing) and cell."""
    parts: list[Part] = []
    shortened: dict[str, int] = {}
    for number, (attribute, table) in enumerate(zip(attributes, tables, strict=True)):
        people = table.sum(axis=1)
        own, left = _pieces(attribute, people)
        if left:
            shortened[attribute.name] = left
        pieces = [
            Part(criterion=criterion, attribute=number, codes=codes, counts=table[codes].sum(axis=0))
            for criterion, codes in own
        ]
        parts += _one_side([piece for piece in pieces if piece.counts.sum() < people.sum()], people, config)
    everyone = tables[0].sum(axis=0) if tables else np.zeros(0, np.int64)
    return Counted(parts=tuple(parts), everyone=everyone, shortened=shortened)


def count_in_memory(data: AuditData, config: AuditConfig, threads: int = 1) -> Counted:
    """The parts of the attributes of rows in memory."""
    return count_parts(data.attributes, people_along_each(data, range(len(data.attributes)), threads=threads), config)


def _pieces(attribute: Attribute, people: IntArray) -> tuple[list[tuple[Criterion, IntArray]], int]:
    """The conditions that are compared with the codes that satisfy them, and how many levels are not among them."""
    size = attribute.size
    present = np.flatnonzero(people[:size])
    missing = [(Criterion([Levels(attribute.name, attribute.kind, (None,))]), np.array([size]))] if people[size] else []
    if attribute.values is None and (attribute.is_nominal or len(present) <= LEVELS):
        kept = np.sort(present[np.argsort(-people[present], kind="stable")][:LEVELS]).tolist()
        levels = [(Criterion([attribute.level_condition([code])]), np.array([code])) for code in kept]
        return [*levels, *missing], len(present) - len(kept)
    edges = quantile_edges(people[:size], PARTS).tolist()
    cuts = [(low, high) for low, high in pairwise(edges) if low < high]
    ranges = [(Criterion([attribute.condition(low, high)]), np.arange(low, high)) for low, high in cuts]
    return [*ranges, *missing], 0


def _one_side(parts: list[Part], people: IntArray, config: AuditConfig) -> list[Part]:
    """Of two parts that are everyone the smaller: the other is the same comparison, seen from the other side."""
    two = len(parts) == 2 and parts[0].counts.sum() + parts[1].counts.sum() == people.sum()
    if not two or config.reference_kind != "rest" or config.direction != "both":
        return parts
    return [min(parts, key=lambda part: int(part.counts.sum()))]


def assess_gaps(
    counted: Counted, asked: Sequence[Question], config: AuditConfig, data: AuditData | None = None
) -> Gaps:
    """Every part for every question, corrected together.

    data: the rows, where counts do not say who is compared with whom: with strata, clusters, survey weights, or a
    reference group.
    """
    if not counted.parts:
        return Gaps(shortened={}, absent=NOTHING_SEARCHED)
    terms = replace(assessment_terms(config), exact=True)
    found = [_assess(counted, question, terms, data) for question in asked]
    log_p = join_assessments(found, "bonferroni").log_p_adjusted.reshape(len(asked), -1)
    compared = int(np.count_nonzero(~np.isnan(log_p)))
    people, small = _people(counted, data), _small(counted, found[0], config, data)
    rows: list[Gap] = []
    for assessment, question, adjusted in zip(found, asked, log_p.tolist(), strict=True):
        outcome = question.outcome if len(config.asked_outcomes) > 1 else None
        all_rows = _rows(counted, assessment, adjusted, people, config.level / max(compared, 1), outcome)
        rows += [row for row, few in zip(all_rows, small, strict=True) if not few]
    return Gaps(
        rows=tuple(sorted(rows, key=lambda gap: _order(gap, config.level))),
        compared=compared,
        interval_level=float(round_reported(1.0 - terms.interval_level(config.level)) or 0.0),
        shortened=counted.shortened,
        hidden=sum(small),
    )


def _small(counted: Counted, found: Assessment, config: AuditConfig, data: AuditData | None) -> list[bool]:
    """Which parts have too few people in them, outside them or to be compared with."""
    if data is not None:
        return [is_too_small(_mask(part, data), data, config) for part in counted.parts]
    inside, outside = (found.counter.people(side) for side in (found.inside, found.outside))
    return [bool(few) for few in too_few(inside, outside, config.min_group_size)]


def needs_rows(data: AuditData, config: AuditConfig) -> bool:
    """Whether counts along attributes do not say who is compared with whom."""
    return (
        data.design.strata is not None
        or data.design.amounts is not None
        or not data.design.samples_people
        or config.reference_kind == "group"
    )


def _assess(counted: Counted, question: Question, terms: Terms, data: AuditData | None) -> Assessment:
    if data is not None:
        return assess_masks([_mask(part, data) for part in counted.parts], question.view(data), question.notion, terms)
    inside = np.array([part.counts for part in counted.parts])
    return assess_counts(_seen(inside, question), _seen(counted.everyone[None], question)[0], question.notion, terms)


def _mask(part: Part, data: AuditData) -> BoolArray:
    wanted = np.zeros(data.attributes[part.attribute].size + 1, bool)
    wanted[part.codes] = True
    return np.asarray(wanted[data.codes[part.attribute]])


def _seen(counts: IntArray, question: Question) -> IntArray:
    """Counts per confusion cell as the question has them."""
    if question.cells is None:
        return counts
    out = np.zeros((len(counts), len(question.cell_names)), np.int64)
    np.add.at(out.T, np.array(question.cells), counts.T)
    return out


def _people(counted: Counted, data: AuditData | None) -> list[int | None]:
    """Of how many people the rows of every part are, where these have several."""
    if data is None or data.design.clusters is None:
        return [None] * len(counted.parts)
    return [len(np.unique(data.design.clusters[_mask(part, data)])) for part in counted.parts]


def _rows(
    counted: Counted,
    found: Assessment,
    log_p: list[float],
    people: list[int | None],
    level: float,
    outcome: str | None,
) -> list[Gap]:
    keys = [rate.key for rate in found.notion.rates]
    intervals = found.intervals(level)
    lows, highs = intervals.part_low.T.tolist(), intervals.part_high.T.tolist()

    def by_rate(values: list[float]) -> dict[str, float | None]:
        return {key: round_reported(value) for key, value in zip(keys, values, strict=True)}

    return [
        Gap(
            criterion=part.criterion,
            notion=found.notion.name,
            outcome=outcome,
            size=int(found.size[i]),
            people=people[i],
            share=float(round_reported(found.share[i]) or 0.0),
            psi=round_reported(found.psi[i]),
            parts=by_rate(found.differences[:, i].tolist()),
            rates_inside=by_rate(found.rate_in[:, i].tolist()),
            rates_outside=by_rate(found.rate_out[:, i].tolist()),
            interval=(round_reported(intervals.low[i]), round_reported(intervals.high[i])),
            part_intervals={
                key: (round_reported(low), round_reported(high))
                for key, low, high in zip(keys, lows[i], highs[i], strict=True)
            },
            p_adjusted=round_reported(exp(log_p[i])) if isfinite(log_p[i]) else None,
            log10_p_adjusted=round_reported(log_p[i] / log(10)),
            test=found.test[i],
            undefined=found.reason(i),
        )
        for i, part in enumerate(counted.parts)
    ]


def _order(gap: Gap, level: float) -> tuple[bool, bool, float]:
    """Undefined gaps last, significant ones first, each by size."""
    if gap.p_adjusted is None or gap.psi is None:
        return True, True, 0.0
    return False, gap.p_adjusted > level, -abs(gap.psi)
