"""Combinations that matter together are proposed although their parts show nothing."""

from __future__ import annotations

import numpy as np
import pytest

from ald.data.coarse import coarse_view
from ald.data.coded import AuditData
from ald.datasets import make_synthetic
from ald.groups.membership import Members
from ald.groups.rules import decode
from ald.search.explore import proposals as module
from ald.search.explore.proposals import affordable, combinations_beyond_parts, forest_nodes, not_screened
from ald.search.explore.scoring import Scorer
from tests.coded import PARITY, coded, forest_of


def proposals(data: AuditData, order: int) -> dict[str, float]:
    found = combinations_beyond_parts(Scorer(coarse_view(data), PARITY), order)
    return {str(decode(criterion, data.attributes)): log_p for criterion, log_p in found.items()}


@pytest.mark.parametrize("seed", range(5))
def test_crossings_of_pairs(seed: int) -> None:
    """The four crossings of an outcome that depends on two attributes together, and on neither alone, are proposed."""
    found = proposals(coded(make_synthetic(2, n=4000, rho=0.3, irrelevant=6, seed=seed)), 2)
    crossings = {f"gender = g{i} and race = r{j}" for i in (1, 2) for j in (1, 2)}
    assert crossings <= set(found)
    assert max(found[crossing] for crossing in crossings) < np.log(1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_crossings_of_triples(seed: int) -> None:
    """Crossings of an outcome that depends on the parity of three attributes are proposed by triples, not by pairs."""
    data = coded(make_synthetic(4, n=4000, rho=0.3, irrelevant=4, seed=seed))
    found = proposals(data, 3)
    crossings = {f"a = a{i} and b = b{j} and c = c{k}" for i in (0, 1) for j in (0, 1) for k in (0, 1)}
    assert len(crossings & set(found)) == 4
    assert min(found.values()) < np.log(1e-6)
    assert min(proposals(data, 2).values(), default=0.0) > np.log(1e-6)


def test_additive_effects_are_not_beyond_their_parts() -> None:
    """Two attributes that each matter by themselves show nothing together; the same two in opposite ways do."""
    rng = np.random.default_rng(3)
    a, b = rng.choice(["a0", "a1"], 8000), rng.choice(["b0", "b1"], 8000)
    chance = rng.random(8000)
    added = chance < 0.3 + 0.2 * (a == "a1") + 0.2 * (b == "b1")
    opposed = chance < 0.3 + 0.2 * ((a == "a1") == (b == "b1"))
    assert proposals(coded({"a": a, "b": b, "y": added.astype(int)}), 2) == {}
    assert proposals(coded({"a": a, "b": b, "y": opposed.astype(int)}), 2)


@pytest.mark.parametrize("order", [2, 3])
def test_noise_is_seldom_proposed(order: int) -> None:
    """Where nothing matters, no combination has evidence that stands the number of combinations, in five data sets."""
    rng = np.random.default_rng(7)
    found: list[float] = []
    for _ in range(5):
        columns = {f"x{i}": rng.choice(["p", "q", "r"], 3000) for i in range(6)}
        found += proposals(coded(columns | {"y": rng.integers(0, 2, 3000)}), order).values()
    assert found
    assert min(found) > np.log(1e-3)


def test_numbers_take_part_in_bins() -> None:
    """A pair of a number and a level that matter together only is proposed as an interval and that level."""
    rng = np.random.default_rng(1)
    x, g = rng.random(6000), rng.choice(["g0", "g1"], 6000)
    y = rng.random(6000) < np.where((x > 0.5) == (g == "g1"), 0.7, 0.3)
    assert any(key.startswith("g = ") and " and " in key and "x" in key
               for key in proposals(coded({"x": x, "g": g, "y": y.astype(int)}), 2))  # fmt: skip


def test_nodes_of_the_forest_are_proposed_best_first() -> None:
    """The forest's nodes, inner ones too, are proposed in the order of their value on all of D1."""
    data = coded(make_synthetic(5, n=4000, seed=0))
    scorer = Scorer(coarse_view(data), PARITY)
    paths = forest_of(data, PARITY).criteria([attribute.size for attribute in data.attributes])
    found = forest_nodes(Members(paths, data.attributes), scorer)
    values = scorer.values(found)
    assert () not in found
    assert set(found) <= set(paths)
    assert values.tolist() == sorted(values.tolist())
    assert values[0] == min(scorer.values([path for path in dict.fromkeys(paths) if path]))


def test_a_forest_of_roots_proposes_nothing() -> None:
    """Everyone is no group."""
    data = coded(make_synthetic(5, n=400, seed=0))
    assert forest_nodes(Members([(), ()], data.attributes), Scorer(coarse_view(data), PARITY)) == []


def _wide(attributes: int, people: int = 2000) -> AuditData:
    rng = np.random.default_rng(3)
    columns = {f"c{i}": rng.integers(0, 3, people) for i in range(attributes)}
    odd = (columns["c1"] == 1) & (columns["c2"] == 1)
    columns["y"] = (rng.random(people) < 0.2 + 0.4 * odd + 0.2 * (columns["c1"] == 2)).astype(int)
    return coded(columns)


def test_pairs_have_a_budget() -> None:
    """All pairs while rows times pairs stay in the budget; beyond it those of fewer attributes, of a hundred always."""
    assert affordable(500, 5_000) == 500
    n = affordable(2_000, 5_000)
    assert n * (n - 1) // 2 * 5_000 <= 1_000_000_000 < (n + 1) * n // 2 * 5_000
    assert affordable(100, 10**9) == affordable(5_000, 10**9) == 100
    assert not_screened(_wide(10)) == ""


def test_the_strongest_attributes_are_paired(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the budget the attributes that say most by themselves have all their pairs looked at, and it is said."""
    data = _wide(40)
    scorer = Scorer(coarse_view(data), PARITY)
    every = combinations_beyond_parts(scorer, 2)
    monkeypatch.setattr(module, "_WORK", {2: 10**9, 3: 0})
    assert not_screened(data).startswith("triples of attributes were not looked at")
    monkeypatch.setattr(module, "_WORK", {2: 10 * len(data.cells), 3: 0})
    monkeypatch.setattr(module, "_ALWAYS", 1)
    assert "pairs were looked at among 5 of 40 attributes only" in not_screened(data)
    screen = module._Screen(coarse_view(data, 6), scorer)
    kept = screen.strongest(list(range(40)), 5)
    alone, df = screen.chi2(np.arange(40)[:, None])
    assert set(df.ravel()) == {2}
    assert sorted(np.argsort(-alone[:, 0])[:5].tolist()) == kept
    few = combinations_beyond_parts(scorer, 2)
    assert every
    assert few
    assert {condition.attribute for criterion in few for condition in criterion} <= set(kept)


def test_tables_of_any_size_together() -> None:
    """Chi-squares of tables of different sizes are those of each table by itself."""
    rng = np.random.default_rng(0)
    sizes = [2, 5, 3, 9]
    data = coded({f"c{i}": rng.integers(0, n, 300) for i, n in enumerate(sizes)} | {"y": rng.integers(0, 2, 300)})
    screen = module._Screen(coarse_view(data, 6), Scorer(coarse_view(data), PARITY))
    pairs = [(0, 1), (0, 2), (1, 3), (2, 3), (0, 3)]
    together, df = screen.chi2(np.array(pairs))
    for i, pair in enumerate(pairs):
        alone, own = screen.chi2(np.array([pair]))
        assert (together[i], df[i]) == (alone[0], own[0])
