"""Samples of people: the compiled kernel draws those that NumPy draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ald.data import coded, drawing
from ald.data.coded import Attribute, AuditData
from ald.data.drawing import Drawer, as_bits, in_rows, kept, people_drawn

_draw = pytest.importorskip("ald.data._draw", reason="needs the compiled kernels, which were not built")


def flags(bits: np.ndarray, people: int) -> np.ndarray:
    """One flag per person."""
    return np.unpackbits(bits.astype("<u8").view(np.uint8), bitorder="little")[:people].astype(bool)


def next_numbers(rng: np.random.Generator) -> list[float]:
    """What the generator gives next, of 32 bits, which it may have in store, and of 64."""
    return [float(rng.integers(2**32, dtype=np.uint32)), rng.random(), float(rng.integers(2**32, dtype=np.uint32))]


@given(
    seed=st.integers(0, 10**6),
    people=st.integers(1, 5000),
    share=st.floats(0, 1),
    kind=st.sampled_from([np.random.PCG64, np.random.SFC64, np.random.Philox, np.random.MT19937]),
)
def test_the_people_picked_are_those_of_numpy(seed: int, people: int, share: float, kind: Any) -> None:
    """Everyone is drawn as NumPy's generator draws, which then goes on alike, also in memory that was used."""
    k = int(share * people)
    ours, theirs = np.random.Generator(kind(seed)), np.random.Generator(kind(seed))
    drawer = Drawer(people)
    for _ in range(2):
        bits = drawer.pick(k, ours)
        expected = theirs.multivariate_hypergeometric(np.ones(people, np.int64), k, method="count")
        assert flags(bits, people).tolist() == expected.astype(bool).tolist()
        assert int(flags(bits, len(bits) * 64).sum()) == k
    assert next_numbers(ours) == next_numbers(theirs)


@given(seed=st.integers(0, 10**6), n=st.integers(1, 300), most=st.integers(1, 200), share=st.floats(0, 1))
def test_rows_of_several_people_get_as_many_as_numpy_says(seed: int, n: int, most: int, share: float) -> None:
    """Rows without anyone get none."""
    counts = np.random.default_rng(seed).integers(0, most + 1, n)
    k = int(share * counts.sum())
    ours = people_drawn(counts, k, np.random.default_rng(seed))
    assert ours.tolist() == np.random.default_rng(seed).multivariate_hypergeometric(counts, k, method="count").tolist()


@pytest.mark.parametrize("level", [0, 2])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 1000])
def test_items_in_a_sample_and_those_not_in_it_are_all_items(level: int, dtype: Any, n: int) -> None:
    """In their order, with every set of instructions."""
    rng = np.random.default_rng(n)
    column = rng.integers(0, 250, n).astype(dtype)
    bits = Drawer(n).pick(n // 3, rng).copy()
    mask = flags(bits, n)
    before = _draw.use_vectors(level)
    try:
        assert kept(column, bits, True, n // 3).tolist() == column[mask].tolist()
        assert kept(column, bits, False, n - n // 3).tolist() == column[~mask].tolist()
    finally:
        _draw.use_vectors(before)


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


@pytest.mark.parametrize(
    ("people", "k", "order", "bits"), [(65, 3, 65, 1), (65, 3, 64, 2), (65, 66, 65, 2), (65, -1, 65, 2), (-1, 0, 9, 0)]
)
def test_a_sample_needs_room(people: int, k: int, order: int, bits: int) -> None:
    """What does not fit is an error, never a write out of bounds."""
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="do not fit"):
        _draw.pick(rng.bit_generator.capsule, 1, people, k, np.empty(order, np.uint32), np.empty(bits, np.uint64))


def test_columns_and_rows_must_fit_the_sample() -> None:
    """As many bits as items, and as much room as people are wanted."""
    bits = np.array([0b1011], np.uint64)
    column = np.arange(4, dtype=np.uint8)
    for wrong in (
        lambda: _draw.keep(bits, 1, column, np.empty(2, np.uint8)),
        lambda: _draw.keep(bits, 0, column, np.empty(2, np.uint8)),
        lambda: _draw.keep(bits, 1, np.zeros(65, np.uint8), np.empty(3, np.uint8)),
        lambda: _draw.keep(bits, 1, np.zeros(4, np.uint64), np.empty(3, np.uint64)),
        lambda: _draw.spans(bits, np.array([60, 5]), np.empty(2, np.int64)),
        lambda: _draw.spans(bits, np.array([-1, 5]), np.empty(2, np.int64)),
        lambda: _draw.spans(bits, np.array([4]), np.empty(2, np.int64)),
    ):
        with pytest.raises(ValueError, match="do not fit"):
            wrong()
    assert in_rows(bits, np.array([1, 2, 1])).tolist() == [1, 1, 1]


def test_very_many_people_are_drawn_by_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A number of 32 bits names everyone, or NumPy draws; so it does where the kernel is not wanted."""
    assert Drawer.available(1000)
    assert not Drawer.available(2**32)
    monkeypatch.setenv("ALD_KERNEL", "numpy")
    assert not Drawer.available(1000)
    assert drawing.people_drawn(np.array([3, 4]), 7, np.random.default_rng(0)).tolist() == [3, 4]
