"""Spark: a real master and two workers on loopback, the same results as in memory, and a worker that dies."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

import ald
from ald import ColumnError, InputError
from ald.data.inputs.reading import Reading
from ald.data.inputs.sources import load
from ald.remote.engines.opening import open_with
from tests.engine_data import awkward, decisions
from tests.flat import audit_flat
from tests.remote.engines.test_dask_files import FEW, write
from tests.remote.test_distributed import everything
from tests.remote.test_lazy import many_values
from tests.spark_cluster import SparkCluster, executors, missing, running

# Spark says so of any pandas that is newer than itself, whenever it is imported.
pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
OPTIONS: dict[str, Any] = {"outcome": "hired", "trees": 5, "kinds": {"size": ["S", "M", "L"]}}


@pytest.fixture(scope="module")
def cluster() -> Iterator[SparkCluster]:
    lacking = missing()
    if lacking:
        if os.environ.get("ALD_SPARK") == "required":
            pytest.fail(f"there is no {lacking}, although ALD_SPARK=required")
        pytest.skip(f"needs {lacking}")
    with running() as found:
        yield found


@pytest.fixture(scope="module")
def session(cluster: SparkCluster) -> Iterator[Any]:
    session = cluster.session()
    yield session
    session.stop()


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The decisions in several files, so that there are several partitions."""
    folder = tmp_path_factory.mktemp("spark") / "decisions.parquet"
    folder.mkdir()
    frame = decisions()
    for i in range(4):
        frame[i::4].to_parquet(folder / f"{i}.parquet", index=False)
    return folder


def read(session: Any, path: Path) -> Any:
    return session.read.parquet(str(path)).repartition(4)


def test_two_workers(session: Any) -> None:
    """The cluster is one: two executors in processes of their own."""
    assert len(executors(session)) == 2


@pytest.mark.parametrize(
    "options",
    [
        {"outcome": "hired", "trees": 5},
        {"outcome": "hired", "given": "size", "split": "remote", "trees": 5, "named_groups": "age > 40"},
    ],
)
def test_counts_that_come_back(session: Any, path: Path, options: dict[str, Any]) -> None:
    """Where the counts fit into memory, the audit is that of the data in memory, byte by byte."""
    expected = audit_flat(decisions(), **options)
    assert audit_flat(read(session, path), **options).to_json() == expected.to_json()


def test_bins(session: Any, tmp_path: Path) -> None:
    """Numbers and times with very many values are cut on the cluster as anywhere else."""
    import dask.dataframe as dd

    frame = many_values().query("income != 1e300")
    frame.to_parquet(tmp_path / "many.parquet", index=False)
    reading = Reading(named={"income": ("20000",)})
    frames = read(session, tmp_path / "many.parquet"), dd.from_pandas(frame, npartitions=2)
    found, expected = (load(data, reading=reading) for data in frames)
    for name in ("income", "at"):
        assert found[name].kind == expected[name].kind
        assert np.array_equal(found[name].values, expected[name].values)
        assert found[name].n_infinite == expected[name].n_infinite
    assert found.n_rows == expected.n_rows


