"""Audits and findings as notebooks show them: a fragment that leaves everything beside it alone.

It has no script and no ids, and all its rules are for elements inside it. Its colours are always the light ones, on a
ground of its own: a notebook's theme need not be that of the system.
"""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

from ald.errors import InputError
from ald.report.markup import Content, Markup, element
from ald.report.palette import LIGHT, resolved
from ald.report.pictures.groups import draw_groups
from ald.report.pictures.tree import draw_tree
from ald.report.sentences import certainty, magnitude, statement
from ald.report.summary import summarise
from ald.report.svg import Picture, standalone, style_sheet
from ald.report.table import Cell, printed
from ald.report.trees import tree_of
from ald.report.words import shortened
from ald.results.finding import Finding

if TYPE_CHECKING:
    from ald.results.audit import Audit

_WIDTH = 760.0
_LONG = 240


def audit_html(audit: Audit) -> str:
    """The headline, the picture and the table of listed groups, and what to do next."""
    report = summarise(audit)
    return fragment(
        element("p", shortened(report.headline, 2 * _LONG), class_="headline"),
        element("p", report.result),
        draw_groups(report, _WIDTH) if report.cards else None,
        _table(audit, audit.groups) if report.cards else [element("p", sentence) for sentence in report.lead],
        element("p", report.limitation, class_="note"),
        element(
            "p",
            "Next: ",
            element("code", "audit.save('audit.html')"),
            " writes the whole report; ",
            element("code", "audit.groups[0]"),
            " is the first group, and ",
            element("code", "audit.groups[0].plot_tree()"),
            " draws its search tree.",
            class_="note",
        ),
    )


def finding_html(audit: Audit, finding: Finding) -> str:
    """The finding in sentences and numbers, and what to do next."""
    said = statement(finding, audit)
    return fragment(
        element("p", shortened(f"{said[0].upper()}{said[1:]}.", 2 * _LONG), class_="headline"),
        element("p", magnitude(finding, audit)),
        element("p", certainty(finding, audit)),
        _table(audit, (finding,)),
        element(
            "p",
            "Next: ",
            element("code", "finding.plot_tree()"),
            " draws its search tree; ",
            element("code", "finding.criterion.mask(data)"),
            " tells who belongs to it.",
            class_="note",
        ),
    )


def plot_tree(audit: Audit, finding: Finding, levels: int | None) -> Picture:
    """The search tree of a finding."""
    if finding.tree is None or finding.node is None:
        raise InputError("this group was named, not searched for: no tree proposed it")
    tree = tree_of(audit.forest, finding.tree, audit.notion_of(finding), audit.details.people_of_tree(finding.tree))
    return Picture(standalone(draw_tree(tree, finding.node, levels=levels)))


def _table(audit: Audit, findings: tuple[Finding, ...]) -> Markup:
    cells = printed(audit)
    head = [element("th", cell.header, class_="number" if cell.is_number else None, scope="col") for cell in cells]
    rows = [
        element(
            "tr",
            [element("td", shortened(cell.text(finding), _LONG), class_=_class(cell)) for cell in cells],
        )
        for finding in findings
    ]
    return element("table", element("thead", element("tr", head)), element("tbody", rows))


def _class(cell: Cell) -> str | None:
    return ("number short" if cell.is_short else "number") if cell.is_number else None


def fragment(*content: Content) -> str:
    """Content with the notebook's rules, in an element of its own."""
    rules = resources.files("ald.report").joinpath("static/notebook.css").read_text("utf-8")
    style = Markup(f"<style>{resolved(rules + style_sheet(), LIGHT)}</style>")
    return element("div", style, *content, class_="ald-notebook")
