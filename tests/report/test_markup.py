"""Markup: whatever a text holds, it stays text."""

from __future__ import annotations

from xml.etree import ElementTree

import html5lib
from hypothesis import given
from hypothesis import strategies as st

from ald.report.markup import Markup, drop_unseen, element, escape, markup

texts = st.text(st.characters(exclude_categories=[]))


@given(texts, texts)
def test_any_text_is_inert(content: str, value: str) -> None:
    """A parser gets exactly one element back, with the text and the attribute that went in, made visible; XML too."""
    ElementTree.fromstring(element("p", content, title=value))
    page = html5lib.parse(element("div", element("p", content, title=value)), namespaceHTMLElements=False)
    (paragraph,) = page.iter("p")
    assert "".join(paragraph.itertext()) == drop_unseen(content)
    assert paragraph.attrib == {"title": drop_unseen(value)}
    assert len(list(page.iter())) == 5  # html, head, body, div, p


def test_attributes() -> None:
    """Attributes that are None or False are left out; True stands alone; underscores become hyphens."""
    shown = element("input", class_="a", data_x=1, hidden=True, checked=False, title=None, width=2.50)
    assert shown == '<input class="a" data-x="1" hidden width="2.5">'


def test_contents() -> None:
    """Contents are texts, numbers, elements and lists of them; None is nothing; markup is not escaped again."""
    assert markup("a<", None, 1, [element("b", "c"), ["&"]]) == "a&lt;1<b>c</b>&amp;"
    assert isinstance(markup("x"), Markup)
    assert escape(Markup("<b>")) == "&lt;b&gt;"
