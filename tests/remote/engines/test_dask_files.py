"""Files that Dask reads: the audit is that of the same file without an engine."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import dask.dataframe as dd
import fsspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ald
from ald import ColumnError, InputError
from ald.data.inputs.reading import Reading
from ald.remote.engines.opening import open_with
from tests.engine_data import awkward
from tests.flat import audit_flat
from tests.remote.test_distributed import everything

OPTIONS: dict[str, Any] = {"outcome": "ok", "trees": 2}
FEW = pd.DataFrame({"sex": ["F", "M"], "y": [1, 0]})


def write(path: Path, frame: pd.DataFrame) -> None:
    """The frame as a file of the format that the ending says."""
    with path.open("wb") as file:
        if path.suffix == ".parquet":
            frame.to_parquet(file)
        elif path.suffix == ".jsonl":
            frame.to_json(file, orient="records", lines=True)
        else:
            packing = {".gz": "gzip", ".bz2": "bz2"}.get(path.suffix)
            frame.to_csv(file, index=False, sep="\t" if path.suffix == ".tsv" else ",", compression=packing)


@pytest.fixture
def in_blocks() -> Iterator[None]:
    """Dask reads CSV files in small blocks."""
    with mock.patch.object(dd, "read_csv", partial(dd.read_csv, blocksize=20_000)):
        yield


@pytest.mark.usefixtures("in_blocks")
@pytest.mark.parametrize(
    ("name", "delimiter", "breaks"),
    [("a.csv", ",", True), ("a.csv", ",", False), ("a.csv", ";", False), ("a.tsv", "\t", True)],
)
def test_csv(tmp_path: Path, name: str, delimiter: str, breaks: bool) -> None:
    """Zip codes, words for nothing, dates, times, quotes and line breaks are read as without an engine."""
    path = tmp_path / name
    awkward(path, delimiter=delimiter, breaks=breaks)
    assert audit_flat(path, engine="dask", **OPTIONS).to_json() == audit_flat(path, **OPTIONS).to_json()


@pytest.mark.parametrize("name", ["a.csv.gz", "a.jsonl", "a.jsonl.gz"])
def test_packed_and_json(tmp_path: Path, name: str) -> None:
    """So are packed files and JSON lines: texts that are no numbers there are none here."""
    awkward(tmp_path / "a.csv", breaks=False)
    frame = pd.read_csv(tmp_path / "a.csv", dtype=str, keep_default_na=False)
    path = tmp_path / name
    if "json" in name:
        frame.assign(ok=frame["ok"].astype(int)).to_json(path, orient="records", lines=True)
    else:
        frame.to_csv(path, index=False)
    assert audit_flat(path, engine="dask", **OPTIONS).to_json() == audit_flat(path, **OPTIONS).to_json()


@pytest.mark.usefixtures("in_blocks")
def test_level_by_level(tmp_path: Path) -> None:
    """Where the counts do not fit, what was said of the columns is said too."""
    path = tmp_path / "a.csv"
    awkward(path, breaks=False)
    expected = audit_flat(path, **OPTIONS)
    with mock.patch.object(Reading, "most_distinct", 100):
        found = audit_flat(path, engine="dask", **OPTIONS)
    assert everything(found) == everything(expected)
    assert set(expected.data_summary.warnings) < set(found.data_summary.warnings)


def test_bins_of_text(tmp_path: Path) -> None:
    """Numbers of a text file with very many values, some of them missing, are cut into bins."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=9000), "ok": rng.integers(0, 2, 9000)})
    frame.loc[::10, "x"] = np.nan
    frame.to_csv(tmp_path / "a.csv", index=False)
    (attribute,) = audit_flat(tmp_path / "a.csv", engine="dask", **OPTIONS).data_summary.attributes
    assert attribute.kind == "numeric"
    assert attribute.missing == 900
    assert attribute.distinct <= 4096


def test_files_elsewhere() -> None:
    """Of a text file that is not on this machine Dask finds the types, and a warning says so."""
    with fsspec.open("memory://ald/a.csv", "w") as file:
        file.write("sex,ok\n" + "f,1\nm,0\nf,0\nm,1\n" * 100)
    found = audit_flat("memory://ald/a.csv", engine="dask", **OPTIONS)
    (warning,) = (text for text in found.data_summary.warnings if "memory://ald/a.csv" in text)
    assert "were inferred by Dask" in warning


@pytest.mark.parametrize(
    ("address", "said"),
    [("s3://AKIA:pa55word@bucket/a.parquet", "s3fs"), ("nowhere://ann:pa55word@h/a.csv", "nowhere")],
)
def test_places_that_cannot_be_read(address: str, said: str) -> None:
    """A missing file system is an error in one line, without the password."""
    with pytest.raises(InputError, match=said) as caught:
        ald.audit(ald.source(address, engine="dask"), outcome="y")
    assert str(caught.value).startswith("Dask cannot read ")
    assert "pa55word" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    """A file that is not what its ending says is an error in one line."""
    for name, said in (("a.parquet", "Dask cannot read .*Parquet"), ("a.csv", "'a.csv' cannot be read as CSV.*UTF-8")):
        (tmp_path / name).write_bytes(b"a,b\n\xff\xfe,1\n")
        with pytest.raises(InputError, match=said) as caught:
            ald.audit(ald.source(tmp_path / name, engine="dask"), outcome="b")
        assert "\n" not in str(caught.value)


