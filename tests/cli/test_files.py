"""Reports never take the place of what they are made from, nor of a whole report by half of one."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from ald import InputError
from ald.cli.files import read_side_file


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


def test_side_files_are_read_to_a_bound(tmp_path: Path) -> None:
    """A file beside the data may have so many bytes; of one that goes on nothing further is read."""
    (tmp_path / "x").write_bytes(b"12345")
    assert read_side_file(str(tmp_path / "x"), "file", 5) == b"12345"
    with pytest.raises(InputError, match=r"the file '.*x' has more than 0 MB: this is none"):
        read_side_file(str(tmp_path / "x"), "file", 4)
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(InputError, match="there is no file"):
            read_side_file(str(path), "file", 5)


def test_a_config_without_end(file: Path, tmp_path: Path) -> None:
    """A pipe that never ends, given as settings, is refused in little memory."""
    endless = tmp_path / "endless.toml"
    os.mkfifo(endless)

    def feed() -> None:
        try:
            with endless.open("wb") as pipe:
                while True:
                    pipe.write(b"\n" * 2**16)
        except BrokenPipeError:
            return

    feeder = threading.Thread(target=feed, daemon=True)
    feeder.start()
    done = subprocess.run(
        [sys.executable, "-m", "ald", "audit", str(file), "--outcome", "y", "--config", str(endless)],
        capture_output=True,
        text=True,
        timeout=300,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (2 * 10**9,) * 2),
    )
    assert done.returncode == 2
    assert "endless.toml' has more than 1 MB: this is none" in done.stderr
    feeder.join(10)
    assert not feeder.is_alive()


def test_a_document_without_end(run: Any, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents have a bound too."""
    monkeypatch.setattr("ald.cli.report.LONGEST_DOCUMENT", 10)
    result = run("report", file, "-o", tmp_path / "x.html")
    assert result.code == 2
    assert "the document" in result.err
    assert "this is none" in result.err
