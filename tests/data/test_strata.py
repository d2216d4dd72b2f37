"""Strata of legitimate factors: what they are made of, and when they are of no use."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ald
from ald import InputError
from ald.data.coded import attribute_of, encode
from ald.data.design import Design
from ald.data.inputs.sources import load
from ald.data.prepare import Prepared, prepare
from ald.data.roles import Roles
from ald.data.strata import BINS, Factors, Strata, default_bins, in_strata
from ald.notions import OUTCOME_CELLS
from tests.tables import cutoff


def prepared(columns: dict[str, Any], names: list[str], bins: int | None = None, **roles: Any) -> Prepared:
    """The columns as they are prepared, given some of them; rows have their number as their attribute."""
    options = Roles(outcome="y", given=tuple(names), given_bins=bins, attributes=("row",), **roles)
    return prepare(load(columns | {"row": list(range(len(columns["y"])))}), options, OUTCOME_CELLS)


def strata_of(columns: dict[str, Any], names: list[str], bins: int | None = None) -> tuple[Strata, Any]:
    """What the strata are, and the number of every row's; without `y` everyone has the same outcome."""
    table = load(columns | {"row": list(range(len(columns[names[0]])))})
    factors, codes = zip(*(attribute_of(table[name]) for name in names), strict=True)
    cells = np.array(columns.get("y", [0] * table.n_rows)).astype(np.uint8)
    data = encode([table["row"]], cells, None, 2, Design(factors=codes))
    found, (data,) = in_strata([data], Factors(factors=factors, bins=bins or default_bins(table.n_rows)), data)
    assert data.design.strata is not None
    return found, data.design.strata[np.argsort(data.codes[0])]


def test_levels_are_strata() -> None:
    """Every combination of levels that occurs is a stratum; missing is a level of its own."""
    columns = {"a": ["x", "y", "x", None, "x"], "b": [True, True, True, False, False]}
    found, numbers = strata_of(columns, ["a", "b"])
    assert len(found) == 4
    assert numbers[0] == numbers[2]
    assert len(set(numbers.tolist())) == 4
    words = [str(found.criterion(s)) for s in numbers.tolist()]
    assert words == ['a = x and b = "True"', 'a = y and b = "True"', 'a = x and b = "True"',
                     'a is missing and b = "False"', 'a = x and b = "False"']  # fmt: skip


@given(st.integers(0, 1000), st.integers(2, 12), st.integers(3, 200))
def test_a_stratum_says_who_belongs_to_it(seed: int, bins: int, n: int) -> None:
    """The words of a stratum, read as a criterion, select exactly its rows: numbers, dates, words, missing values."""
    rng = np.random.default_rng(seed)
    columns = {
        "x": [None if rng.random() < 0.1 else float(v) for v in rng.normal(size=n).round(1)],
        "day": [(np.datetime64("2024-01-01") + int(v)).item() for v in rng.integers(0, 60, n)],
        "g": rng.choice(["p", "q"], n).tolist(),
    }
    found, numbers = strata_of(columns, ["x", "day", "g"], bins)
    assert sorted(set(numbers.tolist())) == list(range(len(found)))
    for stratum in range(len(found)):
        assert found.criterion(stratum).mask(columns).tolist() == (numbers == stratum).tolist()
        assert ald.Criterion.parse(str(found.criterion(stratum)), columns).mask(columns).any()


@given(st.integers(0, 1000), st.integers(2, 20))
def test_numbers_are_cut_into_quantiles(seed: int, bins: int) -> None:
    """A number without ties on which the outcome does not depend is cut as pandas.qcut does, to within one person."""
    x = np.random.default_rng(seed).permutation(97).astype(float)
    _, numbers = strata_of({"x": x}, ["x"], bins)
    sizes = np.bincount(numbers)
    assert len(sizes) == bins
    assert sizes.max() - sizes.min() <= 1
    expected = pd.qcut(x, bins, labels=False)
    assert np.abs(numbers - expected).max() <= 1


