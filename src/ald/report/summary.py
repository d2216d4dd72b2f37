"""What every rendering shows, said once: an audit summarised in words, numbers and tables.

`summarise` makes the `Report`; renderers only lay it out. Nothing in a report is escaped: each renderer escapes for
its own format.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy

from ald._core.version import __version__
from ald.notions import Notion
from ald.options import AuditConfig
from ald.report.code import to_pandas, to_sql
from ald.report.curves import CurveView, curve_view
from ald.report.sentences import (
    among,
    certainty,
    compared_with,
    could_have_seen,
    crude,
    finer_cuts,
    further,
    headline,
    lead,
    magnitude,
    statement,
    strata_lines,
    value_of,
)
from ald.report.table import Column, Entry, Table, confidence_text, ranked_table
from ald.report.trees import Tree, tree_of
from ald.report.words import confidence, count, interval, joined, p_value, percent, plain, readable, signed
from ald.results.details import Dropped
from ald.results.finding import Finding

if TYPE_CHECKING:
    from ald.results.audit import Audit

LIMITATION = (
    "These are associations found in logged data: hypotheses for people who know the case, neither causes nor a "
    "verdict on whether a model is biased."
)


# Significant groups beyond those listed: how many are shown in a table, and how many in lines.
FURTHER, _FURTHER_LINES = 20, 5
_FURTHER = "Significant groups that are not listed"


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of a report: a title, sentences, and a table if there is one. `key` names it for renderers."""

    key: str
    title: str
    paragraphs: tuple[str, ...] = ()
    table: Table | None = None


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A number that stands out, with what it counts."""

    text: str
    label: str


@dataclass(frozen=True, kw_only=True)
class Card:
    """Everything about one listed group.

    `rank` is its place in the list; `rank_confidence` and `rank_magnitude` are its places by p-value and by |psi|.
    `about`: which of several notions and outcomes it is about; empty if there is one. `sentences`: the disparity, its
    size and its certainty. `pandas` and `sql` pick its members; `sql` may be None. `numbers`: one row per rate.
    `breakdown`: the group, and what it is without each of its conditions, as a table and as `dropped`. `close`: groups
    folded into it. `strata`: it in every stratum of legitimate factors. `curves`: its rates along its attributes.
    `tree`, `node`: where the search met it, and `origin`: how, in a sentence.
    """

    rank: int
    rank_confidence: int
    rank_magnitude: int
    finding: Finding
    notion: Notion
    criterion: str
    about: str
    sentences: tuple[str, ...]
    pandas: str
    sql: str | None
    numbers: Table
    breakdown: Table | None
    dropped: tuple[Dropped, ...]
    close: Table | None
    strata: Table | None
    curves: tuple[CurveView, ...]
    tree: Tree
    node: int
    origin: str


@dataclass(frozen=True, kw_only=True)
class Report:
    """An audit as every format shows it: summarised once, rendered many times.

    `sections` holds all that follows the groups: what could have been seen, the data, warnings, method, settings,
    versions and limits. `section(key)` finds one.
    """

    title: str
    headline: str
    lead: tuple[str, ...]
    result: str
    figures: tuple[Figure, ...]
    table: Table
    cards: tuple[Card, ...]
    sections: tuple[Section, ...]
    limitation: str
    audit: Audit

    @property
    def groups_title(self) -> str:
        """The title of the part about groups."""
        if not self.audit.config.search:
            return "Groups that were asked about"
        return "Groups found" if self.cards else "No group is listed"

    def section(self, key: str) -> Section:
        """The section of this key."""
        return next(section for section in self.sections if section.key == key)


def summarise(audit: Audit) -> Report:
    """The audit in words, numbers and tables."""
    return Report(
        title="Audit for disparities",
        headline=headline(audit),
        lead=tuple(lead(audit)),
        result=result(audit),
        figures=_figures(audit),
        table=ranked_table(audit),
        cards=_cards(audit),
        sections=tuple(section for section in _sections(audit) if section.paragraphs or section.table),
        limitation=LIMITATION,
        audit=audit,
    )


def result(audit: Audit) -> str:
    """How many groups were listed of how many tested, and how many more are significant."""
    level = audit.config.level
    names = ", ".join(notion.name for notion in audit.config.notions)
    if not audit.config.search:
        return f"{count(len(audit.named), 'test')} on all {among(audit)} ({names}, level {level:g})."
    listed = count(len(audit.groups), "group") if audit.groups else "No group"
    line = (
        f"{listed} listed of {audit.n_tested:,} tested on {among(audit)} that the search never saw "
        f"({names}, level {level:g})."
    )
    return f"{line} {further(audit)}".rstrip()


def _figures(audit: Audit) -> tuple[Figure, ...]:
    data = audit.data_summary
    if not audit.config.search:
        return (
            Figure(text=f"{data.rows:,}", label="people" if data.clusters is None else "rows"),
            Figure(text=f"{len(audit.config.groups_of_interest):,}", label="groups named"),
            Figure(text=f"{len(_significant(audit)):,}", label="significant tests"),
        )
    people = () if data.clusters is None else (Figure(text=f"{data.clusters:,}", label="people"),)
    return (
        *people,
        Figure(text=f"{data.rows:,}", label="people audited" if data.clusters is None else "rows audited"),
        Figure(text=f"{data.rows_assess:,}", label="of them kept for the tests"),
        Figure(text=f"{len(data.attributes):,}", label=f"attribute{'' if len(data.attributes) == 1 else 's'} searched"),
        Figure(text=f"{audit.n_tested:,}", label=f"group{'' if audit.n_tested == 1 else 's'} tested"),
        Figure(
            text=f"{len(audit.groups):,}",
            label=f"listed of {len(audit.significant):,} significant" if audit.n_further else "listed",
        ),
    )


def _significant(audit: Audit) -> list[Finding]:
    """The named groups with a significant disparity."""
    return [one for one in audit.named if one.p_adjusted is not None and one.p_adjusted <= audit.config.level]


def _cards(audit: Audit) -> tuple[Card, ...]:
    confidence = _places([finding.log10_p or 0.0 for finding in audit.groups])
    magnitudes = _places([-abs(finding.psi or 0.0) for finding in audit.groups])
    if audit.config.ranking == "magnitude":
        magnitudes = [i + 1 for i in range(len(audit.groups))]
    trees: dict[tuple[int | None, Notion], Tree] = {}
    cards = []
    for i, finding in enumerate(audit.groups):
        notion = audit.notion_of(finding)
        key = (finding.tree, notion)
        if key not in trees:
            trees[key] = tree_of(
                audit.forest, finding.tree or 0, notion, audit.details.people_of_tree(finding.tree or 0)
            )
        sentence = statement(finding, audit)
        cards.append(
            Card(
                rank=i + 1,
                rank_confidence=confidence[i],
                rank_magnitude=magnitudes[i],
                finding=finding,
                notion=notion,
                criterion=str(readable(finding.criterion)),
                about=_question(finding.notion, finding.outcome, audit).removeprefix(" for "),
                sentences=(
                    f"{sentence[0].upper()}{sentence[1:]}.",
                    magnitude(finding, audit),
                    certainty(finding, audit),
                    *finer_cuts(finding),
                ),
                pandas=to_pandas(finding.criterion),
                sql=to_sql(finding.criterion),
                numbers=_numbers(finding, notion, audit),
                breakdown=_breakdown(finding, audit.details.dropped[i], audit),
                dropped=audit.details.dropped[i],
                close=_close(finding),
                strata=_strata(finding, notion),
                curves=_curves(finding, notion, audit.details.dropped[i], audit),
                tree=trees[key],
                node=finding.node or 1,
                origin=_origin(finding, audit),
            )
        )
    return tuple(cards)


def _origin(finding: Finding, audit: Audit) -> str:
    """How the group was found."""
    place = f"node {finding.node} of tree {(finding.tree or 0) + 1}"
    if audit.config.explores:
        return (
            f"Found by exploring from all trees and combinations. Shown is the node of the forest whose people are "
            f"most alike, {place}; it need not be the same group."
        )
    return f"Proposed by {place}."


def _places(values: list[float]) -> list[int]:
    """The place of each value, smallest first; ties in the order given."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    return [order.index(i) + 1 for i in range(len(values))]


