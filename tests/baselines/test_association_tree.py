"""FairTest's guided tree: contexts in which a named attribute goes with the outcome."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

from ald.baselines.association_tree import DEPTH, LEAF, guided_tree, normalised_mutual_information
from ald.baselines.association_tree import search as search_contexts
from ald.baselines.interface import Search
from ald.groups.membership import member_mask
from ald.groups.rules import decode
from tests.coded import PARITY, coded


def test_normalised_mutual_information() -> None:
    """It is scikit-learn's mutual information over the smaller entropy; 0 where one side does not vary."""
    table = np.array([[30.0, 10.0], [12.0, 28.0], [5.0, 15.0]])
    rows, columns = np.indices(table.shape)
    x, y = (np.repeat(index.ravel(), table.ravel().astype(int)) for index in (rows, columns))
    entropies = [mutual_info_score(side, side) for side in (x, y)]
    assert normalised_mutual_information(table) == pytest.approx(mutual_info_score(x, y) / min(entropies))
    assert normalised_mutual_information(np.array([[5.0, 5.0], [0.0, 0.0]])) == 0.0


def context_data() -> dict[str, np.ndarray]:
    """Sex matters in one department only, in the other direction than a little everywhere."""
    rng = np.random.default_rng(0)
    n = 8000
    sex, department = rng.choice(["f", "m"], n), rng.choice(["A", "B", "C"], n)
    age = rng.integers(18, 70, n)
    rate = np.where(department == "B", np.where(sex == "f", 0.2, 0.7), 0.5)
    return {"sex": sex, "department": department, "age": age, "y": (rng.random(n) < rate).astype(int)}


def test_the_context_is_found() -> None:
    """The context with the strongest association comes first, with the named attribute's level in it."""
    data = coded(context_data())
    found = search_contexts(Search(data=data, rates=PARITY, given="sex"))
    first = [str(decode(criterion, data.attributes)) for criterion in found.criteria[:3]]
    assert first
    assert all("department = B" in words and "sex = " in words for words in first)


def test_contexts_have_their_limits() -> None:
    """Contexts have at least 100 people, at most five conditions, and none on the named attribute."""
    data = coded(context_data())
    contexts = guided_tree(data, PARITY, 0)
    assert len(contexts) > 5
    for context in contexts:
        assert data.counts[context.rows].sum() >= LEAF
        assert len(context.conditions) <= DEPTH
        assert all(condition.attribute != 0 for condition in context.conditions)
        assert np.array_equal(np.flatnonzero(member_mask(context.conditions, data)), np.sort(context.rows))
