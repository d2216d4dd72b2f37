"""Reports for people: text, and what every one of them says."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ald
from ald import Audit, Notion, Rate
from ald.report.summary.sentences import LIMITATION
from ald.report.words import format_signed, interval, percent, plain
from tests.tables import decisions, hostile, people

UNPRINTABLE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
NASTY = ["<b>bold</b>", "a|b", "\x1b[31mred\x1b[0m", "=1+1", "[x](http://e.x)", "`c`", "**s**", "new\nline", "www.e.x"]


def unwrapped(text: str) -> str:
    """Text on one line."""
    return " ".join(text.split())


@pytest.mark.parametrize("word", NASTY)
def test_hostile_names_and_levels(word: str) -> None:
    """Names and levels cannot act on a terminal."""
    audit = ald.audit(hostile([word], [word, "other", "third"]), outcome="y", search=ald.Search(trees=3))
    assert audit.groups
    assert not UNPRINTABLE.search(str(audit))


@settings(max_examples=25)
@given(st.text(max_size=10), st.text(max_size=10))
def test_any_names_and_levels(name: str, level: str) -> None:
    """Whatever a name or level holds, text has no control characters."""
    audit = ald.audit(
        hostile([name], [level, "other", "third"], 200) | {"y": [0, 1] * 100}, outcome="y", search=ald.Search(trees=1)
    )
    forced = Audit.from_json(audit.to_json())
    for shown in (str(forced), forced.to_markdown(), forced.report().headline):
        assert not UNPRINTABLE.search(shown)


def test_hostile_notions() -> None:
    """The words of a notion of one's own are shown with care too."""
    notion = Notion("n\x1b[31m|", (Rate("=k\x1b|", "r\x1b", "tp fp"), Rate("e", "err", "fp", "fp tn")))
    audit = ald.audit(decisions(), prediction="predicted", truth="true", notion=notion, search=ald.Search(trees=2))
    for text in (str(audit), audit.to_markdown(), audit.to_csv()):
        assert not UNPRINTABLE.search(text)
    assert not re.search(r"(^|,)[=+@-]", audit.to_csv().splitlines()[0])


def test_what_a_report_says() -> None:
    """Text and Markdown give the finding, the numbers of people, what was left out, warnings and the limitation."""
    columns = people() | {"k": [1] * 600}
    columns["sex"] = [value if i % 3 else value.lower() for i, value in enumerate(columns["sex"])]
    audit = ald.audit(columns, outcome="y", search=ald.Search(trees=5))
    halves = audit.data_summary.rows_search, audit.data_summary.rows_assess
    assert sum(halves) == 600
    assert f"600 people: {halves[0]} for the search, {halves[1]} for the tests" in str(audit)
    assert "Left out: k: constant (always '1')." in str(audit)
    for text in (unwrapped(str(audit)), audit.to_markdown().replace("\\", "")):
        assert str(audit.groups[0].criterion) in text
        assert "levels of 'sex'" in text
        assert LIMITATION in text


def test_nothing_found() -> None:
    """An audit without groups says so, and all its renderings work."""
    columns = people()
    columns["y"] = [i % 2 for i in range(600)]
    audit = ald.audit(columns, outcome="y", search=ald.Search(trees=2), level=1e-12)
    assert audit.groups == ()
    assert "No significant disparity found." in str(audit)
    assert "How large a gap must be, in points, for the tests to find it in four of five cases" in unwrapped(str(audit))
    assert "Smallest gap that would be found" in audit.to_markdown()
    assert len(audit.to_csv().splitlines()) == 1


def test_numbers_in_words() -> None:
    """Undefined numbers are called so."""
    assert (format_signed(0.1234), format_signed(None)) == ("+12.3", "undefined")
    assert (plain(1.5, 1), plain(None), percent(0.5), percent(None)) == ("1.5", "undefined", "50.0%", "undefined")
    assert (interval((0.1, 0.2)), interval((None, 0.2))) == ("10.0 to 20.0", "undefined")
