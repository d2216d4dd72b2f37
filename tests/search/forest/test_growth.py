"""Growing the forest: when nodes split, who goes where, and what does not matter."""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ald.data.coded import AuditData
from ald.groups.membership import count_members, member_mask
from ald.groups.tree import Forest
from ald.notions import ERROR, NOTIONS, RateCounter
from ald.search.forest.counting import MemoryCounter
from ald.search.forest.growth import grow
from ald.search.forest.histograms import HistogramSplitter
from ald.search.forest.rules import SAMPLE_SHARE, GrowthRules
from tests.coded import PARITY, coded, forest_of

RULES = st.fixed_dictionaries(
    {
        "alpha": st.sampled_from([0.01, 0.1, 0.5, 1.0]),
        "minsplit": st.integers(2, 60),
        "minbucket": st.integers(1, 30),
        "minprob": st.sampled_from([0.0, 0.01, 0.2]),
    }
)


def random_data(seed: int, n: int = 400, missing: float = 0.0) -> AuditData:
    """Numbers, levels and ordered levels, all related to the outcome."""
    rng = np.random.default_rng(seed)
    x, g, o = rng.normal(size=n).round(2), rng.choice(list("abcde"), n), rng.choice(["1", "2", "3"], n)
    y = (rng.random(n) < 0.3 + 0.3 * (x > 0.5) + 0.2 * (g < "c") - 0.2 * (o == "2")).astype(int)
    x[rng.random(n) < missing] = np.nan
    return coded({"x": x, "g": g, "o": o, "z": rng.integers(0, 9, n), "y": y}, kinds={"o": ["1", "2", "3"]})


def whole_tree(data: AuditData, **rules: Any) -> Forest:
    """One tree on all of the data that considers all attributes in every node."""
    splitter = HistogramSplitter(MemoryCounter(data, [data.counts]))
    every = GrowthRules(**{"attributes_per_node": len(data.attributes)} | rules)
    return grow(splitter, data.attributes, data.scores(), PARITY, every, [np.random.default_rng(0)])


@settings(max_examples=25)
@given(st.integers(0, 10**6), RULES)
def test_rules_are_obeyed(seed: int, rules: dict[str, Any]) -> None:
    """Inner nodes have minsplit people and p below alpha; children have minbucket and minprob of their parent."""
    for nodes in forest_of(random_data(seed), PARITY, trees=3, **rules):
        for node in nodes:
            if not node.is_leaf:
                assert sum(node.counts) >= rules["minsplit"]
                assert node.log_p < np.log(rules["alpha"])
                least = max(rules["minbucket"], ceil(rules["minprob"] * sum(node.counts)))
                assert min(sum(nodes[side - 1].counts) for side in (node.left, node.right)) >= least


@pytest.mark.parametrize("rule", ["minsplit", "minbucket"])
def test_rules_bind_at_the_boundary(rule: str) -> None:
    """A node of exactly minsplit people splits, into sides of exactly minbucket; with one more asked, it does not."""
    n = {"minsplit": 20, "minbucket": 10}[rule]
    data = coded({"g": ["a"] * 10 + ["b"] * 10, "y": [0] * 10 + [1] * 10})
    free = {"minsplit": 2, "minbucket": 1, "minprob": 0.0}
    assert whole_tree(data, **free | {rule: n}).n_nodes == 3
    assert whole_tree(data, **free | {rule: n + 1}).n_nodes == 1


def test_minprob_counts_people_of_the_node() -> None:
    """The share that a side must have is one of the node's own people."""
    data = coded({"g": ["a"] * 10 + ["b"] * 90, "y": [0] * 10 + [1] * 90})
    assert whole_tree(data, minprob=0.10).n_nodes == 3
    assert whole_tree(data, minprob=0.11).n_nodes == 1
    one_more = coded({"g": ["a"] * 10 + ["b"] * 91, "y": [0] * 10 + [1] * 91})
    assert whole_tree(one_more, minprob=0.10).n_nodes == 1


def test_alpha_is_strict() -> None:
    """A node whose p equals alpha is a leaf; the next larger alpha splits it."""
    data = coded({"g": ["a"] * 40 + ["b"] * 40, "y": [0] * 22 + [1] * 18 + [0] * 16 + [1] * 24})
    log_p = whole_tree(data, alpha=1.0).log_p[0]
    alpha = float(np.exp(log_p))
    while np.log(alpha) > log_p:
        alpha = float(np.nextafter(alpha, 0))
    while np.log(np.nextafter(alpha, 1)) <= log_p:
        alpha = float(np.nextafter(alpha, 1))
    assert alpha == pytest.approx(0.18, abs=0.05)
    assert whole_tree(data, alpha=alpha).n_nodes == 1
    assert whole_tree(data, alpha=float(np.nextafter(alpha, 1))).n_nodes == 3


