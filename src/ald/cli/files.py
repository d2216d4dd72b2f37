"""The files that a command writes must not take the place of those that it reads."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ald.errors import InputError, SettingError

# Bytes that a settings file and a document may have: more would fill the memory, and no such file is so long.
LONGEST_CONFIG, LONGEST_DOCUMENT = 2**20, 2**30


def read_side_file(path: str, what: str, longest: int) -> bytes:
    """The bytes of a file beside the data; an error if there is none, or if it does not end where such files do."""
    try:
        with open(path, "rb") as file:
            content = file.read(longest + 1)
    except (FileNotFoundError, IsADirectoryError):
        raise InputError(f"there is no {what} {path!r}") from None
    if len(content) > longest:
        raise InputError(f"the {what} {path!r} has more than {longest / 2**20:,.0f} MB: this is none")
    return content


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
