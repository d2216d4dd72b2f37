"""What laws and rules ask to be shown, as sections of the report. None of it is legal advice, and it says so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ald.profiles import CategoryTable, Profile
from ald.report.model import Grid, Heading, Section
from ald.report.summary.adverse import adverse_impact, say_hidden_categories
from ald.report.summary.facts import list_assumptions
from ald.report.summary.giveaways import TITLE as GIVEAWAYS
from ald.report.summary.giveaways import name_giveaways
from ald.report.summary.phrases import value_of
from ald.report.summary.sentences import FURTHER, few, further
from ald.report.summary.table import number, word
from ald.report.words import count, list_words, percent, plain

if TYPE_CHECKING:
    from ald.results.audit import Audit

# 6 RCNY section 5-301(d): an independent auditor may leave out categories with a smaller share than this.
SMALL = 0.02

TO_BE_COMPLETED = "To be completed: "

_ROLES = {"sex": "sex", "race": "race/ethnicity"}


def profile_sections(audit: Audit) -> tuple[Section, ...]:
    """The sections that the audit's profile asks for; none without a profile."""
    if audit.profile is None:
        return ()
    return _SECTIONS[audit.profile.name](audit, audit.profile)


def _columns(words: Sequence[str], numbers: Sequence[str]) -> tuple[Heading, ...]:
    return tuple(Heading(key=head, header=head, is_number=head in numbers) for head in (*words, *numbers))


def _describe_selected(audit: Audit) -> str:
    """Who counts as selected, in words."""
    return list_words([value_of(name, audit) for name in audit.config.outcomes or audit.config.outcome_columns[:1]])


def _new_york(audit: Audit, profile: Profile) -> tuple[Section, ...]:
    """Selection or scoring rates and impact ratios as 6 RCNY section 5-301(b) and (c) define them."""
    people = audit.data_summary.rows
    tools = "select people or classify them (6 RCNY section 5-301(b))"
    scores = " Tools that give scores (scoring rates, section 5-301(c)) are not covered."
    counted = (
        f"Selected are those with {_describe_selected(audit)}. The selection rate is the share of a category that is "
        "selected"
    )
    if profile.median is not None:
        tools, scores = "score people (6 RCNY section 5-301(c))", ""
        counted = (
            f"The scoring rate is the share of a category with a score above {profile.median:.6g}, the median of the "
            "whole sample"
        )
    named = list_words([f"{_ROLES[role]} by the column {column}" for role, column in profile.columns.items()])
    paragraphs = [
        "Not legal advice. These tables hold numbers that a bias audit under New York City Local Law 144 of 2021 "
        f"states for tools that {tools}. They do not make this report "
        f"such an audit, which has to be done by an independent auditor on data that the rule admits.{scores}",
        f"{counted}; the impact ratio is this rate divided by that of the most selected category of the same table. "
        "The law sets no value from which on an impact ratio is acceptable.",
        f"Counted on all {people:,} {'people' if audit.data_summary.clusters is None else 'rows'}{_not_on_half(audit)}"
        f"{', and not weighted' if audit.config.survey_weights else ''}: {named}. The rule "
        "goes by the categories of the EEO-1 Component 1 report; whether the columns hold these is for you to check.",
    ]
    absent = [_ROLES[role] for role in _ROLES if role not in profile.columns]
    if absent:
        paragraphs.append(
            f"No column was named for {list_words(absent)}: its table and that of the intersection, which the rule "
            "asks for, are missing."
        )
    if audit.groups:
        paragraphs.append(
            "The rule asks for no search. Beside its tables this audit searched for groups, and "
            f"{count(len(audit.significant), 'group')} of {audit.n_tested:,} tested "
            f"{'has' if len(audit.significant) == 1 else 'have'} a significant disparity. {further(audit)}".rstrip()
        )
    tables = [_impact(table, audit, is_scored=profile.median is not None) for table in profile.tables]
    return (
        Section(key="nyc-ll144", title="New York City Local Law 144", paragraphs=tuple(paragraphs)),
        *tables,
    )


