"""The files that a command writes must not take the place of those that it reads."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence

from ald._core.leftovers import to_be_removed
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


# What the first bytes of data say about its format; of anything else they are those of CSV.
_BEGINNINGS = {
    b"PAR1": "parquet",
    b"\x1f\x8b": "csv.gz",
    b"\x28\xb5\x2f\xfd": "csv.zst",
    b"PK\x03\x04": "xlsx",
    b"SQLite format 3\x00": "sqlite",
    b"{": "jsonl",
    b"[": "json",
}


@contextlib.contextmanager
def from_stdin(file: str) -> Iterator[str]:
    """The file; for "-" a temporary one with what comes from standard input, which is read twice."""
    if file != "-":
        yield file
        return
    if sys.stdin is None or sys.stdin.isatty():
        raise InputError("nothing comes from standard input: give a file, or pipe data into the command")
    with tempfile.TemporaryDirectory(prefix="ald-") as folder, to_be_removed(folder):
        spooled = os.path.join(folder, "stdin")
        with open(spooled, "wb") as copy:
            shutil.copyfileobj(sys.stdin.buffer, copy)
        with open(spooled, "rb") as copy:
            first = copy.read(64)
        ending = next((end for start, end in _BEGINNINGS.items() if first.lstrip().startswith(start)), "csv")
        os.rename(spooled, f"{spooled}.{ending}")
        yield f"{spooled}.{ending}"


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
