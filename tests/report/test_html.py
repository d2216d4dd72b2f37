"""The HTML report: one file, the same numbers, and nothing in it that acts."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from typing import Any
from xml.etree import ElementTree

import html5lib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ald
from ald import Audit
from ald.report.html import to_html
from ald.report.markup import drop_unseen
from ald.report.words import shorten
from ald.results.document import CANDIDATES
from tests.tables import decisions, hostile, people, public_data

NASTY = [
    "<script>alert(1)</script>", "</style><b>x", "</script><img src=x onerror=alert(1)>", '"onload="alert(1)',
    "' onfocus='alert(1)", "{{ 7*7 }}", '#read("/etc/passwd")', "=HYPERLINK(1)", "\x1b[31mred", "\u202eright",
    "]]>", "<!--", "&lt;b&gt;", "x" * 5000, "new\nline", "javascript:alert(1)", "\uffff", "ünï→☃",
]  # fmt: skip


def page_of(html: str) -> ElementTree.Element:
    """The page as a parser of HTML sees it; any error of the markup is an error here."""
    parser = html5lib.HTMLParser(strict=False, namespaceHTMLElements=False)
    page = parser.parse(html)
    errors = [code for _, code, _ in parser.errors]
    assert errors == []
    return page


def words(element: ElementTree.Element) -> str:
    return "".join(element.itertext())


def with_class(page: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [element for element in page.iter() if name in element.attrib.get("class", "").split()]


def embedded(page: ElementTree.Element) -> dict[str, Any]:
    (script,) = [element for element in page.iter("script") if element.attrib.get("id") == "audit"]
    document: dict[str, Any] = json.loads(words(script))
    return document


@pytest.fixture(scope="module", params=["outcome", "odds", "nothing"])
def audit(request: pytest.FixtureRequest) -> Audit:
    if request.param == "outcome":
        return ald.audit(people(3000), outcome="y", search=ald.Search(trees=5))
    if request.param == "odds":
        return ald.audit(
            decisions(3000), prediction="predicted", truth="true", notion="equalized odds", split=ald.Split(repeats=2)
        )
    columns = people() | {"y": [i % 2 for i in range(600)]}
    return ald.audit(columns, outcome="y", search=ald.Search(trees=2), level=1e-12)


def test_the_numbers_come_back(audit: Audit) -> None:
    """A parser reads the same numbers from the tables that the findings hold."""
    page = page_of(audit.to_html())
    rows = [row for table in with_class(page, "ranking") for row in table.find("tbody").iter("tr")]  # type: ignore[union-attr]
    assert len(rows) == len(audit.groups)
    heads = [words(head) for table in with_class(page, "ranking") for head in table.find("thead").iter("th")]  # type: ignore[union-attr]
    for finding, row in zip(audit.groups, rows, strict=True):
        entries = dict(zip(heads, row, strict=True))
        assert words(entries["group"]) == str(finding.criterion)
        assert int(words(entries["people"]).replace(",", "")) == finding.size
        gap = entries["gap" if "gap" in entries else "mean gap"]
        assert float(gap.attrib["data-value"]) == finding.psi
        assert float(words(gap)) == pytest.approx(100 * (finding.psi or 0.0), abs=0.05)
        assert int(words(entries["in all data"]).replace(",", "")) == finding.size_all
        assert float(entries["adj. p"].attrib["data-value"]) == finding.log10_p_adjusted


def test_the_document_is_inside(audit: Audit) -> None:
    """The document in the page is the audit's, with the trees of listed groups only; it can be read."""
    document = embedded(page_of(audit.to_html()))
    whole = json.loads(audit.to_json())
    assert document["reduced"]["trees"] == audit.config.trees - len({finding.tree for finding in audit.groups})
    assert document["reduced"]["candidates"] == 0
    for key in whole:
        if key != "forest":
            assert document[key] == whole[key]
    again = Audit.from_json(json.dumps(document))
    assert again.groups == audit.groups
    assert (
        to_html(again.report()).split("<script")[0]
        == to_html(Audit.from_json(audit.to_json()).report()).split("<script")[0]
    )


