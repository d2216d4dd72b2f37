"""Columns: canonical codes, kinds, conditions."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ald import ColumnError, Interval, Levels
from ald.data.columns import Column, as_word, compact, from_levels, from_numbers, from_objects, parse_numbers

VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.floats(allow_nan=True, allow_infinity=True),
    st.sampled_from(["", "a", "A", "1", "True", "missing"]),
)


def decoded(column: Column) -> list[str | None]:
    words: list[str | None] = [*column.words(), None]
    return [words[code] for code in column.codes]


@given(st.lists(VALUES, min_size=1), st.randoms())
def test_codes_do_not_depend_on_the_order_of_rows(values: list[Any], random: Any) -> None:
    """Shuffled rows give the same kind, the same levels and the same value in every row."""
    order = list(range(len(values)))
    random.shuffle(order)
    straight, shuffled = from_objects("x", values), from_objects("x", [values[i] for i in order])
    assert (straight.kind, straight.words(), straight.n_infinite) == (
        shuffled.kind, shuffled.words(), shuffled.n_infinite)  # fmt: skip
    assert [decoded(straight)[i] for i in order] == decoded(shuffled)


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=1))
def test_numbers_survive_coding(values: list[float]) -> None:
    """Every finite number is found again under its code, and all others are missing."""
    column = from_numbers("x", np.array(values))
    assert column.values is not None
    table = np.append(column.values, np.nan)
    expected = [value if np.isfinite(value) else np.nan for value in values]
    np.testing.assert_array_equal(table[column.codes], expected)
    assert column.n_infinite == sum(np.isinf(value) for value in values)


@given(st.lists(st.integers(-(2**62), 2**62), min_size=1))
def test_whole_numbers_code_as_their_floats_do(values: list[int]) -> None:
    """The two ways of coding whole numbers, by counting and by sorting, agree."""
    counted, sorted_ = from_numbers("x", np.array(values)), from_numbers("x", np.array(values, float))
    assert counted.codes.tolist() == sorted_.codes.tolist()
    assert counted.words() == sorted_.words()


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2.5, None], "numeric"),
        ([Decimal("1.5"), Fraction(1, 3)], "numeric"),
        ([True, 0, 2], "numeric"),
        ([True, False, None], "boolean"),
        (["a", 1], "nominal"),
        ([None, None], "nominal"),
        ([date(2020, 1, 1), None], "date"),
        ([datetime(2020, 1, 1, 3), None], "datetime"),
        ([datetime(2020, 1, 1), datetime(2020, 1, 2)], "date"),
        ([date(2020, 1, 1), datetime(2020, 1, 1, 3)], "datetime"),
        ([np.datetime64("2020-01-01T03"), pd.NaT], "datetime"),
        ([1, pd.NA], "numeric"),
        (["a", pd.NA], "nominal"),
        ([date(2020, 1, 1), "a"], "nominal"),
    ],
)
def test_kinds_of_python_values(values: list[Any], kind: str) -> None:
    """A list's kind follows from all its values, missing ones aside."""
    assert from_objects("x", values).kind == kind


def test_true_and_one_are_different_words() -> None:
    """Among words, True and 1 do not become one level although Python calls them equal."""
    assert from_objects("x", ["a", True, 1]).levels == ("1", "True", "a")


def test_numbers_too_large_for_a_float_are_infinite() -> None:
    """An integer of 400 digits counts as infinite and therefore as missing."""
    column = from_objects("x", [10**400, 1])
    assert (column.n_infinite, column.words()) == (1, ["1"])


def test_negative_zero_is_zero() -> None:
    """-0.0 and 0.0 are one value that prints as 0."""
    assert from_numbers("x", np.array([-0.0, 0.0])).words() == ["0"]


def test_lists_are_words() -> None:
    """Values that Python cannot hash, such as lists, are compared by their text."""
    column = from_objects("x", [[1], [2], [1], None])
    assert column.levels == ("[1]", "[2]")
    assert column.codes.tolist() == [0, 1, 0, 2]


def test_zoned_times_are_utc() -> None:
    """A time with a zone and the same instant in UTC are one value."""
    zoned = datetime.fromisoformat("2020-01-01T03:00:00+02:00")
    assert from_objects("x", [zoned, zoned.astimezone(UTC)]).words() == ["2020-01-01 01:00:00"]


@pytest.mark.parametrize(
    ("value", "word"), [(1.0, "1"), (1, "1"), (0.5, "0.5"), (True, "True"), (b"x", "x"), (np.float32(2), "2")]
)
def test_words_of_values(value: Any, word: str) -> None:
    """A value's word does not depend on the type that carries it."""
    assert as_word(value) == word


