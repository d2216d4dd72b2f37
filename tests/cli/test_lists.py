"""Commands that list what there is."""

from __future__ import annotations

from typing import Any

from click.testing import CliRunner

import ald
import ald.results.finding
from ald.cli import main as cli
from ald.datasets import PUBLIC


def test_version(run: Any) -> None:
    """The version is that of the package."""
    assert run("version").out == f"ald {ald.__version__}\n"


def test_notions(run: Any) -> None:
    """All notions are listed."""
    result = run("notions")
    assert result.code == 0
    assert all(name.split()[0] in result.out for name in ald.NOTIONS)


def test_data_lists_everything() -> None:
    """`ald data` names every data set with its licence, source and checksums."""
    result = CliRunner().invoke(cli.cli, ["data"])
    assert result.exit_code == 0
    for data in PUBLIC:
        for words in (data.title, f"load_{data.name}()", data.licence, data.source, *(f.sha256 for f in data.files)):
            assert words in result.output
    assert "load_berkeley()" in result.output
