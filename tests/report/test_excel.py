"""Workbooks: read back by openpyxl they have the same numbers, and no text of the data is a formula or a link."""

from __future__ import annotations

import io
import zipfile
from functools import cache
from typing import Any

import openpyxl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import ald
from ald import Audit
from ald.groups.criterion import visible
from ald.report.excel import to_excel
from tests.tables import decisions, hostile, people


@cache
def two_rates() -> Audit:
    return ald.audit(
        decisions(), prediction="predicted", truth="true", notion="equalized odds", search=ald.Search(trees=5)
    )


def read(audit: Audit) -> Any:
    return openpyxl.load_workbook(io.BytesIO(audit.to_excel()), data_only=False)


def rows(sheet: Any) -> list[list[Any]]:
    return [list(row) for row in sheet.iter_rows(values_only=True)]


@pytest.mark.parametrize(
    "audit", [two_rates(), ald.audit(people(), outcome="y", search=ald.Search(trees=5))], ids=["two", "one"]
)
@pytest.mark.parametrize("name", ["Findings", "Candidates"])
def test_numbers_come_back(audit: Audit, name: str) -> None:
    """Findings and candidates have all the numbers of the CSV report, as numbers with all their digits."""
    findings = audit.groups if name == "Findings" else audit.candidates
    records = audit.report().records if name == "Findings" else audit.report().candidates
    assert findings
    header, *body = rows(read(audit)[name])
    assert len(header) == len(records.columns) + 3 == len(set(header))
    assert body == [
        [i, *values, audit.notion.name, f.undefined or None]
        for i, (values, f) in enumerate(zip(records.rows, findings, strict=True), 1)
    ]


def test_sections_come_back() -> None:
    """Every table of a section has its sheet, with numbers where it shows numbers, and all sentences are notes."""
    audit = two_rates()
    report = audit.report()
    workbook = read(audit)
    sections = (*report.overview, *report.sections)
    for section in sections:
        table = section.more or section.table
        if table is None:
            continue
        header, *body = rows(workbook[section.title])
        assert header == [column.header for column in table.columns]
        assert len(body) == len(table.rows)
    gaps = rows(workbook["Every attribute by itself"])[1:]
    psi = [column.key for column in (report.overview[0].more or report.table).columns].index("psi")
    assert [row[psi] for row in gaps] == pytest.approx([100 * (gap.psi or 0.0) for gap in audit.gaps.rows])
    assert rows(workbook["Data"])[1:] == [
        [entry.name, entry.kind, entry.distinct, entry.missing] for entry in audit.data_summary.attributes
    ]
    seen = rows(workbook["What the audit could have seen"])[1:]
    (least,) = [row[1:] for row in seen]
    assert least == [pytest.approx(100 * entry.psi) if entry.psi is not None else "none" for entry in audit.detectable]
    notes = rows(workbook["Notes"])[1:]
    assert notes == [[section.title, text] for section in sections for text in section.paragraphs]
    summary = [row[1] for row in rows(workbook["Summary"])]
    assert {report.headline, report.result, report.limitation, audit.n_candidates} <= set(summary)


def test_shape_of_sheets() -> None:
    """Headers stay in sight, columns are wide enough, and numbers are shown as reports write them."""
    workbook = read(two_rates())
    for sheet in workbook:
        assert sheet.freeze_panes == "A2"
    sheet = workbook["Findings"]
    formats = {cell.value: sheet.cell(2, cell.column).number_format for cell in sheet[1]}
    assert (formats["share"], formats["psi"], formats["fpr in"]) == ("0.0%", "+0.000;-0.000;0.000", "0.0%")
    assert formats["people"] == "#,##0"
    assert sheet.column_dimensions["B"].width > 10


HOSTILE = [
    "=1+1", "+1", "-1", "@SUM(A1)", '=HYPERLINK("http://e.x","x")', "http://e.x", "mailto:a@b.c", "12", "1e5", "TRUE",
    "_x0041_", "a'b", "", " ", "x" * 5000, "\x00\x1f\ufffe\uffff\ud800", "<si><t>",
]  # fmt: skip
texts = st.one_of(st.text(max_size=20), st.sampled_from(HOSTILE))


@settings(max_examples=40)
@given(texts, texts)
@example("=1+1", "http://e.x")
@example("_x0041_", "a")
def test_hostile_names_and_levels(name: str, level: str) -> None:
    """Whatever names and levels hold, their cells are text that says it, and there are no links or formulas."""
    audit = ald.audit(
        hostile([name], [level, f"{level}x", "third"], 240), outcome="y", search=ald.Search(trees=1), attributes=[name]
    )
    assert audit.groups
    content = audit.to_excel()
    workbook = openpyxl.load_workbook(io.BytesIO(content))
    for sheet in workbook:
        for row in sheet.iter_rows():
            assert all(cell.data_type in ("s", "n") and cell.hyperlink is None for cell in row)
    shown = [cell.value for cell in workbook["Findings"]["B"][1:]]
    assert shown == [visible(str(finding.criterion)) for finding in audit.groups]
    assert (workbook["Data"]["A2"].value or "") == visible(name)
    with zipfile.ZipFile(io.BytesIO(content)) as parts:
        assert not any("externalLink" in part for part in parts.namelist())
        assert not any(b"<f>" in parts.read(part) for part in parts.namelist() if "worksheets/" in part)


def test_texts_longer_than_a_cell() -> None:
    """A text that no cell can hold is cut in its middle."""
    audit = ald.audit(hostile(["n"], ["x" * 40_000, "other", "third"], 240), outcome="y", search=ald.Search(trees=1))
    longest = max(len(cell.value) for cell in read(audit)["Findings"]["B"])
    assert longest == 32_767


def test_names_of_sheets() -> None:
    """Two sections of like titles get sheets of different names that Excel takes."""
    from dataclasses import replace

    report = two_rates().report()
    table = report.section("settings").table
    titles = ["a" * 40, "A" * 40, "x/y:[z]*?\\'", "''", "Findings"]
    more = tuple(replace(report.section("settings"), key=title, title=title, table=table) for title in titles)
    names = openpyxl.load_workbook(
        io.BytesIO(to_excel(replace(report, overview=(), _sections=lambda: more)))
    ).sheetnames
    assert names == ["Summary", "Findings", "Candidates", "a" * 31, "A" * 29 + " 2", "x y  z", "Sheet", "Findings 2",
                     "Notes"]  # fmt: skip


def test_nothing_found() -> None:
    """Without groups the sheet of findings has its header only."""
    audit = ald.audit(people(), outcome="y", search=ald.Search(trees=2), level=1e-300)
    assert len(rows(read(audit)["Findings"])) == 1


def test_same_bytes() -> None:
    """The same audit gives the same bytes, also when it was read back from JSON."""
    audit = two_rates()
    assert audit.to_excel() == Audit.from_json(audit.to_json()).to_excel()