def test_alpha_one_needs_an_association() -> None:
    """Even with alpha = 1 a node with p = 1 is a leaf."""
    data = coded({"g": ["a"] * 40 + ["b"] * 40, "y": ([0] * 20 + [1] * 20) * 2})
    assert whole_tree(data, alpha=1.0).n_nodes == 1


@pytest.mark.parametrize("larger", ["low", "high"])
def test_missing_numbers_follow_the_larger_child(larger: str) -> None:
    """Rows without a number go where most rows with one go, and their criterion does not hold for them."""
    low, high = (60, 40) if larger == "low" else (40, 60)
    x = [1.0] * low + [2.0] * high + [np.nan] * 15
    data = coded({"x": x, "y": [0] * low + [1] * high + [0, 1, 1] * 5})
    root, left, right = whole_tree(data).nodes(0)
    assert sum(root.counts) == 115
    assert (sum(left.counts), sum(right.counts)) == ((75, 40) if larger == "low" else (40, 75))
    paths = whole_tree(data).criteria([attribute.size for attribute in data.attributes])
    assert [int(data.counts[member_mask(path, data)].sum()) for path in paths[1:]] == [low, high]


@settings(max_examples=15)
@given(st.integers(0, 10**6))
def test_missing_rows_are_never_lost(seed: int) -> None:
    """The children of every node add up to it, cell by cell, also with missing values."""
    for nodes in forest_of(random_data(seed, missing=0.3), PARITY, trees=3):
        for node in nodes:
            if not node.is_leaf:
                left, right = nodes[node.left - 1].counts, nodes[node.right - 1].counts
                assert tuple(a + b for a, b in zip(left, right, strict=True)) == node.counts


@given(st.integers(20, 2000))
def test_samples_are_632_per_mille(n: int) -> None:
    """Every tree sees about 0.632 N people, each tree others."""
    data = coded({"g": ["a", "b"] * n, "y": [0, 1, 1, 0] * (n // 2) + [0, 1] * (n % 2)})
    roots = [sum(nodes[0].counts) for nodes in forest_of(data, PARITY, trees=8)]
    assert len(set(roots)) > 1
    assert np.allclose(roots, 0.632 * data.total, atol=5 * np.sqrt(0.632 * 0.368 * data.total))


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.sampled_from([0.1, 1.0]))
def test_leaves_partition_the_sample(seed: int, alpha: float) -> None:
    """Everyone of a tree's sample satisfies the criterion of exactly one leaf, and the leaves' counts say so."""
    data = random_data(seed)
    forest = forest_of(data, PARITY, trees=3, seed=seed, alpha=alpha)
    paths = forest.criteria([attribute.size for attribute in data.attributes])
    for tree, child in enumerate(np.random.SeedSequence(seed).spawn(3)):
        sample = data.with_counts(data.sample(SAMPLE_SHARE, np.random.default_rng(child)))
        leaves = np.flatnonzero(forest.is_leaf & (forest.tree == tree))
        criteria = [paths[i] for i in leaves]
        assert (np.sum([member_mask(c, sample) for c in criteria], axis=0) == 1).all()
        assert count_members(criteria, sample).tolist() == forest.counts[leaves].tolist()


@pytest.mark.parametrize("kernel", ["c", "numpy"])
@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_threads_and_kernels(monkeypatch: pytest.MonkeyPatch, kernel: str, threads: int, missing: float) -> None:
    """The same forest for any number of threads and both kernels."""
    data = random_data(1, n=1500, missing=missing)
    expected = forest_of(data, PARITY).to_dict()
    monkeypatch.setattr("ald.search.forest.counting._WORTH_A_THREAD", 1)
    monkeypatch.setenv("ALD_KERNEL", kernel)
    assert forest_of(data, PARITY, threads=threads).to_dict() == expected
    assert len(expected["tree"]) > 8


def test_trees_have_their_own_generators() -> None:
    """The first trees of a larger forest are those of a smaller one."""
    data = random_data(3)
    few, many = forest_of(data, PARITY, trees=2), forest_of(data, PARITY, trees=5)
    assert [few.nodes(tree)[0].counts for tree in range(2)] == [many.nodes(tree)[0].counts for tree in range(2)]
    assert few.criteria([9] * 4) == many.criteria([9] * 4)[: few.n_nodes]


def test_opposite_errors_are_seen_by_the_notions_own_rates() -> None:
    """Trees for equalized odds split where errors differ in opposite directions; trees for the error rate do not."""
    group = np.repeat(["a", "b"], 200)
    truth = np.tile([0, 1], 200)
    wrong = np.concatenate([np.tile([1, 0, 1, 1], 50), np.tile([0, 1, 1, 1], 50)])
    data = coded({"group": group, "prediction": truth ^ wrong, "truth": truth})
    odds, error = (
        forest_of(data, RateCounter(rates, 4), trees=3) for rates in (NOTIONS["equalized odds"].rates, [ERROR])
    )
    assert (odds.attribute[odds.parent < 0] == 0).all()
    assert error.log_p[error.attribute >= 0].tolist() == []
