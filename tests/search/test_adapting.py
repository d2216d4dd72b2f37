"""What the search makes of weights, clusters and many strata."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ald.data.coded import AuditData
from ald.notions import NOTIONS, SELECTION, RateCounter
from ald.search.adapting import PARTS, amounts_effect, as_shares, beyond_strata, design_effect, few_strata
from ald.search.forest.splitting import two_sample
from tests.coded import PARITY, coded, surveyed

ODDS = RateCounter(NOTIONS["equalized odds"].rates, 4)


def test_the_effect_of_weights_is_kishs() -> None:
    """The design effect of weights is n sum(w^2) / sum(w)^2, which is 1 if all are alike."""
    assert design_effect(surveyed([2.0] * 50), PARITY) == 1.0
    weights = [1.0] * 50 + [4.0] * 50
    assert design_effect(surveyed(weights), PARITY) == pytest.approx(100 * (50 + 50 * 16) / (50 + 200) ** 2)


def clustered(seed: int, people: int = 80, rows: int = 5, *, alike: bool = True, truth: bool = False) -> AuditData:
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(people), rows)
    rate = rng.beta(0.5, 0.5, people)[person] if alike else np.full(len(person), 0.4)
    y = (rng.random(len(person)) < rate).astype(int)
    columns = {"a": rng.choice(list("pq"), len(person)), "person": [f"p{i}" for i in person]}
    outcome = {"prediction": y, "truth": rng.integers(0, 2, len(y))} if truth else {"y": y}
    return coded(columns | outcome, cluster="person")


@pytest.mark.parametrize("seed", range(3))
def test_the_effect_of_clusters_by_loop(seed: int) -> None:
    """The design effect of clusters is the variance of people's sums over that of as many independent rows."""
    data = clustered(seed)
    assert data.design.clusters is not None
    rows = [(c, y) for c, y, n in zip(data.design.clusters, data.cells, data.counts, strict=True) for _ in range(n)]
    mean = sum(y for _, y in rows) / len(rows)
    sums = {c: sum(y - mean for d, y in rows if d == c) for c in {c for c, _ in rows}}
    expected = sum(s * s for s in sums.values()) / sum((y - mean) ** 2 for _, y in rows)
    assert design_effect(data, PARITY) == pytest.approx(expected)
    # Five rows with half of the variance between people: about 1 + 4 / 2.
    assert 2 < design_effect(data, PARITY) < 4


def test_independent_rows_have_no_effect() -> None:
    """Rows of people that are not alike inflate nothing much, and never deflate."""
    assert 1.0 <= design_effect(clustered(3, alike=False), PARITY) < 1.4
    assert design_effect(coded({"a": list("pqpq"), "y": [0, 1, 1, 0]}), PARITY) == 1.0


def test_the_largest_effect_of_all_rates_counts() -> None:
    """With several rates the one whose rows are most alike decides."""
    data = clustered(0, truth=True)
    alone = [design_effect(data, RateCounter([rate], 4)) for rate in ODDS.rates]
    assert design_effect(data, ODDS) == pytest.approx(max(alone))


def stratified(seed: int, strata: int, n: int = 2000, truth: bool = False) -> tuple[AuditData, np.ndarray]:
    rng = np.random.default_rng(seed)
    stratum = rng.integers(0, strata, n)
    y = (rng.random(n) < rng.uniform(0.1, 0.9, strata)[stratum]).astype(int)
    columns = {"s": [f"s{i}" for i in stratum], "a": rng.choice(list("pq"), n)}
    outcome = {"prediction": y, "truth": rng.integers(0, 2, n)} if truth else {"y": y}
    data = coded(columns | outcome, given=("s",))
    assert data.design.strata is not None
    return data, data.design.strata


@given(st.integers(0, 200), st.integers(1, 120), st.integers(2, 32), st.booleans())
def test_strata_are_merged(seed: int, strata: int, limit: int, truth: bool) -> None:
    """At most so many classes are left, numbered from 0 on without gaps, and nobody's stratum is torn apart."""
    data, numbers = stratified(seed, strata, 300, truth)
    classes = few_strata(numbers, data, ODDS if truth else PARITY, limit)
    assert sorted(set(classes.tolist())) == list(range(int(classes.max()) + 1))
    assert classes.max() < limit
    for stratum in set(numbers.tolist()):
        assert len(set(classes[numbers == stratum].tolist())) == 1


