"""What reports say of audits of everyone: p-values of shuffled outcomes, sizes, halves, and combinations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ald.groups.wording import readable
from ald.notions import Notion
from ald.report.summary.phrases import p_words, size_words
from ald.report.words import count, list_words, p_value, percent
from ald.results.finding import Finding

if TYPE_CHECKING:
    from ald.results.audit import Audit

# Descriptions told of those by which halves lead to a group.
_TOLD = 3


def p_adjusted_text(finding: Finding) -> str:
    """The corrected p-value in a table, as a bound where nothing as strong was seen."""
    text = p_value(finding.log10_p_adjusted)
    bound = finding.shuffled is not None and finding.shuffled.bound
    return f"≤ {text}" if bound and finding.p_adjusted is not None and finding.p_adjusted < 1 else text


def p_adjusted_words(finding: Finding) -> str:
    """The corrected p-value in a sentence: "p = 0.004", or "p ≤ 0.002"."""
    return _bounded(finding.log10_p_adjusted, bound=finding.shuffled is not None and finding.shuffled.bound)


def _bounded(log10_p: float | None, *, bound: bool) -> str:
    return p_words(log10_p).replace("p = ", "p ≤ ") if bound else p_words(log10_p)


def believed(finding: Finding) -> str:
    """Why the p-value of a finding may be believed."""
    told = finding.shuffled
    assert told is not None
    if told.claim == "combination":
        seen = f"outcomes were drawn {told.shuffles:,} times from the effects of each attribute by itself"
    else:
        seen = f"the outcomes were shuffled at random {told.shuffles:,} times"
    times = "once" if told.as_strong == 1 else f"{told.as_strong:,} times"
    return f"when {seen}, {f'something as strong came up {times}' if told.as_strong else 'nothing as strong came up'}"


def result(audit: Audit) -> str:
    """How many groups are listed, why their p-values may be believed, and whether the search went on to the end."""
    names = ", ".join(notion.name for notion in audit.config.notions)
    people = f"{audit.data_summary.rows:,} people"
    level = f"({names}, level {audit.config.level:g})"
    if not audit.groups:
        return f"No group listed; all {people} were searched and tested {level}."
    return f"{count(len(audit.groups), 'group')} listed, searched and tested on all {people} {level}."


def goes_on(audit: Audit) -> str:
    """What to do where the list ended before the evidence did; empty if it did not."""
    if audit.mode.complete or len(audit.groups) < audit.config.groups:
        return ""
    more = audit.config.groups + 3
    return (
        f"The list ends after {count(audit.config.groups, 'group')}; no further round was run. With groups={more} "
        f"(--groups {more}) the search goes on."
    )


def nothing_listed(audit: Audit) -> list[str]:
    """What an empty list means."""
    strongest = [one for one in audit.first_candidates(1) if one.shuffled is not None]
    lines = []
    for one in strongest:
        lines.append(
            f"The strongest that was found is {readable(one.criterion)}: {believed(one)}. So the corrected value is "
            f"{p_adjusted_words(one)}, above the level of {audit.config.level:g}."
        )
    return [*lines, "This does not prove that there is no disparity."]


def together(finding: Finding) -> str:
    """Whether the attributes of a group matter together, in a sentence; empty where that was not tested."""
    told = finding.together
    if told is None:
        return ""
    names = list_words([str(name) for name in told.attributes])
    p = _bounded(told.log10_p_adjusted, bound=told.bound)
    if told.listed:
        most = readable(finding.criterion)
        return f"{names} together matter, beyond what each does by itself ({p}); most of all for {most}"
    return f"That {names} matter together, beyond what each does by itself, is not significant ({p})"


def combination_statement(finding: Finding) -> str:
    """What is claimed where a combination is listed, and no group that it forms by itself."""
    return f"{together(finding)}. None of the groups that they form is significant by itself"


def new_people(finding: Finding, notion: Notion) -> str:
    """What such a group shows on new people, after a space; empty where that is not known."""
    told = finding.shuffled
    if told is None or told.psi_new is None:
        return ""
    text = f" On new people such a group shows a gap of about {size_words(told.psi_new, notion)}"
    if is_exaggerated(finding, notion):
        own = size_words(finding.psi, notion)
        return f"{text}: that of {own}, on the people who suggested it, is probably exaggerated."
    return f"{text}."


def is_exaggerated(finding: Finding, notion: Notion) -> bool:
    """Whether the gap is probably too large, and that on new people another one, as they are written."""
    told = finding.shuffled
    if told is None or told.psi_new is None or not told.exaggerated:
        return False
    return size_words(told.psi_new, notion) != size_words(finding.psi, notion)


def halves(finding: Finding) -> str:
    """In how many random halves a group is found again, and how; empty where that was not asked."""
    told = finding.shuffled
    if told is None or not told.halves:
        return ""
    text = f"found in {told.found} of {told.halves} random halves of the people"
    if told.found and [one.criterion for one in told.descriptions] != [finding.criterion]:
        ways = [f"{readable(one.criterion)} ({one.halves})" for one in told.descriptions[:_TOLD]]
        more = len(told.descriptions) - _TOLD
        text += f", as {'; '.join(ways)}{f' and {more} more' if more > 0 else ''}"
    return text


def certainty(finding: Finding) -> str:
    """How sure one can be, in sentences."""
    assert finding.shuffled is not None
    found = halves(finding)
    said = believed(finding)
    both = together(finding)
    lines = [f"{said[0].upper()}{said[1:]}: corrected {p_adjusted_words(finding)}."]
    if both and not finding.is_combination:
        lines.append(f"{both}.")
    if found:
        lines.append(f"{found[0].upper()}{found[1:]}.")
        if 2 * finding.shuffled.found < finding.shuffled.halves:
            lines.append("That outcomes differ around there is clear; exactly which people make up the group is not.")
    return " ".join(lines)


def people_used(audit: Audit) -> str:
    """Who was searched and who tests."""
    return f"{audit.data_summary.rows:,} people, all of them for the search and for the tests."


def search_line(audit: Audit) -> str:
    """What was searched, in the list of facts."""
    config, mode = audit.config, audit.mode
    names = ", ".join(notion.name for notion in config.notions)
    shared = f"; {mode.parts} claims share the level" if (mode.parts or 1) > 1 else ""
    return (
        f"Notion: {names}. Everyone is searched and tested: up to {mode.shuffles:,} shufflings of the outcomes per "
        f"round, seed {config.seed}; level {config.level:g}{shared}."
    )


def method(audit: Audit) -> tuple[str, ...]:
    """The method in sentences."""
    return (
        "Automatic Location of Disparities: everyone is searched for the strongest group, at a price for the number "
        "of groups that could have been told. Then the outcomes are shuffled among comparable people, and the same "
        "search is done again, many times: the p-value is the share of shufflings that have something as strong. If it "
        "is small enough, the group is listed and the search goes on for what that group does not explain; the first "
        "round that fails is the last. So the chance that anything false is listed is at most the level. The corrected "
        "p-value is the largest so far, times the number of claims that share the level.",
        "Combinations of attributes that matter together are a claim of their own, held against outcomes that are "
        "drawn from the effects of single attributes.",
        "Intervals hold every difference that would not have stood out among shuffled outcomes, whatever group had "
        "been named. What a group shows on new people is the median over random halves: found anew on one, measured on "
        "the other.",
    )


def meanings() -> dict[str, str]:
    """What a reader may ask of a column's header, where that differs."""
    return {
        "size": "members",
        "share": "their share of all people",
        "lower": "where psi plausibly lies, allowing for the group having been picked by the search",
        "statistic": "the score statistic of the group against whom it is compared with, summed over rates",
        "p_adjusted": "the largest share of shuffled outcomes with something as strong, of this group and those before "
        "it, times the number of claims",
        "stability": "the share of random halves of the people that lead to an equivalent group",
        "psi_new": "what such a group shows on new people",
    }


def found_again(finding: Finding) -> str:
    """The share of halves that lead to the group."""
    return percent(finding.stability)
