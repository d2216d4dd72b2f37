"""The session that Spark reads files with, as far as that needs no Spark that runs."""

from __future__ import annotations

import socket
import sys
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest

import ald
from ald import InputError, SettingError

pytest.importorskip("pyspark")
pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")


@pytest.fixture
def path(tmp_path: Any) -> str:
    (tmp_path / "a.parquet").touch()
    return str(tmp_path / "a.parquet")


@pytest.fixture(autouse=True)
def no_session() -> Any:
    """Whatever session other tests have left."""
    with mock.patch("ald.remote.engines.spark_files.SparkContext", SimpleNamespace(_active_spark_context=None)):
        yield


@pytest.mark.parametrize("address", ["spark://h", "spark://h:x", "spark://:7077", "spark://h:70777"])
def test_no_address(path: str, address: str) -> None:
    """What cannot be the address of a master is refused before Spark starts."""
    with pytest.raises(SettingError, match="is not the address of a Spark master, such as spark://host:7077"):
        ald.audit(ald.source(path, engine=address), outcome="y")


def test_no_master(path: str) -> None:
    """A master that does not answer is an error at once."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    said: list[str] = []
    with pytest.raises(InputError, match=f"no Spark master answers at 'spark://127.0.0.1:{port}': Connection refused"):
        ald.audit(
            ald.source(path, engine=f"spark://127.0.0.1:{port}"),
            outcome="y",
            progress=lambda step, share: said.append(step),
        )
    assert said == ["load"]


class Context:
    """What is asked of a Spark context."""

    def __init__(self, master: str, **settings: str) -> None:
        self.master, self.settings, self.level, self.pythonExec = master, settings, "WARN", "python3"

    def getConf(self) -> Any:  # noqa: N802
        return SimpleNamespace(contains=self.settings.__contains__)

    def setLogLevel(self, level: str) -> None:  # noqa: N802
        self.level = level


@pytest.mark.parametrize(
    ("master", "variable", "python"),
    [
        ("local[2]", None, sys.executable),
        ("local[2]", "PYSPARK_PYTHON", "python3"),
        ("local[2]", "PYSPARK_DRIVER_PYTHON", "python3"),
        ("spark://h:7077", None, "python3"),
    ],
)
def test_python_of_workers(monkeypatch: pytest.MonkeyPatch, master: str, variable: str | None, python: str) -> None:
    """Workers of a local session that ald starts run the Python that runs ald, unless another one was chosen."""
    from ald.remote.engines.spark_files import _settle

    for name in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):
        monkeypatch.delenv(name, raising=False)
    if variable is not None:
        monkeypatch.setenv(variable, "python3")
    context = Context(master)
    _settle(SimpleNamespace(sparkContext=context))
    assert context.pythonExec == python


def test_log_level() -> None:
    """The log is turned off on this machine only, and only where nobody has said how much to log."""
    from ald.remote.engines.spark_files import _settle

    ours, chosen, cluster = contexts = [
        Context("local[2]"),
        Context("local[2]", **{"spark.log.level": "INFO"}),
        Context("spark://h:7077"),
    ]
    for context in contexts:
        _settle(SimpleNamespace(sparkContext=context))
    assert [ours.level, chosen.level, cluster.level] == ["OFF", "WARN", "WARN"]
