"""The report as one HTML file that needs nothing else: styles, pictures, script and the document are inside it."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Sequence
from importlib import resources
from typing import Any

from ald.report.curves import CurveView
from ald.report.markup import Content, Markup, element, markup
from ald.report.model import Card, Charts, Grid, Heading, Report, Section
from ald.report.palette import DARK, LIGHT, Scale, variables
from ald.report.pictures.charts import draw_charts
from ald.report.pictures.curve import draw_curve
from ald.report.pictures.groups import draw_groups
from ald.report.pictures.reliability import RELIABILITY_KEY, draw_reliability
from ald.report.pictures.spread import SPREAD_KEY, draw_spread
from ald.report.pictures.tree import LEVELS, draw_tree, shown_nodes, shown_psi
from ald.report.svg import at_two_widths, style_sheet
from ald.report.trees import Tree
from ald.report.units import units_of, units_of_notion
from ald.report.words import count, shorten, what_colours_say

# Widths of pictures in pixels, for wide and for narrow windows.
_WIDE, _NARROW = 1002.0, 320.0
_HALF = 420.0

# Longer headlines are set smaller.
_HEADLINE = 180

# Longer tables are folded.
_ROWS = 20

# Longer names are cut in running text and headings; tables of data and code have them whole.
_LONG = 240


def to_html(report: Report) -> str:
    """The whole page. Same report, same bytes."""
    style, script = style_of_reports(), script_of_reports()
    page = element(
        "html",
        element(
            "head",
            element("meta", charset="utf-8"),
            element("meta", http_equiv="Content-Security-Policy", content=_policy(style, script)),
            element("meta", name="viewport", content="width=device-width, initial-scale=1"),
            element("meta", name="color-scheme", content="light dark"),
            element("meta", name="referrer", content="no-referrer"),
            element("title", f"{report.title}: {_cut(report.headline, 120)}"),
            element("link", rel="icon", href="data:,"),
            Markup(f"<style>{style}</style>"),
        ),
        element(
            "body",
            element("a", "Skip to the content", href="#content", class_="skip"),
            report_header(report),
            element("main", report_content(report), id="content"),
            _footer(report),
            Markup(f'<script type="application/json" id="audit">{_embed(report.document)}</script>'),
            Markup(f'<script type="application/json" id="provenance">{_embed(report.provenance)}</script>'),
            Markup(f"<script>{script}</script>"),
        ),
        lang="en",
    )
    return f"<!DOCTYPE html>\n{page}\n"


def report_content(report: Report) -> Markup:
    """All that follows the verdict: groups, what stands beside them, a card per group, and the sections."""
    return markup(
        None if report.giveaways is None else _section(report.giveaways),
        _groups(report),
        [_section(section) for section in report.overview],
        _figures(report),
        [_card(card, report) for card in report.cards],
        _sections(report),
    )


def _static(name: str) -> str:
    return resources.files("ald.report").joinpath(f"static/{name}").read_text("utf-8")


def script_of_reports() -> str:
    """What makes a report's tables, order and trees live."""
    return _static("report.js")


def style_of_reports() -> str:
    """How a report looks, its pictures too, light and dark."""
    colours = (
        f":root{{{variables(LIGHT)}}}@media (prefers-color-scheme:dark){{:root{{{variables(DARK)}}}}}"
        f"@media print{{:root{{{variables(LIGHT)}}}}}"
    )
    return f"{colours}\n{_static('report.css')}\n{style_sheet()}"


def _policy(style: str, script: str) -> str:
    """Nothing may be loaded, and only this style and this script count."""
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _cut(text: str, length: int = _LONG) -> str:
    return shorten(text, length)


def report_header(report: Report) -> Markup:
    """The verdict, with what it is about, and what to beware of."""
    return element(
        "header",
        element(
            "p",
            element("span", "ALD", class_="mark"),
            f"{_cut(report.title, 160)} · {_cut(report.notions, 80)}",
            class_="eyebrow",
        ),
        element("p", " · ".join(_cut(text, 120) for text in report.made), class_="made"),
        element("h1", _headline(report), class_="long" if len(report.headline) > _HEADLINE else None),
        element("div", [element("p", sentence) for sentence in report.lead], class_="lead"),
        element("p", report.limitation, class_="limitation"),
        _notes(report),
        _warnings(report),
    )  # fmt: skip


def _notes(report: Report) -> Markup | None:
    """The auditor's own notes."""
    if not report.notes:
        return None
    notes = [element("p", note) for note in report.notes]
    return element("div", element("p", element("strong", "Notes")), notes, class_="notes", role="note")