@pytest.mark.parametrize("n", [1, 255, 256, 65535, 65536])
def test_compact_codes_hold_the_missing_code(n: int) -> None:
    """The smallest type is wide enough for the code one past the last value."""
    assert compact(np.array([0, n]), n).tolist() == [0, n]


@pytest.mark.parametrize("make", [from_numbers, lambda name, values: from_objects(name, values.tolist())])
@pytest.mark.parametrize("base", [2**53, -(2**60), 2**63])
def test_whole_numbers_that_floating_point_would_merge_are_words(make: Any, base: int) -> None:
    """Different numbers stay different, with a note; those that floating point holds stay numbers."""
    dtype = np.uint64 if base == 2**63 else np.int64
    column = make("id", np.array([base + 1, base, base + 2, base + 1], dtype))
    assert decoded(column) == [str(base + 1), str(base), str(base + 2), str(base + 1)]
    assert column.kind == "nominal"
    assert "read as words" in column.notes[0]
    apart = make("id", np.array([base, base + 4096, 5], dtype))
    assert (apart.kind, apart.notes, apart.n_codes) == ("numeric", (), 3)


def test_missing_whole_numbers_stay_missing() -> None:
    """Also beside numbers that are read as words."""
    values, missing = np.array([2**60 + 1, 0, 2**60]), np.array([False, True, False])
    assert decoded(from_numbers("id", values, missing=missing)) == [str(2**60 + 1), None, str(2**60)]


@pytest.mark.parametrize("kernel", ["c", "numpy"])
@given(
    st.sampled_from([np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, ">i4"]),
    st.data(),
    st.booleans(),
)
def test_whole_numbers_of_any_width(kernel: str, dtype: Any, data: Any, some: bool) -> None:
    """Numbers at both ends of their type, with and without missing ones, are coded as their floats are."""
    ends = np.iinfo(dtype)
    near = data.draw(st.integers(max(ends.min, -(2**52)), min(ends.max, 2**52)))
    low, high = max(ends.min, -(2**52), near - 300), min(ends.max, 2**52, near + 300)
    values = data.draw(st.lists(st.integers(low, high), min_size=1, max_size=300))
    missing = np.array([some and i % 3 == 0 for i in range(len(values))])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ALD_KERNEL", kernel)
        column = from_numbers("x", np.array(values, dtype), missing=missing)
        rows = column.rows.tolist()
    known = sorted({value for value, gone in zip(values, missing, strict=True) if not gone})
    assert column.values is not None
    assert column.values.tolist() == [float(value) for value in known]
    assert column.codes.tolist() == [
        len(known) if gone else known.index(v) for v, gone in zip(values, missing, strict=True)
    ]
    assert column.codes.dtype == compact(np.zeros(0, int), len(known)).dtype
    assert rows == [column.codes.tolist().count(code) for code in range(len(known) + 1)]


@pytest.mark.parametrize("kernel", ["c", "numpy"])
@pytest.mark.parametrize(
    ("dtype", "n"), [(np.int8, 127), (np.uint8, 256), (np.int16, 300), (np.uint16, 65_536), (np.int64, 70_000)]
)
def test_levels_of_any_width(monkeypatch: pytest.MonkeyPatch, kernel: str, dtype: Any, n: int) -> None:
    """Codes of any type name their levels, the last one included, and -1 is missing where the type has it."""
    monkeypatch.setenv("ALD_KERNEL", kernel)
    levels = [f"{i:06}" for i in range(n)]
    codes = [n - 1, 0, *([-1] if np.issubdtype(dtype, np.signedinteger) else []), n - 1]
    expected = [None if code < 0 else levels[code] for code in codes]
    assert decoded(from_levels("x", np.array(codes, dtype), levels)) == expected


