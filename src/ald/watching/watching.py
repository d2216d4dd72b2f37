"""Watches groups along time: their gaps window by window, and an alarm where one has changed.

The groups are fixed beforehand: named, or those of an audit of the first window. Data that suggested a group shows its
gap too large, so that window takes no part in what is watched.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from inspect import signature
from typing import Any, Literal

import numpy as np

from ald._core.arrays import BoolArray, IntArray
from ald._core.shortage import shortage_in_words
from ald._core.spelling import either_spelling
from ald.assess.amounts import dominated
from ald.auditing import Request, audit, read_request
from ald.data.asked import amount_asked, with_positions
from ald.data.classes import classes_asked
from ald.data.coded import AuditData, weighted_bincount
from ald.data.columns import from_levels
from ald.data.inputs.fingerprint import note_file
from ald.data.inputs.reading import reading_of
from ald.data.inputs.sources import load
from ald.data.prepare import DataSummary, prepare, with_kinds
from ald.data.scores import score_asked
from ald.data.table import Table
from ald.errors import InputError, SettingError, nearest, shorten
from ald.groups.criterion import Criterion
from ald.groups.language import find_mentioned
from ald.notions import AMOUNT_CELLS, Rate, RateCounter
from ald.options.config import AuditConfig
from ald.options.objects import options_of
from ald.options.table import AUDIT_OPTIONS, SPLITS, of_command
from ald.pipeline import run
from ald.questions import joint_cells, questions
from ald.results.audit import Audit
from ald.results.privacy import check_named, hide_in_summary, too_few
from ald.results.watch import Difference, Watch, Watched, WindowGap
from ald.statistics.basics import chi2_isf, chi2_log_sf, round_reported
from ald.statistics.score import Tables
from ald.statistics.sequential import Change, Looks, likeliest_change
from ald.watching.gaps import Gaps, MeanGaps, RateGaps
from ald.watching.windows import windows

LOOKS = 24
_REFUSED = ("cluster", "survey_weights", "reference", "direction", "threshold", "repeats", "fraction")
_OWN = ("by", "every", "first", "looks")
_DOMINATED = (
    "one person in a hundred holds more than half of what varies in the outcome: means of windows say little, and only "
    "large changes raise an alarm. Watch the share above a limit instead, such as favourable='>= NUMBER', or "
    "logarithms."
)


@either_spelling
def watch(
    data: Any,
    *,
    by: str,
    every: Literal["day", "week", "month", "quarter", "year", "value"] = "month",
    first: Audit | None = None,
    looks: int | None = None,
    **options: Any,
) -> Watch:
    """The gaps of groups along time, and an alarm where one has changed.

    by: the column of dates. every: how long a window is; "value" makes one of each value of any column, such as two
        periods.
    first: an earlier audit, whose listed groups are watched. Besides, or instead, `named_groups` are. Without either,
        those are watched that an audit of the first window lists, which then takes no part in what is watched.
    looks: how many looks are planned, of which each window after the first is one. It is fixed beforehand: the chance
        of any false alarm over all of them and all groups is at most `level`. By default 24, and for every="value" as
        many as there are.
    All other options are those of `ald.audit`.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> month = np.repeat(np.arange("2026-01", "2026-11", dtype="datetime64[M]"), 800)
    >>> sex = rng.choice(["f", "m"], 8000)
    >>> approved = rng.random(8000) < np.where((sex == "f") & (month >= np.datetime64("2026-06")), 0.35, 0.5)
    >>> log = {"month": month, "sex": sex, "approved": approved}
    >>> found = watch(log, by="month", named_groups="sex = f", outcome="approved")
    >>> found.alarms[0].changed
    '2026-06'
    """
    known = signature(audit).parameters
    for option in options:
        if option not in known:
            raise SettingError(f"ald.watch has no option {option!r}. {nearest(option, (*_OWN, *known))}")
    return watch_with(options_of({"data": data, **options}), by=by, every=every, first=first, looks=looks)


@shortage_in_words()
def watch_with(
    options: Mapping[str, Any], *, by: str, every: str = "month", first: Audit | None = None, looks: int | None = None
) -> Watch:
    """The watch that options ask for, by their keys in the table."""
    told = of_command("watch")
    told["by"].check_form(by)
    told["every"].check(every)
    told["looks"].check_form(looks)
    if first is not None and not isinstance(first, Audit):
        raise SettingError(f"first must be an audit, whose listed groups are watched, not {type(first).__name__}")
    _check_options(options)
    asked = read_request(options)
    table, window_of, names = _cut(asked, by, every, first)
    audited, file = None, note_file(asked.parts[0])
    if first is None and not asked.config.named_groups:
        audited, first = _audit_first(table, window_of, names, by, asked)
        window_of, names = window_of - 1, names[1:]
    criteria = _criteria(first, asked, table)
    if len(names) < 2:
        raise InputError(f"a change needs two windows at least; {shorten(by)!r} has {len(names)} to watch along")
    planned = looks or (len(names) - 1 if every == "value" else LOOKS)
    if len(names) - 1 > planned:
        raise SettingError(
            f"there are {len(names):,} windows and so {len(names) - 1:,} looks, and {planned:,} were planned: the "
            "number of looks is fixed beforehand (looks=..., --looks)"
        )
    watched, summary, config = _watch(table, window_of, names, by, criteria, asked, planned)
    return Watch(
        config=config,
        data_summary=summary,
        by=by,
        every=every,
        windows=names,
        audited=audited,
        looks=planned,
        watched=watched,
        first=first,
        input_name=None if file is None else os.path.basename(file.path),
        input_sha256=None if file is None else file.sha256(),
    )


def _check_options(options: Mapping[str, Any]) -> None:
    """Raises for options of audits that say nothing here."""
    for key in _REFUSED:
        plain = AUDIT_OPTIONS[key].default
        if options.get(key, plain) != plain:
            raise SettingError(f"{key} is not supported where groups are watched along time: leave it out")
    split = options.get("split", AUDIT_OPTIONS["split"].default)
    if not isinstance(split, str) or split not in SPLITS:
        raise SettingError(
            f"split is one of {', '.join(SPLITS)} where groups are watched along time: nobody else tests"
        )


def _cut(asked: Request, by: str, every: str, first: Audit | None) -> tuple[Table, IntArray, tuple[str, ...]]:
    """The table, the window of every row, and the names of the windows. Rows without a date are left out."""
    roles, source = asked.roles, asked.source
    if by in (*roles.taken, *(roles.attributes or ()), *roles.exclude):
        raise SettingError(f"column {shorten(str(by))!r} says when: it cannot have another role")
    listed = [] if first is None else [str(finding.criterion) for finding in first.groups]
    wanted = find_mentioned([*asked.config.named_groups, *listed])
    needed = None if roles.needed is None or wanted else (*roles.needed, by)
    reading = reading_of(roles, wanted, asked.memory_limit, source.query, source.threads or 1)
    reading = replace(reading, needed=needed, exact=reading.exact | {by})
    table = with_kinds(load(asked.parts[0], needed, reading), roles.kinds, roles.taken)
    found = windows(table[by], every)
    dated = np.flatnonzero(found.of_rows < len(found.names))
    if len(dated) < table.n_rows:
        n = table.n_rows - len(dated)
        table = replace(table.take(dated), notes=(*table.notes, f"{n:,} rows without a value of {by!r} are left out"))
    return table, found.of_rows[dated], found.names


def _audit_first(
    table: Table, window_of: IntArray, names: tuple[str, ...], by: str, asked: Request
) -> tuple[str, Audit]:
    """The audit of the first window, whose groups are watched in all others."""
    own = table.take(np.flatnonzero(window_of == 0))
    own = replace(own, columns={name: column for name, column in own.columns.items() if name != by})
    found = run(own, asked.roles, asked.config, threads=asked.source.threads)
    if not found.groups:
        raise InputError(
            f"the audit of the first window, {names[0]}, lists no group to watch: name groups (named_groups=..., "
            "--named-group), or give a longer first window (every=..., --every)"
        )
    return names[0], found


def _criteria(first: Audit | None, asked: Request, table: Table) -> list[Criterion]:
    listed = [] if first is None else [finding.criterion for finding in first.groups]
    criteria = list(dict.fromkeys([*listed, *(Criterion.parse(one, table) for one in asked.config.named_groups)]))
    if not criteria:
        raise InputError("there is no group to watch: the audit lists none. Name groups instead (named_groups=...).")
    return criteria


def _watch(
    table: Table,
    window_of: IntArray,
    names: tuple[str, ...],
    by: str,
    criteria: Sequence[Criterion],
    asked: Request,
    looks: int,
) -> tuple[tuple[Watched, ...], DataSummary, AuditConfig]:
    inside_windows = np.flatnonzero(window_of >= 0)
    table, window_of = table.take(inside_windows), window_of[inside_windows]
    columns = {**table.columns, by: from_levels(by, window_of, names)}
    table = with_positions(replace(table, columns=columns), asked.roles)
    roles = replace(asked.roles, attributes=(by,), exclude=(), kinds=None)
    mean = amount_asked(table, roles) if asked.config.mean is None else score_asked(table, roles, asked.config.mean)
    config = replace(asked.config.of_amounts(mean), classes=classes_asked(table, roles))
    prepared = prepare(table, roles, joint_cells(config), named=criteria, mean=config.mean, classes=config.classes)
    whole = prepared.whole
    marks = zip(criteria, whole.design.named, strict=True)
    check_named([("named group", criterion, member) for criterion, member in marks], whole, config)
    order = [names.index(level) for level in whole.attributes[0].levels]
    window = np.append(np.array(order, np.int64), -1)[whole.codes[0]]
    asking = questions(config)
    rates = [(question, rate) for question in asking for rate in question.notion.rates]
    share = len(criteria) * len(rates)
    watched = tuple(
        _watched(
            criterion,
            question.notion.name,
            rate,
            question.outcome if len(config.asked_outcomes) > 1 else None,
            _count(question.view(whole), whole.design.named[g], window, len(names), rate),
            names,
            config,
            share,
            looks,
        )
        for g, criterion in enumerate(criteria)
        for question, rate in rates
    )
    summary = prepared.summary
    if whole.unit is not None and any(_is_dominated(whole, member) for member in whole.design.named):
        summary = replace(summary, warnings=(*summary.warnings, _DOMINATED))
    return watched, hide_in_summary(summary, config), config


def _is_dominated(data: AuditData, member: BoolArray) -> bool:
    """Whether a few people hold most of what varies, inside a group or outside."""
    assert data.design.amounts is not None
    return any(
        dominated(
            data.design.amounts[side].astype(float), data.counts[side], np.zeros(np.count_nonzero(side), np.int64)
        )
        for side in (member, ~member)
        if side.any()
    )


def _count(
    data: AuditData, mask: BoolArray, window: IntArray, n_windows: int, rate: Rate
) -> tuple[Gaps, IntArray, IntArray]:
    """The gaps of the windows, and the people inside and outside."""
    strata = data.design.strata if data.design.strata is not None else np.zeros(len(data.cells), np.int64)
    n_strata, place = int(strata.max(initial=0)) + 1, window
    if data.unit is not None:
        each = len(AMOUNT_CELLS)
        place, strata, mask = np.repeat(place, each), np.repeat(strata, each), np.repeat(mask, each)
    unit, data = data.unit, data if data.unit is None else data.ledger
    shape = (n_windows, n_strata, data.n_cells)
    keys = (place * n_strata + strata) * data.n_cells + data.cells
    inside, outside = (
        weighted_bincount(keys[side], data.counts[side], int(np.prod(shape))).reshape(shape) for side in (mask, ~mask)
    )
    counter = RateCounter([rate], data.n_cells)
    people, others = (counter.people(table).sum(axis=1) for table in (inside, outside))
    if unit is not None:
        return MeanGaps(inside=inside, outside=outside, unit=unit), people, others
    tables = Tables(
        hits_in=counter.hit(inside)[0],
        base_in=counter.base(inside)[0],
        hits_out=counter.hit(outside)[0],
        base_out=counter.base(outside)[0],
        by_margins=n_strata > 1,
    )
    return RateGaps(tables=tables), people, others


def _watched(
    criterion: Criterion,
    notion: str,
    rate: Rate,
    outcome: str | None,
    counted: tuple[Gaps, IntArray, IntArray],
    names: tuple[str, ...],
    config: AuditConfig,
    share: int,
    looks: int,
) -> Watched:
    """share: how many gaps share the level."""
    found_gaps, people, others = counted
    level, few = config.level, too_few(people, others, config.min_group_size)
    estimates = found_gaps.estimates
    low, high = found_gaps.interval(level)
    inside, outside = found_gaps.levels
    gaps = tuple(
        WindowGap(window=name)
        if few[w]
        else WindowGap(
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
    found = [_as_reported(look) for look in take_looks(found_gaps, Looks(looks, level / share))]
    alarm = next((name for name, look in zip(names, found, strict=True) if look.alarm), None)
    return Watched(
        criterion=criterion,
        notion=notion,
        rate=rate,
        outcome=outcome,
        gaps=gaps,
        looks=tuple(found[1:]),
        alarm=alarm,
        changed=None if alarm is None else names[found[-1].after],
        difference=_difference(found[1], level, share) if len(names) == 2 else None,
    )


def _difference(look: Change, level: float, share: int) -> Difference | None:
    """The only look at two windows, as a test of its own. share: how many such tests there are."""
    if not np.isfinite(look.change):
        return None
    log_p = float(chi2_log_sf(np.array([look.statistic**2]), np.array([1]))[0])
    reach = float(np.sqrt(chi2_isf(level / share, np.array([1]))[0])) * look.error
    return Difference(
        change=_rounded(look.change),
        interval=(_rounded(look.change - reach), _rounded(look.change + reach)),
        log10_p=_rounded(log_p / np.log(10)),
        log10_p_adjusted=_rounded(min(log_p + np.log(share), 0.0) / np.log(10)),
    )


def _as_reported(look: Change) -> Change:
    """A look in the numbers that documents have, so that what is read back is what was found."""
    return Change(
        after=look.after,
        statistic=_rounded(look.statistic),
        critical=_rounded(look.critical),
        before=_rounded(look.before),
        change=_rounded(look.change),
        error=_rounded(look.error),
    )


def _rounded(value: float) -> float:
    """The number as documents have it; what is undefined or infinite stays so."""
    found = round_reported(value)
    return float(value) if found is None else found


def take_looks(gaps: Gaps, looks: Looks) -> Iterator[Change]:
    """What the data up to each window shows of a change, window by window; the first is no look yet."""
    estimates = gaps.estimates
    for k in range(1, len(estimates) + 1):
        errors = gaps.errors(k)
        critical = looks.next(errors)
        after, statistic, before, change, error = likeliest_change(estimates[:k], errors)
        yield Change(after=after, statistic=statistic, critical=critical, before=before, change=change, error=error)
