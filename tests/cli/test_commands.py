"""Commands beside the audit."""

from __future__ import annotations

from click.testing import CliRunner

from ald.cli.main import cli
from ald.datasets import PUBLIC


def test_data_lists_everything() -> None:
    """`ald data` names every data set with its licence, source and checksums."""
    result = CliRunner().invoke(cli, ["data"])
    assert result.exit_code == 0
    for data in PUBLIC:
        for words in (data.title, f"load_{data.name}()", data.licence, data.source, *(f.sha256 for f in data.files)):
            assert words in result.output
    assert "load_berkeley()" in result.output
