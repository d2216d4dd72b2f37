"""How amounts are spread inside and outside a group: some of their quantiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ald._core.arrays import BoolArray, FloatArray
from ald.assess.assessment import others
from ald.data.coded import AuditData
from ald.groups.membership import member_mask
from ald.groups.tree import CodedCriterion
from ald.statistics.basics import round_reported

# The shares of people that quantiles are of: those that a picture shows.
SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True, kw_only=True)
class Spread:
    """The quantiles of an amount at `SHARES`, of a group and of those it is compared with; none of nobody.

    That of a share is the least amount that as many people do not exceed; in surveys by their weights.
    """

    inside: tuple[float, ...]
    outside: tuple[float, ...]

    def to_dict(self) -> dict[str, Any]:
        """The quantiles as plain data."""
        return {"inside": list(self.inside), "outside": list(self.outside)}

    @classmethod
    def from_dict(cls, entry: dict[str, Any]) -> Spread:
        """The inverse of `to_dict`."""
        return cls(inside=tuple(entry["inside"]), outside=tuple(entry["outside"]))


def spread_of(criterion: CodedCriterion, data: AuditData, reference: str) -> Spread:
    """How amounts are spread in this group and among those it is compared with."""
    assert data.design.amounts is not None
    assert data.unit is not None
    values = data.unit.values(data.design.amounts)
    people = data.counts if data.design.weights is None else data.counts * data.design.weights
    member = member_mask(criterion, data)
    sides = (member, others(member, data, reference) if reference != "all" else np.ones(len(member), bool))
    inside, outside = (_quantiles(values, people, side) for side in sides)
    return Spread(inside=inside, outside=outside)


def _quantiles(values: FloatArray, people: Any, side: BoolArray) -> tuple[float, ...]:
    order = np.argsort(values[side], kind="stable")
    amounts, running = values[side][order], np.cumsum(people[side][order].astype(float))
    if len(amounts) == 0 or not running[-1] > 0:
        return ()
    # A share that is met but for rounding is met.
    at = np.searchsorted(running, np.array(SHARES) * running[-1] * (1.0 - 1e-12), side="left")
    return tuple(float(round_reported(value) or 0.0) for value in amounts[np.minimum(at, len(amounts) - 1)].tolist())
