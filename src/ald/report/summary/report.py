"""The whole report of an audit."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ald._core.version import __version__
from ald.report.identity import Identity
from ald.report.model import Figure, Report
from ald.report.summary import everyone
from ald.report.summary.cards import make_cards
from ald.report.summary.facts import list_facts
from ald.report.summary.giveaways import show_giveaways, verdict_beside
from ald.report.summary.law import profile_sections
from ald.report.summary.ledger import standing, which_question
from ald.report.summary.overview import show_gaps, show_power
from ald.report.summary.phrases import group_words
from ald.report.summary.sections import make_sections
from ald.report.summary.sentences import LIMITATION, among, further, lead
from ald.report.summary.settings import trace
from ald.report.summary.table import make_brief_table, make_candidate_records, make_ranked_table, make_records
from ald.report.words import confidence, count
from ald.results.document import CANDIDATES
from ald.results.finding import Finding

if TYPE_CHECKING:
    from ald.results.audit import Audit


def summarise(audit: Audit, identity: Identity) -> Report:
    """The audit in words, numbers and tables."""
    file = [] if audit.input_name is None else [audit.input_name]
    return Report(
        title=identity.title,
        made=(*file, identity.day_words, f"ALD {__version__}", *which_question(audit)),
        day=identity.day,
        notes=identity.notes,
        headline=verdict_beside(audit),
        group=group_words(audit.groups[0].criterion) if audit.groups else "",
        lead=(*lead(audit), *standing(audit)),
        result=_state_result(audit),
        groups_title=_title_groups(audit),
        is_search=audit.config.searches,
        has_trees=audit.mode.name == "halves",
        ranking=audit.config.ranking,
        notions=", ".join(dict.fromkeys(finding.notion for finding in audit.groups)) or audit.notion.name,
        figures=_count_figures(audit),
        giveaways=show_giveaways(audit),
        overview=tuple(section for section in (show_gaps(audit), show_power(audit)) if section is not None),
        footnote=_explain_intervals(audit),
        table=make_ranked_table(audit),
        brief=make_brief_table(audit, audit.groups),
        records=make_records(audit),
        facts=tuple(list_facts(audit)),
        warnings=audit.warnings,
        profile=profile_sections(audit),
        limitation=LIMITATION,
        provenance=trace(identity, audit.input_name, audit.input_sha256),
        _cards=lambda: make_cards(audit),
        _sections=lambda: make_sections(audit),
        _candidates=lambda: make_candidate_records(audit),
        _document=lambda: audit.to_reduced_dict(CANDIDATES),
    )


def _title_groups(audit: Audit) -> str:
    if not audit.config.searches:
        return "Named groups"
    return "Groups found" if audit.groups else "No group is listed"


def _state_result(audit: Audit) -> str:
    """How many groups were listed of how many tested, and how many more are significant."""
    level = audit.config.level
    names = ", ".join(notion.name for notion in audit.config.notions)
    if not audit.config.searches:
        return f"{count(len(audit.named_groups), 'test')} on all {among(audit)} ({names}, level {level:g})."
    if audit.mode.is_everyone:
        return f"{everyone.result(audit)} {further(audit)}".rstrip()
    listed = count(len(audit.groups), "group") if audit.groups else "No group"
    line = (
        f"{listed} listed of {audit.n_tested:,} tested on {among(audit)} that the search never saw "
        f"({names}, level {level:g})."
    )
    return f"{line} {further(audit)}".rstrip()


def _explain_intervals(audit: Audit) -> str:
    """Why the intervals of listed groups have another confidence than one would expect, if they have."""
    usual = 1 - audit.config.level
    levels = sorted({one.interval_level for one in audit.groups} - {usual})
    if not levels:
        return ""
    found = confidence(levels[0])
    if levels[0] < usual:
        return f"Tests are one-sided: a {found} interval excludes no gap just where its test is significant."
    return (
        f"Intervals have {found} confidence instead of {confidence(usual)}: wide enough to allow for each group having "
        "been picked from all that were tested."
    )


def _count_figures(audit: Audit) -> tuple[Figure, ...]:
    data = audit.data_summary
    if not audit.config.searches:
        return (
            Figure(text=f"{data.rows:,}", label="people" if data.clusters is None else "rows"),
            Figure(text=f"{len(audit.config.named_groups):,}", label="named groups"),
            Figure(text=f"{len(_find_significant(audit)):,}", label="significant tests"),
        )
    questions = len(audit.config.notions) * max(len(audit.config.asked_outcomes), 1)
    told = Counter(condition.attribute for finding in audit.giveaways for condition in finding.criterion)
    searched = len(data.attributes) - sum(n == questions for n in told.values())
    people = () if data.clusters is None else (Figure(text=f"{data.clusters:,}", label="people"),)
    return (
        *people,
        Figure(text=f"{data.rows:,}", label="people audited" if data.clusters is None else "rows audited"),
        *([] if audit.mode.is_everyone else [Figure(text=f"{data.rows_assess:,}", label="of them kept for the tests")]),
        Figure(text=f"{searched:,}", label=f"attribute{'' if searched == 1 else 's'} searched"),
        Figure(text=f"{audit.mode.shuffles:,}", label="shufflings per round")
        if audit.mode.is_everyone
        else Figure(text=f"{audit.n_tested:,}", label=f"group{'' if audit.n_tested == 1 else 's'} tested"),
        Figure(
            text=f"{len(audit.groups):,}",
            label=f"listed of {len(audit.significant):,} significant" if audit.n_further else "listed",
        ),
    )


def _find_significant(audit: Audit) -> list[Finding]:
    """The named groups with a significant disparity."""
    return [one for one in audit.named_groups if one.p_adjusted is not None and one.p_adjusted <= audit.config.level]