def _columns(*heads: str) -> tuple[Column, ...]:
    """Columns of a table whose first column is text."""
    return tuple(Column(key=head, header=head, is_number=i > 0) for i, head in enumerate(heads))


def _number(value: float | None, text: str) -> Entry:
    return Entry(text=text, value=value)


def _numbers(finding: Finding, notion: Notion, audit: Audit) -> Table:
    """One row per rate: inside, outside, difference, interval, ratio."""
    rows = []
    for rate in notion.rates:
        inside, outside = finding.rates_inside[rate.key], finding.rates_outside[rate.key]
        difference, ratio = finding.parts[rate.key], finding.ratios[rate.key]
        bounds = finding.part_intervals[rate.key]
        rows.append(
            (
                Entry(text=rate.name, value=rate.name),
                _number(inside, percent(inside)),
                _number(outside, percent(outside)),
                _number(difference, signed(difference)),
                _number(bounds[0], interval(bounds)),
                _number(ratio, "undefined" if ratio is None else f"{ratio:.2f}"),
            )
        )
    heads = ("rate", "inside", "outside", "difference", f"{confidence_text(audit)} interval", "ratio")
    caption = f"Rates of the group and of {compared_with(audit.config, finding)}"
    return Table(caption=caption, columns=_columns(*heads), rows=tuple(rows))


