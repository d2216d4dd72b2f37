"""Criteria: values, words, documents, masks."""

from __future__ import annotations

import pickle
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ald import ColumnError, Criterion, Interval, Levels, SettingError
from ald.groups.criterion import format_bound, parse_bound, quote, visible

NAMES = st.text(max_size=8)
LEVELS = st.lists(st.none() | NAMES, min_size=1, max_size=4, unique=True).map(tuple)
DAYS = st.integers(-700_000, 2_900_000).map(float)
MICROSECONDS = st.integers(-(2**53), 2**53).map(float)
FINITE = st.floats(allow_nan=False, allow_infinity=False)


def intervals(kind: str, bounds: st.SearchStrategy[float]) -> st.SearchStrategy[Interval]:
    closed = st.sampled_from(["right", "left", "both", "neither"])
    return st.builds(Interval, NAMES, st.just(kind), st.none() | bounds, st.none() | bounds, closed)


def single_values(kind: str, bounds: st.SearchStrategy[float]) -> st.SearchStrategy[Levels]:
    words = st.lists(
        st.none() | bounds.map(lambda bound: format_bound(bound, kind)), min_size=1, max_size=4, unique=True
    )
    return st.builds(Levels, NAMES, st.just(kind), words.map(tuple), st.booleans())


CONDITIONS = st.one_of(
    st.builds(Levels, NAMES, st.sampled_from(["nominal", "ordinal", "boolean"]), LEVELS, st.booleans()),
    single_values("numeric", FINITE),
    single_values("date", DAYS),
    intervals("numeric", FINITE),
    intervals("date", DAYS),
    intervals("datetime", MICROSECONDS),
)
CRITERIA = st.lists(CONDITIONS, max_size=4, unique_by=lambda condition: condition.attribute).map(Criterion)


@given(CRITERIA)
def test_documents_keep_criteria(criterion: Criterion) -> None:
    """A criterion survives its own plain data."""
    assert Criterion.from_list(criterion.to_list()) == criterion
    assert Criterion.from_list(criterion.to_list()).to_list() == criterion.to_list()


def test_the_number_of_all_levels_is_kept_and_says_nothing() -> None:
    """How many levels an attribute has is in documents, and no part of what a criterion says."""
    known = Levels("x", "nominal", ("a", "b"), of=7)
    assert known == Levels("x", "nominal", ("a", "b"))
    assert hash(known) == hash(Levels("x", "nominal", ("a", "b")))
    assert str(known) == "x in {a, b}"
    (read,) = Criterion.from_list([known.to_dict()])
    assert read.to_dict() == {"attribute": "x", "kind": "nominal", "levels": ["a", "b"], "of": 7}


@given(CRITERIA, st.randoms())
def test_the_order_of_conditions_does_not_matter(criterion: Criterion, random: Any) -> None:
    """Criteria of the same conditions are equal, hash alike and read alike."""
    conditions = list(criterion)
    random.shuffle(conditions)
    again = Criterion(conditions)
    assert (again, hash(again), str(again)) == (criterion, hash(criterion), str(criterion))


@given(CRITERIA)
def test_words_can_be_printed(criterion: Criterion) -> None:
    """Whatever names and levels hold, a criterion's text has no control or direction characters."""
    assert not re.search("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]", str(criterion))
    str(criterion).encode("utf-8")


@given(st.text(), st.text())
def test_quoting_is_injective(a: str, b: str) -> None:
    """Different texts are quoted differently."""
    assert (quote(a) == quote(b)) == (a == b)


