"""The result of a comparison of two models: groups whose gap changed, with its document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import NoneType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ald._core.version import __version__
from ald.data.prepare import DataSummary
from ald.errors import InputError, shown
from ald.groups.criterion import Criterion, visible
from ald.notions import Notion
from ald.options import AuditConfig
from ald.results.consistency import check_outcomes, is_interval
from ald.results.document import (
    CONFIG,
    DATA,
    HALVES,
    HEAD,
    NOTIONS,
    SCHEMA,
    read_config,
    read_data,
    read_document,
    what_was_asked,
)
from ald.results.reported import Reported
from ald.results.shapes import COMPUTED, LOG, PEOPLE, SHARE
from ald.statistics.basics import round_reported

if TYPE_CHECKING:
    from ald.report.identity import Identity
    from ald.report.model import Report

_NUMBER = (COMPUTED, NoneType)
_TEXT = (str, NoneType)
_CHANGED = {
    "criterion": str,
    "conditions": [{"attribute": str, "kind": str}],
    "size": PEOPLE,
    "share": SHARE,
    "change": COMPUTED,
    "rates": [
        {
            "rate": str,
            **dict.fromkeys(("first_inside", "first_outside", "second_inside", "second_outside"), COMPUTED),
            "interval": [COMPUTED],
            **dict.fromkeys(("gap_first", "gap_second", "change"), COMPUTED),
        }
    ],
    "statistic": COMPUTED,
    "log10_p": LOG,
    "log10_p_adjusted": LOG,
}
COMPARISON: dict[str, Any] = {
    **HEAD,
    "kind": str,
    "second": str,
    "notions": NOTIONS,
    "config": {**CONFIG, "prediction": _TEXT, "truth": str},
    "data": {**DATA, **HALVES},
    "confidence": SHARE,
    "overall": {"*": [_NUMBER]},
    "significant": PEOPLE,
    "hidden": PEOPLE,
    "groups": [_CHANGED],
    "tested": [_CHANGED],
}


@dataclass(frozen=True, kw_only=True)
class RateChange:
    """A rate, or a mean, of both models inside and outside a group; the gap is inside minus outside.

    interval: the changes that the score test, or Welch's t, does not reject.
    """

    rate: str
    first_inside: float
    first_outside: float
    second_inside: float
    second_outside: float
    interval: tuple[float, float]

    @property
    def gap_first(self) -> float:
        return self.first_inside - self.first_outside

    @property
    def gap_second(self) -> float:
        return self.second_inside - self.second_outside

    @property
    def change(self) -> float:
        return self.gap_second - self.gap_first


@dataclass(frozen=True, kw_only=True)
class ChangedGroup:
    """A group whose gap changed: sizes, rates, the change (mean absolute change of several rates) and how sure it is.

    statistic: of the score test, the largest of several rates; p-values as natural logarithms too.
    """

    criterion: Criterion
    size: int
    share: float
    change: float
    rates: tuple[RateChange, ...]
    statistic: float
    log_p: float
    log_p_adjusted: float

    @property
    def p_adjusted(self) -> float:
        return float(np.exp(self.log_p_adjusted))

    @property
    def log10_p_adjusted(self) -> float:
        return float(self.log_p_adjusted / np.log(10))

    def to_dict(self) -> dict[str, Any]:
        """The group as plain data."""
        rates = [
            {name: round_reported(value) if isinstance(value, float) else value for name, value in asdict(rate).items()}
            | {"interval": [round_reported(end) for end in rate.interval]}
            | {name: round_reported(getattr(rate, name)) for name in ("gap_first", "gap_second", "change")}
            for rate in self.rates
        ]
        return {
            "criterion": str(self.criterion),
            "conditions": self.criterion.to_list(),
            "size": self.size,
            "share": round_reported(self.share),
            "change": round_reported(self.change),
            "rates": rates,
            "statistic": round_reported(self.statistic),
            "log10_p": round_reported(self.log_p / np.log(10)),
            "log10_p_adjusted": round_reported(self.log_p_adjusted / np.log(10)),
        }

    @classmethod
    def from_dict(cls, entry: dict[str, Any]) -> ChangedGroup:
        """The inverse of `to_dict`."""
        sides = ("rate", "first_inside", "first_outside", "second_inside", "second_outside")
        return cls(
            criterion=Criterion.from_list(entry["conditions"]),
            **{key: entry[key] for key in ("size", "share", "change", "statistic")},
            rates=tuple(
                RateChange(**{key: rate[key] for key in sides}, interval=tuple(rate["interval"]))
                for rate in entry["rates"]
            ),
            log_p=entry["log10_p"] * float(np.log(10)),
            log_p_adjusted=entry["log10_p_adjusted"] * float(np.log(10)),
        )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Comparison(Reported):
    """The result: groups whose gap changed significantly, all groups tested, and the models' overall rates.

    config, data_summary: what was asked, with the first model as the prediction or score, and what was compared.
    second: the column of the second model. overall: each rate of the first and the second model among everyone.
    confidence: of the intervals, which allows for the significant groups having been picked from those tested.
    n_significant: how many of the tested groups are significant, listed or not. hidden: how many tested groups are not
    shown, because fewer than `min_group_size` people are in them or outside them; corrections count them.
    input_name, input_sha256: of the file that was compared; None for other data, and of one read from JSON.
    """

    TITLE: ClassVar[str] = "Comparison of two models"
    KIND: ClassVar[str] = "comparison"

    config: AuditConfig
    second: str
    confidence: float
    data_summary: DataSummary
    overall: Mapping[str, tuple[float, float]]
    groups: tuple[ChangedGroup, ...]
    tested: tuple[ChangedGroup, ...]
    n_significant: int
    hidden: int = 0
    input_name: str | None = None
    input_sha256: str | None = None

    @property
    def first(self) -> str:
        """The column of the first model."""
        return str(self.config.score or self.config.prediction)

    @property
    def truth(self) -> str:
        return str(self.config.truth)

    @property
    def notion(self) -> Notion:
        return self.config.notions[0]

    @property
    def n_tested(self) -> int:
        """How many groups were tested, hidden ones included."""
        return len(self.tested) + self.hidden

    @property
    def level(self) -> float:
        return self.config.level

    def __repr__(self) -> str:
        n = len(self.groups)
        return (
            f"<Comparison for {visible(self.notion.name)}: {n} group{'' if n == 1 else 's'} listed of "
            f"{self.n_tested:,} tested. print(comparison) shows them, comparison.save('comparison.html') writes the "
            "report; see .groups, .to_json()>"
        )

    def summarise(self, identity: Identity) -> Report:
        from ald.report.summary.comparison import summarise_comparison

        return summarise_comparison(self, identity)

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain data in the documented schema (docs/schema.md)."""
        return {
            "schema": SCHEMA,
            "kind": self.KIND,
            "version": __version__,
            "second": self.second,
            **what_was_asked(self.config, self.data_summary),
            "confidence": round_reported(self.confidence),
            "overall": {key: [round_reported(value) for value in pair] for key, pair in self.overall.items()},
            "significant": self.n_significant,
            "hidden": self.hidden,
            "groups": [group.to_dict() for group in self.groups],
            "tested": [group.to_dict() for group in self.tested],
        }

    @classmethod
    def from_json(cls, text: str | bytes) -> Comparison:
        """The comparison that `to_json` wrote."""
        with read_document(text, cls.KIND, COMPARISON) as document:
            _check_rates(document)
            return cls(
                config=read_config(document),
                second=document["second"],
                confidence=document["confidence"],
                data_summary=read_data(document["data"]),
                overall={
                    key: (_or_nan(first), _or_nan(second)) for key, (first, second) in document["overall"].items()
                },
                groups=tuple(ChangedGroup.from_dict(entry) for entry in document["groups"]),
                tested=tuple(ChangedGroup.from_dict(entry) for entry in document["tested"]),
                n_significant=document["significant"],
                hidden=document["hidden"],
            )


def _or_nan(value: float | None) -> float:
    return float("nan") if value is None else value


def _check_rates(document: dict[str, Any]) -> None:
    """Raises where groups do not have the rates of the notion, or outcomes are not those that were asked for."""
    check_outcomes(document, ())
    (notion,) = document["notions"]
    keys = [rate["key"] for rate in notion["rates"]]
    for entry in (*document["groups"], *document["tested"]):
        if [rate["rate"] for rate in entry["rates"]] != keys or not all(
            is_interval(rate["interval"]) for rate in entry["rates"]
        ):
            raise InputError(
                f"this audit document is damaged: a group does not fit the notion: {shown(entry['criterion'])}"
            )
    if list(document["overall"]) != keys:
        raise InputError("this audit document is damaged: `overall` does not fit the notion")