def _strata(finding: Finding, notion: Notion) -> Table | None:
    """The group in every stratum of legitimate factors: what psi is a mean of."""
    if not finding.strata:
        return None
    rows = tuple(
        (
            Entry(text=str(readable(stratum.criterion)), value=str(stratum.criterion)),
            _number(stratum.size, f"{stratum.size:,}"),
            _number(stratum.size_outside, f"{stratum.size_outside:,}"),
            *(
                _number(value, "–" if value is None else text(value))
                for rate in notion.rates
                for value, text in (
                    (stratum.rates_inside[rate.key], percent),
                    (stratum.rates_outside[rate.key], percent),
                    (stratum.parts[rate.key], signed),
                )
            ),
            _number(stratum.weight, percent(stratum.weight)),
        )
        for stratum in finding.strata
    )
    by_rate = [f"{rate.key} {what}" for rate in notion.rates for what in ("inside", "outside", "difference")]
    unit = "people" if finding.people is None else "rows"
    heads = _columns("stratum", f"{unit} inside", f"{unit} outside", *by_rate, "weight")
    mean = "psi is the weighted mean" if len(notion.rates) == 1 else "weights are means over the rates"
    return Table(caption=f"The group in every stratum; {mean}", columns=heads, rows=rows)


def _breakdown(finding: Finding, dropped: tuple[Dropped, ...], audit: Audit) -> Table | None:
    """The group, and what is left of the disparity without each of its conditions."""
    if not dropped:
        return None
    whole = (
        Entry(text="the group itself", value="the group itself"),
        _number(finding.size, f"{finding.size:,}"),
        _number(finding.share, percent(finding.share)),
        _number(finding.psi, signed(finding.psi)),
        _number(finding.interval_unadjusted[0], interval(finding.interval_unadjusted)),
    )
    rows = [
        (
            Entry(text=f"without {condition}", value=condition.attribute),
            _number(entry.size, f"{entry.size:,}"),
            _number(entry.share, percent(entry.share)),
            _number(entry.psi, signed(entry.psi)),
            _number(entry.interval[0], interval(entry.interval)),
        )
        for condition, entry in zip(readable(finding.criterion), dropped, strict=True)
    ]
    heads = _columns("group", "people", "share", "psi", f"{100 * (1 - audit.config.level):.3g}% interval")
    caption = "How the disparity changes when one condition is dropped; intervals are for one group at a time"
    return Table(caption=caption, columns=heads, rows=(whole, *rows))


def _close(finding: Finding) -> Table | None:
    """Groups that the search found close to this one, and that were not tested beside it."""
    if not finding.also:
        return None
    rows = tuple(
        (
            Entry(text=str(readable(other.criterion)), value=str(other.criterion)),
            _number(other.size, f"{other.size:,}"),
            _number(other.overlap, f"{other.overlap:.0%}"),
        )
        for other in finding.also
    )
    caption = "Close to this group, and not tested beside it"
    return Table(caption=caption, columns=_columns("group", "people", "holds of this group"), rows=rows)


