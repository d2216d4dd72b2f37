"""Watches groups along time: their gaps window by window, and an alarm where one has changed.

The groups are fixed beforehand: named, or those of an audit of the first window. Data that suggested a group shows its
gap too large, so
that window takes no part in what is watched.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

import numpy as np

from ald._core.arrays import FloatArray, IntArray
from ald._core.spelling import british
from ald.auditing import Request, audit, read_request
from ald.data.coded import AuditData
from ald.data.columns import from_levels
from ald.data.inputs.reading import reading_of
from ald.data.inputs.sources import load
from ald.data.prepare import prepare, with_kinds
from ald.data.table import Table
from ald.errors import InputError, SettingError, nearest, shorten
from ald.groups.criterion import Criterion
from ald.groups.language import find_mentioned
from ald.notions import Rate, RateCounter
from ald.options.objects import options_of
from ald.pipeline import run
from ald.questions import joint_cells, questions
from ald.results.audit import Audit
from ald.statistics.basics import round_reported
from ald.statistics.score import Tables
from ald.statistics.sequential import Change, Looks, likeliest_change
from ald.watching.windows import windows

LOOKS = 24
# Of a mean whose variance depends on itself.
_ROUNDS = 3
_REFUSED = {
    "cluster": None,
    "survey_weights": None,
    "reference": "rest",
    "direction": "both",
    "threshold": 0.0,
    "split": "auto",
    "repeats": 1,
}


@dataclass(frozen=True, kw_only=True)
class WindowGap:
    """One rate of a group and of everyone else in one window, and the gap: inside minus outside, with its interval.

    Within strata of legitimate factors, where there are some. None is undefined: nobody was there.
    """

    window: str
    people: int
    others: int
    inside: float | None
    outside: float | None
    gap: float | None
    interval: tuple[float | None, float | None]


@dataclass(frozen=True, kw_only=True)
class Watched:
    """One rate of one group along all windows. looks: what the data up to each window shows of a change.

    alarm: the window at which the first alarm was raised; changed: the first window after the likeliest change, then.
    """

    criterion: Criterion
    rate: str
    outcome: str | None
    gaps: tuple[WindowGap, ...]
    looks: tuple[Change, ...]
    alarm: str | None
    changed: str | None


@dataclass(frozen=True, kw_only=True, eq=False)
class Watch:
    """Groups along time. windows: their names; audited: the one whose audit suggested the groups, if one did.

    looks: how many were planned; level: the chance of any false alarm over all of them and all groups.
    """

    by: str
    every: str
    windows: tuple[str, ...]
    audited: str | None
    first: Audit | None
    looks: int
    level: float
    watched: tuple[Watched, ...]
    warnings: tuple[str, ...]

    @property
    def alarms(self) -> tuple[Watched, ...]:
        return tuple(one for one in self.watched if one.alarm is not None)

    def to_dict(self) -> dict[str, Any]:
        """All as plain data."""
        return {
            "by": self.by,
            "every": self.every,
            "windows": list(self.windows),
            "audited": self.audited,
            "looks": self.looks,
            "level": self.level,
            "watched": [_plain(one) for one in self.watched],
            "warnings": list(self.warnings),
        }

    def to_json(self) -> str:
        """The watch as JSON. Same watch, same bytes."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _plain(one: Watched) -> dict[str, Any]:
    return {
        "criterion": str(one.criterion),
        "conditions": one.criterion.to_list(),
        "rate": one.rate,
        "outcome": one.outcome,
        "alarm": one.alarm,
        "changed": one.changed,
        "gaps": [{**vars(gap), "interval": list(gap.interval)} for gap in one.gaps],
        "looks": [
            {
                "after": look.after,
                "statistic": round_reported(look.statistic),
                "critical": round_reported(look.critical) if np.isfinite(look.critical) else None,
                "before": round_reported(look.before),
                "change": round_reported(look.change),
                "error": round_reported(look.error),
            }
            for look in one.looks
        ],
    }


