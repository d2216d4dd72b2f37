"""Samples as bits: the compiled kernel draws and keeps those that NumPy does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ald.data import coded
from ald.data.coded import Attribute, AuditData
from ald.data.drawing import as_bits, kept
from ald.data.hashing import drawn, drawn_bits

_draw = pytest.importorskip("ald.data._draw", reason="needs the compiled kernels, which were not built")


def flags(bits: np.ndarray, people: int) -> np.ndarray:
    """One flag per person."""
    return np.unpackbits(bits.astype("<u8").view(np.uint8), bitorder="little")[:people].astype(bool)


@pytest.mark.parametrize("level", [0, 2])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.uint64])
@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 1000])
def test_items_in_a_sample_and_those_not_in_it_are_all_items(level: int, dtype: Any, n: int) -> None:
    """In their order, with every set of instructions."""
    rng = np.random.default_rng(n)
    column = rng.integers(0, 250, n).astype(dtype)
    mask = rng.random(n) < 0.3
    bits, some = as_bits(mask.astype(np.int64)), int(mask.sum())
    before = _draw.use_vectors(level)
    try:
        assert kept(column, bits, True, some).tolist() == column[mask].tolist()
        assert kept(column, bits, False, n - some).tolist() == column[~mask].tolist()
    finally:
        _draw.use_vectors(before)


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 5000])
def test_rows_of_one_person_are_drawn_as_bits(n: int) -> None:
    """The same people as where rows have counts, and zeros behind them."""
    hashes = np.random.default_rng(n).integers(0, 2**64, n, np.uint64)
    bits, some = drawn_bits(hashes, 0.632, 3)
    assert flags(bits, n).tolist() == drawn(hashes, np.ones(n, np.int64), 0.632, 3).astype(bool).tolist()
    assert int(flags(bits, 64 * len(bits)).sum()) == some


@given(st.lists(st.booleans(), max_size=200))
def test_samples_become_bits(drawn: list[bool]) -> None:
    """One per row, and zeros behind them; bits stay as they are."""
    bits = as_bits(np.array(drawn, dtype=np.int64))
    assert flags(bits, len(drawn)).tolist() == drawn
    assert int(flags(bits, 64 * len(bits)).sum()) == sum(drawn)
    assert len(bits) == -(-len(drawn) // 64)
    assert as_bits(bits) is bits


def people(n: int) -> AuditData:
    rng = np.random.default_rng(0)
    return AuditData(
        attributes=(
            Attribute(name="a", kind="numeric", values=np.arange(200.0)),
            Attribute(name="b", kind="nominal", levels=tuple(map(str, range(300)))),
        ),
        codes=(rng.integers(0, 201, n).astype(np.uint8), rng.integers(0, 300, n).astype(np.uint16)),
        cells=rng.integers(0, 2, n).astype(np.uint8),
        counts=np.ones(n, np.int64),
        n_cells=2,
    )


@pytest.mark.parametrize("n", [2, 1001, 20_000])
def test_halves_are_the_same_with_and_without_the_kernel(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both halves have the same people in the same order."""
    data = people(n)
    ours = data.halves(np.random.default_rng(5), 0.4, threads=2)
    monkeypatch.setenv("ALD_KERNEL", "numpy")
    theirs = data.halves(np.random.default_rng(5), 0.4)
    for first, second in zip(ours, theirs, strict=True):
        assert first.cells.tolist() == second.cells.tolist()
        assert first.counts.tolist() == second.counts.tolist()
        for one, other in zip(first.codes, second.codes, strict=True):
            assert one.dtype == other.dtype
            assert one.tolist() == other.tolist()


def test_rows_of_nobody_are_not_one_person_each() -> None:
    """As many rows as people is not enough."""
    data = people(4)
    assert data.one_each
    assert not AuditData(**{**vars_of(data), "counts": np.array([2, 1, 1, 0])}).one_each


def vars_of(data: AuditData) -> dict[str, Any]:
    return {name: getattr(data, name) for name in ("attributes", "codes", "cells", "counts", "n_cells")}


@pytest.mark.parametrize("n_cells", [2, 4, 9])
def test_cells_are_counted_the_same_in_every_way(n_cells: int) -> None:
    """Rows of one person each are counted cell by cell, others by their counts."""
    rng = np.random.default_rng(1)
    cells = rng.integers(0, n_cells, 500).astype(np.uint8)
    data = AuditData(attributes=(), codes=(), cells=cells, counts=np.ones(500, np.int64), n_cells=n_cells)
    assert data.cell_counts().tolist() == coded.weighted_bincount(cells, data.counts, n_cells).tolist()


def test_columns_must_fit_the_sample() -> None:
    """As many bits as items, and as much room as people are wanted."""
    bits = np.array([0b1011], np.uint64)
    column = np.arange(4, dtype=np.uint8)
    for wrong in (
        lambda: _draw.keep(bits, 1, column, np.empty(2, np.uint8)),
        lambda: _draw.keep(bits, 0, column, np.empty(2, np.uint8)),
        lambda: _draw.keep(bits, 1, np.zeros(65, np.uint8), np.empty(3, np.uint8)),
        lambda: _draw.keep(bits, 1, np.zeros(4, np.complex128), np.empty(3, np.complex128)),
    ):
        with pytest.raises(ValueError, match="do not fit"):
            wrong()
