"""Counting next to the rows: the same histograms, members and pools as in memory, however rows are parted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from ald._core.arrays import IntArray
from ald.data.coded import Attribute, AuditData, merge
from ald.data.hashing import drawn, key_of, row_hashes
from ald.groups.membership import member_mask
from ald.groups.rules import candidates
from ald.groups.tree import CodedCondition
from ald.notions import SELECTION, RateCounter
from ald.remote.counting import (
    ClusterCounter,
    CountAlong,
    CountMembers,
    CountPatterns,
    CountShared,
    Partition,
    draw_pool,
    people_along,
)
from ald.remote.engines.arrow import sum_by_key
from ald.remote.engines.blocks import KeyLayout
from ald.search.forest.counting import MemoryCounter
from ald.search.forest.growth import grow
from ald.search.forest.histograms import HistogramSplitter
from ald.search.forest.rules import GrowthRules
from ald.search.pool import pool_people

LAYOUT = KeyLayout(
    attributes=(
        Attribute(name="a", kind="numeric", values=np.arange(300.0)),
        Attribute(name="b", kind="nominal", levels=("x", "y", "z")),
    ),
    n_cells=2,
    has_halves=False,
)
PARTITION = Partition(layout=LAYOUT, key=key_of(np.random.default_rng(5)), fraction=0.5, n_cells=2)
TREES = range(70, 74)
CRITERIA = (
    (CodedCondition(0, 0, 120),),
    (CodedCondition(1, 0, 0, (1, 2)),),
    (CodedCondition(0, 50, 300), CodedCondition(1, 0, 0, (0,))),
)


class Parts:
    """Blocks in memory, and how many jobs were asked for."""

    def __init__(self, blocks: Sequence[Sequence[bytes]]) -> None:
        self.blocks, self.jobs = blocks, 0

    def sum_by_key(self, function: Callable[[Sequence[bytes]], Any], width: int) -> tuple[IntArray, IntArray]:
        self.jobs += 1
        return sum_by_key([function(part) for part in self.blocks], width)

    def gather(self, function: Callable[[Sequence[bytes]], Any]) -> list[Any]:
        return [function(part) for part in self.blocks]

    def close(self) -> None:
        pass


def rows(n: int = 5000) -> AuditData:
    """Distinct rows with counts; those of x and of low a have better outcomes. Some a are missing."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 301, n), rng.integers(0, 3, n)
    cells = (rng.random(n) < 0.3 + 0.3 * (b == 0) + 0.2 * (a < 100)).astype(np.uint8)
    return merge(
        AuditData(
            attributes=LAYOUT.attributes,
            codes=(a.astype(np.uint16), b.astype(np.uint8)),
            cells=cells,
            counts=rng.integers(1, 4, n),
            n_cells=2,
        )
    )


@pytest.fixture(params=[1, 3])
def parts(request: pytest.FixtureRequest) -> Parts:
    """The rows in partitions of several blocks each, and one that is empty."""
    data = rows()
    keys = LAYOUT.pack(data.codes, data.cells, np.zeros(len(data.cells)))
    place = np.arange(len(keys)) % (2 * request.param)
    blocks = [LAYOUT.block(keys[place == i], data.counts[place == i]) for i in range(2 * request.param)]
    return Parts([*(blocks[i : i + 2] for i in range(0, len(blocks), 2)), []])


def test_the_same_forest(parts: Parts) -> None:
    """Trees grow as in memory, with one job for the roots and one for every level."""
    d1, _ = rows().halves(np.random.default_rng(5))
    samples = [drawn(row_hashes(d1), d1.counts, 0.632, key) for key in TREES]
    rates, rules = RateCounter((SELECTION,), 2), GrowthRules(attributes_per_node=1, alpha=0.9)
    levels = 0

    def told(done: float) -> None:
        nonlocal levels
        levels += 1

    def rngs() -> list[np.random.Generator]:
        return [np.random.default_rng(tree) for tree in TREES]

    expected = grow(HistogramSplitter(MemoryCounter(d1, samples)), d1.attributes, d1.scores(), rates, rules, rngs())
    splitter = HistogramSplitter(ClusterCounter(parts, PARTITION, 0.632, TREES))
    found = grow(splitter, d1.attributes, d1.scores(), rates, rules, rngs(), progress=told)
    assert found == expected
    assert found.n_nodes > 20
    assert 1 + levels - 1 <= parts.jobs <= 1 + levels


def test_members(parts: Parts) -> None:
    """Leaves, patterns of membership, pairs and people along attributes are those of D2 in memory."""
    d1, d2 = rows().halves(np.random.default_rng(5))
    samples = [drawn(row_hashes(d1), d1.counts, 0.632, key) for key in TREES]
    rates = RateCounter((SELECTION,), 2)
    rngs = [np.random.default_rng(tree) for tree in TREES]
    forest = grow(HistogramSplitter(MemoryCounter(d1, samples)), d1.attributes, d1.scores(), rates, GrowthRules(), rngs)
    leaves = candidates(forest, d1).leaves
    assert leaves is not None
    expected = leaves.count(d2)
    at, counts = parts.sum_by_key(CountMembers(partition=PARTITION, leaves=leaves), 2)
    assert (counts == expected[at]).all()
    assert expected.sum() == counts.sum()

    masks = [member_mask(criterion, d2) for criterion in CRITERIA]
    patterns, counts = parts.sum_by_key(CountPatterns(partition=PARTITION, criteria=CRITERIA), 2)
    for i, mask in enumerate(reversed(masks)):
        assert counts[(patterns >> i) & 1 == 1].sum() == d2.counts[mask].sum()
    assert counts.sum() == d2.total
    first, _ = parts.sum_by_key(CountPatterns(partition=PARTITION, criteria=CRITERIA[:1]), 2)
    job = CountPatterns(partition=PARTITION, criteria=CRITERIA[1:], known=((CRITERIA[:1], first),))
    in_rounds = parts.sum_by_key(job, 2)
    assert [part.tolist() for part in in_rounds] == [patterns.tolist(), counts.tolist()]

    _, shared = parts.sum_by_key(CountShared(partition=PARTITION, pairs=((CRITERIA[0], CRITERIA[1]),)), 3)
    both = d2.counts[masks[0] & masks[1]].sum()
    assert shared.tolist() == [[d2.counts[masks[0]].sum(), d2.counts[masks[1]].sum(), both]]

    pairs = ((0, CRITERIA[1]), (1, ()))
    keys, counts = parts.sum_by_key(CountAlong(partition=PARTITION, pairs=pairs, stride=301), 2)
    first = keys < 301
    table = people_along(d2, 0, CRITERIA[1])
    assert (table[keys[first]] == counts[first]).all()
    assert table.sum() == counts[first].sum()
    assert counts[~first].sum() == d2.total


@pytest.mark.parametrize("share", [1.0, 0.2])
def test_the_pool(parts: Parts, share: float) -> None:
    """The pool is a part of D1 in canonical order, the same however rows are parted."""
    d1, _ = rows().halves(np.random.default_rng(5))
    expected = pool_people(d1, share, 7)
    found = draw_pool(parts, PARTITION, share, 7)
    assert [code.tolist() for code in found.codes] == [code.tolist() for code in expected.codes]
    assert found.cells.tolist() == expected.cells.tolist()
    assert found.counts.tolist() == expected.counts.tolist()
