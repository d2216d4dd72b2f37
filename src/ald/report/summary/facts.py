"""What was done, in lines: the data, who was compared with whom, the search, the tests."""

from __future__ import annotations

from math import log10
from typing import TYPE_CHECKING

from ald.groups.criterion import quote
from ald.groups.wording import readable
from ald.options import AuditConfig
from ald.report.summary import everyone
from ald.report.summary.phrases import compared_with, p_words, size_words, units_in, value_of
from ald.report.summary.sentences import (
    crude,
    finer_cuts,
    question,
    say_hidden,
    strata_lines,
    unit_of,
)
from ald.report.units import units_of_notion
from ald.report.words import confidence, count, list_words
from ald.results.finding import Finding

if TYPE_CHECKING:
    from ald.results.audit import Audit
    from ald.results.reported import Asked

# Significant groups beyond those listed that have a line of their own.
_FURTHER = 5


def list_facts(audit: Audit) -> list[str]:
    """What was done, one line each: data, search, testing."""
    return [
        *[_describe_named(finding, audit) for finding in audit.named_groups],
        *[
            f"{readable(finding.criterion)}, given {line}"
            for finding in (*audit.named_groups, *audit.groups)
            for line in strata_lines(finding, audit.notion_of(finding))
        ],
        *_list_further(audit),
        *describe_data(audit),
        *describe_method(audit),
        *say_hidden(audit),
        *[f"Left out: {entry.name}: {entry.reason}." for entry in audit.data_summary.left_out],
    ]


def list_assumptions(audit: Audit) -> tuple[str, ...]:
    """What the audit takes for granted: what was audited, who is compared with whom, and who is a person."""
    independent = () if audit.config.cluster else ("Rows are taken for different people, independent of one another.",)
    return (describe_data(audit)[0], *independent, *_describe_design(audit))


def describe_data(audit: Audit) -> list[str]:
    data, config = audit.data_summary, audit.config
    audited = describe_outcomes(audit)
    who = "people" if data.clusters is None else f"rows of {data.clusters:,} people"
    if not config.searches:
        return [audited, f"{data.rows:,} {who}, all of them for the tests: nothing was searched for."]
    halves = (
        f"{data.rows:,} {who}: {data.rows_search:,} for the search, {data.rows_assess:,} for the tests, which the "
        "search never saw."
    )
    return [
        audited,
        everyone.people_used(audit) if audit.mode.is_everyone else halves,
        f"{count(len(data.attributes), 'attribute')}: {', '.join(entry.name for entry in data.attributes)}.",
    ]


def _short(number: str) -> str:
    """A number in words with a few digits, without an exponent where it is not needed."""
    value = float(number)
    return f"{value:,.0f}" if 1e6 <= abs(value) < 1e15 else f"{value:,.6g}"


def _asked_columns(config: AuditConfig) -> list[tuple[str, str]]:
    """The columns that are audited, with their parts."""
    if config.outcomes:
        return [("Outcome", config.outcomes[0])]
    return [("Prediction", config.prediction or ""), ("truth", config.truth or "")]


def describe_outcomes(audit: Asked) -> str:
    """The columns that are audited, which of their values counts, and whether that is the favourable one."""
    config = audit.config
    if config.classes:
        names = list_words([quote(name) for name in config.classes])
        what = [f"{role}: {name}" for role, name in _asked_columns(config)]
        return f"{', '.join(what)}. Classes, each against all others: {names}."
    if config.score is not None:
        found = audit.data_summary.outcome(config.score)
        said = "favourable" if config.favourable is not None else "positive"
        if config.mean is not None and config.mean.of_number and config.truth is not None:
            was = audit.data_summary.outcome(config.truth)
            return (
                f"Prediction: {found.name}, from {_short(found.negative)} to {_short(found.positive)}. Truth: "
                f"{was.name}, from {_short(was.negative)} to {_short(was.positive)}. Compared by {config.mean.name}."
            )
        truth = (
            "" if config.truth is None else f" Truth: {config.truth}, {said} value: {value_of(config.truth, audit)}."
        )
        return (
            f"Score: {found.name}, from {_short(found.negative)} to {_short(found.positive)}.{truth} Compared by "
            f"{'' if config.mean is None else config.mean.name}."
        )
    if config.mean is not None:
        found, good = audit.data_summary.outcome(config.outcomes[0]), config.favourable_of()
        more = f"{good} is good for people" if good else "nobody said whether more is good for people"
        ends = f"{_short(found.negative)} to {_short(found.positive)}"
        return f"Outcome: {found.name}, a number from {ends}, compared by its mean; {more}."

    def counted(column: str, outcome: str | None = None) -> str:
        word = "positive" if config.favourable_of(outcome) is None else "favourable"
        return f"{word} value: {audit.data_summary.outcome(column).positive}"

    if config.outcomes:
        name = "Outcome" if len(config.outcomes) == 1 else "Outcomes"
        line = f"{name}: {'; '.join(f'{outcome}, {counted(outcome, outcome)}' for outcome in config.outcomes)}."
    else:
        prediction, truth = config.outcome_columns
        line = (
            f"Prediction: {prediction}, truth: {truth}, {counted(prediction)}. A false positive has "
            f"{value_of(prediction, audit)} and {value_of(truth, audit, positive=False)}, a false negative "
            f"{value_of(prediction, audit, positive=False)} and {value_of(truth, audit)}."
        )
    if all(config.favourable_of(outcome) is not None for outcome in config.outcomes or (None,)):
        return line
    return f"{line} Whether a positive value is good for people was not said."


