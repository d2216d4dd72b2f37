"""The best condition on one attribute, against all conditions on its bins."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ald.data.coded import AuditData
from ald.notions import NOTIONS, RateCounter
from ald.search.coarse import coarse_view
from ald.search.conditions import Choice, best_condition
from ald.search.scoring import Scorer
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


def choose(scorer: Scorer, j: int, *, alone: bool) -> tuple[Choice, np.ndarray]:
    table = scorer.view.table(j)
    return best_condition(scorer, j, table[None], scorer.statistic, np.array([alone])), table


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
    n, shares = scorer.view.columns[0].n, scorer.root_people(0)
    best: dict[bool, tuple[float, float]] = {}
    for low in range(n):
        for high in range(low + 1, n + 1):
            if (low, high) != (0, n):
                two_sided = low > 0 and high < n
                share = np.array([shares[high] - shares[low]])
                price = float(scorer.interval_price(0, share, two_sided=two_sided, alone=alone)[0])
                option = score(scorer, table[low:high].sum(axis=0), price)
                best[two_sided] = max(best.get(two_sided, option), option, key=lambda pair: pair[0])
    assert choice.value[0] == pytest.approx(min(value for _, value in best.values()))


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.booleans(), st.booleans(), st.integers(2, 6))
def test_best_levels_of_few_are_those_of_brute_force(seed: int, truth: bool, alone: bool, levels: int) -> None:
    """Up to three levels, or six with several rates, no set of levels is better."""
    scorer = scorer_of(random_data(seed, levels=levels if truth else min(levels, 3), truth=truth))
    choice, table = choose(scorer, 1, alone=alone)
    n = scorer.view.columns[1].n
    options = [
        score(scorer, table[:n][members].sum(axis=0), float(scorer.level_prices(1, members.sum(), alone=alone)))
        for members in level_sets(n)
    ]
    assert choice.value[0] == pytest.approx(max(options, default=(0.0, np.inf), key=lambda pair: pair[0])[1])


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
        score(scorer, table[:n][members].sum(axis=0), float(scorer.level_prices(1, members.sum(), alone=alone)))
        for members in heads + [~head for head in heads]
    ]
    assert choice.value[0] == pytest.approx(max(options, key=lambda pair: pair[0])[1])


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.booleans())
def test_the_choice_names_what_its_value_is_of(seed: int, truth: bool) -> None:
    """The value of a choice is log p plus price of exactly the bins that it names."""
    scorer = scorer_of(random_data(seed, levels=5, truth=truth))
    for j in (0, 1):
        choice, table = choose(scorer, j, alone=True)
        if not np.isfinite(choice.value[0]):
            continue
        if j == 0:
            low, high = int(choice.low[0]), int(choice.high[0])
            share = np.diff(scorer.root_people(0)[[low, high]])
            two_sided = low > 0 and high < scorer.view.columns[0].n
            price = float(scorer.interval_price(0, share, two_sided=two_sided, alone=True)[0])
            inside = table[low:high].sum(axis=0)
        else:
            price = float(scorer.level_prices(1, choice.members[0].sum(), alone=True))
            inside = table[:-1][choice.members[0]].sum(axis=0)
        assert choice.value[0] == pytest.approx(score(scorer, inside, price)[1])


def test_groups_are_looked_at_one_by_one() -> None:
    """Many groups at once give what each gives alone."""
    scorer = scorer_of(random_data(5, levels=5, truth=False))
    rng = np.random.default_rng(0)
    rows = [np.flatnonzero(rng.random(len(scorer.view.data.cells)) < share) for share in (0.4, 0.7, 1.0)]
    for j in (0, 1):
        tables = np.stack([scorer.view.table(j, part) for part in rows])
        alone = np.array([True, False, True])
        together = best_condition(scorer, j, tables, scorer.statistic, alone)
        single = [best_condition(scorer, j, tables[[i]], scorer.statistic, alone[[i]]) for i in range(3)]
        assert together.value.tolist() == [choice.value[0] for choice in single]
        assert together.low.tolist() == [choice.low[0] for choice in single]


def test_nothing_to_choose() -> None:
    """An attribute with one value only has no condition."""
    data = coded({"g": ["a", "b"] * 50, "x": [1, 2] * 50, "y": [0, 1, 1, 1] * 25})
    scorer = scorer_of(data)
    for j, attribute in enumerate(data.attributes):
        table = np.zeros((1, attribute.size + 1, 2), np.int64)
        table[0, 0] = [25, 75]
        assert best_condition(scorer, j, table, scorer.statistic, np.array([True])).value[0] == np.inf
