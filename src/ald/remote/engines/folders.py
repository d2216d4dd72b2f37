"""Folders that engines read as one data set, and the columns that the names of folders in them make."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from urllib.parse import unquote

from ald.data.inputs.addresses import is_address, mask_secrets
from ald.errors import InputError, shorten


def check_folders(path: str, place: str, files: Iterable[str], columns: Callable[[], Iterable[str]]) -> None:
    """Raises if a folder within a data set, such as sex=F, has the name of a column that the files have too.

    Engines make a column of such names, as of what partitioned data sets keep nowhere else, and some of them drop that
    of the files for it. place: where the data set is, as in the names of its files. columns: those of the files, asked
    for only if need be.
    """
    root = re.sub(r"(?<![:/])/+", "/", f"{unquote(place)}/")
    named: dict[str, str] = {}
    for file in files:
        *folders, _ = unquote(file).partition(root)[2].split("/")
        named |= {folder.partition("=")[0].casefold(): folder for folder in folders if "=" in folder}
    twice = next((name for name in columns() if name.casefold() in named), None) if named else None
    if twice is not None:
        raise InputError(
            f"{mask_secrets(path) if is_address(path) else shorten(path, 120)!r} has a folder "
            f"{shorten(named[twice.casefold()])!r}, and the files in it have a column {shorten(twice)!r} too: which of "
            "the two counts is not clear. Rename the folder, or name one of the files."
        )
