"""One finding by itself: its report, and the search tree that it came from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ald.groups.wording import readable
from ald.report.model import FindingReport
from ald.report.pictures.groups import Alone
from ald.report.summary.sentences import certainty, magnitude, question, state
from ald.report.summary.table import make_brief_table
from ald.report.trees import Tree, tree_of
from ald.results.finding import Finding

if TYPE_CHECKING:
    from ald.results.audit import Audit


def summarise_finding(finding: Finding, audit: Audit) -> FindingReport:
    """The finding in words and numbers."""
    return FindingReport(
        headline=state(finding, audit),
        sentences=(magnitude(finding, audit), certainty(finding, audit)),
        table=make_brief_table(audit, (finding,)),
        has_tree=finding.tree is not None,
    )


def alone(finding: Finding, audit: Audit) -> Alone:
    """The finding as a picture of it needs it."""
    return Alone(
        criterion=str(readable(finding.criterion)),
        about=question(finding.notion, finding.outcome, audit).removeprefix(" for "),
        finding=finding,
        notion=audit.notion_of(finding),
    )


def search_tree(finding: Finding, audit: Audit) -> Tree:
    """The tree that proposed a finding, or comes closest to it."""
    tree = finding.tree or 0
    return tree_of(audit.forest, tree, audit.notion_of(finding), audit.details.people_of_tree(tree))
