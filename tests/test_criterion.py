"""Criteria: values, words, documents, masks."""

from __future__ import annotations

import pickle
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ald import ColumnError, Criterion, Interval, Levels
from ald.criterion import format_bound, parse_bound, quote, visible

NAMES = st.text(max_size=8)
LEVELS = st.lists(st.none() | NAMES, min_size=1, max_size=4, unique=True).map(tuple)
DAYS = st.integers(-700_000, 2_900_000).map(float)
MICROSECONDS = st.integers(-(2**53), 2**53).map(float)
FINITE = st.floats(allow_nan=False, allow_infinity=False)


def intervals(kind: str, bounds: st.SearchStrategy[float]) -> st.SearchStrategy[Interval]:
    return st.builds(Interval, NAMES, st.just(kind), st.none() | bounds, st.none() | bounds)


CONDITIONS = st.one_of(
    st.builds(Levels, NAMES, st.sampled_from(["nominal", "ordinal", "boolean"]), LEVELS),
    intervals("numeric", FINITE),
    intervals("date", DAYS),
    intervals("datetime", MICROSECONDS),
)
CRITERIA = st.lists(CONDITIONS, max_size=4, unique_by=lambda condition: condition.attribute).map(Criterion)


@given(CRITERIA)
def test_documents_keep_criteria(criterion: Criterion) -> None:
    """A criterion survives its own plain data."""
    assert Criterion.from_list(criterion.to_list()) == criterion


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


def test_levels_named() -> None:
    """The length of a description counts levels and bounds."""
    criterion = Criterion([Levels("x", "nominal", ("a", "b")), Interval("z", "numeric", 1.0, 2.0)])
    assert criterion.n_levels == 4


@given(st.text())
def test_visible_text_is_stable(text: str) -> None:
    """Text without control characters is shown as it is, and what is shown needs no further escaping."""
    assert visible(visible(text)) == visible(text)
    assert visible("plain text, ünïcode") == "plain text, ünïcode"
    assert visible("\ufffe\uffff\ufdd0") == r"\ufffe\uffff\ufdd0"