def watch(
    data: Any,
    *,
    by: str,
    every: str = "month",
    groups: Audit | str | Criterion | Sequence[str | Criterion] | None = None,
    looks: int = LOOKS,
    level: float = 0.05,
    **options: Any,
) -> Watch:
    """The gaps of groups along time, and an alarm where one has changed.

    by: the column of dates; every: "day", "week", "month", "quarter" or "year", or "value" for a window per value of
        any column, such as two periods.
    groups: an earlier audit, whose listed groups are watched, or groups in words; by default those that an audit of the
        first window lists, which then takes no part in what is watched.
    looks: how many looks are planned, of which each window after the first is one. It is fixed beforehand: the chance
        of any false alarm over all of them and all groups is at most `level`.
    All other options are those of `ald.audit`.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> month = np.repeat(np.arange("2026-01", "2026-11", dtype="datetime64[M]"), 800)
    >>> sex = rng.choice(["f", "m"], 8000)
    >>> approved = rng.random(8000) < np.where((sex == "f") & (month >= np.datetime64("2026-06")), 0.35, 0.5)
    >>> log = {"month": month, "sex": sex, "approved": approved}
    >>> found = watch(log, by="month", groups="sex = f", outcome="approved")
    >>> found.alarms[0].changed
    '2026-06'
    """
    if isinstance(looks, bool) or not isinstance(looks, int) or looks < 1:
        raise SettingError(f"looks must be a whole number from 1 on, not {looks!r}")
    asked = read_request(_checked({"data": data, "level": level, **options}))
    table, window_of, names = _cut(asked, by, every, groups)
    audited, first = None, None
    if groups is None:
        audited, first, groups = _first_audit(table, window_of, names, by, asked)
        window_of, names = window_of - 1, names[1:]
    criteria = _criteria(groups, table)
    if len(names) - 1 > looks:
        raise SettingError(
            f"there are {len(names):,} windows and so {len(names) - 1:,} looks, and {looks:,} were planned: the number "
            "of looks is fixed beforehand (looks=..., --looks)"
        )
    if len(names) < 2:
        raise InputError(f"a change needs two windows at least; {shorten(by)!r} has {len(names)} to watch along")
    watched, warnings = _watch(table, window_of, names, by, criteria, asked, looks)
    return Watch(
        by=by,
        every=every,
        windows=names,
        audited=audited,
        first=first,
        looks=looks,
        level=level,
        watched=watched,
        warnings=warnings,
    )


def _checked(options: Mapping[str, Any]) -> dict[str, Any]:
    known = signature(audit).parameters
    chosen = british(dict(options))
    for option in chosen:
        if option not in known:
            raise SettingError(f"ald.watch has no option {option!r}. {nearest(option, known)}")
    chosen = options_of(chosen)
    for key, plain in _REFUSED.items():
        if chosen.get(key, plain) != plain:
            raise SettingError(f"{key} is not supported where groups are watched along time: leave it out")
    if chosen.get("named_groups"):
        raise SettingError("the groups to watch are named by groups=..., not by named_groups=...")
    return chosen


def _cut(asked: Request, by: str, every: str, groups: Any) -> tuple[Table, IntArray, tuple[str, ...]]:
    """The table, the window of every row, and the names of the windows. Rows without a date are left out."""
    roles, source = asked.roles, asked.source
    if by in (*roles.taken, *(roles.attributes or ()), *roles.exclude):
        raise SettingError(f"column {shorten(str(by))!r} says when: it cannot have another role")
    wanted = find_mentioned([one for one in _listed(groups) if isinstance(one, str)])
    needed = None if roles.needed is None or groups is not None else (*roles.needed, by)
    reading = reading_of(roles, wanted, asked.memory_limit, source.query, source.threads or 1)
    reading = replace(reading, needed=needed, exact=reading.exact | {by})
    table = with_kinds(load(asked.parts[0], needed, reading), roles.kinds, roles.taken)
    found = windows(table[by], every)
    dated = np.flatnonzero(found.of_rows < len(found.names))
    if len(dated) < table.n_rows:
        n = table.n_rows - len(dated)
        table = replace(table.take(dated), notes=(*table.notes, f"{n:,} rows without a value of {by!r} are left out"))
    return table, found.of_rows[dated], found.names


def _listed(groups: Any) -> list[Any]:
    if groups is None or isinstance(groups, Audit):
        return []
    return [groups] if isinstance(groups, (str, Criterion)) else list(groups)


def _first_audit(
    table: Table, window_of: IntArray, names: tuple[str, ...], by: str, asked: Request
) -> tuple[str, Audit, Audit]:
    """The audit of the first window, whose groups are watched in all others."""
    own = table.take(np.flatnonzero(window_of == 0))
    own = replace(own, columns={name: column for name, column in own.columns.items() if name != by})
    found = run(own, asked.roles, asked.config, threads=asked.source.threads)
    if not found.groups:
        raise InputError(
            f"the audit of the first window, {names[0]}, lists no group to watch: name groups (groups=..., --group), "
            "or give a longer first window (every=..., --every)"
        )
    return names[0], found, found


def _criteria(groups: Any, table: Table) -> list[Criterion]:
    if isinstance(groups, Audit):
        criteria = list(dict.fromkeys(finding.criterion for finding in groups.groups))
    else:
        criteria = [one if isinstance(one, Criterion) else Criterion.parse(one, table) for one in _listed(groups)]
    if not criteria:
        raise InputError("there is no group to watch: the audit lists none. Name groups instead.")
    return criteria


