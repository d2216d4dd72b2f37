"""Reports as Markdown: read back by a parser, they show what the report says, and nothing of it is markup."""

from __future__ import annotations

import re
from functools import cache

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

import ald
from ald import Audit, SettingError
from ald.groups.criterion import visible
from ald.report.markdown import code_block, code_span, escape
from tests.tables import decisions, hostile, people

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])

# Pieces of markup, so that Hypothesis meets them often.
PIECES = [
    "*", "_", "**", "__", "`", "``", "|", "\\", "[", "](x)", "<b>", "</b>", "<!--", "&amp;", "&", "#", "##", ">", "-",
    "+", "1.", "1)", "=", "---", "~~", "$", ":smile:", "@someone", "#12", "http://e.x", "www.e.x", "a", "b_c", " ",
    "  ", "\n", "\t", "é", "中", "\u202e", "![", "!",
]  # fmt: skip
texts = st.one_of(st.text(max_size=30), st.lists(st.sampled_from(PIECES), max_size=8).map("".join))


def shown(tokens: list[Token]) -> str:
    """The text that a reader sees."""
    parts = []
    for token in tokens:
        if token.children:
            parts.append(shown(token.children))
        elif token.type == "softbreak":
            parts.append(" ")
        else:
            parts.append(token.content)
    return "".join(parts)


def kinds(tokens: list[Token]) -> set[str]:
    return {token.type for token in tokens} | {kind for token in tokens for kind in kinds(token.children or [])}


def spaced(text: str) -> str:
    return " ".join(visible(text).split())


def tables(markdown: str) -> list[list[list[str]]]:
    """The tables of a Markdown text: rows of entries as they are shown."""
    found: list[list[list[str]]] = []
    for token, after in zip(tokens := PARSER.parse(markdown), [*tokens[1:], None], strict=True):
        if token.type == "table_open":
            found.append([])
        elif token.type == "tr_open":
            found[-1].append([])
        elif token.type in ("td_open", "th_open") and after is not None:
            found[-1][-1].append(shown([after]))
    return found


@cache
def compas_like() -> Audit:
    return ald.audit(
        decisions(), prediction="predicted", truth="true", notion="equalized odds", search=ald.Search(trees=5)
    )


@given(texts)
@example("1. x")
@example("# x #")
@example("a\\")
@example("* a *b* _c_ d_e __f__")
def test_text_is_shown_as_it_is(text: str) -> None:
    """As a paragraph, whatever the text holds, it is shown, and there is nothing but text and code in it."""
    tokens = PARSER.parse(escape(text))
    assert spaced(shown(tokens)) == spaced(text)
    assert kinds(tokens) <= {"paragraph_open", "paragraph_close", "inline", "text", "text_special", "code_inline"}


@given(texts)
def test_headings_are_shown_as_they_are(text: str) -> None:
    """The same as the end of a heading."""
    tokens = PARSER.parse(f"## Group 1: {escape(text)}")
    assert spaced(shown(tokens)) == spaced(f"Group 1: {text}")
    assert kinds(tokens) <= {"heading_open", "heading_close", "inline", "text", "text_special", "code_inline"}


@given(texts)
def test_no_link_mention_or_emoji(text: str) -> None:
    """What renderers act on after the escapes are gone stands in code only."""
    tokens = PARSER.parse(escape(text))
    bare = " ".join(
        token.content for inline in tokens for token in inline.children or [] if token.type != "code_inline"
    )
    assert not re.search(r"(?i)@\w|://|www\.|:\w+:|#\d", bare)


@given(texts)
def test_code_holds_any_text(text: str) -> None:
    """Code spans and blocks end where they should, whatever backticks are inside."""
    word = visible(text).replace(" ", "") or "x"
    assert shown(PARSER.parse(code_span(word))) == word
    (block,) = PARSER.parse("\n".join(code_block(text or "x", "sql")))
    assert block.content.rstrip("\n") == visible(text or "x").rstrip("\n")


def test_ordinary_names_need_no_escapes() -> None:
    """Underscores inside words, comparisons, braces and brackets stay as people wrote them."""
    for text in ("high_risk = 1 and 30 < age <= 45", 'race in {"Asian-Pac-Islander", Other} (5.2%)', "a * b; c > d!"):
        assert escape(text) == text
    assert "\\" not in compas_like().to_markdown()


@pytest.mark.parametrize(
    "audit", [compas_like(), ald.audit(people(), outcome="y", search=ald.Search(trees=5))], ids=["two", "one"]
)
def test_numbers_come_back(audit: Audit) -> None:
    """Read back, the first table has the groups and their numbers, and the others are those of the report."""
    report = audit.report()
    first, *others = tables(audit.to_markdown())
    assert first[0] == ["#", *(column.header for column in report.brief.columns)]
    assert first[1:] == [[str(i), *(entry.text for entry in row)] for i, row in enumerate(report.brief.rows, 1)]
    place = [column.key for column in report.brief.columns].index("psi") + 1
    assert [float(row[place]) for row in first[1:]] == [round(100 * (f.psi or 0.0), 1) for f in audit.groups]
    expected = [table for section in report.overview for table in (section.table, section.more)]
    expected += [table for card in report.cards for table in (card.numbers, card.breakdown, card.beside, card.close)]
    expected += [section.table for section in report.sections]
    assert others == [
        [[column.header for column in table.columns], *([entry.text for entry in row] for row in table.rows)]
        for table in expected
        if table is not None
    ]


def test_everything_is_said() -> None:
    """All sentences of the report are there: headline, lead, cards, sections, limitation."""
    audit = compas_like()
    report = audit.report()
    text = spaced(shown(PARSER.parse(audit.to_markdown())))
    sentences = [report.headline, *report.lead, report.result, report.limitation]
    sentences += [sentence for card in report.cards for sentence in (*card.sentences, card.pandas, card.sql or "")]
    sentences += [paragraph for section in report.sections for paragraph in (section.title, *section.paragraphs)]
    assert [sentence for sentence in sentences if spaced(sentence) not in text] == []


@given(texts, texts)
def test_hostile_names_and_levels(name: str, level: str) -> None:
    """A hostile name or level stays in its entry: tables keep their shape and show it."""
    audit = ald.audit(
        hostile([name], [level, f"{level}x", "third"], 240), outcome="y", search=ald.Search(trees=1), attributes=[name]
    )
    assert audit.groups
    first = tables(audit.to_markdown())[0]
    assert {len(row) for row in first} == {len(audit.report().brief.columns) + 1}
    assert [spaced(row[1]) for row in first[1:]] == [spaced(str(f.criterion)) for f in audit.groups]


def test_headings() -> None:
    """As a part of another document, its title is a heading of the level asked for."""
    audit = compas_like()
    assert audit.to_markdown().startswith("# Audit for disparities\n")
    assert audit.to_markdown(heading=3).startswith("### Audit for disparities\n")
    levels = [len(line.split()[0]) for line in audit.to_markdown(heading=3).splitlines() if line.startswith("#")]
    assert set(levels) == {3, 4, 5}
    with pytest.raises(SettingError, match="heading must be a level from 1 to 4, not 5"):
        audit.to_markdown(heading=5)


def test_same_bytes() -> None:
    """The same audit gives the same text, also when it was read back from JSON."""
    audit = compas_like()
    assert audit.to_markdown() == Audit.from_json(audit.to_json()).to_markdown()
