"""The strongest group of every lane: against the search's own measure, and against looking at every description."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ald._core.arrays import FloatArray, IntArray
from ald.data.coded import AuditData
from ald.groups.tree import CodedCriterion
from ald.notions import FNR, FPR, SELECTION, RateCounter
from ald.search.everyone import _numpy_lanes
from ald.search.everyone.descriptions import Descriptions, descriptions
from ald.search.everyone.layout import layout
from ald.search.everyone.shuffles import LANES, shuffled
from ald.search.everyone.strongest import Round
from ald.search.explore.scoring import Aim, Scorer
from tests.coded import PARITY, coded

RATES = {"y": PARITY, "both": RateCounter([FPR, FNR], 4)}


def people(seed: int, n: int, kind: str = "y", levels: int = 3) -> AuditData:
    """Random people with numbers, levels, missing values and an outcome that depends on some of them."""
    rng = np.random.default_rng(seed)
    number = rng.integers(0, 40, n).astype(float)
    columns = {
        "number": np.where(rng.random(n) < 0.1, np.nan, number),
        "few": rng.choice(["a", "b"], n),
        "some": np.char.add("s", rng.integers(0, levels, n).astype(str)),
        "half": rng.random(n).round(1),
    }
    chance = 0.3 + 0.2 * ((number > 20) & (columns["few"] == "a")) + 0.1 * (columns["some"] == "s1")
    outcome = (rng.random(n) < chance).astype(int)
    if kind == "y":
        return coded(columns | {"y": outcome})
    return coded(columns | {"prediction": outcome, "truth": rng.integers(0, 2, n)})


def all_criteria(described: Descriptions) -> list[CodedCriterion]:
    """Every description; of an attribute with many levels, every set of them."""
    out: list[CodedCriterion] = []
    for single in described.singles:
        n = single.column.n
        if single.by_rates:
            sets = [np.flatnonzero(number >> np.arange(n) & 1) for number in range(1, 2**n - 1)]
            out += [single.of_levels(chosen) for chosen in sets]
        else:
            out += [single.criterion(i) for i in range(len(single.low))]
    for batch in described.batches:
        for part in batch.parts:
            crossings = np.flatnonzero(np.isfinite(batch.combined.crossing_prices(part)))
            out += [batch.combined.criterion(part, int(crossing)) for crossing in crossings]
    return out


def values_of(criteria: list[CodedCriterion], data: AuditData, rates: RateCounter, aim: Aim) -> FloatArray:
    """What the search finds them worth."""
    described = descriptions(data, len(rates.rates))
    return Scorer(described.view, rates, aim=aim, prices=described.prices).values(criteria)


def in_lane(data: AuditData, rows: IntArray, bits: IntArray, truth: bool) -> AuditData:
    """The data written out by person, with the outcomes of a lane."""
    cells = (data.cells[rows] & 2) | (bits ^ (data.cells[rows] >> 1)) if truth else bits
    return replace(
        data, codes=tuple(code[rows] for code in data.codes), cells=cells.astype(np.uint8),
        counts=np.ones(len(rows), np.int64),
    )  # fmt: skip


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(list(RATES)), st.sampled_from([2, 3, 7]), st.booleans())
def test_every_lane_has_the_best_value_of_all_descriptions(seed: int, kind: str, levels: int, strata: bool) -> None:
    """In the data and in shuffles, with and without strata: the value that the search gives the best description."""
    data, rates = people(seed, 600, kind, levels), RATES[kind]
    given_strata = (data.codes[3] % 3).astype(np.int64) if strata else None
    described = descriptions(data, len(rates.rates))
    who = layout(data, rates, given_strata)
    words = shuffled(who, seed=seed, number=0, first=0, blocks=1)
    found = Round(described, who).strongest(words)
    bits = _numpy_lanes._bits(words[0])
    every = all_criteria(described)
    for lane in (0, 1, 77, LANES - 1):
        own = in_lane(data, who.rows, bits[:, lane], kind != "y")
        aim = Aim(given=None if given_strata is None else given_strata[who.rows])
        values = values_of(every, own, rates, aim)
        # Groups are compared by their statistics, and levels in orders: the best value is met, or nearly.
        assert values.min() - 1e-9 <= found.values[lane] <= values.min() + (0.3 if len(rates.rates) == 1 else 2.0)
    aim = Aim(given=given_strata)
    assert np.isclose(values_of([found.first], data, rates, aim)[0], found.values[0])


def test_a_lane_is_worth_what_the_data_would_be_with_its_outcomes() -> None:
    """The functional is the same for data and shuffles: a shuffle taken for the data has the value of its lane."""
    data = people(3, 500, "y", 5)
    who = layout(data, PARITY)
    words = shuffled(who, seed=1, number=0, first=0, blocks=1)
    found = Round(descriptions(data, 1), who).strongest(words).values
    bits = _numpy_lanes._bits(words[0])
    for lane in (5, 300):
        own = in_lane(data, who.rows, bits[:, lane], truth=False)
        itself = layout(own, PARITY)
        alone = Round(descriptions(own, 1), itself)
        assert alone.strongest(shuffled(itself, seed=9, number=0, first=0, blocks=1)).values[0] == found[lane]


@pytest.mark.parametrize("kind", list(RATES))
def test_kernels_and_threads_give_the_same_bits(kind: str) -> None:
    """C and NumPy, one thread and three: the same values in all lanes, and the same group."""
    data, rates = people(8, 400, kind, 8), RATES[kind]
    who = layout(data, rates, (data.codes[1] == 0).astype(np.int64))
    found = []
    for kernel, threads in (("", 1), ("", 3), ("numpy", 1)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ALD_KERNEL", kernel)
            words = shuffled(who, seed=1, number=0, first=0, blocks=1)
            found.append(Round(descriptions(data, len(rates.rates)), who, threads=threads).strongest(words))
    for other in found[1:]:
        assert (other.values == found[0].values).all()
        assert other.first == found[0].first


def test_the_order_of_levels_and_sides_of_one_rate() -> None:
    """With one direction only the strongest of the disadvantaged, or of the advantaged, groups is found."""
    rng = np.random.default_rng(0)
    job = rng.integers(0, 8, 2000)
    outcome = rng.random(2000) < np.where(job < 2, 0.2, np.where(job > 5, 0.7, 0.5))
    data = coded({"job": np.char.add("j", job.astype(str)), "y": outcome})
    who = layout(data, PARITY)
    words = shuffled(who, seed=1, number=0, first=0, blocks=1)
    described = descriptions(data, 1)
    named = []
    for side in (-1.0, 1.0):
        found = Round(described, who, sides=np.array([side])).strongest(words)
        named.append([data.attributes[0].levels[code] for code in found.first[0].levels])
        aim = Aim(direction=int(side))
        assert np.isclose(values_of([found.first], data, PARITY, aim)[0], found.values[0])
    # Whoever is not among the disadvantaged is among the advantaged.
    assert sorted(named[0] + named[1]) == [f"j{i}" for i in range(8)]
    assert {"j0", "j1"} <= set(named[0])
    assert {"j6", "j7"} <= set(named[1])


def test_groups_like_those_taken_are_left_out() -> None:
    """What correlates with a group that is already taken is not looked at, also not within its strata."""
    rng = np.random.default_rng(2)
    number = rng.integers(0, 20, 3000)
    outcome = rng.random(3000) < np.where(number < 10, 0.2, np.where(number < 11, 0.7, 0.5))
    data = coded({"number": number.astype(float), "y": outcome})
    taken = data.codes[0] < 10
    who = layout(data, PARITY, taken.astype(np.int64))
    words = shuffled(who, seed=1, number=0, first=0, blocks=1)
    described = descriptions(data, 1)
    both = [
        Round(described, who, taken=inside).strongest(words)
        for inside in (np.zeros((0, 2), np.int64), np.array([[0, 1]]))
    ]
    inside = [(data.codes[0] >= found.first[0].low) & (data.codes[0] < found.first[0].high) for found in both]
    correlations = [abs(np.corrcoef(one.repeat(data.counts), taken.repeat(data.counts))[0, 1]) for one in inside]
    assert correlations[1] < 0.6
    assert both[1].values[0] >= both[0].values[0]


def test_small_groups_are_not_looked_at() -> None:
    """A group needs 20 people and half a percent, and so does everyone else; without groups no lane has a value."""
    data = coded({"a": ["x"] * 19 + ["y"] * 500, "y": [1] * 19 + [0, 1] * 250})
    who = layout(data, RateCounter([SELECTION], 2))
    found = Round(descriptions(data, 1), who).strongest(shuffled(who, seed=1, number=0, first=0, blocks=1))
    assert found.first == ()
    assert np.isinf(found.values).all()
