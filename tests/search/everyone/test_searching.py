"""Everyone searched for one question: what shares the level, and when rounds end."""

from __future__ import annotations

import numpy as np
import pytest

from ald.datasets import make_synthetic
from ald.search.everyone.rounds import shuffles_for
from ald.search.everyone.searching import search_everyone
from tests.coded import PARITY, coded


def test_claims_and_questions_share_the_level() -> None:
    """Groups and combinations halve the level where attributes can be combined, and so do two questions."""
    pair = coded(make_synthetic(2, n=400, rho=0.3, seed=0))
    assert search_everyone(pair, PARITY).parts == 2
    assert search_everyone(pair, PARITY, questions=3).parts == 6
    single = coded({"a": ["x", "y"] * 100, "y": [0, 1, 1, 0] * 50})
    found = search_everyone(single, PARITY)
    assert (found.parts, found.together) == (1, ())


@pytest.mark.parametrize("level", [0.05, 0.025, 0.01])
def test_there_are_enough_shuffles_for_a_share_of_the_level(level: float) -> None:
    """Twenty shuffles may be as strong at least before a p-value is above the share."""
    n = shuffles_for(level)
    assert n >= 999
    assert 20 / (n + 1) <= level + 1e-12


def test_rounds_end_with_the_list() -> None:
    """After as many groups as were asked for no round is run; before, the last round is one that failed."""
    data = coded(make_synthetic(5, n=8000, seed=1))
    one = search_everyone(data, PARITY, groups=1)
    assert [taken.listed for taken in one.groups] == [True]
    assert not one.complete
    more = search_everyone(data, PARITY, groups=5)
    assert [taken.listed for taken in more.groups] == [True, True, False]
    assert more.complete
    assert more.groups[0].criterion == one.groups[0].criterion


def test_columns_that_give_the_outcome_away_are_left_out() -> None:
    """They are told by their numbers among all attributes, and what is searched has none of them."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    data = coded({"copy": np.where(y == 1, "yes", "no"), "a": rng.choice(["u", "v"], 600), "y": y})
    found = search_everyone(data, PARITY)
    assert [condition.attribute for (condition,) in found.giveaways] == [0]
    assert [attribute.name for attribute in found.data.attributes] == ["a"]
    alone = coded({"copy": np.where(y == 1, "yes", "no"), "y": y})
    nothing = search_everyone(alone, PARITY)
    assert (nothing.groups, nothing.together) == ((), ())