def test_bytes_and_wide_ranges(session: Any, tmp_path: Path) -> None:
    """Bytes that are no text stay apart, as without an engine, and a range that no double holds is cut into bins."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 9000)
    frame = decisions(9000)[["hired"]].assign(code=[bytes([250 + code]) for code in codes])
    frame["wide"] = 1.7e308 * rng.uniform(-1, 1, 9000)
    frame.to_parquet(tmp_path / "a.parquet", index=False)
    found, expected = load(read(session, tmp_path / "a.parquet"), reading=Reading()), load(tmp_path / "a.parquet")
    assert found["code"].levels == expected["code"].levels == ("\\xFA", "\\xFB", "\\xFC")
    assert found["wide"].n_codes > 3000


def jobs(session: Any, group: str) -> int:
    return len(session.sparkContext.statusTracker().getJobIdsForGroup(group))


def test_settings_are_put_back(session: Any) -> None:
    """What a session is set to is the same after audits that used it at the same time."""
    from ald.remote.engines.spark import change_settings

    name = "spark.sql.shuffle.partitions"
    before = session.conf.get(name)
    seen = []
    with change_settings(session, {name: "3"}):
        other = change_settings(session, {name: "5"})
        other.__enter__()
    seen.append(session.conf.get(name))
    other.__exit__(None, None, None)
    assert [*seen, session.conf.get(name)] == ["5", before]


def test_level_by_level(session: Any, path: Path) -> None:
    """Where they do not, the cluster counts level by level: as one machine does, with one job per level."""
    expected = audit_flat(decisions(), **OPTIONS)
    before = {name: session.conf.get(name) for name in ("spark.sql.adaptive.enabled", "spark.sql.shuffle.partitions")}
    levels: list[int] = []

    def progress(step: str, share: float) -> None:
        if step == "search" and 0.0 < share < 0.5:
            levels.append(jobs(session, "levels"))

    session.sparkContext.setJobGroup("levels", "an audit")
    with mock.patch.object(Reading, "most_distinct", 100):
        found = audit_flat(read(session, path), progress=progress, **OPTIONS)
    session.sparkContext.setLocalProperty("spark.jobGroup.id", None)
    assert everything(found) == everything(expected)
    assert len(levels) >= 3
    assert set(np.diff(levels)) == {1}
    assert {name: session.conf.get(name) for name in before} == before
    assert not session.sparkContext._jsc.getPersistentRDDs()


def test_leaves(session: Any, path: Path) -> None:
    """The paper's search too: all leaves are counted by one job."""
    options = OPTIONS | {"search": "paper", "trees": 2}
    expected = audit_flat(decisions(), **options)
    with mock.patch.object(Reading, "most_distinct", 100):
        assert everything(audit_flat(read(session, path), **options)) == everything(expected)


def test_files(session: Any, cluster: SparkCluster, path: Path) -> None:
    """A file is read by Spark if it is asked to, by the session that there is."""
    options = {"outcome": "hired", "trees": 2, "attributes": ["age", "sex"]}
    expected = audit_flat(decisions(), **options).to_json()
    assert audit_flat(str(path), engine=cluster.address, **options).to_json() == expected


def test_text_files(session: Any, cluster: SparkCluster, tmp_path: Path) -> None:
    """CSV files and JSON lines are read as without an engine, in any time zone."""
    awkward(tmp_path / "a.csv")
    awkward(tmp_path / "b.csv", breaks=False, delimiter=";")
    decisions(2000).to_json(tmp_path / "c.jsonl", orient="records", lines=True, date_format="iso")
    before = session.conf.get("spark.sql.session.timeZone")
    session.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        for name, outcome in (("a.csv", "ok"), ("b.csv", "ok"), ("c.jsonl", "hired")):
            options = {"outcome": outcome, "trees": 2}
            found = audit_flat(tmp_path / name, engine=cluster.address, **options)
            assert found.to_json() == audit_flat(tmp_path / name, **options).to_json(), name
    finally:
        session.conf.set("spark.sql.session.timeZone", before)


def test_types_that_spark_finds(session: Any, cluster: SparkCluster, tmp_path: Path) -> None:
    """Of a folder of text files Spark finds the types, and a warning says so; times and line breaks stay."""
    folder = tmp_path / "a.csv"
    folder.mkdir()
    rows = '2024-01-01 23:00:00,"a ""b""\nc",1\n2024-01-02 03:30:00,d,0\n' * 200
    (folder / "1.csv").write_text(f"at,text,ok\n{rows}")
    session.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        found = ald.audit(ald.source(folder, engine=cluster.address), outcome="ok", search=ald.Search(trees=2))
    finally:
        session.conf.set("spark.sql.session.timeZone", "UTC")
    assert [(a.name, a.kind, a.distinct) for a in found.data_summary.attributes] == [
        ("at", "datetime", 2),
        ("text", "nominal", 2),
    ]
    assert any("were inferred by Spark" in warning for warning in found.data_summary.warnings)
    assert "2024-01-01 23:00:00" in found.to_json()
    assert session.conf.get("spark.sql.timestampType") == "TIMESTAMP_LTZ"


