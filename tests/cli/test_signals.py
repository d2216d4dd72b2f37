"""What ends the command from outside leaves nothing half done."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.tables import people, write_csv

pytestmark = pytest.mark.usefixtures("heard_signals")


def interrupt(command: list[str], started: Path, number: int = signal.SIGINT) -> tuple[int, str]:
    """Runs a command, sends it a signal once this file is there, and gives its exit code and errors."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for _ in range(6000):
        if started.exists() or process.poll() is not None:
            break
        time.sleep(0.05)
    process.send_signal(number)
    _, errors = process.communicate(timeout=300)
    return process.returncode, errors


@pytest.mark.parametrize("step", ["load", "search", "assess", "write"])
def test_interrupts(tmp_path: Path, step: str) -> None:
    """Ctrl-C at any step ends with 130, keeps the old report and leaves no other file."""
    folder = tmp_path / "reports"
    folder.mkdir()
    (folder / "x.json").write_text("old")
    data = write_csv(tmp_path / "x.csv", people(500))
    started, report = tmp_path / "started", str(folder / "x.json")
    # The step tells that it has begun, and then takes as long as it needs to be interrupted.
    code = f"""
import sys, time
from pathlib import Path
import ald.report.files, ald.pipeline, ald.search.forest.sampling as sampling
target = {{"load": (ald.pipeline, "load_or_leave"), "search": (sampling, "grow_forest"),
          "assess": (ald.pipeline, "assess"), "write": (ald.report.files.os, "fsync")}}[{step!r}]
def wait(*args, **options):
    Path({str(started)!r}).touch()
    time.sleep(600)
setattr(*target, wait)
from ald.cli.main import main
sys.argv = ["ald", "audit", {str(data)!r}, "--outcome", "y", "--search", "paper", "--trees", "2", "-o", {report!r}]
main()
"""
    code_, errors = interrupt([sys.executable, "-c", code], started)
    assert code_ == 130
    assert errors.strip() == "Interrupted; no file is half written."
    assert os.listdir(folder) == ["x.json"]
    assert (folder / "x.json").read_text() == "old"


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_signals_leave_no_rows(tmp_path: Path, number: int, status: int) -> None:
    """SIGTERM and SIGHUP end as Ctrl-C does: temporary rows are removed, and the exit code tells the signal."""
    data = write_csv(tmp_path / "x.csv", people(500))
    started, temporary = tmp_path / "started", tmp_path / "temporary"
    temporary.mkdir()
    code = f"""
import os, sys, tempfile, time
from pathlib import Path
tempfile.tempdir = {str(temporary)!r}
import ald.data.inputs.files, ald.data.inputs.reading
def wait(*args, **options):
    assert os.listdir({str(temporary)!r})
    Path({str(started)!r}).touch()
    time.sleep(600)
ald.data.inputs.reading.Reading.is_large = lambda self, rows, columns: True
ald.data.inputs.files.reduce_relation = wait
from ald.cli.main import main
sys.argv = ["ald", "audit", {str(data)!r}, "--outcome", "y"]
main()
"""
    code_, errors = interrupt([sys.executable, "-c", code], started, number)
    assert (code_, errors.strip()) == (status, "Interrupted; no file is half written.")
    assert not list(temporary.iterdir())


def test_interrupts_in_the_midst_of_work(tmp_path: Path) -> None:
    """Ctrl-C while threads count ends with 130 and without a traceback."""
    data = write_csv(tmp_path / "x.csv", people(20_000))
    started = tmp_path / "started"
    code = f"""
import sys, threading
from pathlib import Path
from ald.search.forest import sampling
grow = sampling.grow_forest
def announce(*args, **options):
    Path({str(started)!r}).touch()
    return grow(*args, **options)
sampling.grow_forest = announce
from ald.cli.main import main
sys.argv = ["ald", "audit", {str(data)!r}, "--outcome", "y", "--trees", "3000", "-o", {str(tmp_path / "y.json")!r}]
main()
"""
    code_, errors = interrupt([sys.executable, "-c", code], started)
    assert (code_, errors.strip()) == (130, "Interrupted; no file is half written.")
    assert not (tmp_path / "y.json").exists()


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_library_that_does_not_come_back(tmp_path: Path, number: int, status: int) -> None:
    """A signal ends the command in time, and removes its rows, while a library is busy and hears nothing."""
    started, rows = tmp_path / "started", tmp_path / "rows"
    rows.mkdir()
    code = f"""
import hashlib
from pathlib import Path
from ald._core.leftovers import to_be_removed
from ald.cli.signals import interrupted_by_signals
with interrupted_by_signals([]), to_be_removed({str(rows)!r}):
    Path({str(started)!r}).touch()
    hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)
"""
    before = time.monotonic()
    code_, errors = interrupt([sys.executable, "-c", code], started, number)
    assert time.monotonic() - before < 120
    assert (code_, errors.strip()) == (status, "Interrupted; no file is half written.")
    assert not rows.exists()
