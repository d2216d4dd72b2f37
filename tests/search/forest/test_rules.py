"""How few people a tree can be grown on."""

from __future__ import annotations

import pytest

from ald.search.forest.rules import SAMPLE_SHARE, GrowthRules, minimum_rows


@pytest.mark.parametrize("fraction", [0.1, 0.5, 0.77])
def test_the_fewest_rows(fraction: float) -> None:
    """With so many rows, and not with two fewer, a tree's sample of the searched share can be split."""
    rules = GrowthRules()
    n = minimum_rows(rules, fraction)
    assert int(SAMPLE_SHARE * int(fraction * n)) >= rules.minsplit
    assert int(SAMPLE_SHARE * int(fraction * (n - 2))) < rules.minsplit