def test_few_strata_stay() -> None:
    """Strata that are few enough stay as they are."""
    data, numbers = stratified(0, 6)
    assert few_strata(numbers, data, PARITY, 8).tolist() == numbers.tolist()


@pytest.mark.parametrize("seed", range(5))
def test_strata_of_similar_rates_are_merged(seed: int) -> None:
    """A stratum of a higher rate (drawn towards the overall one by one person) is in no lower class."""
    data, numbers = stratified(seed, 100)
    classes = few_strata(numbers, data, PARITY, 8)
    y, n = data.cells.astype(float), data.counts
    overall = (y * n).sum() / n.sum()
    rates = {}
    for stratum in set(numbers.tolist()):
        here = numbers == stratum
        rates[stratum] = ((y * n)[here].sum() + overall) / (n[here].sum() + 1)
    ordered = sorted(rates, key=lambda s: rates[s])
    in_order = [int(classes[numbers == s][0]) for s in ordered]
    assert in_order == sorted(in_order)
    people = np.bincount(classes, n)
    assert len(people) == 8
    assert people.min() > 0.5 * people.max()


def with_amounts(seed: int) -> AuditData:
    """People of three groups with amounts, in two strata."""
    rng = np.random.default_rng(seed)
    data = coded({"a": rng.choice(list("pqr"), 400), "s": [f"s{i % 2}" for i in range(400)], "y": [0, 1] * 200})
    amounts = rng.integers(-500, 900, len(data.cells))
    strata = rng.integers(0, 2, len(data.cells))
    return replace(data, cells=np.zeros_like(data.cells), design=replace(data.design, amounts=amounts, strata=strata))


@pytest.mark.parametrize("seed", range(3))
def test_shares_have_the_statistics_of_means(seed: int) -> None:
    """Rates of shares are means, and their statistic is that of means times the factor; people keep their number."""
    data = with_amounts(seed)
    shares, factor = as_shares(data)
    amounts, width = data.design.amounts, np.ptp(data.design.amounts)
    assert shares.total == PARTS * data.total
    rates = RateCounter([SELECTION], 2)
    inside = np.array([shares.tally(np.asarray(shares.codes[0]) == code) for code in range(3)])
    hits, bases = rates.hit(shares.cell_counts())[:, None], rates.base(shares.cell_counts())[:, None]
    found = two_sample(rates, rates.hit(inside), rates.base(inside), hits, bases, rates.margin(hits, bases)) / factor
    mean, n = np.average(amounts, weights=data.counts), data.total
    variance = np.average((amounts - mean) ** 2, weights=data.counts)
    for code in range(3):
        rows = np.asarray(data.codes[0]) == code
        k, own = data.counts[rows].sum(), np.average(amounts[rows], weights=data.counts[rows])
        statistic = (own - mean) ** 2 * k * n / (variance * (n - k))
        # Amounts are whole numbers of `PARTS` of everyone, which rounds the statistic.
        assert found[code] == pytest.approx(statistic, rel=1e-4)
        rate = rates.values(inside[code])[0]
        assert rate == pytest.approx((own - amounts.min()) / width, abs=1e-5)


def test_amounts_beyond_strata() -> None:
    """What is left of amounts has a mean of 0 in every stratum, to a unit, and the same spread within."""
    data = with_amounts(1)
    rest = beyond_strata(data).design.amounts
    assert rest is not None
    for stratum in range(2):
        rows = data.design.strata == stratum
        assert abs(np.average(rest[rows], weights=data.counts[rows])) <= 0.5
        assert np.ptp(rest[rows]) == np.ptp(data.design.amounts[rows])


def test_the_effect_of_clusters_on_amounts() -> None:
    """Pairs of people with the same amount count once: the effect of their tests is 2."""
    data = with_amounts(2)
    n = len(data.cells) // 2 * 2
    amounts = np.repeat(np.arange(n // 2) * 10, 2)
    design = replace(data.design.take(np.arange(n)), amounts=amounts, clusters=np.repeat(np.arange(n // 2), 2))
    pairs = replace(data, codes=tuple(codes[:n] for codes in data.codes), cells=data.cells[:n],
                    counts=np.ones(n, np.int64), design=design)  # fmt: skip
    assert amounts_effect(pairs) == pytest.approx(2.0)
