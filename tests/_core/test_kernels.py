"""The C kernel against the NumPy kernel, and how work is cut."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ald import SettingError
from ald._core import _numpy_kernel, kernels
from ald.data.columns import compact

_kernel = pytest.importorskip("ald._core._kernel", reason="the C kernel was not built")

SIZES = [1, 2, 5, 255, 256, 300, 65_536]


@dataclass
class Case:
    """Random coded columns of every width, and rows of them with weights."""

    rng: np.random.Generator
    sizes: np.ndarray
    codes: tuple[np.ndarray, ...]
    cells: np.ndarray
    n_cells: int
    rows: np.ndarray
    weights: np.ndarray | None
    starts: np.ndarray
    ends: np.ndarray
    attributes: np.ndarray


@st.composite
def cases(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(1, 120))
    n_cells = draw(st.sampled_from([2, 4]))
    tops = draw(st.lists(st.sampled_from(SIZES), min_size=1, max_size=4))
    codes = tuple(compact(rng.integers(0, top + 1, n), top) for top in tops)
    entries = draw(st.integers(0, 200))
    rows = rng.integers(0, n, entries).astype(np.uint32)
    weights = rng.integers(1, 50, entries) if draw(st.booleans()) else None
    requests = draw(st.integers(0, 8))
    bounds = np.sort(rng.integers(0, entries + 1, (requests, 2)), axis=1).astype(np.int64)
    return Case(
        rng=rng,
        sizes=np.array(tops, np.int64) + 1,
        codes=codes,
        cells=rng.integers(0, n_cells, n).astype(np.uint8),
        n_cells=n_cells,
        rows=rows,
        weights=weights,
        starts=bounds[:, 0].copy(),
        ends=bounds[:, 1].copy(),
        attributes=rng.integers(0, len(tops), requests),
    )


def count(module: Any, case: Case) -> list[Any]:
    capacity = int(np.minimum(case.ends - case.starts, case.sizes[case.attributes]).sum())
    codes, counts = np.zeros(capacity, np.uint32), np.zeros((capacity, case.n_cells), np.int64)
    used = np.zeros(len(case.starts), np.int64)
    written = module.count(
        case.codes,
        case.cells,
        case.rows,
        case.weights,
        case.starts,
        case.ends,
        case.attributes,
        case.sizes,
        case.n_cells,
        codes,
        counts,
        used,
    )
    return [written, codes[:written].tolist(), counts[:written].tolist(), used.tolist()]


@given(cases())
def test_counts_agree(case: Case) -> None:
    """Both kernels count the same people per code and cell, and so does a plain loop."""
    found = count(_kernel, case)
    assert found == count(_numpy_kernel, case)
    expected: list[Any] = []
    for start, end, attribute in zip(case.starts, case.ends, case.attributes, strict=True):
        table: dict[int, list[int]] = {}
        for i in range(start, end):
            row = case.rows[i]
            entry = table.setdefault(int(case.codes[attribute][row]), [0] * case.n_cells)
            entry[case.cells[row]] += 1 if case.weights is None else int(case.weights[i])
        expected += [entry for _, entry in sorted(table.items())]
    assert found[2] == expected


@given(cases())
def test_amounts_agree(case: Case) -> None:
    """Both kernels give people, sum, and both words of the sum of squares per code, and so does a plain loop."""
    amounts = case.rng.choice([-(2**31) + 1, 2**31 - 1, -1, 0, 7, 123_456_789], len(case.cells)).astype(np.int64)
    capacity = int(np.minimum(case.ends - case.starts, case.sizes[case.attributes]).sum())
    found = []
    for module in (_kernel, _numpy_kernel):
        codes, counts = np.zeros(capacity, np.uint32), np.zeros((capacity, 4), np.int64)
        used = np.zeros(len(case.starts), np.int64)
        where = (case.rows, case.weights, case.starts, case.ends, case.attributes, case.sizes)
        written = module.count_amounts(case.codes, amounts, *where, codes, counts, used)
        found.append([codes[:written].tolist(), counts[:written].tolist(), used.tolist()])
    assert found[0] == found[1]
    expected: list[Any] = []
    for start, end, attribute in zip(case.starts, case.ends, case.attributes, strict=True):
        table: dict[int, list[int]] = {}
        for i in range(start, end):
            value, people = int(amounts[case.rows[i]]), 1 if case.weights is None else int(case.weights[i])
            entry = table.setdefault(int(case.codes[attribute][case.rows[i]]), [0, 0, 0])
            for at, more in enumerate((people, people * value, people * value * value)):
                entry[at] += more
        expected += [entry for _, entry in sorted(table.items())]
    assert [[n, total, high * 2**31 + low] for n, total, high, low in found[0][1]] == expected


@given(cases())
def test_partitions_agree(case: Case) -> None:
    """Both kernels split the same rows the same way, in the order they had."""
    lengths = case.sizes[case.attributes]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    tables = case.rng.integers(0, 2, int(offsets[-1])).astype(np.uint8)
    total = int((case.ends - case.starts).sum())
    found = []
    for module in (_kernel, _numpy_kernel):
        rows = np.zeros(total, np.uint32)
        weights = None if case.weights is None else np.zeros(total, np.int64)
        middles = np.zeros(len(case.starts), np.int64)
        module.partition(
            case.codes,
            case.rows,
            case.weights,
            case.starts,
            case.ends,
            case.attributes,
            tables,
            offsets,
            rows,
            weights,
            middles,
            len(case.cells),
        )
        found.append([rows.tolist(), None if weights is None else weights.tolist(), middles.tolist()])
    assert found[0] == found[1]


@given(cases(), st.integers(0, 6))
def test_members_agree(case: Case, n_criteria: int) -> None:
    """Both kernels count the same members of conjunctions of intervals and sets of levels."""
    rng, n_conditions = case.rng, 6
    order = np.argsort(case.cells, kind="stable")
    codes = [code[order] for code in case.codes]
    bounds = np.searchsorted(case.cells[order], np.arange(case.n_cells + 1)).astype(np.int64)
    attributes = rng.integers(0, len(codes), n_conditions)
    sizes = case.sizes[attributes]
    lows = rng.integers(0, sizes - 1)
    highs = rng.integers(lows + 1, sizes)
    uses_table = rng.random(n_conditions) < 0.5
    ends = np.cumsum(np.where(uses_table, sizes, 0))
    tables_at = np.where(uses_table, ends - sizes, -1).astype(np.int64)
    tables = rng.integers(0, 2, max(int(ends[-1]), 1)).astype(np.uint8)
    picks = [rng.choice(n_conditions, rng.integers(0, 4), replace=False) for _ in range(n_criteria)]
    offsets = np.concatenate([[0], np.cumsum([len(pick) for pick in picks])]).astype(np.int64)
    conditions = np.concatenate([np.zeros(0, np.int64), *picks]).astype(np.int64)
    counts = rng.integers(1, 100, len(order))
    found = []
    for module in (_kernel, _numpy_kernel):
        out = np.full((n_criteria, case.n_cells), -1, np.int64)
        module.members(codes, counts, bounds, attributes, lows, highs, tables_at, tables, offsets, conditions, out)
        found.append(out.tolist())
    assert found[0] == found[1]


def two_leaves() -> dict[str, Any]:
    """Arguments of `descend` for three rows and a tree with one split, all in order."""
    return {
        "codes": (np.array([0, 1, 2], np.uint8),),
        "cells": np.array([0, 1, 1], np.uint8),
        "counts": np.array([5, 6, 7]),
        "roots": np.array([0]),
        "attributes": np.array([0, -1, -1]),
        "lefts": np.array([1, -1, -1]),
        "rights": np.array([2, -1, -1]),
        "cuts": np.array([0, -1, -1]),
        "tables_at": np.array([-1, -1, -1]),
        "tables": np.array([1, 2, 0], np.uint8),
        "sizes": np.array([3]),
        "n_cells": 2,
        "out": np.zeros((3, 2), np.int64),
    }


def test_people_go_down_a_tree() -> None:
    """Codes up to the cut go left, others right, missing ones nowhere; a table may say otherwise."""
    by_order, by_table = two_leaves(), two_leaves() | {"tables_at": np.array([0, -1, -1])}
    for arguments in (by_order, by_table):
        _numpy_kernel.descend(*arguments.values())
    assert by_order["out"].tolist() == [[0, 0], [5, 0], [0, 6]]
    assert by_table["out"].tolist() == [[0, 0], [5, 0], [0, 7]]


def small() -> dict[str, Any]:
    """Arguments of `count` for two rows, all in order."""
    return {
        "codes": (np.array([0, 1], np.uint8),),
        "cells": np.array([0, 1], np.uint8),
        "rows": np.array([0, 1], np.uint32),
        "weights": None,
        "starts": np.array([0]),
        "ends": np.array([2]),
        "attributes": np.array([0]),
        "sizes": np.array([2]),
        "n_cells": 2,
        "out_codes": np.zeros(2, np.uint32),
        "out_counts": np.zeros((2, 2), np.int64),
        "used": np.zeros(1, np.int64),
    }


@pytest.mark.parametrize(
    "change",
    [
        {"ends": np.array([3])},
        {"starts": np.array([-1])},
        {"attributes": np.array([1])},
        {"sizes": np.array([2, 2])},
        {"out_codes": np.zeros(1, np.uint32), "out_counts": np.zeros((1, 2), np.int64)},
        {"cells": np.array([0], np.uint8)},
        {"rows": np.array([0, 1], np.int64)},
        {"codes": (np.array([0, 1], np.uint64),)},
        {"weights": np.array([1])},
        {"n_cells": 0},
        {"used": np.zeros(2, np.int64)},
        {"out_counts": np.zeros((2, 4), np.int64)[:, ::2]},
    ],
)
def test_the_c_kernel_refuses_arrays_that_do_not_fit(change: dict[str, Any]) -> None:
    """Arrays of wrong lengths, types or layout are errors, never reads out of bounds."""
    assert _kernel.count(*small().values()) == 2
    with pytest.raises((ValueError, TypeError, BufferError)):
        _kernel.count(*(small() | change).values())


@given(st.lists(st.integers(0, 100), max_size=30), st.integers(1, 8), st.integers(0, 200))
def test_chunks_cover_the_work(work: list[int], n: int, least: int) -> None:
    """The slices are consecutive, cover everything, and are at most n."""
    parts = kernels.chunks(np.array(work, dtype=np.int64), n, least)
    assert [i for part in parts for i in range(part.start, part.stop)] == list(range(len(work)))
    assert len(parts) <= n


def test_the_kernel_can_be_forced(monkeypatch: pytest.MonkeyPatch) -> None:
    """ALD_KERNEL chooses, and another word is an error."""
    monkeypatch.setenv("ALD_KERNEL", "numpy")
    assert kernels.kernel() is _numpy_kernel
    assert kernels.evidence() is None
    assert kernels.tables() is None
    monkeypatch.setenv("ALD_KERNEL", "c")
    assert kernels.kernel() is _kernel
    assert kernels.evidence() is not None
    assert kernels.tables() is not None
    monkeypatch.setenv("ALD_KERNEL", "fortran")
    with pytest.raises(SettingError, match="ALD_KERNEL must be 'c' or 'numpy', not 'fortran'"):
        kernels.kernel()


def test_without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the C kernel NumPy counts, and forcing C is an error."""
    monkeypatch.setattr(kernels, "_module", lambda name: None)
    monkeypatch.delenv("ALD_KERNEL", raising=False)
    assert kernels.kernel() is _numpy_kernel
    monkeypatch.setenv("ALD_KERNEL", "c")
    with pytest.raises(SettingError, match="the C kernel was not built"):
        kernels.kernel()
