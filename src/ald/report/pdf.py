"""The report as a PDF document, archivable (PDF/A-2b) and accessible (PDF/UA-1), set by Typst.

What the data says never becomes Typst code: the template receives it as JSON and sets it as plain text.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from importlib import resources
from typing import Any
from xml.etree import ElementTree

from ald.errors import needed_extra
from ald.groups.criterion import visible
from ald.report.curves import CurveView
from ald.report.markup import Markup, number
from ald.report.model import Card, Grid, Report, Section
from ald.report.pictures.charts import draw_charts
from ald.report.pictures.curve import draw_curve
from ald.report.pictures.groups import draw_groups
from ald.report.pictures.reliability import RELIABILITY_KEY, draw_reliability
from ald.report.pictures.spread import SPREAD_KEY, draw_spread
from ald.report.pictures.tree import LEVELS, draw_tree, shown_nodes
from ald.report.svg import standalone
from ald.report.units import units_of, units_of_notion
from ald.report.words import shorten, what_colours_say

STANDARDS = ["a-2b", "ua-1"]

# The time of what is only set to find out which characters there are.
_EPOCH = datetime(1980, 1, 1, tzinfo=UTC)

# Widths of pictures in pixels: the text of a page is 166 mm wide, and pixels are 0.75 pt.
_WIDTH = 627.0

# What is said below a tree of a node that one points at, and the room for it: there is no pointing on paper.
_HIDDEN, _TIPS = ".hint,.tip{display:none}", 72.0

# Longer names are cut in headings, tables and running text; code has them whole.
_NAME, _ENTRY, _HEADLINE, _LONG = 90, 240, 420, 900

_MISSING = re.compile(r'the text `"(.*)"` could not be displayed', re.DOTALL)
_RUST_ESCAPE = re.compile(r"\\u\{([0-9a-f]+)\}")


def to_pdf(report: Report) -> bytes:
    """The document. Same report, same bytes, as long as the built-in fonts know all its characters."""
    content = json.dumps(_content(report), ensure_ascii=False, allow_nan=False)
    return _compile(_source("report.typ"), content, datetime(*report.day.timetuple()[:3], tzinfo=UTC))


def _content(report: Report) -> dict[str, Any]:
    """What the template sets: texts, tables as texts, and pictures."""
    cards = report.cards
    return {
        "title": _cut(report.title, _HEADLINE),
        "made": _cut(" · ".join(report.made), _HEADLINE),
        "day": [report.day.year, report.day.month, report.day.day],
        "notes": [_cut(note) for note in report.notes],
        "document-title": _cut(f"{report.title}: {report.group}" if report.group else report.title, _NAME),
        "notions": _cut(report.notions, _NAME),
        "headline": _cut(report.headline, _HEADLINE),
        "lead": [_cut(sentence) for sentence in report.lead],
        "figures": [{"text": figure.text, "label": figure.label} for figure in report.figures],
        "warnings": [_cut(warning) for section in report.sections if section.key == "warnings"
                     for warning in section.paragraphs],
        "limitation": report.limitation,
        "giveaways": None if report.giveaways is None else _section(report.giveaways),
        "groups-title": report.groups_title,
        "result": visible(report.result),
        "groups-picture": _picture(draw_groups(cards, _WIDTH)) if cards else None,
        "table": _table(report.table),
        "nothing": [] if report.table.rows or not report.is_search else
                   ["What the audit could have seen, and how it was done, follows."],
        "overview": [_section(section) for section in report.overview],
        "footnote": report.footnote,
        "colours": what_colours_say(units_of_notion(cards[0].notion).noun if cards else "rate"),
        "cards": [_card(card) for card in cards],
        "told": list(dict.fromkeys(f"Group {card.rank}: {_origin(card)}" for card in cards)),
        "sections": [
            _section(section) for section in report.sections if section.key != "warnings"
        ],
        "numbers": [_numbers(card) for card in cards],
        "nodes": "The nodes of all search trees are in the audit's JSON document." if report.has_trees else "",
    }  # fmt: skip


def _cut(text: str, length: int = _LONG) -> str:
    return shorten(visible(text), length)


def _table(table: Grid | None) -> dict[str, Any] | None:
    if table is None:
        return None
    return {
        "caption": visible(table.caption),
        "columns": [{"header": visible(column.header), "is_number": column.is_number} for column in table.columns],
        "rows": [[_cut(entry.text, _ENTRY) for entry in row] for row in table.rows],
    }


def _section(section: Section) -> dict[str, Any]:
    paragraphs = [_cut(text, 4 * _LONG) for text in section.paragraphs]
    return {
        "title": visible(section.title),
        "paragraphs": paragraphs,
        "table": _table(section.table),
        "more": _table(section.more),
        "legend": "" if section.charts is None else section.charts.legend,
        "picture": None if section.charts is None else _picture(draw_charts(section.charts, _WIDTH)),
    }


def _picture(svg: Markup, unused: float = 0.0) -> dict[str, Any]:
    """A picture with its size and its description in words; `unused` is cut off at the bottom."""
    root = ElementTree.fromstring(svg)  # noqa: S314 - drawn by us
    width, height = (float(root.get(side, "1")) for side in ("width", "height"))
    text = _known_to_typst(standalone(svg))
    sizes = 'viewBox="0 0 {0} {1}" width="{0}" height="{1}"'
    whole, kept = (sizes.format(number(width), number(bottom)) for bottom in (height, height - unused))
    text = text.replace(whole, kept, 1)
    return {
        "svg": text,
        "width": width,
        "height": height - unused,
        "alt": _cut(root.get("aria-label", ""), 4 * _LONG),
    }


def _card(card: Card) -> dict[str, Any]:
    several = any(len(view.series) > 1 for view in card.curves)
    noun = units_of_notion(card.notion).noun
    key = f"The stroke is the {noun}, the line its interval; the shaded part belongs to the group."
    if several:
        key = f"Grey: everyone. Blue: those who satisfy the group's other conditions. {key}"
    return {
        "rank": card.rank,
        "name": _cut(f"{card.criterion} ({card.about})" if card.about else card.criterion, _NAME),
        "criterion": _cut(card.criterion),
        "sentences": [_cut(sentence) for sentence in card.sentences],
        "numbers": _table(card.numbers),
        "breakdown": _table(card.breakdown),
        "reliability": None if card.reliability is None else {
            "key": RELIABILITY_KEY,
            "picture": _picture(draw_reliability(card.reliability, _WIDTH)),
            "table": _table(card.bands),
        },
        "spread": None if card.spread is None else {
            "key": SPREAD_KEY,
            "picture": _picture(draw_spread(card.spread, card.notion.rates[0], _WIDTH)),
            "table": _table(card.quantiles),
        },
        "beside": _table(card.beside),
        "strata": _table(card.strata),
        "close": _table(card.close),
        "key": key,
        "curves": [{"title": _curve_title(view), "picture": _picture(draw_curve(view, _WIDTH))}
                   for view in card.curves],
        "tree": None if card.tree is None else _picture(draw_tree(card.tree, card.node), _TIPS),
        "code": [{"language": "pandas", "text": visible(card.pandas)}]
                + ([{"language": "SQL", "text": visible(card.sql)}] if card.sql is not None else []),
        "notes": [] if card.sql is not None else
                 ["No SQL: a column's name has characters that SQL cannot write visibly."],
    }  # fmt: skip


def _curve_title(view: CurveView) -> str:
    return f"{_cut(view.rate.name, _NAME)} along {_cut(view.attribute, _NAME)}"


def _origin(card: Card) -> str:
    if card.tree is None:
        return visible(card.origin)
    told = f"{visible(card.origin)} {card.tree.whose}"
    if len(shown_nodes(card.tree, card.tree.path(card.node))) < len(card.tree.nodes):
        told += f" The picture stops after {LEVELS} splits; the way to the group goes on to its end."
    return told


def _numbers(card: Card) -> dict[str, Any]:
    """The points of a group's curves as tables."""
    tables = []
    for view in card.curves:
        units = units_of(view.rate)
        heads = ("people", units.noun, "interval", "gap to the others")
        columns = [{"header": _cut(view.attribute, _NAME), "is_number": False}]
        columns += [{"header": head, "is_number": True} for head in heads]
        for series in view.series:
            rows = [
                [_cut(point.label), f"{point.n:,}", units.level(point.rate),
                 units.level_interval((point.low, point.high)), units.signed(point.psi)]
                for point in series.points
            ]  # fmt: skip
            tables.append({"caption": f"{_curve_title(view)}: {series.title}", "columns": columns, "rows": rows})
    return {"title": f"Group {card.rank}: {_cut(card.criterion, _NAME)}", "tables": tables}


