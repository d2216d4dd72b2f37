"""The subset scan: its best group is the best of all groups, in both directions, with and without probabilities."""

from __future__ import annotations

from itertools import combinations, product
from math import log

import numpy as np
import pytest

import ald
from ald.baselines.interface import Search
from ald.baselines.subset_scan import Observed, Scored, against_predictions, scan, search
from ald.groups.rules import decode
from ald.notions import CELLS, FNR, FPR, SELECTION, RateCounter
from tests.coded import PARITY, coded


def problem(seed: int, *, flat: bool) -> Observed:
    """A random small problem: two or three attributes with two to four levels, and a group that may stand out."""
    rng = np.random.default_rng(seed)
    sizes = tuple(rng.integers(2, 4, size=3).tolist()) if seed % 5 else tuple(rng.integers(3, 6, size=2).tolist())
    n = 250
    codes = np.stack([rng.integers(size, size=n) for size in sizes])
    expected = np.full(n, 0.4) if flat else rng.uniform(0.1, 0.9, n).round(1)
    special = (codes[0] == 0) & (codes[1] <= 1)
    chance = np.clip(expected + rng.choice([-0.3, 0.0, 0.3]) * special, 0.02, 0.98)
    return Observed(
        codes=codes,
        sizes=sizes,
        people=np.ones(n),
        hits=(rng.random(n) < chance).astype(float),
        log_odds=np.log(expected / (1 - expected)),
    )


def ratios(inside: np.ndarray, observed: Observed, direction: int) -> np.ndarray:
    """The log-likelihood ratios of groups [groups, rows], each at its best q, by bisection of the slope."""
    expected = 1 / (1 + np.exp(-observed.log_odds))
    hits = inside @ observed.hits
    low, high = (np.zeros(len(inside)), np.full(len(inside), 25.0)) if direction > 0 else (np.full(len(inside), -25.0),
        np.zeros(len(inside)))  # fmt: skip
    for _ in range(50):
        middle = (low + high) / 2
        q = np.exp(middle)[:, None]
        rising = hits > (inside * (q * expected / (1 - expected + q * expected))).sum(axis=1)
        low, high = np.where(rising, middle, low), np.where(rising, high, middle)
    q = np.exp(low)[:, None]
    return np.maximum(hits * low - (inside * np.log(1 - expected + q * expected)).sum(axis=1), 0.0)


def exhaustive(observed: Observed, direction: int, penalty: float) -> float:
    """The best score of all groups there are."""
    options = [
        [(), *(levels for k in range(1, size) for levels in combinations(range(size), k))] for size in observed.sizes
    ]
    groups = list(product(*options))
    inside = np.ones((len(groups), len(observed.hits)), dtype=bool)
    for i, group in enumerate(groups):
        for levels, code in zip(group, observed.codes, strict=True):
            if levels:
                inside[i] &= np.isin(code, levels)
    named = np.array([sum(map(len, group)) for group in groups])
    return float((ratios(inside, observed, direction) - penalty * named).max())


def mask_of(scored: Scored, observed: Observed) -> np.ndarray:
    inside = np.ones(len(observed.hits), dtype=bool)
    for levels, code in zip(scored.levels, observed.codes, strict=True):
        if levels:
            inside &= np.isin(code, levels)
    return inside


@pytest.mark.parametrize("block", range(10))
def test_as_good_as_exhaustive_search(block: int) -> None:
    """On 200 random small problems the scan finds the best of all groups, and scores it as its people say."""
    for seed in range(20 * block, 20 * block + 20):
        observed = problem(seed, flat=seed % 2 == 0)
        penalty = (0.0, 0.5, 1.0)[seed % 3]
        direction = 1 if seed % 4 < 2 else -1
        best = scan(observed, np.random.default_rng(seed), penalty=penalty, directions=[direction])[0]
        assert best.score == pytest.approx(exhaustive(observed, direction, penalty), abs=1e-6)
        named = sum(map(len, best.levels))
        own = ratios(mask_of(best, observed)[None], observed, direction)[0] - penalty * named
        assert best.score == pytest.approx(own, abs=1e-6)


def test_penalty_makes_groups_simpler() -> None:
    """With a larger penalty the best group names fewer levels, and with a huge one it is everyone."""
    observed = problem(6, flat=True)
    named = [
        sum(map(len, scan(observed, np.random.default_rng(0), penalty=penalty, directions=[1])[0].levels))
        for penalty in (0.0, 2.0, 1000.0)
    ]
    assert named == sorted(named, reverse=True)
    assert named[-1] == 0


