"""What was found, in sentences: direction, size and certainty of a disparity for people who read no statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ald.groups.criterion import quote
from ald.groups.wording import readable
from ald.notions import ACCURACY, ERROR, FNR, FPR, PRECISION, SELECTION, TPR, Rate
from ald.options import AuditConfig
from ald.report.summary import everyone
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
    signed,
    times,
)
from ald.results.finding import Finding, Finer, StratumResult

if TYPE_CHECKING:
    from ald.results.audit import Audit

LIMITATION = (
    "These are associations found in logged data: hypotheses for people who know the case, neither causes nor a "
    "verdict on whether a model is biased."
)

# Significant groups beyond those listed that are shown in a table.
FURTHER = 20

# What happens to those who count as hits of a rate; of any other rate its name is given.
_VERBS = {
    SELECTION: "are selected ({positive})",
    FPR: "are wrongly predicted to be positive ({positive})",
    FNR: "are wrongly predicted to be negative ({negative})",
    TPR: "are rightly predicted to be positive ({positive})",
    PRECISION: "turn out to be positive ({truth}), where predicted so,",
    ACCURACY: "are predicted rightly",
    ERROR: "are predicted wrongly",
}


# Strata told per group, those of the largest weight; the document has more.
_STRATA = 12


def compared_with(config: AuditConfig, finding: Finding | None = None) -> str:
    """Whom a group is compared with: everyone else, everyone, or those of the reference group; those who are alike in
    legitimate factors and in the groups before this one, if there are any.
    """
    alike = [f"same {joined([quote(name) for name in config.given])}"] if config.given else []
    alike += ["alike in earlier groups"] if finding is not None and finding.given_groups else []
    plain = {"rest": ("everyone else", "comparable people"), "all": ("everyone", "all comparable people")}
    who = plain.get(config.reference, (f"those outside the group with {config.reference}",) * 2)[bool(alike)]
    return f"{who} ({', '.join(alike)})" if alike else who


def statement(finding: Finding, audit: Audit, who: str = "people") -> str:
    """The disparity without a full stop, such as: people with x = 1 are selected 5 percentage points more often ..."""
    if everyone.is_combination(finding):
        return everyone.combination_statement(finding)
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
        f"{compared_with(audit.config, finding)} ({_compared(first, finding)})"
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
    than = f"than {compared_with(audit.config, finding)}{_bounds(finding, rate)}"
    if verb is None:
        return f"have a {rate.name} {points(difference)} {_way(difference)} {than}"
    often = "more often" if difference > 0 else "less often" if difference < 0 else "more or less often"
    return f"{verb} {points(difference)} {often} {than}"


def _verb(rate: Rate, finding: Finding, audit: Audit) -> str | None:
    """The verb of a rate, with the value that counts. Only what somebody said to be favourable is called so."""
    if rate == SELECTION and audit.config.outcomes:
        outcome = finding.outcome or audit.config.outcomes[0]
        have = "have the" if audit.config.favourable_of(outcome) is None else "get the favourable"
        return f"{have} outcome ({value_of(outcome, audit)})"
    if rate not in _VERBS:
        return None
    prediction, truth = audit.config.outcome_columns
    return _VERBS[rate].format(
        positive=value_of(prediction, audit),
        negative=value_of(prediction, audit, positive=False),
        truth=value_of(truth, audit),
    )


def value_of(column: str, audit: Audit, *, positive: bool = True) -> str:
    """The positive or negative value of an outcome, prediction or truth, such as: admitted = yes."""
    found = audit.data_summary.outcome(column)
    return f"{quote(column)} = {quote(found.positive if positive else found.negative)}"


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
    if finding.shuffled is not None:
        return everyone.certainty(finding)
    beyond = f" larger than {audit.config.threshold:g}" if audit.config.threshold > 0 else ""
    text = (
        f"The evidence for a disparity{beyond} is {evidence(finding.log10_p_adjusted)}: the corrected p-value is "
        f"{p_words(finding.log10_p_adjusted)}"
    )
    if finding.stability is not None:
        repeats = audit.config.repeats
        text += f"; {round(finding.stability * repeats)} of {repeats} random halvings list an equivalent group"
    return text + "."


def finer_cuts(finding: Finding) -> list[str]:
    """What is left of the finding where a legitimate factor is cut twice as fine, a sentence for each."""
    return [_finer(cut) for cut in finding.finer]


def _finer(cut: Finer) -> str:
    factor = quote(cut.factor)
    then = f"psi is {signed(cut.psi)} and the corrected p-value {p_words(cut.log10_p_adjusted)}"
    if cut.holds:
        return f"If {factor} is cut twice as fine, {then}: the finding holds."
    ends = "turns round" if cut.turned else "ends"
    return (
        f"If {factor} is cut twice as fine, {then}: the finding {ends}, and the effect of {factor} within its classes "
        "may be all that shows."
    )


def magnitude(finding: Finding, audit: Audit) -> str:
    """The size in a sentence: how many people, and how many times as often; for several rates their mean."""
    people = f"The group holds {_size(finding, audit)} ({finding.share:.1%}{_of_whom(audit)})."
    rates = audit.notion_of(finding).rates
    if len(rates) > 1:
        if finding.psi is None:
            return f"{people} psi is undefined: {finding.undefined}."
        bounds = f" ({confidence(finding.interval_level)} interval {interval(finding.interval)})"
        text = f"{people} The mean of the absolute differences, psi, is {finding.psi:.3f}{bounds}"
        if finding.psi_by_chance is not None:
            text += f"; chance alone gives such a group a psi of about {finding.psi_by_chance:.3f}"
        return f"{text}.{_sides(finding, audit)}{crude(finding)}{everyone.new_people(finding)}"
    often = times(finding.ratios[rates[0].key])
    compared = f"Their {rates[0].name} is {_compared(rates[0], finding)} among {compared_with(audit.config, finding)}"
    return f"{people} {compared}{f', {often} theirs' if often else ''}.{crude(finding)}{everyone.new_people(finding)}"


def _sides(finding: Finding, audit: Audit) -> str:
    """Which of several rates are worse for a group and which better, after a space, where a direction was asked for."""
    if audit.config.direction == "both":
        return ""
    sides: dict[str, list[str]] = {"to their disadvantage": [], "to their advantage": []}
    for rate in audit.notion_of(finding).rates:
        difference = finding.parts[rate.key] or 0.0
        if difference:
            side = "advantage" if (difference > 0) == (rate.better == "higher") else "disadvantage"
            sides[f"to their {side}"].append(f"the {rate.name}")
    told = joined(
        [f"{joined(names)} {'is' if len(names) == 1 else 'are'} {side}" for side, names in sides.items() if names]
    )
    return f" {told[:1].upper()}{told[1:]}." if told else ""


def crude(finding: Finding) -> str:
    """The difference from everyone else, comparable or not, after a space; empty where all are comparable."""
    if finding.psi_crude is None or finding.psi is None:
        return ""
    text = f" Unadjusted psi: {finding.psi_crude:+.3f}; adjusted: {finding.psi:+.3f}."
    if len(finding.parts) == 1 and finding.psi_crude * finding.psi < 0:
        text += " The two have different signs: among comparable people the difference is the other way round."
    return text


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
    if not audit.config.searches:
        return _named_headline(audit, people)
    if audit.groups:
        return f"Among {people}, {statement(audit.groups[0], audit, 'those')}."
    if not audit.n_tested:
        return f"Among {people}, no group could be tested."
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
    tested = [one for one in audit.named_groups if one.p_adjusted is not None]
    found = [one for one in tested if (one.p_adjusted or 0.0) <= audit.config.level]
    n = len(audit.config.named_groups)
    if not tested:
        return f"Among {people}, {'the named group cannot' if n == 1 else 'none of the named groups can'} be compared."
    if not found:
        which = "the named group is not" if n == 1 else f"none of {n:,} named groups is"
        if audit.config.direction != "both":
            return f"Among {people}, {which} significantly {audit.config.direction}; tests are one-sided."
        none = "the named group has no" if n == 1 else f"none of {n:,} named groups has a"
        return f"Among {people}, {none} significant disparity."
    first = min(found, key=lambda one: one.log10_p or 0.0)
    return f"Among {people}, {statement(first, audit, 'those')}."


def lead(audit: Audit) -> list[str]:
    """The sentences after the headline: certainty and size, or what an empty list means."""
    if not audit.config.searches:
        n = len(audit.config.named_groups)
        return [f"{count(n, 'named group')}, tested on all data; nothing was searched for."]
    if audit.groups:
        first = audit.groups[0]
        return [magnitude(first, audit), certainty(first, audit), *finer_cuts(first)]
    n = audit.n_tested
    if not n:
        return ["The warnings say why. This says nothing about whether there is a disparity."]
    if audit.mode.is_everyone:
        return [*everyone.nothing_listed(audit), *could_have_seen(audit)]
    tested = f"{n:,} group{'' if n == 1 else 's'} proposed by the search {'was' if n == 1 else 'were'} tested"
    return [
        f"{tested}; none reached the level of {audit.config.level:g} after correction. This does not prove that there "
        "is no disparity.",
        *could_have_seen(audit),
    ]


def further(audit: Audit) -> str:
    """How many significant groups are not listed, and how to see them; empty if all are listed."""
    if not audit.n_further:
        return everyone.goes_on(audit) if audit.mode.is_everyone else ""
    total = len(audit.significant)
    longer = f"up to {total:,}, and the search looks for more" if audit.config.explores else "all of them"
    return (
        f"{count(audit.n_further, 'further group')} {'is' if audit.n_further == 1 else 'are'} significant, but the "
        f"list ends after {audit.config.groups:,}: with groups={total} (--groups {total}) it holds {longer}."
    )


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


def question(notion: str, outcome: str | None, audit: Audit) -> str:
    """Which of several questions is meant; empty if there is one."""
    config = audit.config
    named = [outcome] if len(config.outcomes) > 1 and outcome is not None else []
    named += [notion] if len(config.notions) > 1 else []
    return f" for {', '.join(named)}" if named else ""


def unit_of(audit: Audit) -> str:
    """What sizes count."""
    return "people" if audit.data_summary.clusters is None else "rows"
