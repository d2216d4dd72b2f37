"""How well a score tells the truth inside and outside a group: bands of the score, and the area under the ROC curve.

Description only: nothing here is tested, and nothing decides what is listed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

import numpy as np

from ald._core.arrays import BoolArray, FloatArray, IntArray
from ald.assess.assessment import others
from ald.data.coded import AuditData, quantile_edges
from ald.groups.membership import member_mask
from ald.groups.tree import CodedCriterion
from ald.statistics.basics import round_reported
from ald.statistics.ranks import compare_ranks

# Bands of about equal numbers of people, by everyone's scores.
BANDS = 10


@dataclass(frozen=True, kw_only=True)
class Side:
    """Some people of a band: how many, their mean score, and the share of them for whom the truth holds.

    Means and shares are by weights in surveys, and None of nobody. All are None of too few people to be shown.
    """

    people: int | None
    score: float | None
    truth: float | None


@dataclass(frozen=True, kw_only=True)
class Band:
    """The people whose score is from `first` to `last`, inside and outside the group."""

    first: float
    last: float
    inside: Side
    outside: Side


@dataclass(frozen=True, kw_only=True)
class Area:
    """The area under the ROC curve, which is how often the score of someone for whom the truth holds is the higher one.

    value is None where only one truth occurs; the interval (DeLong) is that of independent people, None with clusters
    and survey weights.
    """

    value: float | None
    interval: tuple[float | None, float | None]


@dataclass(frozen=True, kw_only=True)
class Reliability:
    """The bands of a score, lowest first, and the areas under the ROC curve inside and outside."""

    bands: tuple[Band, ...]
    auc_inside: Area
    auc_outside: Area

    def without_few(self, least: int) -> Reliability:
        """The same, but for numbers of fewer people."""

        def shown(side: Side) -> Side:
            few = side.people is not None and 0 < side.people < least
            return Side(people=None, score=None, truth=None) if few else side

        bands = (replace(band, inside=shown(band.inside), outside=shown(band.outside)) for band in self.bands)
        return replace(self, bands=tuple(bands))

    def to_dict(self) -> dict[str, Any]:
        """The bands as plain data."""
        return {
            "bands": [
                {"first": band.first, "last": band.last, "inside": vars(band.inside), "outside": vars(band.outside)}
                for band in self.bands
            ],
            **{
                f"auc_{side}": {"value": area.value, "interval": list(area.interval)}
                for side, area in (("inside", self.auc_inside), ("outside", self.auc_outside))
            },
        }

    @classmethod
    def from_dict(cls, entry: dict[str, Any]) -> Reliability:
        """The inverse of `to_dict`."""
        areas = {
            key: Area(value=entry[key]["value"], interval=tuple(entry[key]["interval"]))
            for key in ("auc_inside", "auc_outside")
        }
        bands = tuple(
            Band(
                first=band["first"],
                last=band["last"],
                inside=Side(**band["inside"]),
                outside=Side(**band["outside"]),
            )
            for band in entry["bands"]
        )
        return cls(bands=bands, **areas)


def reliability_of(criterion: CodedCriterion, data: AuditData, reference: str, level: float) -> Reliability:
    """How well the score tells the truth in this group, and among those it is compared with."""
    scores, truths = data.design.scores, data.design.truths
    assert scores is not None
    assert truths is not None
    member = member_mask(criterion, data)
    sides = (member, others(member, data, reference) if reference != "all" else np.ones(len(member), bool))
    distinct, numbers = np.unique(scores, return_inverse=True)
    edges = quantile_edges(np.bincount(numbers, data.counts, minlength=len(distinct)).astype(np.int64), BANDS)
    weight = data.counts if data.design.weights is None else data.counts * data.design.weights
    bands = []
    for low, high in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        here = (numbers >= low) & (numbers < high)
        inside, outside = (_side(here & side, data.counts, weight, scores, truths) for side in sides)
        first, last = (float(round_reported(float(distinct[i])) or 0.0) for i in (low, high - 1))
        bands.append(Band(first=first, last=last, inside=inside, outside=outside))
    areas = [_area(side, data, numbers, truths, level) for side in sides]
    return Reliability(bands=tuple(bands), auc_inside=areas[0], auc_outside=areas[1])


def _side(rows: BoolArray, counts: IntArray, weight: Any, scores: FloatArray, truths: BoolArray) -> Side:
    total = float(weight[rows].sum())
    if not total > 0:
        return Side(people=0, score=None, truth=None)
    score, truth = (float(weight[rows] @ values[rows]) / total for values in (scores, truths.astype(float)))
    return Side(people=int(counts[rows].sum()), score=round_reported(score), truth=round_reported(truth))


def _area(side: BoolArray, data: AuditData, numbers: IntArray, truths: BoolArray, level: float) -> Area:
    none = np.zeros(len(side), np.int64)
    if data.design.weights is not None:
        return Area(
            value=_weighted_area(side, data.counts * data.design.weights, numbers, truths), interval=(None, None)
        )
    found = compare_ranks(side & truths, side & ~truths, numbers, data.counts, none)
    if not isfinite(found.superiority):
        return Area(value=None, interval=(None, None))
    value = round_reported(found.superiority)
    if data.design.clusters is not None:
        return Area(value=value, interval=(None, None))
    low, high = found.interval(level)
    return Area(value=value, interval=(round_reported(low), round_reported(high)))


def _weighted_area(side: BoolArray, weight: FloatArray, numbers: IntArray, truths: BoolArray) -> float | None:
    top = int(numbers.max()) + 1
    true, false = (np.bincount(numbers[at], weight[at], minlength=top) for at in (side & truths, side & ~truths))
    if not (true.sum() > 0 and false.sum() > 0):
        return None
    below = np.cumsum(false) - false / 2.0
    return round_reported(float(true @ below) / float(true.sum() * false.sum()))