def to_png(svg: str) -> bytes:
    """A picture as pixels, two for each of its own. Same picture, same bytes, with the same fonts."""
    width = float(ElementTree.fromstring(svg).get("width", "1"))  # noqa: S314 - drawn by us
    compiled: bytes = _compiler("PNG pictures").compile(
        _source("picture.typ"),
        sys_inputs={"svg": _known_to_typst(svg), "width": f"{width * 0.75:g}"},
        ignore_system_fonts=False,
        format="png",
        ppi=192.0,
    )
    return compiled


def _known_to_typst(svg: str) -> str:
    """The picture without what only pages and pointers need, and in the whole hundreds of weights that Typst knows."""
    return svg.replace("font-weight:650", "font-weight:bold").replace("<style>", f"<style>{_HIDDEN}", 1)


def _source(name: str) -> bytes:
    return resources.files("ald.report").joinpath(f"templates/{name}").read_bytes()


def _compile(source: bytes, data: str, time: datetime) -> bytes:
    """The document of this data. Characters that no font has are written as escapes.

    The fonts that come with Typst serve alone if they can; otherwise those of the machine help out.
    """
    strange = {character for character in data if ord(character) > 0x7E}
    missing = _without_glyph(strange, system=False)
    system = bool(missing)
    if system:
        missing = _without_glyph(missing, system=True)
    while True:
        try:
            return _run(source, data.translate(_escapes(missing)), system=system, time=time)
        except _compiler().TypstError as error:
            # Marks that combine with other letters may be known by themselves and fail beside them.
            found = _find_unknown(error) & strange - missing
            if not found:
                raise
            missing |= found


