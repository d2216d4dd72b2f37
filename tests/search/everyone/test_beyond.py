"""Combinations beyond their main effects: against regressions written out, and where only main effects are there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from ald.data.coded import AuditData
from ald.datasets import make_synthetic
from ald.groups.rules import decode
from ald.notions import FNR, FPR, RateCounter
from ald.search.everyone.beyond import Beyond, Combinations, Together
from ald.search.everyone.descriptions import descriptions
from ald.search.everyone.layout import layout
from ald.search.everyone.shuffles import redrawn
from ald.search.explore.scoring import Aim
from tests.coded import PARITY, coded


def rounds(data: AuditData, rates: RateCounter = PARITY, aim: Aim | None = None, **options: float) -> list[Together]:
    return list(Combinations(data, rates, aim or Aim(), **options).rounds())  # type: ignore[arg-type]


def names(data: AuditData, found: list[Together]) -> list[set[str]]:
    return [{data.attributes[j].name for j in together.attributes} for together in found]


def dummies(*columns: np.ndarray) -> np.ndarray:
    return np.concatenate([np.eye(int(column.max()) + 1)[column] for column in columns], axis=1)


def score(effects: np.ndarray, member: np.ndarray, outcome: np.ndarray, chances: np.ndarray) -> float:
    """The score test of a group given effects, person by person."""
    left = member - effects @ np.linalg.lstsq(effects, member, rcond=None)[0]
    return float((left @ outcome) ** 2 / (left**2 * chances * (1 - chances)).sum())


@pytest.mark.parametrize("strata", [False, True])
def test_the_statistic_is_the_score_of_a_regression(strata: bool) -> None:
    """The best crossing's statistic is the largest score given levels and strata, with chances by the main effects."""
    rng = np.random.default_rng(3)
    n = 3000
    a = rng.integers(0, 3, n)
    b = (a + rng.integers(0, 3, n)) % 4
    s = rng.integers(0, 5, n) if strata else np.zeros(n, np.int64)
    chance = 0.2 + 0.1 * a + 0.05 * b + 0.04 * s - 0.2 * ((a == 1) & (b == 2))
    y = rng.random(n) < chance
    words = {"a": np.char.add("a", a.astype(str)), "b": np.char.add("b", b.astype(str)), "s": s.astype(str)}
    data = coded(words | {"y": y})
    rows = np.repeat(np.arange(len(data.cells)), data.counts)
    place = {attribute.name: j for j, attribute in enumerate(data.attributes)}
    columns = {name: data.codes[place[name]][rows].astype(np.int64) for name in place}
    a, b, y = columns["a"], columns["b"], (data.cells[rows] == 1).astype(float)
    given = data.codes[place["s"]].astype(np.int64) if strata else None
    kept = [place["a"], place["b"]]
    pair = replace(data, attributes=tuple(data.attributes[j] for j in kept), codes=tuple(data.codes[j] for j in kept))
    found = rounds(pair, aim=Aim(given=given), draws=19)[0]
    effects = dummies(a, b, columns["s"]) if strata else dummies(a, b)
    fitted = effects @ np.linalg.lstsq(effects, y, rcond=None)[0]
    every = [
        score(effects, ((a == i) & (b == j)).astype(float), y, np.clip(fitted, 0, 1))
        for i in range(3)
        for j in range(4)
        if np.count_nonzero((a == i) & (b == j)) >= 20
    ]
    assert np.isclose(found.statistic, max(every), rtol=1e-5)
    assert str(decode(found.criterion, pair.attributes)) == "a = a1 and b = b2"


def test_chances_are_those_of_main_effects() -> None:
    """Outcomes are drawn with the fitted values of a linear regression on all levels, between 0 and 1."""
    rng = np.random.default_rng(5)
    columns = {name: rng.choice(["x", "y", "z"], 800) for name in "abc"}
    y = rng.random(800) < np.where(columns["a"] == "x", 0.02, 0.5)
    data = coded(columns | {"y": y})
    people = layout(data, PARITY)
    found = Beyond(descriptions(data, 1), people).chances()
    effects = dummies(*(code[people.rows].astype(np.int64) for code in data.codes))
    fitted = effects @ np.linalg.lstsq(effects, people.outcome.astype(float), rcond=None)[0]
    assert np.allclose(found, np.clip(fitted, 0, 1), atol=1e-6)


def test_a_pair_and_a_triple_that_matter_together() -> None:
    """What no attribute, and no two of three, show alone is found; afterwards nothing is left."""
    data = coded(make_synthetic(2, n=3000, rho=0.2, irrelevant=3, seed=1))
    found = rounds(data)
    assert [together.listed for together in found] == [True, False]
    assert names(data, found)[0] == {"race", "gender"}
    data = coded(make_synthetic(4, n=3000, rho=0.3, seed=1))
    found = rounds(data)
    assert names(data, found[:1]) == [{"a", "b", "c"}]
    assert [together.listed for together in found][:1] == [True]


def test_only_main_effects_are_seldom_a_combination() -> None:
    """With correlated attributes and opposite main effects, p-values are as small as chance has it, no smaller."""
    seen = []
    for seed in range(120):
        rng = np.random.default_rng([seed, 9])
        hidden = rng.normal(size=600)
        a, b = ((hidden + rng.normal(size=600) > cut).astype(int) for cut in (0.0, 0.5))
        c = hidden + rng.normal(size=600)
        y = rng.random(600) < 0.5 + 0.2 * (a - 0.5) - 0.2 * (b - 0.5) + 0.1 * np.tanh(c)
        data = coded({"a": np.array(["n", "y"])[a], "b": np.array(["n", "y"])[b], "c": c, "y": y})
        seen.append(np.exp(rounds(data, seed=seed, draws=199)[0].log_p))
    for bound in (0.05, 0.2, 0.5):
        assert stats.binom.sf(sum(p <= bound for p in seen) - 1, len(seen), bound) > 0.001


def test_two_rates_are_weighed_together() -> None:
    """A combination of which the errors differ in opposite directions is found by the sum over both rates."""
    data = coded(make_synthetic(3, n=6000, rho=0.4, seed=2))
    found = rounds(data, RateCounter([FPR, FNR], 4))[0]
    assert found.listed
    assert (found.df, found.rates) == (2, (0, 1))
    assert names(data, [found]) == [{"a", "b"}]


def test_kernels_and_threads_give_the_same_values() -> None:
    """C and NumPy, one thread and three: the same bits, also within strata."""
    data = coded(make_synthetic(5, n=500, seed=3))
    people = layout(data, PARITY, (data.codes[0] % 3).astype(np.int64))
    found = []
    for kernel, threads in (("", 1), ("", 3), ("numpy", 1)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ALD_KERNEL", kernel)
            ready = Beyond(descriptions(data, 1), people, threads)
            found.append(ready.best(redrawn(people, ready.chances(), 1, 0, 0, 1))[0])
    assert np.isfinite(found[0]).all()
    for other in found[1:]:
        assert (other == found[0]).all()


def test_nothing_to_combine() -> None:
    """With a single attribute there are no combinations, and no round."""
    data = coded({"a": ["x", "y"] * 100, "y": [0, 1, 1, 0] * 50})
    assert rounds(data) == []