def test_ties_are_not_torn_apart() -> None:
    """People with the same number are in the same stratum, however many they are."""
    x = [0.0] * 80 + list(range(1, 21))
    found, numbers = strata_of({"x": x}, ["x"], 5)
    assert len(set(numbers[:80].tolist())) == 1
    assert len(found) <= 5


def test_few_values_are_strata_themselves() -> None:
    """A number with no more values than bins is not binned."""
    assert len(strata_of({"x": [1, 2, 3, 1]}, ["x"], 3)[0]) == 3


@pytest.mark.parametrize(("people", "bins"), [(1, 4), (64, 4), (1000, 10), (27_000, 30), (10**7, 100)])
def test_the_number_of_bins(people: int, bins: int) -> None:
    """Numbers are cut into the cube root of the number of people, from 4 to 100 bins."""
    assert default_bins(people) == bins
    assert BINS[0] <= bins <= BINS[1]


def checked(strata: list[int], cells: list[int]) -> list[str]:
    """The warnings about strata."""
    found = prepared({"g": [f"s{s}" for s in strata], "y": cells}, ["g"])
    return [warning for warning in found.summary.warnings if "given 'g'" in warning]


def test_strata_of_one_row_each() -> None:
    """Where everyone is alone in their stratum, nobody can be compared: an error."""
    with pytest.raises(InputError, match="given 'g' puts each of 6 people into a stratum of one"):
        checked([0, 1, 2, 3, 4, 5], [0, 1, 0, 1, 0, 1])


def test_a_factor_that_determines_the_outcome() -> None:
    """Where everyone in a stratum has the same outcome, there is no difference left: an error."""
    with pytest.raises(InputError, match="given 'g' determines the outcome"):
        checked([0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1])


@pytest.mark.parametrize(
    ("strata", "cells", "warning"),
    [
        ([0] * 6, [0, 1, 0, 1, 0, 1], "given 'g' has one stratum only: it changes nothing"),
        ([0, 0, 0, 1, 2, 3], [0, 1, 0, 1, 0, 1], "makes 4 strata, and 3 of 6 people are alone in theirs"),
        ([0, 0, 1, 1, 1, 1], [0, 1, 1, 1, 1, 1], "4 of 6 people are in a stratum where everyone has the same outcome"),
    ],
)
def test_strata_of_little_use(strata: list[int], cells: list[int], warning: str) -> None:
    """One stratum only, many people alone, or many without a different outcome beside them: a warning."""
    (said,) = checked(strata, cells)
    assert warning in said


def test_useful_strata_say_nothing() -> None:
    """Strata in which people can be compared give no warning."""
    assert checked([0, 0, 0, 1, 1, 1], [0, 1, 0, 1, 0, 1]) == []


def halves_of(columns: dict[str, Any], names: list[str], bins: int | None = None, **roles: Any) -> tuple[Strata, Any]:
    """The strata that rows with half 0 cut, and the parts."""
    found = prepared(columns, names, bins, split="half", **roles)
    assert found.given is not None
    d1, d2 = found.data.halves(np.random.default_rng(0))
    return in_strata([d1, d2], found.given, d1)


def test_classes_start_where_the_outcome_jumps() -> None:
    """A jump of the outcome is the end of a class to within a few people, wherever it lies between quantiles."""
    for seed in range(20):
        columns, at = cutoff(2000, seed)
        found, _ = strata_of(columns, ["score"])
        ends = [str(condition) for condition in found.factors[0].conditions]
        between = [np.sum((columns["score"] > min(at, end)) & (columns["score"] <= max(at, end)))
                   for end in found.factors[0].ends]  # fmt: skip
        assert min(between) <= 12, (seed, ends)