def test_frames_that_fail() -> None:
    """What fails while a DataFrame is computed is an error of ours too, with its cause."""

    def fail(part: pd.DataFrame) -> pd.DataFrame:
        raise OSError("the disk is gone")

    frame = dd.from_pandas(pd.DataFrame({"a": [1, 2], "b": [0, 1]}), npartitions=1)
    with pytest.raises(InputError, match="Dask failed on the data: the disk is gone") as caught:
        ald.audit(frame.map_partitions(fail, meta=frame._meta), outcome="b")
    assert isinstance(caught.value.__cause__, OSError)


def test_bytes(tmp_path: Path) -> None:
    """Bytes that are no text stay apart, and have the words that they have without an engine."""
    codes = np.random.default_rng(0).integers(0, 3, 2000)
    frame = pd.DataFrame({"x": [bytes([250 + code]) for code in codes], "ok": codes % 2})
    frame.to_parquet(tmp_path / "a.parquet")
    found = audit_flat(tmp_path / "a.parquet", engine="dask", **OPTIONS)
    assert found.to_json() == audit_flat(tmp_path / "a.parquet", **OPTIONS).to_json()
    assert [attribute.distinct for attribute in found.data_summary.attributes] == [3]


# Dask makes pandas say so of Parquet files without an index.
@pytest.mark.filterwarnings("ignore:The inplace keyword")
@pytest.mark.parametrize(
    ("value", "type_", "kind"),
    [
        ([1], pa.list_(pa.int64()), "ndarray"),
        ([("k", 1)], pa.map_(pa.string(), pa.int64()), "list"),
        ({"k": 1}, pa.struct({"k": pa.int64()}), "dict"),
    ],
)
def test_nested_values(tmp_path: Path, value: Any, type_: pa.DataType, kind: str) -> None:
    """Columns of lists and the like are named in an error of one line, and do no harm where they are not needed."""
    frame = pd.DataFrame({"x": [None, *[value] * 999], "z": [0, 1] * 500, "ok": [0, 0, 1, 1] * 250})
    schema = pa.schema({"x": type_, "z": pa.int64(), "ok": pa.int64()})
    pq.write_table(pa.Table.from_pandas(frame, schema), tmp_path / "a.parquet")
    with pytest.raises(ColumnError, match=rf"^column 'x' of the data holds values of type {kind}, which") as caught:
        audit_flat(tmp_path / "a.parquet", engine="dask", **OPTIONS)
    assert "\n" not in str(caught.value)
    found = audit_flat(tmp_path / "a.parquet", engine="dask", attributes=["z"], **OPTIONS)
    assert found.data_summary.rows == 1000


def test_half_floats(tmp_path: Path) -> None:
    """Numbers of sixteen bits are numbers like any other."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=2000).astype(np.float16), "ok": rng.integers(0, 2, 2000)})
    frame.to_parquet(tmp_path / "a.parquet")
    found = audit_flat(tmp_path / "a.parquet", engine="dask", **OPTIONS)
    assert found.to_json() == audit_flat(tmp_path / "a.parquet", **OPTIONS).to_json()


@pytest.mark.filterwarnings("ignore:Warning bz2 compression:UserWarning")
@pytest.mark.parametrize(
    "name", ["a.csv", "a.tsv", "a.csv.gz", "a.csv.bz2", "a.jsonl", "a.parquet", "a.parquet/0.parquet"]
)
@pytest.mark.parametrize("folder", ["sex=Z", "new=1"])
def test_names_of_folders_are_no_data(tmp_path: Path, name: str, folder: str) -> None:
    """A folder that a file is in neither adds nor replaces a column; nor does one that a folder of files is in."""
    path = tmp_path / folder / name
    path.parent.mkdir(parents=True)
    write(path, FEW)
    frame = open_with(tmp_path / folder / name.partition("/")[0], "dask").frame.compute()
    assert {column: list(map(str, frame[column])) for column in frame} == {"sex": ["F", "M"], "y": ["1", "0"]}


def test_folders_within_a_data_set_are_columns(tmp_path: Path) -> None:
    """Names of folders in a data set make a column, unless the files have one so named: that is an error."""
    for year in (2024, 2025):
        (tmp_path / "a=0" / "x.parquet" / f"year={year}").mkdir(parents=True)
        write(tmp_path / "a=0" / "x.parquet" / f"year={year}" / "0.parquet", FEW)
    path = tmp_path / "a=0" / "x.parquet"
    frame = open_with(path, "dask").frame.compute()
    assert sorted(map(str, frame)) == ["sex", "y", "year"]
    assert sorted(map(str, frame["year"])) == ["2024", "2024", "2025", "2025"]
    (path / "sex=Z").mkdir()
    write(path / "sex=Z" / "0.parquet", FEW)
    with pytest.raises(
        InputError, match=r"x\.parquet' has a folder 'sex=Z', and the files in it have a column 'sex' too"
    ):
        open_with(path, "dask")


@pytest.mark.filterwarnings("ignore:Warning bz2 compression:UserWarning")
@pytest.mark.parametrize("stem", ["st*r", "b[a]r", "q?r", "~", "it's", "new\nline", "%41", "{a,b}"])
@pytest.mark.parametrize("ending", ["csv", "csv.bz2", "parquet"])
def test_file_names_are_no_patterns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stem: str, ending: str) -> None:
    """A file stands for itself, beside others that its name would match as a pattern."""
    monkeypatch.chdir(tmp_path)
    for other in ("star", "bar", "qar", "A", "a", "b"):
        write(tmp_path / f"{other}.{ending}", FEW.assign(y=5))
    write(tmp_path / f"{stem}.{ending}", FEW)
    assert open_with(f"{stem}.{ending}", "dask").frame.compute()["y"].tolist() == [1, 0]
