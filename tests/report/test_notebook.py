"""Audits and findings in notebooks: fragments that leave everything beside them alone."""

from __future__ import annotations

import re

import html5lib
import pytest

import ald
from ald import Audit
from ald.report.markup import drop_unseen
from tests.tables import decisions, hostile, people


@pytest.fixture(scope="module")
def audit() -> Audit:
    return ald.audit(people(2000), outcome="y", search=ald.Search(trees=4))


def fragments(audit: Audit) -> list[str]:
    findings = [finding._repr_html_() for finding in audit.groups]
    return [audit._repr_html_(), *(text for text in findings if text)]


def test_fragments_are_scoped(audit: Audit) -> None:
    """A fragment is one element without script, ids and handlers, and every rule is for what is inside it."""
    assert len(fragments(audit)) == 1 + len(audit.groups)
    for text in fragments(audit):
        parser = html5lib.HTMLParser(namespaceHTMLElements=False)
        fragment = parser.parseFragment(text)
        assert parser.errors == []
        (outer,) = list(fragment)
        assert outer.attrib["class"] == "ald-notebook"
        for element in outer.iter():
            assert element.tag not in ("script", "link", "iframe")
            assert not {key for key in element.attrib if key in ("id", "style") or str(key).startswith("on")}
        (style,) = outer.iter("style")
        rules = re.findall(r"([^{}]+)\{[^{}]*\}", style.text or "")
        assert rules
        for selector in ",".join(rules).split(","):
            assert selector.strip().startswith((".ald-notebook", ".ald-picture")), selector
        assert "var(" not in (style.text or "")


def test_they_say_what_was_found_and_what_to_do_next(audit: Audit) -> None:
    """The headline, every group, and the next steps are there."""
    text = audit._repr_html_()
    assert "audit.save(" in text
    assert "plot_tree()" in text
    for finding in audit.groups:
        assert str(finding.criterion).replace(">", "&gt;").replace("<", "&lt;") in text
    finding_text = audit.groups[0]._repr_html_()
    assert finding_text is not None
    assert "criterion.mask(data)" in finding_text


def test_repr_teaches(audit: Audit) -> None:
    """The plain words of an audit name the next steps too."""
    assert "audit.save('audit.html')" in repr(audit)


def test_a_finding_alone(audit: Audit) -> None:
    """A finding that belongs to no audit is shown by its plain words."""
    assert ald.Finding.from_dict(audit.groups[0].to_dict())._repr_html_() is None


def test_nothing_found() -> None:
    """An audit without groups says so in a notebook."""
    audit = ald.audit(
        {"x": ["a", "b", "b", "a"] * 50, "y": [0, 1] * 100}, outcome="y", search=ald.Search(trees=1), level=1e-9
    )
    assert "No significant disparity found." in audit._repr_html_()


@pytest.mark.parametrize("word", ["<script>alert(1)</script>", "</style><b>x", "\u202eright", "x" * 5000])
def test_hostile_names(word: str) -> None:
    """Hostile names are text in a notebook too."""
    audit = ald.audit(hostile([word], [word, "b", "c"]), outcome="y", search=ald.Search(trees=2))
    for text in (*fragments(audit), str(audit.groups[0].plot_tree())):
        fragment = html5lib.parseFragment(text, namespaceHTMLElements=False)
        assert not [element for element in fragment.iter() if element.tag in ("script", "b")]
        assert drop_unseen(word)[:100] in "".join(fragment.itertext())
        assert len(text) < 120_000


def test_several_rates() -> None:
    """Notions of several rates have all of them in the table."""
    audit = ald.audit(
        decisions(3000), prediction="predicted", truth="true", notion="equalized odds", search=ald.Search(trees=3)
    )
    assert "fnr in / out" in audit._repr_html_()
