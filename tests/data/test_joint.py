"""Tables of people by several columns: the C code against NumPy, and against counting one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ald.data import joint as module
from ald.data.coded import AuditData
from ald.data.columns import compact
from ald.data.joint import joint_tables

SIZES = [1, 2, 7, 256, 300, 65_537]


def audit_data(rng: np.random.Generator, n: int, n_cells: int, most: int = 1) -> AuditData:
    """Rows without attributes: cells and counts."""
    cells = rng.integers(0, n_cells, n).astype(np.uint8)
    return AuditData(attributes=(), codes=(), cells=cells, counts=rng.integers(1, most + 1, n), n_cells=n_cells)


@given(
    st.integers(0, 2**32),
    st.integers(0, 40),
    st.sampled_from([1, 2, 3]),
    st.sampled_from([1, 9]),
    st.booleans(),
    st.sampled_from([1, 3]),
)
def test_every_person_is_counted_where_they_are(
    seed: int, n: int, order: int, most: int, some: bool, threads: int
) -> None:
    """Codes of any width, one to three columns, weights and chosen rows: C and NumPy count what a loop counts."""
    rng = np.random.default_rng(seed)
    sizes = rng.choice(SIZES[: 6 if order == 1 else 4], 4).tolist()
    data = audit_data(rng, n, 2, most)
    columns = [compact(rng.integers(0, size, n), size - 1) for size in sizes]
    parts = [tuple(rng.integers(0, 4, order).tolist()) for _ in range(3)]
    rows = rng.permutation(n)[: n // 2].astype(np.uint32) if some else None
    found: list[list[np.ndarray]] = []
    for kernel in ("", "numpy"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ALD_KERNEL", kernel)
            patch.setattr(module, "_WORTH_A_THREAD", 1)
            found.append(joint_tables(columns, sizes, parts, data, rows=rows, threads=threads))
    for part, *tables in zip(parts, *found, strict=True):
        expected: dict[tuple[int, ...], int] = {}
        for row in range(n) if rows is None else rows.tolist():
            key = (*(int(columns[k][row]) for k in part), int(data.cells[row]))
            expected[key] = expected.get(key, 0) + int(data.counts[row])
        for table in tables:
            assert table.shape == (*(sizes[k] for k in part), 2)
            assert table.sum() == sum(expected.values())
            assert all(table[key] == count for key, count in expected.items())


def test_no_tables() -> None:
    """Nothing asked for is nothing counted."""
    assert joint_tables([], [], [], audit_data(np.random.default_rng(0), 5, 2)) == []


def arguments() -> dict[str, Any]:
    return {
        "columns": [np.array([0, 1, 2], np.uint8), np.array([0, 1, 1], np.uint16)], "sizes": np.array([3, 2]),
        "cells": np.zeros(3, np.uint8), "n_cells": 2, "counts": np.ones(3, np.int64),
        "rows": np.array([0, 2], np.uint32), "parts": np.array([[0, 1]]), "offsets": np.array([0]),
        "out": np.zeros(12, np.int64),
    }  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        {"columns": [np.zeros(3, np.uint8)]}, {"columns": [np.zeros(2, np.uint8), np.zeros(3, np.uint8)]},
        {"sizes": np.array([0, 2])}, {"sizes": np.array([2**33, 2])}, {"sizes": np.array([2**31, 2])},
        {"sizes": np.array([-1, 2])}, {"n_cells": 0}, {"n_cells": 257}, {"counts": np.ones(2, np.int64)},
        {"rows": np.array([3], np.uint32)}, {"parts": np.array([[0, 2]])}, {"parts": np.array([[0, -1]])},
        {"parts": np.zeros((1, 17), np.int64)}, {"offsets": np.array([1])}, {"offsets": np.array([-1])},
        {"out": np.zeros(11, np.int64)},
    ],
)  # fmt: skip
def test_the_c_code_refuses_arrays_that_do_not_fit(change: dict[str, Any]) -> None:
    """Arrays are checked before any of them is read."""
    compiled = pytest.importorskip("ald.data._tables", reason="the C code was not built")
    compiled.tables(*arguments().values())
    with pytest.raises(ValueError, match="do not fit"):
        compiled.tables(*(arguments() | change).values())


@pytest.mark.parametrize("name", ["sizes", "cells", "counts", "rows", "parts", "offsets", "out"])
def test_the_c_code_refuses_other_types(name: str) -> None:
    """Items of another width are refused."""
    compiled = pytest.importorskip("ald.data._tables", reason="the C code was not built")
    with pytest.raises(TypeError, match="bytes expected"):
        compiled.tables(*(arguments() | {name: arguments()[name].astype(np.float16)}).values())
    with pytest.raises(TypeError, match="1, 2 or 4 bytes expected"):
        compiled.tables(*(arguments() | {"columns": [np.zeros(3), np.zeros(3)]}).values())
