"""Audits and findings as notebooks show them: a fragment that leaves everything beside it alone.

It has no script and no ids, and all its rules are for elements inside it. Its colours are always the light ones, on a
ground of its own: a notebook's theme need not be that of the system.
"""

from __future__ import annotations

from importlib import resources

from ald.report.markup import Content, Markup, element
from ald.report.model import FindingReport, Grid, Heading, Report, Section
from ald.report.palette import LIGHT, resolve_colours
from ald.report.pictures.charts import draw_charts
from ald.report.pictures.groups import draw_groups
from ald.report.svg import style_sheet
from ald.report.words import shorten

_WIDTH = 760.0
_LONG = 240


def audit_html(report: Report) -> str:
    """The headline, the picture and the table of listed groups, and what to do next."""
    return fragment(
        element("p", shorten(report.headline, 2 * _LONG), class_="headline"),
        [element("p", text) for text in report.giveaways.paragraphs] if report.giveaways is not None else None,
        _table(report.giveaways.table) if report.giveaways is not None and report.giveaways.table is not None else None,
        element("p", report.result),
        draw_groups(report.cards, _WIDTH) if report.cards else None,
        _table(report.brief) if report.brief.rows else [element("p", sentence) for sentence in report.lead],
        [_section(section) for section in report.overview if section.table is not None or section.charts is not None],
        element("p", report.limitation, class_="note"),
        element(
            "p",
            "Next: ",
            element("code", f"{report.subject}.save('{report.subject}.html')"),
            " writes the whole report",
            _more_to_do(report),
            class_="note",
        ),
    )


def _section(section: Section) -> Content:
    return [
        element("p", element("strong", section.title)),
        None if section.charts is None else draw_charts(section.charts, _WIDTH),
        None if section.table is None else _table(section.table),
    ]


def _more_to_do(report: Report) -> Content:
    """What else an audit has to offer."""
    if report.subject != "audit":
        return "."
    tree = [", and ", element("code", "audit.groups[0].plot_tree()"), " draws its search tree."]
    return ["; ", element("code", "audit.groups[0]"), " is the first group", tree if report.has_trees else "."]


def finding_html(report: FindingReport) -> str:
    """The finding in sentences and numbers, and what to do next."""
    return fragment(
        element("p", shorten(report.headline, 2 * _LONG), class_="headline"),
        [element("p", sentence) for sentence in report.sentences],
        _table(report.table),
        element(
            "p",
            "Next: ",
            [element("code", "finding.plot_tree()"), " draws its search tree; "] if report.has_tree else None,
            element("code", "finding.criterion.mask(data)"),
            " tells who belongs to it.",
            class_="note",
        ),
    )


def _table(table: Grid) -> Markup:
    head = [element("th", column.header, class_="number" if column.is_number else None, scope="col")
            for column in table.columns]  # fmt: skip
    rows = [
        element(
            "tr",
            [
                element("td", shorten(entry.text, _LONG), class_=_class(column))
                for column, entry in zip(table.columns, row, strict=True)
            ],
        )
        for row in table.rows
    ]
    return element("table", element("thead", element("tr", head)), element("tbody", rows))


def _class(column: Heading) -> str | None:
    return ("number short" if column.is_short else "number") if column.is_number else None


def fragment(*content: Content) -> str:
    """Content with the notebook's rules, in an element of its own."""
    rules = resources.files("ald.report").joinpath("static/notebook.css").read_text("utf-8")
    style = Markup(f"<style>{resolve_colours(rules + style_sheet(), LIGHT)}</style>")
    return element("div", style, *content, class_="ald-notebook")
