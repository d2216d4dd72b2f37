"""The server from its start to its end: its address, its files, and what it is told."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ald.errors import SettingError
from ald.web.serving import parse_upload
from tests.web.client import berkeley, heading, recipe


def test_a_file_of_the_command_line(start: Callable[..., Any], tmp_path: Path) -> None:
    """The file that the command names is open at the address that it prints, by the path that was given."""
    path = tmp_path / "decisions.csv"
    path.write_bytes(berkeley())
    server = start(str(path))
    page = server.client.settle(server.way)
    assert heading(server.client.get(page).text) == "decisions.csv"
    assert str(path) in recipe(server.client.get(page).text, "Command line")
    assert server.client.document(server.client.run(page))["data"]["rows"] == 4526
    # Closed, it stays where it is.
    server.client.send("/", f"{page}/forget")
    assert path.exists()


def test_the_folder_is_its_owners(start: Callable[..., Any]) -> None:
    """What the server writes lies in one folder that nobody else can enter."""
    server = start()
    server.client.open_embedded()
    (folder,) = server.folder.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for path in folder.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 in (0, 0o044), path
    assert folder.stat().st_uid == os.geteuid()


def test_the_upload_limit_in_words() -> None:
    """A limit is a size as elsewhere; another word is refused by its own name."""
    assert parse_upload("1GB") == 10**9
    with pytest.raises(SettingError, match="upload_limit must be a size"):
        parse_upload("much")
