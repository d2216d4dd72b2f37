"""The files that a command writes must not take the place of those that it reads."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ald.errors import SettingError


def check_outputs(output: Sequence[str], data: Sequence[str]) -> None:
    """Raises where a report cannot be written, or would overwrite the data."""
    from ald.report.files import check_targets

    check_targets(output)
    for path in output:
        for file in data:
            check_kept(path, file, "data")


def check_kept(path: str, source: str, what: str) -> None:
    """Raises if a report would take the place of what it is made from."""
    if os.path.exists(path) and os.path.exists(source) and os.path.samefile(path, source):
        raise SettingError(f"the report {path!r} would overwrite the {what}")
