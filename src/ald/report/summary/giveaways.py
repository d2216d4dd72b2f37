"""Columns that give the outcome away, as reports show them: a sentence beside the verdict, and a section."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ald.groups.wording import readable
from ald.report.model import Grid, Heading, Section
from ald.report.summary.sentences import question, unit_of, verdict
from ald.report.summary.table import entries_of, gap_head, number, word
from ald.report.units import units_of
from ald.report.words import confidence, p_value
from ald.results.finding import Finding

if TYPE_CHECKING:
    from ald.results.audit import Audit

TITLE = "Columns that give the outcome away"


def verdict_beside(audit: Audit) -> str:
    """The verdict, after the columns that give the outcome away, if there are any."""
    if not audit.giveaways:
        return verdict(audit)
    apart, found = "it" if len(audit.giveaways) == 1 else "them", verdict(audit)
    return f"{name_giveaways(audit)} Apart from {apart}: {found[:1].lower()}{found[1:]}"


def name_giveaways(audit: Audit) -> str:
    """Which columns give the outcome away, in a sentence."""
    first, n = audit.giveaways[0], len(audit.giveaways)
    condition, rates = readable(first.criterion), _compare_rates(first, audit)
    if n == 1:
        about = question(first.notion, first.outcome, audit)
        return f"{condition} gives the outcome away{about} ({rates}): a copy of it, or the rule itself?"
    return f"{n:,} columns give the outcome away, first of all {condition} ({rates}): copies of it, or the rule itself?"


def show_giveaways(audit: Audit) -> Section | None:
    """The conditions with the gaps that D2 shows, and what to make of them."""
    found = audit.giveaways
    if not found:
        return None
    several = len(audit.config.notions) > 1 or len(audit.config.asked_outcomes) > 1
    rows = tuple(
        (
            *entries_of(one, audit),
            word(_compare_rates(one, audit)),
            number(one.log10_p_adjusted, p_value(one.log10_p_adjusted)),
        )
        for one in found
    )
    about = [Heading(key="question", header="about", is_number=False)] if several else []
    heads = (
        Heading(key="criterion", header="group", is_number=False),
        *about,
        Heading(key="people", header=unit_of(audit)),
        Heading(key="share", header="share"),
        Heading(key="psi", header=gap_head(all(len(notion.rates) > 1 for notion in audit.config.notions))),
        Heading(key="interval", header=f"{confidence(found[0].interval_level)} interval"),
        Heading(key="rates", header="in / out", is_number=False),
        Heading(key="p_adjusted", header="adj. p"),
    )
    one = len(found) == 1
    return Section(
        key="giveaways",
        title=TITLE,
        paragraphs=(
            f"One condition on {'this column' if one else 'each of these columns'} tells nearly everyone's outcome. "
            f"{'The column' if one else 'Each'} may be a copy of the outcome, may have been filled in after it, or may "
            "be the rule itself. Leave a copy out with exclude (--exclude); a rule is the first disparity to look at.",
            f"{'The column was' if one else 'The columns were'} judged on {_judged_on(audit)}, and the search went on "
            f"without {'it' if one else 'them'}. All numbers are of {_numbers_of(audit)}; p-values are corrected for "
            "the number of these columns alone.",
            *(f"{readable(finding.criterion)}: {finding.undefined}." for finding in found if finding.undefined),
        ),
        table=Grid(caption="Each condition, and those it holds against everyone else", columns=heads, rows=rows),
    )


def _compare_rates(finding: Finding, audit: Audit) -> str:
    """Every rate inside and outside, such as: selection rate 0.0% against 100.0%."""
    return ", ".join(
        f"{rate.name} {units_of(rate).level(finding.rates_inside[rate.key])} against "
        f"{units_of(rate).level(finding.rates_outside[rate.key])}"
        for rate in audit.notion_of(finding).rates
    )


def _judged_on(audit: Audit) -> str:
    return "everyone" if audit.mode.is_everyone else "the half that was searched"


def _numbers_of(audit: Audit) -> str:
    return "everyone" if audit.mode.is_everyone else "the half that was kept for the tests"
