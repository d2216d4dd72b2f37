"""What was found, in sentences: direction, size and certainty of a disparity for people who read no statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ald.criterion import quote
from ald.findings import Finding
from ald.notions import ACCURACY, ERROR, FNR, FPR, PRECISION, SELECTION, TPR, Rate
from ald.report.words import (
    confidence,
    evidence,
    interval,
    joined,
    p_words,
    percent,
    points,
    points_interval,
    readable,
    times,
)

if TYPE_CHECKING:
    from ald.auditing import Audit

# What happens to those who count as hits of a rate; of any other rate its name is given.
_VERBS = {
    SELECTION: "are selected",
    FPR: "are wrongly predicted to be positive",
    FNR: "are wrongly predicted to be negative",
    TPR: "are rightly predicted to be positive",
    PRECISION: "turn out to be positive, where predicted so,",
    ACCURACY: "are predicted rightly",
    ERROR: "are predicted wrongly",
}


def statement(finding: Finding, audit: Audit, who: str = "people") -> str:
    """The disparity without a full stop, such as: people with x = 1 are selected 5 percentage points more often ..."""
    rates = audit.notion_of(finding).rates
    group = f"{who} with {readable(finding.criterion)}"
    if len(rates) == 1 and finding.psi is not None:
        return f"{group} {_one_rate(rates[0], finding, audit)}"
    defined = [rate for rate in rates if finding.parts[rate.key] is not None]
    if not defined:
        return f"the disparity of {group} is undefined"
    first, *others = defined
    parts = [
        f"the {first.name} is {points(finding.parts[first.key] or 0.0)} {_way(finding.parts[first.key])} than for "
        f"everyone else ({_compared(first, finding)})"
    ]
    parts += [
        f"the {rate.name} {points(finding.parts[rate.key] or 0.0)} {_way(finding.parts[rate.key])} "
        f"({_compared(rate, finding)})"
        for rate in others
    ]
    return f"for {group}, {joined(parts)}"


def _compared(rate: Rate, finding: Finding) -> str:
    return f"{percent(finding.rates_inside[rate.key])} against {percent(finding.rates_outside[rate.key])}"


def _one_rate(rate: Rate, finding: Finding, audit: Audit) -> str:
    verb, difference = _verb(rate, audit), finding.psi or 0.0
    if verb is None:
        return f"have a {rate.name} {points(difference)} {_way(difference)} than everyone else{_bounds(finding, rate)}"
    often = "more often" if difference > 0 else "less often" if difference < 0 else "more or less often"
    return f"{verb} {points(difference)} {often} than everyone else{_bounds(finding, rate)}"


def _verb(rate: Rate, audit: Audit) -> str | None:
    """The verb of a rate; of an outcome's selection rate the favourable value, as the data has it."""
    config = audit.config
    if rate == SELECTION and config.outcome is not None:
        value = "" if config.favourable is None else f" = {quote(config.favourable)}"
        return f"get the favourable outcome ({quote(config.outcome)}{value})"
    return _VERBS.get(rate)


def _way(difference: float | None) -> str:
    return "higher" if (difference or 0.0) > 0 else "lower"


def _bounds(finding: Finding, rate: Rate) -> str:
    low, high = finding.part_intervals[rate.key]
    if low is None or high is None:
        return ""
    upward = (finding.parts[rate.key] or 0.0) >= 0
    return f" ({confidence(finding.interval_level)} interval {points_interval((low, high), upward)})"


def certainty(finding: Finding, audit: Audit) -> str:
    """How sure one can be, in a sentence."""
    beyond = f" larger than {audit.config.threshold:g}" if audit.config.threshold > 0 else ""
    text = (
        f"The evidence for a disparity{beyond} is {evidence(finding.log10_p_adjusted)}: the corrected p-value is "
        f"{p_words(finding.log10_p_adjusted)}"
    )
    if "given" in finding.test:
        text += ", for what this group adds to those found before it"
    if finding.stability is not None:
        repeats = audit.config.repeats
        text += f"; {round(finding.stability * repeats)} of {repeats} random halvings list an equivalent group"
    return text + "."


def magnitude(finding: Finding, audit: Audit) -> str:
    """The size in a sentence: how many people, and how many times as often; for several rates their mean."""
    people = f"The group holds {finding.size:,} of the {audit.data_summary.rows_assess:,} people ({finding.share:.1%})."
    rates = audit.notion_of(finding).rates
    if len(rates) > 1:
        if finding.psi is None:
            return f"{people} psi is undefined: {finding.undefined}."
        bounds = f" ({confidence(finding.interval_level)} interval {interval(finding.interval)})"
        return f"{people} The mean of the absolute differences, psi, is {finding.psi:.3f}{bounds}."
    often = times(finding.ratios[rates[0].key])
    compared = f"Their {rates[0].name} is {_compared(rates[0], finding)} among everyone else"
    return f"{people} {compared}{f', {often} theirs' if often else ''}."


def headline(audit: Audit) -> str:
    """The main result in one sentence, for someone who reads no further."""
    people = f"{audit.data_summary.rows_assess:,} people"
    if audit.groups:
        return f"Among {people}, {statement(audit.groups[0], audit, 'those')}."
    threshold = audit.config.threshold
    what = f"disparity significantly larger than {threshold:g}" if threshold > 0 else "significant disparity"
    return f"Among {people}, no group was found with a {what}."


def lead(audit: Audit) -> list[str]:
    """The sentences after the headline: certainty and size, or what an empty list means."""
    if audit.groups:
        first = audit.groups[0]
        return [magnitude(first, audit), certainty(first, audit)]
    n = audit.n_candidates
    tested = f"{n:,} group{'' if n == 1 else 's'} proposed by the search {'was' if n == 1 else 'were'} tested"
    return [
        f"{tested}; none reached the level of {audit.config.level:g} after correction. This does not prove that there "
        "is no disparity.",
        *could_have_seen(audit),
    ]


def could_have_seen(audit: Audit) -> list[str]:
    """What the audit could have seen, in a sentence."""
    seen = [entry for entry in audit.detectable if entry.psi is not None]
    if not seen:
        return ["With so few people, even the largest possible disparity would usually have been missed."]
    chosen = {seen[0].share: seen[0], seen[-1].share: seen[-1]}.values()
    parts = [f"{points(entry.psi or 0.0)} in a group of {entry.share:.0%} of the people" for entry in chosen]
    return [
        f"The audit could have seen, in four of five cases, a disparity of {joined(parts)}, had the search proposed "
        "exactly this group."
    ]