def test_the_c_code_refuses_codes_that_do_not_fit() -> None:
    """A code beyond the end of a table, or a result of another length, is an error."""
    compiled = pytest.importorskip("ald.data._tables", reason="the C code was not built")
    for dtype in (np.uint8, np.uint16, np.uint32):
        codes = np.array([0, 1, 2], dtype)
        with pytest.raises(ValueError, match="do not fit"):
            compiled.tally(codes, np.zeros(2, np.int64))
        with pytest.raises(ValueError, match="do not fit"):
            compiled.translate(codes, np.zeros(2, np.uint8), np.zeros(3, np.uint8))
        with pytest.raises(ValueError, match="do not fit"):
            compiled.translate(codes, np.zeros(3, np.uint8), np.zeros(2, np.uint8))
    with pytest.raises(TypeError, match="bytes expected"):
        compiled.tally(np.zeros(3), np.zeros(3, np.int64))
    with pytest.raises(TypeError, match="bytes expected"):
        compiled.tally(np.zeros(3, np.uint8), np.zeros(3, np.int32))
    with pytest.raises(TypeError, match="bytes expected"):
        compiled.translate(np.zeros(3, np.uint8), np.zeros(3, np.uint8), np.zeros(3, np.uint16))


def test_levels_that_do_not_occur_are_dropped() -> None:
    """A declared category without rows is no level."""
    column = from_levels("x", np.array([2, -1]), ["S", "M", "L"], ordered=True)
    assert (column.kind, column.levels, column.codes.tolist()) == ("ordinal", ("L",), [0, 1])


def test_levels_are_sorted_by_code_point() -> None:
    """Unordered levels stand in code-point order whatever order they came in."""
    assert from_levels("x", np.array([0, 1, 2]), ["b", "a", "B"]).levels == ("B", "a", "b")


@pytest.mark.parametrize(
    ("words", "numbers"),
    [(["1", " 2 "], [1, 2]), (["1", "NA", "?"], [1, np.nan, np.nan]), (["1_000"], None), (["1", "x"], None)],
)
def test_numbers_in_words(words: list[str], numbers: list[float] | None) -> None:
    """Words are numbers if all are, where usual marks for "no value" count as missing."""
    found = parse_numbers(words)
    if numbers is None:
        assert found is None
    else:
        np.testing.assert_array_equal(found, numbers)


class TestAsKind:
    """Overrides of a column's kind."""

    def test_numbers_as_nominal(self) -> None:
        """Numbers become words sorted as words."""
        column = from_numbers("x", np.array([2, 10])).as_kind("nominal")
        assert (column.kind, column.levels) == ("nominal", ("10", "2"))

    def test_numbers_as_ordinal(self) -> None:
        """Numbers as ordered levels keep their order."""
        assert from_numbers("x", np.array([2, 10])).as_kind("ordinal").levels == ("2", "10")

    def test_words_as_numeric(self) -> None:
        """Words that are numbers become numbers."""
        column = from_objects("x", ["2", "10", "NA"]).as_kind("numeric")
        assert (column.kind, column.words(), column.codes.tolist()) == ("numeric", ["2", "10"], [0, 1, 2])

    def test_words_as_numeric_name_the_culprit(self) -> None:
        """A word that is no number is named."""
        with pytest.raises(ColumnError, match="column 'x' cannot be numeric: it holds the value 'abc'"):
            from_objects("x", ["2", "abc"]).as_kind("numeric")

    def test_words_as_ordinal_need_an_order(self) -> None:
        """Without a given order words cannot be ordinal, and the message shows how to give it."""
        with pytest.raises(ColumnError, match="Give it, lowest first"):
            from_objects("x", ["S", "L"]).as_kind("ordinal")

    def test_given_order(self) -> None:
        """A list of levels is their order."""
        column = from_objects("x", ["S", "L", "M", None]).as_kind(["S", "M", "L"])
        assert (column.kind, column.levels, column.codes.tolist()) == ("ordinal", ("S", "M", "L"), [0, 2, 1, 3])

    def test_given_order_may_name_more_than_occurs(self) -> None:
        """A level of the order that no row has is not counted."""
        column = from_objects("x", ["S", "L"]).as_kind(["S", "M", "L"])
        assert (column.levels, column.codes.tolist()) == (("S", "L"), [0, 1])

    def test_given_order_of_numbers(self) -> None:
        """The order of a numeric column may be given in numbers."""
        assert from_numbers("x", np.array([1, 2, 3])).as_kind([3.0, 1, "2"]).levels == ("3", "1", "2")  # type: ignore[list-item]

    @pytest.mark.parametrize(("order", "problem"), [(["S"], "it lacks 'L'"), (["S", "L", "S"], "it repeats one")])
    def test_bad_orders(self, order: list[str], problem: str) -> None:
        """An order must name each level once."""
        with pytest.raises(ColumnError, match=problem):
            from_objects("x", ["S", "L"]).as_kind(order)

    def test_boolean_of_three_values(self) -> None:
        """Three values cannot be boolean."""
        with pytest.raises(ColumnError, match="it has 3 different values"):
            from_numbers("x", np.array([1, 2, 3])).as_kind("boolean")

    def test_words_as_dates(self) -> None:
        """Words in ISO form become dates, marks for "no value" missing."""
        column = from_objects("x", ["2020-01-02", "2019-12-31", "NA"]).as_kind("date")
        assert (column.kind, column.words(), column.codes.tolist()) == ("date", ["2019-12-31", "2020-01-02"], [1, 0, 2])

    def test_words_as_times(self) -> None:
        """Words in ISO form become times."""
        assert from_objects("x", ["2020-01-02 03:04:05"]).as_kind("datetime").words() == ["2020-01-02 03:04:05"]

    @pytest.mark.parametrize("word", ["x", "2020", "now", "2020-13-01", "1/2/2020"])
    def test_words_that_are_no_dates(self, word: str) -> None:
        """Another word is an error that names it."""
        with pytest.raises(ColumnError, match="cannot be of kind 'date': it holds the value"):
            from_objects("x", [word]).as_kind("date")

    def test_times_as_dates(self) -> None:
        """A time as a date is its day, also before 1970."""
        column = from_objects("x", [datetime(2020, 1, 1, 23), datetime(1969, 12, 31, 1)]).as_kind("date")
        assert (column.kind, column.words()) == ("date", ["1969-12-31", "2020-01-01"])

    def test_numbers_as_dates(self) -> None:
        """Numbers are no dates: days since when?"""
        with pytest.raises(ColumnError, match="cannot be read as 'date'"):
            from_numbers("x", np.array([1.0])).as_kind("date")


