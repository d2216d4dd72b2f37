"""Sections of laws: what they say, and that every format shows them."""

from __future__ import annotations

import html
import io
import re
from functools import cache
from typing import Any

import openpyxl
import pytest

import ald
from ald import Audit
from ald.report.summary.law import TO_BE_COMPLETED, profile_sections
from tests.flat import audit_flat
from tests.report.test_pdf import needs_pdftotext, squeezed, text_of
from tests.tables import hostile, people
from tests.test_profiles import COLUMNS, applicants


@cache
def new_york() -> Audit:
    options = {"search": ald.Search(trees=2), "min_group_size": 1}
    return ald.profile("nyc-ll144", applicants(), outcome="hired", columns=COLUMNS, **options)


@cache
def europe() -> Audit:
    return ald.profile("eu-ai-act", people(), outcome="y", search=ald.Search(trees=2), columns={"gender": "sex"})


BOTH = pytest.mark.parametrize("audit", [new_york(), europe()], ids=["new york", "europe"])


@BOTH
def test_every_format_shows_the_sections(audit: Audit) -> None:
    """Titles, sentences and numbers of the profile are in text, Markdown, HTML and Excel."""
    sections = profile_sections(audit)
    plain = squeezed(str(audit))
    markdown = squeezed(audit.to_markdown().replace("\\", ""))
    page = squeezed(html.unescape(re.sub("<[^>]*>", "", audit.to_html())))
    workbook = openpyxl.load_workbook(io.BytesIO(audit.to_excel()))
    notes = [row[1] for row in workbook["Notes"].iter_rows(values_only=True)]
    for section in sections:
        for text in (section.title, *section.paragraphs):
            assert squeezed(text) in plain
            assert squeezed(text) in markdown
            assert squeezed(text) in page
        assert set(section.paragraphs) <= set(notes)
        for row in section.table.rows if section.table else ():
            assert all(entry.text in str(audit) and entry.text in audit.to_markdown() for entry in row)
            assert all(squeezed(entry.text) in page for entry in row)
    assert audit.report().sections[: len(sections)] == sections


@needs_pdftotext
@BOTH
def test_the_document_shows_the_sections(audit: Audit) -> None:
    """They are in the PDF document too."""
    text = text_of(audit.to_pdf())
    assert profile_sections(audit)
    for section in profile_sections(audit):
        assert all(squeezed(paragraph) in text for paragraph in (section.title, *section.paragraphs))
        for row in section.table.rows if section.table else ():
            assert all(squeezed(entry.text) in text for entry in row)


@BOTH
def test_no_legal_advice(audit: Audit) -> None:
    """The first sentence says that this is no legal advice."""
    assert profile_sections(audit)[0].paragraphs[0].startswith("Not legal advice.")


def test_tables_of_new_york() -> None:
    """One table each by sex, race/ethnicity and both; small categories are marked; numbers are those counted."""
    audit = new_york()
    assert audit.profile is not None
    _, sex, race, both = profile_sections(audit)
    assert [section.title for section in (sex, race, both)] == [
        "Impact ratios by sex", "Impact ratios by race/ethnicity", "Impact ratios by sex and race/ethnicity"
    ]  # fmt: skip
    assert sex.table is not None
    assert race.table is not None
    assert [column.header for column in sex.table.columns] == [
        "sex", "applicants", "share", "selected", "selection rate", "impact ratio"
    ]  # fmt: skip
    counts = audit.profile.tables[0]
    for row, category in zip(sex.table.rows, counts.categories, strict=True):
        expected = [category.names[0], category.people, counts.share(category), category.selected,
                    category.rate, counts.impact_ratio(category)]  # fmt: skip
        assert [entry.value for entry in row] == expected
    notes = {row[0].text: (row[1].text, row[-1].text) for row in race.table.rows}
    assert notes["C"] == ("under 2%: may be excluded", "excluded")
    assert notes["A"][0] == ""
    assert f"{counts.unknown:,} are not, because their category is unknown." in sex.paragraphs[0]
    assert "Scor" in audit.to_markdown() or "scor" in audit.to_markdown()


def test_missing_columns_are_said() -> None:
    """Without a column for one of the categories, the report says which tables are missing."""
    audit = ald.profile(
        "nyc-ll144", applicants(), outcome="hired", search=ald.Search(trees=1), columns={"sex": "gender"}
    )
    first, *tables = profile_sections(audit)
    assert len(tables) == 1
    assert any("No column was named for race/ethnicity" in text for text in first.paragraphs)


def test_headings_of_europe() -> None:
    """All points of Article 10(2) have a section, each with something that only the user can know."""
    sections = {section.key: section for section in profile_sections(europe())}
    for letter in "abcdefgh35":
        section = sections[f"eu-ai-act-{letter}"]
        assert any(text.startswith(TO_BE_COMPLETED) for text in section.paragraphs)
    groups = [str(finding.criterion) for finding in europe().groups]
    assert all(group in sections["eu-ai-act-f"].paragraphs[0] for group in groups)
    assert sections["eu-ai-act-e"].table is not None


def test_assumptions_are_said() -> None:
    """The assumptions are what was audited, and who is compared with whom: not what happens to be said first."""
    options: dict[str, Any] = {"outcome": "y", "trees": 1, "profile": "eu-ai-act"}
    asked = audit_flat(people(), given="member", named_groups="sex = F", **options)
    plainly = audit_flat(people(), **options)
    for audit in (asked, plainly):
        section = next(section for section in profile_sections(audit) if section.key == "eu-ai-act-d")
        assert section.paragraphs[0].startswith("Outcome: y,")
        assert section.paragraphs[1] == "Rows are taken for different people, independent of one another."
        assert section.paragraphs[-1].startswith(TO_BE_COMPLETED)
        given = [text for text in section.paragraphs if text.startswith("Given member: people are compared only")]
        assert len(given) == (audit is asked)


def test_europe_without_groups_or_columns() -> None:
    """Without findings, columns or gaps the sections still say what there is to say."""
    audit = ald.profile("eu-ai-act", people(), outcome="y", search=ald.Search(trees=1), level=1e-300)
    sections = {section.key: section for section in profile_sections(audit)}
    assert "0 of" in sections["eu-ai-act-f"].paragraphs[0]
    assert sections["eu-ai-act-e"].table is None
    assert sections["eu-ai-act-h"].paragraphs[0] == "No searched attribute lacks a value."
    assert audit.to_pdf()


def test_hostile_categories() -> None:
    """Categories that are code in some format stay text in all of them."""
    words = ['#read("x")', "=1+1", "<script>alert(1)</script>"]
    audit = ald.profile(
        "nyc-ll144", hostile(["a|b"], words), outcome="y", search=ald.Search(trees=1), columns={"sex": "a|b"}
    )
    assert "<script>alert(1)" not in audit.to_html()
    workbook = openpyxl.load_workbook(io.BytesIO(audit.to_excel()))
    assert {cell.data_type for cell in workbook["Impact ratios by sex"]["A"]} == {"s"}
    assert audit.to_pdf()
