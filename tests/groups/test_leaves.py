"""Criteria of leaves: made when asked for, each once, and as simple as they say."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ald.groups.leaves import LeafCriteria, name_levels
from ald.groups.rules import complexity, simplicity
from ald.groups.tree import CodedCriterion, Forest, Sides
from ald.notions import SELECTION, RateCounter
from ald.search.forest.rules import GrowthRules
from ald.search.forest.sampling import grow_forest
from tests.search.forest.test_packed import random_data

Case = tuple[Forest, list[int], dict[int, list[int]]]


def grown(seed: int, trees: int = 8) -> tuple[Case, tuple[object, ...]]:
    """A forest on few people, so that its trees repeat each other, and the levels that occur."""
    data = random_data(seed, 60, 2, missing=bool(seed % 2))
    rngs = [np.random.default_rng(each) for each in range(trees)]
    forest = grow_forest(data, RateCounter((SELECTION,), 2), GrowthRules(alpha=0.9, minbucket=1), rngs)
    present = {
        a: sorted(set(code[code < attribute.size].tolist()))
        for a, (attribute, code) in enumerate(zip(data.attributes, data.codes, strict=True))
        if attribute.kind == "ordinal"
    }
    return (forest, [attribute.size for attribute in data.attributes], present), data.attributes


def distinct(forest: Forest, sizes: list[int], present: dict[int, list[int]]) -> dict[CodedCriterion, int]:
    """What is to come out: the first leaf with each criterion, by going through all of them."""
    paths = forest.criteria(sizes)
    found: dict[CodedCriterion, int] = {}
    for i in np.flatnonzero(forest.is_leaf).tolist():
        if paths[i]:
            found.setdefault(name_levels(paths[i], present), i)
    return found


@given(st.integers(0, 10**6))
def test_every_criterion_is_there_once(seed: int) -> None:
    """The first leaf of those that say the same, in the order of the forest; the root alone says nothing."""
    case, _ = grown(seed)
    criteria, expected = LeafCriteria.of(*case), distinct(*case)
    assert criteria.at.tolist() == list(expected.values())
    assert tuple(criteria) == tuple(expected)


@given(st.integers(0, 10**6))
def test_one_criterion_is_that_of_all(seed: int) -> None:
    """Asked for one by one, by a slice or all at once, criteria are the same."""
    case, _ = grown(seed)
    criteria = LeafCriteria.of(*case)
    everything = tuple(criteria)
    assert tuple(criteria[i] for i in range(len(criteria))) == everything
    assert criteria[:3] == everything[:3]
    assert criteria == everything


@given(st.integers(0, 10**6))
def test_the_order_is_known_without_the_criterion(seed: int) -> None:
    """The numbers of conditions and of words, and the first condition, are those that one finds in the criterion."""
    case, attributes = grown(seed)
    criteria = LeafCriteria.of(*case)
    expected = [[*complexity(one, attributes), *one[0][:3]] for one in criteria]  # type: ignore[arg-type]
    assert criteria.order.tolist() == expected
    assert simplicity(tuple(criteria), range(len(criteria)), attributes).tolist() == expected  # type: ignore[arg-type]


@given(
    st.dictionaries(
        st.integers(0, 50),
        st.sets(st.integers(0, 9), min_size=2).map(sorted).map(lambda s: (tuple(s[:1]), tuple(s[1:]))),
    )
)
def test_sides_are_a_mapping(sides: dict[int, tuple[tuple[int, ...], tuple[int, ...]]]) -> None:
    """Levels by node go into arrays and come back."""
    made = Sides.of(sides)
    assert dict(made) == sides == made.as_dict()
    assert list(made) == sorted(sides)
    assert all(made[node] == both for node, both in sides.items())
    assert 51 not in made


def test_sides_are_joined_under_other_numbers() -> None:
    """Two sets of sides become one, in the order of their new numbers."""
    first, second = Sides.of({0: ((1,), (2,)), 3: ((0,), (1, 2))}), Sides.of({1: ((0, 2), (1,))})
    joined = Sides.concatenate([first, second], [np.array([5, 9]), np.array([7])])
    assert joined.as_dict() == {5: ((1,), (2,)), 7: ((0, 2), (1,)), 9: ((0,), (1, 2))}


def test_sides_stay_with_their_nodes() -> None:
    """Of nodes with new numbers those that are left keep their levels."""
    sides = Sides.of({0: ((1,), (2,)), 3: ((0,), (1, 2)), 4: ((0, 2), (1,))})
    assert sides.moved(np.array([0, -1, -1, -1, 1])).as_dict() == {0: ((1,), (2,)), 1: ((0, 2), (1,))}
    assert sides.moved(np.full(5, -1)).as_dict() == {}


@given(st.integers(0, 50), st.sets(st.integers(0, 200)))
def test_trees_end_above_nodes_that_go(seed: int, chosen: set[int]) -> None:
    """Nodes below one that ends go, and the nearest one that is left stands for them."""
    (forest, _, _), _ = grown(seed, trees=3)
    small = np.isin(np.arange(forest.n_nodes), list(chosen)) & (forest.parent >= 0)
    left, nearest = forest.without(small)
    ends = set(forest.parent[small].tolist())
    gone = [False] * forest.n_nodes
    stands = list(range(forest.n_nodes))
    for i, parent in enumerate(forest.parent.tolist()):
        if parent >= 0 and (gone[parent] or parent in ends):
            gone[i], stands[i] = True, stands[parent]
    kept = [i for i in range(forest.n_nodes) if not gone[i]]
    assert left.counts.tolist() == forest.counts[kept].tolist()
    assert [kept[at] for at in nearest.tolist()] == stands
    for at, i in enumerate(kept):
        assert left.is_leaf[at] == (i in ends or forest.is_leaf[i])
        assert left.sides.get(at) == (None if i in ends else forest.sides.get(i))
