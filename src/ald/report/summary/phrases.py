"""What is said in every report, as a person would say it: who, what happened to them, and how often."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ald.groups.criterion import CLOSED, Condition, Criterion, Interval, Levels, format_bound, quote
from ald.groups.wording import readable, readable_condition, with_round_bounds
from ald.notions import Mean, Notion, Rate
from ald.options import AuditConfig
from ald.report.units import Amounts, Units, common_units, units_of, units_of_notion
from ald.report.words import Bounds, confidence, list_words, p_value

if TYPE_CHECKING:
    from ald.results.audit import Audit
    from ald.results.finding import Finding
    from ald.results.gaps import Gap
    from ald.results.reported import Asked

# Up to so many levels are named one after the other; of more the criterion says itself.
_NAMED = 4

# A plain English word that may count things, such as checks, and the endings of words that only look like it.
_PLURAL = re.compile(r"[A-Za-z]{3,}s")
_SINGULAR = ("ss", "us", "is", "as", "ws")

# A value that is a comparison with a number, where a number was cut in two.
_COMPARISON = re.compile(r"(>=|<=|>|<) ?[-+]?[\d.]+(e[-+]?\d+)?")

# A participle, such as admitted, and the values that say that it happened, or that it did not.
_PARTICIPLE = re.compile(r"[A-Za-z]{3,}ed")
# Those of what people do: they survived, and were not survived.
_DONE = frozenset((
    "appealed", "applied", "completed", "defaulted", "failed", "graduated", "passed", "recovered", "relapsed",
    "reoffended", "resigned", "responded", "succeeded", "survived",
))  # fmt: skip
_YES, _NO = frozenset({"yes", "y", "true", "1"}), frozenset({"no", "n", "false", "0"})


def group_words(criterion: Criterion) -> str:
    """A group in running text, after "with".

    >>> group_words(Criterion([Interval("checks", "numeric", 2.0), Levels("sex", "nominal", ("F", "X"))]))
    'more than 2 checks and sex = F or X'
    """
    return list_words([_condition(condition) for condition in criterion])


def _condition(condition: Condition) -> str:
    name = quote(condition.attribute)
    if isinstance(condition, Levels):
        if condition.levels == (None,) and not condition.negated:
            return f"no value of {name}"
        if condition.negated or None in condition.levels or not 1 < len(condition.levels) <= _NAMED:
            return readable_condition(condition)
        words = [quote(str(level)) for level in condition.levels]
        return f"{name} = {', '.join(words[:-1])} or {words[-1]}"
    return _range(name, with_round_bounds(condition))


def _range(name: str, condition: Interval) -> str:
    ends = [None if end is None else format_bound(end, condition.kind) for end in (condition.lower, condition.upper)]
    lower, upper = ends
    has_lower, has_upper = CLOSED[condition.closed]
    if condition.is_point or ends == [None, None]:
        return str(condition)
    if condition.kind != "numeric":
        low = f"from {lower} on" if has_lower else f"after {lower}"
        high = f"up to {upper}" if has_upper else f"before {upper}"
    else:
        low = f"at least {lower}" if has_lower else f"more than {lower}"
        high = f"at most {upper}" if has_upper else f"less than {upper}"
    said = " and ".join([*([] if lower is None else [low]), *([] if upper is None else [high])])
    counts = condition.kind == "numeric" and _PLURAL.fullmatch(name) and not name.casefold().endswith(_SINGULAR)
    if counts:
        return f"more than one {_singular(name)}" if said == "more than 1" else f"{said} {name}"
    return f"{name} {said.replace('more than', 'above').replace('less than', 'below')}"


def _singular(plural: str) -> str:
    """One of the things that a plain English word counts.

    >>> [_singular(word) for word in ("checks", "boxes", "liabilities")]
    ['check', 'box', 'liability']
    """
    if plural.endswith("ies"):
        return f"{plural[:-3]}y"
    return plural[:-2] if plural.endswith(("xes", "ches", "shes", "sses", "zzes")) else plural[:-1]


def compared_with(config: AuditConfig, finding: Finding | None = None) -> str:
    """Whom a group is compared with: everyone else, everyone, or those of the reference group; comparable people,
    who are alike in legitimate factors and in the groups before this one, if there are any.
    """
    alike = [f"same {list_words([quote(name) for name in config.given])}"] if config.given else []
    before = () if finding is None else finding.given_groups
    alike += [f"alike in {readable(before[0])}" if len(before) == 1 else "alike in earlier groups"] if before else []
    plain = {"rest": ("everyone else", "comparable people"), "all": ("everyone", "all comparable people")}
    who = plain.get(config.reference, (f"those outside the group with {config.reference}",) * 2)[bool(alike)]
    return f"{who} ({', '.join(alike)})" if alike else who


@dataclass(frozen=True, kw_only=True)
class Happening:
    """What a rate counts: of whom (empty: of all), and what happened to them."""

    of: str
    what: str


def happening(rate: Rate, outcome: str | None, audit: Audit) -> Happening | None:
    """What a rate counts, in the values of the columns that are audited; None where only its name says it."""
    if isinstance(rate, Mean):
        return None
    hits, base = rate.hit_cells, rate.base_cells
    if audit.config.outcomes and audit.config.classes:
        column, name = quote(audit.config.outcomes[0]), quote(outcome or "")
        return Happening(of="", what=f"had {column} = {name}") if hits >= {1} and len(base) == 4 else None
    if audit.config.outcomes:
        name = outcome or audit.config.outcomes[0]
        kinds = {frozenset({1, 3}): True, frozenset({0, 2}): False}
        if len(base) < 4 or hits not in kinds:
            return None
        return Happening(of="", what=_had(name, audit, positive=kinds[hits]))
    prediction, truth = audit.config.outcome_columns
    given, was = (_both_values(column, outcome, audit) for column in (prediction, truth))
    # Position of a cell = 2 * truth + prediction.
    known = {
        (frozenset({0, 1}), frozenset({1})): (f"of those with {was[False]}", f"were wrongly given {given[True]}"),
        (frozenset({0, 1}), frozenset({0})): (f"of those with {was[False]}", f"were rightly given {given[False]}"),
        (frozenset({2, 3}), frozenset({2})): (f"of those with {was[True]}", f"were wrongly given {given[False]}"),
        (frozenset({2, 3}), frozenset({3})): (f"of those with {was[True]}", f"were rightly given {given[True]}"),
        (frozenset({1, 3}), frozenset({3})): (f"of those given {given[True]}", f"had {was[True]}"),
        (frozenset({1, 3}), frozenset({1})): (f"of those given {given[True]}", f"had {was[False]}"),
        (frozenset({0, 2}), frozenset({2})): (f"of those given {given[False]}", f"had {was[True]}"),
        (frozenset({0, 2}), frozenset({0})): (f"of those given {given[False]}", f"had {was[False]}"),
        (frozenset(range(4)), frozenset({1, 3})): ("", f"were given {given[True]}"),
        (frozenset(range(4)), frozenset({0, 3})): ("", "were judged rightly"),
        (frozenset(range(4)), frozenset({1, 2})): ("", "were judged wrongly"),
    }
    found = known.get((base, hits))
    return None if found is None else Happening(of=found[0], what=found[1])


def _both_values(column: str, outcome: str | None, audit: Audit) -> dict[bool, str]:
    """The negative and the positive value of a column; of several classes this one, and any other."""
    if audit.config.classes:
        return {False: f"another {quote(column)}", True: f"{quote(column)} = {quote(outcome or '')}"}
    return {side: value_of(column, audit, positive=side) for side in (False, True)}


def value_of(column: str, audit: Asked, *, positive: bool = True) -> str:
    """The positive or negative value of an outcome, prediction or truth, such as: admitted = yes."""
    found = audit.data_summary.outcome(column)
    value = found.positive if positive else found.negative
    return f"{quote(column)} {value}" if _COMPARISON.fullmatch(value) else f"{quote(column)} = {quote(value)}"


def _had(column: str, audit: Audit, *, positive: bool) -> str:
    """What an outcome says of people: that they were admitted, or had some other value of it."""
    found = audit.data_summary.outcome(column)
    value = (found.positive if positive else found.negative).casefold()
    if column.casefold() in _DONE and value in _YES:
        return column
    is_passive = _PARTICIPLE.fullmatch(column) and not column.casefold().endswith("eed")
    if is_passive and column.casefold() not in _DONE and value in _YES | _NO:
        return f"were {'' if value in _YES else 'not '}{column}"
    return f"had {value_of(column, audit, positive=positive)}"


def statement(finding: Finding | Gap, audit: Audit, level: float, who: str) -> str:
    """The disparity as a sentence without a full stop: how often it happened to whom, and to whom else.

    level: the confidence of the intervals. who: whom the group is compared with.
    """
    rates = audit.notion_of(finding).rates
    group = f"people with {group_words(finding.criterion)}"
    if all(finding.parts[rate.key] is None for rate in rates):
        return f"the disparity of {group} is undefined"
    said: list[str] = []
    for rate in rates:
        others = who.partition(" (")[0] if said else who
        said.append(_said(rate, finding, audit, level, "they" if said else group, others))
    return "; ".join(said)


def _said(rate: Rate, finding: Finding | Gap, audit: Audit, level: float, group: str, who: str) -> str:
    units = units_of(rate)
    inside, outside = (
        units.level_words(finding.rates_inside[rate.key]),
        units.level_words(finding.rates_outside[rate.key]),
    )
    told, difference = happening(rate, finding.outcome, audit), finding.parts[rate.key]
    how = "" if difference is None else f" ({_by_how_much(units, difference, finding.part_intervals[rate.key], level)})"
    if rate.key == "calibration" and difference is not None:
        return f"{_how_right(rate, finding, audit, group, who)}{how}"
    if told is None:
        return f"{group} had a {rate.name} of {inside}, {who} of {outside}{how}"
    of = f"{told.of}, " if told.of else ""
    return f"{of}{group} {told.what} in {inside} of cases, {who} in {outside}{how}"


def _how_right(rate: Rate, finding: Finding | Gap, audit: Audit, group: str, who: str) -> str:
    """How far scores are from the truth on average: optimistic, if what they are the chance of is good for people."""
    said = audit.config.favourable is not None
    words = ("too optimistic", "too pessimistic", "about") if said else ("too high", "too low", "for")

    def off(value: float | None) -> str:
        if value is None:
            return "undefined"
        return f"{units_of(rate).short(value)} points {words[0] if value < 0 else words[1]}"

    inside, outside = (off(side[rate.key]) for side in (finding.rates_inside, finding.rates_outside))
    return f"scores are {inside} {words[2]} {group}, {outside} {words[2]} {who}"


def _by_how_much(units: Units, difference: float, bounds: Bounds, level: float) -> str:
    if isinstance(units, Amounts):
        return units.difference(difference, bounds, confidence(level))
    ends = "" if None in bounds else f", {confidence(level)} interval {units.interval(bounds)}"
    return f"{units.gap_words(difference)}{ends}"


def sentence(text: str) -> str:
    """The text with a capital first letter and a full stop."""
    return f"{text[:1].upper()}{text[1:]}."


def p_words(log10_p: float | None) -> str:
    """A p-value in running text.

    >>> p_words(-66.0), p_words(-1.5)
    ('p < 0.001', 'p = 0.032')
    """
    value = p_value(log10_p)
    return f"p < {value[1:]}" if value.startswith("<") else f"p = {value}" if log10_p is not None else "p is undefined"


def size_words(psi: float | None, notion: Notion) -> str:
    """psi in points, or in the unit of an amount; that of several rates has no direction."""
    if psi is None:
        return "undefined"
    return units_of_notion(notion).gap_words(psi, several=len(notion.rates) > 1)


def units_in(audit: Audit) -> Units:
    """What the gaps of an audit are in."""
    return common_units(audit.config.notions)