def describe_method(audit: Audit) -> list[str]:
    """What was searched, and what helps to read the table: close groups, conditional tests, repeats, power."""
    config = audit.config
    searches = {"default": "the default search", "leaves": "every leaf tested", "paper": "the paper's search"}
    names = ", ".join(notion.name for notion in config.notions)
    how = f"{count(config.trees, 'tree')} ({searches.get(config.search)}"
    if config.system is not None:
        how = f"Search: {config.system} (another system's"
    if not config.searches:
        return [f"Notion: {names}; correction: {config.adjust}, level {config.level:g}.", *_describe_design(audit)]
    if audit.mode.is_everyone:
        return [everyone.search_line(audit), *_describe_design(audit), *_describe_tests(audit)]
    lines = [
        f"Notion: {names}. {how}, "
        f"alpha {config.alpha:g}, seed {config.seed}); correction: {config.adjust}, level {config.level:g}; ranked by "
        f"{config.ranking}.",
        *_describe_design(audit),
    ]
    for i, finding in enumerate(audit.groups, 1):
        close = [
            f"{readable(other.criterion)} ({other.size:,} people, {other.overlap:.0%} of the group)"
            for other in finding.also
        ]
        if close:
            lines.append(f"Overlaps group {i}; not tested separately: {'; '.join(close[:3])}.")
    return [*lines, *_describe_tests(audit)]


def _describe_design(audit: Audit) -> list[str]:
    """Who was compared with whom, where that is not simply each group with everyone else."""
    config, data = audit.config, audit.data_summary
    lines = []
    if config.given:
        names = ", ".join(config.given)
        plain = not (config.cluster or config.survey_weights or config.threshold)
        test = ", and the test is that of Cochran, Mantel and Haenszel" if plain else ""
        lines.append(
            f"Given {names}: people are compared only with others of the same one of "
            f"{count(data.strata or 0, 'stratum', 'strata')}. The gap is the mean of the strata's differences, "
            "weighted by people inside times people outside over both (Mantel and Haenszel)"
            f"{test}. Strata without people on both sides say nothing; those with only one outcome count in the gap "
            f"and add nothing to the test. Numbers are cut {_say_cuts(audit)}."
        )
    if config.cluster:
        lines.append(
            f"Rows with the same {config.cluster} are about one person: "
            f"{'halves were drawn by person, and ' if config.searches else ''}the tests do not treat them as "
            "independent (Rao and Scott). Sizes and shares count rows."
        )
    if config.survey_weights:
        lines.append(f"Weighted by {config.survey_weights}: rates, shares and tests are those of the population.")
    if config.reference_kind != "rest":
        lines.append(f"Groups are compared with {compared_with(config)}.")
    if config.direction != "both":
        lines.append(_say_direction(audit))
    if config.searches and config.has_own_split:
        how = "two data sets" if config.split == "own" else f"the column {config.split}"
        lines.append(f"Which rows are searched and which ones test was given by {how}.")
    elif audit.mode.reason is not None:
        lines.append(f"People are split into two halves at random: {audit.mode.reason}.")
    if config.fraction != 0.5:
        lines.append(f"The search saw {config.fraction:.0%} of the people.")
    return lines


def _say_cuts(audit: Audit) -> str:
    """Where numbers that are legitimate factors are cut."""
    half = " in the half for the search" if audit.mode.name == "halves" else ""
    return f"where the outcome changes{half}, and between these places into quantiles"


