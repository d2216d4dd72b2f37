"""What was found, in sentences: direction, size and certainty of a disparity for people who read no statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ald.groups.criterion import quote
from ald.groups.wording import readable
from ald.notions import Notion
from ald.report.summary import everyone
from ald.report.summary.phrases import compared_with, p_words, sentence, size_words, statement, units_in
from ald.report.units import Points, units_of, units_of_notion
from ald.report.words import confidence, count, evidence, list_words, percent
from ald.results.finding import Finding, Finer, StratumResult

if TYPE_CHECKING:
    from ald.options import AuditConfig
    from ald.results.audit import Audit
    from ald.results.gaps import Gap

LIMITATION = (
    "These are associations found in logged data: hypotheses for people who know the case, neither causes nor a "
    "verdict on whether a model is biased."
)

# Significant groups beyond those listed that are shown in a table.
FURTHER = 20

# Strata told per group, those of the largest weight; the document has more.
_STRATA = 12


def verdict(audit: Audit) -> str:
    """The main result as a person would say it, for someone who reads no further."""
    if not audit.config.searches:
        return _named_verdict(audit)
    if audit.groups:
        return state(audit.groups[0], audit)
    beside = _significant_beside(audit)
    if not audit.n_tested:
        return f"Among {among(audit)}, no group could be tested.{f' {beside}' if beside else ''}"
    threshold = audit.config.threshold
    what = (
        f"disparity significantly larger than {units_in(audit).size(threshold)}"
        if threshold > 0
        else "significant disparity"
    )
    if beside:
        return f"The search found no {what}. {beside}"
    return f"No {what} found. {could_have_seen(audit)}"


def _named_verdict(audit: Audit) -> str:
    """What was found of the groups that the user named: the one with the clearest evidence."""
    tested = [one for one in audit.named_groups if one.p_adjusted is not None]
    n = len(audit.config.named_groups)
    if not tested:
        return f"{'The named group cannot' if n == 1 else 'None of the named groups can'} be compared."
    first = min(tested, key=lambda one: one.log10_p or 0.0)
    if _is_significant(first, audit):
        return state(first, audit)
    if audit.config.direction != "both":
        which = "The named group is not" if n == 1 else f"None of {n:,} named groups is"
        return f"{which} significantly {audit.config.direction}; tests are one-sided. {state(first, audit)}"
    none = "The named group shows no" if n == 1 else f"None of {n:,} named groups shows a"
    return f"{none} significant disparity. {state(first, audit)}"


def _significant_beside(audit: Audit) -> str:
    """Where the search found nothing, what all data shows of a named group, or else along an attribute."""
    named = [one for one in audit.named_groups if _is_significant(one, audit)]
    told = {condition.attribute for finding in audit.giveaways for condition in finding.criterion}
    gaps = [gap for gap in audit.gaps.rows if gap.attribute not in told and _is_significant(gap, audit)]
    if named:
        found = _said(min(named, key=lambda one: one.log10_p or 0.0), audit)
    elif gaps:
        found = statement(gaps[0], audit, audit.gaps.interval_level, compared_with(audit.config))
    else:
        return ""
    return f"On all data, however, {found}."


def _is_significant(found: Finding | Gap, audit: Audit) -> bool:
    return found.p_adjusted is not None and found.p_adjusted <= audit.config.level


def state(finding: Finding, audit: Audit) -> str:
    """The disparity of a finding as a sentence."""
    return sentence(_said(finding, audit))


def _said(finding: Finding, audit: Audit) -> str:
    if finding.is_combination:
        return everyone.combination_statement(finding)
    return statement(finding, audit, finding.interval_level, compared_with(audit.config, finding))


def certainty(finding: Finding, audit: Audit) -> str:
    """How sure one can be, in a sentence."""
    if finding.shuffled is not None:
        return everyone.certainty(finding)
    beyond = f" larger than {units_in(audit).size(audit.config.threshold)}" if audit.config.threshold > 0 else ""
    what = "that" if finding.is_combination else f"a disparity{beyond}"
    text = (
        f"The evidence for {what} is {evidence(finding.log10_p_adjusted)}: corrected "
        f"{p_words(finding.log10_p_adjusted)}"
    )
    if finding.stability is not None and audit.config.repeats > 1:
        repeats = audit.config.repeats
        text += f"; found in {round(finding.stability * repeats)} of {repeats} random splits"
    both = everyone.together(finding)
    return f"{text}. {both}." if both and not finding.is_combination else f"{text}."


def finer_cuts(finding: Finding, notion: Notion) -> list[str]:
    """What is left of the finding where a legitimate factor is cut twice as fine, a sentence for each."""
    return [_finer(cut, notion) for cut in finding.finer]


def _finer(cut: Finer, notion: Notion) -> str:
    factor = quote(cut.factor)
    psi = size_words(cut.psi, notion)
    then = f"the gap is {psi} and corrected {p_words(cut.log10_p_adjusted)}"
    if cut.holds:
        return f"If {factor} is cut twice as fine, {then}: the finding holds."
    ends = "is reversed" if cut.turned else "ends"
    return (
        f"If {factor} is cut twice as fine, {then}: the finding {ends}, and the effect of {factor} within its classes "
        "may be all that shows."
    )


def magnitude(finding: Finding, audit: Audit) -> str:
    """How many people the group holds, and what a single number of the sentence before does not say."""
    people = f"The group holds {_size(finding, audit)}."
    notion = audit.notion_of(finding)
    rates, units = notion.rates, units_of_notion(notion)
    if len(rates) > 1:
        if finding.psi is None:
            return f"{people} The gap is undefined: {finding.undefined}."
        bounds = f" ({confidence(finding.interval_level)} interval {units.interval(finding.interval)})"
        text = f"{people} The mean gap of the {len(rates)} rates is {size_words(finding.psi, notion)}{bounds}"
        if finding.psi_by_chance is not None:
            text += f"; chance alone gives such a group about {units.short(finding.psi_by_chance)}"
        return f"{text}.{worse_for_whom(finding, audit)}{crude(finding, notion)}{everyone.new_people(finding, notion)}"
    ratio = finding.ratios[rates[0].key]
    told = "" if ratio is None else f" Their {rates[0].name} divided by the others': ratio {ratio:.2f}."
    return f"{people}{told}{_ranks(finding)}{crude(finding, notion)}{everyone.new_people(finding, notion)}"


def _ranks(finding: Finding) -> str:
    """Who has more of an amount, after a space; empty where that is not known."""
    if finding.superiority is None or "calibration" in finding.parts:
        return ""
    low, high = finding.superiority_interval
    ends = (
        ""
        if low is None or high is None
        else f"; {confidence(finding.interval_level)} interval {low:.0%} to {high:.0%}"
    )
    told = f" In {finding.superiority:.0%} of all pairs a member has more than one of the others (ties by half{ends})."
    few = " A few people hold most of what varies, so that means say little: the p-value is that of the rank test."
    return f"{told}{few if finding.dominated else ''}"


def worse_for_whom(finding: Finding, audit: Audit) -> str:
    """Which of several rates are worse for the group and which for the others, after a space.

    Where nobody said what is good for people, which of them are higher.
    """
    said = audit.config.favourable_of(finding.outcome) is not None
    sides: dict[str, list[str]] = {"for them": [], "for the others": []}
    for rate in audit.notion_of(finding).rates:
        difference = finding.parts[rate.key] or 0.0
        if difference:
            better = (difference > 0) == (rate.better == "higher")
            sides["for them" if (not better if said else difference > 0) else "for the others"].append(rate.name)
    word = "worse" if said else "higher"
    told = [
        f"the {list_words(names)} {'is' if len(names) == 1 else 'are'} {word} {side}"
        for side, names in sides.items()
        if names
    ]
    return f" {sentence(list_words(told))}" if told else ""


def crude(finding: Finding, notion: Notion) -> str:
    """The difference from everyone else, comparable or not, after a space; empty where nothing is adjusted."""
    if finding.psi_crude is None or finding.psi is None or finding.psi_crude == finding.psi:
        return ""
    text = f" Unadjusted gap: {size_words(finding.psi_crude, notion)}; adjusted: {size_words(finding.psi, notion)}."
    if len(notion.rates) == 1 and finding.psi_crude * finding.psi < 0:
        text += " The two have opposite signs: among comparable people the difference is reversed."
    return text


def _size(finding: Finding, audit: Audit) -> str:
    """How many rows of the half that tested, and of all data; and of how many people where these have several."""
    data, rows = audit.data_summary, "people" if finding.people is None else "rows"
    share = f"{percent(finding.share)}{_of_whom(audit)}"
    about = "" if finding.people is None else f", about {count(finding.people, 'person', 'people')}"
    if finding in audit.named_groups or data.rows_assess == data.rows:
        return f"{finding.size:,} of all {data.rows:,} {rows} ({share}){about}"
    everywhere = "" if finding.size_all is None else f", and {finding.size_all:,} of all {data.rows:,}"
    return f"{finding.size:,} of the {data.rows_assess:,} {rows} in the test ({share}){about}{everywhere}"


def _of_whom(audit: Audit) -> str:
    return " of the population, by their weights" if audit.config.survey_weights else ""


def strata_lines(finding: Finding, notion: Notion) -> list[str]:
    """A group in each stratum where it can be compared: one sees where it differs, and in which direction."""
    compared = [stratum for stratum in finding.strata if stratum.weight > 0]
    shown = sorted(compared, key=lambda stratum: -stratum.weight)[:_STRATA]
    unit = "people" if finding.people is None else "rows"
    lines = [_stratum_line(stratum, unit, notion) for stratum in compared if stratum in shown]
    left = len(compared) - len(shown)
    more = f"{count(left, 'more stratum', 'more strata')}: the JSON document has {'it' if left == 1 else 'them'}."
    return [*lines, more] if left else lines


def _stratum_line(stratum: StratumResult, unit: str, notion: Notion) -> str:
    rates = ", ".join(
        f"{rate.key} {units_of(rate).level(stratum.rates_inside[rate.key])} against "
        f"{units_of(rate).level(stratum.rates_outside[rate.key])} ({units_of(rate).signed(stratum.parts[rate.key])})"
        for rate in notion.rates
    )
    people = f"{stratum.size:,} and {stratum.size_outside:,} {unit}"
    return f"{readable(stratum.criterion)}: {rates}; {people}, weight {stratum.weight:.0%}."


def among(audit: Audit) -> str:
    """Who was tested, in words."""
    data = audit.data_summary
    if data.clusters is None:
        return f"{data.rows_assess:,} people"
    tested = data.clusters if data.clusters_assess is None else data.clusters_assess
    return f"{tested:,} people with {data.rows_assess:,} rows"


def lead(audit: Audit) -> list[str]:
    """The sentences after the verdict: certainty and size, or what an empty list means."""
    if not audit.config.searches:
        n = len(audit.config.named_groups)
        return [f"{count(n, 'named group')}, tested on all data; nothing was searched for."]
    if audit.groups:
        first = audit.groups[0]
        return [magnitude(first, audit), certainty(first, audit), *finer_cuts(first, audit.notion_of(first))]
    n = audit.n_tested
    if not n:
        return ["The warnings say why. This says nothing about whether there is a disparity."]
    if audit.mode.is_everyone:
        return everyone.nothing_listed(audit)
    tested = f"{n:,} group{'' if n == 1 else 's'} proposed by the search {'was' if n == 1 else 'were'} tested"
    return [
        f"{tested}; none reached the level of {audit.config.level:g} after correction. That does not prove that there "
        "is none."
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


def could_have_seen(audit: Audit) -> str:
    """What the audit could have seen at best, in a sentence."""
    seen = [entry.psi for entry in audit.detectable if entry.psi is not None]
    people = f"With {among(audit)} in the test"
    if not seen:
        return f"{people}, even the largest possible gap would usually have been missed."
    least, units = min(seen), units_in(audit)
    if not isinstance(units, Points):
        return f"{people}, only gaps above about {units.size(least)} could have been seen."
    about = f"{100 * least:.0f}" if least >= 0.1 else units.short(least)
    return f"{people}, only gaps above about {about} {'point' if about == '1' else 'points'} could have been seen."


def question(notion: str, outcome: str | None, audit: Audit) -> str:
    """Which of several questions is meant; empty if there is one."""
    config = audit.config
    named = [outcome] if len(config.asked_outcomes) > 1 and outcome is not None else []
    named += [notion] if len(config.notions) > 1 else []
    return f" for {', '.join(named)}" if named else ""


def unit_of(audit: Audit) -> str:
    """What sizes count."""
    return "people" if audit.data_summary.clusters is None else "rows"


def few(people: int | None, config: AuditConfig) -> str:
    """A number of people; None where there are too few of them to say how many."""
    return f"fewer than {config.min_group_size:,}" if people is None else f"{people:,}"


def say_hidden(audit: Audit) -> list[str]:
    """What is not shown because it is too small, and how much of it; nothing where everything is shown."""
    least, hidden = audit.config.min_group_size, audit.hidden
    if least <= 1:
        return []
    parts = [
        count(hidden.groups, "tested group") if hidden.groups else "",
        f"{count(hidden.giveaways, 'condition')} on columns that give the outcome away" if hidden.giveaways else "",
        count(audit.gaps.hidden, "level") if audit.gaps.hidden else "",
        count(hidden.nodes, "node") + " of search trees" if hidden.nodes else "",
    ]
    left = list_words([part for part in parts if part]) or "none"
    return [
        f"Nothing is shown of fewer than {least:,} people, inside a group or outside it (min_group_size); left out: "
        f"{left}. Corrections count them all the same. This is no disclosure control: anyone who knows other numbers "
        "can often work out what is hidden."
    ]