def _curves(finding: Finding, notion: Notion, dropped: tuple[Dropped, ...], audit: Audit) -> tuple[CurveView, ...]:
    """Every rate of the notion along every attribute of the group."""
    within = {entry.attribute: entry.within for entry in dropped}
    return tuple(
        curve_view(
            audit.details.curve(condition.attribute, finding.outcome),
            rate,
            condition,
            audit.config.level,
            within.get(condition.attribute),
        )
        for condition in finding.criterion
        for rate in notion.rates
    )


def facts(audit: Audit) -> list[str]:
    """What was done, one line each: data, search, testing."""
    data = audit.data_summary
    return [
        *[_asked(finding, audit) for finding in audit.named],
        *[
            f"{readable(finding.criterion)}, given {line}"
            for finding in (*audit.named, *audit.groups)
            for line in strata_lines(finding)
        ],
        *_further_lines(audit),
        *_data_lines(audit),
        *_method_lines(audit),
        *[f"Left out: {entry.name}: {entry.reason}." for entry in data.left_out],
        *[f"Warning: {warning}" for warning in data.warnings],
    ]


def _asked(finding: Finding, audit: Audit) -> str:
    """What was found of a group that the user named, in a line."""
    about = f"Asked about {readable(finding.criterion)}{_question(finding.notion, finding.outcome, audit)}: "
    if finding.p_adjusted is None:
        return f"{about}{finding.undefined}."
    verdict = "significant" if finding.p_adjusted <= audit.config.level else "not significant"
    rows = "people" if finding.people is None else f"rows of {count(finding.people, 'person', 'people')}"
    return (
        f"{about}psi {signed(finding.psi)} ({confidence(finding.interval_level)} interval "
        f"{interval(finding.interval)}), corrected p {p_value(finding.log10_p_adjusted)}: {verdict} "
        f"({finding.size:,} {rows}, tested on all data).{crude(finding)}"
        f"{''.join(f' {line}' for line in finer_cuts(finding))}"
    )


def _further_lines(audit: Audit) -> list[str]:
    """The first significant groups that are not listed, a line each."""
    return [
        f"Significant and not listed: {readable(one.criterion)}{_question(one.notion, one.outcome, audit)}: psi "
        f"{signed(one.psi)} ({confidence(one.interval_level)} interval {interval(one.interval)}), corrected p "
        f"{p_value(one.log10_p_adjusted)} ({one.size:,} {_unit(audit)})."
        for one in audit.further(_FURTHER_LINES)
    ]


def _unit(audit: Audit) -> str:
    """What sizes count."""
    return "people" if audit.data_summary.clusters is None else "rows"


def _audited(audit: Audit) -> str:
    """The columns that are audited, which of their values counts, and whether that is the favourable one."""
    config = audit.config

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
    return f"{line} Nobody said whether a positive value is good for people."


def _data_lines(audit: Audit) -> list[str]:
    data, config = audit.data_summary, audit.config
    audited = _audited(audit)
    who = "people" if data.clusters is None else f"rows of {data.clusters:,} people"
    if not config.search:
        return [audited, f"{data.rows:,} {who}, all of them for the tests: nothing was searched for."]
    return [
        audited,
        f"{data.rows:,} {who}: {data.rows_search:,} for the search, {data.rows_assess:,} for the tests, which the "
        "search never saw.",
        f"{count(len(data.attributes), 'attribute')}: {', '.join(entry.name for entry in data.attributes)}.",
    ]