def _without_glyph(characters: set[str], *, system: bool) -> set[str]:
    """The characters that no font can show. Of scripts with thousands, one of 256 neighbours speaks for all."""
    speakers = {_neighbours(character): character for character in sorted(characters)}
    missing: set[str] = set()
    for tested in (set(speakers.values()), characters):
        left = tested - missing
        while left:
            try:
                _run(_source("characters.typ"), json.dumps(sorted(left)), system=system)
            except _compiler().TypstError as error:
                failed = {_neighbours(character) for character in _find_unknown(error) & left}
                if not failed:
                    raise
                missing |= {character for character in characters if _neighbours(character) in failed}
                left -= missing
            else:
                break
    return missing


def _neighbours(character: str) -> int:
    """What tells a character's neighbours from others: below the scripts with thousands, each is alone."""
    return ord(character) if ord(character) < 0x2E80 else 0x110000 + (ord(character) >> 8)


def _find_unknown(error: Exception) -> set[str]:
    """The characters that an error of the compiler says it cannot show."""
    match = _MISSING.search(str(error))
    return set(_RUST_ESCAPE.sub(lambda code: chr(int(code[1], 16)), match[1])) if match else set()


def _escapes(characters: set[str]) -> dict[int, str]:
    """Per character its escape, as it stands in JSON."""
    return {ord(c): json.dumps(c.encode("unicode_escape").decode())[1:-1] for c in characters}


def _compiler(what: str = "PDF reports") -> Any:
    try:
        import typst
    except ModuleNotFoundError:
        raise needed_extra(what, "pdf") from None
    return typst


def _run(source: bytes, data: str, *, system: bool, standards: list[str] = STANDARDS, time: datetime = _EPOCH) -> bytes:
    document: bytes = _compiler().compile(
        source,
        sys_inputs={"report": data},
        ignore_system_fonts=not system,
        pdf_standards=standards,
        timestamp=time,
    )
    return document
