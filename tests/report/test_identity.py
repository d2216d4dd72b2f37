"""Title, file, day, version and notes of reports."""

from __future__ import annotations

import datetime
import io
from functools import cache
from pathlib import Path
from typing import Any

import openpyxl
import pytest

import ald
from ald import Audit
from ald.errors import SettingError
from ald.report.identity import TITLE, identify, today
from tests.report.test_pdf import needs_pdftotext, squeezed, text_of
from tests.tables import people, write_csv

TOLD: dict[str, Any] = {"title": "Hiring in 2026", "notes": "Checked by A.\n\nB agrees.", "date": "2026-11-30"}


@cache
def audit() -> Audit:
    return ald.audit(people(), outcome="y", search=ald.Search(trees=2))


def test_today_is_that_of_the_build(monkeypatch: pytest.MonkeyPatch) -> None:
    """SOURCE_DATE_EPOCH wins over the clock, so that a report can be made again."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert today() == datetime.date(1970, 1, 2)
    assert identify().day_words == "2 January 1970"
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "soon")
    with pytest.raises(SettingError, match="SOURCE_DATE_EPOCH must be a number"):
        today()


def test_without_anything_said() -> None:
    """The usual title, no notes, and the day of the clock."""
    before, found, after = datetime.date.today(), identify(title=" "), datetime.date.today()
    assert (found.title, found.notes) == (TITLE, ())
    assert before <= found.day <= after


@pytest.mark.parametrize("given", ["2026-02-30", "today", "", 3, []])
def test_what_is_no_day(given: Any) -> None:
    """A date that is none is refused, with an example of one."""
    with pytest.raises(SettingError, match=r"a day such as 2026-11-30"):
        identify(date=given)


def test_dates_of_every_kind_are_one_day() -> None:
    """Text, date and time give the same day."""
    moment = datetime.datetime(2026, 11, 30, 17, 5)
    days = {identify(date=given).day for given in ("2026-11-30", datetime.date(2026, 11, 30), moment)}
    assert days == {datetime.date(2026, 11, 30)}


def test_notes_are_paragraphs() -> None:
    """A note per line, or per entry of a list; what is no text is refused."""
    assert identify(notes="a\n\n b ").notes == identify(notes=["a", "b", ""]).notes == ("a", "b")
    with pytest.raises(SettingError, match="are texts"):
        identify(notes=[3])  # type: ignore[list-item]


@needs_pdftotext
@pytest.mark.parametrize("ending", ["html", "md", "txt", "pdf", "xlsx"])
def test_every_report_says_which_it_is(ending: str, tmp_path: Path) -> None:
    """Title, file, day, version and notes are in every format, and the same ones give the same bytes."""
    file = write_csv(tmp_path / "people 1.csv", people())
    found = ald.audit(file, outcome="y", search=ald.Search(trees=2))
    path = tmp_path / f"x.{ending}"
    found.save(path, **TOLD)
    content = path.read_bytes()
    if ending == "pdf":
        shown = text_of(content)
    elif ending == "xlsx":
        sheet = openpyxl.load_workbook(io.BytesIO(content))["Summary"]
        shown = squeezed(" ".join(str(cell.value) for row in sheet.iter_rows() for cell in row))
    else:
        shown = squeezed(content.decode())
    for text in (
        "Hiring in 2026",
        "people 1.csv",
        "30 November 2026",
        f"ALD {ald.__version__}",
        "Checked by A.",
        "B agrees.",
    ):
        assert squeezed(text) in shown
    found.save(path, **TOLD)
    assert path.read_bytes() == content
    found.save(path, **TOLD | {"date": "2026-12-01"})
    assert path.read_bytes() != content


def test_the_audit_itself_has_no_title(tmp_path: Path) -> None:
    """The document and CSV hold the audit alone: whoever makes reports of it says what they are."""
    for ending in ("json", "csv"):
        audit().save(tmp_path / f"a.{ending}")
        audit().save(tmp_path / f"b.{ending}", **TOLD)
        assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / f"b.{ending}").read_bytes()


def test_data_without_a_file_has_no_name() -> None:
    """A DataFrame has no file, and the report names none."""
    report = audit().report(date="2026-11-30")
    assert report.made == ("30 November 2026", f"ALD {ald.__version__}")


def test_hostile_titles_and_notes_are_text() -> None:
    """What the auditor writes is escaped like anything else."""
    report = audit().report(title="<script>x</script>", notes="\x1b[31m*a* <blink>")
    from ald.report.html import to_html
    from ald.report.markdown import to_markdown
    from ald.report.text import to_text

    assert "<script>x" not in to_html(report)
    assert "<blink>" not in to_html(report)
    assert "\x1b" not in to_text(report) + to_markdown(report)
    assert "\\*a\\*" in to_markdown(report)