def _design_lines(audit: Audit) -> list[str]:
    """Who was compared with whom, where that is not simply each group with everyone else."""
    config, data = audit.config, audit.data_summary
    lines = []
    if config.given:
        names = ", ".join(config.given)
        plain = not (config.cluster or config.survey_weights or config.threshold)
        test = ", and the test is that of Cochran, Mantel and Haenszel" if plain else ""
        lines.append(
            f"Given {names}: people are compared within {count(data.strata or 0, 'stratum', 'strata')} only; psi is "
            "the mean of the strata's differences, weighted by people inside times people outside over both (Mantel "
            f"and Haenszel){test}. Strata without people on both sides say nothing; those with one outcome only count "
            f"in psi, and add nothing to the test. Numbers are cut {_cuts(config)}."
        )
    if config.cluster:
        lines.append(
            f"Rows with the same {config.cluster} are about one person: "
            f"{'halves were drawn by person, and ' if config.search else ''}the tests do not take them for independent "
            "(Rao and Scott). Sizes and shares count rows."
        )
    if config.survey_weights:
        lines.append(f"Weighted by {config.survey_weights}: rates, shares and tests are those of the population.")
    if config.reference_kind != "rest":
        lines.append(f"Groups are compared with {compared_with(config)}.")
    if config.direction != "both":
        lines.append(_direction(audit))
    if config.split != "random":
        how = "two data sets" if config.split == "own" else f"the column {config.split}"
        lines.append(f"Who is searched and who tests was given by {how}.")
    elif config.fraction != 0.5:
        lines.append(f"The search saw {config.fraction:.0%} of the people.")
    return lines


def assumptions(audit: Audit) -> tuple[str, ...]:
    """What the audit takes for granted: what was audited, who is compared with whom, and who is a person."""
    independent = () if audit.config.cluster else ("Rows are taken for different people, independent of one another.",)
    return (_data_lines(audit)[0], *independent, *_design_lines(audit))


def _cuts(config: AuditConfig) -> str:
    """Where numbers that are legitimate factors are cut."""
    half = " in the half for the search" if config.search else ""
    return f"where the outcome changes{half}, and between these places into quantiles"


def _direction(audit: Audit) -> str:
    """Which groups count where a direction was asked for, and what is good for people."""
    config = audit.config
    worse = config.direction == "disadvantaged"
    rates = dict.fromkeys(rate for notion in config.notions for rate in notion.rates)
    ways = [f"a {'lower' if (rate.better == 'higher') == worse else 'higher'} {rate.name}" for rate in rates]
    good = joined([value_of(name, audit) for name in config.outcomes or config.outcome_columns[:1]])
    word = "worse" if worse else "better"
    text = (
        f"Only groups that are {config.direction} count: tests are one-sided. Good for people is {good}, so that "
        f"{joined(ways)} {'is' if len(ways) == 1 else 'are'} {word}."
    )
    if any(len(notion.rates) > 1 for notion in config.notions):
        text += (
            f" Of several rates each is tested for being {word}, and the tests are combined: a group may fare "
            f"{'better' if worse else 'worse'} by one rate, but not by every one."
        )
    return text


def _method_lines(audit: Audit) -> list[str]:
    """What was searched, and what helps to read the table: close groups, conditional tests, repeats, power."""
    config = audit.config
    plain = "the default search" if config.explore else "every leaf tested"
    search = "the paper's search" if config.preset == "paper" else plain
    names = ", ".join(notion.name for notion in config.notions)
    how = f"{count(config.trees, 'tree')} ({search}"
    if config.method is not None:
        how = f"Search: {config.method} (another system's"
    if not config.search:
        return [f"Notion: {names}; correction: {config.adjust}, level {config.level:g}.", *_design_lines(audit)]
    lines = [
        f"Notion: {names}. {how}, "
        f"alpha {config.alpha:g}, seed {config.seed}); correction: {config.adjust}, level {config.level:g}; ranked by "
        f"{config.ranking}.",
        *_design_lines(audit),
    ]
    for i, finding in enumerate(audit.groups, 1):
        close = [
            f"{readable(other.criterion)} ({other.size:,} people, {other.overlap:.0%} of the group)"
            for other in finding.also
        ]
        if close:
            lines.append(f"Close to group {i}, and not tested beside it: {'; '.join(close[:3])}.")
    return [*lines, *_test_lines(audit)]


