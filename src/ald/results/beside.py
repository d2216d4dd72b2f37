"""What a listed group's gap is among people who are alike otherwise, and how its people differ from everyone else.

Crude, given each other attribute, one at a time, each legitimate factor, and all of them together: the mean of the
differences within strata, weighted as Mantel and Haenszel weigh them. Nothing here decides anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from types import NoneType
from typing import Any

import numpy as np

from ald._core.arrays import IntArray
from ald.notions import Mean, Rate, RateCounter
from ald.results.shapes import COMPUTED, LOG, PEOPLE, SHARE
from ald.statistics.basics import chi2_log_sf, round_reported
from ald.statistics.homogeneity import breslow_day
from ald.statistics.means import Side, welch
from ald.statistics.score import Tables
from ald.statistics.stratified import cmh_statistics

_NUMBER = (COMPUTED, NoneType)
_P = (LOG, NoneType)
_GAP = {"rate": str, "gap": _NUMBER, "interval": [_NUMBER], "log10_p": _P, "log10_p_same": _P}
_ALIKE = {
    "attribute": str,
    "strata": PEOPLE,
    "compared": SHARE,
    "gaps": [_GAP],
    "level": str,
    "inside": SHARE,
    "outside": SHARE,
}
# An entry of the document's `details`, per listed group.
BESIDE: dict[str, Any] = {
    "crude": [_GAP],
    "factors": [_ALIKE],
    "together": (NoneType, {"strata": PEOPLE, "compared": SHARE, "gaps": [_GAP]}),
    "attributes": [_ALIKE],
}


@dataclass(frozen=True, kw_only=True)
class AlikeGap:
    """One rate's gap among people who are alike, with its interval (for it alone) and the test of it.

    log10_p: of the Cochran-Mantel-Haenszel test (Pearson's without strata), of means Welch's t; log10_p_same: of
    Breslow and Day's, whether strata have one odds ratio. None is undefined, or, of tests and intervals, not for rows
    that are no independent people; means have no test whether strata agree.
    """

    rate: str
    gap: float | None
    interval: tuple[float | None, float | None]
    log10_p: float | None
    log10_p_same: float | None


@dataclass(frozen=True, kw_only=True)
class Alike:
    """The group beside people who have the same value or class of an attribute.

    compared: the share of the group that has anybody to be compared with. level: the value in which the group's people
    differ most from everyone else, and how many of either have it.
    """

    attribute: str
    strata: int
    compared: float
    gaps: tuple[AlikeGap, ...]
    level: str
    inside: float
    outside: float


@dataclass(frozen=True, kw_only=True)
class Together:
    """The group beside people who are alike in all legitimate factors."""

    strata: int
    compared: float
    gaps: tuple[AlikeGap, ...]


@dataclass(frozen=True, kw_only=True)
class Beside:
    """A group's gap to everyone else, given each legitimate factor, all of them together, and each other attribute."""

    crude: tuple[AlikeGap, ...]
    factors: tuple[Alike, ...] = ()
    together: Together | None = None
    attributes: tuple[Alike, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, entry: dict[str, Any]) -> Beside:
        """The inverse of `to_dict`, also of what JSON makes of it."""
        together = entry["together"]
        return cls(
            crude=_gaps(entry["crude"]),
            factors=tuple(Alike(**one | {"gaps": _gaps(one["gaps"])}) for one in entry["factors"]),
            together=None if together is None else Together(**together | {"gaps": _gaps(together["gaps"])}),
            attributes=tuple(Alike(**one | {"gaps": _gaps(one["gaps"])}) for one in entry["attributes"]),
        )


def _gaps(entries: Sequence[dict[str, Any]]) -> tuple[AlikeGap, ...]:
    return tuple(AlikeGap(**entry | {"interval": tuple(entry["interval"])}) for entry in entries)


@dataclass(frozen=True, kw_only=True)
class Sides:
    """People inside and outside a group, per stratum (or bin of an attribute) and cell: [strata, cells]."""

    inside: IntArray
    outside: IntArray

    def merged(self, classes: IntArray, n: int) -> Sides:
        """The same in n classes, of which every stratum is in one."""
        out = []
        for side in (self.inside, self.outside):
            table = np.zeros((n, side.shape[1]), np.int64)
            np.add.at(table, classes, side)
            out.append(table)
        return Sides(inside=out[0], outside=out[1])


def alike(
    attribute: str,
    sides: Sides,
    words: Sequence[str],
    shown: Sequence[IntArray],
    rates: Sequence[Rate],
    level: float,
    *,
    tested: bool,
) -> Alike:
    """The group given an attribute. shown: the strata that have a name together, and words: these names."""
    count = RateCounter(rates, sides.inside.shape[-1]).people
    inside, outside = (_shares(count(side), shown) for side in (sides.inside, sides.outside))
    most = int(np.argmax(np.abs(inside - outside))) if len(shown) else 0
    return Alike(
        attribute=attribute,
        strata=_strata(sides),
        compared=_compared(sides, rates),
        gaps=gaps_within(sides, rates, level, tested=tested),
        level=words[most] if len(shown) else "",
        inside=_round(inside[most]) if len(shown) else 0.0,
        outside=_round(outside[most]) if len(shown) else 0.0,
    )


def together(sides: Sides, rates: Sequence[Rate], level: float, *, tested: bool) -> Together:
    """The group within strata of all legitimate factors."""
    return Together(
        strata=_strata(sides),
        compared=_compared(sides, rates),
        gaps=gaps_within(sides, rates, level, tested=tested),
    )


def gaps_within(sides: Sides, rates: Sequence[Rate], level: float, *, tested: bool) -> tuple[AlikeGap, ...]:
    """Per rate the mean difference within strata, its interval, its test, and the test whether strata agree.

    Of means Welch's t; whether strata agree is not tested.
    """
    mean = rates[0]
    if isinstance(mean, Mean):
        return (_mean_within(sides, mean, level, tested=tested),)
    counter = RateCounter(rates, sides.inside.shape[-1])
    hits_in, base_in = counter.hit(sides.inside), counter.base(sides.inside)
    hits_out, base_out = counter.hit(sides.outside), counter.base(sides.outside)
    tables = Tables(
        hits_in=hits_in, base_in=base_in, hits_out=hits_out, base_out=base_out, by_margins=len(sides.inside) > 1
    )
    difference = np.asarray(tables.difference, float)
    low, high = tables.interval(level) if tested else (np.full(len(rates), np.nan),) * 2
    statistic = cmh_statistics(sides.inside, sides.inside + sides.outside, counter)
    if len(sides.inside) == 1:  # Pearson's chi2, as for any group without strata
        people = (base_in + base_out)[:, 0]
        statistic = statistic * people / np.maximum(people - 1, 1)
    log_p = chi2_log_sf(statistic, np.ones(len(rates), np.int64))
    out = []
    for r, rate in enumerate(rates):
        known = bool(np.isfinite(difference[r])) and tested
        columns = (values[r].astype(float) for values in (hits_in, base_in, hits_out, base_out))
        _, _, same = breslow_day(*columns)
        out.append(
            AlikeGap(
                rate=rate.key,
                gap=round_reported(difference[r]),
                interval=(round_reported(low[r]), round_reported(high[r])) if known else (None, None),
                log10_p=_log10(log_p[r]) if known else None,
                log10_p_same=_log10(same) if known else None,
            )
        )
    return tuple(out)


def _mean_within(sides: Sides, mean: Mean, level: float, *, tested: bool) -> AlikeGap:
    inside, outside = (
        Side(**{name: getattr(side, name)[:, 0] for name in ("people", "total", "spread")})
        for side in (Side.from_sums(table, mean.per_one) for table in (sides.inside, sides.outside))
    )
    found = welch(inside, outside)
    log_p = found.log_p()
    known = bool(np.isfinite(log_p)) and tested
    low, high = found.interval(level)
    return AlikeGap(
        rate=mean.key,
        gap=round_reported(found.difference),
        interval=(round_reported(low), round_reported(high)) if known else (None, None),
        log10_p=_log10(log_p) if known else None,
        log10_p_same=None,
    )


def _log10(log_p: float) -> float | None:
    return round_reported(min(log_p, 0.0) / np.log(10))


def _round(value: float) -> float:
    return round_reported(value) or 0.0


def _shares(people: IntArray, shown: Sequence[IntArray]) -> Any:
    total = max(int(people.sum()), 1)
    return np.array([people[piece].sum() / total for piece in shown])


def _strata(sides: Sides) -> int:
    """Strata with people on both sides."""
    # Of amounts, people are the first of four sums; where nobody is, all of them are 0.
    return int(np.count_nonzero(sides.inside.any(axis=1) & sides.outside.any(axis=1)))


def _compared(sides: Sides, rates: Sequence[Rate]) -> float:
    """The share of the group's people, of those who count for any rate, in strata with people on both sides."""
    counter = RateCounter(rates, sides.inside.shape[-1])
    base_in, base_out = counter.base(sides.inside), counter.base(sides.outside)
    total = int(base_in.sum())
    return _round(float(base_in[base_out > 0].sum() / total)) if total else 0.0
