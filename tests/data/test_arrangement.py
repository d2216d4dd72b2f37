"""Weights, clusters, halves and groups in words, from columns: what is taken, and what is refused."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ald
from ald import ColumnError, InputError
from ald.data.arrangement import HALF_WORDS, cluster_numbers, mark_rows, own_halves, row_weights
from ald.data.inputs.sources import load, load_halves
from ald.data.roles import Roles
from tests.coded import coded
from tests.tables import people

NAN = float("nan")


# Weights


def test_rows_of_weight_0_are_left_out() -> None:
    """Rows that stand for nobody are not kept, whichever column says so; all others keep their numbers."""
    table = load({"y": [0, 1, 0, 1], "n": [2, 0, 3, 1], "w": [0.5, 1.0, 0.0, 2.0]})
    counts, weights, kept = row_weights(table, Roles(outcome="y", weights="n", survey_weights="w"))
    assert counts is not None
    assert weights is not None
    assert kept is not None
    assert (counts.tolist(), weights.tolist(), kept.tolist()) == ([2, 1], [0.5, 2.0], [0, 3])


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ([1.0, -2.0, 1.0], r"survey weights 'w' must not be negative; found -2"),
        ([1.0, NAN, 1.0], "survey weights 'w' has 1 missing or infinite values"),
        ([1.0, float("inf"), 1.0], "survey weights 'w' has 1 missing or infinite values"),
        ([0.0, 0.0, 0.0], "survey weights 'w' are all 0: there is nobody to audit"),
        (["a", "b", "c"], "survey weights 'w' must be numbers above 0; the column holds values of kind nominal"),
    ],
)
def test_bad_survey_weights(values: list[Any], problem: str) -> None:
    """Weights that are negative, missing, infinite, all 0 or no numbers are errors."""
    with pytest.raises(ColumnError, match=problem):
        row_weights(load({"y": [0, 1, 0], "w": values}), Roles(outcome="y", survey_weights="w"))


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ([1, -2, 1], r"weights 'n' must be whole numbers from 0 on \(people per row\); found -2"),
        (
            [1, 2.5, 1],
            r"found 2\.5\. Fractional weights are not counts: for a survey, say weights=ald.SurveyWeights\('n'\)",
        ),
        ([1, NAN, 1], "weights 'n' has 1 missing or infinite values"),
        ([0, 0, 0], "weights 'n' are all 0"),
    ],
)
def test_bad_counts(values: list[Any], problem: str) -> None:
    """Counts must be whole numbers; where they are fractions, the error names the option for surveys."""
    with pytest.raises(ColumnError, match=problem):
        row_weights(load({"y": [0, 1, 0], "n": values}), Roles(outcome="y", weights="n"))


# Clusters


def test_clusters_are_numbered() -> None:
    """Rows have the same number where they are about the same person, and only there."""
    table = load({"y": [0, 1, 0, 1], "id": [7, 3, 7, 9]})
    found = cluster_numbers(table, Roles(outcome="y", cluster="id"), np.ones(4, np.int64))
    assert found is not None
    assert found.tolist() == [1, 0, 1, 2]


def test_everyone_needs_a_cluster() -> None:
    """A row that does not say whom it is about is an error."""
    table = load({"y": [0, 1, 0], "id": ["a", None, "b"]})
    with pytest.raises(ColumnError, match="cluster 'id' has 1 missing values of 3"):
        cluster_numbers(table, Roles(outcome="y", cluster="id"), np.ones(3, np.int64))


def test_a_cluster_larger_than_half_of_the_data() -> None:
    """A person with more than half of all rows, or of the people they stand for, is an error; half is none."""
    table = load({"y": [0, 1, 0, 1], "id": ["a", "a", "b", "c"]})
    roles = Roles(outcome="y", cluster="id")
    assert cluster_numbers(table, roles, np.ones(4, np.int64)) is not None
    with pytest.raises(ColumnError, match="cluster 'id': one of its values has 3 of 5 rows, more than half"):
        cluster_numbers(table, roles, np.array([1, 2, 1, 1]))


@given(st.integers(0, 10_000), st.floats(0.05, 0.95))
def test_clusters_are_drawn_as_a_whole(seed: int, share: float) -> None:
    """No person is in both halves, no row is lost, and the first half has its share of people."""
    rng = np.random.default_rng(seed)
    person = rng.integers(0, 40, 200)
    columns = {"a": rng.choice(list("pqr"), 200), "person": [f"p{i}" for i in person], "y": [0, 1] * 100}
    data = coded(columns, cluster="person")
    d1, d2 = data.halves(rng, share)
    assert d1.design.clusters is not None
    assert d2.design.clusters is not None
    first, second = set(d1.design.clusters.tolist()), set(d2.design.clusters.tolist())
    assert not first & second
    assert first | second == set(range(len(set(person.tolist()))))
    assert len(first) == int(share * len(first | second))
    assert d1.total + d2.total == 200
    sample = d2.sample(0.632, rng)
    assert set(np.unique(sample - d2.counts)) <= {0, *(-d2.counts).tolist()}


# Halves


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([2023, 2024, 2023], [0, 1, 0]),
        ([2.5, 1.5, 2.5], [1, 0, 1]),
        ([date(2024, 2, 1), date(2023, 2, 1), date(2024, 2, 1)], [1, 0, 1]),
        ([True, False, True], [1, 0, 1]),
        *(([second, first.upper(), second], [1, 0, 1]) for first, second in HALF_WORDS if first != "false"),
    ],
)
def test_a_column_says_who_is_in_which_half(values: list[Any], expected: list[int]) -> None:
    """The lower number or the earlier date is searched, or the first of a known pair of words in any letters."""
    found = own_halves(load({"y": [0, 1, 0], "s": values}), Roles(outcome="y", split="s"), None, None)
    assert found is not None
    assert found.tolist() == expected


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        (["a", "b", "a"], "which of them is for the search.*search and assess; train and test"),
        (["a", "b", "c"], "split 's' must have two values, .* it has 3: 'a', 'b', 'c'"),
        ([1, 1, 1], "split 's' must have two values, .* it has 1"),
        ([1, 2, NAN], "split 's' has 1 missing values: every row needs a half"),
        (["train", "testing", "train"], "which of them is for the search"),
    ],
)
def test_columns_that_do_not_say(values: list[Any], problem: str) -> None:
    """Words without a known order, more or fewer than two values, and missing ones are errors."""
    with pytest.raises(ColumnError, match=problem):
        own_halves(load({"y": [0, 1, 0], "s": values}), Roles(outcome="y", split="s"), None, None)


def test_numbers_written_as_words_are_numbers() -> None:
    """Years that came as words are in the order of the years."""
    halves = own_halves(load({"y": [0, 1, 0], "s": ["2024", "999", "2024"]}), Roles(outcome="y", split="s"), None, None)
    assert halves is not None
    assert halves.tolist() == [1, 0, 1]


def test_own_halves_must_not_share_people() -> None:
    """A person with rows in both halves is an error, which names nobody."""
    table = load({"y": [0, 1, 0, 1], "s": [1, 1, 2, 2], "id": ["a", "b", "b", "c"]})
    roles = Roles(outcome="y", split="s", cluster="id")
    clusters = cluster_numbers(table, roles, np.ones(4, np.int64))
    with pytest.raises(InputError, match="1 clusters of 'id' are in both halves: then"):
        own_halves(table, roles, None, clusters)


def test_two_data_sets_are_the_halves() -> None:
    """Two data sets become one table, the first of them for the search."""
    table, half = load_halves(({"a": [1, 2], "y": [0, 1]}, {"a": [2, 3], "y": [1, 1]}))
    assert half.tolist() == [0, 0, 1, 1]
    assert table["a"].words() == ["1", "2", "3"]
    assert table["y"].codes.tolist() == [0, 1, 1, 1]


@pytest.mark.parametrize("copied", [False, True])
def test_the_same_data_set_twice(copied: bool) -> None:
    """The same data for search and assessment is an error, also if it is an equal copy."""
    first = people(100)
    second = {name: list(values) for name, values in first.items()} if copied else first
    with pytest.raises(InputError, match="are the same: groups must be tested on people who did not suggest them"):
        load_halves((first, second))


def test_overlapping_data_sets() -> None:
    """Data sets that share rows by a column that identifies them are an error, which names none."""
    first, second = ({"id": [f"p{i}" for i in rows], "y": [0, 1] * 5} for rows in (range(10), range(8, 18)))
    with pytest.raises(InputError, match=r"2 rows are in both data sets \(by column 'id'\): groups"):
        load_halves((first, second))


def test_data_sets_with_the_same_rows() -> None:
    """Without such a column, data sets that share rows are an error if rows are hardly ever alike; chance is none."""
    rng = np.random.default_rng(0)
    table = {"x": rng.random(300), "y": rng.integers(0, 2, 300)}
    first, second = ({name: values[rows] for name, values in table.items()} for rows in (slice(200), slice(180, 300)))
    with pytest.raises(InputError, match=r"20 rows are in both data sets \(alike in every column\)"):
        load_halves((first, second))
    coarse = {"x": rng.integers(0, 5, 300), "y": table["y"]}
    load_halves(({name: values[:150] for name, values in coarse.items()}, {k: v[150:] for k, v in coarse.items()}))


def test_data_sets_with_different_columns() -> None:
    """Columns that one data set lacks are left out; without a common one there is nothing to audit."""
    table, _ = load_halves(({"a": [1], "b": [1], "y": [0]}, {"y": [1], "a": [2], "c": [3]}))
    assert table.names == ["a", "y"]
    with pytest.raises(InputError, match="have no column in common"):
        load_halves(({"a": [1]}, {"b": [1]}))


def test_data_sets_with_different_kinds_and_levels() -> None:
    """Levels are those of both; a column of two kinds is read as words, with a note that says so."""
    table, _ = load_halves(({"g": ["x", "y"], "n": [1, 2]}, {"g": ["z", None, "z"], "n": ["1", "many", "1"]}))
    assert table["g"].levels == ("x", "y", "z")
    assert table["g"].missing.tolist() == [False, False, False, True, False]
    assert (table["n"].kind, table["n"].levels) == ("nominal", ("1", "2", "many"))
    assert table["n"].codes.tolist() == [0, 1, 0, 2, 0]
    assert "'n' is numeric in the first data set and nominal in the second" in table["n"].notes[0]


# Groups in words


def test_marked_rows() -> None:
    """The rows of a group in words are those of its mask."""
    columns = people(200)
    criterion = ald.Criterion.parse("sex = F and age > 40", columns)
    found = mark_rows(load(columns), criterion, np.ones(200, np.int64), "reference")
    assert found.tolist() == criterion.mask(columns).tolist()


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("age > 79", "the named group 'age > 79' is empty: nobody of 200 people satisfies it"),
        ("age > 0", "the named group 'age > 0' is everyone: nobody is left to compare with"),
        ("everyone", "the named group 'everyone' is everyone"),
    ],
)
def test_nobody_and_everyone(words: str, problem: str) -> None:
    """A group that is empty or everyone cannot be compared with anyone."""
    columns = people(200)
    with pytest.raises(InputError, match=problem):
        mark_rows(load(columns), ald.Criterion.parse(words, columns), np.ones(200, np.int64), "named group")
