"""Files that Spark reads, and the session that does: Parquet by itself, text files as our own reader would."""

from __future__ import annotations

import os
import re
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.util import default_api_mode

from ald.data.inputs.addresses import is_address, mask_secrets
from ald.data.inputs.sniffing import TextFile
from ald.errors import InputError, SettingError
from ald.remote.engines.arrow import chunks
from ald.remote.engines.failures import reason, translate_errors
from ald.remote.engines.folders import check_folders
from ald.remote.engines.spark import FAILURES, Batches, change_settings, map_batches
from ald.remote.engines.spark_launch import launch, own_handler, silently

NAME = "Spark"
# Seconds in which a master has to answer.
_PATIENCE = 5.0
_TYPES = {
    "integer": "long",
    "number": "double",
    "boolean": "boolean",
    "date": "date",
    "time": "timestamp_ntz",
    "words": "string",
}


def session(engine: str) -> Any:
    """The session that there is, or a new one: as Spark's configuration says, or on the master with this address."""
    is_new, master = SparkContext._active_spark_context is None, None if engine == "spark" else engine
    errors, is_quiet = None, False
    try:
        with silently(), own_handler():
            if is_new and not _is_remote():
                errors = launch(master)
            builder = SparkSession.builder.appName("ald")
            found = (builder if master is None else builder.master(master)).getOrCreate()
            is_quiet = is_new and _settle(found)
    except PySparkException as error:
        raise InputError(
            f"Spark did not start ({reason(error)}). It needs a Java runtime, version 17 or later, on the path or in "
            "JAVA_HOME."
        ) from None
    except FAILURES as error:
        raise InputError(f"Spark did not start: {reason(error)}") from None
    except KeyboardInterrupt:
        is_quiet = True
        raise
    finally:
        if errors is not None:
            errors.release(is_wanted=not is_quiet)
    return found


def _is_remote() -> bool:
    """Whether a new session is a client of Spark Connect, which starts no Java or does so by itself."""
    named = any(name in os.environ for name in ("SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED"))
    return named or os.environ.get("SPARK_API_MODE", default_api_mode()).casefold() == "connect"


def check_master(address: str) -> None:
    """Raises if the master that a new session needs does not answer: Spark itself would try for a minute."""
    if address == "spark" or SparkContext._active_spark_context is not None:
        return
    failed = ""
    for place in address.removeprefix("spark://").split(","):
        host, _, port = place.rpartition(":")
        if not host or not port.isdecimal() or int(port) > 65535:
            raise SettingError(
                f"{mask_secrets(address)!r} is not the address of a Spark master, such as spark://host:7077"
            )
        try:
            socket.create_connection((host.strip("[]"), int(port)), _PATIENCE).close()
            return
        except OSError as error:
            failed = error.strerror or str(error)
    raise InputError(f"no Spark master answers at {mask_secrets(address)!r}: {failed}")


def _settle(found: Any) -> bool:
    """A session of ours on this machine: its workers run the Python that runs here, and errors are exceptions only.

    The log of a cluster stays: it says what it waits for. Returns whether nothing is logged.
    """
    try:
        context = found.sparkContext
    except PySparkException:  # a client of Spark Connect has none
        return False
    if not context.master.startswith("local"):
        return False
    settings = context.getConf()
    is_quiet = not settings.contains("spark.log.level")
    if is_quiet:
        context.setLogLevel("OFF")
    chosen = any(name in os.environ for name in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"))
    if not chosen and not settings.contains("spark.pyspark.python"):
        context.pythonExec = sys.executable
    return is_quiet


def read(path: str, kind: str, engine: str) -> Any:
    """A file with types as Spark finds them; times without a zone stay as they are."""
    spark = session(engine)
    with translate_errors(NAME, FAILURES, path), _plain_times(spark):
        found = _read(spark.read, path, kind)
        if not os.path.isfile(path):
            # What the files have, without the names of folders and what others wrote about all of them (_metadata).
            plain = spark.read.options(recursiveFileLookup=True, pathGlobFilter="[^_]*")
            check_folders(path, _url(path), found.inputFiles(), lambda: _read(plain, path, kind).columns)
        return found


def _read(reader: Any, path: str, kind: str) -> Any:
    if kind == "parquet":
        return reader.parquet(_pattern(path))
    if kind == "json":
        return reader.json(_pattern(path))
    return reader.csv(
        _pattern(path), header=True, inferSchema=True, sep="," if kind == "csv" else "\t", multiLine=True, quote='"',
        escape='"',
    )  # fmt: skip


def read_text(path: str, file: TextFile, engine: str) -> Any:
    """A text file of this machine with the types that our reader finds."""
    spark = session(engine)

    def values(batches: Batches) -> Batches:
        for texts in chunks(batches):
            yield from file.values(texts).to_batches()

    with translate_errors(NAME, FAILURES, path):
        schema = ", ".join(f"{text} string" for text in file.texts)
        if file.reader == "json":
            texts = spark.read.text(_pattern(path))
        else:
            texts = spark.read.csv(
                _pattern(path), schema=schema, header=True, sep=file.delimiter, quote=file.quote, escape=file.escape,
                multiLine=file.has_breaks, mode="FAILFAST",
            )  # fmt: skip
        types = ", ".join(f"c{i} {_TYPES[column.kind]}" for i, column in enumerate(file.columns))
        return map_batches(texts, values, types).toDF(*(column.name for column in file.columns))


def _url(path: str) -> str:
    """A name that says where it is, is left to the cluster; any other is a file of this machine."""
    return path if is_address(path) else f"file://{os.path.abspath(path)}"


def _pattern(path: str) -> str:
    """Its name as Spark takes it: a file of this machine stands for itself, whatever patterns its name looks like."""
    if is_address(path):
        return path
    if os.path.basename(path).startswith(("_", ".")):
        raise InputError(f"Spark takes files with names like {os.path.basename(path)!r} for hidden ones: rename it")
    return re.sub(r"([*?\[\]{}\\])", r"\\\1", _url(path))


@contextmanager
def _plain_times(spark: Any) -> Iterator[None]:
    """Texts without a zone are found to be times without one, not instants in the zone of the session."""
    with change_settings(spark, {"spark.sql.timestampType": "TIMESTAMP_NTZ"}):
        yield
