"""The sections that follow the groups of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ald.data.prepare import DataSummary
from ald.groups.wording import readable
from ald.options import AuditConfig
from ald.report.model import Grid, Heading, Section
from ald.report.summary import everyone
from ald.report.summary.cards import tabulate_strata
from ald.report.summary.facts import describe_data, describe_method
from ald.report.summary.law import profile_sections
from ald.report.summary.ledger import is_exploratory, ledger_sections, named_when
from ald.report.summary.phrases import compared_with, units_in
from ald.report.summary.sentences import (
    FURTHER,
    LIMITATION,
    few,
    finer_cuts,
    further,
    question,
    say_hidden,
    unit_of,
)
from ald.report.summary.settings import tabulate_settings, tabulate_versions
from ald.report.summary.table import entries_of, gap_head, number, text_and_numbers, word
from ald.report.units import Points, units_of
from ald.report.words import confidence, p_value, plain
from ald.results.finding import Finding

if TYPE_CHECKING:
    from ald.results.audit import Audit

_FURTHER = "Significant groups that are not listed"


def make_sections(audit: Audit) -> tuple[Section, ...]:
    """All sections that say something, warnings first."""
    data = audit.data_summary
    sections = [
        Section(key="warnings", title="Warnings", paragraphs=data.warnings),
        *ledger_sections(audit),
        _list_further(audit),
        *profile_sections(audit),
        _show_named(audit),
        *[_show_strata(i, finding, audit) for i, finding in enumerate(audit.named_groups, 1)],
        Section(key="data", title="Data", paragraphs=(*describe_data(audit)[:2], say_fingerprint(audit.input_sha256)),
                table=tabulate_attributes(data, audit.config) if audit.config.searches else None),
        Section(key="left-out", title="Columns left out", table=tabulate_left_out(data)),
        Section(key="method", title="Method", paragraphs=_describe_method(audit)),
        Section(key="settings", title="Settings",
                table=tabulate_settings(audit.config, is_everyone=audit.mode.is_everyone)),
        Section(key="versions", title="Versions", table=tabulate_versions()),
        Section(key="limits", title="What this report is not", paragraphs=_state_limits(audit)),
    ]  # fmt: skip
    return tuple(section for section in sections if section.paragraphs or section.table)


def _list_further(audit: Audit) -> Section:
    """The significant groups that are not listed; of many the first."""
    shown = audit.further(FURTHER)
    several = len(audit.config.notions) > 1 or len(audit.config.asked_outcomes) > 1
    rows = tuple(
        (
            *entries_of(one, audit),
            number(one.log10_p_adjusted, everyone.p_adjusted_text(one)),
        )
        for one in shown
    )
    if not shown:
        return Section(key="further", title=_FURTHER)
    level = f"{confidence(shown[0].interval_level)} interval"
    heads = [*text_and_numbers("group", unit_of(audit), "share", gap_head(_has_several(audit)), level, "adj. p")]
    if several:
        heads.insert(1, Heading(key="question", header="about", is_number=False))
    left = audit.n_further - len(shown)
    more = [f"{left:,} more are among the candidates of the JSON document and of the workbook."] if left else []
    return Section(
        key="further",
        title=_FURTHER,
        paragraphs=(further(audit), *more),
        table=Grid(caption=_FURTHER, columns=tuple(heads), rows=rows),
    )


def _show_named(audit: Audit) -> Section:
    """The groups that the user named, whatever was found of them."""
    if not audit.named_groups:
        return Section(key="named_groups", title="Named groups")
    config, several = audit.config, len(audit.config.notions) > 1 or len(audit.config.asked_outcomes) > 1
    rows = tuple(
        (
            *entries_of(one, audit),
            word(_pair_rates(one, audit)),
            number(_only_ratio(one), plain(_only_ratio(one), 2) if len(one.ratios) == 1 else ""),
            word(one.test),
            number(one.log10_p_adjusted, p_value(one.log10_p_adjusted)),
            word("undefined" if one.p_adjusted is None else "yes" if one.p_adjusted <= config.level else "no"),
        )
        for one in audit.named_groups
    )
    unit = "people" if audit.data_summary.clusters is None else "rows"
    heads = [
        *text_and_numbers(
            "group", unit, "share", gap_head(_has_several(audit)), f"{confidence(1 - config.level)} interval"
        )
    ]
    heads.append(Heading(key="rates", header=f"{units_in(audit).noun}s inside / outside", is_number=False))
    heads += text_and_numbers("", "ratio")[1:]
    heads.append(Heading(key="test", header="test", is_number=False))
    heads += text_and_numbers("", "adj. p")[1:]
    if several:
        heads.insert(1, Heading(key="question", header="about", is_number=False))
    heads.append(Heading(key="significant", header="significant", is_number=False))
    return Section(
        key="named_groups",
        title="Named groups",
        paragraphs=(
            f"{named_when(audit)} all {audit.data_summary.rows:,} "
            f"{'people' if audit.data_summary.clusters is None else 'rows'}. Their p-values are corrected for their "
            "own number, and their intervals are for one group at a time.",
            *(f"{readable(one.criterion)}: {one.undefined}." for one in audit.named_groups if one.undefined),
        ),
        table=Grid(caption="Named groups", columns=tuple(heads), rows=rows),
    )


def _pair_rates(finding: Finding, audit: Audit) -> str:
    pairs = [
        f"{rate.key} {units_of(rate).level(finding.rates_inside[rate.key])} / "
        f"{units_of(rate).level(finding.rates_outside[rate.key])}"
        for rate in audit.notion_of(finding).rates
    ]
    return ", ".join(pairs)


def _only_ratio(finding: Finding) -> float | None:
    return next(iter(finding.ratios.values())) if len(finding.ratios) == 1 else None


def _show_strata(number: int, finding: Finding, audit: Audit) -> Section:
    """A named group in every stratum of legitimate factors, if there are any."""
    title = f"{readable(finding.criterion)}{question(finding.notion, finding.outcome, audit)} in every stratum"
    notion = audit.notion_of(finding)
    table, cuts = tabulate_strata(finding, notion), tuple(finer_cuts(finding, notion))
    return Section(key=f"named-{number}", title=title, paragraphs=cuts, table=table)


def _has_several(audit: Audit) -> bool:
    """Whether a gap is the mean of several rates, of all notions."""
    return all(len(notion.rates) > 1 for notion in audit.config.notions)


def say_fingerprint(sha256: str | None) -> str:
    """Which file was read."""
    if sha256 is None:
        return "SHA-256 of the input: none; the data did not come from a file, or the report was made without it."
    return f"SHA-256 of the input file: {sha256}"


def tabulate_attributes(data: DataSummary, config: AuditConfig) -> Grid:
    """The attributes that were searched."""
    rows = tuple(
        (
            word(entry.name),
            word(entry.kind),
            number(entry.distinct, f"{entry.distinct:,}"),
            number(entry.missing, few(entry.missing, config)),
        )
        for entry in data.attributes
    )
    heads = (
        Heading(key="attribute", header="attribute", is_number=False),
        Heading(key="kind", header="kind", is_number=False),
        *text_and_numbers("", "different values", "people without a value")[1:],
    )
    return Grid(caption="Attributes that were searched", columns=heads, rows=rows)


def tabulate_left_out(data: DataSummary) -> Grid | None:
    """The columns that were not audited, if there are any."""
    rows = tuple((word(entry.name), word(entry.reason)) for entry in data.left_out)
    heads = (Heading(key="column", header="column", is_number=False), Heading(key="why", header="why", is_number=False))
    return Grid(caption="Columns that were not audited, and why", columns=heads, rows=rows) if rows else None


def _describe_method(audit: Audit) -> tuple[str, ...]:
    units = units_in(audit)
    if isinstance(units, Points):
        psi = (
            f"The gap, psi, is the group's {units.noun} minus that of {compared_with(audit.config)}, in percentage "
            "points; with several rates, the mean of the absolute differences."
        )
    else:
        psi = f"The gap, psi, is the group's mean minus that of {compared_with(audit.config)}, {units.gaps_in}."
    if not audit.config.searches:
        return (
            f"Groups were named {'afterwards' if is_exploratory(audit) else 'beforehand'} and tested on all data, with "
            "a correction for the number of tests.",
            psi,
            *describe_method(audit),
        )
    if audit.mode.is_everyone:
        return (*everyone.method(audit), psi, *describe_method(audit))
    how = "as given" if audit.config.has_own_split else "at random"
    return (
        f"Automatic Location of Disparities: the people are split {how} into two halves. Groups are searched in the "
        "first half, freely. The few that the search proposes are then tested on the second half, which it never saw, "
        "and only those that are significant after correction for the number of tests are listed.",
        f"{psi} All about listed groups refers to the half that was kept for the tests{_except_trees(audit)}.",
        *describe_method(audit),
    )


def _except_trees(audit: Audit) -> str:
    """What does not refer to the half that was kept for the tests."""
    shown = all(audit.details.people_of_tree(finding.tree or 0) is not None for finding in audit.groups)
    return "" if shown else ", except the nodes of search trees: these show people of the half that was searched"


def _state_limits(audit: Audit) -> tuple[str, ...]:
    missed = (
        "A group that is not listed may still be treated differently: the search may have missed it, the data may be "
        "too few to show it, or a group listed before it may account for it."
        if audit.config.searches
        else "A group without a significant disparity may still be treated differently: the data may be too few to "
        "show it."
    )
    return (
        LIMITATION,
        missed,
        *say_hidden(audit),
        "Whether a disparity of some size is acceptable is not for statistics to say.",
    )
