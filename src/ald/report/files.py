"""Writing reports: the format by the file's ending, and never half a file."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ald.errors import SettingError, needed_extra
from ald.report.csv import to_csv
from ald.report.excel import to_excel
from ald.report.html import to_html
from ald.report.identity import Identity, identify
from ald.report.markdown import to_markdown
from ald.report.model import Report
from ald.report.pdf import to_pdf
from ald.report.text import to_text
from ald.report.whole import check_replaceable, write_whole

if TYPE_CHECKING:
    from ald.results.reported import Reported

RENDERERS: dict[str, Callable[[Report], str | bytes]] = {
    "html": to_html,
    "pdf": to_pdf,
    "xlsx": to_excel,
    "csv": to_csv,
    "md": to_markdown,
    "markdown": to_markdown,
    "txt": lambda report: f"{to_text(report)}\n",
}
# The document of the result itself, which is no report.
_DOCUMENT = "json"

ENDINGS = ("html", "pdf", "xlsx", "json", "csv", "md", "markdown", "txt")

# Formats that need an optional package: its name, what it is for, and the extra that installs it.
_PACKAGES = {"pdf": ("typst", "PDF reports", "pdf"), "xlsx": ("xlsxwriter", "Excel reports", "excel")}


# How standard output is named where it is no option.
_STREAMS = ("-", "/dev/stdout", "/dev/stderr", "/dev/fd/1", "/dev/fd/2", "/proc/self/fd/1", "/proc/self/fd/2")


def format_of(path: str) -> str:
    """The format that a file's ending asks for; an error for an unknown one."""
    if path in _STREAMS:
        raise SettingError(
            f"a report goes to a file, not to {path!r}: to print one, use --format (in Python: print(found))"
        )
    ending = Path(path).suffix.casefold().removeprefix(".")
    if ending not in ENDINGS:
        raise SettingError(
            f"cannot tell the format of the report {path!r} by its ending. Known: {', '.join('.' + e for e in ENDINGS)}"
        )
    return ending


def check_target(path: str) -> None:
    """Raises before any work is done if the report could not be written there."""
    package, what, extra = _PACKAGES.get(format_of(path), ("", "", ""))
    if package and importlib.util.find_spec(package) is None:
        raise needed_extra(what, extra)
    check_replaceable(path)
    folder = os.path.dirname(os.path.realpath(path))  # a report goes where a link leads
    if not os.path.isdir(folder):
        raise SettingError(f"the folder of the report {path!r} does not exist")
    if not os.access(folder, os.W_OK):
        raise SettingError(f"the folder of the report {path!r} may not be written to")


def check_targets(paths: Sequence[str]) -> None:
    """Raises if any of the reports could not be written, or if one would overwrite another."""
    for path in paths:
        check_target(path)
    places = [os.path.realpath(path) for path in paths]
    twice = next((path for i, path in enumerate(paths) if places[i] in places[:i]), None)
    if twice is not None:
        raise SettingError(f"the report {twice!r} is asked for twice")


def write_report(result: Reported, path: str, identity: Identity | None = None) -> None:
    """Writes the report in the format of the path's ending; without an identity with the usual title, as of today."""
    ending = format_of(path)
    report = partial(result.summarise, identity or identify(result.TITLE))
    content = result.to_json() if ending == _DOCUMENT else RENDERERS[ending](report())
    write_whole(path, content.encode("utf-8") if isinstance(content, str) else content)
