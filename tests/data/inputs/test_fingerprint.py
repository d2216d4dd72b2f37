"""The SHA-256 of a file is that of what was read, or the file is not audited."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ald
from ald import InputError, auditing, pipeline
from ald.data.inputs import files
from ald.data.inputs.fingerprint import note_file, sha256, unchanged
from ald.data.inputs.sources import load
from tests.tables import people, write_csv


def appended(path: Path) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write("\n")


def replaced(path: Path) -> None:
    """Another file of the same size and time takes its place, as programs do that write whole files."""
    before, other = path.stat(), path.with_name("other")
    other.write_bytes(path.read_bytes()[::-1])
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.replace(path)


def edited(path: Path) -> None:
    """The same file has other bytes, as many as before, and the time of the last writing is put back."""
    time.sleep(0.02)  # some file systems count time in steps of up to 10 ms
    before = path.stat()
    with path.open("r+b") as file:
        file.write(b"x")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def removed(path: Path) -> None:
    path.unlink()


@pytest.mark.parametrize("change", [appended, replaced, edited, removed])
@pytest.mark.parametrize("ask", ["audit", "named groups", "halves", "compare"])
def test_a_file_that_changes_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], None], ask: str
) -> None:
    """Whatever changed it, whoever reads it: it is an error, for nobody knows which data was read."""
    path = write_csv(tmp_path / "x.csv", people())
    read = files.read_file

    def read_and_change(name: str, *rest: Any) -> Any:
        table = read(name, *rest)
        change(Path(name))
        return table

    monkeypatch.setattr(files, "read_file", read_and_change)
    calls: dict[str, Callable[[], Any]] = {
        "audit": lambda: ald.audit(path, outcome="y", search=ald.Search(trees=2)),
        "named groups": lambda: ald.audit(path, search="none", named_groups="age > 40", outcome="y"),
        "halves": lambda: ald.audit(split=(str(path), str(path)), outcome="y", search=ald.Search(trees=2)),
        "compare": lambda: ald.compare(path, predictions=["a", "b"], truth="y"),
    }
    with pytest.raises(InputError, match=r"the file 'x\.csv' changed while it was read: try again"):
        calls[ask]()


def test_a_file_that_changes_after_it_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fingerprint is that of the data of the audit, not of what is there when the report is written."""
    path = write_csv(tmp_path / "x.csv", people())
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    arrange = pipeline.arrange

    def change_and_arrange(*arguments: Any) -> Any:
        appended(path)
        return arrange(*arguments)

    monkeypatch.setattr(pipeline, "arrange", change_and_arrange)
    assert ald.audit(path, outcome="y", search=ald.Search(trees=2)).input_sha256 == digest


def test_a_file_that_changes_between_two_readings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a profile counts and what the audit reads is one state of the file."""
    path = write_csv(tmp_path / "x.csv", people())
    count = auditing.count_profile

    def count_and_change(*arguments: Any) -> Any:
        found = count(*arguments)
        appended(path)
        return found

    monkeypatch.setattr(auditing, "count_profile", count_and_change)
    with pytest.raises(InputError, match="changed while it was read"):
        ald.profile("eu-ai-act", path, outcome="y", search=ald.Search(trees=2))


def test_being_read_is_no_change(tmp_path: Path) -> None:
    """Reading a file, however often, and writing beside it, changes nothing; what is no file has no fingerprint."""
    path = write_csv(tmp_path / "x.csv", people())
    before = note_file(path)
    assert before is not None
    load(path)
    (tmp_path / "y.csv").write_text("a")
    assert before.sha256() == sha256(str(path)) == hashlib.sha256(path.read_bytes()).hexdigest()
    assert [note_file(data) for data in ({"a": [1]}, str(tmp_path), "postgresql://h/x", tmp_path / "none")] == [
        None
    ] * 4


@pytest.mark.parametrize("failure", [FileNotFoundError, ValueError, InputError])
def test_what_fails_of_a_file_that_changes(tmp_path: Path, failure: type[Exception]) -> None:
    """Whatever goes wrong with a file that changes is that it changed; of a file that does not, it stays what it is."""
    path = tmp_path / "a.csv"
    path.write_text("x,y\n1,0\n")
    with pytest.raises(failure, match="unreadable"), unchanged(path):
        raise failure("unreadable")

    def fail() -> None:
        with unchanged(path):
            path.unlink()
            raise failure("unreadable")

    with pytest.raises(InputError, match="changed while it was read"):
        fail()


def test_a_file_that_is_gone_before_its_sum(tmp_path: Path) -> None:
    """A file that is removed after it was read is an error in words."""
    path = tmp_path / "a.csv"
    path.write_text("x,y\n1,0\n")
    seen = note_file(path)
    assert seen is not None
    path.unlink()
    with pytest.raises(InputError, match="changed while it was read"):
        seen.sha256()
