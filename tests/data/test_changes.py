"""Where the outcome changes along a number."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ald._core.arrays import IntArray
from ald.data.changes import CHANGE, class_edges, finer_edges
from ald.data.coded import quantile_edges


def edges_of(outcome: IntArray, classes: int) -> list[int]:
    """The classes of people in the order of a number, with these outcomes."""
    table = np.eye(int(outcome.max()) + 1)[outcome]
    return class_edges(table, np.ones(len(outcome), np.int64), classes).tolist()


def drawn(shares: list[tuple[int, float]], seed: int = 0) -> IntArray:
    """So many people each, with these chances of a good outcome."""
    rng = np.random.default_rng(seed)
    return np.concatenate([(rng.random(n) < share).astype(np.int64) for n, share in shares])


@given(st.integers(0, 10_000), st.integers(4, 30))
def test_classes_cover_everyone(seed: int, classes: int) -> None:
    """Classes are in order and at most so many, and in each of them is someone."""
    rng = np.random.default_rng(seed)
    table = rng.poisson(rng.uniform(0, 3, (60, 1)) * rng.dirichlet([1, 1, 1], 60))
    people = table.sum(axis=1)
    edges = class_edges(table.astype(float), people, classes)
    assert (edges[0], edges[-1]) == (0, 60)
    assert len(edges) - 1 <= classes
    assert all(people[start:end].sum() > 0 for start, end in pairwise(edges.tolist()))


def test_without_changes_classes_are_quantiles() -> None:
    """Where the outcome does not depend on the number, classes have equal numbers of people."""
    outcome = np.arange(1000) % 2
    assert edges_of(outcome, 7) == quantile_edges(np.ones(1000, np.int64), 7).tolist()


@pytest.mark.parametrize("at", [37, 250, 381, 960])
def test_a_jump_is_the_end_of_a_class(at: int) -> None:
    """A certain jump is found to the person, also close to the end, and within what would be a quantile."""
    assert at in edges_of((np.arange(1000) >= at).astype(np.int64), 5)


def test_a_band_has_both_its_ends() -> None:
    """Outcomes that differ in a narrow band only are told from those below and above it."""
    edges = edges_of(drawn([(700, 0.2), (60, 0.9), (1240, 0.2)]), 8)
    for at in (700, 760):
        assert min(abs(edge - at) for edge in edges) <= 5


def test_more_changes_than_classes() -> None:
    """Of more jumps than there are classes the larger ones count."""
    outcome = drawn([(300, 0.05), (300, 0.2), (300, 0.05), (300, 0.2), (300, 0.95), (300, 0.8)])
    edges = edges_of(outcome, 2)
    assert len(edges) == 3
    assert abs(edges[1] - 1200) <= 5


def test_changes_are_the_most_likely_ones() -> None:
    """Of all ways to cut a few values, the chosen one has the largest likelihood, at its price per cut."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        table = rng.binomial(40, rng.choice([0.2, 0.5, 0.8], 8))
        counts = np.stack([table, 40 - table], axis=1).astype(float)

        def value(starts: tuple[int, ...], counts: np.ndarray = counts) -> float:
            total = 0.0
            for start, end in pairwise((0, *starts, 8)):
                n = counts[start:end].sum(axis=0)
                with np.errstate(divide="ignore", invalid="ignore"):
                    total += float(np.nansum(n * np.log(n / n.sum())))
            return total - len(starts) * 10.827566 / 2  # chi2 on one df has this quantile at 0.001

        best = max((starts for k in range(8) for starts in combinations(range(1, 8), k)), key=value)
        found = set(class_edges(counts, counts.sum(axis=1).astype(np.int64), 7).tolist()[1:-1])
        assert set(best) <= found, seed
    assert CHANGE == 0.001


def test_a_class_is_cut_where_its_outcome_changes() -> None:
    """Twice as fine, classes are cut at what is left of a jump; without any outcome to go by, in the middle."""
    outcome = (np.arange(200) >= 130).astype(np.int64)
    assert finer_edges(np.eye(2)[outcome], np.array([0, 100, 200])).tolist() == [50, 130]


def test_a_class_of_one_value_stays_whole() -> None:
    """What has one value only cannot be cut."""
    table = np.array([[3.0, 3.0], [0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    assert finer_edges(table, np.array([0, 2, 4])).tolist() == [3]