def test_same_audit_same_bytes(audit: Audit) -> None:
    """The page depends on the audit only."""
    assert audit.to_html() == audit.to_html() == Audit.from_json(audit.to_json()).to_html()


def test_every_finding_is_told(audit: Audit) -> None:
    """Headline, sentences, code, sections, warnings and the limitation are in the page."""
    page = page_of(audit.to_html())
    text = " ".join(words(page.find("body")).split())  # type: ignore[arg-type]
    report = audit.report()
    for sentence in (report.headline, *report.lead, report.limitation):
        assert drop_unseen(sentence) in text
    for card in report.cards:
        assert all(drop_unseen(sentence) in text for sentence in card.sentences)
        assert drop_unseen(card.pandas) in text
    for section in report.sections:
        assert section.title in text
        assert all(drop_unseen(paragraph) in text for paragraph in section.paragraphs)


def test_every_picture_has_words_and_numbers(audit: Audit) -> None:
    """Every picture has a title, a description, and a table or list beside it."""
    page = page_of(audit.to_html())
    name = "{http://www.w3.org/2000/svg}"
    pictures = list(page.iter(f"{name}svg"))
    cards = audit.report().cards
    curves = sum(2 if len(card.curves) == 1 else len(card.curves) for card in cards)
    assert len(pictures) == (2 if cards else 0) + curves + len(cards)
    for picture in pictures:
        assert words(picture.find(f"{name}title")).strip()  # type: ignore[arg-type]
        assert words(picture.find(f"{name}desc")).strip()  # type: ignore[arg-type]
        assert picture.attrib["aria-label"]
    for figure in with_class(page, "picture"):
        assert (
            figure.find("details") is not None or "ranked" in figure.attrib["class"] or "tree" in figure.attrib["class"]
        )
    trees = {card.tree.number: card.tree for card in audit.report().cards}
    outlines = {outline.attrib["id"]: outline for outline in with_class(page, "outline")}
    assert set(outlines) == {f"tree-{number + 1}" for number in trees}
    for number, tree in trees.items():
        assert len(list(outlines[f"tree-{number + 1}"].iter("li"))) == len(tree.nodes)


