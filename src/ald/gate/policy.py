"""The policy: named checks in pyproject.toml or ald.toml, each with its data, its question and its limit."""

from __future__ import annotations

import contextlib
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from math import inf
from pathlib import Path
from typing import Any

from ald._core.spelling import british
from ald.errors import InputError, SettingError, nearest
from ald.options.table import of_command

FILES = ("ald.toml", "pyproject.toml")
SHARE = 0.05
# Settings that a check says in its own words, or cannot have.
_REFUSED = {
    "threshold": "the limit of a check says how large a disparity may be",
    "named_groups": "a check looks for groups itself",
    "cluster": "the power of a check is not simulated for clusters yet",
    "survey_weights": "the power of a check is not simulated for survey weights yet",
    "reference": "a check compares groups with everyone else",
    "direction": "a limit is for disparities of either direction",
}
_OWN = ("data", "limit", "share", "accept")


@dataclass(frozen=True, kw_only=True)
class Accepted:
    """A known group: a disparity that was looked at and is accepted for a reason, up to a day (that day included)."""

    group: str
    reason: str
    until: date

    def holds(self, today: date) -> bool:
        return today <= self.until


@dataclass(frozen=True, kw_only=True)
class Check:
    """One check. options: those of an audit, by their keys; limit: the largest acceptable |psi|, of amounts in their
    unit.

    share: the smallest share of people that matters. accept: groups whose disparity is known and accepted.
    """

    name: str
    data: Any
    limit: float
    share: float = SHARE
    accept: tuple[Accepted, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def level(self) -> float:
        """The chance that the check fails although nothing exceeds the limit."""
        return float(self.options.get("level", 0.05))


def read_policy(path: str | None = None) -> dict[str, Check]:
    """The checks of a policy by name: of this file, or of ald.toml or else pyproject.toml in the current folder."""
    place = path or next((name for name in FILES if _has_checks(name)), None)
    if place is None:
        raise InputError(
            f"there is no policy here: neither {' nor '.join(FILES)} has checks. Name a file (--policy), or write one: "
            "docs/gate.md shows how"
        )
    settings = _settings(place)
    checks = settings.get("checks", {})
    unknown = next((key for key in settings if key != "checks"), None)
    if unknown is not None:
        raise SettingError(f"the policy {place!r} has an unknown key {unknown!r}. {nearest(unknown, ['checks'])}")
    if not isinstance(checks, dict) or not checks:
        raise SettingError(
            f"the policy {place!r} has no checks: [checks.NAME], in pyproject.toml [tool.ald.checks.NAME]"
        )
    folder = Path(place).parent
    return {name: make_check(name, entry, folder, place) for name, entry in checks.items()}


def _has_checks(path: str) -> bool:
    return os.path.isfile(path) and "checks" in _settings(path)


def _settings(path: str) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            found = tomllib.load(file)
    except FileNotFoundError:
        raise InputError(f"there is no policy {path!r}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"the policy {path!r} is not valid TOML: {error}") from None
    if Path(path).name == "pyproject.toml":
        found = found.get("tool", {}).get("ald", {})
    return dict(found)


def make_check(name: str, entry: Any, folder: Path | None = None, place: str = "the call") -> Check:
    """A check from its settings. folder: where a relative path of its data begins."""
    where = f"the check {name!r} of {place}"
    if not isinstance(entry, Mapping):
        raise SettingError(f"{where} must be a table of settings, not {entry!r}")
    settings, options = british(dict(entry)), of_command("audit")
    for key, value in settings.items():
        if key in _REFUSED:
            raise SettingError(f"{where} has the option {key!r}, but {_REFUSED[key]}: leave it out")
        if key not in _OWN and key not in options:
            raise SettingError(f"{where} has an unknown option {key!r}. {nearest(key, (*_OWN, *options))}")
        if key in options and not isinstance(value, options[key].types):
            expected = " or ".join(kind.__name__ for kind in options[key].types)
            raise SettingError(f"option {key!r} of {where} must be of type {expected}, not {value!r}")
    if settings.get("search") == "none":
        raise SettingError(f"{where} has search = 'none', but {_REFUSED['named_groups']}: leave it out")
    for key in ("data", "limit"):
        if key not in settings:
            raise SettingError(
                f"{where} does not say its {key}" + (": limit = 0.05 accepts 5 points" * (key == "limit"))
            )
    data = settings.pop("data")
    if folder is not None and isinstance(data, str) and "://" not in data:
        data = str(folder / os.path.expanduser(data))
    return Check(
        name=name,
        data=data,
        limit=_limit(settings.pop("limit"), settings, where),
        share=_fraction(settings.pop("share", SHARE), "share", where),
        accept=tuple(_accepted(one, where) for one in _tables(settings.pop("accept", ()), where)),
        options=settings,
    )


def _limit(value: Any, settings: Mapping[str, Any], where: str) -> float:
    """The limit: of a number in its unit, of rates a share. Which of both an outcome is, the data says."""
    if "outcome" not in settings and "score" not in settings:
        return _fraction(value, "limit", where)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < inf:
        raise SettingError(f"limit of {where} must be a number above 0, not {value!r}")
    return float(value)


def _fraction(value: Any, key: str, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1:
        raise SettingError(f"{key} of {where} must be a number between 0 and 1, not {value!r}")
    return float(value)


def _tables(value: Any, where: str) -> list[Any]:
    if not isinstance(value, (list, tuple)):
        raise SettingError(f"accept of {where} must be a list of tables: [[checks.NAME.accept]]")
    return list(value)


def _accepted(entry: Any, where: str) -> Accepted:
    if not isinstance(entry, Mapping) or set(entry) != {"group", "reason", "until"}:
        raise SettingError(f"an accepted group of {where} has a group, a reason and until (a date), not {entry!r}")
    group, reason, until = entry["group"], entry["reason"], entry["until"]
    if isinstance(until, str):
        with contextlib.suppress(ValueError):
            until = date.fromisoformat(until)
    if not isinstance(group, str) or not isinstance(reason, str) or not reason.strip() or type(until) is not date:
        raise SettingError(
            f"an accepted group of {where} needs group and reason as text and until as a date such as 2027-01-31, not "
            f"{dict(entry)!r}"
        )
    return Accepted(group=group, reason=reason, until=until)
