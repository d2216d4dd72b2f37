"""CHAID against an independent computation with SciPy's chi2 tests, and Kass's multipliers against counting."""

from __future__ import annotations

from itertools import pairwise, product
from math import exp, log

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from ald.baselines.chaid import log_ways, merge_levels, search
from ald.baselines.interface import Search
from ald.groups.rules import decode
from ald.notions import FNR, FPR, RateCounter
from tests.coded import PARITY, coded


def independent(table: np.ndarray, ordered: bool, alpha: float = 0.05) -> tuple[list[set[int]], float]:
    """Kass's merging step, written plainly: the p-value is that of SciPy, times the number of ways to merge."""
    groups = [{i} for i in range(len(table)) if table[i].sum()]
    n = len(groups)

    def p(rows: list[set[int]]) -> float:
        counts = np.array([table[sorted(row)].sum(axis=0) for row in rows])
        kept = counts[:, counts.sum(axis=0) > 0]
        return 1.0 if kept.shape[1] < 2 else float(chi2_contingency(kept, correction=False).pvalue)

    while len(groups) > 1:
        pairs = list(pairwise(range(len(groups)))) if ordered else [
            (i, j) for i in range(len(groups)) for j in range(i + 1, len(groups))
        ]  # fmt: skip
        values = [p([groups[i], groups[j]]) for i, j in pairs]
        best = int(np.argmax(values))
        if values[best] <= alpha:
            break
        i, j = pairs[best]
        groups[i] |= groups.pop(j)
    whole = p(groups) if len(groups) > 1 else 1.0
    return groups, min(1.0, whole * ways(n, len(groups), ordered))


def ways(n: int, k: int, ordered: bool) -> int:
    """The number of ways to put n levels into k groups, counted one by one."""
    labels = product(range(k), repeat=n)
    if ordered:
        return sum(all(0 <= b - a <= 1 for a, b in pairwise(label)) and label[0] == 0 and label[-1] == k - 1
                   for label in labels)  # fmt: skip
    return len({frozenset(frozenset(i for i in range(n) if label[i] == g) for g in range(k))
                for label in labels if len(set(label)) == k})  # fmt: skip


@pytest.mark.parametrize("ordered", [True, False])
def test_merging_agrees_with_scipy(ordered: bool) -> None:
    """On 60 random tables the merged levels and the corrected p-value are those of an independent computation."""
    rng = np.random.default_rng(1)
    split = 0
    for _ in range(60):
        levels = int(rng.integers(2, 7))
        rates = rng.choice([0.3, 0.4, 0.55], levels)
        n = rng.integers(30, 120, levels)
        hits = rng.binomial(n, rates)
        table = np.stack([n - hits, hits], axis=1)
        groups, p = independent(table, ordered)
        merged = merge_levels(table, ordered, PARITY)
        assert [set(group) for group in merged.groups] == groups
        assert exp(merged.log_p) == pytest.approx(p, rel=1e-6)
        split += len(groups) > 1
    assert 20 < split < 60


@pytest.mark.parametrize("ordered", [True, False])
def test_multipliers_count_the_ways(ordered: bool) -> None:
    """Kass's multiplier is the number of ways to merge, up to six levels."""
    for n in range(1, 7):
        for k in range(1, n + 1):
            assert exp(log_ways(n, k, ordered=ordered)) == pytest.approx(ways(n, k, ordered))


def test_multiplier_of_very_many_levels() -> None:
    """With a thousand levels the multiplier is larger than any float, and its logarithm is right."""
    assert log_ways(2000, 2, ordered=False) == pytest.approx(1999 * log(2))


def test_a_node_has_a_child_per_merged_level() -> None:
    """An attribute whose three levels differ splits a node in three."""
    rng = np.random.default_rng(2)
    job = rng.choice(["a", "b", "c", "d"], 4000)
    y = rng.random(4000) < np.select([job == "a", job == "b"], [0.2, 0.5], 0.8)
    data = coded({"job": job, "y": y.astype(int)})
    found = search(Search(data=data, rates=PARITY))
    assert {str(decode(c, data.attributes)) for c in found.criteria} == {"job = a", "job = b", "job in {c, d}"}


def test_numbers_in_order() -> None:
    """Numbers are rounded and merged with neighbours only: every leaf is an interval."""
    rng = np.random.default_rng(3)
    age = rng.uniform(18, 80, 6000)
    y = rng.random(6000) < np.where((age > 40.5) & (age <= 60.5), 0.7, 0.3)
    data = coded({"age": age, "y": y.astype(int)})
    found = search(Search(data=data, rates=PARITY))
    leaves = sorted(condition for (condition,) in found.criteria)
    assert not any(leaf.levels for leaf in leaves)
    assert [leaf.low for leaf in leaves[1:]] == [leaf.high for leaf in leaves[:-1]]
    ends = data.attributes[0].values[[leaf.high - 1 for leaf in leaves]]
    assert all(np.abs(ends - end).min() < 0.1 for end in (40.5, 60.5))


def test_small_levels_join() -> None:
    """A level with too few people is merged even if it differs."""
    table = np.array([[100, 100], [100, 20], [0, 5]])
    assert merge_levels(table, False, PARITY, least=7).groups == ((0, 2), (1,))


def test_several_rates() -> None:
    """Opposite differences of two error rates add up instead of cancelling."""
    table = np.array([[80, 20, 20, 80], [60, 40, 10, 90]])
    both = merge_levels(table, False, RateCounter([FPR, FNR], 4))
    assert len(both.groups) == 2
    p = [chi2_contingency(table[:, part], correction=False).statistic for part in ([0, 1], [2, 3])]
    from scipy.stats import chi2

    assert exp(both.log_p) == pytest.approx(chi2.sf(sum(p), 2))
