"""The result of watching groups along time: their gaps window by window, and alarms, with its document."""

from __future__ import annotations

from dataclasses import dataclass
from types import NoneType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ald._core.version import __version__
from ald.data.prepare import DataSummary
from ald.errors import InputError, shown
from ald.groups.criterion import Criterion, visible
from ald.notions import Rate
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
from ald.results.shapes import COMPUTED, LOG, PEOPLE
from ald.statistics.basics import round_reported
from ald.statistics.sequential import Change

if TYPE_CHECKING:
    from ald.report.identity import Identity
    from ald.report.model import Report
    from ald.results.audit import Audit

_NUMBER = (COMPUTED, NoneType)
_TEXT = (str, NoneType)
WATCH: dict[str, Any] = {
    **HEAD,
    "kind": str,
    "notions": NOTIONS,
    "config": CONFIG,
    "data": DATA,
    "by": str,
    "every": str,
    "windows": [str],
    "audited": _TEXT,
    "looks": PEOPLE,
    "watched": [
        {
            "criterion": str,
            "conditions": [{"attribute": str, "kind": str}],
            "notion": str,
            "rate": str,
            "outcome": _TEXT,
            "alarm": _TEXT,
            "changed": _TEXT,
            "gaps": [
                {
                    "window": str,
                    **dict.fromkeys(("people", "others"), (PEOPLE, NoneType)),
                    **dict.fromkeys(("inside", "outside", "gap"), _NUMBER),
                    "interval": [_NUMBER],
                }
            ],
            "looks": [
                {
                    "after": PEOPLE,
                    "statistic": COMPUTED,
                    **dict.fromkeys(("critical", "before", "change", "error"), _NUMBER),
                }
            ],
            "difference": (
                NoneType,
                {"change": COMPUTED, "interval": [COMPUTED], "log10_p": LOG, "log10_p_adjusted": LOG},
            ),
        }
    ],
}


@dataclass(frozen=True, kw_only=True)
class WindowGap:
    """One rate of a group and of everyone else in one window, and the gap: inside minus outside, with its interval.

    Within strata of legitimate factors, where there are some. None is undefined: nobody was there; people are None
    where some were, but too few to be shown.
    """

    window: str
    people: int | None = None
    others: int | None = None
    inside: float | None = None
    outside: float | None = None
    gap: float | None = None
    interval: tuple[float | None, float | None] = (None, None)


@dataclass(frozen=True, kw_only=True)
class Difference:
    """By how much a gap differs between two windows, where there are no more, with its interval and test.

    interval: wide enough for all watched gaps together; the corrected p-value allows for their number (Bonferroni).
    """

    change: float
    interval: tuple[float, float]
    log10_p: float
    log10_p_adjusted: float

    @property
    def p_adjusted(self) -> float:
        return float(10**self.log10_p_adjusted)


@dataclass(frozen=True, kw_only=True)
class Watched:
    """One rate of one group along all windows. looks: what the data up to each window shows of a change.

    alarm: the window at which the first alarm was raised; changed: the first one after the likeliest change, as all
    windows show it, if there was an alarm.
    difference: of two windows by how much the gap differs; None where there are more.
    """

    criterion: Criterion
    notion: str
    rate: Rate
    outcome: str | None
    gaps: tuple[WindowGap, ...]
    looks: tuple[Change, ...]
    alarm: str | None
    changed: str | None
    difference: Difference | None = None

    def to_dict(self) -> dict[str, Any]:
        """It as plain data."""
        difference = self.difference
        return {
            "criterion": str(self.criterion),
            "conditions": self.criterion.to_list(),
            "notion": self.notion,
            "rate": self.rate.key,
            "outcome": self.outcome,
            "alarm": self.alarm,
            "changed": self.changed,
            "gaps": [{**vars(gap), "interval": list(gap.interval)} for gap in self.gaps],
            "looks": [
                {"after": look.after} | {key: round_reported(getattr(look, key)) for key in ("statistic", *_OF_LOOKS)}
                for look in self.looks
            ],
            "difference": None if difference is None else {**vars(difference), "interval": list(difference.interval)},
        }

    @classmethod
    def from_dict(cls, entry: dict[str, Any], config: AuditConfig) -> Watched:
        """The inverse of `to_dict`; the rates are those of the notions that were asked for."""
        notion = next(notion for notion in config.notions if notion.name == entry["notion"])
        found = entry["difference"]
        return cls(
            criterion=Criterion.from_list(entry["conditions"]),
            rate=next(rate for rate in notion.rates if rate.key == entry["rate"]),
            **{key: entry[key] for key in ("notion", "outcome", "alarm", "changed")},
            gaps=tuple(WindowGap(**gap | {"interval": tuple(gap["interval"])}) for gap in entry["gaps"]),
            looks=tuple(Change(**look | {key: _known(key, look[key]) for key in _OF_LOOKS}) for look in entry["looks"]),
            difference=None if found is None else Difference(**found | {"interval": tuple(found["interval"])}),
        )


