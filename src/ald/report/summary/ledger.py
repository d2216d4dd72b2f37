"""The ledger of questions in words: which question this is, and what its p-values are over all that were asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ald.groups.wording import readable
from ald.report.model import Grid, Heading, Section
from ald.report.summary.sentences import FURTHER
from ald.report.summary.table import number, word
from ald.report.words import count, p_value
from ald.results.finding import Finding
from ald.results.ledger import Ledger

if TYPE_CHECKING:
    from ald.results.audit import Audit
    from ald.results.gaps import Gap

_TITLE = "Questions asked of this data"


def which_question(audit: Audit) -> tuple[str, ...]:
    """Which question this is, for the line below the title; nothing where no ledger was kept."""
    ledger = audit.ledger
    return () if ledger is None else (f"question {ledger.number} of {ledger.total} asked of this data",)


def is_exploratory(audit: Audit) -> bool:
    """Whether it is known that an answer about the same data had been seen before."""
    return audit.ledger is not None and audit.ledger.own.exploratory


def named_when(audit: Audit) -> str:
    """When groups were named, and what that means for their tests, up to whom they are tested on."""
    if is_exploratory(audit):
        return "These groups were named after an answer about the same people was seen: exploratory tests, on"
    return "These groups were named before the audit, so that they are tested on"


def standing(audit: Audit) -> list[str]:
    """What several questions do to the answer, in sentences: for who reads no further."""
    ledger = audit.ledger
    if ledger is None or (ledger.total == 1 and not ledger.own.exploratory):
        return []
    told = [f"This answers question {ledger.number} of {ledger.total} asked of this data."]
    if ledger.own.exploratory:
        told[0] = told[0][:-1] + ", after an answer was seen: it is exploratory, and wants new data to confirm it."
    found = _findings(audit)
    if found and ledger.total > 1:
        left = sum(_holds(one, ledger, audit) for one in found)
        told.append(
            f"Corrected for all {ledger.total} questions, {left} of {count(len(found), 'significant group')} "
            f"{'stays' if left == 1 else 'stay'} at the level of {audit.config.level:g}."
        )
    return told


def _findings(audit: Audit) -> list[Finding]:
    """The groups that are significant in this audit alone: listed ones and named ones."""
    named = [one for one in audit.named_groups if one.p_adjusted is not None and one.p_adjusted <= audit.config.level]
    return [*audit.groups, *named]


def _holds(finding: Finding, ledger: Ledger, audit: Audit) -> bool:
    corrected = ledger.correct(finding.log10_p_adjusted)
    return corrected is not None and 10**corrected <= audit.config.level


def ledger_sections(audit: Audit) -> tuple[Section, ...]:
    """The ledger, and every p-value over all questions."""
    ledger = audit.ledger
    if ledger is None:
        return ()
    rows = tuple(
        (
            number(one.number, f"{one.number}{' (this one)' if one.number == ledger.number else ''}"),
            word(one.words),
            word("after an answer: exploratory" if one.exploratory else "before any answer"),
        )
        for one in ledger.asked
    )
    heads = tuple(
        Heading(key=key, header=head, is_number=False)
        for key, head in (("number", "question"), ("asked", "what was asked"), ("when", "when"))
    )
    why = (
        "Each question is one more look at the same people: the more are asked, the more often one of them is answered "
        "by chance. What was asked after an answer had been seen is exploratory. The ledger knows the questions asked "
        "on one page of ald serve, not those asked elsewhere."
    )
    sections = [
        Section(key="ledger", title=_TITLE, paragraphs=(why,), table=Grid(caption=_TITLE, columns=heads, rows=rows))
    ]
    values = _p_values(audit, ledger)
    if values is not None:
        how = f"Each p-value of this audit times {ledger.total}, the number of questions (Bonferroni), and at most 1."
        sections.append(Section(key="ledger-p", title="P-values over all questions", paragraphs=(how,), table=values))
    return tuple(sections)


def _p_values(audit: Audit, ledger: Ledger) -> Grid | None:
    """The p-values of listed and named groups, and of attributes by themselves, over all questions."""
    found: list[tuple[Finding | Gap, str]] = [(one, "listed") for one in audit.groups]
    found += [(one, "significant, not listed") for one in audit.further(FURTHER)]
    found += [(one, "named") for one in audit.named_groups]
    gaps = {gap.attribute: gap for gap in reversed(audit.gaps.rows)}
    found += [(gap, "attribute by itself") for gap in audit.gaps.rows if gaps[gap.attribute] is gap]
    if not found:
        return None
    rows = tuple(
        (word(readable(one.criterion)), word(what), number(p, p_value(p)), number(over, p_value(over)))
        for one, what in found
        for p, over in [(one.log10_p_adjusted, ledger.correct(one.log10_p_adjusted))]
    )
    heads = (
        Heading(key="group", header="group", is_number=False),
        Heading(key="what", header="which", is_number=False),
        Heading(key="p_adjusted", header="adj. p"),
        Heading(key="p_questions", header=f"for {count(ledger.total, 'question')}"),
    )
    return Grid(caption="P-values over all questions", columns=heads, rows=rows)
