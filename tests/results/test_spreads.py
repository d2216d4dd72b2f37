"""Quantiles of amounts inside and outside a group."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ald
from ald.results.spreads import SHARES, Spread


def pay(n: int = 2000) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], n)
    return {"sex": sex, "pay": np.round(rng.gamma(2, 500, n) + 300 * (sex == "m")), "w": rng.integers(1, 4, n) / 2}


def test_quantiles_are_those_of_numpy() -> None:
    """Of the half that tested: the least amounts that as many people do not exceed, inside and outside."""
    people, half = pay(), np.tile([0, 1], 1000)
    audit = ald.audit(people | {"half": half}, outcome="pay", split="half", exclude="w")
    (spread,) = audit.details.spreads
    inside = audit.groups[0].criterion.mask(people)
    for side, found in ((inside, spread.inside), (~inside, spread.outside)):
        amounts = people["pay"][side & (half == 1)]
        assert found == pytest.approx(np.quantile(amounts, SHARES, method="inverted_cdf"))


def test_weights_count() -> None:
    """In surveys people count by their weights, as if there were as many of them."""
    people, half = pay(), np.tile([0, 1], 1000)
    audit = ald.audit(people | {"half": half}, outcome="pay", split="half", weights=ald.SurveyWeights("w"))
    (spread,) = audit.details.spreads
    inside = audit.groups[0].criterion.mask(people) & (half == 1)
    repeated = np.repeat(people["pay"][inside], (2 * people["w"][inside]).astype(int))
    assert spread.inside == pytest.approx(np.quantile(repeated, SHARES, method="inverted_cdf"))


def test_plain_data_and_back() -> None:
    """Spreads are in documents of amounts, and only there."""
    spread = Spread(inside=(1.0, 2.0, 3.0, 4.0, 5.0), outside=())
    assert Spread.from_dict(spread.to_dict()) == spread
    yes_no = ald.audit(ald.datasets.load_berkeley(), outcome="admitted", favourable="yes", split="random")
    assert "spreads" not in yes_no.to_dict()["details"]
