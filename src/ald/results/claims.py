"""What is claimed of a group beyond the numbers that every finding has."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from math import exp, isfinite, log
from typing import Any

from ald.groups.criterion import Criterion
from ald.statistics.basics import round_reported


@dataclass(frozen=True, kw_only=True)
class Together:
    """Whether the attributes of a group matter together: beyond the effects of each of them.

    statistic, df: of the score of the group, given these effects. p_value, p_adjusted: of the combination.
    as_strong: how many of so many draws (`drawn`) from the main effects had something as strong; None where that was
    not asked. bound: whether none had, so that p-values are no larger than what they are. listed: whether p_adjusted is
    small enough for the list.
    """

    attributes: tuple[str, ...]
    statistic: float | None
    df: int
    p_value: float | None
    log10_p: float | None
    p_adjusted: float | None
    log10_p_adjusted: float | None
    listed: bool
    bound: bool = False
    as_strong: int | None = None
    drawn: int | None = None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"attributes": list(self.attributes)}

    @classmethod
    def from_dict(cls, entry: dict[str, Any]) -> Together:
        return cls(**entry | {"attributes": tuple(entry["attributes"])})


@dataclass(frozen=True, kw_only=True)
class Told:
    """A description by which halves of the people lead to a group, and how many of them do."""

    criterion: Criterion
    halves: int


@dataclass(frozen=True, kw_only=True)
class Shuffled:
    """What a finding has where everyone is searched and tested.

    claim: what it is listed for: the "group", the "combination" of its attributes, or "both". as_strong: how many of so
    many shuffles of the outcomes (`shuffles`) had something as strong as the group. bound: whether none had, and none
    for a group before it, so that p-values are no larger than what they are. psi_new: what such a group shows on new
    people. exaggerated: whether psi is probably too large. halves: random halves of the people that were searched;
    found: how many led to an equivalent group, by which descriptions.
    """

    claim: str
    as_strong: int
    shuffles: int
    bound: bool
    psi_new: float | None = None
    exaggerated: bool | None = None
    halves: int = 0
    found: int = 0
    descriptions: tuple[Told, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        entry = {field.name: getattr(self, field.name) for field in fields(self)}
        entry["descriptions"] = [
            {"criterion": str(told.criterion), "conditions": told.criterion.to_list(), "halves": told.halves}
            for told in self.descriptions
        ]
        return entry

    @classmethod
    def from_dict(cls, entry: dict[str, Any]) -> Shuffled:
        told = tuple(
            Told(criterion=Criterion.from_list(one["conditions"]), halves=one["halves"])
            for one in entry["descriptions"]
        )
        return cls(**entry | {"descriptions": told})


# The tests of combinations: against draws from the effects of each attribute where everyone is tested, and on D2.
DRAWN, SCORE = "drawn outcomes", "main effects score"


def write_together(
    attributes: tuple[str, ...], *, statistic: float, df: int, log_p: float, log_p_adjusted: float, **said: Any
) -> Together:
    """A combination as documents have it."""
    (p_value, log10_p), (p_adjusted, log10_p_adjusted) = p_of(log_p), p_of(log_p_adjusted)
    return Together(
        attributes=attributes,
        statistic=round_reported(statistic),
        df=df,
        p_value=p_value,
        log10_p=log10_p,
        p_adjusted=p_adjusted,
        log10_p_adjusted=log10_p_adjusted,
        **said,
    )


def listed_as_combination(together: Together) -> dict[str, Any]:
    """What a finding says that is listed for its combination alone, and not as a group."""
    own = ("statistic", "df", "p_value", "log10_p", "p_adjusted", "log10_p_adjusted")
    return {name: getattr(together, name) for name in own} | {"test": SCORE}


def p_of(log_p: float) -> tuple[float | None, float | None]:
    """A p-value as documents have it: by itself, and its decimal logarithm."""
    return (round_reported(exp(log_p)) if isfinite(log_p) else None), round_reported(log_p / log(10))
