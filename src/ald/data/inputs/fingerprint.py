"""What a file was when it was read: its SHA-256, and that it did not change meanwhile."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ald.data.inputs.addresses import is_address
from ald.errors import InputError, shorten


@dataclass(frozen=True, kw_only=True)
class Seen:
    """A file before it was read: which one it was, how large, and when it had last been written to."""

    path: str
    state: tuple[int, ...]

    def check(self) -> None:
        """Raises if the file is not what it was: what was read may be neither the old data nor the new."""
        if _state(self.path) != self.state:
            raise InputError(
                f"the file {shorten(os.path.basename(self.path))!r} changed while it was read: try again when nothing "
                "writes to it, or with a copy"
            )

    def sha256(self) -> str:
        """The SHA-256 of what was read, by which one can tell it from any other file."""
        with _as_it_was(self):
            return sha256(self.path)


def note_file(data: Any) -> Seen | None:
    """The file that is about to be read; None for data that is no file, or none that can be read."""
    if not isinstance(data, (str, os.PathLike)) or (isinstance(data, str) and is_address(data)):
        return None
    path = os.fspath(data)
    return Seen(path=path, state=_state(path)) if os.path.isfile(path) else None


@contextmanager
def unchanged(data: Any) -> Iterator[None]:
    """Raises if the data is a file that is not the same at the end: then whatever failed within failed of that."""
    with _as_it_was(note_file(data)):
        yield


@contextmanager
def _as_it_was(seen: Seen | None) -> Iterator[None]:
    try:
        yield
    except Exception:
        if seen is not None:
            seen.check()
        raise
    if seen is not None:
        seen.check()


def sha256(path: str) -> str:
    """The SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _state(path: str) -> tuple[int, ...]:
    """Differs for another file in its place and after any write, even one that puts back the time of the last one."""
    try:
        found = os.stat(path)
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