def _test_lines(audit: Audit) -> list[str]:
    config = audit.config
    lines = []
    for i, finding in enumerate(audit.groups, 1):
        if finding.given_groups:
            one = len(finding.given_groups) == 1
            before = "; ".join(str(readable(group)) for group in finding.given_groups)
            lines.append(
                f"Group {i} is compared with people who are alike in {'this group' if one else 'these groups'}, "
                f"tested before it: {before}.{crude(finding)}"
            )
    if config.threshold > 0:
        lines.append(f"Tested against a disparity of {config.threshold:g}, not against none.")
    if config.repeats > 1:
        any_ = f"Any disparity beyond {config.threshold:g}" if config.threshold else "Any disparity at all"
        lines.append(f"{any_}, over {config.repeats} random halvings: p = {audit.p_any:.2g}.")
    for question in dict.fromkeys((entry.notion, entry.outcome) for entry in audit.detectable):
        seen = ", ".join(
            f"{entry.share:.0%} of people: {'not detectable' if entry.psi is None else f'{entry.psi:.3f}'}"
            for entry in audit.detectable
            if (entry.notion, entry.outcome) == question
        )
        of = _question(*question, audit)
        lines.append(f"Smallest |psi|{of} that these tests find with 80% power in a group of: {seen}.")
    return lines


def _question(notion: str, outcome: str | None, audit: Audit) -> str:
    """Which of several questions is meant; empty if there is one."""
    config = audit.config
    named = [outcome] if len(config.outcomes) > 1 and outcome is not None else []
    named += [notion] if len(config.notions) > 1 else []
    return f" for {', '.join(named)}" if named else ""


def _sections(audit: Audit) -> list[Section]:
    data = audit.data_summary
    return [
        Section(key="warnings", title="Warnings", paragraphs=data.warnings),
        _further(audit),
        _named(audit),
        *[_named_strata(i, finding, audit) for i, finding in enumerate(audit.named, 1)],
        *([_seen(audit)] if audit.config.search else []),
        Section(key="data", title="Data", paragraphs=(*_data_lines(audit)[:2], _fingerprint(audit)),
                table=_attributes(audit) if audit.config.search else None),
        Section(key="left-out", title="Columns left out", table=_left_out(audit)),
        Section(key="method", title="Method", paragraphs=_method(audit)),
        Section(key="settings", title="Settings", table=_settings(audit)),
        Section(key="versions", title="Versions", table=_versions(audit)),
        Section(key="limits", title="What this report is not", paragraphs=_limits(audit)),
    ]  # fmt: skip


def _further(audit: Audit) -> Section:
    """The significant groups that are not listed; of many the first."""
    shown = audit.further(FURTHER)
    several = len(audit.config.notions) > 1 or len(audit.config.outcomes) > 1
    rows = tuple(
        (
            Entry(text=str(readable(one.criterion)), value=str(one.criterion)),
            *([_word(_question(one.notion, one.outcome, audit).removeprefix(" for "))] if several else []),
            _number(one.size, f"{one.size:,}"),
            _number(one.share, percent(one.share)),
            _number(one.psi, signed(one.psi)),
            _number(one.interval[0], interval(one.interval)),
            _number(one.log10_p_adjusted, p_value(one.log10_p_adjusted)),
        )
        for one in shown
    )
    if not shown:
        return Section(key="further", title=_FURTHER)
    level = f"{confidence(shown[0].interval_level)} interval"
    heads = [*_columns("group", _unit(audit), "share", "psi", level, "corrected p")]
    if several:
        heads.insert(1, Column(key="question", header="about", is_number=False))
    left = audit.n_further - len(shown)
    more = [f"{left:,} more are among the candidates of the JSON document and of the workbook."] if left else []
    return Section(
        key="further",
        title=_FURTHER,
        paragraphs=(further(audit), *more),
        table=Table(caption=_FURTHER, columns=tuple(heads), rows=rows),
    )


