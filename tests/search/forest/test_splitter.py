"""What growing asks of a splitter, and what it gets."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ald.data.coded import Attribute
from ald.notions import FNR, FPR, SELECTION, RateCounter
from ald.search.forest.rules import GrowthRules
from ald.search.forest.splitter import Cuts, NodeTest

ATTRIBUTES = (
    Attribute(name="x", kind="numeric", values=np.array([1.0, 2.0, 5.0])),
    Attribute(name="g", kind="nominal", levels=("a", "b")),
)


def node_test(alpha: float = 0.1, effect: float = 1.0, rates: RateCounter | None = None) -> NodeTest:
    """A test of two attributes."""
    scores = [np.array([1.0, 2.0, 5.0]), np.zeros(2)]
    counted = rates or RateCounter([SELECTION], 2)
    return NodeTest.of(ATTRIBUTES, scores, counted, GrowthRules(alpha=alpha), 2, effect)


def test_attributes_are_in_one_table() -> None:
    """Sizes, kinds and scores of all attributes, one after the other."""
    test = node_test()
    assert (test.sizes.tolist(), test.nominal.tolist()) == ([3, 2], [False, True])
    assert (test.scores.tolist(), test.score_start.tolist()) == ([1.0, 2.0, 5.0, 0.0, 0.0], [0, 3])


@pytest.mark.parametrize("alpha", [0.001, 0.1, 0.9])
@pytest.mark.parametrize("effect", [1.0, 2.5])
def test_critical_statistics_are_just_not_significant(alpha: float, effect: float) -> None:
    """Per degrees of freedom SciPy's p-value of the statistic is alpha, or hardly more."""
    critical = node_test(alpha, effect).critical
    df = np.arange(1, len(critical))
    p = stats.chi2.sf(critical[1:] / effect, df)
    assert len(df) == 63
    assert (p > alpha).all()
    assert p == pytest.approx(alpha, rel=1e-3)


def test_several_rates_have_more_degrees_of_freedom() -> None:
    """The statistics of two rates add up, and so do their degrees of freedom."""
    both = RateCounter((FPR, FNR), 4)
    assert len(node_test(rates=both).critical) == 2 * 64


def test_nothing_is_known_to_be_insignificant_at_tiny_alpha() -> None:
    """Where alpha is smaller than any statistic is worth computing, everything is tested."""
    assert len(node_test(alpha=1e-200).critical) == 0


def test_counts_are_those_of_strata() -> None:
    """Counts in more cells than there are confusion cells are strata, one after the other."""
    assert node_test().in_strata(np.array([[1, 2, 3, 4]])).tolist() == [[[1, 2], [3, 4]]]


def test_cuts_are_put_in_the_order_of_their_requests() -> None:
    """With their people, and with the levels that belong to each."""
    first = Cuts(
        request=np.array([2, 5]), cut=np.array([-1, 3]), left=np.array([[2, 2], [5, 5]]),
        right=np.array([[20, 0], [50, 0]]), offsets=np.array([0, 2, 2]), codes=np.array([0, 4]),
        goes_left=np.array([True, False]),
    )  # fmt: skip
    second = Cuts(
        request=np.array([1, 4]), cut=np.array([7, -1]), left=np.array([[1, 1], [4, 4]]),
        right=np.array([[10, 0], [40, 0]]), offsets=np.array([0, 0, 3]), codes=np.array([1, 2, 3]),
        goes_left=np.array([True, True, False]),
    )  # fmt: skip
    both = Cuts.in_order([first, second])
    assert both.request.tolist() == [1, 2, 4, 5]
    assert both.cut.tolist() == [7, -1, -1, 3]
    assert both.left[:, 0].tolist() == [1, 2, 4, 5]
    assert both.right[:, 0].tolist() == [10, 20, 40, 50]
    assert both.offsets.tolist() == [0, 0, 2, 5, 5]
    assert both.codes.tolist() == [0, 4, 1, 2, 3]
    assert both.goes_left.tolist() == [True, False, True, True, False]


def test_no_cuts_are_none() -> None:
    """Nothing put in order is nothing."""
    assert Cuts.in_order([]).request.tolist() == Cuts.none().codes.tolist() == []
