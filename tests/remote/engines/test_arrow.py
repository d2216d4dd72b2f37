"""Rows of a partition: values are counted and coded whatever their type, also where they are missing."""

from __future__ import annotations

import pickle
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ald.data.coded import Attribute
from ald.remote.engines.arrow import chunks, merged_marginals, partition_marginals, row_keys, sum_by_key
from ald.remote.engines.blocks import KeyLayout
from ald.remote.engines.protocols import DROPPED, ColumnCoder, RowCoder

VALUES: list[Any] = [
    pytest.param([1.5, float("nan"), None, 1.5, -0.0, float("inf")], pa.float64(), id="float"),
    pytest.param([1, None, 3, 3, 1, 2**60], pa.int64(), id="int"),
    pytest.param(["a", None, "", "ü", "a", "b"], pa.string(), id="words"),
    pytest.param([True, None, False, True, True, False], pa.bool_(), id="truth values"),
    pytest.param([date(2020, 1, 1), None, date(1900, 1, 1), *[date(2020, 1, 1)] * 3], pa.date32(), id="dates"),
    pytest.param([datetime(2020, 1, 1, 3), None, *[datetime(1900, 1, 1)] * 4], pa.timestamp("us", "UTC"), id="times"),
    pytest.param([Decimal("1.50"), None, *[Decimal("2.25")] * 4], pa.decimal128(10, 2), id="decimals"),
]


@pytest.mark.parametrize(("values", "type_"), VALUES)
def test_values_are_counted_and_coded(values: list[Any], type_: pa.DataType) -> None:
    """Every value has the number of its place among the distinct ones, in whatever parts they were counted."""
    column = pa.array(values, type_, from_pandas=False)
    table = pa.table({"c0": column})
    parts = [pickle.loads(partition_marginals([table[:2], table[2:]])), pickle.loads(partition_marginals([table[3:]]))]
    ((distinct, counts),) = merged_marginals(parts)
    assert counts.sum() == len(values) + len(values[3:])
    n = len(distinct)
    assert n == len(set(map(str, values)))
    layout = KeyLayout(
        attributes=(Attribute(name="a", kind="nominal", levels=tuple(map(str, range(n)))),), n_cells=2, has_halves=False
    )
    coder = RowCoder(
        layout=layout,
        columns=(ColumnCoder(position=0, values=distinct, numbers=np.arange(n)),),
        cells=(ColumnCoder(position=0, values=distinct, numbers=np.arange(n) % 2),),
        half=None,
    )
    keys = row_keys(coder, table)
    data = layout.data([layout.block(keys[:2], np.array([1, 5])), layout.block(keys[2:], np.arange(4))])
    words = list(map(str, distinct.to_pylist()))
    assert [words[code] for code in data.codes[0]] == list(map(str, column.to_pylist()))
    assert (data.cells == data.codes[0] % 2).all()
    assert data.counts.tolist() == [1, 5, 0, 1, 2, 3]


def test_rows_are_dropped() -> None:
    """Rows with a value that is to be dropped have no key, whatever else they hold."""
    table = pa.table({"c0": ["a", "b", "a"], "c1": ["yes", "no", None]})
    layout = KeyLayout(
        attributes=(Attribute(name="a", kind="nominal", levels=("a", "b")),), n_cells=4, has_halves=False
    )
    first = ColumnCoder(position=0, values=pa.array(["a", "b"]), numbers=np.array([0, 1]))
    outcome = ColumnCoder(position=1, values=pa.array(["no", "yes", None]), numbers=np.array([0, 3, DROPPED]))
    keys = row_keys(RowCoder(layout=layout, columns=(first,), cells=(outcome,), half=None), table)
    data = layout.data([layout.block(keys, np.ones(2, np.int64))])
    assert (data.codes[0].tolist(), data.cells.tolist()) == ([0, 1], [3, 0])


@pytest.mark.parametrize("size", [10, 300, 70_000])
def test_blocks(size: int) -> None:
    """Codes come back as they were, in types that hold them; no blocks are no rows."""
    layout = KeyLayout(
        attributes=(Attribute(name="a", kind="numeric", values=np.arange(float(size))),), n_cells=4, has_halves=True
    )
    codes = np.array([0, size - 1, size, size // 2])
    cells, half = np.array([0, 3, 1, 2]), np.array([0, 1, 1, 0])
    data = layout.data([layout.block(layout.pack([codes], cells, half), np.array([1, 2, 2**40, 4]))])
    assert data.codes[0].tolist() == codes.tolist()
    assert data.cells.tolist() == cells.tolist()
    assert data.counts.tolist() == [1, 2, 2**40, 4]
    assert data.design.half is not None
    assert data.design.half.tolist() == half.tolist()
    assert layout.data([]).total == 0


def test_chunks() -> None:
    """Batches come together until they are enough."""
    batches = [pa.record_batch({"a": [i] * 3}) for i in range(5)]
    assert [table.num_rows for table in chunks(batches, 5)] == [6, 6, 3]
    assert list(chunks([], 5)) == []


def test_sums_by_key() -> None:
    """Sums are exact, keys ascending, and no parts are no sums."""
    parts = [
        (np.array([5, 1]), np.array([[1, 2**60], [3, 4]])),
        (np.array([1, 7, 1]), np.array([[10, 1], [0, 0], [100, 2]])),
    ]
    keys, sums = sum_by_key(parts, 2)
    assert keys.tolist() == [1, 5, 7]
    assert sums.tolist() == [[113, 7], [1, 2**60], [0, 0]]
    assert sum_by_key([], 2)[1].shape == (0, 2)