def _figures(report: Report) -> Markup:
    """The numbers that stand out."""
    figures = [element("div", element("dt", figure.label), element("dd", figure.text)) for figure in report.figures]
    return element("dl", figures, class_="figures")


def _headline(report: Report) -> Content:
    """The headline with the group standing out."""
    before, group, after = report.headline.partition(report.group) if report.group else (report.headline, "", "")
    return [before, element("span", _cut(group), class_="criterion") if group else None, after]


def _warnings(report: Report) -> Content:
    found = [section for section in report.sections if section.key == "warnings"]
    return [
        element(
            "div",
            element("p", element("strong", section.title)),
            element("ul", [element("li", _cut(text, 600)) for text in section.paragraphs]),
            class_="warnings",
            role="note",
        )
        for section in found
    ]


def _groups(report: Report) -> Markup:
    if not report.table.rows:
        return Markup("")
    return element(
        "section",
        element("div", element("h2", report.groups_title, id="groups"), _switch(report), class_="headed"),
        element("p", report.result),
        _groups_picture(report),
        _table(report.table, class_="ranking", labelled=True, cards=report.cards),
        element("p", report.footnote, class_="note") if report.footnote else None,
    )


def _switch(report: Report) -> Markup | None:
    """The choice of the order of cards."""
    if not report.cards:
        return None
    return element(
        "fieldset",
        element("legend", "Order by"),
        _choice("confidence", "confidence", report.ranking),
        _choice("magnitude", "magnitude", report.ranking),
        class_="switch",
        hidden=True,
    )


def _groups_picture(report: Report) -> Content:
    """All cards in one picture."""
    if not report.cards:
        return None
    figure = element(
        "figure",
        at_two_widths(lambda width: draw_groups(report.cards, width), _WIDE, _NARROW),
        class_="picture ranked",
    )
    return [figure, _legend(units_of_notion(report.cards[0].notion).noun)]


def _legend(noun: str) -> Markup:
    """What the colours say, and what they do not."""
    return element(
        "p",
        element("span", class_="swatch above"),
        "higher than for the people they are compared with ",
        element("span", class_="swatch below"),
        f"lower. {what_colours_say(noun)}",
        class_="note",
    )


def _choice(value: str, label: str, chosen: str) -> Markup:
    radio = element("input", type="radio", name="order", value=value, checked=value == chosen)
    return element("label", radio, label)


def _table(
    table: Grid, *, class_: str = "", labelled: bool = False, cards: tuple[Card, ...] = (), caption: bool = True
) -> Markup:
    """A table in a box that scrolls by itself where the window is narrow; `labelled` ones become lists there."""
    head = element(
        "tr",
        [
            element("th", column.header, scope="col", title=column.meaning or None, class_=_class(column, class_))
            for column in table.columns
        ],
    )  # fmt: skip
    rows = []
    for i, row in enumerate(table.rows):
        entries: list[Content] = []
        for k, (column, entry) in enumerate(zip(table.columns, row, strict=True)):
            content: Content = _cut(entry.text) if k == 0 else entry.text
            if cards and k == 0:
                content = element("a", _cut(entry.text), href=f"#group-{cards[i].rank}")
            entries.append(
                element(
                    "td" if k else "th",
                    content,
                    scope=None if k else "row",
                    class_=_class(column, class_),
                    data_label=column.header if labelled and k else None,
                    data_value=_sort_value(entry.value) if labelled else None,
                )
            )
        ranks = {"data_c": cards[i].rank_confidence, "data_m": cards[i].rank_magnitude} if cards else {}
        rows.append(element("tr", entries, **ranks))
    return element(
        "div",
        element(
            "table",
            element("caption", table.caption) if caption else None,
            element("thead", head),
            element("tbody", rows),
            class_=class_ or None,
        ),
        class_="scroll",
        tabindex=0,
        role="group",
        aria_label=table.caption,
    )


def _class(column: Heading, table: str) -> str | None:
    """What the column of an entry asks for; all columns of dense tables, which may have many rows, look alike."""
    if table == "dense" or not column.is_number:
        return None
    return "number interval" if column.key == "lower" else "number"


def _sort_value(value: Any) -> str | None:
    if isinstance(value, (int, float)):
        return repr(value)
    return None if value is None else _cut(str(value), 80)


