"""Files and folders that must not outlive the process, should it end without leaving its `with` blocks."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_PATHS: dict[str, None] = {}


def removing_when_ended(path: str) -> None:
    """Has a file or folder removed by `remove_leftovers`."""
    _PATHS[path] = None


def removed(path: str) -> None:
    """Takes back `removing_when_ended`."""
    _PATHS.pop(path, None)


@contextmanager
def to_be_removed(path: str) -> Iterator[None]:
    """Has a file or folder removed by `remove_leftovers` meanwhile."""
    removing_when_ended(path)
    try:
        yield
    finally:
        removed(path)


def remove_leftovers() -> None:
    """Removes them: the process is about to end at once."""
    for path in list(_PATHS):
        shutil.rmtree(path, ignore_errors=True)
        with suppress(OSError):
            os.unlink(path)