def _watch(
    table: Table,
    window_of: IntArray,
    names: tuple[str, ...],
    by: str,
    criteria: Sequence[Criterion],
    asked: Request,
    looks: int,
) -> tuple[tuple[Watched, ...], tuple[str, ...]]:
    inside_windows = np.flatnonzero(window_of >= 0)
    table, window_of = table.take(inside_windows), window_of[inside_windows]
    columns = {**table.columns, by: from_levels(by, window_of, names)}
    roles = replace(asked.roles, attributes=(by,), exclude=(), kinds=None)
    prepared = prepare(replace(table, columns=columns), roles, joint_cells(asked.config), named=criteria)
    whole = prepared.whole
    order = [names.index(level) for level in whole.attributes[0].levels]
    window = np.append(np.array(order, np.int64), -1)[whole.codes[0]]
    asking = questions(asked.config)
    rates = [(question, rate) for question in asking for rate in question.notion.rates]
    level = asked.config.level / (len(criteria) * len(rates))
    watched = tuple(
        _watched(
            criterion,
            rate,
            question.outcome if len(asked.config.outcomes) > 1 else None,
            _tables(question.view(whole), whole.design.named[g], window, len(names), rate),
            names,
            asked.config.level,
            Looks(looks, level),
        )
        for g, criterion in enumerate(criteria)
        for question, rate in rates
    )
    return watched, prepared.summary.warnings


def _tables(
    data: AuditData, mask: Any, window: IntArray, n_windows: int, rate: Rate
) -> tuple[Tables, IntArray, IntArray]:
    """Hits and bases per window (first axis) and stratum inside and outside, and the people on both sides."""
    strata = data.design.strata if data.design.strata is not None else np.zeros(len(data.cells), np.int64)
    n_strata, counter = int(strata.max(initial=0)) + 1, RateCounter([rate], data.n_cells)
    shape = (n_windows, n_strata, data.n_cells)
    keys = (window * n_strata + strata) * data.n_cells + data.cells
    inside, outside = (
        np.bincount(keys[side], data.counts[side], int(np.prod(shape))).astype(np.int64).reshape(shape)
        for side in (mask, ~mask)
    )
    tables = Tables(
        hits_in=counter.hit(inside)[0],
        base_in=counter.base(inside)[0],
        hits_out=counter.hit(outside)[0],
        base_out=counter.base(outside)[0],
        by_margins=n_strata > 1,
    )
    return tables, inside.sum(axis=(1, 2)), outside.sum(axis=(1, 2))


def _watched(
    criterion: Criterion,
    rate: Rate,
    outcome: str | None,
    counted: tuple[Tables, IntArray, IntArray],
    names: tuple[str, ...],
    level: float,
    looks: Looks,
) -> Watched:
    tables, people, others = counted
    estimates = np.asarray(tables.difference, float)
    low, high = tables.interval(level)
    inside, outside = _rates(tables)
    gaps = tuple(
        WindowGap(
            window=name,
            people=int(people[w]),
            others=int(others[w]),
            inside=round_reported(inside[w]),
            outside=round_reported(outside[w]),
            gap=round_reported(estimates[w]),
            interval=(round_reported(low[w]), round_reported(high[w])) if np.isfinite(estimates[w]) else (None, None),
        )
        for w, name in enumerate(names)
    )
    found, alarm, changed = [], None, None
    for k in range(1, len(names) + 1):
        errors = _errors(tables, estimates, k)
        critical = looks.next(errors)
        after, statistic, before, change, error = likeliest_change(estimates[:k], errors)
        look = Change(after=after, statistic=statistic, critical=critical, before=before, change=change, error=error)
        if alarm is None and look.alarm:
            alarm, changed = names[k - 1], names[after]
        found.append(look)
    return Watched(
        criterion=criterion,
        rate=rate.key,
        outcome=outcome,
        gaps=gaps,
        looks=tuple(found[1:]),
        alarm=alarm,
        changed=changed,
    )


def _rates(tables: Tables) -> tuple[FloatArray, FloatArray]:
    """The rates inside and outside, under the weights of the difference."""
    with np.errstate(divide="ignore", invalid="ignore"):
        total = tables.base_in + tables.base_out
        weight = np.where((tables.base_in > 0) & (tables.base_out > 0), tables.base_in * tables.base_out / total, 0.0)
        sums = weight.sum(axis=-1)
        return tuple(
            np.asarray(np.where(weight > 0, weight * hits / base, 0.0).sum(axis=-1) / sums)
            for hits, base in ((tables.hits_in, tables.base_in), (tables.hits_out, tables.base_out))
        )  # type: ignore[return-value]


def _errors(tables: Tables, estimates: FloatArray, k: int) -> FloatArray:
    """The standard errors of the first k windows, if all of them have one gap: the mean of these windows."""
    known = np.isfinite(estimates[:k])
    if not known.any():
        return np.full(k, np.inf)
    mean = float(estimates[:k][known].mean())
    errors = np.full(k, np.inf)
    for _ in range(_ROUNDS):
        with np.errstate(divide="ignore", invalid="ignore"):
            errors = np.where(known, tables.error(np.full(len(estimates), mean))[:k], np.inf)
        usable = known & (errors > 0)
        if not usable.any():
            return np.full(k, np.inf)
        weight = np.where(usable, errors, np.inf) ** -2.0
        mean = float((weight * np.where(known, estimates[:k], 0.0)).sum() / weight.sum())
    return np.where(errors > 0, errors, np.inf)