def _named(audit: Audit) -> Section:
    """The groups that the user named, whatever was found of them."""
    if not audit.named:
        return Section(key="named", title="Groups that were asked about")
    config, several = audit.config, len(audit.config.notions) > 1 or len(audit.config.outcomes) > 1
    rows = tuple(
        (
            Entry(text=str(readable(one.criterion)), value=str(one.criterion)),
            *([_word(_question(one.notion, one.outcome, audit).removeprefix(" for "))] if several else []),
            _number(one.size, f"{one.size:,}"),
            _number(one.share, percent(one.share)),
            _number(one.psi, signed(one.psi)),
            _number(one.interval[0], interval(one.interval)),
            _word(_inside_outside(one)),
            _number(_first_ratio(one), plain(_first_ratio(one), 2) if len(one.ratios) == 1 else ""),
            _word(one.test),
            _number(one.log10_p_adjusted, p_value(one.log10_p_adjusted)),
            _word("undefined" if one.p_adjusted is None else "yes" if one.p_adjusted <= config.level else "no"),
        )
        for one in audit.named
    )
    unit = "people" if audit.data_summary.clusters is None else "rows"
    heads = [*_columns("group", unit, "share", "psi", f"{100 * (1 - config.level):.3g}% interval")]
    heads.append(Column(key="rates", header="rates inside / outside", is_number=False))
    heads += _columns("", "ratio")[1:]
    heads.append(Column(key="test", header="test", is_number=False))
    heads += _columns("", "corrected p")[1:]
    if several:
        heads.insert(1, Column(key="question", header="about", is_number=False))
    heads.append(Column(key="significant", header="significant", is_number=False))
    return Section(
        key="named",
        title="Groups that were asked about",
        paragraphs=(
            f"These groups were named before the audit, so that they are tested on all {audit.data_summary.rows:,} "
            f"{'people' if audit.data_summary.clusters is None else 'rows'}. Their p-values are corrected for their "
            "own number, and their intervals are for one group at a time.",
            *(f"{readable(one.criterion)}: {one.undefined}." for one in audit.named if one.undefined),
        ),
        table=Table(caption="Groups that were asked about", columns=tuple(heads), rows=rows),
    )


def _inside_outside(finding: Finding) -> str:
    pairs = [
        f"{key} {percent(finding.rates_inside[key])} / {percent(finding.rates_outside[key])}" for key in finding.parts
    ]
    return ", ".join(pairs)


def _first_ratio(finding: Finding) -> float | None:
    return next(iter(finding.ratios.values())) if len(finding.ratios) == 1 else None


def _named_strata(number: int, finding: Finding, audit: Audit) -> Section:
    """A named group in every stratum of legitimate factors, if there are any."""
    title = f"{readable(finding.criterion)}{_question(finding.notion, finding.outcome, audit)} in every stratum"
    table = _strata(finding, audit.notion_of(finding))
    return Section(key=f"named-{number}", title=title, paragraphs=tuple(finer_cuts(finding)), table=table)


def _word(text: str) -> Entry:
    return Entry(text=text, value=text)


def _seen(audit: Audit) -> Section:
    """What the audit could have seen."""
    unit = "people" if audit.data_summary.clusters is None else "rows"
    rows = tuple(
        (
            Entry(
                text=f"{entry.share:.0%} of the {unit}{_question(entry.notion, entry.outcome, audit)}",
                value=entry.share,
            ),
            _number(
                round(entry.share * audit.data_summary.rows_assess),
                f"{round(entry.share * audit.data_summary.rows_assess):,}",
            ),
            _number(entry.psi, "not detectable" if entry.psi is None else f"{entry.psi:.3f}"),
        )
        for entry in audit.detectable
    )
    table = Table(
        caption="The smallest |psi| that these tests find with 80% power",
        columns=_columns("a group of", unit, "smallest |psi|"),
        rows=rows,
    )
    explained = (
        "For a single group, had the search proposed exactly this one; it does not say whether the search would have."
    )
    return Section(
        key="seen",
        title="What the audit could have seen",
        paragraphs=(*could_have_seen(audit), explained),
        table=table,
    )


def _fingerprint(audit: Audit) -> str:
    if audit.input_sha256 is None:
        return "SHA-256 of the input: none; the data did not come from a file, or the report was made without it."
    return f"SHA-256 of the input file: {audit.input_sha256}"


def _attributes(audit: Audit) -> Table:
    rows = tuple(
        (
            Entry(text=entry.name, value=entry.name),
            Entry(text=entry.kind, value=entry.kind),
            _number(entry.distinct, f"{entry.distinct:,}"),
            _number(entry.missing, f"{entry.missing:,}"),
        )
        for entry in audit.data_summary.attributes
    )
    heads = (
        Column(key="attribute", header="attribute", is_number=False),
        Column(key="kind", header="kind", is_number=False),
        *_columns("", "different values", "people without a value")[1:],
    )
    return Table(caption="Attributes that were searched", columns=heads, rows=rows)