def _impact(table: CategoryTable, audit: Audit, *, is_scored: bool = False) -> Section:
    by = list_words([_ROLES[role] for role in table.roles])
    small = [category for category in table.categories if table.share(category) < SMALL]
    kind = "scoring" if is_scored else "selection"
    heads = ["applicants", "share", "above the median" if is_scored else "selected", f"{kind} rate", "impact ratio"]
    if small:
        heads.append("ratio without those under 2%")
    rows = []
    for category in table.categories:
        share, ratio = table.share(category), table.impact_ratio(category)
        row = [
            *(word(name) for name in category.names),
            *([word("under 2%: may be excluded" if category in small else "")] if small else []),
            number(category.people, f"{category.people:,}"),
            number(share, percent(share)),
            number(category.selected, f"{category.selected:,}"),
            number(category.rate, percent(category.rate)),
            number(ratio, plain(ratio, 3)),
        ]
        if small:
            without = table.impact_ratio(category, SMALL)
            row.append(number(without, "excluded" if category in small else plain(without, 3)))
        rows.append(tuple(row))
    words = [*(_ROLES[role] for role in table.roles), *(["note"] if small else [])]
    paragraphs = [
        f"{table.people:,} people are in the table; {few(table.unknown, audit.config)} are not, because their category "
        "is unknown.",
        *say_hidden_categories(table, audit.config),
    ]
    if small:
        paragraphs.append(
            "An independent auditor may leave categories with less than 2% of the data out of the impact ratios, must "
            "then say why, and still has to state their numbers and selection rates. Shares are of the people in this "
            "table."
        )
    shown = Grid(
        caption=f"{kind.capitalize()} rates and impact ratios by {by}", columns=_columns(words, heads), rows=tuple(rows)
    )
    title = f"Impact ratios by {by}"
    return Section(key=f"nyc-ll144-{'-'.join(table.roles)}", title=title, paragraphs=tuple(paragraphs), table=shown)


