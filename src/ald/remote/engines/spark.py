"""Spark: rows are counted where they are, by Spark itself or by functions that are sent to its partitions."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import ceil
from threading import Lock
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark import StorageLevel
from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812

from ald._core.arrays import AnyArray, FloatArray, IntArray
from ald.data.columns import MICROSECONDS_PER_DAY
from ald.data.inputs import bins
from ald.errors import InputError
from ald.remote.engines.arrow import PARTITION, chunks, merged_marginals, partition_marginals, row_keys
from ald.remote.engines.engine import Engine, Shape, lazy
from ald.remote.engines.protocols import Gatherer, Kept, Marginal, RowCoder, Summand
from ald.remote.engines.spark_launch import silently

# What Spark raises, from Python and from Java.
FAILURES = (PySparkException, Py4JError)
# Rows of a batch of sums.
_BATCH = 1 << 20
# Settings that are others for a while: per session and name, by how many, and what they were.
_CHANGED: dict[tuple[int, str], tuple[int, str]] = {}
_CHANGING = Lock()

Batches = Iterator[pa.RecordBatch]


class SparkEngine(Engine):
    """Spark's own functions where Narwhals lacks them or they are faster, and functions sent to partitions."""

    name = "Spark"
    failures = FAILURES

    def number_columns(self, frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        native = frame.to_native()
        return lazy(native.toDF(*(f"c{i}" for i in range(len(native.columns)))))

    def check(self, frame: nw.LazyFrame[Any]) -> None:
        if frame.to_native().isStreaming:
            raise InputError(
                "the data is a stream, which has no end: write a part of it to a table, and audit that table"
            )

    def look(self, frame: nw.LazyFrame[Any], columns: Sequence[str]) -> tuple[int, dict[str, Shape]]:
        asked = [F.count(F.lit(1))]
        for column in columns:
            asked += [F.approx_count_distinct(column), F.count(column)]
        rows, *found = frame.to_native().agg(*asked).collect()[0]
        return rows, {column: Shape(distinct=found[2 * i], known=found[2 * i + 1]) for i, column in enumerate(columns)}

    def distinct(self, frame: nw.LazyFrame[Any]) -> int:
        native = frame.to_native()
        asked = F.approx_count_distinct(F.xxhash64(*native.columns))
        return int(native.agg(asked).collect()[0][0])

    def measure(self, frame: nw.LazyFrame[Any], column: str, *, as_days: bool) -> nw.LazyFrame[Any]:
        native, dtype = frame.to_native(), frame.collect_schema()[column]
        if dtype == nw.Date:
            number = F.unix_date(column).cast("double")
        elif isinstance(dtype, nw.Datetime):
            # A time without a zone is taken as it stands: a cast would read it in the session's zone.
            epoch = F.lit("1970-01-01 00:00:00").cast("timestamp_ntz")
            number = F.unix_micros(column) if dtype.time_zone else F.timestamp_diff("MICROSECOND", epoch, column)
            number = number.cast("double")
            number = F.floor(number / MICROSECONDS_PER_DAY).cast("double") if as_days else number
        else:
            number = F.col(column).cast("double")
        return lazy(native.withColumn(column, number))

    def cut(self, frame: nw.LazyFrame[Any], edges: Mapping[str, FloatArray]) -> nw.LazyFrame[Any]:
        native = frame.to_native()
        positions = {native.columns.index(column): ends for column, ends in edges.items()}
        return lazy(map_batches(native, _cutting(positions), native.schema))

    def keep(self, frame: nw.LazyFrame[Any]) -> Kept:
        return SparkRows(frame.to_native())


def _cutting(edges: Mapping[int, FloatArray]) -> Callable[[Batches], Batches]:
    def cut(batches: Batches) -> Batches:
        for batch in batches:
            columns = list(batch.columns)
            for at, ends in edges.items():
                values = columns[at].to_numpy(zero_copy_only=False).astype(np.float64)
                columns[at] = pa.array(bins.cut(values, ends), from_pandas=True)
            yield pa.RecordBatch.from_arrays(columns, names=batch.schema.names)

    return cut


class SparkRows:
    """Rows of values."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame

    def marginals(self) -> list[Marginal]:
        def count(batches: Batches) -> Batches:
            found = partition_marginals(chunks(batches))
            yield pa.RecordBatch.from_arrays([pa.array([found], pa.binary())], names=["found"])

        parts = map_batches(self.frame, count, "found binary").toArrow().column(0).to_pylist()
        return merged_marginals(part for part in map(pickle.loads, parts) if part is not None)

    def encode(self, coder: RowCoder, rows: int) -> SparkBlocks:
        layout = coder.layout

        def keys(batches: Batches) -> Batches:
            for table in chunks(batches):
                yield pa.RecordBatch.from_arrays([_as_binary(row_keys(coder, table))], names=["key"])

        def blocks(batches: Batches) -> Batches:
            for table in chunks(batches):
                counts = table.column("n").to_numpy().astype(np.int64)
                block = layout.block(_as_bytes(table.column("key"), layout.width), counts)
                yield pa.RecordBatch.from_arrays([pa.array([block], pa.binary())], names=["block"])

        parts = max(2 * _parallelism(self.frame), ceil(rows / PARTITION))
        coded = map_batches(self.frame, keys, "key binary").repartition(parts, "key")
        counted = coded.groupBy("key").agg(F.count(F.lit(1)).alias("n"))
        return SparkBlocks(map_batches(counted, blocks, "block binary"), parts)


class SparkBlocks:
    """Coded rows in blocks, kept in the memory of the cluster or on its disks, and made anew where they got lost."""

    def __init__(self, frame: Any, parts: int) -> None:
        self.frame = frame.persist(StorageLevel.MEMORY_AND_DISK)
        self.parts = parts

    def sum_by_key(self, function: Summand, width: int) -> tuple[IntArray, IntArray]:
        names = ["key", *(f"v{i}" for i in range(width))]

        def count(batches: Batches) -> Batches:
            keys, values = function(_all_blocks(batches))
            for start in range(0, len(keys), _BATCH):
                part = slice(start, start + _BATCH)
                columns = [keys[part], *(values[part, i] for i in range(width))]
                yield pa.RecordBatch.from_arrays([pa.array(column) for column in columns], names=names)

        counted = map_batches(self.frame, count, ", ".join(f"{name} long" for name in names))
        sums = counted.groupBy("key").agg(*(F.sum(name).alias(name) for name in names[1:]))
        with _one_job(self.frame.sparkSession, self.parts):
            found = sums.toArrow()
        keys, *columns = (column.to_numpy().astype(np.int64) for column in found.columns)
        order = np.argsort(keys)
        return keys[order], np.stack(columns, axis=1)[order]

    def gather(self, function: Gatherer) -> list[Any]:
        def gather(batches: Batches) -> Batches:
            found = pickle.dumps(function(_all_blocks(batches)))
            yield pa.RecordBatch.from_arrays([pa.array([found], pa.binary())], names=["found"])

        parts = map_batches(self.frame, gather, "found binary").toArrow().column(0).to_pylist()
        return [pickle.loads(part) for part in parts]  # noqa: S301 - made above, by our own workers

    def close(self) -> None:
        self.frame.unpersist()


def map_batches(frame: Any, function: Callable[[Batches], Batches], schema: Any) -> Any:
    """The frame of what a function makes of the batches of every partition."""
    with silently():
        return frame.mapInArrow(function, schema)


def _all_blocks(batches: Batches) -> list[bytes]:
    return [block for batch in batches for block in batch.column(0).to_pylist()]


def _as_binary(keys: AnyArray) -> pa.Array:
    """Rows of bytes as an array of binary values."""
    n, width = keys.shape
    offsets = (np.arange(n + 1) * width).astype(np.int32)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(keys))]
    return pa.Array.from_buffers(pa.binary(), n, buffers)


def _as_bytes(keys: pa.ChunkedArray, width: int) -> AnyArray:
    """The inverse of `_as_binary`."""
    parts = [np.zeros((0, width), np.uint8)]
    for chunk in keys.chunks:
        whole = np.frombuffer(chunk.buffers()[2] or b"", np.uint8)
        parts.append(whole[chunk.offset * width : (chunk.offset + len(chunk)) * width].reshape(-1, width))
    return np.concatenate(parts)


def _parallelism(frame: Any) -> int:
    """How many tasks run at once; a Spark Connect client is not told."""
    try:
        return int(frame.sparkSession.sparkContext.defaultParallelism)
    except PySparkException:
        return 1


@contextmanager
def change_settings(session: Any, ours: Mapping[str, str]) -> Iterator[None]:
    """Settings of a session for a while. Audits in other threads may use it too: the last one puts them back."""
    key = hash(getattr(session, "_jsparkSession", session))
    with _CHANGING:
        for name, value in ours.items():
            users, before = _CHANGED.get((key, name)) or (0, session.conf.get(name))
            _CHANGED[key, name] = users + 1, before
            session.conf.set(name, value)
    try:
        yield
    finally:
        with _CHANGING:
            for name in ours:
                users, before = _CHANGED.pop((key, name))
                if users > 1:
                    _CHANGED[key, name] = users - 1, before
                else:
                    session.conf.set(name, before)


@contextmanager
def _one_job(session: Any, parts: int) -> Iterator[None]:
    """Sums in one job and not many tasks: Spark would otherwise plan in several jobs, for tables of other sizes."""
    ours = {"spark.sql.adaptive.enabled": "false", "spark.sql.shuffle.partitions": str(min(parts, 64))}
    with change_settings(session, ours):
        yield
