"""Draws by hash: independent trials with the right chance, and the same wherever a row is."""

from __future__ import annotations

import numpy as np
import pytest

from ald.data import hashing
from ald.data.coded import Attribute, AuditData
from ald.data.design import Design


def coded(rows: int = 40_000, most: int = 1, seed: int = 0) -> AuditData:
    rng = np.random.default_rng(seed)
    attributes = (
        Attribute(name="a", kind="numeric", values=np.arange(300.0)),
        Attribute(name="b", kind="nominal", levels=tuple(map(str, range(200)))),
    )
    place = rng.permutation(300 * 200)[:rows]
    return AuditData(
        attributes=attributes,
        codes=((place // 200).astype(np.uint16), (place % 200).astype(np.uint8)),
        cells=(rng.random(rows) < 0.3).astype(np.uint8),
        counts=rng.integers(1, most + 1, rows),
        n_cells=2,
    )


def reordered(data: AuditData, order: np.ndarray) -> AuditData:
    return AuditData(
        attributes=data.attributes,
        codes=tuple(code[order].astype(np.int64) for code in data.codes),
        cells=data.cells[order],
        counts=data.counts[order],
        n_cells=2,
    )


def test_a_known_number() -> None:
    """The hash is what the documentation says, computed here by whole numbers of Python."""

    def mixed(x: int) -> int:
        x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) % 2**64
        return x ^ (x >> 31)

    golden = 0x9E3779B97F4A7C15
    data = coded(1)
    expected = golden
    for part in (int(data.codes[0][0]), int(data.codes[1][0]), int(data.cells[0])):
        expected = mixed((expected + part + golden) % 2**64)
    assert int(hashing.row_hashes(data)[0]) == expected
    key = hashing.salt(7, hashing.TREE, 3)
    count = 50
    units = [mixed(((expected + k * golden) % 2**64) ^ key) for k in range(count)]
    drawn = hashing.drawn(np.array([expected], np.uint64), np.array([count]), 0.632, key)
    assert drawn.tolist() == [sum((unit >> 11) < int(0.632 * 2**53) for unit in units)]


@pytest.mark.parametrize("most", [1, 5])
def test_draws_do_not_depend_on_the_order_or_type_of_rows(most: int) -> None:
    """The same row gets the same draw wherever it is, whatever the width of its codes."""
    data = coded(most=most)
    order = np.random.default_rng(1).permutation(len(data.cells))
    drawn = hashing.sample(data, 0.632, 0, hashing.TREE, 4)
    assert (hashing.sample(reordered(data, order), 0.632, 0, hashing.TREE, 4) == drawn[order]).all()


@pytest.mark.parametrize("most", [1, 5])
def test_draws_are_independent_trials(most: int) -> None:
    """Shares are right, and so is the share of those that two purposes, trees or seeds have in common."""
    data = coded(most=most)
    n = int(data.counts.sum())
    first = hashing.sample(data, 0.5, 0, hashing.HALF)
    assert first.max() <= most
    assert abs(first.sum() - 0.5 * n) < 4 * np.sqrt(0.25 * n)
    if most == 1:
        for other in ((0, hashing.TREE, 0), (0, hashing.TREE, 1), (1, hashing.HALF, 0)):
            both = (first * hashing.sample(data, 0.632, *other)).sum()
            assert abs(both - 0.316 * n) < 4 * np.sqrt(0.316 * 0.684 * n)
    # Outcomes and values are as frequent among those drawn as among all.
    for values in (data.cells, data.codes[0] % 2, data.codes[1] % 2):
        share, chance = (first * values).sum() / first.sum(), (data.counts * values).sum() / n
        assert abs(share - chance) < 4 * np.sqrt(chance * (1 - chance) / n)


def test_halves() -> None:
    """Halves have everyone once; halves that rows bring along are taken as they are."""
    data = coded(most=3)
    d1, d2 = hashing.halves(data, 0, 0.3)
    assert d1.total + d2.total == data.total
    assert abs(d1.total - 0.3 * data.total) < 4 * np.sqrt(0.21 * data.total)
    half = (np.arange(len(data.cells)) % 3 == 0).astype(np.int64)
    own = AuditData(
        attributes=data.attributes, codes=data.codes, cells=data.cells, counts=data.counts, n_cells=2,
        design=Design(half=half),
    )  # fmt: skip
    assert hashing.halves(own, 0, 0.3)[0].total == data.counts[half == 0].sum()


def test_nobody() -> None:
    """No rows, no draws."""
    empty = coded(0)
    assert len(hashing.sample(empty, 0.5, 0, hashing.HALF)) == 0