def test_score_of_one_level() -> None:
    """The score of a level is the log-likelihood ratio of its rate against the expected one, less the penalty."""
    observed = Observed(
        codes=np.array([[0, 0, 1, 1]]),
        sizes=(2,),
        people=np.array([8.0, 2.0, 5.0, 5.0]),
        hits=np.array([8.0, 0.0, 5.0, 0.0]),
        log_odds=np.zeros(4),
    )
    best = scan(observed, np.random.default_rng(0), penalty=0.25, directions=[1])[0]
    assert best.levels == ((0,),)
    assert best.score == pytest.approx(8 * log(0.8) + 2 * log(0.2) + 10 * log(2) - 0.25)


def words(request: Search) -> list[str]:
    found = search(request)
    from ald.groups.derived import extend_data

    attributes = extend_data(request.data, found.derived).attributes
    return [str(decode(criterion, attributes)) for criterion in found.criteria]


@pytest.mark.parametrize(("rate", "expected"), [(0.75, "above"), (0.25, "below")])
def test_both_directions(rate: float, expected: str) -> None:
    """A group with more, or with fewer, favourable outcomes than overall comes first."""
    rng = np.random.default_rng(1)
    sex, job = rng.choice(["f", "m"], 4000), rng.choice(["a", "b", "c"], 4000)
    y = rng.random(4000) < np.where((sex == "f") & (job == "b"), rate, 0.5)
    data = coded({"sex": sex, "job": job, "y": y.astype(int)})
    assert words(Search(data=data, rates=PARITY))[0] == "job = b and sex = f", expected


def test_numbers_are_rounded() -> None:
    """Whole numbers in a row are an interval of the numbers; others are named one by one."""
    rng = np.random.default_rng(2)
    age = rng.uniform(18, 30, 6000)
    band = (age > 19.5) & (age <= 22.5)
    data = coded({"age": age, "y": (rng.random(6000) < np.where(band, 0.8, 0.3)).astype(int)})
    first = search(Search(data=data, rates=PARITY)).criteria[0]
    low, high = data.attributes[0].values[[first[0].low - 1, first[0].high - 1]]
    assert low <= 19.5 < low + 0.1
    assert high <= 22.5 < high + 0.1
    apart = (np.rint(age) == 20) | (np.rint(age) == 25)
    data = coded({"age": age, "y": (rng.random(6000) < np.where(apart, 0.8, 0.3)).astype(int)})
    assert words(Search(data=data, rates=PARITY))[0] == '"age (rounded)" in {20, 25}'


def test_several_rates() -> None:
    """With several rates each is scanned on the people that count for it."""
    columns = ald.datasets.make_synthetic(3, n=6000, rho=0.4, seed=3)
    data = coded(columns)
    assert data.n_cells == len(CELLS)
    assert words(Search(data=data, rates=RateCounter([FPR, FNR], 4)))[0] == "a = a1 and b = b1"


def test_nothing_varies() -> None:
    """Where everyone has the outcome there is nothing to scan."""
    data = coded({"sex": ["f", "m"] * 20, "y": [0, 1] * 20})
    inside = data.with_counts(np.where(data.cells == 1, data.counts, 0))
    assert search(Search(data=inside, rates=RateCounter([SELECTION], 2))).criteria == ()


def test_against_predictions() -> None:
    """A group in which a model is wrong is found although its rate is that of everyone else."""
    rng = np.random.default_rng(4)
    n = 6000
    sex, job = rng.choice(["f", "m"], n), rng.choice(["a", "b", "c"], n)
    wrong = (sex == "m") & (job == "c")
    probability = np.where(wrong, 0.25, 0.5)
    y = (rng.random(n) < 0.5).astype(int)
    first, *_ = against_predictions({"sex": sex, "job": job, "p": probability, "y": y}, outcome="y", probability="p")
    assert str(first.criterion) == "job = c and sex = m"
    assert first.size == wrong.sum()
    assert first.observed == pytest.approx(y[wrong].mean())
    assert first.expected == pytest.approx(0.25)
    assert first.odds == pytest.approx(3 * y[wrong].mean() / (1 - y[wrong].mean()), rel=1e-6)


@pytest.mark.parametrize("bad", [[0.0, 0.5], [0.5, 1.0], [0.5, None], ["low", "high"]])
def test_probabilities_are_checked(bad: list[object]) -> None:
    """Probabilities must be numbers strictly between 0 and 1."""
    table = {"sex": ["f", "m"] * 20, "p": bad * 20, "y": [0, 1] * 20}
    with pytest.raises(ald.ColumnError, match="above 0 and below 1"):
        against_predictions(table, outcome="y", probability="p")
