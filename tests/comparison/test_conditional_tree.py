"""The conditional tree for any response: the engine's own tree where that applies, and permutation tests elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from ald.comparison.conditional_tree import CellResponse, associate, best_split, grow_tree
from ald.notions import FNR, FPR, SELECTION, RateCounter
from ald.search.forest.counting import MemoryCounter
from ald.search.forest.growth import grow
from ald.search.forest.histograms import HistogramSplitter
from ald.search.forest.rules import GrowthRules
from tests.coded import coded
from tests.golden_data import case_data, cases, document, is_numeric, number
from tests.tables import decisions, people


def outcomes(rates: RateCounter, n_cells: int) -> CellResponse:
    """The response "is a hit" of every rate, among those who count for it."""
    one = np.eye(n_cells, dtype=np.int64)
    return CellResponse(base=rates.base(one) > 0, value=rates.hit(one).astype(float))


@pytest.mark.parametrize("bonferroni", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_the_same_tree_as_the_engine(seed: int, bonferroni: bool) -> None:
    """For yes/no outcomes the tree is the one that the forest's engine grows, written independently."""
    data = coded(people(1500, seed))
    rates = RateCounter([SELECTION], 2)
    rules = GrowthRules(alpha=0.3, bonferroni=bonferroni, attributes_per_node=len(data.attributes))
    ours = grow_tree(data, outcomes(rates, 2), rules)
    theirs = grow(HistogramSplitter(MemoryCounter(data, [data.counts])), data.attributes, data.scores(), rates, rules,
                  [np.random.default_rng(0)])  # fmt: skip
    assert ours.n_nodes > 3
    assert same(ours.to_dict(), theirs.to_dict())


def same(ours: dict, theirs: dict) -> bool:
    """Equal structure, and numbers equal up to rounding."""
    exact = ("tree", "node", "parent", "left", "right", "counts", "attribute", "cut", "sides")
    return all(ours[key] == theirs[key] for key in exact) and all(
        a == b or a == pytest.approx(b, rel=1e-8)
        for key in ("statistic", "log_p")
        for a, b in zip(ours[key], theirs[key], strict=True)
    )


def test_several_rates_as_the_engine() -> None:
    """With several rates on different people statistics and degrees of freedom add up, as in the engine."""
    columns = decisions(2000)
    data = coded(columns, prediction="predicted", truth="true")
    rates = RateCounter([FPR, FNR], 4)
    rules = GrowthRules(alpha=0.5, attributes_per_node=len(data.attributes))
    ours = grow_tree(data, outcomes(rates, 4), rules).to_dict()
    theirs = grow(HistogramSplitter(MemoryCounter(data, [data.counts])), data.attributes, data.scores(), rates, rules,
                  [np.random.default_rng(0)]).to_dict()  # fmt: skip
    assert same(ours, theirs)


def test_tests_agree_with_the_reference_software() -> None:
    """Statistics, degrees of freedom and log p of the root are those of the reference software."""
    checked = 0
    for entry in cases():
        case = document(entry["json"])
        if "conditioning" in entry["tags"] or is_numeric(case):
            continue
        data, known = case_data(case)
        response = outcomes(RateCounter([SELECTION], 2), 2)
        kept = data.with_counts(known)
        for a, (attribute, score) in enumerate(zip(kept.attributes, kept.scores(), strict=True)):
            expected = case["root_tests"].get(attribute.name)
            if not expected or not expected["testable"]:
                continue
            keys = kept.codes[a].astype(int) * 2 + kept.cells
            table = np.bincount(keys, minlength=(attribute.size + 1) * 2).reshape(-1, 2)[:-1]
            test = associate(table, None if attribute.is_nominal else score, response)
            if number(expected["statistic"]) < 1e-9:
                continue
            assert test.df == expected["df"]
            assert test.statistic == pytest.approx(number(expected["statistic"]), rel=1e-6)
            checked += 1
    assert checked > 50


DIFFERENCE = CellResponse(base=np.ones((1, 3), dtype=bool), value=np.array([[-1.0, 0.0, 1.0]]))


def test_three_valued_response_against_permutations() -> None:
    """For a response of -1, 0 and 1 the asymptotic p-value is that of random permutations."""
    rng = np.random.default_rng(5)
    x, d = rng.integers(4, size=300), rng.choice(3, 300, p=[0.2, 0.5, 0.3])
    d = np.where((x == 2) & (rng.random(300) < 0.25), 2, d)
    for scores in (None, np.arange(4.0)):
        test = associate(np.histogram2d(x, d, bins=(range(5), range(4)))[0].astype(int), scores, DIFFERENCE)
        permuted = np.array([
            associate(np.histogram2d(x, rng.permutation(d), bins=(range(5), range(4)))[0].astype(int), scores,
                      DIFFERENCE).statistic
            for _ in range(1500)
        ])  # fmt: skip
        share = float((permuted >= test.statistic).mean())
        assert np.exp(test.log_p) == pytest.approx(share, abs=4 * np.sqrt(max(share, 0.01) / 1500))


def test_best_split_is_the_largest_difference() -> None:
    """The split is the one of all partitions with the largest squared difference of means, standardised."""
    rng = np.random.default_rng(6)
    table = rng.integers(5, 40, size=(5, 3))
    statistic, left = best_split(table, False, DIFFERENCE, 1)  # type: ignore[misc]
    values = np.repeat(np.tile([-1.0, 0.0, 1.0], 5), table.ravel())
    level = np.repeat(np.repeat(np.arange(5), 3), table.ravel())
    best = 0.0
    for bits in range(1, 2**5 - 1):
        inside = ((bits >> level) & 1).astype(bool)
        n, k = len(values), inside.sum()
        spread = values.var() * k * (n - k) / (n - 1)
        best = max(best, (values[inside].sum() - k * values.mean()) ** 2 / spread)
    assert statistic == pytest.approx(best)
    assert 0 < left.sum() < 5


def test_many_levels_are_ordered_by_mean() -> None:
    """With many levels the best partition is found along the order of their means."""
    table = np.random.default_rng(7).integers(5, 40, size=(12, 3))
    found = best_split(table, False, DIFFERENCE, 1)
    assert found is not None
    n, sums = table.sum(axis=1), table @ [-1.0, 0.0, 1.0]
    mean, square = sums.sum() / n.sum(), (table @ [1.0, 0.0, 1.0]).sum() / n.sum()
    inside = ((np.arange(1, 2**12 - 1)[:, None] >> np.arange(12)) & 1).astype(bool)
    k, s = inside @ n, inside @ sums
    best = ((s - k * mean) ** 2 / ((square - mean**2) * k * (n.sum() - k) / (n.sum() - 1))).max()
    assert found[0] == pytest.approx(best)


def test_nothing_to_split() -> None:
    """One level, or a constant response, is not testable and cannot be split."""
    assert associate(np.array([[3, 4, 5]]), None, DIFFERENCE).df == 0
    assert associate(np.array([[3, 0, 0], [5, 0, 0]]), None, DIFFERENCE).df == 0
    assert best_split(np.array([[9, 1, 1], [1, 1, 9]]), True, DIFFERENCE, 50) is None
