"""The listed groups as CSV that a spreadsheet cannot mistake for formulas."""

from __future__ import annotations

import csv
import io

from ald.groups.criterion import visible
from ald.report.model import Report


def safe_text(text: str) -> str:
    """A text that starts like a formula gets an apostrophe in front, as spreadsheets do themselves.

    >>> safe_text("=HYPERLINK()"), safe_text("age > 3")
    ("'=HYPERLINK()", 'age > 3')
    """
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def to_csv(report: Report) -> str:
    """One row per listed (or only named) group; numbers with all their digits."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["rank", *(safe_text(visible(column.key)) for column in report.records.columns)])
    for i, values in enumerate(report.records.rows, 1):
        writer.writerow([i, *(safe_text(visible(v)) if isinstance(v, str) else "" if v is None else v for v in values)])
    return out.getvalue()
