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

from ald.details import Dropped
from ald.findings import Finding
from ald.notions import Notion
from ald.report.code import to_pandas, to_sql
from ald.report.curves import CurveView, curve_view
from ald.report.sentences import certainty, could_have_seen, headline, lead, magnitude, statement
from ald.report.table import Column, Entry, Table, confidence_text, notions, ranked_table
from ald.report.trees import Tree, tree_of
from ald.report.words import count, interval, percent, readable, signed
from ald.version import __version__

if TYPE_CHECKING:
    from ald.auditing import Audit

LIMITATION = (
    "These are associations found in logged data: hypotheses for people who know the case, neither causes nor a "
    "verdict on whether a model is biased."
)


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
    `sentences`: the disparity, its size and its certainty. `pandas` and `sql` pick its members; `sql` may be None.
    `numbers`: one row per rate. `breakdown`: the group, and what it is without each of its conditions, as a table and
    as `dropped`. `close`: groups folded into it. `curves`: its rates along its attributes. `tree`, `node`: where the
    search met it, and `origin`: how, in a sentence.
    """

    rank: int
    rank_confidence: int
    rank_magnitude: int
    finding: Finding
    notion: Notion
    criterion: str
    sentences: tuple[str, ...]
    pandas: str
    sql: str | None
    numbers: Table
    breakdown: Table | None
    dropped: tuple[Dropped, ...]
    close: Table | None
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
    """How many groups were listed of how many tested."""
    data, level = audit.data_summary, audit.config.level
    names = ", ".join(notion.name for notion in notions(audit))
    listed = count(len(audit.groups), "group") if audit.groups else "No group"
    return (
        f"{listed} listed of {audit.n_candidates:,} tested on {data.rows_assess:,} people that the search never saw "
        f"({names}, level {level:g})."
    )


def _figures(audit: Audit) -> tuple[Figure, ...]:
    data = audit.data_summary
    return (
        Figure(text=f"{data.rows:,}", label="people audited"),
        Figure(text=f"{data.rows_assess:,}", label="of them kept for the tests"),
        Figure(text=f"{len(data.attributes):,}", label=f"attribute{'' if len(data.attributes) == 1 else 's'} searched"),
        Figure(text=f"{audit.n_candidates:,}", label=f"group{'' if audit.n_candidates == 1 else 's'} tested"),
        Figure(text=f"{len(audit.groups):,}", label="listed"),
    )


def _cards(audit: Audit) -> tuple[Card, ...]:
    confidence = _places([finding.log10_p or 0.0 for finding in audit.groups])
    magnitudes = _places([-abs(finding.psi or 0.0) for finding in audit.groups])
    trees: dict[tuple[int, Notion], Tree] = {}
    cards = []
    for i, finding in enumerate(audit.groups):
        notion = audit.notion_of(finding)
        key = (finding.tree, notion)
        if key not in trees:
            trees[key] = tree_of(audit.forest, finding.tree, notion)
        sentence = statement(finding, audit)
        cards.append(
            Card(
                rank=i + 1,
                rank_confidence=confidence[i],
                rank_magnitude=magnitudes[i],
                finding=finding,
                notion=notion,
                criterion=str(readable(finding.criterion)),
                sentences=(
                    f"{sentence[0].upper()}{sentence[1:]}.",
                    magnitude(finding, audit),
                    certainty(finding, audit),
                ),
                pandas=to_pandas(finding.criterion),
                sql=to_sql(finding.criterion),
                numbers=_numbers(finding, notion, audit),
                breakdown=_breakdown(finding, audit.details.dropped[i], audit),
                dropped=audit.details.dropped[i],
                close=_close(finding),
                curves=_curves(finding, notion, audit.details.dropped[i], audit),
                tree=trees[key],
                node=finding.node,
                origin=_origin(finding, audit),
            )
        )
    return tuple(cards)


def _origin(finding: Finding, audit: Audit) -> str:
    """How the group was found."""
    place = f"node {finding.node} of tree {finding.tree + 1}"
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
    return Table(caption="Rates of the group and of everyone else", columns=_columns(*heads), rows=tuple(rows))


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
            audit.details.curve(condition.attribute),
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
        *_data_lines(audit),
        *_method_lines(audit),
        *[f"Left out: {entry.name}: {entry.reason}." for entry in data.left_out],
        *[f"Warning: {warning}" for warning in data.warnings],
    ]


def _data_lines(audit: Audit) -> list[str]:
    data, config = audit.data_summary, audit.config
    value = "1 or true, as assumed" if config.favourable is None else config.favourable
    if config.outcome is not None:
        audited = f"Outcome: {config.outcome}, favourable value: {value}."
    else:
        audited = f"Prediction: {config.prediction}, truth: {config.truth}, positive value: {value}."
    return [
        audited,
        f"{data.rows:,} people: {data.rows_search:,} for the search, {data.rows_assess:,} for the tests, which the "
        "search never saw.",
        f"{count(len(data.attributes), 'attribute')}: {', '.join(entry.name for entry in data.attributes)}.",
    ]


def _method_lines(audit: Audit) -> list[str]:
    """What was searched, and what helps to read the table: close groups, conditional tests, repeats, power."""
    config = audit.config
    plain = "the default search" if config.explore else "every leaf tested"
    search = "the paper's search" if config.preset == "paper" else plain
    lines = [
        f"Notion: {', '.join(notion.name for notion in notions(audit))}. {count(config.trees, 'tree')} ({search}, "
        f"alpha {config.alpha:g}, seed {config.seed}); correction: {config.adjust}, level {config.level:g}; ranked by "
        f"{config.ranking}."
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
    given = [str(i) for i, finding in enumerate(audit.groups, 1) if "given" in finding.test]
    if given:
        lines.append(
            f"The p-value of group{'s' if len(given) > 1 else ''} {', '.join(given)} is that of a stratified test: "
            "what it adds to the groups found before it."
        )
    if config.threshold > 0:
        lines.append(f"Tested against a disparity of {config.threshold:g}, not against none.")
    if config.repeats > 1:
        any_ = f"Any disparity beyond {config.threshold:g}" if config.threshold else "Any disparity at all"
        lines.append(f"{any_}, over {config.repeats} random halvings: p = {audit.p_any:.2g}.")
    seen = ", ".join(
        f"{entry.share:.0%} of people: {'not detectable' if entry.psi is None else f'{entry.psi:.3f}'}"
        for entry in audit.detectable
    )
    lines.append(f"Smallest |psi| that these tests find with 80% power in a group of: {seen}.")
    return lines


def _sections(audit: Audit) -> list[Section]:
    data = audit.data_summary
    return [
        Section(key="warnings", title="Warnings", paragraphs=data.warnings),
        _seen(audit),
        Section(key="data", title="Data", paragraphs=(*_data_lines(audit)[:2], _fingerprint(audit)),
                table=_attributes(audit)),
        Section(key="left-out", title="Columns left out", table=_left_out(audit)),
        Section(key="method", title="Method", paragraphs=_method(audit)),
        Section(key="settings", title="Settings", table=_settings(audit)),
        Section(key="versions", title="Versions", table=_versions(audit)),
        Section(key="limits", title="What this report is not", paragraphs=_limits(audit)),
    ]  # fmt: skip


def _seen(audit: Audit) -> Section:
    """What the audit could have seen."""
    rows = tuple(
        (
            Entry(text=f"{entry.share:.0%} of the people", value=entry.share),
            _number(entry.share, f"{round(entry.share * audit.data_summary.rows_assess):,}"),
            _number(entry.psi, "not detectable" if entry.psi is None else f"{entry.psi:.3f}"),
        )
        for entry in audit.detectable
    )
    table = Table(
        caption="The smallest |psi| that these tests find with 80% power",
        columns=_columns("a group of", "people", "smallest |psi|"),
        rows=rows,
    )
    explained = (
        "An approximation for a single group, had the search proposed exactly this one; it does not say whether the "
        "search would have."
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
    return (
        "Automatic Location of Disparities: the people are split at random into two halves. Groups are searched in the "
        "first half, freely. The few that the search proposes are then tested on the second half, which it never saw, "
        "and only those that are significant after correction for the number of tests are listed.",
        "psi is the group's rate minus everyone else's; with several rates, the mean of the absolute differences. The "
        "nodes of search trees show numbers of the half that was searched; everything else in this report refers to "
        "the half that was kept for the tests.",
        *_method_lines(audit),
    )


def _settings(audit: Audit) -> Table:
    config = audit.config
    named = ("outcome", "favourable", "prediction", "truth")
    values = [("notion", ", ".join(f"{notion.name}: {notion.description or 'no description'}" for notion in
                                   notions(audit)))]  # fmt: skip
    values += [(name, str(getattr(config, name))) for name in named if getattr(config, name) is not None]
    others = ("ranking", "groups", "trees", "alpha", "level", "adjust", "preset", "explore", "threshold", "repeats",
              "seed")  # fmt: skip
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
    return (
        LIMITATION,
        "A group that is not listed may still be treated differently: the search may have missed it, the data may be "
        "too few to show it, or a group listed before it may account for it.",
        "Whether a disparity of some size is acceptable is not for statistics to say.",
    )
