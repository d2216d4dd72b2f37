"""Halves that lead to the same groups: how many, by which descriptions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ald.data.coded import AuditData
from ald.datasets import make_synthetic
from ald.groups.rules import decode
from ald.groups.tree import CodedCondition
from ald.search.everyone.again import found_again
from ald.search.everyone.rounds import Everyone
from ald.search.explore.scoring import Aim
from tests.coded import PARITY, coded
from tests.tables import one_crossing


def first_groups(data: AuditData) -> list[tuple[tuple[CodedCondition, ...], np.ndarray]]:
    found = list(Everyone(data, PARITY, Aim()).rounds())
    return [(taken.criterion, taken.strata) for taken in found if taken.listed]


def test_a_clear_group_is_found_by_every_half() -> None:
    """Many people and a large difference: all halves lead there, and ends of intervals do not tell ways apart."""
    data = coded(make_synthetic(1, rho=0.4, n=3000, seed=1))
    groups = first_groups(data)[:1]
    (again,) = found_again(groups, data, PARITY, Aim(), splits=5)
    assert (again.found, again.halves) == (10, 10)
    assert len(again.descriptions) == 1
    ((criterion, n),) = again.descriptions
    assert (n, {c.attribute for c in criterion}) == (10, {c.attribute for c in groups[0][0]})


def test_a_group_that_is_not_there_is_not_found() -> None:
    """Random people: hardly any half leads to the same ones."""
    rng = np.random.default_rng(0)
    data = coded({"x": rng.random(800), "z": rng.choice(list("pqrs"), 800), "y": rng.integers(0, 2, 800)})
    group = (CodedCondition(0, 100, 300),)
    (again,) = found_again([(group, np.zeros(len(data.cells), np.int64))], data, PARITY, Aim(), splits=5)
    assert again.found <= 2


def test_the_same_distinction_within_strata_is_the_same_finding() -> None:
    """Of three levels, one of which is told before, the second and the third say the same of what is left."""
    rng = np.random.default_rng(2)
    job = rng.choice(["a", "b", "c"], 3000, p=[0.4, 0.3, 0.3])
    y = rng.random(3000) < np.select([job == "a", job == "b"], [0.2, 0.5], 0.8)
    data = coded({"job": job, "y": y})
    groups = first_groups(data)
    assert len(groups) == 2
    again = found_again(groups, data, PARITY, Aim(), splits=5)
    assert again[1].found == 10


def test_threads_and_order_change_nothing() -> None:
    """Halves are drawn from what rows say, and searched one by one."""
    columns = one_crossing(900)
    order = np.random.default_rng(0).permutation(900)
    shuffled = coded({name: column[order] for name, column in columns.items()})
    data = coded(columns)
    group = first_groups(data)[:1]
    expected = found_again(group, data, PARITY, Aim(), splits=4)
    assert found_again(group, data, PARITY, Aim(), splits=4, threads=3) == expected
    assert found_again(group, shuffled, PARITY, Aim(), splits=4) == expected
    assert str(decode(expected[0].descriptions[0][0], data.attributes)) == "a = u and b = p"


def test_strata_of_factors_are_kept() -> None:
    """Within strata that explain a group, halves do not lead to it."""
    rng = np.random.default_rng(3)
    job = rng.integers(0, 4, 3000)
    sex = np.where(rng.random(3000) < 0.1 + 0.25 * job, "f", "m")
    columns = {"sex": sex, "job": job.astype(str), "z": rng.random(3000)}
    data = coded(columns | {"y": rng.random(3000) < 0.1 + 0.2 * job})
    place = [attribute.name for attribute in data.attributes].index("job")
    kept = [i for i in range(3) if i != place]
    given = data.codes[place].astype(np.int64)
    part = replace(data, attributes=tuple(data.attributes[i] for i in kept), codes=tuple(data.codes[i] for i in kept))
    group = (CodedCondition(0, 0, 0, (0,)),)
    everyone = np.zeros(len(given), np.int64)
    (free,) = found_again([(group, everyone)], part, PARITY, Aim(), splits=4)
    (within,) = found_again([(group, given)], part, PARITY, Aim(given=given), splits=4)
    assert free.found == 8
    assert within.found < 8


def test_nothing_to_find_again() -> None:
    """Without groups nothing is searched."""
    assert found_again([], coded(make_synthetic(1, n=100, seed=0)), PARITY, Aim()) == []
