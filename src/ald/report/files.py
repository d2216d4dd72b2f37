"""Writing reports: the format by the file's ending, and never half a file."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ald.errors import SettingError
from ald.report.whole import write_whole

if TYPE_CHECKING:
    from ald.auditing import Audit

RENDERERS: dict[str, Callable[[Audit], str]] = {
    "html": lambda audit: audit.to_html(),
    "json": lambda audit: audit.to_json(),
    "csv": lambda audit: audit.to_csv(),
    "md": lambda audit: audit.to_markdown(),
    "markdown": lambda audit: audit.to_markdown(),
    "txt": lambda audit: f"{audit}\n",
}


def format_of(path: str) -> str:
    """The format that a file's ending asks for; an error for an unknown one."""
    ending = Path(path).suffix.casefold().removeprefix(".")
    if ending not in RENDERERS:
        raise SettingError(
            f"cannot tell the format of the report {path!r} by its ending. Known: "
            f"{', '.join('.' + e for e in RENDERERS)}"
        )
    return ending


def check_target(path: str) -> None:
    """Raises before any work is done if the report could not be written there."""
    format_of(path)
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise SettingError(f"the folder of the report {path!r} does not exist")
    if os.path.isdir(path):
        raise SettingError(f"the report {path!r} is a folder")
    if not os.access(folder, os.W_OK):
        raise SettingError(f"the folder of the report {path!r} may not be written to")


def write_report(audit: Audit, path: str) -> None:
    """Writes the report in the format of the path's ending."""
    write_whole(path, RENDERERS[format_of(path)](audit).encode("utf-8"))
