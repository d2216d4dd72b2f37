"""What the command prints can be read whole, whatever the data and the terminal."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

import ald
from ald.report.words import format_signed, p_value, unsigned
from tests.cli.running import python_m_ald
from tests.tables import hostile, write_csv


class TestHostileData:
    """Names and levels that try to act on who prints them."""

    WORDS = ("\x1b[31mred", "=1+1", "[bold]x[/bold]", ":smile:", "a|b", "<script>", "x\ny", "ünï")

    @pytest.mark.parametrize("word", WORDS)
    def test_the_table(self, run: Any, tmp_path: Path, word: str) -> None:
        """The table shows names and levels as they are, without control characters or markup."""
        path = tmp_path / "x.jsonl"
        columns = hostile([f"n {word}"], [f"l {word}", "other", "third"])
        rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        result = run("audit", path, "--outcome", "y", "--trees", "2")
        assert result.code == 0
        assert "\x1b" not in result.out
        assert ald.groups.criterion.visible(word) in result.out.replace("\n", " ") or len(word) > 8 or "x\ny" in word
        table = run("audit", path, "--outcome", "y", "--trees", "2", "--format", "csv").out
        assert not any(entry.startswith(("=", "@")) for row in csv.reader(io.StringIO(table)) for entry in row)

    def test_narrow_encodings(self, tmp_path: Path) -> None:
        """Where the terminal knows only ASCII, nothing fails: other characters are escapes or UTF-8."""
        path = write_csv(tmp_path / "x.csv", hostile(["größe"], ["ü", "ö", "ä"]))
        for format_ in ("table", "csv", "markdown", "json"):
            environment = os.environ | {"PYTHONIOENCODING": "ascii"}
            out = python_m_ald(
                "audit", path, "--outcome", "y", "--trees", "2", "--format", format_, env=environment, encoding="utf-8"
            )
            assert (out.returncode, out.stderr) == (0, "")
            assert any(name in out.stdout for name in ("größe", "gr\\xf6\\xdfe", "gr\\u00f6\\u00dfe"))


@pytest.mark.parametrize("width", [60, 80, 100, 140])
@pytest.mark.parametrize("notion", ["statistical parity", "equalized odds"])
def test_tables_never_cut_a_number(
    run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, width: int, notion: str
) -> None:
    """At every width the whole p-value, psi and size of every listed group can be read."""
    monkeypatch.setenv("COLUMNS", str(width))
    data = ald.datasets.make_synthetic(3, rho=0.6)
    path = write_csv(tmp_path / "errors.csv", data)
    roles = ["--prediction", "prediction", "--truth", "truth"]
    audit = ald.audit(data, prediction="prediction", truth="truth", notion=notion)
    shown = run("audit", path, *roles, "--notion", notion)
    assert shown.code == 0
    words = set(re.split(r"\s+", shown.out))
    for finding in audit.groups:
        assert (format_signed if notion == "statistical parity" else unsigned)(finding.psi) in words
        assert f"{finding.size:,}" in words
        assert p_value(finding.log10_p_adjusted) in words
