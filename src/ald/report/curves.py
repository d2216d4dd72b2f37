"""Rates along an attribute as reports show them, so that a reader sees the cut of a group for himself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ald._core.arrays import IntArray
from ald.groups.criterion import Condition, Interval, format_bound
from ald.notions import Mean, Rate, RateCounter
from ald.results.details import Bin, Curve
from ald.statistics.basics import newcombe, round_reported, wilson
from ald.statistics.means import intervals_of_means


@dataclass(frozen=True, kw_only=True)
class Point:
    """One bin or level: its people (`base`: those who count for the rate), its rate with an interval, and its
    difference from everyone else with an interval.

    `inside`: whether it satisfies the group's condition; None if it does in part.
    """

    label: str
    first: float | None
    last: float | None
    n: int
    base: int
    rate: float | None
    low: float | None
    high: float | None
    psi: float | None
    psi_low: float | None
    psi_high: float | None
    inside: bool | None


@dataclass(frozen=True, kw_only=True)
class Series:
    """The points of some people, and the rate of all of them together."""

    title: str
    points: tuple[Point, ...]
    average: float | None


@dataclass(frozen=True, kw_only=True)
class CurveView:
    """One rate along one attribute: of everyone, and of those who satisfy a group's other conditions."""

    attribute: str
    kind: str
    rate: Rate
    condition: Condition
    series: tuple[Series, ...]

    @property
    def is_ordered(self) -> bool:
        """Whether the attribute has an axis: a number or a date."""
        return isinstance(self.condition, Interval)

    @property
    def cuts(self) -> tuple[float, ...]:
        """The bounds of the group's condition on an axis."""
        if not isinstance(self.condition, Interval):
            return ()
        bounds = (self.condition.lower, self.condition.upper)
        return tuple(dict.fromkeys(bound for bound in bounds if bound is not None))


def curve_view(
    curve: Curve, rate: Rate, condition: Condition, level: float, within: Sequence[Sequence[int] | None] | None
) -> CurveView:
    """The curve of one rate, with the cut of a condition; `within` counts those who satisfy the others."""
    tables: list[tuple[str, list[Sequence[int]], Curve]] = [
        ("everyone", [bin_.counts for bin_ in curve.bins], curve),
    ]
    if within is not None:
        # Bins with too few of them to be shown are no points.
        shown = [(bin_, counts) for bin_, counts in zip(curve.bins, within, strict=True) if counts is not None]
        if shown:
            bins = replace(curve, bins=tuple(bin_ for bin_, _ in shown))
            tables.append(("those who satisfy the group's other conditions", [counts for _, counts in shown], bins))
    return CurveView(
        attribute=curve.attribute,
        kind=curve.kind,
        rate=rate,
        condition=condition,
        series=tuple(
            _series(title, np.array(table, dtype=np.int64), of, rate, condition, level) for title, table, of in tables
        ),
    )


def _series(title: str, table: IntArray, curve: Curve, rate: Rate, condition: Condition, level: float) -> Series:
    rates = RateCounter([rate], table.shape[1])
    base, everyone = rates.base(table)[0], table.sum(axis=0, keepdims=True)
    value, others = rates.values(table)[0], rates.values(everyone - table)[0]
    psi, average = value - others, rates.values(everyone)[0, 0]
    if isinstance(rate, Mean):
        (low, high), (psi_low, psi_high) = intervals_of_means(table, rate.per_one, value, psi, level)
    else:
        columns = [x[0] for side in (table, everyone - table) for x in (rates.hit(side), rates.base(side))]
        low, high = wilson(columns[0], columns[1], level)
        psi_low, psi_high = newcombe(columns[0], columns[1], columns[2], columns[3], level)
    shown = [[round_reported(x) for x in column.tolist()] for column in (value, low, high, psi, psi_low, psi_high)]
    points = tuple(
        Point(
            label=bin_label(bin_, curve.kind),
            first=bin_.first,
            last=bin_.last,
            n=int(rates.people(table[i])),
            base=int(base[i]),
            rate=shown[0][i],
            low=shown[1][i],
            high=shown[2][i],
            psi=shown[3][i],
            psi_low=shown[4][i],
            psi_high=shown[5][i],
            inside=_inside(bin_, condition),
        )
        for i, bin_ in enumerate(curve.bins)
    )
    return Series(title=title, points=points, average=round_reported(average))


def bin_label(bin_: Bin, kind: str) -> str:
    """The bin in words.

    >>> bin_label(Bin(counts=(1, 2), first=28.0, last=30.0), "numeric")
    '28 to 30'
    """
    if bin_.first is not None and bin_.last is not None:
        ends = list(dict.fromkeys(axis_label(value, kind) for value in (bin_.first, bin_.last)))
        return " to ".join(ends)
    if not bin_.levels:
        return f"{bin_.n_levels:,} others"
    return " to ".join("missing" if level is None else level or '""' for level in bin_.levels)


def axis_label(value: float, kind: str) -> str:
    """A value on an axis: short, with separators in long numbers.

    >>> axis_label(30.0, "numeric"), axis_label(1234567.0, "numeric"), axis_label(0.1234567, "numeric")
    ('30', '1,234,567', '0.1235')
    """
    if kind != "numeric":
        return format_bound(value, kind)
    return f"{int(value):,}" if value == int(value) and abs(value) < 1e15 else f"{value:.4g}"


def _inside(bin_: Bin, condition: Condition) -> bool | None:
    if isinstance(condition, Interval):
        if bin_.first is None or bin_.last is None:
            return False
        ends = [condition.holds(value) for value in (bin_.first, bin_.last)]
        cut_inside = condition.lower is not None and bin_.first <= condition.lower < bin_.last
        return ends[0] if ends[0] == ends[1] and not (cut_inside and not ends[0]) else None
    if not bin_.levels:
        return None if len(condition.levels) else False
    members = [
        (level in condition.levels or (level is None and condition.negated)) != condition.negated
        for level in bin_.levels
    ]
    return members[0] if len(set(members)) == 1 else None