def test_policy(audit: Audit) -> None:
    """The policy allows this style and this script, by their digests, and nothing to be loaded."""
    html = audit.to_html()
    page = page_of(html)
    (policy,) = [
        e.attrib["content"] for e in page.iter("meta") if e.attrib.get("http-equiv") == "Content-Security-Policy"
    ]
    (style,) = page.iter("style")
    (script,) = [element for element in page.iter("script") if "type" not in element.attrib]
    for element, kind in ((style, "style-src"), (script, "script-src")):
        digest = base64.b64encode(hashlib.sha256(words(element).encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy


def assert_inert(html: str) -> None:
    """Nothing in the page acts, or asks for anything outside it."""
    page = page_of(html)
    assert [e.attrib.get("type") for e in page.iter("script")] == ["application/json", "application/json", None]
    assert sum(1 for _ in page.iter("style")) == 1
    for element in page.iter():
        assert str(element.tag).rsplit("}")[-1] not in (
            "img",
            "iframe",
            "object",
            "embed",
            "form",
            "base",
            "b:x",
            "image",
        )
        for key, value in element.attrib.items():
            assert not str(key).startswith("on")
            assert key != "style"
            if key in ("href", "src", "action", "xlink:href"):
                assert value.startswith("#") or value == "data:,"
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]", html)


@pytest.mark.parametrize("word", NASTY)
def test_hostile_names_and_levels(word: str) -> None:
    """Names, levels, and outcomes that try to be markup are text: the page has only its own elements."""
    columns = hostile([word], [word, "other", "third"])
    columns[f"{word}?"] = columns.pop("y")
    audit = ald.audit(columns, outcome=f"{word}?", search=ald.Search(trees=3))
    assert audit.groups
    html = audit.to_html()
    assert_inert(html)
    assert drop_unseen(shorten(str(audit.groups[0].criterion), 240)) in words(page_of(html))
    assert embedded(page_of(html))["groups"][0]["conditions"][0]["attribute"] == word


@settings(max_examples=20)
@given(st.text(min_size=1, max_size=12), st.text(max_size=12))
def test_any_names_and_levels(name: str, level: str) -> None:
    """Whatever Hypothesis finds for a name and a level, the page is inert and has the group's numbers."""
    other = "other" if level != "other" else "another"
    columns = hostile([name if name != "y" else "yy"], [level, other, f"{other}3"], 200)
    audit = ald.audit(columns, outcome="y", search=ald.Search(trees=1))
    html = audit.to_html()
    assert_inert(html)
    assert [entry["psi"] for entry in embedded(page_of(html))["groups"]] == [f.psi for f in audit.groups]


def test_long_names_do_not_fill_the_page() -> None:
    """A name of 5,000 characters is cut in running text and whole in the code."""
    audit = ald.audit(hostile(["n" * 5000], ["a", "b", "c"]), outcome="y", search=ald.Search(trees=2))
    page = page_of(audit.to_html())
    (heading,) = page.iter("h1")
    assert len(words(heading)) < 700
    assert any("n" * 5000 in words(code) for code in page.iter("code"))


def test_many_candidates() -> None:
    """Of very many candidates the page holds the first; such a document is refused with advice."""
    audit = ald.audit(people(4000), outcome="y", search=ald.Search("leaves", trees=60, alpha=0.5))
    assert audit.n_candidates > CANDIDATES
    document = audit.to_reduced_dict(CANDIDATES)
    assert len(document["candidates"]) == CANDIDATES
    assert document["reduced"]["candidates"] == audit.n_candidates - CANDIDATES
    with pytest.raises(ald.InputError, match="reduced document of a report"):
        Audit.from_json(json.dumps(document))


def test_size() -> None:
    """A report of Adult is below 320 kB."""
    audit = ald.audit(public_data("adult.csv"), outcome="income", favourable=">50K")
    assert len(audit.to_html().encode()) < 320_000


@pytest.mark.parametrize(("trees", "n", "groups"), [(1, 90_000, 3), (25, 6_000, 3), (25, 4_000, 10)])
def test_large_forests(trees: int, n: int, groups: int) -> None:
    """A forest with 2,000 leaves is drawn in less than 2 MB, in one tree or in many."""
    rng = np.random.default_rng(0)
    columns = {f"x{i}": rng.random(n).round(4) for i in range(6)}
    risk = sum(np.sin(9 * column) for column in columns.values())
    columns["y"] = (rng.random(n) < 1 / (1 + np.exp(-risk))).astype(int)
    audit = ald.audit(columns, outcome="y", search=ald.Search("leaves", trees=trees, alpha=1.0), groups=groups,
                      min_group_size=1)  # fmt: skip
    assert int(audit.forest.is_leaf.sum()) >= 2000
    assert len(audit.to_html().encode()) < 2_000_000


def test_colours_of_amounts_say_which_mean_is_higher() -> None:
    """The legend of an audit of amounts speaks of means, that of an audit of rates of rates."""
    rng = np.random.default_rng(0)
    sex = rng.choice(["F", "M"], 400)
    wage = 2000 + 500 * (sex == "M") + rng.normal(0, 100, 400)
    page = ald.audit({"sex": sex, "wage": wage}, outcome="wage").to_html()
    assert "Colours say which mean is higher, not whether that is good.<" in page
    page = ald.audit({"sex": sex, "y": sex == "M"}, outcome="y", favourable=True, search="leaves").to_html()
    assert "which mean is higher" not in page