def _european_union(audit: Audit, profile: Profile) -> tuple[Section, ...]:
    """The headings of Article 10 of the EU AI Act, filled in as far as an audit knows."""
    data, config = audit.data_summary, audit.config
    names = list_words([notion.name for notion in config.notions])
    named = (*audit.groups, *audit.further(FURTHER))
    found = [f"{i}. {finding.criterion}" for i, finding in enumerate(named, 1)]
    found += [f"{len(audit.significant) - len(named):,} more"] if len(named) < len(audit.significant) else []
    missing = {entry.name: entry.missing for entry in data.attributes if entry.missing != 0}
    missing |= {profile.columns[table.roles[0]]: table.unknown for table in profile.tables if table.unknown}
    parts: list[tuple[str, str, tuple[str, ...], Grid | None]] = [
        ("a", "design choices", (
            f"Examined were disparities of {_describe_selected(audit)} by the notion {names}, along "
            f"{count(len(data.attributes), 'attribute')}."
            + (" Columns that were left out, and why, are under Columns left out." if data.left_out else ""),
            f"{TO_BE_COMPLETED}the intended purpose of the system, the part that this data plays in it (training, "
            "validation, testing or operation), and why these attributes and this notion were chosen.",
        ), None),
        ("b", "collection and origin of the data", (
            f"The data holds {data.rows:,} people."
            + (f" Its file has the SHA-256 {audit.input_sha256}." if audit.input_sha256 else ""),
            f"{TO_BE_COMPLETED}where the data comes from, when and how it was collected, and for personal data the "
            "original purpose of the collection.",
        ), None),
        ("c", "preparation", (
            "The audit read the data as it is: equal rows were counted together, people without a value of a category "
            "count as a group of their own, and people without a number satisfy no condition on it.",
            f"{TO_BE_COMPLETED}annotation, labelling, cleaning, updating, enrichment and aggregation before the audit.",
        ), None),
        ("d", "assumptions", (
            *list_assumptions(audit),
            f"{TO_BE_COMPLETED}what the data is supposed to measure and to represent, and whether the outcome column "
            "measures it.",
        ), None),
        ("e", "availability, quantity and suitability", (
            f"{_who_served(audit)}; which disparities "
            "these tests could have seen is under What the audit could have seen.",
            f"{TO_BE_COMPLETED}whether this suffices for the intended purpose, and which further data are needed.",
        ), _representation(profile)),
        ("f", "examination for possible biases", (
            f"{len(audit.significant):,} of {audit.n_tested:,} tested groups have a disparity that is significant "
            f"at level {config.level:g}, {_correct(audit)}"
            + (": " + "; ".join(found) if found else "") + ". Their size and certainty are in the parts before. "
            "They are associations: hypotheses, not verdicts.",
            *([further(audit)] if audit.n_further else []),
            *([f"{name_giveaways(audit)} More is under {GIVEAWAYS}."] if audit.giveaways else []),
            f"{TO_BE_COMPLETED}whether these disparities are likely to affect health and safety, to harm fundamental "
            "rights or to lead to discrimination that Union law prohibits, and whether outputs of the system influence "
            "its later inputs.",
        ), None),
        ("g", "measures against possible biases", (
            "This audit is a measure to detect them, and can be repeated with the settings under Settings.",
            f"{TO_BE_COMPLETED}"
            + ("for each of these groups, what is done" if found else "what is done")
            + " to prevent and to mitigate biases, by whom, and how its effect is checked.",
        ), None),
        ("h", "data gaps and shortcomings", (
            (f"People without a value: {'; '.join(f'{name} {few(n, audit.config)}' for name, n in missing.items())}."
             if missing else "No searched attribute lacks a value."),
            *(f"Warning of the audit: {warning}" for warning in data.warnings),
            f"{TO_BE_COMPLETED}gaps and shortcomings that stand against compliance, and how they are addressed.",
        ), None),
    ]  # fmt: skip
    intro = (
        "Not legal advice. Article 10 of Regulation (EU) 2024/1689 asks providers of high-risk AI systems for "
        "practices of data governance and management, and for an examination of their data in view of possible biases. "
        "The following parts have the headings of its paragraphs 2 to 5. What the audit knows is filled in; what only "
        f"you can know is marked {TO_BE_COMPLETED.strip(': ')!r}. The parts do not by themselves show that a system "
        "complies.",
    )
    others = (
        ("3", "Article 10(3) and (4): representativeness and setting",
         f"{TO_BE_COMPLETED}whether the data is relevant, sufficiently representative of the people concerned, free of "
         "errors and complete as far as possible, and fits the geographical, contextual, behavioural and functional "
         "setting of use."),
        ("5", "Article 10(5): special categories of personal data",
         f"{TO_BE_COMPLETED}whether special categories of personal data were processed to detect and correct biases, "
         "why other data would not do, and which safeguards apply."),
    )  # fmt: skip
    return (
        Section(key="eu-ai-act", title="EU AI Act: data governance and examination for biases", paragraphs=intro),
        *(
            Section(key=f"eu-ai-act-{letter}", title=f"Article 10(2)({letter}): {title}", paragraphs=texts, table=table)
            for letter, title, texts, table in parts
        ),
        *(Section(key=f"eu-ai-act-{key}", title=title, paragraphs=(text,)) for key, title, text in others),
    )


def _representation(profile: Profile) -> Grid | None:
    """Who is in the data, along the columns that were named."""
    rows = [
        (
            word(profile.columns[table.roles[0]]),
            word(category.names[0]),
            number(category.people, f"{category.people:,}"),
            number(table.share(category), percent(table.share(category))),
            number(category.rate, percent(category.rate)),
        )
        for table in profile.tables
        for category in table.categories
    ]
    heads = _columns(("column", "category"), ("people", "share", "selection rate"))
    caption = "Who is in the data, counted on everyone with a known category"
    return Grid(caption=caption, columns=heads, rows=tuple(rows)) if rows else None


def _adverse(audit: Audit, profile: Profile) -> tuple[Section, ...]:
    return adverse_impact(profile, _describe_selected(audit), audit.config)


_SECTIONS = {"nyc-ll144": _new_york, "eu-ai-act": _european_union, "adverse-impact": _adverse}


def _who_served(audit: Audit) -> str:
    data = audit.data_summary
    if audit.mode.is_everyone:
        return f"All {data.rows:,} people served the search and the tests, against shuffled outcomes"
    return f"{data.rows_search:,} people served the search and {data.rows_assess:,} the tests"


def _not_on_half(audit: Audit) -> str:
    return "" if audit.mode.is_everyone else ", not on the half that was kept for the tests"


def _correct(audit: Audit) -> str:
    return "against shuffled outcomes" if audit.mode.is_everyone else "corrected for the number of tests"
