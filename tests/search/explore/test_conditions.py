"""The best condition on every attribute, against all conditions on its bins."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ald.data.coarse import coarse_view
from ald.data.coded import AuditData
from ald.notions import NOTIONS, RateCounter
from ald.search.explore.conditions import Best, Conditions
from ald.search.explore.scoring import Scorer
from tests.coded import PARITY, coded

ODDS = RateCounter(NOTIONS["equalized odds"].rates, 4)


def random_data(seed: int, *, levels: int, truth: bool, n: int = 600) -> AuditData:
    rng = np.random.default_rng(seed)
    g = rng.choice([f"l{i}" for i in range(levels)], n, p=rng.dirichlet(np.full(levels, 3.0)))
    x = rng.integers(0, 40, n)
    y = rng.random(n) < 0.4 + 0.3 * ((x > 10) & (x < 25)) * rng.random() + 0.2 * (g == "l0")
    columns = {"x": x, "g": g}
    if truth:
        return coded(columns | {"prediction": y.astype(int), "truth": rng.integers(0, 2, n)})
    return coded(columns | {"y": y.astype(int)})


def scorer_of(data: AuditData) -> Scorer:
    return Scorer(coarse_view(data, bins=10), PARITY if data.n_cells == 2 else ODDS)


def best_of(scorer: Scorer, attributes: list[int], tables: list[np.ndarray], alone: list[list[bool]]) -> Best:
    conditions = Conditions(scorer.prices, len(scorer.rates.rates))
    return conditions.best(scorer, scorer.comparison, attributes, tables, np.array(alone))


def choose(scorer: Scorer, j: int, *, alone: bool) -> tuple[Best, np.ndarray]:
    table = scorer.view.table(j)
    return best_of(scorer, [j], [table[None]], [[alone]]), table


def score(scorer: Scorer, inside: np.ndarray, price: float) -> tuple[float, float]:
    """The criterion that sets are chosen by (statistic less twice the price), and log p plus price."""
    statistic = float(scorer.statistic(inside[None])[0])
    value = float(scorer.log_p(np.asarray(statistic))) + price if statistic > 0 else np.inf
    return statistic - 2.0 * price, value


def level_sets(n: int) -> Iterator[np.ndarray]:
    for bits in product((False, True), repeat=n):
        if 0 < sum(bits) < n:
            yield np.array(bits)


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.booleans(), st.booleans())
def test_best_interval_is_that_of_brute_force(seed: int, truth: bool, alone: bool) -> None:
    """Among all bounds, and among all intervals, of the bins none is better; the better of both is taken."""
    scorer = scorer_of(random_data(seed, levels=3, truth=truth))
    choice, table = choose(scorer, 0, alone=alone)
    n, shares = scorer.view.columns[0].n, scorer.prices.root_people(0)
    best: dict[bool, tuple[float, float]] = {}
    for low in range(n):
        for high in range(low + 1, n + 1):
            if (low, high) != (0, n):
                two_sided = low > 0 and high < n
                share = np.array([shares[high] - shares[low]])
                price = float(scorer.prices.interval(0, share, two_sided=two_sided, alone=alone)[0])
                option = score(scorer, table[low:high].sum(axis=0), price)
                best[two_sided] = max(best.get(two_sided, option), option, key=lambda pair: pair[0])
    assert choice.value[0, 0] == pytest.approx(min(value for _, value in best.values()))


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.booleans(), st.booleans(), st.integers(2, 6))
def test_best_levels_of_few_are_those_of_brute_force(seed: int, truth: bool, alone: bool, levels: int) -> None:
    """Up to three levels, or six with several rates, no set of levels is better."""
    scorer = scorer_of(random_data(seed, levels=levels if truth else min(levels, 3), truth=truth))
    choice, table = choose(scorer, 1, alone=alone)
    n = scorer.view.columns[1].n
    options = [
        score(scorer, table[:n][members].sum(axis=0), float(scorer.prices.levels(1, members.sum(), alone=alone)))
        for members in level_sets(n)
    ]
    assert choice.value[0, 0] == pytest.approx(max(options, default=(0.0, np.inf), key=lambda pair: pair[0])[1])


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.booleans(), st.integers(4, 8))
def test_best_levels_of_many_are_heads_or_tails(seed: int, alone: bool, levels: int) -> None:
    """With one rate and more levels, no head or tail of their order by rate is better."""
    scorer = scorer_of(random_data(seed, levels=levels, truth=False))
    choice, table = choose(scorer, 1, alone=alone)
    n = scorer.view.columns[1].n
    order = np.argsort(table[:n, 1] / table[:n].sum(axis=1), kind="stable")
    heads = [np.isin(np.arange(n), order[:size]) for size in range(1, n)]
    options = [
        score(scorer, table[:n][members].sum(axis=0), float(scorer.prices.levels(1, members.sum(), alone=alone)))
        for members in heads + [~head for head in heads]
    ]
    assert choice.value[0, 0] == pytest.approx(max(options, key=lambda pair: pair[0])[1])


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.booleans())
def test_the_choice_names_what_its_value_is_of(seed: int, truth: bool) -> None:
    """The value of a choice is log p plus price of exactly the bins that it names."""
    scorer = scorer_of(random_data(seed, levels=5, truth=truth))
    for j in (0, 1):
        choice, table = choose(scorer, j, alone=True)
        if not np.isfinite(choice.value[0, 0]):
            continue
        condition = choice.condition(0, 0)
        if j == 0:
            low, high = (int(np.flatnonzero(scorer.view.columns[0].edges == end)[0]) for end in condition[1:3])
            inside = table[low:high].sum(axis=0)
        else:
            inside = table[np.isin(scorer.view.columns[1].levels, condition.levels).nonzero()].sum(axis=0)
        price = scorer.prices.condition(condition, alone=True)
        assert condition.attribute == j
        assert choice.value[0, 0] == pytest.approx(score(scorer, inside, price)[1])


@pytest.mark.parametrize("truth", [False, True])
@pytest.mark.parametrize("levels", [2, 5, 8])
def test_groups_and_attributes_are_looked_at_one_by_one(levels: int, truth: bool) -> None:
    """Many groups and attributes at once give what each gives alone."""
    scorer = scorer_of(random_data(5, levels=levels, truth=truth))
    rng = np.random.default_rng(0)
    rows = [np.flatnonzero(rng.random(len(scorer.view.data.cells)) < share) for share in (0.4, 0.7, 1.0)]
    attributes, alone = [1, 0, 1], [[True, False, False], [False, False, True], [True, True, False]]
    tables = [np.stack([scorer.view.table(j, part) for part in rows]) for j in attributes]
    together = best_of(scorer, attributes, tables, alone)
    for group in range(3):
        for place, j in enumerate(attributes):
            single = best_of(scorer, [j], [tables[place][[group]]], [[alone[group][place]]])
            assert together.value[group, place] == single.value[0, 0]
            if np.isfinite(single.value[0, 0]):
                assert together.condition(group, place) == single.condition(0, 0)


def test_nothing_to_choose() -> None:
    """An attribute with one value only has no condition."""
    data = coded({"g": ["a", "b"] * 50, "x": [1, 2] * 50, "y": [0, 1, 1, 1] * 25})
    scorer = scorer_of(data)
    for j, attribute in enumerate(data.attributes):
        table = np.zeros((1, attribute.size + 1, 2), np.int64)
        table[0, 0] = [25, 75]
        assert best_of(scorer, [j], [table], [[True]]).value[0, 0] == np.inf


def test_no_attribute_with_a_choice() -> None:
    """Attributes of which one value only occurs on D1 have no conditions at all."""
    data = coded({"g": ["a", "b"] * 50, "x": [1, 2] * 50, "y": [0, 1, 1, 1] * 25})
    scorer = scorer_of(data.with_counts(np.where(data.codes[0] == 0, data.counts, 0)))
    tables = [scorer.view.table(j)[None] for j in (0, 1)]
    assert np.isinf(best_of(scorer, [0, 1], tables, [[True, True]]).value).all()