@pytest.mark.parametrize(
    ("level", "text"),
    [
        ("NA", "x = NA"),
        ("a & b", 'x = "a & b"'),
        ("(x)", 'x = "(x)"'),
        ("<b>", 'x = "<b>"'),
        ("", 'x = ""'),
        ("missing", 'x = "missing"'),
        (None, "x is missing"),
        ("\x1b[31m", r'x = "\x1b[31m"'),
        ('a"b', r'x = "a\"b"'),
        ("Self-emp", "x = Self-emp"),
    ],
)
def test_words_of_levels(level: str | None, text: str) -> None:
    """Levels that could be mistaken for something else stand in quotes."""
    assert str(Levels("x", "nominal", (level,))) == text


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (Interval("age", "numeric", 30.0, 40.0), "30 < age <= 40"),
        (Interval("age", "numeric", None, 40.5), "age <= 40.5"),
        (Interval("age", "numeric", 1e308, None), "age > 1e+308"),
        (Interval("my age", "numeric", -1.0, None), '"my age" > -1'),
        (Interval("d", "date", 18262.0, None), "d > 2020-01-01"),
        (Interval("t", "datetime", 1577836800e6, None), "t > 2020-01-01"),
        (Interval("t", "datetime", 1577836801.5e6, None), "t > 2020-01-01 00:00:01.500000"),
        (Levels("x", "nominal", ("a", None)), "x in {a, missing}"),
        (Interval("age", "numeric", 60.0, None, "left"), "age >= 60"),
        (Interval("age", "numeric", None, 60.0, "neither"), "age < 60"),
        (Interval("age", "numeric", 30.0, 40.0, "left"), "30 <= age < 40"),
        (Interval("age", "numeric", 30.0, 40.0, "both"), "30 <= age <= 40"),
        (Interval("age", "numeric", 30.0, 40.0, "neither"), "30 < age < 40"),
        (Interval("age", "numeric", 60.0, 60.0, "both"), "age = 60"),
        (Interval("age", "numeric"), "age is not missing"),
        (Levels("race", "nominal", ("White",), negated=True), "race != White"),
        (Levels("race", "nominal", ("A", "B"), negated=True), "race not in {A, B}"),
        (Levels("x", "nominal", (None,), negated=True), "x is not missing"),
        (Levels("age", "numeric", ("1", "2.5")), "age in {1, 2.5}"),
    ],
)
def test_words_of_conditions(condition: Levels | Interval, text: str) -> None:
    """Conditions read as one would write them."""
    assert str(condition) == text


def test_everyone() -> None:
    """A criterion without conditions is everyone, in words and in masks."""
    assert str(Criterion([])) == "everyone"
    assert Criterion([]).mask({"a": [1, 2]}).tolist() == [True, True]


@given(st.one_of(st.tuples(st.just("date"), DAYS), st.tuples(st.just("datetime"), MICROSECONDS)))
def test_bounds_survive_their_words(bound: tuple[str, float]) -> None:
    """Dates and times, also before 1970, are read back exactly."""
    kind, value = bound
    assert parse_bound(format_bound(value, kind), kind) == value


@pytest.mark.parametrize("text", ["", "x", "2020", "2020-13-01", "NaT", "now", "today"])
def test_bounds_that_are_no_dates(text: str) -> None:
    """Other words are an error."""
    with pytest.raises(ValueError, match=r"."):
        parse_bound(text, "date")


def test_zoned_bounds_are_utc() -> None:
    """A time with a zone is its instant."""
    assert parse_bound("2020-01-01 02:00:00+02:00", "datetime") == parse_bound("2020-01-01", "datetime")


def test_criteria_are_values() -> None:
    """Criteria cannot be changed, can be pickled, and differ from other things."""
    criterion = Criterion([Levels("x", "nominal", ("a",))])
    with pytest.raises(AttributeError, match="immutable"):
        criterion.conditions = ()
    assert pickle.loads(pickle.dumps(criterion)) == criterion
    assert criterion != "x = a"
    assert len(criterion) == 1


def test_one_condition_per_attribute() -> None:
    """Two conditions on one attribute are an error."""
    with pytest.raises(ValueError, match="at most one condition per attribute"):
        Criterion([Levels("x", "nominal", ("a",)), Interval("x", "numeric", 1.0)])


def test_unknown_kinds_in_documents() -> None:
    """A condition of an unknown kind is an error that lists the kinds."""
    with pytest.raises(ColumnError, match="unknown kind 'fuzzy' of attribute 'x'; kinds are numeric"):
        Criterion.from_list([{"attribute": "x", "kind": "fuzzy", "levels": []}])


def test_masks_need_their_columns() -> None:
    """Data without the column is an error that names it."""
    with pytest.raises(ColumnError, match="there is no column 'x'"):
        Criterion([Levels("x", "nominal", ("a",))]).mask({"z": [1]})


def test_masks_of_incomparable_columns() -> None:
    """A condition on numbers cannot be asked of words that are none."""
    with pytest.raises(ColumnError, match="cannot be numeric: it holds the value 'abc'"):
        Criterion([Interval("x", "numeric", 1.0)]).mask({"x": ["abc"]})


