"""Writing reports: by ending, whole or not at all."""

from __future__ import annotations

import importlib.util
import os
import re
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ald
from ald import Audit, SettingError
from ald.report import files, whole
from ald.report.files import check_target, check_targets, write_report
from ald.report.whole import write_whole
from tests.tables import people


@pytest.fixture(scope="module")
def audit() -> Audit:
    return ald.audit(people(), outcome="y", search=ald.Search(trees=2))


@pytest.mark.parametrize(
    ("name", "render"),
    [
        ("x.html", Audit.to_html),
        ("x.json", Audit.to_json),
        ("x.csv", Audit.to_csv),
        ("x.md", Audit.to_markdown),
        ("x.Markdown", Audit.to_markdown),
        ("x.txt", lambda audit: f"{audit}\n"),
        ("x.PDF", Audit.to_pdf),
        ("x.xlsx", Audit.to_excel),
    ],
)
def test_formats_by_ending(tmp_path: Path, audit: Audit, name: str, render: Callable[[Audit], str | bytes]) -> None:
    """The ending decides, whatever its case, and the file holds exactly the rendering: same audit, same bytes."""
    write_report(audit, str(tmp_path / name))
    rendered = render(Audit.from_json(audit.to_json()))
    assert (tmp_path / name).read_bytes() == (rendered.encode() if isinstance(rendered, str) else rendered)


def test_every_format_is_tested_above() -> None:
    """A new ending gets its test."""
    assert (
        set(files.ENDINGS)
        == {*files.RENDERERS, "json"}
        == {"html", "pdf", "xlsx", "json", "csv", "md", "markdown", "txt"}
    )


@pytest.mark.parametrize(
    ("name", "package", "render", "command"),
    [
        ("x.pdf", "typst", Audit.to_pdf, "PDF reports need an optional package: pip install 'ald-audit[pdf]'"),
        (
            "x.xlsx",
            "xlsxwriter",
            Audit.to_excel,
            "Excel reports need an optional package: pip install 'ald-audit[excel]'",
        ),
    ],
)
def test_missing_packages(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    audit: Audit,
    name: str,
    package: str,
    render: Callable[[Audit], bytes],
    command: str,
) -> None:
    """Without its package, a format is refused with the command that installs it: beforehand, and when rendering."""
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda wanted: None if wanted == package else find_spec(wanted))
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(SettingError, match=re.escape(command)):
        check_target(str(tmp_path / name))
    with pytest.raises(SettingError, match=re.escape(command)):
        render(audit)


def test_one_file_twice(tmp_path: Path) -> None:
    """The same report asked for twice is a mistake, also through a link."""
    (tmp_path / "link.json").symlink_to(tmp_path / "x.json")
    check_targets([str(tmp_path / "x.json"), str(tmp_path / "x.md")])
    with pytest.raises(SettingError, match=r"link\.json' is asked for twice"):
        check_targets([str(tmp_path / "x.json"), str(tmp_path / "link.json")])


def test_saving(tmp_path: Path, audit: Audit) -> None:
    """An audit saves itself by the ending too, and refuses what could not be written."""
    audit.save(tmp_path / "x.html")
    assert (tmp_path / "x.html").read_text("utf-8") == audit.to_html()
    with pytest.raises(SettingError, match="cannot tell the format"):
        audit.save(str(tmp_path / "x"))


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("x.docx", r"cannot tell the format of the report .* Known: \.html, \.pdf, \.xlsx, \.json"),
        ("x", "cannot tell the format"),
        ("none/x.json", "the folder of the report .* does not exist"),
        ("folder.json", "is a folder"),
    ],
)
def test_targets_that_cannot_be_written(tmp_path: Path, name: str, problem: str) -> None:
    """Each is a SettingError before any work is done."""
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(SettingError, match=problem):
        check_target(str(tmp_path / name))


@pytest.mark.parametrize("is_link", [False, True])
def test_pipes_are_not_replaced(tmp_path: Path, audit: Audit, is_link: bool) -> None:
    """A target that is no regular file, itself or where a link leads, is refused before and after the work."""
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    target = tmp_path / "link.json" if is_link else pipe
    if is_link:
        target.symlink_to(pipe)
    for write in (check_target, audit.save, lambda path: write_whole(path, b"new")):
        with pytest.raises(SettingError, match=r"json' is a pipe or a device: a report goes to a regular file"):
            write(str(target))
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert sorted(os.listdir(tmp_path)) == sorted({"pipe.json", target.name})


