"""What every result can do: show itself in every format, by way of the one report."""

from __future__ import annotations

import datetime
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    from ald.data.prepare import DataSummary
    from ald.options import AuditConfig
    from ald.report.identity import Identity
    from ald.report.model import Report


class Asked(Protocol):
    """What was asked, of what data: as every result says it."""

    @property
    def config(self) -> AuditConfig: ...
    @property
    def data_summary(self) -> DataSummary: ...


class Reported:
    """A result with a document and a report. TITLE: that of reports which were given none."""

    TITLE: ClassVar[str] = "Audit for disparities"

    def summarise(self, identity: Identity) -> Report:
        """The result in words, numbers and tables, under this title and day."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data in the documented schema (docs/schema.md)."""
        raise NotImplementedError

    def to_json(self) -> str:
        """The result as JSON. Same result, same bytes."""
        from ald.results.document import write_json

        return write_json(self.to_dict())

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        from ald.report.text import to_text

        return to_text(self.report())

    def report(
        self,
        *,
        title: str | None = None,
        notes: str | Sequence[str] | None = None,
        date: datetime.date | str | None = None,
    ) -> Report:
        """The result in words, numbers and tables, as every format shows it.

        title, notes: of the report, the auditor's own; a note per line. date: its day, such as "2026-11-30"; by default
        that of SOURCE_DATE_EPOCH, or else the clock's.
        """
        from ald.report.identity import identify

        return self.summarise(identify(title or self.TITLE, notes, date))

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        notes: str | Sequence[str] | None = None,
        date: datetime.date | str | None = None,
    ) -> None:
        """Writes the report; its format is that of the file's ending, such as .html, .md or .json.

        title, notes, date: as in `report`. The JSON document and CSV hold the result alone, without them.
        """
        from ald.report.files import check_target, write_report
        from ald.report.identity import identify

        check_target(os.fspath(path))
        write_report(self, os.fspath(path), identify(title or self.TITLE, notes, date))

    def _repr_html_(self) -> str:
        from ald.report.notebook import audit_html

        return audit_html(self.report())

    def to_frame(self, backend: str | None = None) -> Any:
        """The listed groups as a DataFrame: pandas, or the first installed of pandas, Polars and PyArrow."""
        from ald.report.frame import to_frame

        return to_frame(self.report(), backend)

    def to_markdown(self, heading: int = 1) -> str:
        """The report as Markdown, for model cards and pull requests; `heading` is the level of its title."""
        from ald.report.markdown import to_markdown

        return to_markdown(self.report(), heading)

    def to_html(self) -> str:
        """The report as one HTML page that needs nothing else."""
        from ald.report.html import to_html

        return to_html(self.report())

    def to_pdf(self) -> bytes:
        """The report as a PDF document (PDF/A-2b, PDF/UA-1); needs the extra `pdf`. Same result, same bytes."""
        from ald.report.pdf import to_pdf

        return to_pdf(self.report())

    def to_excel(self) -> bytes:
        """The findings, all that was tested and the settings as an Excel workbook; needs the extra `excel`."""
        from ald.report.excel import to_excel

        return to_excel(self.report())

    def to_csv(self) -> str:
        """The listed groups as CSV, safe to open in a spreadsheet."""
        from ald.report.csv import to_csv

        return to_csv(self.report())
