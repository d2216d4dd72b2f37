"""Rows that are elsewhere: PostgreSQL, Dask and Spark give the audit of the same rows in memory, or an error of ALD."""

from __future__ import annotations

import atexit
import functools
import random
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.torturing.checking import Check, LackingError

import ald

WORDS = ["f", "m", "x", "a b", "o'neil", '"', "ü", "", " ", "NULL", "1e5", "true", "\\N", ";--", "%", "{}", "a,b", "\t"]
NAMES = ["sex", "o'neil", 'say "x"', "a b", "select", "ü", "%s", "a.b", ";drop", "A" * 60]


def random_table(rng: random.Random, n: int) -> Any:
    """Columns of several kinds with odd names, odd words and missing values, and an outcome."""
    import pandas as pd

    draw = np.random.default_rng(rng.randrange(10**6))
    names = rng.sample(NAMES, 4)
    frame = pd.DataFrame(
        {
            names[0]: draw.choice(np.array(rng.sample(WORDS, 4), object), n),
            names[1]: draw.integers(-5, 90, n),
            names[2]: np.round(draw.normal(size=n), 2),
            names[3]: draw.choice([True, False], n),
        }
    )
    if rng.random() < 0.5:
        frame.loc[draw.random(n) < 0.05, names[0]] = None
    high = frame[names[1]] > 40
    frame["y"] = (draw.random(n) < np.where(high, 0.7, 0.35)).astype(int)
    return frame


def options(rng: random.Random) -> dict[str, Any]:
    chosen: dict[str, Any] = {"outcome": "y", "seed": rng.randrange(99), "split": "random"}
    if rng.random() < 0.5:
        chosen["search"] = ald.Search(trees=2)
    return chosen


def compared(here: Callable[[], Any], there: Callable[[], Any]) -> None:
    """Both give the same document, or both refuse."""
    found = []
    for run in (here, there):
        try:
            found.append(run().to_json())
        except ald.AldError as error:
            found.append(error)
    refused = [isinstance(one, ald.AldError) for one in found]
    assert refused[0] == refused[1], f"one refuses: {found[refused.index(True)]}"
    if refused[0]:
        raise found[0]
    assert found[0] == found[1], "another document"


@functools.cache
def _postgresql() -> str:
    """The address of a server of our own, as the tests start it."""
    from tests.data.inputs import test_database as tests

    if tests.binaries() is None:
        raise LackingError("skipped: needs a PostgreSQL server")
    going = tests.server.__wrapped__() if hasattr(tests.server, "__wrapped__") else None
    if going is None:
        raise LackingError("skipped: the tests start no PostgreSQL server")
    address = next(going)
    atexit.register(lambda: next(going, None))
    return str(address)


def postgresql(check: Check, rng: random.Random, folder: Path) -> None:
    """Tables with odd names and words on a PostgreSQL server: the audit of the same rows in memory."""
    frame = random_table(rng, rng.choice([200, 1000]))
    asked = options(rng)

    def run() -> None:
        import pyarrow as pa
        from adbc_driver_postgresql import dbapi

        address = _postgresql()
        with dbapi.connect(address) as connection, connection.cursor() as cursor:
            cursor.adbc_ingest("tried", pa.Table.from_pandas(frame, preserve_index=False), mode="replace")
            connection.commit()
        where = ald.source(address, query="SELECT * FROM tried")
        compared(lambda: ald.audit(frame, **asked), lambda: ald.audit(where, **asked))

    check.attempt("table", run)


def dask_partitions(check: Check, rng: random.Random, folder: Path) -> None:
    """Rows in any Dask partitions: the audit of the same rows in memory."""
    try:
        import dask
        import dask.dataframe as dd
        import pandas as pd
    except ImportError:
        check.note = "skipped: needs dask"
        return
    frame = random_table(rng, rng.choice([200, 1000]))
    asked = options(rng)
    cuts = sorted(rng.sample(range(len(frame) + 1), rng.choice([0, 1, 3, 8])))
    parts = [frame.iloc[a:b] for a, b in zip([0, *cuts], [*cuts, len(frame)], strict=True)]
    rng.shuffle(parts)

    def run() -> None:
        with dask.config.set(scheduler="threads"):
            there = dd.from_map(lambda i: parts[i], range(len(parts)), meta=frame.iloc[:0])
            compared(lambda: ald.audit(pd.concat(parts), **asked), lambda: ald.audit(there, **asked))

    check.attempt("partitions", run)


@functools.cache
def _spark() -> tuple[Any, Any]:
    from tests.spark_cluster import SparkCluster, missing

    lacking = missing()
    if lacking:
        raise LackingError(f"skipped: needs {lacking}")
    cluster = SparkCluster()
    atexit.register(cluster.stop)
    return cluster, cluster.session()


def spark_partitions(check: Check, rng: random.Random, folder: Path) -> None:
    """Rows in any Spark partitions on a cluster of two workers: the audit of the same rows in memory."""
    frame = random_table(rng, rng.choice([200, 1000]))
    asked, parts = options(rng), rng.choice([1, 2, 5, 9])

    try:
        _, session = _spark()  # which takes its time, and is none of ours
    except LackingError as error:
        check.note = str(error)
        return

    def run() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            path = folder / f"{rng.randrange(10**9)}.parquet"
            frame.to_parquet(path)
            there = session.read.parquet(str(path)).repartition(parts)
            compared(lambda: ald.audit(frame, **asked), lambda: ald.audit(there, **asked))

    check.attempt("partitions", run, seconds=300)
