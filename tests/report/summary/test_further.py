"""Significant groups beyond those that are listed: every surface says how many there are and how to see them."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import openpyxl
import pytest

import ald
from ald import Audit
from ald.report.summary.law import profile_sections
from ald.report.summary.sentences import FURTHER, further
from tests.flat import audit_flat
from tests.report.test_pdf import needs_pdftotext, squeezed, text_of
from tests.tables import people

TOLD = "1 further group is significant, but the list ends after 1: with groups=2 (--groups 2) it holds up to 2"


@cache
def one_listed(**options: Any) -> Audit:
    """Age and sex matter, and one group is listed."""
    return audit_flat(people(2000), outcome="y", trees=5, groups=1, **options)


def plain(page: str) -> str:
    return html.unescape(re.sub("<[^>]*>", "", page))


FORMATS: dict[str, Callable[[Audit], str]] = {
    "text": str,
    "markdown": Audit.to_markdown,
    "html": lambda audit: plain(audit.to_html()),
    "notebook": lambda audit: plain(audit._repr_html_()),
    "excel": lambda audit: " ".join(
        str(cell.value)
        for sheet in openpyxl.load_workbook(io.BytesIO(audit.to_excel()))
        for row in sheet.iter_rows()
        for cell in row
    ),
}


@pytest.mark.parametrize("name", FORMATS)
def test_formats_say_that_there_are_more(name: str) -> None:
    """A report says how many significant groups its list does not hold and how to see them, and shows them."""
    shown = squeezed(FORMATS[name](one_listed()))
    assert squeezed(TOLD) in shown
    assert name == "notebook" or squeezed("sex = M") in shown
    whole = ald.audit(people(2000), outcome="y", search=ald.Search(trees=5), groups=2)
    assert "further group" not in " ".join(FORMATS[name](whole).split())


@needs_pdftotext
def test_the_document_says_that_there_are_more() -> None:
    """So does the PDF document."""
    text = text_of(one_listed().to_pdf())
    assert squeezed(TOLD) in text
    assert squeezed("Significant groups that are not listed") in text


def test_further_groups_are_those_that_are_significant_and_not_listed() -> None:
    """The listed and the further groups are the candidates with a corrected p up to the level, in ranked order."""
    for options in ({}, {"search": "paper"}, {"search": "leaves"}, {"ranking": "magnitude"}, {"search": "cart"}):
        audit = audit_flat(people(2000), outcome="y", trees=5, groups=1, **options)
        level = audit.config.level
        expected = tuple(one for one in audit.candidates if one.p_adjusted is not None and one.p_adjusted <= level)
        assert (*audit.groups, *audit.further()) == expected
        assert audit.n_further == len(expected) - len(audit.groups) > 0
        assert audit.further(1) == expected[len(audit.groups) : len(audit.groups) + 1]
        assert [audit.candidates[place] for place in audit.significant] == list(expected)


def test_a_list_without_repetition_may_hold_them_all_after_another_search() -> None:
    """Where the number of groups decides what is searched for, that is said; elsewhere a longer list holds all."""
    audit = ald.audit(people(2000), outcome="y", search=ald.Search("paper", trees=5))
    n = len(audit.significant)
    assert further(audit) == (
        f"{n - 3} further groups are significant, but the list ends after 3: with groups={n} (--groups {n}) it holds "
        "all of them."
    )
    longer = ald.audit(people(2000), outcome="y", search=ald.Search("paper", trees=5), groups=n)
    assert [group.criterion for group in longer.groups[3:]] == [group.criterion for group in audit.further()]
    assert further(longer) == ""
    assert further(one_listed()).endswith("it holds up to 2, and the search looks for more.")


def test_of_many_the_first_are_shown() -> None:
    """A report shows twenty further groups, and says how many more there are."""
    audit = ald.audit(
        people(8000), outcome="y", search=ald.Search("paper", trees=25), groups=1, adjust="none", level=0.5
    )
    assert audit.n_further > FURTHER
    section = audit.report().section("further")
    assert section.table is not None
    assert [row[0].value for row in section.table.rows] == [str(one.criterion) for one in audit.further(FURTHER)]
    assert section.paragraphs[1].startswith(f"{audit.n_further - FURTHER} more are among the candidates")
    lines = [line for line in audit.report().facts if line.startswith("Significant and not listed: ")]
    assert lines[-1] == f"Significant and not listed: {audit.n_further - 5} more; the JSON document has them."
    assert len(lines) == 6


def test_tables_say_how_many_are_significant() -> None:
    """A table of the listed groups has the number of significant ones in every row, and the level of its intervals."""
    audit = one_listed()
    (row,) = csv.DictReader(io.StringIO(audit.to_csv()))
    assert row["significant_groups"] == "2"
    assert float(row["interval_level"]) == audit.groups[0].interval_level
    assert audit.to_frame("pandas")["significant_groups"].tolist() == [2]


def test_documents_name_the_significant_candidates() -> None:
    """The document has the places of the significant candidates; reports made from it say the same."""
    audit = one_listed()
    document = json.loads(audit.to_json())
    assert [document["candidates"][i] for i in document["significant"]] == [
        one.to_dict() for one in (*audit.groups, *audit.further())
    ]
    again = Audit.from_json(audit.to_json())
    assert again.further() == audit.further()
    assert again.report().sections == audit.report().sections
    for broken in ([1, 0], [0, 2], [-1, 1], []):
        text = json.dumps(document | {"significant": broken})
        with pytest.raises(ald.InputError, match=r"damaged: .*`significant"):
            Audit.from_json(text)


def test_an_audit_counts_them_in_a_line() -> None:
    """Printed in a session, an audit says how many are significant."""
    assert "1 group listed of 2 significant and 2 tested on 1,021 people" in repr(one_listed())
    assert [(figure.text, figure.label) for figure in one_listed().report().figures][-1] == (
        "1", "listed of 2 significant"
    )  # fmt: skip


def test_laws_count_all_significant_groups() -> None:
    """What profiles say of the examination counts all significant groups, not those that the list holds."""
    sections = {section.key: section for section in profile_sections(one_listed(profile="eu-ai-act"))}
    examined = sections["eu-ai-act-f"].paragraphs
    assert examined[0].startswith("2 of 2 tested groups have a disparity that is significant")
    assert ": 1. age <= 44; 2. sex = M. Their size and certainty are in the parts before." in examined[0]
    assert TOLD in examined[1]
    keys = [section.key for section in one_listed(profile="eu-ai-act").report().sections]
    assert keys[:2] == ["further", "eu-ai-act"]
    audit = ald.profile(
        "nyc-ll144", people(2000), outcome="y", search=ald.Search(trees=5), groups=1, columns={"sex": "sex"}
    )
    assert any(f"2 groups of 2 tested have a significant disparity. {TOLD}" in text
               for text in profile_sections(audit)[0].paragraphs)  # fmt: skip