class TestMatches:
    """Conditions on a column."""

    def test_missing_satisfies_no_interval(self) -> None:
        """A missing number is neither below nor above a bound."""
        column = from_objects("x", [1, None, 3])
        assert column.matches(Interval("x", "numeric", upper=2.0)).tolist() == [True, False, False]
        assert column.matches(Interval("x", "numeric", lower=2.0)).tolist() == [False, False, True]

    def test_missing_is_a_level_if_named(self) -> None:
        """Only the level None, not the word "missing", means a missing value."""
        column = from_objects("x", ["missing", None])
        assert column.matches(Levels("x", "nominal", (None,))).tolist() == [False, True]
        assert column.matches(Levels("x", "nominal", ("missing",))).tolist() == [True, False]

    def test_bounds(self) -> None:
        """An interval excludes its lower bound and includes its upper one."""
        column = from_numbers("x", np.array([1, 2, 3]))
        assert column.matches(Interval("x", "numeric", lower=1.0, upper=2.0)).tolist() == [False, True, False]

    def test_dates_in_a_column_of_times(self) -> None:
        """A condition on days holds for every time of these days."""
        column = from_objects("x", [datetime(2020, 1, 1, 23, 59), datetime(2020, 1, 2, 0, 1)])
        day = float((date(2020, 1, 1) - date(1970, 1, 1)).days)
        assert column.matches(Interval("x", "date", upper=day)).tolist() == [True, False]

    def test_times_in_a_column_of_dates(self) -> None:
        """A condition on times takes a date as its midnight."""
        column = from_objects("x", [date(2020, 1, 1), date(2020, 1, 2)])
        noon = (datetime(2020, 1, 1, 12) - datetime(1970, 1, 1)).total_seconds() * 1e6
        assert column.matches(Interval("x", "datetime", lower=noon)).tolist() == [False, True]

    def test_dates_in_a_column_of_words(self) -> None:
        """A condition on dates reads words as dates."""
        column = from_objects("x", ["2020-01-01", "2020-01-02"])
        assert column.matches(Interval("x", "date", lower=18262.0)).tolist() == [False, True]

    def test_numbers_in_a_column_of_words(self) -> None:
        """A condition on numbers reads words as numbers."""
        assert from_objects("x", ["1", "10", "NA"]).matches(Interval("x", "numeric", lower=2.0)).tolist() == [
            False,
            True,
            False,
        ]


def test_take_forgets_values_that_are_gone() -> None:
    """After some rows are dropped, only values that still occur are left."""
    column = from_objects("x", ["a", "b", None, "c"]).take(np.array([1, 2, 3]))
    assert (column.levels, column.codes.tolist()) == (("b", "c"), [0, 2, 1])
    numbers = from_numbers("x", np.array([5.0, np.nan, 7.0])).take(np.array([1, 2]))
    assert (numbers.words(), numbers.codes.tolist()) == (["7"], [1, 0])