def test_names_of_files_and_folders(
    session: Any, cluster: SparkCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files stand for themselves, whatever their names look like; folders that they are in are no columns."""
    monkeypatch.chdir(tmp_path)
    for folder in ("sex=Z", "new=1"):
        (tmp_path / folder).mkdir()
    for ending in ("csv", "csv.bz2", "jsonl", "parquet"):
        for name in ("star", "bar", "a", "b"):
            write(tmp_path / f"{name}.{ending}", FEW.assign(y=5))
        for name in ("sex=Z/a", "new=1/a", "st*r", "b[a]r", "{a,b}", "~", "it's", "%41"):
            write(tmp_path / f"{name}.{ending}", FEW)
            table = load(open_with(f"{name}.{ending}", cluster.address))
            found = {column: sorted(table[column].words()) for column in table.names}
            assert found == {"sex": ["F", "M"], "y": ["0", "1"]}, f"{name}.{ending}"
    write(tmp_path / "_x.parquet", FEW)
    with pytest.raises(InputError, match=r"Spark takes files with names like '_x\.parquet' for hidden ones: rename it"):
        open_with("_x.parquet", cluster.address)


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_folders_within_a_data_set(session: Any, cluster: SparkCluster, tmp_path: Path, ending: str) -> None:
    """Names of folders in a data set are columns, unless the files have a column so named: that is an error."""
    path = tmp_path / "a=0" / f"x.{ending}"
    for year in (2024, 2025):
        (path / f"year={year}").mkdir(parents=True)
        write(path / f"year={year}" / f"0.{ending}", FEW)
    assert sorted(open_with(path, cluster.address).frame.columns) == ["sex", "y", "year"]
    path = tmp_path / f"y.{ending}"
    (path / "SEX=Z").mkdir(parents=True)
    write(path / "SEX=Z" / f"0.{ending}", FEW)
    with pytest.raises(InputError, match=r"has a folder 'SEX=Z', and the files in it have a column 'sex' too"):
        open_with(path, cluster.address)


def test_files_that_cannot_be_read(session: Any, cluster: SparkCluster, tmp_path: Path) -> None:
    """A file that is not what its ending says, and a missing file system, are errors in one line, without passwords."""
    (tmp_path / "a.parquet").write_text("hello")
    for name in (str(tmp_path / "a.parquet"), "s3a://AKIA:pa55word@bucket/a.parquet"):
        with pytest.raises(InputError, match=r"^Spark cannot read ") as caught:
            ald.audit(ald.source(name, engine=cluster.address), outcome="y")
        assert "\n" not in str(caught.value)
        assert "pa55word" not in str(caught.value)


def test_what_cannot_be_audited(session: Any, path: Path) -> None:
    """Streams, unknown columns, empty data and repeated names are errors in words."""
    stream = session.readStream.format("rate").load()
    with pytest.raises(InputError, match="is a stream"):
        ald.audit(stream, outcome="value")
    frame = read(session, path)
    with pytest.raises(ColumnError, match="Did you mean 'hired'"):
        ald.audit(frame, outcome="hird", attributes=["age"])
    with pytest.raises(InputError, match="no rows"):
        ald.audit(frame.limit(0), outcome="hired", attributes=["age"])
    twice = frame.select("sex", frame["remote"].alias("sex"), "hired")
    with pytest.raises(InputError, match="more than one column named 'sex'"):
        ald.audit(twice, outcome="hired")


def test_a_worker_dies(session: Any, cluster: SparkCluster, path: Path) -> None:
    """A worker that is killed while trees grow changes nothing: its rows are coded again by the other one."""
    expected = audit_flat(decisions(), **OPTIONS)
    told = 0

    def progress(step: str, share: float) -> None:
        nonlocal told
        told += 1
        if told == 4:
            cluster.kill_worker()

    try:
        with mock.patch.object(Reading, "most_distinct", 100):
            found = audit_flat(read(session, path), progress=progress, **OPTIONS)
    finally:
        left = len(cluster.workers)
        cluster.add_worker()
    assert left == 1
    assert everything(found) == everything(expected)
