"""The listed groups as CSV that a spreadsheet cannot mistake for formulas."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from ald.groups.criterion import visible
from ald.report.table import columns, tabulated

if TYPE_CHECKING:
    from ald.results.audit import Audit


def safe_cell(text: str) -> str:
    """A text that starts like a formula gets an apostrophe in front, as spreadsheets do themselves.

    >>> safe_cell("=HYPERLINK()"), safe_cell("age > 3")
    ("'=HYPERLINK()", 'age > 3')
    """
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def to_csv(audit: Audit) -> str:
    """One row per listed (or only named) group; numbers with all their digits."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    cells = columns(audit)
    writer.writerow(["rank", *(safe_cell(visible(cell.key)) for cell in cells)])
    for i, finding in enumerate(tabulated(audit), 1):
        values = [cell.value(finding) for cell in cells]
        writer.writerow([i, *(safe_cell(visible(v)) if isinstance(v, str) else "" if v is None else v for v in values)])
    return out.getvalue()