@given(st.lists(st.none() | st.integers(-5, 5), min_size=1), st.integers(-5, 5), st.integers(0, 5))
def test_masks_of_numbers(values: list[int | None], lower: int, width: int) -> None:
    """A mask is the comparison, false where the value is missing."""
    criterion = Criterion([Interval("x", "numeric", float(lower), float(lower + width))])
    expected = [value is not None and lower < value <= lower + width for value in values]
    np.testing.assert_array_equal(criterion.mask({"x": values}), expected)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Interval("x", "numeric", None, 1.0, "both"), Interval("x", "numeric", None, 1.0)),
        (Interval("x", "numeric", None, 1.0, "left"), Interval("x", "numeric", None, 1.0, "neither")),
        (Interval("x", "numeric", 1.0, None, "both"), Interval("x", "numeric", 1.0, None, "left")),
        (Interval("x", "numeric", 1.0, None, "neither"), Interval("x", "numeric", 1.0, None)),
        (Interval("x", "numeric", None, None, "both"), Interval("x", "numeric")),
        (Levels("x", "nominal", ("a", None), negated=True), Levels("x", "nominal", ("a",), negated=True)),
        (Levels("x", "nominal", (), negated=True), Levels("x", "nominal", (None,), negated=True)),
    ],
)
def test_equal_sets_are_equal(one: Levels | Interval, other: Levels | Interval) -> None:
    """Whether a bound that is not there is closed, and whether missing is excluded too, makes no difference."""
    assert one == other
    assert hash(one) == hash(other)
    assert one.to_dict() == other.to_dict()


def test_documents_of_searched_conditions() -> None:
    """Conditions as searches make them have no other keys than ever."""
    assert set(Interval("x", "numeric", 1.0, 2.0).to_dict()) == {"attribute", "kind", "lower", "upper"}
    assert set(Levels("x", "nominal", ("a",)).to_dict()) == {"attribute", "kind", "levels"}


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ({"kind": "numeric", "lower": 1, "upper": 2, "closed": "open"}, "unknown `closed` 'open' of attribute 'x'"),
        ({"kind": "numeric", "lower": 1, "upper": 2, "closed": []}, "unknown `closed`"),
        ({"kind": "nominal", "levels": ["a"], "negated": 1}, "`negated` of attribute 'x' must be true or false"),
        ({"kind": "nominal", "levels": ["a"], "of": "7"}, "`of` of attribute 'x' must be a number of levels"),
        ({"kind": "nominal", "levels": ["a"], "of": True}, "`of` of attribute 'x' must be a number of levels"),
        ({"kind": "numeric", "levels": [1]}, "the levels of attribute 'x' must be a list of words"),
    ],
)
def test_damaged_conditions(entry: dict[str, Any], problem: str) -> None:
    """A document whose condition makes no sense is an error that names the attribute."""
    with pytest.raises(ColumnError, match=problem):
        Criterion.from_list([{"attribute": "x"} | entry])


def test_unknown_closed() -> None:
    """An interval is closed in one of four ways."""
    with pytest.raises(SettingError, match="unknown closed 'open' of an interval; give one of right, left, both"):
        Interval("x", "numeric", 1.0, 2.0, "open")


@pytest.mark.parametrize("closed", ["right", "left", "both", "neither"])
def test_masks_of_closed_intervals(closed: str) -> None:
    """Bounds belong to the interval as `closed` says; pandas agrees."""
    values = pd.Series([1.0, 1.5, 2.0, 2.5, None])
    mask = Criterion([Interval("x", "numeric", 1.0, 2.0, closed)]).mask({"x": values})
    np.testing.assert_array_equal(mask, values.between(1.0, 2.0, inclusive=closed))


@given(st.lists(st.none() | st.sampled_from("abc"), min_size=1), LEVELS)
def test_masks_of_negated_levels(values: list[str | None], levels: tuple[str | None, ...]) -> None:
    """Whoever has another level is in, whoever has none is out."""
    mask = Criterion([Levels("x", "nominal", levels, negated=True)]).mask({"x": values})
    np.testing.assert_array_equal(mask, [value is not None and value not in levels for value in values])


def test_masks_of_single_values() -> None:
    """Levels of a numeric attribute are numbers, also where the data holds them as words."""
    criterion = Criterion([Levels("x", "numeric", ("1", "2.5", None))])
    assert criterion.mask({"x": [1, 2.5, 3, None]}).tolist() == [True, True, False, True]
    assert criterion.mask({"x": ["1.0", "2.50", "3", "?"]}).tolist() == [True, True, False, True]


def test_levels_named() -> None:
    """The length of a description counts levels and bounds."""
    criterion = Criterion([Levels("x", "nominal", ("a", "b")), Interval("z", "numeric", 1.0, 2.0)])
    assert criterion.n_levels == 4
    assert Interval("z", "numeric", 1.0, 1.0, "both").n_levels == 1


@given(st.text())
def test_visible_text_is_stable(text: str) -> None:
    """Text without control characters is shown as it is, and what is shown needs no further escaping."""
    assert visible(visible(text)) == visible(text)
    assert visible("plain text, ünïcode") == "plain text, ünïcode"
    assert visible("\ufffe\uffff\ufdd0") == r"\ufffe\uffff\ufdd0"
