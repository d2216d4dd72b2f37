"""Many versions of outcomes at a time: the C code against NumPy to the last bit, and against counting one by one."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ald.data.columns import compact
from ald.search.everyone import _numpy_lanes

LANES = _numpy_lanes.LANES
SEEDS = st.integers(0, 2**32)


def kernels() -> list[Any]:
    """The C code, where it was built, and NumPy."""
    try:
        from ald.search.everyone import _lanes
    except ImportError:
        return [_numpy_lanes]
    return [_lanes, _numpy_lanes]


def strata_of(rng: np.random.Generator, people: int, strata: int) -> tuple[np.ndarray, np.ndarray]:
    sizes = rng.multinomial(people, np.full(strata, 1 / strata))
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), rng.integers(0, sizes + 1)


@settings(max_examples=30)
@given(SEEDS, st.integers(1, 70), st.integers(1, 5), st.integers(1, 2), st.integers(0, 40))
def test_c_and_numpy_draw_and_settle_alike(seed: int, people: int, strata: int, blocks: int, first: int) -> None:
    """Any chances, strata and word numbers give the same bits; then every stratum has its hits in all lanes."""
    rng = np.random.default_rng(seed)
    starts, hits = strata_of(rng, people, strata)
    chances = rng.choice([0, 1, 2**15, 2**16 - 1, 2**16, int(rng.integers(2**16))], people).astype(np.uint32)
    key = int(rng.integers(2**63)) * 2
    found = []
    for kernel in kernels():
        words = np.zeros((blocks, people, 8), np.uint64)
        kernel.draw(chances, key, first, words)
        drawn = words.copy()
        kernel.settle(starts, hits, key, first, words)
        found.append((drawn, words))
    for drawn, words in found:
        assert (drawn == found[0][0]).all()
        assert (words == found[0][1]).all()
        bits = np.concatenate([_numpy_lanes._bits(block) for block in words], axis=1)
        for start, end, wanted in zip(starts, starts[1:], hits, strict=False):
            assert (bits[start:end].sum(axis=0) == wanted).all()


def test_bits_have_their_chance() -> None:
    """Bits are 1 as often as asked for, and those of two people, and of two lanes, are independent."""
    chances = np.array([6554, 32768, 60000] * 100, np.uint32)
    words = np.zeros((4, 300, 8), np.uint64)
    kernels()[0].draw(chances, 12345, 0, words)
    bits = np.concatenate([_numpy_lanes._bits(block) for block in words], axis=1).astype(float)
    expected = chances / 2**16
    error = np.sqrt(expected * (1 - expected) / bits.shape[1])
    assert np.abs((bits.mean(axis=1) - expected) / error).max() < 4.5
    standard = (bits - expected[:, None]) / np.sqrt(expected * (1 - expected))[:, None]
    for table in (standard, standard.T):
        n = table.shape[1]
        correlations = (table @ table.T / n)[np.triu_indices(len(table), 1)]
        assert np.abs(correlations).max() < 8 / np.sqrt(n)
        assert abs(correlations.std() * np.sqrt(n) - 1) < 0.05


def test_a_block_is_the_same_by_itself() -> None:
    """Blocks that are drawn one after the other are those that are drawn at once."""
    chances, starts, hits = np.full(40, 20_000, np.uint32), np.array([0, 15, 40]), np.array([4, 9])
    for kernel in kernels():
        both, alone = np.zeros((2, 40, 8), np.uint64), np.zeros((1, 40, 8), np.uint64)
        for first, words in ((0, both), (8, alone)):
            kernel.draw(chances, 7, first, words)
            kernel.settle(starts, hits, 8, first, words)
        assert (both[1] == alone[0]).all()
        assert (both[0] != alone[0]).any()


@settings(max_examples=30)
@given(SEEDS, st.sampled_from([1, 15, 16, 17, 300, 5000]), st.integers(1, 3), st.integers(1, 2))
def test_every_lane_is_counted(seed: int, people: int, order: int, blocks: int) -> None:
    """Codes of any width, some combinations not counted: C and NumPy count what adding up bits counts."""
    rng = np.random.default_rng(seed)
    sizes = rng.choice([1, 2, 5, 300], 3).tolist() if order == 1 else rng.integers(1, 5, 3).tolist()
    columns = [compact(rng.integers(0, size, people), 70_000 if k == 2 else 299) for k, size in enumerate(sizes)]
    words = rng.integers(0, 2**64, (blocks, people, 8), dtype=np.uint64)
    parts = np.array([rng.integers(0, 3, order) for _ in range(3)])
    entries = [int(np.prod([sizes[k] for k in part])) for part in parts]
    offsets = np.concatenate([[0], np.cumsum(entries)])
    counted = rng.random(offsets[-1]) < 0.7
    slots = np.where(counted, np.cumsum(counted) - 1, -1).astype(np.int32)
    bits = np.concatenate([_numpy_lanes._bits(block) for block in words], axis=1)
    expected = np.zeros((int(counted.sum()), blocks * LANES), np.int64)
    for part, start in zip(parts, offsets, strict=False):
        key = np.zeros(people, np.int64)
        for k in part:
            key = key * sizes[k] + columns[k]
        for person, row in enumerate(slots[start + key].tolist()):
            if row >= 0:
                expected[row] += bits[person]
    for kernel in kernels():
        out = np.full(expected.shape, 77, np.int32)
        kernel.count(columns, np.array(sizes), parts.ravel(), offsets, slots, words, out)
        assert (out == expected).all()


@settings(max_examples=30)
@given(SEEDS, st.integers(1, 3), st.integers(1, 2), st.booleans())
def test_the_best_group_of_every_lane(seed: int, rates: int, blocks: int, one_sided: bool) -> None:
    """C and NumPy find the same group, which is the best one of its kind by a plain loop."""
    rng = np.random.default_rng(seed)
    lanes, rows, n = blocks * LANES, 7, 12
    table = rng.integers(0, 50, (rows, rates, lanes)).astype(np.int32)
    low, high = rng.integers(0, rows, (2, n))
    expected, cost = rng.normal(0, 20, (n, rates)), rng.random(n) * 9
    scale = np.where(rng.random((n, rates)) < 0.3, 0.0, rng.random((n, rates)) / 10)
    sides = rng.choice([-1.0, 0.0, 1.0], rates) if one_sided else np.zeros(rates)
    kinds = np.array([0, 5, 5, n])
    found = []
    for kernel in kernels():
        value, at = np.full((3, lanes), 9.0), np.full((3, lanes), 9)
        kernel.best(table, lanes, low, high, expected, scale, cost, sides, kinds, value, at)
        found.append((value, at))
    for value, at in found:
        assert (value == found[0][0]).all()
        assert (at == found[0][1]).all()
    d = (table[high] - table[low]) - expected[:, :, None]
    d = np.where(sides[:, None] * d < 0, 0.0, d)
    x = (d * d * scale[:, :, None]).sum(axis=1)
    worth = np.where((scale > 0).any(axis=1)[:, None], x - cost[:, None], -np.inf)
    value, at = found[0]
    for kind, (start, end) in enumerate(pairwise(kinds.tolist())):
        if start == end or np.isinf(worth[start:end]).all():
            assert (at[kind] == -1).all()
            assert (value[kind] == 0).all()
        else:
            assert np.allclose((value[kind] - cost[at[kind]]), worth[start:end].max(axis=0))


@settings(max_examples=25)
@given(SEEDS, st.sampled_from([2, 3, 9, 60]), st.integers(1, 3), st.integers(1, 3), st.booleans())
def test_the_best_sets_of_levels_of_every_lane(seed: int, n: int, rates: int, strata: int, one_sided: bool) -> None:
    """C and NumPy find the same sets of levels; with one rate and stratum that is the best one of the sorted levels."""
    rng = np.random.default_rng(seed)
    lanes = LANES
    bases = rng.integers(0, 40, (n, rates, strata))
    bases[0] = 0
    of_all = bases.sum(axis=0)
    share = rng.random((rates, strata)) * 0.8 + 0.1
    size = of_all.astype(float)
    weights = share * (1 - share) / np.maximum(size - 1, 1)
    expected, spread = (bases * share).sum(axis=2), (bases * share * (1 - share)).sum(axis=2)
    table = rng.binomial(bases.sum(axis=2)[:, :, None], 0.4, (n, rates, lanes)).astype(np.int32)
    people, cost = bases.sum(axis=(1, 2)), rng.random(n + 1) * 5
    sides = rng.choice([-1.0, 0.0, 1.0], rates) if one_sided else np.zeros(rates)
    orders = 1 if rates == 1 else rates + 2
    found = []
    for kernel in kernels():
        value, at = np.full((orders, lanes), 9.0), np.full((orders, lanes), 9)
        kernel.best_heads(
            table, lanes, people, 10, bases, weights, size, expected, spread, cost, sides, value, at
        )  # fmt: skip
        found.append((value, at))
    for value, at in found:
        assert (value == found[0][0]).all()
        assert (at == found[0][1]).all()
    if rates == 1 and strata == 1 and not sides.any():
        value, at = found[0]
        for lane in range(0, lanes, 50):
            rate = np.where(spread[:, 0] > 0, (table[:, 0, lane] - expected[:, 0]) / np.maximum(spread[:, 0], 1e-9), 0)
            order = np.argsort(rate, kind="stable")
            options = [(-np.inf, 0.0)]
            for k in range(1, n):
                inside = order[:k]
                b = bases[inside, 0, 0].sum()
                if min(b, size[0, 0] - b) >= 10:
                    d = table[inside, 0, lane].sum() - expected[inside, 0].sum()
                    x = d * d / (weights[0, 0] * b * (size[0, 0] - b))
                    options.append((x - cost[k], x))
            assert np.isclose(max(options)[1], value[0, lane])


@settings(max_examples=20)
@given(SEEDS, st.integers(1, 3), st.integers(0, 3), st.integers(1, 2))
def test_the_best_linear_form_of_every_lane(seed: int, rates: int, strata: int, blocks: int) -> None:
    """C and NumPy find the same form, which is the best one by a matrix product."""
    rng = np.random.default_rng(seed)
    lanes, rows, groups = blocks * LANES, [0, 3, 3, 8], [0, 2, 2, 7]
    table = rng.integers(0, 50, (8, rates, lanes)).astype(np.int32)
    common = rng.integers(0, 50, (strata, rates, lanes)).astype(np.int32)
    each = [
        rng.normal(size=(g2 - g1, rates, r2 - r1))
        for (g1, g2), (r1, r2) in zip(pairwise(groups), pairwise(rows), strict=True)
    ]
    shared, scale, cost = rng.normal(size=(7, rates, strata)), rng.random((7, rates)), rng.random(7) * 99
    coefs = np.concatenate([one.ravel() for one in each])
    found = []
    for kernel in kernels():
        value, at = np.empty(lanes), np.empty(lanes, np.int64)
        kernel.best_forms(
            table, common, lanes, rates, np.array(rows), np.array(groups), coefs, shared, scale, cost, value, at
        )
        found.append((value, at))
    sums = [np.einsum("grk,krl->grl", one, table[r1:r2]) for one, (r1, r2) in zip(each, pairwise(rows), strict=True)]
    total = np.concatenate(sums) + np.einsum("grs,srl->grl", shared, common)
    x = (total**2 * scale[:, :, None]).sum(axis=1)
    for value, at in found:
        assert (value == found[0][0]).all()
        assert (at == found[0][1]).all()
        assert np.allclose(value - cost[at], (x - cost[:, None]).max(axis=0))


@pytest.mark.parametrize("strata", [0, 2])
def test_no_linear_form(strata: int) -> None:
    """Where no group is left to look at, no lane has one."""
    table, common = np.ones((4, 1, LANES), np.int32), np.ones((strata, 1, LANES), np.int32)
    none = np.zeros(0)
    for kernel in kernels():
        value, at = np.ones(LANES), np.ones(LANES, np.int64)
        kernel.best_forms(
            table, common, LANES, 1, np.array([0, 4]), np.array([0, 0]), none, none, none, none, value, at
        )
        assert (value == 0).all()
        assert (at == -1).all()


def arguments() -> dict[str, dict[str, Any]]:
    words = np.zeros((1, 3, 8), np.uint64)
    one = np.ones((1, 1))
    return {
        "draw": {"chances": np.zeros(3, np.uint32), "key": 1, "first": 0, "words": words},
        "settle": {"starts": np.array([0, 3]), "hits": np.array([1]), "key": 1, "first": 0, "words": words},
        "count": {
            "columns": [np.array([0, 1, 2], np.uint8), np.array([0, 1, 1], np.uint16)], "sizes": np.array([3, 2]),
            "parts": np.array([0, 1]), "offsets": np.array([0, 6]), "slots": np.arange(6, dtype=np.int32),
            "words": words, "out": np.zeros((6, LANES), np.int32),
        },
        "best": {
            "table": np.zeros((2, LANES), np.int32), "lanes": LANES, "low": np.array([0]), "high": np.array([1]),
            "expected": one, "scale": one, "cost": np.ones(1), "sides": np.zeros(1), "kinds": np.array([0, 1]),
            "out": np.zeros((1, LANES)), "out_at": np.zeros((1, LANES), np.int64),
        },
        "best_forms": {
            "table": np.zeros((2, 1, LANES), np.int32), "common": np.zeros((1, 1, LANES), np.int32), "lanes": LANES,
            "rates": 1, "rows_at": np.array([0, 2]), "groups_at": np.array([0, 1]), "coefs": np.ones(2),
            "common_coefs": np.ones(1), "scale": np.ones(1), "cost": np.ones(1), "out": np.zeros(LANES),
            "out_at": np.zeros(LANES, np.int64),
        },
        "best_heads": {
            "table": np.zeros((2, 1, 4), np.int32), "lanes": 4, "people": np.array([5, 6]), "smallest": 1,
            "bases": np.array([[[5]], [[6]]]), "weights": one, "sizes": one, "expected": np.ones((2, 1)),
            "spread": np.ones((2, 1)), "cost": np.ones(3), "sides": np.zeros(1), "out": np.zeros((1, 4)),
            "out_at": np.zeros((1, 4), np.int64),
        },
    }  # fmt: skip


@pytest.mark.parametrize(
    ("function", "change"),
    [
        ("draw", {"words": np.zeros((1, 4, 8), np.uint64)}), ("draw", {"first": 2**20}),
        ("settle", {"hits": np.array([4])}), ("settle", {"hits": np.array([-1])}),
        ("settle", {"starts": np.array([1, 3])}), ("settle", {"starts": np.array([0, 4])}),
        ("settle", {"starts": np.array([0, 3, 2])}),
        ("count", {"columns": []}), ("count", {"sizes": np.array([0, 2])}), ("count", {"sizes": np.array([2**33, 2])}),
        ("count", {"parts": np.array([0, 2])}), ("count", {"parts": np.array([-1, 0])}),
        ("count", {"offsets": np.array([0, 5])}), ("count", {"offsets": np.array([1, 7])}),
        ("count", {"slots": np.arange(1, 7, dtype=np.int32)}), ("count", {"slots": np.full(6, -2, np.int32)}),
        ("count", {"words": np.zeros((1, 2, 8), np.uint64)}), ("count", {"out": np.zeros(7, np.int32)}),
        ("best", {"lanes": 3}), ("best", {"lanes": 0}), ("best", {"low": np.array([2])}),
        ("best", {"high": np.array([-1])}), ("best", {"kinds": np.array([0, 2])}),
        ("best", {"kinds": np.array([1, 0])}), ("best", {"scale": np.ones((2, 1))}),
        ("best", {"out": np.zeros((2, LANES))}),
        ("best_forms", {"lanes": 8}), ("best_forms", {"rates": 2}), ("best_forms", {"rows_at": np.array([0, 3])}),
        ("best_forms", {"rows_at": np.array([-1, 2])}), ("best_forms", {"groups_at": np.array([0, 2])}),
        ("best_forms", {"coefs": np.ones(3)}), ("best_forms", {"common_coefs": np.ones(2)}),
        ("best_heads", {"lanes": 3}), ("best_heads", {"cost": np.ones(2)}),
        ("best_heads", {"bases": np.ones(3, int)}), ("best_heads", {"out": np.zeros((2, 4))}),
    ],
)  # fmt: skip
def test_arrays_that_do_not_fit_are_refused(function: str, change: dict[str, Any]) -> None:
    """Lengths and places that do not agree are an error, before anything is read or written."""
    lanes = pytest.importorskip("ald.search.everyone._lanes", reason="the C code was not built")
    getattr(lanes, function)(*arguments()[function].values())
    with pytest.raises(ValueError, match=f"{function}: "):
        getattr(lanes, function)(*(arguments()[function] | change).values())
