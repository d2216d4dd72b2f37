"""CART and random forests by scikit-learn: their leaves as criteria."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from ald.baselines.cart import DEPTH, LEAF, TREES, feature_columns, features, search_cart, search_random_forest
from ald.baselines.interface import Search
from ald.groups.membership import count_members, member_mask
from ald.notions import FNR, FPR, RateCounter
from tests.coded import PARITY, coded
from tests.tables import people


def test_leaves_are_those_of_scikit_learn() -> None:
    """Every leaf's criterion holds exactly the people whom scikit-learn sends there."""
    data = coded(people(3000))
    found = search_cart(Search(data=data, rates=PARITY, rng=np.random.default_rng(1)))
    x = features(data, feature_columns(data))
    state = int(np.random.default_rng(1).integers(2**31))
    model = DecisionTreeClassifier(max_depth=DEPTH, min_samples_leaf=LEAF, random_state=state)
    rows = np.repeat(np.arange(len(data.cells)), data.counts)
    model.fit(x[rows], data.cells[rows])
    leaf = model.apply(x)
    theirs = {tuple(np.flatnonzero(leaf == node).tolist()) for node in np.unique(leaf)}
    ours = {tuple(np.flatnonzero(member_mask(criterion, data)).tolist()) for criterion in found.criteria}
    assert len(theirs) > 5
    assert ours == theirs


def test_limits() -> None:
    """No path is longer than the depth, and no leaf smaller than its least number of people."""
    data = coded(people(4000))
    found = search_cart(Search(data=data, rates=PARITY))
    assert count_members(found.criteria, data).sum(axis=1).min() >= LEAF
    assert found.forest is not None
    depth = np.zeros(found.forest.n_nodes, int)
    for i, parent in enumerate(found.forest.parent.tolist()):
        depth[i] = 0 if parent < 0 else depth[parent] + 1
    assert depth.max() <= DEPTH


def test_random_forest_has_its_trees() -> None:
    """The forest has 25 trees, each explaining all people of the data."""
    data = coded(people(2000))
    found = search_random_forest(Search(data=data, rates=PARITY))
    assert found.forest is not None
    assert len(found.forest) == TREES
    roots = found.forest.counts[found.forest.parent < 0].sum(axis=1)
    assert (roots == 2000).all()
    assert len(found.criteria) > TREES


def test_same_seed_same_trees() -> None:
    """The generator decides the trees."""
    data = coded(people(1000))
    one, two, other = (
        search_random_forest(Search(data=data, rates=PARITY, rng=np.random.default_rng(seed))) for seed in (1, 1, 2)
    )
    assert one.criteria == two.criteria != other.criteria


@pytest.mark.parametrize("levels", [3, 12])
def test_levels_of_a_side_are_those_left(levels: int) -> None:
    """After several splits on one attribute a leaf names only the levels that its path left."""
    rng = np.random.default_rng(0)
    job = rng.integers(levels, size=6000)
    y = rng.random(6000) < job / levels
    data = coded({"job": np.char.add("j", job.astype(str)), "y": y.astype(int)})
    found = search_cart(Search(data=data, rates=PARITY))
    named = [level for criterion in found.criteria for condition in criterion for level in condition.levels]
    assert sorted(named) == list(range(levels))


def test_error_indicator_for_several_rates() -> None:
    """With two error rates the trees explain whether the prediction was wrong."""
    rng = np.random.default_rng(1)
    group, truth = rng.choice(["a", "b"], 4000), rng.integers(2, size=4000)
    wrong = rng.random(4000) < np.where(group == "a", 0.4, 0.1)
    data = coded({"group": group, "prediction": np.where(wrong, 1 - truth, truth), "truth": truth})
    found = search_cart(Search(data=data, rates=RateCounter([FPR, FNR], 4)))
    assert len(found.criteria) == 2
