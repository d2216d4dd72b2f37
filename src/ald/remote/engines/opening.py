"""Files that an engine reads instead of us: on Spark, wherever its cluster finds them, or in Dask."""

from __future__ import annotations

import os
from typing import Any

from ald.data.inputs.addresses import is_address, mask_secrets
from ald.data.inputs.files import refuse_pipe
from ald.data.inputs.frames import Opened
from ald.data.inputs.sniffing import TextFile, sniff
from ald.errors import InputError, SettingError, nearest, needed_extra, shorten

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
_DATABASES = "A database or a query does not go with an engine: leave the engine out, and the database is asked."


def open_with(data: Any, engine: str, query: str | None = None) -> Opened:
    """The file as a frame of this engine.

    engine: "spark" as its own configuration says, the address of a master (spark://host:7077), or "dask".
    """
    if not isinstance(engine, str) or (engine not in ENGINES and not engine.startswith("spark://")):
        raise SettingError(
            f"unknown engine {_show(str(engine))!r}. {nearest(str(engine), ENGINES)} A Spark master has an address "
            "such as spark://host:7077."
        )
    if not isinstance(data, (str, os.PathLike)):
        raise SettingError(
            f"engine says what reads a file, but this is not the name of a file: it is a {type(data).__name__}. Give a "
            "DataFrame of the engine without it."
        )
    path = os.fspath(data)
    if query is not None:
        raise SettingError(f"engine and query were given for {_show(path)!r}. {_DATABASES}")
    kind = _kind(path)
    path = path.removeprefix("file://") if path.startswith("file:///") else path
    if not is_address(path) and not os.path.exists(path):
        raise InputError(f"there is no file {path!r}")
    refuse_pipe(path)
    return _with_dask(path, kind) if engine == "dask" else _with_spark(path, kind, engine)


def _show(path: str) -> str:
    return mask_secrets(path) if is_address(path) else shorten(path, 120)


def _kind(path: str) -> str:
    stem = (path.partition("?")[0] if is_address(path) else path).rstrip("/").lower()
    for ending in _COMPRESSIONS:
        stem = stem.removesuffix(ending)
    kind = next((kind for ending, kind in _FORMATS.items() if stem.endswith(ending)), None)
    if kind is None:
        raise InputError(
            f"cannot tell the format of {_show(path)!r}: an engine reads files ending in {', '.join(_FORMATS)}. "
            + (_DATABASES if is_address(path) else "")
        )
    return kind


def _text_file(path: str, kind: str) -> TextFile | None:
    """What our own reader finds in a text file; None if it has no need to look, or cannot."""
    if kind == "parquet" or not os.path.isfile(path) or path.lower().endswith(".bz2"):
        return None
    return sniff(path)


def _wrap(frame: Any, path: str, kind: str, file: TextFile | None, engine: str) -> Opened:
    """The frame with what is to be said of it."""
    if file is not None:
        return Opened(frame=frame, by_column=file.notes)
    note = (
        f"the types in {_show(path)!r} were inferred by {engine}, which may take other texts for numbers, dates or "
        "missing values than ald does; Parquet files say their types themselves"
    )
    return Opened(frame=frame, notes=() if kind == "parquet" else (note,))


def _with_spark(path: str, kind: str, engine: str) -> Opened:
    try:
        import pyspark  # noqa: F401
    except ModuleNotFoundError:
        raise needed_extra("Audits on Spark", "spark") from None
    from ald.remote.engines import spark_files

    spark_files.check_master(engine)
    file = _text_file(path, kind)
    frame = spark_files.read(path, kind, engine) if file is None else spark_files.read_text(path, file, engine)
    return _wrap(frame, path, kind, file, spark_files.NAME)


def _with_dask(path: str, kind: str) -> Opened:
    try:
        import dask.dataframe  # noqa: F401
    except ModuleNotFoundError:
        raise needed_extra("Audits with Dask", "dask") from None
    from ald.remote.engines import dask_files

    file = _text_file(path, kind)
    is_packed = path.lower().endswith(_COMPRESSIONS)
    frame = dask_files.read(path, kind) if file is None else dask_files.read_text(path, file, is_packed=is_packed)
    return _wrap(frame, path, kind, file, dask_files.NAME)