def _card(card: Card, report: Report) -> Markup:
    """Everything about one group."""
    name = f"group-{card.rank}"
    return element(
        "article",
        element("p", f"Group {card.rank}{f' · {card.about}' if card.about else ''}", class_="eyebrow"),
        element("h2", _cut(card.criterion), id=name),
        [element("p", _cut(sentence, 900)) for sentence in card.sentences],
        _table(card.numbers),
        _part("How amounts are spread", _spread(card)),
        _part("How well the score tells the truth", _reliability(card)),
        _part("When one condition is dropped", _table(card.breakdown) if card.breakdown else None),
        _part("Among people who are alike otherwise", _table(card.beside, class_="dense") if card.beside else None),
        _part("In every stratum", _foldable(card.strata) if card.strata else None),
        _part("Overlapping groups", _table(card.close) if card.close else None),
        _part("Along its attributes", _curves(card)),
        _part("In the search", None if card.tree is None else _tree(card.tree, card, report)),
        _part("Who belongs to it, as code", _code(card)),
        class_="card",
        data_c=card.rank_confidence,
        data_m=card.rank_magnitude,
        aria_labelledby=name,
    )


def _spread(card: Card) -> Content:
    """The quantiles inside and outside; nothing of yes and no."""
    if card.spread is None or card.quantiles is None:
        return None
    spread, rate = card.spread, card.notion.rates[0]
    return [
        element("p", SPREAD_KEY, class_="note"),
        element(
            "figure", at_two_widths(lambda width: draw_spread(spread, rate, width), _WIDE, _NARROW), class_="picture"
        ),
        _table(card.quantiles),
    ]


def _reliability(card: Card) -> Content:
    """Bands of the score inside and outside; nothing without a score and a truth."""
    if card.reliability is None or card.bands is None:
        return None
    told = card.reliability
    return [
        element("p", RELIABILITY_KEY, class_="note"),
        element("figure", at_two_widths(lambda width: draw_reliability(told, width), _WIDE, _NARROW), class_="picture"),
        _table(card.bands),
    ]


def _part(title: str, content: Content) -> Content:
    return [element("h3", title), content] if content else None


def _code(card: Card) -> Content:
    sql: Content = card.sql
    if card.sql is None:
        return [
            _codeblock("pandas", card.pandas),
            element("p", "No SQL: a column's name has characters that SQL cannot write visibly.", class_="note"),
        ]
    return [_codeblock("pandas", card.pandas), _codeblock("SQL", sql)]


def _codeblock(language: str, code: Content) -> Markup:
    block = element("pre", element("code", code), tabindex=0, role="group", aria_label=f"The group as {language}")
    return element("figure", element("figcaption", language), block, class_="code")


def _curves(card: Card) -> Content:
    single = len(card.curves[0].series) == 1 if card.curves else True
    noun = units_of_notion(card.notion).noun
    key: Content = f"The stroke is the {noun}, the line its interval; the shaded part belongs to the group."
    if not single:
        key = [
            element("span", class_="swatch all"),
            "everyone ",
            element("span", class_="swatch those"),
            "those who satisfy the group's other conditions. ",
            key,
        ]
    alone = len(card.curves) == 1
    figures = [_curve(view, alone) for view in card.curves]
    return [element("p", key, class_="note"), element("div", figures, class_="curves alone" if alone else "curves")]


def _curve(view: CurveView, alone: bool) -> Markup:
    return element(
        "figure",
        element("figcaption", element("strong", _cut(view.rate.name, 80)), " along ",
                element("strong", _cut(view.attribute, 80))),
        at_two_widths(lambda width: draw_curve(view, width), _WIDE, _NARROW) if alone else draw_curve(view, _HALF),
        element("details", element("summary", "Numbers of this picture"), _curve_table(view)),
        class_="picture",
    )  # fmt: skip


def _curve_table(view: CurveView) -> Markup:
    """The numbers of a curve; written by hand because there are many of them."""
    rows, units = [], units_of(view.rate)
    for series in view.series:
        if len(view.series) > 1:
            rows.append(f'<tr><th colspan="5" scope="rowgroup">{markup(series.title)}</th></tr>')
        for point in series.points:
            numbers = (units.level(point.rate), units.level_interval((point.low, point.high)), units.signed(point.psi))
            rest = "".join(f"<td>{markup(number)}</td>" for number in (f"{point.n:,}", *numbers))
            rows.append(f'<tr><th scope="row">{markup(point.label)}</th>{rest}</tr>')
    head = "".join(
        f'<th scope="col">{markup(name)}</th>'
        for name in (_cut(view.attribute, 80), "people", units.noun, "interval", "gap to the others")
    )
    caption = f"{view.rate.name} along {_cut(view.attribute, 80)}"
    table = (
        f'<table class="dense"><caption>{markup(caption)}</caption><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>"
    )
    return element("div", Markup(table), class_="scroll", tabindex=0, role="group", aria_label=caption)


