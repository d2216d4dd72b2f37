"""Columns that give the outcome away, in reports: a sentence beside the verdict, and a section before the groups."""

from __future__ import annotations

import csv
import io
from functools import cache

import pytest

from ald import Audit
from ald.report.summary.giveaways import TITLE, show_giveaways, verdict_beside
from ald.report.summary.sentences import verdict
from ald.report.terminal import print_report
from tests.flat import audit_flat
from tests.report.summary.test_further import FORMATS
from tests.report.test_pdf import needs_pdftotext, squeezed, text_of
from tests.results.test_giveaways import leaking
from tests.tables import hostile, people


@cache
def leaky(copies: int = 1) -> Audit:
    """An audit of data with so many columns that say the outcome."""
    columns = leaking()
    more = {f"copy{i}": [f"{text}{i}" for text in columns["copy"]] for i in range(1, copies)}
    return audit_flat({**columns, **more}, outcome="y", favourable=1, trees=5)


def test_the_headline_begins_with_them() -> None:
    """One sentence names the column and its rates, and asks what it is; then follows what the search found."""
    audit = leaky()
    (found,) = audit.giveaways
    first, rest = verdict_beside(audit).split("? ")
    assert first.startswith(f"{found.criterion} gives the outcome away (selection rate ")
    assert first.endswith("a copy of it, or the rule itself")
    found_beside = verdict(audit)
    assert rest == f"Apart from it: {found_beside[0].lower()}{found_beside[1:]}"
    assert verdict_beside(leaky(2)).startswith("2 columns give the outcome away, first of all ")
    without = audit_flat(people(), outcome="y", trees=2)
    assert verdict_beside(without) == verdict(without)
    assert show_giveaways(without) is None


@pytest.mark.parametrize("name", FORMATS)
def test_formats_show_them_before_the_groups(name: str) -> None:
    """Every format has the condition, what it may be, and the numbers of D2, before the listed groups."""
    audit = leaky()
    shown = squeezed(FORMATS[name](audit))
    section = show_giveaways(audit)
    assert section is not None
    assert section.table is not None
    assert all(squeezed(text) in shown for text in section.paragraphs)
    assert squeezed(section.table.rows[0][-2].text) in shown
    if name != "excel":
        assert shown.index(squeezed(section.paragraphs[0])) < shown.index(squeezed(audit.report().result))
    assert squeezed(TITLE) not in squeezed(FORMATS[name](audit_flat(people(), outcome="y", trees=2)))


@needs_pdftotext
def test_the_document_shows_them_before_the_groups() -> None:
    """So does the PDF document."""
    text = text_of(leaky().to_pdf())
    assert text.index(squeezed("One condition on this column tells")) < text.index(
        squeezed("that the search never saw (")
    )


@pytest.mark.parametrize("width", ["80", "160"])
def test_a_terminal_shows_them_before_the_groups(
    width: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wide or narrow, all numbers are there: what does not fit into the table is below it."""
    monkeypatch.setenv("COLUMNS", width)
    audit = leaky()
    print_report(audit.report())
    shown = squeezed(capsys.readouterr().out)
    section = show_giveaways(audit)
    assert section is not None
    assert section.table is not None
    assert all(squeezed(entry.text) in shown for entry in section.table.rows[0])
    assert shown.index(squeezed(section.paragraphs[0])) < shown.index(squeezed(audit.report().result))


def test_several_outcomes_are_told_apart() -> None:
    """With several outcomes, the headline and the table say which one the column gives away."""
    columns = leaking()
    columns["z"] = [i % 3 == 0 for i in range(len(columns["y"]))]
    audit = audit_flat(columns, outcome=("y", "z"), trees=2)
    assert "gives the outcome away for y (" in verdict_beside(audit)
    section = show_giveaways(audit)
    assert section is not None
    assert section.table is not None
    assert section.table.rows[0][1].text == "y"


def test_tables_for_machines_count_them() -> None:
    """CSV and DataFrames hold listed groups; a column says how many columns give the outcome away."""
    rows = list(csv.DictReader(io.StringIO(leaky(2).to_csv())))
    assert rows
    assert {row["giveaways"] for row in rows} == {"2"}
    assert leaky(2).to_frame("pandas")["giveaways"].tolist() == [2] * len(rows)


def test_the_examination_for_biases_names_them() -> None:
    """The part of the EU AI Act about possible biases says so too."""
    audit = audit_flat(leaking(), outcome="y", trees=2, profile="eu-ai-act")
    (part,) = [section for section in audit.report().profile if section.key == "eu-ai-act-f"]
    assert any("gives the outcome away" in text for text in part.paragraphs)


@pytest.mark.parametrize("name", ["<script>", "a|b", "=1+1", "\x1b[31m", "*x*"])
def test_hostile_names_are_escaped(name: str) -> None:
    """Names of columns and levels are text in every format."""
    columns = hostile([name], ["<b>", "`", "|"])
    columns["y"] = [int(level == "<b>") for level in columns[name]]
    audit = audit_flat(columns, outcome="y", trees=1, attributes=[name])
    assert len(audit.giveaways) == 1
    page = audit.to_html()
    assert page.count("<script") == 3
    assert "<b>" not in page
    assert "\x1b" not in page + str(audit) + audit.to_markdown() + audit.to_csv()
    assert "<script>" not in audit.to_markdown().replace("\\<script>", "")
