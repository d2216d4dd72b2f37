"""The listed groups as a DataFrame."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ald
from tests.tables import people


@pytest.mark.parametrize(
    ("backend", "library"),
    [(None, pd.DataFrame), ("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table)],
)
def test_frames(backend: str | None, library: type) -> None:
    """Each library gets a frame of the same groups in ranked order."""
    audit = ald.audit(people(), outcome="y", search=ald.Search(trees=5))
    frame = audit.to_frame(backend)
    assert isinstance(frame, library)
    assert list(frame["size"].to_pylist() if isinstance(frame, pa.Table) else frame["size"]) == [
        f.size for f in audit.groups
    ]


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frames_of_nothing(backend: str) -> None:
    """An audit without groups gives an empty frame with all columns."""
    full = ald.audit(people(), outcome="y", search=ald.Search(trees=2)).to_frame(backend)
    empty = ald.audit(people(), outcome="y", search=ald.Search(trees=2), level=1e-300).to_frame(backend)
    assert empty.shape == (0, full.shape[1])


def test_unknown_libraries() -> None:
    """Another library is an error that names those known."""
    with pytest.raises(ald.SettingError, match="unknown backend 'dask'; known are pandas, polars, pyarrow"):
        ald.audit(people(), outcome="y", search=ald.Search(trees=1)).to_frame("dask")
