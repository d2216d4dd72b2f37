"""FlipTest's flip sets: matched people of two groups with other outcomes."""

from __future__ import annotations

import numpy as np
import pytest

import ald
from ald.baselines.fliptest import flip_sets
from ald.baselines.fliptest import search as search_flips
from ald.baselines.interface import Search
from ald.groups.rules import decode
from tests.coded import PARITY, coded


def flip_data(effect: float) -> dict[str, np.ndarray]:
    """Women have the outcome less often than men of the same experience."""
    rng = np.random.default_rng(1)
    n = 3000
    sex, experience = rng.choice(["f", "m"], n), rng.normal(size=n).round(1)
    rate = 1 / (1 + np.exp(-2 * experience)) - effect * (sex == "f")
    return {"sex": sex, "experience": experience, "y": (rng.random(n) < rate).astype(int)}


def test_flips_go_against_the_disadvantaged() -> None:
    """Of matched people, more women lack the outcome that their match has than the reverse, and they come first."""
    data = coded(flip_data(0.35))
    request = Search(data=data, rates=PARITY, given="sex")
    sets = flip_sets(data, request, 0, people=400)
    assert sets.matched == 400
    assert len(sets.disadvantaged) > 1.5 * len(sets.advantaged)
    assert (data.cells[sets.disadvantaged] == 0).all()
    assert (data.cells[sets.advantaged] == 1).all()
    found = search_flips(request)
    assert [str(decode(criterion, data.attributes)) for criterion in found.criteria] == ["sex = f", "sex = m"]
    assert found.score[0] == pytest.approx(-found.score[1])


def test_identical_people_match() -> None:
    """Where both groups are alike, matched people are equal in all other attributes."""
    experience = np.repeat(np.arange(20), 10)
    columns = {"sex": np.tile(["f", "m"], 100), "experience": experience, "y": experience % 2}
    data = coded(columns)
    sets = flip_sets(data, Search(data=data, rates=PARITY, given="sex"), 0, people=100)
    assert len(sets.advantaged) == len(sets.disadvantaged) == 0


def test_two_groups_are_needed() -> None:
    """FlipTest refuses an attribute that does not have two values."""
    data = coded({"department": ["A", "B", "C"] * 20, "y": [0, 1] * 30})
    with pytest.raises(ald.SettingError, match="compares two groups"):
        search_flips(Search(data=data, rates=PARITY, given="department"))
