"""PDF documents: every finding can be read in them, they conform to PDF/A and PDF/UA, and data never becomes code."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ald
from ald import Audit
from ald.groups.criterion import visible
from ald.report import pdf
from ald.report.words import shorten
from tests.tables import decisions, hostile, people

needs_pdftotext = pytest.mark.skipif(
    shutil.which("pdftotext") is None and os.environ.get("ALD_PDFTOTEXT") != "required",
    reason="pdftotext is not installed (package poppler-utils)",
)


@cache
def two_rates() -> Audit:
    return ald.audit(
        decisions(), prediction="predicted", truth="true", notion="equalized odds", search=ald.Search(trees=5)
    )


@cache
def one_rate() -> Audit:
    return ald.audit(people(), outcome="y", search=ald.Search(trees=5))


def text_of(document: bytes) -> str:
    """What a reader of the document sees, without footers and places where lines and long words are broken."""
    done = subprocess.run(["pdftotext", "-", "-"], input=document, capture_output=True, check=True)
    return re.sub(r"Auditfordisparities\d+/\d+", "", squeezed(done.stdout.decode()))


def squeezed(text: str) -> str:
    return re.sub(r"\s+|\u200b", "", text)


@needs_pdftotext
@pytest.mark.parametrize("audit", [two_rates(), one_rate()], ids=["two", "one"])
def test_everything_is_in_it(audit: Audit) -> None:
    """pdftotext finds every finding with its numbers, every table, every sentence and all code."""
    report = audit.report()
    assert report.cards
    text = text_of(audit.to_pdf())
    wanted = [report.headline, *report.lead, report.result, report.limitation]
    for card in report.cards:
        wanted += [card.criterion, *card.sentences, card.pandas, card.sql or ""]
        tables = [table for table in (card.numbers, card.breakdown, card.close) if table is not None]
        wanted += [entry.text for table in tables for row in table.rows for entry in row]
        wanted += [f"{point.n:,}" for view in card.curves for series in view.series for point in series.points]
    wanted += [entry.text for row in report.table.rows for entry in row]
    for section in report.sections:
        wanted += [section.title, *section.paragraphs]
        wanted += [entry.text for row in section.table.rows for entry in row] if section.table else []
    assert [word for word in wanted if squeezed(visible(word)) not in text] == []


@needs_pdftotext
def test_nothing_found() -> None:
    """Without groups the document says so, and what could have been seen."""
    audit = ald.audit(people(), outcome="y", search=ald.Search(trees=2), level=1e-300)
    text = text_of(audit.to_pdf())
    assert squeezed("No significant disparity found.") in text
    assert squeezed("What the audit could have seen") in text


def test_standards() -> None:
    """The compiler checked the document for PDF/A-2b and PDF/UA-1, and the document declares both."""
    assert pdf.STANDARDS == ["a-2b", "ua-1"]
    document = one_rate().to_pdf()
    assert document.startswith(b"%PDF-1.7")
    metadata = document[document.index(b"<?xpacket begin") : document.index(b"<?xpacket end")].decode()
    assert re.search(r"pdfaid:part>2<", metadata)
    assert re.search(r"pdfaid:conformance>B<", metadata)
    assert re.search(r"pdfuaid:part>1<", metadata)
    assert "Audit for disparities" in metadata
    assert b"/Lang" in document


def test_pictures_have_descriptions() -> None:
    """Every picture of the template's data has words for those who cannot see it."""
    content = pdf._content(two_rates().report())
    pictures = [content["groups-picture"], *(card["tree"] for card in content["cards"])]
    pictures += [curve["picture"] for card in content["cards"] for curve in card["curves"]]
    assert len(pictures) > 3
    for picture in pictures:
        assert len(picture["alt"]) > 40
        width, height = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)" width="\1" height="\2"', picture["svg"]).groups()
        assert (float(width), float(height)) == pytest.approx((picture["width"], picture["height"]))


def test_same_bytes() -> None:
    """The same audit gives the same bytes, also when it was read back from JSON."""
    audit = one_rate()
    assert audit.to_pdf() == audit.to_pdf() == Audit.from_json(audit.to_json()).to_pdf()


SECRET = "the-content-of-a-file-nobody-may-read"
CODE = ['#read("secret.txt")', "#panic()", "$x$", "*b* _i_ `r`", "= Heading", "<label>", "@ref", "\\u{41}", "// c",
        "#[", "]#pagebreak()", "{{ x }}", "</svg><svg onload=x>", "]]>", "&lt;", "%s", '"quoted"', "\\"]  # fmt: skip


@needs_pdftotext
def test_data_is_never_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names and levels that are Typst, SVG or HTML code are shown as they are; no file is read."""
    (tmp_path / "secret.txt").write_text(SECRET)
    monkeypatch.chdir(tmp_path)
    for name, level in zip(CODE, reversed(CODE), strict=True):
        audit = ald.audit(hostile([name], [level, "other", "third"], 240), outcome="y", search=ald.Search(trees=1))
        assert audit.groups
        text = text_of(audit.to_pdf())
        assert SECRET not in text
        assert all(squeezed(str(finding.criterion)) in text for finding in audit.groups)


def _compiled(name: str, level: str) -> bytes:
    audit = ald.audit(
        hostile([name], [level, f"{level}x", "third"], 240), outcome="y", search=ald.Search(trees=1), attributes=[name]
    )
    assert audit.groups
    return audit.to_pdf()


@settings(max_examples=12)
@given(st.text(max_size=12), st.text(max_size=12))
def test_any_names_and_levels(name: str, level: str) -> None:
    """Whatever Hypothesis finds, the document is made, and conforms."""
    assert _compiled(name, level).startswith(b"%PDF")


@needs_pdftotext
def test_characters_that_no_font_has() -> None:
    """A character that cannot be shown is written as its escape, also inside pictures."""
    text = text_of(_compiled("private \ue000\ue001", "level \U0010fffd"))
    assert squeezed(r"private \ue000\ue001") in text
    assert squeezed(r"level \U0010fffd") in text


@needs_pdftotext
@pytest.mark.parametrize("word", ["größer", "Ελληνικά", "Русский", "łódź", "≤ 3 → 4", "naïve—café"])
def test_other_scripts(word: str) -> None:
    """Scripts that the built-in fonts know are shown as they are."""
    assert squeezed(word) in text_of(_compiled(word, word))


@needs_pdftotext
def test_endless_names() -> None:
    """A name of thousands of letters is cut in running text, stands whole in the code, and breaks no page."""
    name = "abcdefghijklmnopqrstuvwxyz" * 190
    document = _compiled(name, "a")
    text = text_of(document)
    assert name in text
    assert squeezed(shorten(f"{name} = a", 90)) in text
    pages = subprocess.run(["pdftotext", "-bbox", "-", "-"], input=document, capture_output=True, check=True)
    ends = [float(end) for end in re.findall(r'xMax="([\d.]+)"', pages.stdout.decode())]
    assert max(ends) <= 595.3  # the width of A4


def test_deep_trees() -> None:
    """Pictures of trees are as wide as the page at most, and say what they leave out."""
    rng_audit = ald.audit(people(4000), outcome="y", search=ald.Search(trees=3, alpha=0.9))
    report = rng_audit.report()
    told = pdf._content(report)["told"]
    assert any("The picture stops after 3 splits" in text for text in told)
