"""Files that an engine reads instead of us: on Spark, wherever its cluster finds them, or in Dask."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from ald.errors import InputError, SettingError, nearest, needed_extra

ENGINES = ("spark", "dask")
# What is read by which ending, after that of a compression.
_FORMATS = {
    ".parquet": "parquet",
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
}
_COMPRESSIONS = (".gz", ".bz2", ".zst")


def opened(data: Any, engine: str | None) -> Any:
    """The file as a frame of this engine; without one, whatever was given.

    engine: "spark" as its own configuration says, the address of a master (spark://host:7077), or "dask".
    """
    if engine is None:
        return data
    if not isinstance(engine, str) or (engine not in ENGINES and not engine.startswith("spark://")):
        raise SettingError(
            f"unknown engine {engine!r}. {nearest(str(engine), ENGINES)} A Spark master has an address such as "
            "spark://host:7077."
        )
    if not isinstance(data, (str, os.PathLike)):
        raise SettingError(
            f"engine says who reads a file, and this is no name of one but {type(data).__name__}: give a DataFrame of "
            "the engine without it"
        )
    path = os.fspath(data)
    kind = _kind(path)
    if "://" not in path and not os.path.exists(path):
        raise InputError(f"there is no file {path!r}")
    return _READERS["dask" if engine == "dask" else "spark"](path, kind, engine)


def _kind(path: str) -> str:
    stem = path.rstrip("/").lower()
    for ending in _COMPRESSIONS:
        stem = stem.removesuffix(ending)
    kind = next((kind for ending, kind in _FORMATS.items() if stem.endswith(ending)), None)
    if kind is None:
        raise InputError(f"cannot tell the format of {path!r}: an engine reads files ending in {', '.join(_FORMATS)}")
    return kind


def _spark(path: str, kind: str, engine: str) -> Any:
    try:
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError:
        raise needed_extra("Audits on Spark", "spark") from None
    builder = SparkSession.builder.appName("ald")
    try:
        session = (builder if engine == "spark" else builder.master(engine)).getOrCreate()
    except PySparkException as error:
        raise InputError(
            f"Spark did not start ({str(error).splitlines()[0]}). It needs a Java runtime, version 17 or later, on the "
            "path or in JAVA_HOME."
        ) from None
    reader = session.read
    # A name that says where it is, is left to the cluster; any other is a file of this machine.
    path = path if "://" in path else f"file://{os.path.abspath(path)}"
    if kind in ("csv", "tsv"):
        return reader.csv(path, header=True, inferSchema=True, sep="," if kind == "csv" else "\t")
    return reader.parquet(path) if kind == "parquet" else reader.json(path)


def _dask(path: str, kind: str, engine: str) -> Any:
    try:
        import dask.dataframe as dd
    except ImportError:
        raise needed_extra("Audits with Dask", "dask") from None
    if kind in ("csv", "tsv"):
        return dd.read_csv(path, sep="," if kind == "csv" else "\t")
    return dd.read_parquet(path) if kind == "parquet" else dd.read_json(path, lines=True)


_READERS: dict[str, Callable[[str, str, str], Any]] = {"spark": _spark, "dask": _dask}
