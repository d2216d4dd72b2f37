"""Files that Dask reads: Parquet by itself, text files as our own reader would."""

from __future__ import annotations

import csv
import os
import re
from functools import partial
from typing import Any

import dask.dataframe as dd
import pyarrow as pa
from fsspec.core import url_to_fs

from ald.data.inputs.addresses import is_address
from ald.data.inputs.files import absolute
from ald.data.inputs.frames import arrow_frame
from ald.data.inputs.sniffing import TextFile
from ald.remote.engines.dask import FAILURES
from ald.remote.engines.failures import translate_errors
from ald.remote.engines.folders import check_folders

NAME = "Dask"


def read(path: str, kind: str) -> Any:
    """A file with types as Dask finds them."""
    with translate_errors(NAME, FAILURES, path):
        if kind in ("csv", "tsv"):
            return dd.read_csv(_url(path), sep="," if kind == "csv" else "\t")
        return _read_parquet(path) if kind == "parquet" else dd.read_json(_url(path), lines=True)


def _read_parquet(path: str) -> Any:
    """A Parquet file, or a folder: names of folders in it may be columns, those of folders that it is in are none."""
    url = _url(path if is_address(path) else os.path.abspath(path))
    plain = partial(dd.read_parquet, url, dataset={"partitioning": None})
    system, place = url_to_fs(path if is_address(path) else os.path.abspath(path))
    if not system.isdir(place):
        return plain()
    check_folders(path, place, system.find(place), lambda: plain().columns)
    return dd.read_parquet(url, dataset={"partition_base_dir": place})


def _url(path: str) -> str:
    """A name as Dask takes it: a file of this machine stands for itself, whatever patterns its name looks like."""
    if is_address(path):
        return path
    path = absolute(path)
    return re.sub(r"([*?\[])", r"[\1]", path) if "*" in path else path  # Dask looks for patterns if there is a star


def read_text(path: str, file: TextFile, *, is_packed: bool) -> Any:
    """A text file of this machine with the types that our reader finds.

    Only lines that are whole rows can be read in blocks; other files are one partition.
    """
    reader = _Reader(file)
    empty = reader.frame(file.values(pa.table({text: pa.array([], pa.string()) for text in file.texts})))
    with translate_errors(NAME, FAILURES, path):
        if file.reader == "json" or file.has_breaks or is_packed:
            return dd.from_map(reader, [absolute(path)], meta=empty)
        texts = dd.read_csv(
            _url(path), names=file.texts, header=0, index_col=False, dtype=str, keep_default_na=False, na_values=[""],
            sep=file.delimiter, quoting=csv.QUOTE_MINIMAL if file.quote else csv.QUOTE_NONE,
            quotechar=file.quote or '"', doublequote=file.escape in ("", file.quote),
            escapechar=None if file.escape in ("", file.quote) else file.escape,
        )  # fmt: skip
        return texts.map_partitions(reader.part, meta=empty)


class _Reader:
    """A file, or a part of its texts, as a frame of values."""

    def __init__(self, file: TextFile) -> None:
        self.file = file

    def __call__(self, path: str) -> Any:
        return self.frame(self.file.read_all(path))

    def part(self, texts: Any) -> Any:
        """A partition."""
        columns = {name: pa.array(texts[name], pa.string(), from_pandas=True) for name in self.file.texts}
        return self.frame(self.file.values(pa.table(columns)))

    def frame(self, values: pa.Table) -> Any:
        """Values with the names of their columns."""
        return arrow_frame(values.rename_columns([column.name for column in self.file.columns]))
