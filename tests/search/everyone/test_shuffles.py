"""Shuffled outcomes: who is shuffled with whom, and that every arrangement is equally likely."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ald.notions import ACCURACY, FNR, FPR, SELECTION, RateCounter
from ald.search.everyone import _numpy_lanes
from ald.search.everyone.layout import layout
from ald.search.everyone.shuffles import LANES, blocks_of, redrawn, shuffled
from tests.coded import PARITY, coded


def bits(words: np.ndarray) -> np.ndarray:
    """The outcomes of every person (rows) in every lane."""
    return np.concatenate([_numpy_lanes._bits(block) for block in words], axis=1)


def predictions(n: int, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    names = {"a": rng.choice(["x", "y", "z"], n)}
    return names | {"prediction": rng.integers(0, 2, n), "truth": rng.integers(0, 2, n)}


def test_lane_zero_has_the_data_and_all_lanes_as_many_hits_in_every_stratum_and_base() -> None:
    """With two rates people are shuffled within the stratum and their truth; nobody outside of a base takes part."""
    data = coded(predictions(500))
    strata = np.asarray(data.codes[0], np.int64)
    people = layout(data, RateCounter([FPR, FNR], 4), strata)
    words = shuffled(people, seed=3, number=0, first=0, blocks=2)
    found = bits(words)
    truth = (data.cells >> 1)[people.rows]
    wrong = (data.cells == 1) | (data.cells == 2)
    assert people.people == 500
    assert (found[:, 0] == wrong[people.rows]).all()
    for stratum in range(3):
        for rate in range(2):
            own = (strata[people.rows] == stratum) & (truth == rate)
            assert (found[own].sum(axis=0) == wrong[people.rows][own].sum()).all()
    assert (layout(data, RateCounter([FPR], 4)).people, layout(data, RateCounter([FNR], 4)).people) == (
        int(data.counts[data.cells < 2].sum()),
        int(data.counts[data.cells >= 2].sum()),
    )


def test_people_who_count_for_two_rates_are_not_shuffled_for_both() -> None:
    """Overlapping bases are refused: each of the rates has to be shuffled by itself."""
    with pytest.raises(ValueError, match="several rates"):
        layout(coded(predictions(50)), RateCounter([SELECTION, ACCURACY], 4))


def test_every_arrangement_is_equally_likely() -> None:
    """Of 5 people with 2 hits all 10 arrangements are about as frequent, and so are those of a stratum of 3 with 1."""
    outcomes = np.array([1, 0, 0, 1, 0, 0, 0, 1])
    data = coded({"a": np.arange(8).astype(str), "y": outcomes})
    order = np.argsort([int(data.attributes[0].levels[code]) for code in data.codes[0]])
    strata = np.zeros(8, np.int64)
    strata[order[5:]] = 1
    found = bits(shuffled(layout(data, PARITY, strata), seed=1, number=0, first=1, blocks=40))
    for part, n_arrangements in ((found[:5], 10), (found[5:], 3)):
        patterns, frequency = np.unique(part, axis=1, return_counts=True)
        assert patterns.shape[1] == n_arrangements
        expected = found.shape[1] / n_arrangements
        statistic = ((frequency - expected) ** 2 / expected).sum()
        assert statistic < n_arrangements - 1 + 5 * np.sqrt(2 * (n_arrangements - 1))


def test_moments_are_those_of_shuffling() -> None:
    """The hits of a fixed group have the mean and variance of the hypergeometric distribution."""
    rng = np.random.default_rng(5)
    data = coded({"a": rng.choice(["x", "y"], 400, p=[0.3, 0.7]), "y": rng.random(400) < 0.13})
    people = layout(data, PARITY)
    found = bits(shuffled(people, seed=9, number=0, first=1, blocks=16))
    inside = data.codes[0][people.rows] == 0
    n, b, h = 400, int(inside.sum()), int(people.hits.sum())
    counts = found[inside].sum(axis=0)
    variance = b * h * (n - h) * (n - b) / (n * n * (n - 1))
    lanes = found.shape[1]
    assert abs(counts.mean() - b * h / n) < 4 * np.sqrt(variance / lanes)
    assert abs(counts.var() / variance - 1) < 4 * np.sqrt(2 / lanes)


def test_blocks_rounds_seeds_and_kernels() -> None:
    """A block is the same drawn alone and by NumPy; another round or seed has other shuffles."""
    people = layout(coded(predictions(90)), RateCounter([FPR, FNR], 4))
    both = shuffled(people, seed=3, number=1, first=0, blocks=2)
    assert (shuffled(people, seed=3, number=1, first=1, blocks=1)[0] == both[1]).all()
    assert (shuffled(people, seed=3, number=2, first=0, blocks=2) != both).any()
    assert (shuffled(people, seed=4, number=1, first=0, blocks=2) != both).any()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ALD_KERNEL", "numpy")
        assert (shuffled(people, seed=3, number=1, first=0, blocks=2) == both).all()


def test_counted_rows_are_people() -> None:
    """A row of several people is as many people, with the shuffles of rows written out."""
    columns = predictions(300)
    counted = coded(columns)
    rows = np.repeat(np.arange(len(counted.cells)), counted.counts)
    written = replace(
        counted, codes=tuple(code[rows] for code in counted.codes), cells=counted.cells[rows],
        counts=np.ones(300, np.int64),
    )  # fmt: skip
    rates = RateCounter([FPR, FNR], 4)
    one, other = (shuffled(layout(data, rates), seed=0, number=0, first=0, blocks=1) for data in (counted, written))
    assert len(counted.cells) < 300
    assert (one == other).all()


def test_outcomes_drawn_anew_have_the_chances_of_people() -> None:
    """Every person is a hit as often as their own chance says; lane 0 has the data."""
    people = layout(coded(predictions(60)), RateCounter([SELECTION], 4))
    chances = np.linspace(0, 1, 60)
    found = bits(redrawn(people, chances, seed=2, number=0, first=0, blocks=8))
    assert (found[:, 0] == people.outcome).all()
    error = np.sqrt(np.maximum(chances * (1 - chances), 1e-4) / found.shape[1])
    assert (np.abs(found[:, 1:].mean(axis=1) - chances) / error).max() < 4


def test_blocks_hold_the_lanes_asked_for() -> None:
    """There are as many blocks as needed."""
    assert [blocks_of(n) for n in (1, LANES, LANES + 1, 1000)] == [1, 1, 2, 2]