def _say_direction(audit: Audit) -> str:
    """Which groups count where a direction was asked for, and what is good for people."""
    config = audit.config
    worse = config.direction == "disadvantaged"
    rates = dict.fromkeys(rate for notion in config.notions for rate in notion.rates)
    ways = [f"a {'lower' if (rate.better == 'higher') == worse else 'higher'} {rate.name}" for rate in rates]
    good = list_words([value_of(name, audit) for name in config.outcomes or config.outcome_columns[:1]])
    if config.mean is not None:
        good = f"a {config.mean.better} {config.mean.name}"
    word = "worse" if worse else "better"
    text = (
        f"Only groups that are {config.direction} count: tests are one-sided. Good for people is {good}, so that "
        f"{list_words(ways)} {'is' if len(ways) == 1 else 'are'} {word}."
    )
    if any(len(notion.rates) > 1 for notion in config.notions):
        text += (
            f" Of several rates each is tested for being {word}, and the tests are combined: a group may fare "
            f"{'better' if worse else 'worse'} by one rate, but not by every one."
        )
    return text


def _describe_tests(audit: Audit) -> list[str]:
    config, acceptable = audit.config, units_in(audit).size(audit.config.threshold)
    lines = []
    for i, finding in enumerate(audit.groups, 1):
        if finding.given_groups:
            which = "the group" if len(finding.given_groups) == 1 else "each of the groups"
            before = "; ".join(readable(group) for group in finding.given_groups)
            lines.append(
                f"Group {i} is compared with others separately inside and outside {which} tested before it: "
                f"{before}.{crude(finding, audit.notion_of(finding))}"
            )
    for i, finding in enumerate(audit.groups[1:], 2):
        if finding.together is not None and finding.together.listed:
            lines.append(f"Group {i}: {everyone.together(finding)}.")
        if everyone.is_exaggerated(finding, audit.notion_of(finding)):
            lines.append(f"Group {i}:{everyone.new_people(finding, audit.notion_of(finding))}")
    if config.threshold > 0:
        lines.append(
            f"Tested for being larger than {units_in(audit).size(config.threshold)}, not for being there at all."
        )
    if config.repeats > 1 and not audit.mode.is_everyone:
        any_ = f"any disparity beyond {acceptable}" if config.threshold else "any disparity"
        p = p_words(log10(max(audit.p_any, 1e-300)))
        lines.append(f"Overall test for {any_} ({config.repeats} splits): {p}.")
    return lines


def _describe_named(finding: Finding, audit: Audit) -> str:
    """What was found of a group that the user named, in a line."""
    about = f"Named group {readable(finding.criterion)}{question(finding.notion, finding.outcome, audit)}: "
    if finding.p_adjusted is None:
        return f"{about}{finding.undefined}."
    verdict = "significant" if finding.p_adjusted <= audit.config.level else "not significant"
    notion = audit.notion_of(finding)
    rows = "people" if finding.people is None else f"rows of {count(finding.people, 'person', 'people')}"
    return (
        f"{about}{size_words(finding.psi, notion)} ({confidence(finding.interval_level)} interval "
        f"{units_of_notion(notion).interval(finding.interval)}), corrected {p_words(finding.log10_p_adjusted)}: "
        f"{verdict} ({finding.size:,} {rows}, tested on all data).{crude(finding, notion)}"
        f"{''.join(f' {line}' for line in finer_cuts(finding, notion))}"
    )


def _bounds(finding: Finding, audit: Audit) -> str:
    """The interval in brackets, after a space; empty where there is none."""
    if None in finding.interval:
        return ""
    units = units_of_notion(audit.notion_of(finding))
    return f" ({confidence(finding.interval_level)} interval {units.interval(finding.interval)})"


def _list_further(audit: Audit) -> list[str]:
    """The first significant groups that are not listed, a line each."""
    shown = audit.further(_FURTHER)
    lines = [
        f"Significant and not listed: {readable(one.criterion)}{question(one.notion, one.outcome, audit)}: "
        f"{size_words(one.psi, audit.notion_of(one))}{_bounds(one, audit)}, corrected "
        f"{everyone.p_adjusted_words(one)} ({one.size:,} {unit_of(audit)})."
        for one in shown
    ]
    left = audit.n_further - len(shown)
    return [*lines, f"Significant and not listed: {left:,} more; the JSON document has them."] if left else lines
