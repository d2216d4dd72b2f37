"""Files that engines read: which there are, what they read, and what is said where that is not possible."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import pytest

import ald
from ald import AldError, InputError, SettingError
from tests.engine_data import decisions
from tests.flat import audit_flat


@pytest.mark.parametrize("ending", ["parquet", "csv", "tsv", "jsonl"])
def test_files_of_dask(tmp_path: Path, ending: str) -> None:
    """Dask reads files by their endings, and the audit is that of the data in memory."""
    frame = decisions(2000)[["age", "sex", "size", "hired"]]
    path = tmp_path / f"decisions.{ending}"
    if ending == "parquet":
        frame.to_parquet(path)
    elif ending == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_csv(path, index=False, sep="\t" if ending == "tsv" else ",")
    options: dict[str, Any] = {"outcome": "hired", "trees": 2}
    assert audit_flat(path, engine="dask", **options).to_json() == audit_flat(frame, **options).to_json()


def test_two_files(tmp_path: Path) -> None:
    """Both data sets of a split are read by the engine."""
    frame = decisions(2000)[["age", "sex", "size", "hired"]]
    paths = tmp_path / "a.parquet", tmp_path / "b.parquet"
    for i, path in enumerate(paths):
        frame[i::2].to_parquet(path)
    found = ald.audit(
        split=[ald.source(path, engine="dask") for path in paths], outcome="hired", search=ald.Search(trees=2)
    )
    assert found.data_summary.rows == 2000


def test_unknown(tmp_path: Path) -> None:
    """Engines, endings and files that there are not are named, with what there is."""
    with pytest.raises(SettingError, match=r"unknown engine 'sparc'\. Did you mean 'spark'"):
        ald.audit(ald.source("a.parquet", engine="sparc"), outcome="y")
    with pytest.raises(InputError, match=r"cannot tell the format of 'a.xlsx'.*\.parquet"):
        ald.audit(ald.source("a.xlsx", engine="spark"), outcome="y")
    with pytest.raises(InputError, match="no file"):
        ald.audit(ald.source(tmp_path / "a.parquet", engine="spark"), outcome="y")
    with pytest.raises(SettingError, match="Give a DataFrame of the engine without it"):
        ald.audit(ald.source({"y": [0, 1]}, engine="spark"), outcome="y")


@pytest.mark.parametrize(
    ("address", "options"),
    [
        ("postgresql://ann:s3cret@h/loans", {"query": "select 1"}),
        ("postgresql://ann:s3cret@h/loans", {}),
        ("http://ann:s3cret@h/x", {}),
        ("a.csv", {"query": "select 1"}),
    ],
)
def test_databases(address: str, options: dict[str, str]) -> None:
    """A database or a query does not go with an engine; no password is shown."""
    with pytest.raises(AldError, match="A database or a query does not go with an engine") as caught:
        audit_flat(address, engine="dask", outcome="y", **options)
    assert "s3cret" not in str(caught.value)


def test_addresses_are_no_engines() -> None:
    """An address in place of an engine is shown without its password."""
    with pytest.raises(SettingError, match=r"unknown engine 'postgresql://ann:\*\*\*@h'"):
        ald.audit(ald.source("a.csv", engine="postgresql://ann:s3cret@h"), outcome="y")


@pytest.mark.parametrize("engine", ["spark", "dask"])
def test_missing_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
    """Without its package, the error says how to install it."""
    (tmp_path / "a.parquet").touch()
    imported = builtins.__import__

    def refuse(name: str, *rest: Any) -> Any:
        if name.partition(".")[0] in ("pyspark", "dask"):
            raise ModuleNotFoundError(name)
        return imported(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(SettingError, match=rf"pip install 'ald-audit\[{engine}\]'"):
        ald.audit(ald.source(tmp_path / "a.parquet", engine=engine), outcome="y")
