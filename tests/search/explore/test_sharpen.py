"""Sharpening: planted groups come out as planted, without conditions that only fit the noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ald.data.coarse import coarse_view
from ald.data.coded import AuditData
from ald.datasets import make_synthetic
from ald.groups.criterion import Interval
from ald.groups.membership import count_members
from ald.groups.rules import decode
from ald.groups.tree import CodedCondition
from ald.notions import NOTIONS, RateCounter
from ald.search.explore.conditions import Conditions
from ald.search.explore.scoring import Scorer
from ald.search.explore.sharpen import _TOGETHER, Sharpener
from tests.coded import PARITY, coded, proposed_words, representatives_of

ODDS = RateCounter(NOTIONS["equalized odds"].rates, 4)


def noisy(seed: int, n: int = 4000) -> tuple[dict[str, np.ndarray], np.random.Generator]:
    """Two attributes of two levels, two of noise."""
    rng = np.random.default_rng(seed)
    levels = {name: rng.choice([f"{name}0", f"{name}1"], n) for name in ("a", "b")}
    return levels | {"x": rng.random(n), "g": rng.choice(list("pqrs"), n)}, rng


def first_words(data: AuditData, rates: RateCounter = PARITY) -> str:
    return proposed_words(data, rates)[0]


@pytest.mark.parametrize("seed", range(8))
def test_noise_is_not_added_to_a_planted_group(seed: int) -> None:
    """A planted group is proposed first, exactly: without a condition on an attribute that does not matter."""
    columns, rng = noisy(seed)
    rate = np.where(columns["a"] == "a1", 0.6, 0.4)
    data = coded(columns | {"y": (rng.random(4000) < rate).astype(int)})
    assert first_words(data) in ("a = a1", "a = a0")


@pytest.mark.parametrize("seed", range(8))
def test_an_and_group_is_one_finding(seed: int) -> None:
    """A group that two conditions make together is proposed with both of them, and nothing else."""
    columns, rng = noisy(seed)
    rate = np.where((columns["a"] == "a1") & (columns["b"] == "b1"), 0.75, 0.4)
    data = coded(columns | {"y": (rng.random(4000) < rate).astype(int)})
    assert first_words(data) == "a = a1 and b = b1"


@pytest.mark.parametrize("seed", range(8))
def test_two_additive_effects_are_two_findings(seed: int) -> None:
    """Two attributes that matter separately are two groups of one condition each, not one group of two."""
    columns, rng = noisy(seed, 6000)
    rate = 0.3 + 0.2 * (columns["a"] == "a1") + 0.2 * (columns["b"] == "b1")
    words = proposed_words(coded(columns | {"y": (rng.random(6000) < rate).astype(int)}))
    assert {word[0] for word in words[:2]} == {"a", "b"}
    assert all(" and " not in word for word in words[:2])


@pytest.mark.parametrize("seed", range(5))
def test_exclusive_or_is_found(seed: int) -> None:
    """Where two attributes matter together only, the first group is one crossing of them."""
    assert first_words(coded(make_synthetic(2, n=4000, rho=0.3, irrelevant=6, seed=seed))) in {
        f"gender = g{i} and race = r{j}" for i in (1, 2) for j in (1, 2)
    }


@pytest.mark.parametrize("seed", range(5))
def test_parity_of_three_is_found(seed: int) -> None:
    """Where three attributes matter together only, the first group is one crossing of them."""
    assert first_words(coded(make_synthetic(4, n=4000, rho=0.3, irrelevant=4, seed=seed))) in {
        f"a = a{i} and b = b{j} and c = c{k}" for i in (0, 1) for j in (0, 1) for k in (0, 1)
    }


@pytest.mark.parametrize("seed", range(5))
def test_opposite_errors_are_found(seed: int) -> None:
    """A group with more false positives and fewer false negatives is found for equalized odds."""
    assert first_words(coded(make_synthetic(3, n=6000, rho=0.3, irrelevant=2, seed=seed)), ODDS) == "a = a1 and b = b1"


@pytest.mark.parametrize("seed", range(5))
def test_ends_of_intervals_are_sharp(seed: int) -> None:
    """The ends of an age band are found within two years, although bins are wider."""
    data = coded(make_synthetic(1, n=10_000, rho=0.3, seed=seed))
    bands = [c for found in representatives_of(data) for c in decode(found.criterion, data.attributes)
             if isinstance(c, Interval) and c.lower is not None and c.upper is not None]  # fmt: skip
    assert bands[0].lower == pytest.approx(42, abs=2)
    assert bands[0].upper == pytest.approx(66, abs=2)


@pytest.mark.parametrize("seed", [18, 40])
def test_values_that_nobody_has_change_nothing(seed: int) -> None:
    """A value of the attribute that does not occur in D1 changes neither groups nor interval ends."""
    rng = np.random.default_rng(seed)
    x, g = rng.integers(0, 25, 800), rng.choice(["a", "b"], 800)
    y = (rng.random(800) < 0.4 + 0.2 * ((x > 8) & (x < 14))).astype(int)
    data = coded({"x": x, "g": g, "y": y})
    first, *others = data.attributes
    assert first.values is not None
    longer = replace(data, attributes=(replace(first, values=np.append(first.values, 99.0)), *others))
    assert proposed_words(longer) == proposed_words(data)


def sharpener_of(data: AuditData, threads: int = 1) -> Sharpener:
    """A sharpener given the group of the first level of the second attribute."""
    patterns = (data.codes[1] == 0).astype(np.int64)
    scorer = Scorer(coarse_view(data), PARITY, patterns, threads=threads)
    return Sharpener(scorer, Conditions(scorer.prices, 1))


@pytest.mark.parametrize("most", [1, 4])
def test_people_of_groups_are_counted_once_and_right(most: int) -> None:
    """However the people of a group became known, they are its members."""
    rng = np.random.default_rng(2)
    x, g = rng.normal(size=1500).round(2), rng.choice(list("abcd"), 1500)
    y = (rng.random(1500) < 0.4 + 0.2 * ((x > -0.5) & (x < 0.4)) * (g != "a")).astype(int)
    data = coded({"x": x, "g": g, "y": y})
    sharpener = sharpener_of(replace(data, counts=rng.integers(1, most + 1, len(data.counts))))
    found = [*sharpener.singles(), *sharpener.sharpen(sharpener.singles())]
    assert sharpener.inside
    for criterion in {*found, *sharpener.inside, (CodedCondition(1, 0, 0, (0, 2)),)}:
        assert sharpener.counts(criterion).tolist() == count_members([criterion], sharpener.data)[0].tolist()


def test_threads_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """The single conditions are the same whatever the number of threads."""
    data = coded({**noisy(1)[0], "z": np.random.default_rng(5).random(4000), "y": np.arange(4000) % 3 % 2})
    alone = sharpener_of(data).singles()
    monkeypatch.setattr("ald.search.explore.sharpen._WORTH_A_THREAD", 1)
    assert sharpener_of(data, threads=3).singles() == alone


# People with both outcomes, per few or many checks, early or late, foreigner or citizen: checks and citizenship matter
# separately, and the time a little, so that moves can go round in a circle.
CIRCULAR = [(28, 83), (12, 42), (40, 111), (124, 1315), (22, 35), (5, 22), (32, 56), (189, 497)]


def circular(noise: int) -> AuditData:
    """People as above, with attributes that do not matter: prices decide whether there is a circle."""
    code = np.repeat(np.arange(16), np.ravel(CIRCULAR))
    rng = np.random.default_rng(0)
    columns = {name: code >> bit & 1 for name, bit in (("checks", 3), ("late", 2), ("citizen", 1), ("y", 0))}
    return coded(columns | {f"n{i}": rng.integers(0, 2, len(code)) for i in range(noise)})


def plain_sharpener(data: AuditData) -> Sharpener:
    scorer = Scorer(coarse_view(data), PARITY)
    return Sharpener(scorer, Conditions(scorer.prices, 1))


@pytest.mark.parametrize("noise", [3, 6, 8, 10])
def test_no_start_is_lost(noise: int) -> None:
    """From a single condition the way leads to a group that is as good at least, also where it goes in a circle."""
    sharpener = plain_sharpener(circular(noise))
    starts = sharpener.singles()
    assert starts
    for start in starts:
        (value,) = sharpener.sharpen([start]).values()
        assert value <= sharpener.value(start)


def test_a_circle_of_moves_ends_with_its_best_group(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a way in a circle the best group is kept that was not given up for a shorter one, in any order of starts."""
    sharpener = plain_sharpener(circular(8))
    checks, late, citizen = ((CodedCondition(0, 0, 1),), (CodedCondition(1, 1, 2),), (CodedCondition(2, 1, 2),))
    both, all_three = (*checks, *late), (*checks, *late, *citizen)
    moves = {checks: both, both: all_three, all_three: checks, citizen: all_three}
    monkeypatch.setattr(sharpener, "step", lambda active: {group: moves[group] for group in active})
    assert sharpener.value(all_three) < sharpener.value(both) < sharpener.value(checks) < sharpener.value(citizen)
    assert list(sharpener.sharpen([all_three])) == [both]
    for starts in ([citizen, checks], [checks, citizen], [both, all_three, checks]):
        assert list(sharpener.sharpen(starts)) == [both]


