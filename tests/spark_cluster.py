"""A real Spark cluster on loopback: a standalone master and two workers, each a process of its own."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent


def missing() -> str:
    """What is not there that a cluster needs; empty if nothing is."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        return "pyspark"
    return "" if shutil.which("java") else "a Java runtime (Debian: apt-get install openjdk-17-jre-headless)"


class SparkCluster:
    """A master and two workers with one core each."""

    def __init__(self, memory: str = "1g") -> None:
        import pyspark

        self.folder = Path(tempfile.mkdtemp(prefix="ald-spark-"))
        self.home = Path(pyspark.__file__).parent
        self.memory = memory
        self.processes: list[subprocess.Popen[bytes]] = []
        self.workers: list[subprocess.Popen[bytes]] = []
        self.port, self.web = _free_port(), _free_port()
        self.address = f"spark://127.0.0.1:{self.port}"
        try:
            self._start(
                "org.apache.spark.deploy.master.Master", "--port", str(self.port), "--webui-port", str(self.web)
            )
            _wait(lambda: _answers(self.port))
            for _ in range(2):
                self.add_worker()
        except BaseException:
            self.stop()
            raise

    def add_worker(self) -> None:
        """One more worker."""
        folder = self.folder / f"work-{len(self.processes)}"
        self.workers.append(
            self._start("org.apache.spark.deploy.worker.Worker", "--cores", "1", "--memory", self.memory,
                        "--work-dir", str(folder), "--webui-port", str(_free_port()), self.address)
        )  # fmt: skip

    def _start(self, name: str, *options: str) -> subprocess.Popen[bytes]:
        path = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
        environment = os.environ | {
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_NO_DAEMONIZE": "1",
            "SPARK_LOCAL_DIRS": str(self.folder / "local"),
            "SPARK_DAEMON_MEMORY": "256m",
            "PYTHONPATH": path.rstrip(os.pathsep),
        }
        log = (self.folder / f"log-{len(self.processes)}").open("wb")
        command = [str(self.home / "bin" / "spark-class"), name, "--host", "127.0.0.1", *options]
        # A session of its own: executors are children of their worker, and end with it.
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
        log.close()
        self.processes.append(process)
        return process

    def session(self, **settings: str) -> Any:
        """A session on this cluster, whose driver is this process."""
        return joined(self.address, self.folder, len(self.workers), self.memory, **settings)

    def kill_worker(self) -> None:
        """Ends a worker and its executor without a word, as a machine that fails."""
        _end(self.workers.pop(0))

    def stop(self) -> None:
        """Ends all processes."""
        for process in self.processes:
            _end(process)
        shutil.rmtree(self.folder, ignore_errors=True)


def joined(address: str, folder: Path | str, workers: int, memory: str, **settings: str) -> Any:
    """A session on a cluster, once it has all its executors."""
    from pyspark.sql import SparkSession

    os.environ |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    builder = SparkSession.builder.master(address).appName("ald")
    ours = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.executor.memory": memory,
        "spark.local.dir": str(Path(folder) / "driver"),
        "spark.sql.warehouse.dir": str(Path(folder) / "warehouse"),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "4",
        "spark.task.maxFailures": "8",
        "spark.log.level": "OFF",
    }
    for name, value in (ours | settings).items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    _wait(lambda: len(executors(session)) >= workers)
    return session


def executors(session: Any) -> list[Any]:
    """The executors of a session, without its driver."""
    tracker = session.sparkContext._jsc.sc().statusTracker()
    return list(tracker.getExecutorInfos())[1:]


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(timeout=30)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _answers(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def _wait(condition: Any, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("the Spark cluster did not start")
        time.sleep(0.1)


@contextlib.contextmanager
def running(memory: str = "1g") -> Iterator[SparkCluster]:
    """A cluster that is ended whatever happens."""
    cluster = SparkCluster(memory)
    try:
        yield cluster
    finally:
        cluster.stop()
