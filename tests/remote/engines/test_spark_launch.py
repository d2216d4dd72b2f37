"""The Java process of a session that ald starts: silent, and ended with the command."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest

from tests.engine_data import decisions
from tests.spark_cluster import missing

pytest.importorskip("pyspark")
pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")


@pytest.mark.parametrize(("is_wanted", "expected"), [(True, "early\nlate\n"), (False, "late\n")])
def test_errors(capfd: pytest.CaptureFixture[str], is_wanted: bool, expected: str) -> None:
    """What Java writes while it starts is shown or dropped as a whole; what it writes later is shown."""
    from ald.remote.engines.spark_launch import Errors

    errors = Errors()
    java = os.dup(errors.target)
    os.write(java, b"early\n")
    assert capfd.readouterr().err == ""
    errors.release(is_wanted=is_wanted)
    os.write(java, b"late\n")
    os.close(java)
    shown, end = "", time.monotonic() + 60
    while "late" not in shown and time.monotonic() < end:
        time.sleep(0.01)
        shown += capfd.readouterr().err
    assert shown == expected


def test_java_of_others() -> None:
    """Where the program has a Java process of Spark's, none is started, and none would be ended."""
    from ald.remote.engines import spark_launch

    with (
        mock.patch.object(spark_launch, "SparkContext", SimpleNamespace(_gateway=object())),
        mock.patch.object(spark_launch.java_gateway, "launch_gateway") as launched,
        mock.patch.object(spark_launch, "ended_by_signals") as ended,
    ):
        assert spark_launch.launch(None) is None
    assert not launched.called
    assert not ended.called


def test_weakest_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Progress bars are switched off before whatever options of Java there are, and only while it starts."""
    from ald.remote.engines.spark_launch import _java_options

    monkeypatch.setenv("SPARK_SUBMIT_OPTS", "-Dspark.ui.showConsoleProgress=true")
    with _java_options():
        assert os.environ["SPARK_SUBMIT_OPTS"].split() == [
            "-Dspark.ui.showConsoleProgress=false",
            "-Dspark.ui.showConsoleProgress=true",
        ]
    assert os.environ["SPARK_SUBMIT_OPTS"] == "-Dspark.ui.showConsoleProgress=true"
    monkeypatch.delenv("SPARK_SUBMIT_OPTS")
    with _java_options():
        pass
    assert "SPARK_SUBMIT_OPTS" not in os.environ


def test_handlers_of_ctrl_c() -> None:
    """A new session leaves a program's own handler of Ctrl-C in place, and may replace Python's."""
    from ald.remote.engines.spark_launch import own_handler

    def own(*_: object) -> None:
        pass

    before = signal.getsignal(signal.SIGINT)
    try:
        for handler, expected in ((own, own), (signal.default_int_handler, signal.SIG_IGN)):
            signal.signal(signal.SIGINT, handler)
            with own_handler():
                signal.signal(signal.SIGINT, signal.SIG_IGN)
            assert signal.getsignal(signal.SIGINT) == expected
    finally:
        signal.signal(signal.SIGINT, before)


# Tells the number of the Java process, and when a step begins.
COMMAND = """
import sys
from pathlib import Path
import ald.remote.engines.spark_files as files, ald.remote.engines.spark_launch as launch
folder, step = Path(sys.argv[1]), sys.argv[2]
def told(name, function):
    def tell(*args, **options):
        if name == step:
            (folder / "begun").touch()
        return function(*args, **options)
    return tell
class Noted(launch.subprocess.Popen):
    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        if "spark-submit" in str(args):
            (folder / "java").write_text(str(self.pid))
launch.subprocess.Popen = Noted
launch.java_gateway.launch_gateway = told("launch", launch.java_gateway.launch_gateway)
files._settle = told("settle", files._settle)
files.read = told("read", files.read)
from ald.cli.main import main
sys.argv = ["ald", "audit", str(folder / "x.parquet"), "--engine", "spark", "--outcome", "hired", "--trees", "5"]
main()
"""


def started(folder: Path, step: str) -> subprocess.Popen[str]:
    """The command on decisions in this folder."""
    if missing():
        if os.environ.get("ALD_SPARK") == "required":
            pytest.fail(f"there is no {missing()}, although ALD_SPARK=required")
        pytest.skip(f"needs {missing()}")
    decisions().to_parquet(folder / "x.parquet", index=False)
    temporary = folder / "temporary"
    temporary.mkdir()
    environment: dict[str, Any] = os.environ | {"TMPDIR": str(temporary), "SPARK_LOCAL_DIRS": str(temporary)}
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, str(folder), step],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip


def test_silence(tmp_path: Path) -> None:
    """A session that the command starts on this machine writes nothing: no log, no bars, no warnings."""
    output, errors = started(tmp_path, "").communicate(timeout=240)
    assert errors == ""
    assert "hired" in output


@pytest.mark.parametrize(
    ("step", "delay", "number", "status"),
    [
        ("launch", 0, signal.SIGINT, 130),
        ("launch", 0.5, signal.SIGTERM, 143),
        ("settle", 0, signal.SIGTERM, 143),
        ("read", 3, signal.SIGINT, 130),
        ("read", 6, signal.SIGTERM, 143),
    ],
)
def test_interrupts(tmp_path: Path, step: str, delay: float, number: int, status: int) -> None:
    """Whenever the command is interrupted, it says so in one line, and Java ends with it."""
    process = started(tmp_path, step)
    end = time.monotonic() + 120
    while not (tmp_path / "begun").exists() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.02)
    time.sleep(delay)
    process.send_signal(number)
    _, errors = process.communicate(timeout=240)
    assert (process.returncode, errors.strip()) == (status, "Interrupted; no file is half written.")
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "java").read_text()), 0)