def _left_out(audit: Audit) -> Table | None:
    rows = tuple(
        (Entry(text=entry.name, value=entry.name), Entry(text=entry.reason, value=entry.reason))
        for entry in audit.data_summary.left_out
    )
    heads = (Column(key="column", header="column", is_number=False), Column(key="why", header="why", is_number=False))
    return Table(caption="Columns that were not audited, and why", columns=heads, rows=rows) if rows else None


def _method(audit: Audit) -> tuple[str, ...]:
    psi = (
        f"psi is the group's rate minus that of {compared_with(audit.config)}; with several rates, the mean of the "
        "absolute differences."
    )
    if not audit.config.search:
        return (
            "Groups were named beforehand and tested on all data, with a correction for the number of tests.",
            psi,
            *_method_lines(audit),
        )
    how = "at random" if audit.config.split == "random" else "as given"
    return (
        f"Automatic Location of Disparities: the people are split {how} into two halves. Groups are searched in the "
        "first half, freely. The few that the search proposes are then tested on the second half, which it never saw, "
        "and only those that are significant after correction for the number of tests are listed.",
        f"{psi} All about listed groups refers to the half that was kept for the tests{_but_trees(audit)}.",
        *_method_lines(audit),
    )


def _but_trees(audit: Audit) -> str:
    """What does not refer to the half that was kept for the tests."""
    shown = all(audit.details.people_of_tree(finding.tree or 0) is not None for finding in audit.groups)
    return "" if shown else ", except the nodes of search trees: these show people of the half that was searched"


def _settings(audit: Audit) -> Table:
    config = audit.config
    asked = [f"{notion.name}: {notion.description or 'no description'}" for notion in config.notions]
    values = [("notion", ", ".join(asked))]
    values += [("outcome", ", ".join(config.outcomes))] if config.outcomes else []
    said = {outcome: config.favourable_of(outcome) for outcome in config.outcomes or (None,)}
    words = [value if len(said) == 1 else f"{name}: {value}" for name, value in said.items() if value is not None]
    values += [("favourable", ", ".join(words))] if words else []
    named = ("prediction", "truth", "cluster", "survey_weights", "given_bins")
    values += [(name, str(getattr(config, name))) for name in named if getattr(config, name) is not None]
    values += [("given", ", ".join(config.given))] if config.given else []
    values += [("group of interest", group) for group in config.groups_of_interest]
    others: tuple[str, ...] = ("direction", "reference", "level", "adjust", "threshold")
    if config.search:
        others += ("split", "fraction", "given_in_criteria", "ranking", "groups", "trees", "alpha", "preset", "method",
                   "explore", "repeats", "seed")  # fmt: skip
    for name in others:
        value = getattr(config, name)
        values.append(
            (name, "none" if value is None else str(value).lower() if isinstance(value, bool) else f"{value}")
        )
    return _pairs("Settings of this audit", "setting", values)


def _versions(audit: Audit) -> Table:
    """What this report was made with. The audit itself does not depend on them."""
    made_with = [
        ("ALD", __version__),
        ("Python", platform.python_version()),
        ("NumPy", np.__version__),
        ("SciPy", scipy.__version__),
    ]
    return _pairs("What this report was made with", "software", made_with)


def _pairs(caption: str, head: str, values: list[tuple[str, str]]) -> Table:
    heads = (Column(key=head, header=head, is_number=False), Column(key="value", header="value", is_number=False))
    rows = tuple((Entry(text=name, value=name), Entry(text=value, value=value)) for name, value in values)
    return Table(caption=caption, columns=heads, rows=rows)


def _limits(audit: Audit) -> tuple[str, ...]:
    missed = (
        "A group that is not listed may still be treated differently: the search may have missed it, the data may be "
        "too few to show it, or a group listed before it may account for it."
        if audit.config.search
        else "A group without a significant disparity may still be treated differently: the data may be too few to "
        "show it."
    )
    return (
        LIMITATION,
        missed,
        "Whether a disparity of some size is acceptable is not for statistics to say.",
    )
