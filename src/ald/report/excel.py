"""The report as an Excel workbook: findings, all candidates, the tables of every section, and the notes.

Numbers are numbers, and all else is text: nothing of the data can become a formula or a link.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from ald.errors import needed_extra
from ald.groups.criterion import visible
from ald.report.model import Entry, Grid, Records, Report
from ald.report.words import shorten

# What Excel can hold: rows of a sheet, characters of a cell and of a sheet's name.
_ROWS, _TEXT, _NAME = 1_048_576, 32_767, 31

_PERCENT, _SIGNED, _WHOLE = "0.0%", "+0.000;-0.000;0.000", "#,##0"
_FORMATS = {
    "size": _WHOLE,
    "size_all": _WHOLE,
    "share": _PERCENT,
    "lower": _SIGNED,
    "upper": _SIGNED,
    "ratio": "0.00",
    "statistic": "0.0",
    "p_adjusted": "0.0E+00",
    "p_questions": "0.0E+00",
    "questions": _WHOLE,
    "log10_p_adjusted": "0.0",
    "interval_level": "0.0%",
    "significant_groups": _WHOLE,
    "stability": "0%",
}


def to_excel(report: Report) -> bytes:
    """The workbook. Same report, same bytes."""
    try:
        import xlsxwriter
    except ModuleNotFoundError:
        raise needed_extra("Excel reports", "excel") from None
    out = io.BytesIO()
    options = {
        "in_memory": True,
        "strings_to_formulas": False,
        "strings_to_urls": False,
        "strings_to_numbers": False,
        "nan_inf_to_errors": False,
    }
    with xlsxwriter.Workbook(out, options) as workbook:
        workbook.set_properties({"title": report.title, "created": datetime(*report.day.timetuple()[:3])})
        writer = _Writer(workbook)
        writer.sheet("Summary", ["", report.subject], _summary(report), widths=[14, 100])
        writer.sheet("Findings", *_records(report.records))
        if report.candidates.columns:
            writer.sheet("Candidates", *_records(report.candidates))
        sections = (*([] if report.giveaways is None else [report.giveaways]), *report.overview, *report.sections)
        for section in sections:
            table = section.more or section.table
            if table is not None:
                writer.sheet(section.title, *_table(table))
        notes = [(section.title, text) for section in sections for text in section.paragraphs]
        writer.sheet("Notes", ["section", "note"], notes, widths=[30, 100])
    return out.getvalue()


Value = str | int | float | tuple[int | float, str] | None


class _Writer:
    """Sheets of a workbook, each with a header that stays in sight."""

    def __init__(self, workbook: Any) -> None:
        self.workbook = workbook
        self.names: set[str] = set()
        self.formats: dict[str, Any] = {}
        self.head = workbook.add_format({"bold": True, "bottom": 1, "text_wrap": True, "valign": "top"})
        self.wrapped = workbook.add_format({"text_wrap": True, "valign": "top"})

    def sheet(
        self, title: str, header: Sequence[str], rows: Iterable[Sequence[Value]], *, widths: Sequence[float] = ()
    ) -> None:
        """A sheet of these rows; a number with a format is a pair."""
        sheet = self.workbook.add_worksheet(self._name(title))
        longest = [len(head) for head in header]
        for k, head in enumerate(header):
            sheet.write_string(0, k, _text(head), self.head)
        last = 0
        for last, row in enumerate(rows, 1):
            for k, value in enumerate(row):
                longest[k] = max(longest[k], self._write(sheet, last, k, value))
        sheet.freeze_panes(1, 0)
        for k, length in enumerate(longest):
            sheet.set_column(k, k, widths[k] if widths else min(max(length + 3, 9), 60))
        if last:
            sheet.autofilter(0, 0, last, len(header) - 1)

    def _write(self, sheet: Any, row: int, column: int, value: Value) -> int:
        """Writes one value and says about how many characters it takes."""
        if value is None:
            return 0
        if isinstance(value, str):
            text = _text(value)
            sheet.write_string(row, column, text, self.wrapped)
            return len(text)
        number, format_ = value if isinstance(value, tuple) else (value, "General")
        sheet.write_number(row, column, number, self._format(format_))
        return 9

    def _format(self, code: str) -> Any:
        if code not in self.formats:
            self.formats[code] = self.workbook.add_format({"num_format": code, "valign": "top"})
        return self.formats[code]

    def _name(self, title: str) -> str:
        """A name that Excel takes, unlike those before."""
        plain = re.sub(r"[\[\]:*?/\\']", " ", _text(title)).strip() or "Sheet"
        name, i = plain[:_NAME].strip(), 1
        while name.casefold() in self.names:
            i += 1
            name = f"{plain[: _NAME - len(str(i)) - 1].strip()} {i}"
        self.names.add(name.casefold())
        return name


def _text(text: str) -> str:
    return shorten(visible(text), _TEXT)


def _summary(report: Report) -> list[tuple[str, Value]]:
    rows: list[tuple[str, Value]] = [("title", report.title), ("made", " · ".join(report.made))]
    rows += [("note", note) for note in report.notes]
    rows.append(("headline", report.headline))
    rows += [("", sentence) for sentence in report.lead]
    rows.append(("result", report.result))
    rows += [(figure.label, _number(figure.text) or figure.text) for figure in report.figures]
    rows.append(("limitation", report.limitation))
    if len(report.candidates.rows) >= _ROWS:
        rows.append(("note", f"Only the first {_ROWS - 1:,} candidates fit into a sheet."))
    return rows


def _records(records: Records) -> tuple[list[str], list[list[Value]]]:
    """One row per finding with all its numbers, as far as a sheet goes."""
    interval = next((column.header for column in records.columns if column.key == "lower"), "")
    heads = {"lower": f"{interval} from", "upper": f"{interval} to", "log10_p_adjusted": "log10 of adj. p"}
    keys = [column.key for column in records.columns]
    header = ["rank", *(heads.get(column.key, column.header or column.key) for column in records.columns)]
    formats = [_FORMATS.get(key, _PERCENT if key.endswith(("_inside", "_outside")) else _SIGNED) for key in keys]
    if records.decimals is not None:
        formats = [_amounts(key, records.decimals) or code for key, code in zip(keys, formats, strict=True)]
    rows: list[list[Value]] = [
        [i, *(_format_value(code, value) for code, value in zip(formats, row, strict=True)), *remarks]
        for i, (row, remarks) in enumerate(zip(records.rows[: _ROWS - 1], records.remarks, strict=False), 1)
    ]
    return [*header, "notion", "undefined"], rows


def _amounts(key: str, decimals: int) -> str | None:
    """The format of a column of amounts; None of other columns."""
    code = f"{_WHOLE}{'.' * bool(decimals)}{'0' * decimals}"
    if key in ("psi", "gap", "change", "lower", "upper") or key.startswith("gap_"):
        return f"+{code};-{code};{code}"
    return code if key.endswith(("inside", "outside")) else None


def _format_value(code: str, value: Value) -> Value:
    """A value with the format of its column."""
    return value if value is None or isinstance(value, (str, tuple)) else (value, code)


def _table(table: Grid) -> tuple[list[str], list[list[Value]]]:
    return [column.header for column in table.columns], [[_value(entry) for entry in row] for row in table.rows]


def _value(entry: Entry) -> Value:
    """An entry as its number, with all its digits, where its text is that number rounded; otherwise its text."""
    shown = _number(entry.text)
    if shown is None or isinstance(entry.value, (str, bool)) or entry.value is None:
        return entry.text
    percent, decimals = entry.text.endswith("%"), len(entry.text.removesuffix("%").partition(".")[2])
    unit = 0.01 if percent else 1.0
    exact = abs(entry.value - shown * unit) <= 0.51 * unit * 10**-decimals
    code = f"{_WHOLE}{'.' * bool(decimals)}{'0' * decimals}{'%' * percent}"
    return entry.value if exact else shown * unit, f"+{code};-{code};{code}" if entry.text[0] in "+-" else code


def _number(text: str) -> float | int | None:
    plain = text.replace(",", "").removesuffix("%")
    if not re.fullmatch(r"[+-]?\d+(\.\d+)?", plain):
        return None
    return float(plain) if "." in plain else int(plain)