def _tree(tree: Tree, card: Card, report: Report) -> Content:
    shown = len(shown_nodes(tree, tree.path(card.node)))
    total = len(tree.nodes)
    told = f"{card.origin} {tree.whose}"
    if shown < total:
        told += f" The picture stops after {LEVELS} splits; the way to the group goes on to its end."
    return [
        element("p", told, class_="note"),
        element("figure", element("div", draw_tree(tree, card.node), class_="scroll", tabindex=0, role="group",
                                  aria_label="The search tree as a picture"), class_="picture tree"),
        _whole_tree(tree, card, report),
    ]  # fmt: skip


def _whole_tree(tree: Tree, card: Card, report: Report) -> Markup:
    """The whole tree as a list that opens; where an earlier card has it, a link to it."""
    name, total = f"tree-{tree.number + 1}", len(tree.nodes)
    of_tree = [other for other in report.cards if other.tree == tree]
    if of_tree[0] is not card:
        label = f"The whole tree as a list is with group {of_tree[0].rank}: {count(total, 'node')}"
        return element("p", element("a", label, href=f"#{name}"))
    summary = element("summary", f"The whole tree as a list: {count(total, 'node')}")
    return element("details", summary, _outline(tree, of_tree), class_="outline", id=name)


def _outline(tree: Tree, cards: Sequence[Card]) -> Markup:
    """The whole tree as nested lists: every inner node opens and closes. The paths of the groups are open."""
    path = {i for card in cards for i in tree.path(card.node)}
    ranks: dict[int, list[str]] = {}
    for card in cards:
        ranks.setdefault(card.node, []).append(str(card.rank))
    units = units_of_notion(tree.notion)
    scale = Scale(max((abs(each.psi or 0.0) for each in tree.nodes), default=0.0), units.per_one)
    parts: list[str] = []
    stack: list[int | str] = [0]
    while stack:
        at = stack.pop()
        if isinstance(at, str):
            parts.append(at)
            continue
        each = tree.nodes[at]
        psi = shown_psi(each, units)
        branch = f"{markup(_cut(each.branch, 60))} " if each.branch else ""
        label = f"{branch}<i class=s{scale.step(each.psi)}>{psi}</i> {each.n:,} · {each.share:.1%}"
        if each.id in ranks:
            label += f" <em>group {', '.join(ranks[each.id])}</em>"
        mark = " class=on" if at in path else ""
        if not each.children:
            parts.append(f"<li{mark}>{label}</li>")
            continue
        opened = " open" if at in path or each.depth < LEVELS else ""
        name = f" <b>{markup(_cut(each.attribute, 40))}</b>"
        parts.append(f"<li{mark}><details{opened}><summary>{label}{name}</summary><ul>")
        stack.append("</ul></details></li>")
        stack.extend(reversed(each.children))
    return Markup(f"<ul>{''.join(parts)}</ul>")


def _sections(report: Report) -> Iterable[Content]:
    for section in report.sections:
        if section.key != "warnings":
            yield _section(section)


def _section(section: Section) -> Markup:
    return element(
        "section",
        element("h2", section.title, id=f"section-{section.key}"),
        [element("p", _cut(text, 2000)) for text in section.paragraphs],
        None if section.charts is None else _charts(section.charts),
        _foldable(section.table) if section.table else None,
        _fold(section.more) if section.more else None,
        class_="section",
    )


def _charts(charts: Charts) -> Content:
    return [
        element("p", charts.legend, class_="note"),
        element("figure", at_two_widths(lambda width: draw_charts(charts, width), _WIDE, _NARROW), class_="picture"),
    ]


def _foldable(table: Grid) -> Markup:
    """A table, folded if it is long."""
    return _fold(table) if len(table.rows) > _ROWS else _table(table, class_="slim")


def _fold(table: Grid) -> Markup:
    return element("details", element("summary", table.caption), _table(table, class_="dense", caption=False))


def _footer(report: Report) -> Markup:
    return element(
        "footer",
        element(
            "p",
            f"Everything in this file stays in it: it loads nothing and sends nothing. The {report.subject} is inside "
            "as machine-readable JSON.",
        ),
        element("p", element("button", f"Save the {report.subject} as JSON", type="button", id="save"), hidden=True),
    )  # fmt: skip


def _embed(document: dict[str, Any]) -> str:
    """A document, inert inside a script element."""
    text = json.dumps(document, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