def test_reports_that_may_not_be_written_to(tmp_path: Path, audit: Audit) -> None:
    """A report that somebody has made read-only is kept, whoever asks."""
    target = tmp_path / "x.json"
    target.write_text("old")
    target.chmod(0o444)
    for write in (check_target, audit.save, lambda path: write_whole(path, b"new")):
        with pytest.raises(SettingError, match=r"x\.json' is there and may not be written to: remove it"):
            write(str(target))
    assert (target.read_text(), os.listdir(tmp_path)) == ("old", ["x.json"])


def test_what_a_killed_run_left_is_swept(tmp_path: Path) -> None:
    """The next report removes what SIGKILL left beside it; what another run is writing, and all else, stays."""
    code = f"""
import os, signal
from ald.report import whole
whole.os.fsync = lambda handle: os.kill(os.getpid(), signal.SIGKILL)
whole.write_whole({str(tmp_path / "x.json")!r}, b"half")
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -signal.SIGKILL
    (left,) = os.listdir(tmp_path)
    assert left.startswith(".ald-")
    (tmp_path / ".ald-folder").mkdir()
    handle, being_written = whole._temporary(str(tmp_path))
    write_whole(str(tmp_path / "x.json"), b"new")
    os.close(handle)
    assert set(os.listdir(tmp_path)) == {"x.json", ".ald-folder", os.path.basename(being_written)}


@pytest.mark.parametrize("name", ["-", "/dev/stdout", "/dev/fd/1"])
def test_standard_output_is_no_file(audit: Audit, name: str) -> None:
    """Who wants a report printed is told how."""
    for write in (check_target, audit.save):
        with pytest.raises(SettingError, match=rf"goes to a file, not to '{name}': to print one, use --format"):
            write(name)


def test_where_links_lead_is_checked(tmp_path: Path) -> None:
    """A link to a place that there is not is refused beforehand; one to a file that there is not yet is written."""
    (tmp_path / "x.json").symlink_to(tmp_path / "none" / "y.json")
    with pytest.raises(SettingError, match=r"the folder of the report .* does not exist"):
        check_target(str(tmp_path / "x.json"))
    (tmp_path / "new.json").symlink_to(tmp_path / "y.json")
    check_target(str(tmp_path / "new.json"))
    write_whole(str(tmp_path / "new.json"), b"new")
    assert (tmp_path / "y.json").read_bytes() == b"new"


@pytest.mark.parametrize("step", ["fsync", "chmod", "replace"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError, MemoryError])
def test_interrupted_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: type[BaseException]
) -> None:
    """Whatever interrupts writing, the old file stays and no other file is left."""
    target = tmp_path / "x.json"
    target.write_text("old")

    def fail(*args: Any, **options: Any) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(whole.os, step, fail)
        with pytest.raises(error):
            write_whole(str(target), b"new")
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["x.json"]


def test_interrupted_after_the_last_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupt right after the file took its place is that interrupt, and the new file is whole."""
    replace = os.replace

    def replace_and_fail(*args: Any) -> None:
        replace(*args)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(whole.os, "replace", replace_and_fail)
        with pytest.raises(KeyboardInterrupt):
            write_whole(str(tmp_path / "x.json"), b"new")
    assert (tmp_path / "x.json").read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["x.json"]


def test_a_full_disk_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error without a name gets that of the report, which stays as it was."""
    target = tmp_path / "x.html"
    target.write_text("before")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device: .*x\.html"):
        write_whole(str(target), b"after")
    assert [path.name for path in tmp_path.iterdir()] == ["x.html"]
    assert target.read_text() == "before"


def test_permissions(tmp_path: Path) -> None:
    """A new file has the usual permissions, and one that is replaced keeps its own."""
    write_whole(str(tmp_path / "new.json"), b"x")
    (tmp_path / "plain.json").write_text("x")
    assert stat.S_IMODE((tmp_path / "new.json").stat().st_mode) == stat.S_IMODE(
        (tmp_path / "plain.json").stat().st_mode
    )
    (tmp_path / "new.json").chmod(0o640)
    write_whole(str(tmp_path / "new.json"), b"y")
    assert stat.S_IMODE((tmp_path / "new.json").stat().st_mode) == 0o640


def test_links_stay_links(tmp_path: Path) -> None:
    """Writing through a link changes the file it leads to."""
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    write_whole(str(tmp_path / "link.json"), b"new")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").read_bytes() == b"new"
