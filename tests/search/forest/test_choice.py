"""Which attribute a node splits by."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from ald._core.arrays import IntArray
from ald.search.forest.association import Association
from ald.search.forest.choice import LevelTests, are_significant, first_admissible, select_by_log_p
from ald.search.forest.rules import GrowthRules
from ald.search.forest.splitter import Cuts


def level_tests(
    log_p: Sequence[Sequence[float]], statistic: Sequence[Sequence[float]], alpha: float = 0.1
) -> LevelTests:
    """Tests of nodes (rows) and the attributes that they drew (columns)."""
    shape = np.shape(log_p)
    association = Association(
        statistic=np.ravel(statistic), df=np.ones(shape[0] * shape[1], np.int64), log_p=np.ravel(log_p)
    )
    nodes, drawn = np.arange(shape[0]) * 3, np.tile(np.arange(shape[1]), (shape[0], 1))
    return LevelTests.of(nodes, drawn, association, GrowthRules(alpha=alpha))


def cuts(requests: IntArray) -> Cuts:
    """Cuts of these requests, of people who do not matter."""
    n = len(requests)
    return Cuts(
        request=requests,
        cut=np.zeros(n, np.int64),
        left=np.ones((n, 2), np.int64),
        right=np.ones((n, 2), np.int64),
        offsets=np.zeros(n + 1, np.int64),
        codes=np.zeros(0, np.int64),
        goes_left=np.zeros(0, bool),
    )


def test_the_most_significant_attribute_comes_first() -> None:
    """Smallest p, then largest statistic, then first column; differences within the tolerance are none."""
    log_p = [[-5.0, -9.0, -7.0], [-5.0, -5.0 * (1 + 1e-12), -4.0], [-5.0, -5.0, -5.0]]
    statistic = [[1.0, 2.0, 3.0], [3.0, 2.0, 9.0], [1.0, 4.0, 4.0]]
    order = select_by_log_p(level_tests(log_p, statistic), 2)
    assert order.tolist() == [[1, 2], [3, 4], [7, 8]]


def test_only_significant_attributes_are_tried() -> None:
    """Those whose p-value is not below alpha are no choice, and a node without others has none."""
    order = select_by_log_p(level_tests([[-1.0, -3.0], [-1.0, -2.0]], [[9.0, 1.0], [9.0, 9.0]]), 2)
    assert order.tolist() == [[1, -1], [-1, -1]]


@pytest.mark.parametrize(("bonferroni", "expected"), [(False, [True, True, False]), (True, [True, False, False])])
def test_significance_counts_the_tests_of_a_node_if_asked_to(bonferroni: bool, expected: list[bool]) -> None:
    """With Bonferroni's correction a p-value must be below alpha even as the smallest of all in the node."""
    log_p = np.log([0.01, 0.05, 0.1])
    association = Association(statistic=np.ones(3), df=np.ones(3, np.int64), log_p=log_p)
    rules = GrowthRules(alpha=0.1, bonferroni=bonferroni)
    assert are_significant(association, np.array([0, 3]), rules).tolist() == expected


def test_the_next_attribute_is_tried_where_the_first_has_no_split() -> None:
    """Every node is cut by the first of its requests that can be; nodes stay in order, and some are not cut."""
    order = np.array([[1, 0], [2, 3], [5, -1]])
    asked = []

    def cut(requests: IntArray) -> Cuts:
        asked.append(requests.tolist())
        return cuts(requests[np.isin(requests, [0, 2, 3])])

    assert first_admissible(order, cut).request.tolist() == [0, 2]
    assert asked == [[1, 2, 5], [0]]


def test_no_request_no_cut() -> None:
    """Where no node has a significant attribute, nothing is asked and nothing is cut."""

    def cut(requests: IntArray) -> Cuts:
        raise AssertionError("nothing was to be cut")

    assert first_admissible(np.full((3, 2), -1), cut).request.tolist() == []


def test_splits_have_the_tests_that_chose_them() -> None:
    """Node, attribute, statistic and p-value of a cut are those of its request."""
    found = level_tests([[-5.0, -9.0], [-6.0, -4.0]], [[1.0, 2.0], [3.0, 4.0]]).split_by(cuts(np.array([1, 2])))
    assert (found.node.tolist(), found.attribute.tolist()) == ([0, 3], [1, 0])
    assert (found.statistic.tolist(), found.log_p.tolist()) == ([2.0, 3.0], [-9.0, -6.0])
