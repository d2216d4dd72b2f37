"""Arrays per row: they stay with their rows."""

from __future__ import annotations

import numpy as np

from ald.data.design import NO_DESIGN, Design
from tests.coded import coded

FULL = Design(
    strata=np.array([0, 1, 0, 2]),
    clusters=np.array([5, 5, 6, 7]),
    weights=np.array([0.5, 2.0, 1.0, 0.5]),
    half=np.array([0, 0, 1, 1]),
    reference=np.array([True, False, True, False]),
    named=(np.array([True, True, False, False]), np.array([False, True, False, True])),
)


def test_some_rows() -> None:
    """Taking rows takes them from every array, each named group included; what is not there stays away."""
    taken = FULL.take(np.array([3, 0]))
    assert [array.tolist() for array in taken.arrays()] == [
        [2, 0],
        [7, 5],
        [0.5, 0.5],
        [1, 0],
        [False, True],
        [False, True],
        [True, False],
    ]
    assert list(NO_DESIGN.take(np.array([0])).arrays()) == []
    assert NO_DESIGN.take(np.array([0])).named == ()


def test_parts_number_values() -> None:
    """Every array becomes numbers from 0 on in the order of its values, with their bound."""
    numbers, bound = FULL.parts()[2]
    assert (numbers.tolist(), bound) == ([0, 2, 1, 0], 3)


def test_people_who_count_alike() -> None:
    """Strata, halves and marks leave rows independent people; clusters and weights do not."""
    assert Design(strata=FULL.strata, half=FULL.half, reference=FULL.reference, named=FULL.named).samples_people
    assert not Design(clusters=FULL.clusters).samples_people
    assert not Design(weights=FULL.weights).samples_people


def test_rows_with_different_designs_are_not_merged() -> None:
    """Equal rows of different clusters or weights stay apart; those of equal ones become one row with a count."""
    columns = {"a": list("ppqq") * 3, "y": [0, 0, 1, 1] * 3}
    assert len(coded(columns).counts) == 2
    person = [f"c{i % 6}" for i in range(12)]
    by_person = coded(columns | {"person": person}, cluster="person")
    assert (len(by_person.counts), by_person.total) == (len({*zip(columns["a"], person, strict=True)}), 12)
    weighted = coded(columns | {"w": [1.0, 2.0] * 6}, survey_weights="w")
    assert sorted(zip(weighted.counts.tolist(), weighted.design.weights.tolist(), strict=True)) == [
        (3, 1.0),
        (3, 1.0),
        (3, 2.0),
        (3, 2.0),
    ]
