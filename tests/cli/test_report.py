"""`ald report`: reports of earlier audits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


class TestReport:
    """Reports of earlier audits."""

    def test_the_same_report(self, run: Any, file: Path, tmp_path: Path) -> None:
        """A report from the document and the file is byte for byte the one made with the audit."""
        run("audit", file, "--outcome", "y", "--trees", "3", "-o", tmp_path / "a.json", "-o", tmp_path / "a.html")
        result = run("report", tmp_path / "a.json", "-o", tmp_path / "b.html", "--data", file, "-o", tmp_path / "b.md")
        assert (result.code, result.out) == (0, "")
        assert result.err.count("Wrote ") == 2
        assert (tmp_path / "b.html").read_bytes() == (tmp_path / "a.html").read_bytes()
        assert (tmp_path / "b.md").exists()

    def test_without_the_file(self, run: Any, file: Path, tmp_path: Path) -> None:
        """Without the file, the report has no SHA-256 and says so."""
        run("audit", file, "--outcome", "y", "--trees", "3", "-o", tmp_path / "a.json")
        run("report", tmp_path / "a.json", "-o", tmp_path / "b.html")
        assert "SHA-256 of the input: none" in (tmp_path / "b.html").read_text("utf-8")

    @pytest.mark.parametrize(
        ("content", "options", "problem"),
        [
            (None, [], "there is no file"),
            ("{", [], "not a JSON document"),
            ("", ["--data", "nothing.csv"], "there is no file 'nothing.csv'"),
        ],
    )
    def test_errors(self, run: Any, tmp_path: Path, content: str | None, options: list[str], problem: str) -> None:
        """What cannot be read is a sentence, and nothing is written."""
        if content is not None:
            (tmp_path / "a.json").write_text(content)
        result = run("report", tmp_path / "a.json", "-o", tmp_path / "b.html", *options)
        assert result.code == 2
        assert problem in result.err
        assert not (tmp_path / "b.html").exists()

    def test_the_document_is_never_overwritten(self, run: Any, file: Path, tmp_path: Path) -> None:
        """A report that would replace its own document is an error."""
        run("audit", file, "--outcome", "y", "--trees", "3", "-o", tmp_path / "a.json")
        before = (tmp_path / "a.json").read_bytes()
        result = run("report", tmp_path / "a.json", "-o", tmp_path / "a.json")
        assert "would overwrite the document" in result.err
        assert (tmp_path / "a.json").read_bytes() == before
