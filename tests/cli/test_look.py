"""The command `ald look`."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

import ald
from ald.cli.main import cli
from tests.tables import people, write_csv


def test_text(tmp_path: Path) -> None:
    """It prints the look as text."""
    path = str(write_csv(tmp_path / "people.csv", people()))
    assert CliRunner().invoke(cli, ["look", path]).output == f"{ald.look(path)}\n"


def test_options(tmp_path: Path) -> None:
    """Its options are those of the function, and the other format is its data."""
    path = str(write_csv(tmp_path / "people.csv", people()))
    arguments = ["look", path, "--outcome", "sex", "--favorable", "F", "--memory-limit", "4GB", "--format", "json"]
    expected = ald.look(ald.source(path, memory_limit="4GB"), outcome="sex", favourable="F").to_dict()
    assert json.loads(CliRunner().invoke(cli, arguments).output) == json.loads(json.dumps(expected))
