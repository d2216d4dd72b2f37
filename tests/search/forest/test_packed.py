"""Packed rows: the compiled way to grow trees gives what the counters and tests in NumPy give, to the last bit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ald.data import packing
from ald.data.coded import Attribute, AuditData
from ald.data.columns import compact
from ald.data.design import Design
from ald.groups.membership import Leaves, Members, NodeMembers
from ald.groups.tree import Forest
from ald.notions import ACCURACY, AMOUNT_CELLS, ERROR, FNR, FPR, SELECTION, MeanCounter, Measure, RateCounter
from ald.search.forest.association import Association
from ald.search.forest.choice import LevelTests, select_by_log_p
from ald.search.forest.counting import Counter, MemoryCounter
from ald.search.forest.growth import grow
from ald.search.forest.histograms import HistogramSplitter
from ald.search.forest.packed import CUT, NO_CUT, UNSETTLED, PackedSplitter, Visit, choose
from ald.search.forest.rules import GrowthRules
from ald.search.forest.sampling import grow_forest

_packed = pytest.importorskip("ald._core._packed", reason="needs the compiled kernels, which were not built")

COLUMNS = ("tree", "node", "parent", "left", "right", "counts", "attribute", "cut", "statistic", "log_p")
SIZES = {"numeric": (1, 3, 40, 300, 5000), "nominal": (1, 2, 8, 25, 63, 64, 100), "ordinal": (2, 6), "boolean": (2,)}
RATES = {2: [(SELECTION,)], 4: [(ERROR,), (FPR, FNR), (SELECTION, ACCURACY)]}


def random_data(seed: int, n: int, n_cells: int, weighted: bool = False, missing: bool = False) -> AuditData:
    """Attributes of all kinds and sizes, some of which matter."""
    rng = np.random.default_rng(seed)
    attributes, codes = [], []
    for a in range(int(rng.integers(1, 12))):
        kind = str(rng.choice(list(SIZES)))
        size = int(rng.choice(SIZES[kind]))
        code = rng.integers(0, size, n) if rng.random() < 0.5 else np.minimum(rng.geometric(0.3, n) - 1, size - 1)
        if missing and kind in ("numeric", "ordinal"):
            code = np.where(rng.random(n) < 0.1, size, code)
        values = np.sort(rng.normal(size=size)) * 10.0 ** rng.integers(-300, 300) if kind == "numeric" else None
        levels = () if kind == "numeric" else tuple(map(str, range(size)))
        attributes.append(Attribute(name=f"a{a}", kind=kind, values=values, levels=levels))
        codes.append(compact(code, size))
    score = sum(np.sin(code.astype(float) * rng.normal()) for code in codes[:3])
    outcome = (rng.random(n) < 1 / (1 + np.exp(-score))).astype(np.uint8)
    truth = (rng.random(n) < 0.2 + 0.5 * outcome).astype(np.uint8)
    return AuditData(
        attributes=tuple(attributes),
        codes=tuple(codes),
        cells=outcome if n_cells == 2 else outcome + 2 * truth,
        counts=rng.integers(1, 50, n) if weighted else np.ones(n, np.int64),
        n_cells=n_cells,
    )


AMOUNTS = ("whole", "skew", "few", "extreme", "constant")


def random_amounts(seed: int, n: int, kind: str, weighted: bool = False, missing: bool = False) -> AuditData:
    """The same attributes with amounts that depend on them.

    Extreme ones are as large as integers of 32 bits can be, and weights so large then that products do not fit 64 bits.
    """
    data = random_data(seed, n, 2, weighted, missing)
    rng = np.random.default_rng(seed + 1)
    score = data.cells + rng.normal(size=n)
    amounts = {
        "whole": np.rint(100 * score),
        "skew": np.rint(np.exp(6 * score)),
        "few": np.rint(score),
        "extreme": np.where(score > rng.choice([-2, 0.5, 3]), 2**31 - 1, 1 - 2**31),
        "constant": np.full(n, rng.integers(-5, 5)),
    }[kind]
    amounts = np.clip(amounts, 1 - 2**31, 2**31 - 1).astype(np.int64)
    counts = data.counts * rng.integers(1, 4000, n) if kind == "extreme" and weighted else data.counts
    design = Design(amounts=amounts)
    return replace(data, cells=np.zeros(n, np.uint8), n_cells=len(AMOUNT_CELLS), counts=counts, design=design)


# One word, one bit for the cell, every row one person.
PLAIN = (1, 1, -1, 63)
# Which instructions are used: those of every processor, those that gather bits, and those that do eight rows at once.
LEVELS = st.sampled_from([0, 1, 2])


@contextmanager
def instructions(level: int) -> Iterator[None]:
    """Restricts the kernel to a level, if the processor has it."""
    before = _packed.use_vectors(level)
    try:
        yield
    finally:
        _packed.use_vectors(before)


def assert_same(first: Forest, second: Forest) -> None:
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name), err_msg=name)
    assert first.sides.as_dict() == second.sides.as_dict()


def both_ways(
    data: AuditData, rates: Measure, rules: GrowthRules, level: int, seeds: Iterable[Any], **options: Any
) -> list[Forest]:
    """The forest on packed rows, and that of the counter in memory."""
    forests = []
    for is_available in (True, False):
        rngs = [np.random.default_rng(seed) for seed in seeds]
        with pytest.MonkeyPatch.context() as patch, instructions(level):
            patch.setattr(packing, "available", lambda data, answer=is_available: answer)
            forests.append(grow_forest(data, rates, rules, rngs, **options))
    return forests


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    n=st.sampled_from([30, 400, 6000]),
    n_cells=st.sampled_from([2, 4]),
    weighted=st.booleans(),
    missing=st.booleans(),
    alpha=st.sampled_from([0.1, 0.5, 1.0]),
    minbucket=st.sampled_from([1, 7, 50]),
    bonferroni=st.booleans(),
    effect=st.sampled_from([1.0, 1.7]),
    pick=st.integers(0, 2),
    level=LEVELS,
)
def test_forests_are_the_same_to_the_last_bit(
    seed: int, n: int, n_cells: int, weighted: bool, missing: bool, alpha: float, minbucket: int, bonferroni: bool,
    effect: float, pick: int, level: int,
) -> None:  # fmt: skip
    """Splits, counts, statistics and p-values of packed rows are those of the counter in memory."""
    data = random_data(seed, n, n_cells, weighted, missing)
    rates = RateCounter(RATES[n_cells][pick % len(RATES[n_cells])], n_cells)
    rules = GrowthRules(alpha=alpha, minbucket=minbucket, bonferroni=bonferroni)
    seeds = np.random.SeedSequence(seed).spawn(3)
    assert_same(*both_ways(data, rates, rules, level, seeds, effect=effect, threads=2))


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    n=st.sampled_from([30, 400, 6000]),
    kind=st.sampled_from(AMOUNTS),
    weighted=st.booleans(),
    missing=st.booleans(),
    alpha=st.sampled_from([0.1, 0.5, 1.0]),
    minbucket=st.sampled_from([1, 7, 50]),
    drawn=st.sampled_from([None, 1, 3, 7]),
    effect=st.sampled_from([1.0, 1.7]),
    level=LEVELS,
)
def test_forests_of_amounts_are_the_same_to_the_last_bit(
    seed: int, n: int, kind: str, weighted: bool, missing: bool, alpha: float, minbucket: int, drawn: int | None,
    effect: float, level: int,
) -> None:  # fmt: skip
    """So are those of trees on amounts, with sums of squares in both of their words."""
    data = random_amounts(seed, n, kind, weighted, missing)
    rules = GrowthRules(alpha=alpha, minbucket=minbucket, attributes_per_node=drawn)
    seeds = np.random.SeedSequence(seed).spawn(3)
    assert_same(*both_ways(data, MeanCounter(), rules, level, seeds, effect=effect, threads=2))


@pytest.mark.parametrize("level", [0, 1, 2])
@pytest.mark.parametrize("n_cells", [2, 4])
def test_many_rows_are_counted_and_parted_as_few_are(level: int, n_cells: int) -> None:
    """With more people in a node than 16 bits count, and with attributes that are counted together."""
    rng = np.random.default_rng(level)
    n, sizes = 150_000, (255, 200, 8, 7, 3, 2)
    codes = [rng.integers(0, size, n) for size in sizes]
    codes[1] = np.where(rng.random(n) < 0.1, sizes[1], codes[1])
    outcome = rng.random(n) < 0.3 + 0.2 * (codes[0] > 100) * (codes[2] == 3) + 0.1 * (codes[1] < 20)
    data = AuditData(
        attributes=tuple(
            Attribute(name=f"x{k}", kind="numeric", values=np.arange(float(size))) if size > 100 else
            Attribute(name=f"x{k}", kind="nominal", levels=tuple(map(str, range(size))))
            for k, size in enumerate(sizes)
        ),
        codes=tuple(compact(code, size) for code, size in zip(codes, sizes, strict=True)),
        cells=(outcome + (n_cells - 2) * (rng.random(n) < 0.5)).astype(np.uint8),
        counts=np.ones(n, np.int64),
        n_cells=n_cells,
    )  # fmt: skip
    rates = RateCounter(RATES[n_cells][-1], n_cells)
    forests = both_ways(data, rates, GrowthRules(attributes_per_node=5), level, range(2))
    assert forests[0].n_nodes > 20
    assert_same(*forests)


def held(counter: PackedSplitter) -> list[list[int]]:
    """The rows of the first tree, with the people that they stand for."""
    word, shift = counter._layout.weight
    rows = counter._rows[counter._starts[0] : counter._ends[0]].tolist()
    if word < 0:
        return [[*row, 1] for row in rows]
    codes = [[value % 2**shift if w == word else value for w, value in enumerate(row)] for row in rows]
    return [[*code, row[word] >> shift] for code, row in zip(codes, rows, strict=True)]


@given(seed=st.integers(0, 10**6), n=st.integers(2, 400), share=st.floats(0, 1), most=st.integers(1, 40), level=LEVELS)
def test_samples_are_those_that_hashes_draw(seed: int, n: int, share: float, most: int, level: int) -> None:
    """A tree of packed rows has the people who are drawn by hash, and its generator goes on alike."""
    data = random_data(seed, n, 2)
    data = data.with_counts(np.random.default_rng(seed).integers(1, most + 1, n))
    ours, theirs = np.random.default_rng(seed), np.random.default_rng(seed)
    with instructions(level):
        counter = PackedSplitter.draw(data, share, [ours])
    expected = PackedSplitter.of(data, [data.sample(share, theirs)])
    assert held(counter) == held(expected)
    assert counter.roots().tolist() == expected.roots().tolist()
    assert ours.random(3).tolist() == theirs.random(3).tolist()


@given(seed=st.integers(0, 10**6), kind=st.sampled_from(AMOUNTS), weighted=st.booleans(), missing=st.booleans())
def test_histograms_of_amounts_are_those_of_the_counter_in_memory(
    seed: int, kind: str, weighted: bool, missing: bool
) -> None:
    """Level by level, as a counter, packed rows tell people, sums and sums of squares as rows in memory do."""
    data = random_amounts(seed, 300, kind, weighted, missing)
    samples = [data.counts, np.where(np.arange(300) % 3, data.counts, 0)]

    def grown(counter: Counter) -> Forest:
        rngs = [np.random.default_rng(each) for each in (seed, seed + 1)]
        rules = GrowthRules(alpha=0.9, minbucket=1)
        return grow(HistogramSplitter(counter), data.attributes, data.scores(), MeanCounter(), rules, rngs)

    assert_same(grown(PackedSplitter.of(data, samples)), grown(MemoryCounter(data, samples)))


@given(
    seed=st.integers(0, 10**6),
    n_cells=st.sampled_from([2, 4]),
    weighted=st.booleans(),
    missing=st.booleans(),
    level=LEVELS,
)
def test_histograms_are_those_of_the_counter_in_memory(
    seed: int, n_cells: int, weighted: bool, missing: bool, level: int
) -> None:
    """As counters, level by level without a single test, packed rows and rows in memory tell the same."""
    data = random_data(seed, 300, n_cells, weighted, missing)
    samples = [data.counts, np.where(np.arange(300) % 3, data.counts, 0)]
    rates = RateCounter(RATES[n_cells][0], n_cells)

    def grown(counter: Counter) -> Forest:
        rngs, rules = (
            [np.random.default_rng(seed), np.random.default_rng(seed + 1)],
            GrowthRules(alpha=0.9, minbucket=1),
        )
        return grow(HistogramSplitter(counter), data.attributes, data.scores(), rates, rules, rngs)

    with instructions(level):
        ours = grown(PackedSplitter.of(data, samples))
    assert_same(ours, grown(MemoryCounter(data, samples)))


@given(
    seed=st.integers(0, 10**6),
    n_cells=st.sampled_from([2, 4]),
    weighted=st.booleans(),
    missing=st.booleans(),
    level=LEVELS,
)
def test_leaves_hold_whom_their_criteria_describe(
    seed: int, n_cells: int, weighted: bool, missing: bool, level: int
) -> None:
    """People who were not there when the trees grew, with levels never seen, are at the leaves where NumPy says."""
    everyone = random_data(seed, 3000, n_cells, weighted, missing)
    first = np.arange(3000) < 300
    data, others = (everyone.with_counts(np.where(kept, everyone.counts, 0)) for kept in (first, ~first))
    rates = RateCounter(RATES[n_cells][0], n_cells)
    rngs = [np.random.default_rng(each) for each in range(3)]
    forest = grow_forest(data, rates, GrowthRules(alpha=0.9, minbucket=1), rngs)
    present = {a: [0, 1] for a, attribute in enumerate(data.attributes) if attribute.kind == "ordinal"}
    leaves = Leaves(forest=forest, at=np.flatnonzero(forest.is_leaf), present=present)
    with instructions(level):
        usual = leaves.count(others, threads=2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packing, "available", lambda data: False)
        assert leaves.count(others).tolist() == usual.tolist()


@given(
    seed=st.integers(0, 10**6),
    kind=st.sampled_from(AMOUNTS),
    weighted=st.booleans(),
    missing=st.booleans(),
    keep=st.sampled_from([0.0, 1.0, 7.5, 60.0]),
    level=LEVELS,
)
def test_leaves_add_up_the_amounts_of_whom_their_criteria_describe(
    seed: int, kind: str, weighted: bool, missing: bool, keep: float, level: int
) -> None:
    """So are sums of people who were not there when the trees grew, and the rows of leaves with few of them."""
    everyone = random_amounts(seed, 3000, kind, weighted, missing)
    first = np.arange(3000) < 300
    data, others = (everyone.with_counts(np.where(kept, everyone.counts, 0)) for kept in (first, ~first))
    rngs = [np.random.default_rng(each) for each in range(3)]
    forest = grow_forest(data, MeanCounter(), GrowthRules(alpha=0.9, minbucket=1), rngs)
    present = {a: [0, 1] for a, attribute in enumerate(data.attributes) if attribute.kind == "ordinal"}
    leaves = Leaves(forest=forest, at=np.flatnonzero(forest.is_leaf), present=present)
    with instructions(level):
        sums, few = leaves.sums(others, keep, threads=2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packing, "available", lambda data: False)
        expected, rows = leaves.sums(others, keep)
    assert sums.tolist() == expected.tolist()
    assert few.lengths.tolist() == rows.lengths.tolist()
    for i in np.flatnonzero(few.lengths).tolist():
        assert few[i].tolist() == rows[i].tolist()


@given(
    seed=st.integers(0, 10**6),
    n_cells=st.sampled_from([2, 4]),
    weighted=st.booleans(),
    missing=st.booleans(),
    level=LEVELS,
)
def test_nodes_hold_whom_their_criteria_describe(
    seed: int, n_cells: int, weighted: bool, missing: bool, level: int
) -> None:
    """Sent down the trees or held against the criterion of every node, the same people are counted."""
    everyone = random_data(seed, 2000, n_cells, weighted, missing)
    first = np.arange(2000) < 300
    data, others = (everyone.with_counts(np.where(kept, everyone.counts, 0)) for kept in (first, ~first))
    rngs = [np.random.default_rng(each) for each in range(3)]
    rates = RateCounter(RATES[n_cells][0], n_cells)
    forest = grow_forest(data, rates, GrowthRules(alpha=0.9, minbucket=1), rngs)
    nodes = NodeMembers(forest, data.attributes)
    expected = Members.count(nodes, others)
    with instructions(level):
        assert nodes.count(others, threads=2).tolist() == expected.tolist()
    many = others.with_cells(np.arange(n_cells) + 150, 200)
    assert nodes.count(many).tolist() == Members.count(nodes, many).tolist()


@pytest.mark.parametrize(
    "shape", [(0, 1, -1, 63), (1, 6, -1, 63), (1, 1, 1, 63), (1, 1, -2, 63), (1, 1, 0, 0), (1, 1, 0, 64), (1, 1, 0, 2)]
)
def test_a_visit_refuses_rows_that_cannot_be(shape: tuple[int, int, int, int]) -> None:
    """People are in a word that there is, above the cell and above the codes."""
    with pytest.raises(ValueError, match="do not fit"):
        _packed.visit(shape, 2, 0, 1, 1, tuple(small_visit().values()))


def test_rows_stand_for_as_many_people_as_their_highest_bits_say() -> None:
    """Seven people of the first row, two of the second, in a visit, in a selection and on their way down a tree."""
    shape = (1, 1, 0, 8)
    arrays = small_visit() | {"rows": np.array([3 | 2 << 8, 7 << 8], np.uint64)}
    _packed.visit(shape, 2, 0, 1, 1, tuple(arrays.values()))
    assert arrays["observed"].tolist() == [[7, 0], [0, 2]]
    out, cells = np.zeros(2, np.uint64), np.zeros(2, np.int64)
    taken = np.array([0, 5])
    assert _packed.select(shape, (np.array([3, 0], np.uint64), None, taken, out, cells)) == 1
    assert (out.tolist(), cells.tolist()) == ([5 << 8, 0], [5, 0])
    descent = small_descent() | {"rows": arrays["rows"]}
    _packed.descend(shape, 2, 0, 2, 1, 0, tuple(descent.values()))
    assert descent["out"].tolist() == [[0, 0], [7, 0], [0, 2]]


@given(
    seed=st.integers(0, 10**6),
    nodes=st.integers(0, 30),
    drawn=st.integers(1, 6),
    tries=st.integers(1, 4),
)
def test_the_first_attribute_with_a_cut_is_chosen(seed: int, nodes: int, drawn: int, tries: int) -> None:
    """In the order of log p, statistic and column, with ties, as NumPy orders them."""
    rng = np.random.default_rng(seed)
    requests = nodes * drawn
    log_p = -rng.integers(0, 4, requests) * (1 + 1e-10 * rng.integers(0, 30, requests))
    statistic = rng.integers(0, 3, requests) * (1 + 1e-10 * rng.integers(0, 30, requests))
    significant = rng.random(requests) < 0.7
    state = rng.choice([NO_CUT, CUT], requests).astype(np.uint8)
    none = np.zeros((1, requests))
    visit = Visit(
        statistic=none, df=none.astype(np.int64), state=state, cut=none, left_bits=none, present_bits=none, left=none,
        observed=none,
    )  # fmt: skip
    tests = LevelTests(
        nodes=np.repeat(np.arange(nodes), drawn),
        attributes=np.zeros(requests, np.int64),
        per_node=np.arange(nodes + 1) * drawn,
        association=Association(statistic=statistic, df=np.ones(requests, np.int64), log_p=log_p),
        significant=significant,
    )
    expected = []
    for order in select_by_log_p(tests, tries).tolist():
        ended = order.index(-1) if -1 in order else len(order)
        expected.append(next((request for request in order[:ended] if state[request] == CUT), -1))
    chosen = choose(visit, tests, tries)
    assert chosen is not None
    assert chosen.tolist() == expected
    if requests:
        state[0] = UNSETTLED
        assert choose(visit, tests, tries) is None


@pytest.mark.parametrize("change", [{2: np.zeros(3, np.uint8)}, {4: np.zeros(3, np.int64)}, {0: np.zeros(4, np.int32)}])
def test_a_choice_refuses_what_does_not_fit(change: dict[int, Any]) -> None:
    """As many numbers as requests, and as many requests for every node."""
    arrays = {
        0: np.zeros(4),
        1: np.zeros(4),
        2: np.zeros(4, np.uint8),
        3: np.zeros(4, np.uint8),
        4: np.zeros(2, np.int64),
    }
    with pytest.raises((ValueError, TypeError)):
        _packed.choose(2, tuple((arrays | change).values()))


@pytest.mark.parametrize("level", [0, 2])
@pytest.mark.parametrize(
    "change", [{1: np.array([16], np.uint64)}, {0: np.zeros(65, np.uint64)}, {3: np.zeros(1, np.uint64)}]
)
def test_a_selection_refuses_what_does_not_fit(change: dict[int, Any], level: int) -> None:
    """A bit for every row, none behind them, and room for all that are selected."""
    arrays: dict[int, Any] = {
        0: np.arange(4, dtype=np.uint64), 1: np.array([0b1010], np.uint64), 2: None, 3: np.zeros(2, np.uint64),
        4: np.zeros(2, np.int64),
    }  # fmt: skip
    with instructions(level):
        assert _packed.select(PLAIN, tuple(arrays.values())) == 2
        assert arrays[3].tolist() == [1, 3]
        assert arrays[4].tolist() == [0, 2]
        with pytest.raises(ValueError, match="do not fit"):
            _packed.select(PLAIN, tuple((arrays | change).values()))


def small_visit() -> dict[str, Any]:
    """Arguments of `visit` for a node of two rows, all in order."""
    one = np.zeros(1, np.int64)
    return {
        "word": np.array([0]), "shift": np.array([1]), "width": np.array([2]), "size": np.array([2]),
        "nominal": np.zeros(1, np.uint8), "scores": np.array([0.0, 1.0]),
        "start": one, "end": one + 2, "attribute": one, "cut": one,
        "missing_left": one, "bits": one.astype(np.uint64), "table_at": one - 1, "left": one, "right": one + 1,
        "tables": np.zeros(3, np.uint8), "drawn": np.array([0, 0]), "min_bucket": np.array([1, 1]), "hits": one + 2,
        "bases": one + 3, "critical": np.zeros(0), "rows": np.array([3, 0], np.uint64),
        "node_start": np.zeros(2, np.int64), "node_end": np.zeros(2, np.int64), "statistic": np.zeros((1, 2)),
        "df": np.zeros((1, 2), np.int64), "state": np.zeros(2, np.uint8), "found_cut": np.zeros(2, np.int64),
        "left_bits": np.zeros(2, np.uint64), "present_bits": np.zeros(2, np.uint64),
        "left_counts": np.zeros((2, 2), np.int64), "observed": np.zeros((2, 2), np.int64),
    }  # fmt: skip


def test_a_visit_parts_a_node() -> None:
    """One row goes left and one right, and both are counted."""
    arrays = small_visit()
    _packed.visit(PLAIN, 2, 0, 1, 1, tuple(arrays.values()))
    assert (arrays["node_start"].tolist(), arrays["node_end"].tolist()) == ([0, 1], [1, 2])
    assert arrays["rows"].tolist() == [0, 3]
    assert arrays["observed"].tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    "change",
    [
        {"end": np.array([3])},
        {"start": np.array([-1])},
        {"start": np.array([2]), "end": np.array([-(2**63)])},
        {"table_at": np.array([2**63 - 1])},
        {"tables": np.zeros(3, "V0")},
        {"attribute": np.array([1])},
        {"left": np.array([2])},
        {"table_at": np.array([1])},
        {"drawn": np.array([0, 1])},
        {"drawn": np.array([0, 0, 0])},
        {"shift": np.array([63])},
        {"shift": np.array([0])},
        {"width": np.array([64])},
        {"width": np.array([-1])},
        {"word": np.array([1])},
        {"scores": np.array([0.0])},
        {"statistic": np.zeros((1, 1))},
        {"observed": np.zeros((2, 1), np.int64)},
        {"rows": np.zeros(1, np.uint64)},
        {"hits": np.array([2, 2])},
        {"state": np.zeros(2, np.int64)},
    ],
)
def test_a_visit_refuses_what_does_not_fit(change: dict[str, Any]) -> None:
    """Requests that lead out of their arrays are errors, never reads out of bounds."""
    with pytest.raises((ValueError, TypeError, BufferError)):
        _packed.visit(PLAIN, 2, 0, 1, 1, tuple((small_visit() | change).values()))


def small_visit_of_amounts() -> dict[str, Any]:
    """The same where the two rows have the amounts 5 and -3."""
    one = np.zeros(1, np.int64)
    rows = np.array([32, 5, 0, 2**32 - 3], np.uint64)
    return small_visit() | {
        "shift": np.array([5]), "hits": one, "bases": one, "rows": rows, "left_counts": np.zeros((2, 4), np.int64),
        "observed": np.zeros((2, 4), np.int64),
    }  # fmt: skip


AMOUNTS_SHAPE = (2, 5, -1, 63)


def test_a_visit_parts_a_node_of_amounts() -> None:
    """One row goes left and one right, with people, sum, and both words of the square."""
    arrays = small_visit_of_amounts()
    _packed.visit_amounts(AMOUNTS_SHAPE, 0, 1, tuple(arrays.values()))
    assert (arrays["node_start"].tolist(), arrays["node_end"].tolist()) == ([0, 1], [1, 2])
    assert arrays["observed"].tolist() == [[1, -3, 0, 9], [1, 5, 0, 25]]


@pytest.mark.parametrize(
    ("shape", "change"),
    [
        ((2, 1, -1, 63), {}),
        ((1, 5, -1, 63), {}),
        ((2, 5, 0, 32), {}),
        ((2, 5, 1, 40), {}),
        (AMOUNTS_SHAPE, {"word": np.array([1])}),
        (AMOUNTS_SHAPE, {"width": np.array([33])}),
        (AMOUNTS_SHAPE, {"size": np.array([2**22]), "scores": np.zeros(2**22)}),
        (AMOUNTS_SHAPE, {"hits": np.zeros(2, np.int64), "bases": np.zeros(2, np.int64)}),
        (AMOUNTS_SHAPE, {"observed": np.zeros((2, 2), np.int64)}),
        (AMOUNTS_SHAPE, {"rows": np.zeros(3, np.uint64)}),
    ],
)
def test_a_visit_of_amounts_refuses_what_does_not_fit(shape: tuple[int, int, int, int], change: dict[str, Any]) -> None:
    """Amounts are in a word of their own, the last, with the people above them, and histograms have a limit."""
    with pytest.raises(ValueError, match="do not fit"):
        _packed.visit_amounts(shape, 0, 1, tuple((small_visit_of_amounts() | change).values()))


@pytest.mark.parametrize("change", [{1: np.array([-1])}, {2: np.array([3])}, {3: np.zeros(3, np.int64)}])
def test_sums_refuse_what_does_not_fit(change: dict[int, Any]) -> None:
    """Rows of a request are there, and its sums have room."""
    rows = np.array([2, 5, 0, 2**32 - 3], np.uint64)
    arrays: dict[int, Any] = {0: rows, 1: np.array([0]), 2: np.array([2]), 3: np.zeros(4, np.int64)}
    _packed.sum_amounts(AMOUNTS_SHAPE, tuple(arrays.values()))
    assert arrays[3].tolist() == [2, 2, 0, 34]
    with pytest.raises(ValueError, match="do not fit"):
        _packed.sum_amounts(AMOUNTS_SHAPE, tuple((arrays | change).values()))


@pytest.mark.parametrize(
    "shape", [(2, 5, 0, 5), (2, 5, 1, 5), (2, 5, 1, 40), (2, 1, 1, 32), (2, 1, -1, 63), (1, 5, -1, 63)]
)
def test_sums_refuse_rows_that_have_no_room_for_amounts(shape: tuple[int, int, int, int]) -> None:
    """People that are not above their amount would be so many that sums do not fit 64 bits."""
    rows = np.array([2**63, 2**31, 2**63, 2**31], np.uint64)
    arrays = rows, np.array([0]), np.array([2]), np.zeros(4, np.int64)
    with pytest.raises(ValueError, match="do not fit"):
        _packed.sum_amounts(shape, arrays)


def small_descent() -> dict[str, Any]:
    """Arguments of `descend` for two rows and a tree with two leaves."""
    return {
        "word": np.array([0]), "shift": np.array([1]), "width": np.array([2]), "size": np.array([2]),
        "nominal": np.zeros(1, np.uint8), "scores": np.array([0.0, 1.0]),
        "rows": np.array([0, 3], np.uint64),
        "parent": np.array([-1, 0, 0]), "attribute": np.array([0, -1, -1]), "left": np.array([1, -1, -1]),
        "right": np.array([2, -1, -1]), "cut": np.array([0, -1, -1]), "table_at": np.array([-1, -1, -1]),
        "tables": np.zeros(3, np.uint8), "out": np.zeros((3, 2), np.int64),
    }  # fmt: skip


def test_rows_go_down_a_tree() -> None:
    """Each ends at its leaf."""
    arrays = small_descent()
    _packed.descend(PLAIN, 2, 0, 2, 1, 0, tuple(arrays.values()))
    assert arrays["out"].tolist() == [[0, 0], [1, 0], [0, 1]]


@pytest.mark.parametrize(
    "change",
    [
        {"parent": np.array([1, 0, 0])},
        {"attribute": np.array([1, -1, -1])},
        {"left": np.array([0, -1, -1])},
        {"right": np.array([3, -1, -1])},
        {"cut": np.array([2, -1, -1])},
        {"table_at": np.array([1, -1, -1])},
        {"table_at": np.array([2**63 - 1, -1, -1])},
        {"out": np.zeros((2, 2), np.int64)},
    ],
)
def test_a_descent_refuses_trees_that_do_not_fit(change: dict[str, Any]) -> None:
    """Trees that lead out of their arrays are errors, never reads out of bounds."""
    with pytest.raises((ValueError, TypeError, BufferError)):
        _packed.descend(PLAIN, 2, 0, 2, 1, 0, tuple((small_descent() | change).values()))


def test_codes_and_cells_beyond_theirs_are_nobody() -> None:
    """A code above that of missing values, in a field with room for it, or a cell that there is not: not counted."""
    few = {"size": np.array([40]), "width": np.array([16]), "scores": np.arange(40.0), "start": np.array([0]),
           "rows": np.array([60_000 << 1, 0], np.uint64), "attribute": np.array([-1])}  # fmt: skip
    arrays = small_visit() | few
    _packed.visit(PLAIN, 2, 0, 1, 1, tuple(arrays.values()))
    assert arrays["observed"].tolist()[0] == [1, 0]
    descent = small_descent() | {"shift": np.array([2]), "rows": np.array([3, 3 | 1 << 2], np.uint64)}
    descent["out"] = np.zeros((3, 3), np.int64)
    _packed.descend((1, 2, -1, 63), 3, 0, 2, 1, 0, tuple(descent.values()))
    assert descent["out"].sum() == 0


def small_descent_of_amounts() -> dict[str, Any]:
    """Arguments of `descend_amounts` for the amounts 5 and -3, and a tree with two leaves."""
    arrays = small_descent() | {"shift": np.array([5]), "rows": np.array([0, 5, 32, 2**32 - 3], np.uint64)}
    del arrays["out"]
    return arrays | {
        "kept_at": np.array([0, 0, 1]), "out": np.zeros((3, 4), np.int64), "used": np.zeros(3, np.int64),
        "kept": np.zeros(2, np.uint32),
    }  # fmt: skip


def test_amounts_go_down_a_tree() -> None:
    """Each ends at its leaf, which knows its row."""
    arrays = small_descent_of_amounts()
    _packed.descend_amounts(AMOUNTS_SHAPE, 0, 3, 1, 1, tuple(arrays.values()))
    assert arrays["out"].tolist() == [[0, 0, 0, 0], [1, 5, 0, 25], [1, -3, 0, 9]]
    assert (arrays["used"].tolist(), arrays["kept"].tolist()) == ([0, 1, 1], [0, 1])


@pytest.mark.parametrize(
    ("first", "last", "keep", "change"),
    [
        (1, 3, 1, {}),
        (0, 2, 1, {}),
        (0, 4, 1, {}),
        (0, 3, -1, {}),
        (0, 3, 2, {}),
        (0, 3, 1, {"kept_at": np.array([0, 0, 2])}),
        (0, 3, 1, {"kept_at": np.array([0, -1, 1])}),
        (0, 3, 1, {"used": np.zeros(2, np.int64)}),
        (0, 3, 1, {"out": np.zeros((3, 3), np.int64)}),
        (0, 3, 1, {"left": np.array([0, -1, -1])}),
        (0, 3, 1, {"cut": np.array([2, -1, -1])}),
        (0, 3, 1, {"word": np.array([1])}),
    ],
)
def test_a_descent_of_amounts_refuses_what_does_not_fit(
    first: int, last: int, keep: int, change: dict[str, Any]
) -> None:
    """Whole trees, and room for the rows that are kept of every leaf."""
    with pytest.raises(ValueError, match="do not fit"):
        _packed.descend_amounts(
            AMOUNTS_SHAPE, first, last, 1, keep, tuple((small_descent_of_amounts() | change).values())
        )
