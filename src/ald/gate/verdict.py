"""The verdict of a check, and what it rests on.

Two families of tests share the level of a check: the groups that an audit finds, tested against the limit, and every
attribute's own gaps, whose intervals hold all together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Literal

import numpy as np

from ald._core.arrays import BoolArray
from ald.auditing import Request, read_request
from ald.data.asked import amount_asked, with_cuts, with_positions
from ald.data.classes import classes_asked
from ald.data.scores import score_asked
from ald.data.table import Table
from ald.errors import InputError, SettingError
from ald.gate.policy import Accepted, Check
from ald.gate.power import POWER, Power, simulate_power
from ald.groups.criterion import Criterion
from ald.groups.membership import correlation_of
from ald.notions import Mean
from ald.pipeline import read, run
from ald.report.units import Points, units_of_notion
from ald.results.audit import Audit
from ald.results.finding import Finding
from ald.results.gaps import Gap
from ald.results.stability import EQUIVALENT

Outcome = Literal["fail", "pass", "not enough evidence"]
_DOMINATED = (
    "one person in a hundred holds more than half of what varies, so that no interval of a mean can be trusted: check "
    "the share above a number instead, such as favourable = '>= NUMBER'",
)


@dataclass(frozen=True, kw_only=True)
class Exceeding:
    """A group whose disparity is significantly beyond the limit, or, if `sure` is false, may be beyond it.

    own: whether it is one level of an attribute, on all data. accepted: by which entry of the policy; lapsed: whether
    that entry has expired.
    """

    criterion: Criterion
    notion: str
    outcome: str | None
    size: int
    share: float
    psi: float
    interval: tuple[float | None, float | None]
    own: bool
    sure: bool
    accepted: Accepted | None = None
    lapsed: bool = False

    @property
    def counts(self) -> bool:
        """Whether it counts against the check: nobody has accepted it, or only until a day that is over."""
        return self.accepted is None or self.lapsed


@dataclass(frozen=True, kw_only=True, eq=False)
class Verdict:
    """What a check says. groups: those beyond the limit first, then those that may be. power: None if not simulated."""

    check: Check
    verdict: Outcome
    reasons: tuple[str, ...]
    groups: tuple[Exceeding, ...]
    power: Power | None
    audit: Audit

    def to_dict(self) -> dict[str, Any]:
        """The verdict as plain data."""
        return {
            "check": self.check.name,
            "verdict": self.verdict,
            "limit": self.check.limit,
            "level": self.check.level,
            "share": self.check.share,
            "rows": self.audit.data_summary.rows,
            "input_sha256": self.audit.input_sha256,
            "reasons": list(self.reasons),
            "groups": [_plain(group) for group in self.groups],
            "power": None if self.power is None else {"found": self.power.found, "runs": self.power.runs},
            "warnings": list(self.audit.warnings),
        }


def _plain(group: Exceeding) -> dict[str, Any]:
    accepted = group.accepted
    return {
        "criterion": str(group.criterion),
        "conditions": group.criterion.to_list(),
        "notion": group.notion,
        "outcome": group.outcome,
        "size": group.size,
        "share": group.share,
        "psi": group.psi,
        "interval": list(group.interval),
        "own_gap": group.own,
        "exceeds": group.sure,
        "counts": group.counts,
        "accepted": None
        if accepted is None
        else {"group": accepted.group, "reason": accepted.reason, "until": accepted.until.isoformat()},
    }


def judge(check: Check, *, today: date, progress: Callable[[str, float], None] | None = None) -> Verdict:
    """The verdict of a check on its data. today: the day on which accepted groups still have to hold."""
    options = {**check.options, "data": check.data, "level": check.level / 2, "progress": progress}
    asked = _in_halves(read_request(_options(options)))
    limit, query, threads = asked.memory_limit, asked.source.query, asked.source.threads
    if asked.config.split == "own":
        raise InputError("a check has one data set: name a column as the split")
    table, _ = read(asked.parts[0], asked.roles, asked.config, limit, query, threads or 1)
    if not isinstance(table, Table):
        raise InputError("a check needs the data in memory: give fewer attributes, or a sample")
    table = with_cuts(table, asked.roles)
    told = _as_told(table, asked, check)
    limit_words = _limit_words(check.limit, told.config.mean)
    plain = _run(table, asked, progress)
    strict = _run(table, replace(asked, config=replace(asked.config, threshold=check.limit)), progress)
    masks = [(one, _mask(Criterion.parse(one.group, table), table)) for one in check.accept]
    beyond = [
        *_found(strict, check, table, masks, today, sure=True),
        *_own(plain, check, table, masks, today, sure=True),
    ]
    unsure = [
        *_found(plain, check, table, masks, today, sure=False),
        *_own(plain, check, table, masks, today, sure=False),
    ]
    known = {group.criterion for group in beyond}
    unsure = [group for group in unsure if group.criterion not in known]
    groups = (*_distinct(beyond), *_distinct(unsure))
    few = any(gap.test == "rank" for gap in plain.gaps.rows)
    if any(group.counts for group in beyond) and not few:
        return Verdict(check=check, verdict="fail", reasons=_why_fail(beyond), groups=groups, power=None, audit=plain)
    reasons = _DOMINATED if few else _why_unsure(unsure, limit_words)
    power = None
    if not reasons:
        power = simulate_power(
            table, told, check.limit, check.share, lambda share: progress("power", share) if progress else None
        )
        if not power.enough:
            reasons = (
                f"too little data: of disparities of {limit_words} in groups of {check.share:.0%} of "
                f"the people, planted into this data, {power.found} of {power.runs} were found; {POWER:.0%} are needed",
            )
    return Verdict(
        check=check,
        verdict="not enough evidence" if reasons else "pass",
        reasons=reasons or (_why_pass(check, limit_words, power),),
        groups=groups,
        power=power,
        audit=plain,
    )


def _as_told(table: Table, asked: Request, check: Check) -> Request:
    """The same, once it is known whether the outcome is a number, or has several classes."""
    roles, config = asked.roles, asked.config
    ordered = with_positions(table, roles)
    mean = amount_asked(ordered, roles) if config.mean is None else score_asked(ordered, roles, config.mean)
    config = replace(config.of_amounts(mean), classes=classes_asked(ordered, roles))
    if isinstance(units_of_notion(config.notions[0]), Points) and check.limit >= 1:
        raise SettingError(
            f"limit of the check {check.name!r} must be a number between 0 and 1, not {check.limit:g}: it is a "
            "difference of rates, and 0.05 accepts 5 points"
        )
    right = all(rate.asks_whether_right for notion in config.notions for rate in notion.rates)
    if config.classes and not config.outcomes and not right:
        raise SettingError(
            f"the power of a check is not simulated for {config.notions[0].name!r} of predictions of "
            f"{len(config.classes)} classes: say which class counts, such as favourable={config.classes[0]!r}, or "
            "check their accuracy (notion = 'accuracy')"
        )
    return replace(asked, config=config)


def _limit_words(limit: float, mean: Mean | None) -> str:
    """The limit with its unit."""
    if mean is None or mean.is_share:
        return _points(limit)
    return f"{limit:,.6g} {mean.unit}".strip()


def _in_halves(asked: Request) -> Request:
    """A limit is tested on people who did not suggest the group, and so is whatever is held against it."""
    split = "random" if asked.config.split == "auto" else asked.config.split
    return replace(asked, config=replace(asked.config, split=split))


def _options(options: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in options.items() if value is not None}


def _run(table: Table, asked: Request, progress: Callable[[str, float], None] | None) -> Audit:
    return run(table, asked.roles, asked.config, threads=asked.source.threads, progress=progress, file=asked.file)


def _mask(criterion: Criterion, table: Table) -> BoolArray:
    member = np.ones(table.n_rows, bool)
    for condition in criterion:
        member &= table[condition.attribute].matches(condition)
    return member


def _found(
    audit: Audit, check: Check, table: Table, masks: list[tuple[Accepted, BoolArray]], today: date, *, sure: bool
) -> list[Exceeding]:
    """The significant groups that matter, of an audit that tests the limit; of another those that may exceed it."""
    groups = [one for one in (*audit.groups, *audit.further()) if one.psi is not None and one.share >= check.share]
    return [
        _accept(_exceeding(one, own=False, sure=sure), table, masks, today)
        for one in groups
        if sure or _reaches(one.interval, check.limit)
    ]


def _own(
    audit: Audit, check: Check, table: Table, masks: list[tuple[Accepted, BoolArray]], today: date, *, sure: bool
) -> list[Exceeding]:
    """Levels of attributes whose own gap is beyond the limit, or may be."""
    out = []
    for gap in audit.gaps.rows:
        if gap.psi is None or min(gap.share, 1 - gap.share) < check.share:
            continue
        if _beyond(gap.interval, check.limit) == sure and (sure or _reaches(gap.interval, check.limit)):
            out.append(_accept(_exceeding(gap, own=True, sure=sure), table, masks, today))
    return out


def _exceeding(found: Finding | Gap, *, own: bool, sure: bool) -> Exceeding:
    assert found.psi is not None
    keys = ("criterion", "notion", "outcome", "size", "share", "psi", "interval")
    return Exceeding(**{key: getattr(found, key) for key in keys}, own=own, sure=sure)


def _beyond(interval: tuple[float | None, float | None], limit: float) -> bool:
    low, high = interval
    return (low is not None and low > limit) or (high is not None and high < -limit)


def _reaches(interval: tuple[float | None, float | None], limit: float) -> bool:
    low, high = interval
    return low is None or high is None or low < -limit or high > limit


def _accept(group: Exceeding, table: Table, masks: list[tuple[Accepted, BoolArray]], today: date) -> Exceeding:
    """The group with the entry that accepts it: one with (nearly) the same members. A valid entry wins."""
    own = _mask(group.criterion, table)
    for accepted, mask in sorted(masks, key=lambda one: not one[0].holds(today)):
        if _equivalent(own, mask, table):
            return replace(group, accepted=accepted, lapsed=not accepted.holds(today))
    return group


def _equivalent(a: BoolArray, b: BoolArray, table: Table) -> bool:
    counts = np.ones(len(a)) if table.counts is None else table.counts.astype(float)
    total, in_a, in_b, both = (float(counts[mask].sum()) for mask in (slice(None), a, b, a & b))
    return abs(correlation_of(total, in_a, in_b, both)) >= EQUIVALENT


def _distinct(groups: list[Exceeding]) -> tuple[Exceeding, ...]:
    """One entry per group and question: what the search found and an own gap may be the same."""
    return tuple({(g.criterion, g.notion, g.outcome): g for g in reversed(groups)}.values())[::-1]


def _points(value: float) -> str:
    return f"{100 * value:.3g} points"


def _why_fail(groups: list[Exceeding]) -> tuple[str, ...]:
    out = []
    for group in _distinct(groups):
        if group.counts:
            until = f" (accepted until {group.accepted.until}, which is over)" if group.accepted is not None else ""
            out.append(f"{group.criterion}: the disparity exceeds the limit{until}")
    return tuple(out)


def _why_unsure(groups: list[Exceeding], limit: str) -> tuple[str, ...]:
    names = [str(group.criterion) for group in _distinct(groups) if group.counts]
    if not names:
        return ()
    shown = "; ".join(names[:3]) + (f"; and {len(names) - 3} more" if len(names) > 3 else "")
    return (f"the data cannot tell whether these are within {limit}: {shown}",)


def _why_pass(check: Check, limit: str, power: Power | None) -> str:
    seen_ = (
        ""
        if power is None
        else f", and of disparities of that size planted into this data {power.found} of {power.runs} were found"
    )
    return f"every gap of at least {check.share:.0%} of the people lies within {limit}{seen_}"