def test_two_findings_are_told_from_the_stronger_one_on() -> None:
    """A group that is better told as two findings leads to the stronger of them, not to what is left without it."""
    sharpener = plain_sharpener(circular(6))
    parts = [next(s for s in sharpener.singles() if s[0].attribute == j) for j in range(3)]
    group = (parts[0][0], *(CodedCondition(j, 1, 2) for j in (1, 2)))
    target = sharpener.step([group])[group]
    assert target is not None
    assert len(target) < len(group)
    assert sharpener.value(target) <= min(sharpener.value((condition,)) for condition in group)


def test_findings_beside_a_group_of_several_conditions_are_those_of_a_stratified_test() -> None:
    """What a group is worth beside a single condition is the evidence of Mantel and Haenszel within its two sides."""
    sharpener = plain_sharpener(circular(6))
    data = sharpener.data
    checks, others = CodedCondition(0, 0, 1), (CodedCondition(1, 1, 2), CodedCondition(2, 1, 2))
    group = (checks, *others)
    tables = [table[0] for table in sharpener._tables([group])]
    first, both = sharpener._told_apart(group, 0, others, tables)
    assert first == (checks,)
    member, side = sharpener.mask(others), sharpener.mask([checks]).astype(np.int64)
    within = Scorer(coarse_view(data), PARITY, side)
    log_p = float(within.log_p(within.statistic(count_members([others], within.view.data)))[0])
    assert member.any()
    beside = log_p + sharpener.prices.criterion(others) + _TOGETHER
    assert both == pytest.approx(sharpener.value((checks,)) + min(beside, 0.0))
