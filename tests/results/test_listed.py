"""What reports show of listed groups."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ald.options import AuditConfig
from ald.results.details import PeopleInMemory
from ald.results.listed import listed_details, listed_subjects, listed_trees
from tests.coded import coded
from tests.halvings import one_halving
from tests.tables import people


def halving(**options: Any) -> tuple[Any, AuditConfig, list[PeopleInMemory]]:
    """One halving, its settings, and D2 per question."""
    config = AuditConfig(**{"notion": "statistical parity", "outcome": "y", "trees": 3} | options)
    split = one_halving(coded(people(2000)), config)
    return split, config, [PeopleInMemory(answer.d2) for answer in split.answers]


@pytest.mark.parametrize("explore", [True, False])
def test_subjects_are_the_listed_groups(explore: bool) -> None:
    """In the order of the list; when exploring, each with the groups that were tested before it."""
    split, config, seen = halving(explore=explore)
    subjects = listed_subjects(split, config, seen)
    assert len(subjects) > 0
    assert [subject.criterion for subject in subjects] == [split.criteria[i] for i in split.chosen]
    for i, subject in zip(split.chosen.tolist(), subjects, strict=True):
        assert subject.before == (tuple(split.criteria[:i]) if explore else ())
        assert subject.outcome is None


def test_trees_are_those_that_proposed_listed_groups() -> None:
    """Every tree once, and its root has all of D2."""
    split, _, seen = halving(explore=False)
    trees = listed_trees(split, seen)
    proposed = split.answers[0].proposed
    assert [tree.tree for tree in trees] == sorted({proposed.tree[i] for i in split.chosen.tolist()})
    assert trees
    assert all(tree.counts[0] == tuple(split.d2.cell_counts().tolist()) for tree in trees)


def test_details_have_trees_and_curves() -> None:
    """Curves of all attributes that listed groups use, and the trees."""
    split, config, seen = halving()
    found = listed_details(split, config, seen)
    used = {split.d2.attributes[c.attribute].name for i in split.chosen for c in split.criteria[i]}
    assert {curve.attribute for curve in found.curves} == used
    assert np.array([sum(bin_.counts) for bin_ in found.curves[0].bins]).sum() == split.d2.total
    assert found.trees == listed_trees(split, seen)