# Numbers of a look that may be undefined; without a critical value none is reached.
_OF_LOOKS = ("critical", "before", "change", "error")


def _known(key: str, value: float | None) -> float:
    return (np.inf if key == "critical" else np.nan) if value is None else value


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Watch(Reported):
    """Groups along time. windows: their names; audited: the one whose audit suggested the groups, if one did.

    config, data_summary: what was asked, and whose gaps are watched.
    by, every: the column that says when, and how long a window is. looks: how many were planned.
    first: the audit whose listed groups are watched, if there was one; None of a watch read from JSON.
    watched: the gaps, one for each group and rate.
    input_name, input_sha256: of the file that was read; None for other data, and of a watch read from JSON.
    """

    TITLE: ClassVar[str] = "Disparities along time"
    KIND: ClassVar[str] = "watch"

    config: AuditConfig
    data_summary: DataSummary
    by: str
    every: str
    windows: tuple[str, ...]
    audited: str | None
    looks: int
    watched: tuple[Watched, ...]
    first: Audit | None = None
    input_name: str | None = None
    input_sha256: str | None = None

    @property
    def level(self) -> float:
        """The chance of any false alarm over all planned looks and all watched gaps."""
        return self.config.level

    @property
    def warnings(self) -> tuple[str, ...]:
        return self.data_summary.warnings

    @property
    def alarms(self) -> tuple[Watched, ...]:
        """What raised an alarm at any look."""
        return tuple(one for one in self.watched if one.alarm is not None)

    def __repr__(self) -> str:
        n = len(self.alarms)
        return (
            f"<Watch along {visible(self.by)}: {n} alarm{'' if n == 1 else 's'} of {len(self.watched):,} watched gaps "
            f"in {len(self.windows):,} windows. print(watch) shows them, watch.save('watch.html') writes the report; "
            "see .watched, .alarms, .to_json()>"
        )

    def summarise(self, identity: Identity) -> Report:
        from ald.report.summary.watch import summarise_watch

        return summarise_watch(self, identity)

    def to_dict(self) -> dict[str, Any]:
        """The watch as plain data in the documented schema (docs/schema.md)."""
        asked = what_was_asked(self.config, self.data_summary)
        # Nobody was kept apart: groups were fixed beforehand.
        asked["data"] = {key: value for key, value in asked["data"].items() if key not in HALVES}
        return {
            "schema": SCHEMA,
            "kind": self.KIND,
            "version": __version__,
            **asked,
            "by": self.by,
            "every": self.every,
            "windows": list(self.windows),
            "audited": self.audited,
            "looks": self.looks,
            "watched": [one.to_dict() for one in self.watched],
        }

    @classmethod
    def from_json(cls, text: str | bytes) -> Watch:
        """The watch that `to_json` wrote."""
        with read_document(text, cls.KIND, WATCH) as document:
            _check_watched(document)
            config = read_config(document)
            return cls(
                config=config,
                data_summary=read_data(document["data"]),
                **{key: document[key] for key in ("by", "every", "audited", "looks")},
                windows=tuple(document["windows"]),
                watched=tuple(Watched.from_dict(entry, config) for entry in document["watched"]),
            )


def _check_watched(document: dict[str, Any]) -> None:
    """Raises where gaps do not fit the windows, outcomes and notions."""
    check_outcomes(document, document["watched"])
    windows = document["windows"]
    rates = {(notion["name"], rate["key"]) for notion in document["notions"] for rate in notion["rates"]}
    for entry in document["watched"]:
        whole = (entry["notion"], entry["rate"]) in rates and len(entry["looks"]) == len(windows) - 1
        whole &= [gap["window"] for gap in entry["gaps"]] == windows
        whole &= all(is_interval(gap["interval"]) for gap in entry["gaps"])
        whole &= (entry["alarm"] is None) == (entry["changed"] is None)
        whole &= {entry["alarm"], entry["changed"]} - {None} <= set(windows)
        whole &= all(0 <= look["after"] < len(windows) for look in entry["looks"])
        if not whole:
            raise InputError(
                f"this audit document is damaged: a watched gap does not fit the rest: {shown(entry['criterion'])}"
            )
