"""What an audit could have seen."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from statsmodels.stats.proportion import power_proportions_2indep

from ald.assess.power import detectable
from ald.notions import NOTIONS

PARITY = NOTIONS["statistical parity"]


@pytest.mark.parametrize("share", [0.05, 0.1, 0.25, 0.5])
def test_power_is_eighty_percent_at_the_detectable_disparity(share: float) -> None:
    """statsmodels' power for a group of that share and that disparity is about 0.8."""
    people = 20_000
    (entry,) = detectable(np.array([people // 2, people // 2]), PARITY, 0.05, 3, [share])
    assert entry.psi is not None
    outside = 0.5 - entry.psi * share
    power = power_proportions_2indep(
        entry.psi, outside, people * share, ratio=(1 - share) / share, alpha=0.05 / 3, return_results=False
    )
    assert power == pytest.approx(0.8, abs=0.01)


def test_smaller_groups_need_larger_disparities() -> None:
    """The detectable disparity falls with the share of people up to one half."""
    values = [entry.psi for entry in detectable(np.array([500, 500]), PARITY, 0.05, 1)]
    assert all(a is None or (b is not None and a > b) for a, b in pairwise(values))


def test_impossible_disparities_are_none() -> None:
    """Where no disparity that can exist would be found, there is no number."""
    (entry,) = detectable(np.array([60, 40]), PARITY, 0.05, 1, [0.01])
    assert entry.psi is None
