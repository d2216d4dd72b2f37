"""What was found, in sentences: direction, size and certainty of a disparity for people who read no statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ald.config import AuditConfig
from ald.criterion import quote
from ald.findings import Finding, StratumResult
from ald.notions import ACCURACY, ERROR, FNR, FPR, PRECISION, SELECTION, TPR, Rate
from ald.report.words import (
    confidence,
    count,
    evidence,
    interval,
    joined,
    p_words,
    percent,
    points,
    points_interval,
    readable,
    signed,
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


# Strata told per group, those of the largest weight; the document has more.
_STRATA = 12


def compared_with(config: AuditConfig) -> str:
    """Whom a group is compared with: everyone else, everyone, or those of the reference group, of the same stratum."""
    who = {"rest": "everyone else", "all": "everyone"}.get(
        config.reference, f"those outside the group with {config.reference}"
    )
    return f"{who} of the same stratum of {joined([quote(name) for name in config.given])}" if config.given else who


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
        f"{compared_with(audit.config)} ({_compared(first, finding)})"
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
    verb, difference = _verb(rate, finding, audit), finding.psi or 0.0
    than = f"than {compared_with(audit.config)}{_bounds(finding, rate)}"
    if verb is None:
        return f"have a {rate.name} {points(difference)} {_way(difference)} {than}"
    often = "more often" if difference > 0 else "less often" if difference < 0 else "more or less often"
    return f"{verb} {points(difference)} {often} {than}"


def _verb(rate: Rate, finding: Finding, audit: Audit) -> str | None:
    """The verb of a rate; of an outcome's selection rate the favourable value, as the data has it."""
    config = audit.config
    if rate == SELECTION and config.outcomes:
        several = len(config.outcomes) > 1
        value = "" if config.favourable is None or several else f" = {quote(config.favourable)}"
        return f"get the favourable outcome ({quote(finding.outcome or config.outcomes[0])}{value})"
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
    if "given earlier" in finding.test:
        text += ", for what this group adds to those found before it"
    if finding.stability is not None:
        repeats = audit.config.repeats
        text += f"; {round(finding.stability * repeats)} of {repeats} random halvings list an equivalent group"
    return text + "."


def magnitude(finding: Finding, audit: Audit) -> str:
    """The size in a sentence: how many people, and how many times as often; for several rates their mean."""
    people = f"The group holds {_size(finding, audit)} ({finding.share:.1%}{_of_whom(audit)})."
    rates = audit.notion_of(finding).rates
    if len(rates) > 1:
        if finding.psi is None:
            return f"{people} psi is undefined: {finding.undefined}."
        bounds = f" ({confidence(finding.interval_level)} interval {interval(finding.interval)})"
        return f"{people} The mean of the absolute differences, psi, is {finding.psi:.3f}{bounds}."
    often = times(finding.ratios[rates[0].key])
    compared = f"Their {rates[0].name} is {_compared(rates[0], finding)} among {compared_with(audit.config)}"
    return f"{people} {compared}{f', {often} theirs' if often else ''}.{crude(finding, audit.config)}"


def crude(finding: Finding, config: AuditConfig) -> str:
    """What psi would be without legitimate factors, after a space; empty if there are none."""
    if finding.psi_crude is None or finding.psi is None:
        return ""
    given = joined([quote(name) for name in config.given])
    return f" Without regard to {given}, psi would be {finding.psi_crude:+.3f} instead of {finding.psi:+.3f}."


def _size(finding: Finding, audit: Audit) -> str:
    """How many rows, and of how many people where these have several."""
    total = audit.data_summary.rows_assess
    if finding.people is None:
        return f"{finding.size:,} of the {total:,} people"
    return f"{finding.size:,} of the {total:,} rows, of {count(finding.people, 'person', 'people')}"


def _of_whom(audit: Audit) -> str:
    return " of the population, by their weights" if audit.config.survey_weights else ""


def strata_lines(finding: Finding) -> list[str]:
    """A group in each stratum where it can be compared: one sees where it differs, and in which direction."""
    compared = [stratum for stratum in finding.strata if stratum.weight > 0]
    shown = sorted(compared, key=lambda stratum: -stratum.weight)[:_STRATA]
    unit = "people" if finding.people is None else "rows"
    lines = [_stratum_line(stratum, unit) for stratum in compared if stratum in shown]
    left = len(compared) - len(shown)
    return [*lines, f"{left:,} more strata: the JSON document has them."] if left else lines


def _stratum_line(stratum: StratumResult, unit: str) -> str:
    rates = ", ".join(
        f"{key} {percent(stratum.rates_inside[key])} against {percent(stratum.rates_outside[key])} "
        f"({signed(stratum.parts[key])})"
        for key in stratum.parts
    )
    people = f"{stratum.size:,} and {stratum.size_outside:,} {unit}"
    return f"{readable(stratum.criterion)}: {rates}; {people}, weight {stratum.weight:.0%}."


def headline(audit: Audit) -> str:
    """The main result in one sentence, for someone who reads no further."""
    people = among(audit)
    if not audit.config.search:
        return _named_headline(audit, people)
    if audit.groups:
        return f"Among {people}, {statement(audit.groups[0], audit, 'those')}."
    threshold = audit.config.threshold
    what = f"disparity significantly larger than {threshold:g}" if threshold > 0 else "significant disparity"
    return f"Among {people}, no group was found with a {what}."


def among(audit: Audit) -> str:
    """Who was tested, in words."""
    data = audit.data_summary
    if data.clusters is None:
        return f"{data.rows_assess:,} people"
    tested = data.clusters if data.clusters_assess is None else data.clusters_assess
    return f"{tested:,} people with {data.rows_assess:,} rows"


def _named_headline(audit: Audit, people: str) -> str:
    """What was found of the groups that the user named: the one with the clearest evidence."""
    tested = [one for one in audit.named if one.p_adjusted is not None]
    found = [one for one in tested if (one.p_adjusted or 0.0) <= audit.config.level]
    n = len(audit.config.groups_of_interest)
    if not tested:
        return f"Among {people}, {'the group named cannot' if n == 1 else 'none of the groups named can'} be compared."
    if not found:
        which = "the group named is not" if n == 1 else f"none of {n:,} groups named is"
        if audit.config.direction != "both":
            return f"Among {people}, {which} significantly {audit.config.direction}; tests are one-sided."
        none = "the group named has no" if n == 1 else f"none of {n:,} groups named has a"
        return f"Among {people}, {none} significant disparity."
    first = min(found, key=lambda one: one.log10_p or 0.0)
    return f"Among {people}, {statement(first, audit, 'those')}."


def lead(audit: Audit) -> list[str]:
    """The sentences after the headline: certainty and size, or what an empty list means."""
    if not audit.config.search:
        n = len(audit.config.groups_of_interest)
        return [f"{count(n, 'group')} named by the user, tested on all data; nothing was searched for."]
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
    # Of several questions the first: the table has all of them.
    first = audit.detectable[:1]
    asked = {(entry.notion, entry.outcome) for entry in first}
    seen = [entry for entry in audit.detectable if entry.psi is not None and (entry.notion, entry.outcome) in asked]
    if not seen:
        return ["With so few people, even the largest possible disparity would usually have been missed."]
    chosen = {seen[0].share: seen[0], seen[-1].share: seen[-1]}.values()
    parts = [f"{points(entry.psi or 0.0)} in a group of {entry.share:.0%} of the people" for entry in chosen]
    return [
        f"The audit could have seen, in four of five cases, a disparity of {joined(parts)}, had the search proposed "
        "exactly this group."
    ]
