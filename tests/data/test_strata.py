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
from ald.data.sources import load
from ald.data.strata import BINS, Strata, check_strata, default_bins, make_strata


def strata_of(columns: dict[str, Any], names: list[str], bins: int | None = None) -> Strata:
    table = load(columns)
    return make_strata([table[name] for name in names], np.ones(table.n_rows, np.int64), bins)


def test_levels_are_strata() -> None:
    """Every combination of levels that occurs is a stratum; missing is a level of its own."""
    columns = {"a": ["x", "y", "x", None, "x"], "b": [True, True, True, False, False]}
    found = strata_of(columns, ["a", "b"])
    assert len(found) == 4
    assert found.numbers[0] == found.numbers[2]
    assert len(set(found.numbers.tolist())) == 4
    words = [str(found.criterion(s)) for s in found.numbers.tolist()]
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
    found = strata_of(columns, ["x", "day", "g"], bins)
    assert sorted(set(found.numbers.tolist())) == list(range(len(found)))
    for stratum in range(len(found)):
        assert found.criterion(stratum).mask(columns).tolist() == (found.numbers == stratum).tolist()
        assert ald.Criterion.parse(str(found.criterion(stratum)), columns).mask(columns).any()


@given(st.integers(0, 1000), st.integers(2, 20))
def test_numbers_are_cut_into_quantiles(seed: int, bins: int) -> None:
    """A number without ties is cut as pandas.qcut does: at most so many bins, of equal sizes to within one person."""
    x = np.random.default_rng(seed).permutation(97).astype(float)
    found = strata_of({"x": x}, ["x"], bins)
    sizes = np.bincount(found.numbers)
    assert len(sizes) == bins
    assert sizes.max() - sizes.min() <= 1
    expected = pd.qcut(x, bins, labels=False)
    assert np.abs(found.numbers - expected).max() <= 1


def test_ties_are_not_torn_apart() -> None:
    """People with the same number are in the same stratum, however many they are."""
    x = [0.0] * 80 + list(range(1, 21))
    found = strata_of({"x": x}, ["x"], 5)
    assert len(set(found.numbers[:80].tolist())) == 1
    assert len(found) <= 5


def test_few_values_are_strata_themselves() -> None:
    """A number with no more values than bins is not binned."""
    assert len(strata_of({"x": [1, 2, 3, 1]}, ["x"], 3)) == 3


@pytest.mark.parametrize(("people", "bins"), [(1, 4), (64, 4), (1000, 10), (27_000, 30), (10**7, 100)])
def test_the_number_of_bins(people: int, bins: int) -> None:
    """Numbers are cut into the cube root of the number of people, from 4 to 100 bins."""
    assert default_bins(people) == bins
    assert BINS[0] <= bins <= BINS[1]


def checked(strata: list[int], cells: list[int]) -> list[str]:
    made = strata_of({"g": [f"s{s}" for s in strata]}, ["g"])
    return check_strata(made, np.array(cells), np.ones(len(cells), np.int64), 2)


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