def test_the_assessment_has_no_say_in_strata() -> None:
    """Strata of both halves are those that the outcomes of the search's half cut: the other half's may be anything."""
    columns, _ = cutoff(2000, 3)
    half = np.arange(2000) % 2
    seen, (_, d2) = halves_of(columns | {"half": half}, ["score"])
    turned = columns | {"half": half, "y": np.where(half == 1, 1 - columns["y"], columns["y"])}
    again, (_, other) = halves_of(turned, ["score"])
    assert [cut.conditions for cut in seen.factors] == [cut.conditions for cut in again.factors]
    assert np.bincount(d2.design.strata).tolist() == np.bincount(other.design.strata).tolist()
    turned["y"] = np.where(half == 0, 1 - columns["score"].round() % 2, columns["y"]).astype(int)
    assert [cut.conditions for cut in halves_of(turned, ["score"])[0].factors] != [c.conditions for c in seen.factors]


def test_halves_have_the_same_strata() -> None:
    """A stratum means the same people in both halves, also where it occurs in one only."""
    columns, _ = cutoff(500, 4)
    columns |= {"half": np.arange(500) % 2, "place": np.where(np.arange(500) % 50 == 1, "rare", "usual")}
    seen, parts = halves_of(columns, ["score", "place"], 5)
    for half, part in enumerate(parts):
        rows = part.codes[0]
        for stratum in range(len(seen)):
            mask = seen.criterion(stratum).mask(columns)
            assert set(rows[part.design.strata == stratum].tolist()) == set(
                np.flatnonzero(mask & (columns["half"] == half))
            )


def test_finer_strata_cut_every_class_of_one_number_in_two() -> None:
    """For every number there are strata in which its classes are cut in two; words stay as they are."""
    columns, _ = cutoff(1000, 5)
    columns |= {"half": np.arange(1000) % 2, "other": np.arange(1000) % 97, "place": np.arange(1000) % 3}
    seen, (_, d2) = halves_of(columns, ["score", "other", "place"], 4, kinds={"place": "nominal"})
    assert (len(seen), seen.finer) == (48, ("score", "other"))
    for finer in d2.design.finer:
        assert 90 <= len(np.unique(finer)) <= 96
        assert len(np.unique(finer * 48 + d2.design.strata)) == len(np.unique(finer))


def test_numbers_with_few_values_cannot_be_cut_finer() -> None:
    """Where every value is a class by itself, there are no finer strata."""
    columns = {"x": [1, 2, 3, 1] * 20, "y": [0, 1, 1] * 26 + [0, 0], "half": [0, 0, 0, 0, 1, 1, 1, 1] * 10}
    seen, (_, d2) = halves_of(columns, ["x"], 3)
    assert (seen.finer, d2.design.finer) == ((), ())


def test_clusters_do_not_make_changes() -> None:
    """Rows of a person with one value and one outcome are no jump: the classes are the quantiles."""
    rng = np.random.default_rng(6)
    person = np.repeat(np.arange(300), 20)
    columns = {"x": rng.permutation(300)[person], "y": (rng.random(300) < 0.5).astype(int)[person]}
    plain = prepared(columns, ["x"], 6)
    by_person = prepared(columns | {"person": [f"p{i}" for i in person]}, ["x"], 6, cluster="person")
    sizes = [np.bincount(found.whole.design.strata, found.whole.counts) for found in (plain, by_person)]
    assert max(sizes[0]) > 1100
    assert set(sizes[1].tolist()) == {1000}


def test_groups_are_made_of_whole_classes() -> None:
    """A legitimate factor that may describe groups has its classes as values: within them people count as alike."""
    columns, _ = cutoff(1000, 7)
    options = Roles(outcome="y", given=("score",), given_in_criteria=True, split="half")
    found = prepare(load(columns | {"half": np.arange(1000) % 2}), options, OUTCOME_CELLS)
    assert found.given is not None
    d1, d2 = found.data.halves(np.random.default_rng(0))
    strata, (d1, d2) = in_strata([d1, d2], found.given, d1)
    (at,) = [i for i, attribute in enumerate(d1.attributes) if attribute.name == "score"]
    for half in (d1, d2):
        assert half.attributes[at].values is not None
        assert half.attributes[at].values.tolist() == strata.factors[0].ends.tolist()
        assert half.codes[at].tolist() == half.design.strata.tolist()
