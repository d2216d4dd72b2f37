"""Reports never take the place of what they are made from, nor of a whole report by half of one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


def test_data_is_never_overwritten(run: Any, file: Path, tmp_path: Path) -> None:
    """A report may not replace the data, also not through another path to it."""
    before = file.read_bytes()
    (tmp_path / "link.csv").symlink_to(file)
    for target in (file, tmp_path / "link.csv"):
        result = run("audit", file, "--outcome", "y", "-o", target)
        assert result.code == 2
        assert "would overwrite the data" in result.err
    assert file.read_bytes() == before


def test_writing_that_fails(run: Any, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of the system while writing ends with 2 and keeps the old report."""
    target = tmp_path / "x.json"
    target.write_text("old")

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("ald.report.files.os.fsync", full)
    result = run("audit", file, "--outcome", "y", "--trees", "2", "-o", target)
    assert (result.code, result.out) == (2, "")
    assert "No space left on device" in result.err
    assert target.read_text() == "old"
