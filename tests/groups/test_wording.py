"""Criteria as people read them: short, and the same people."""

from __future__ import annotations

from ald import Criterion, Interval, Levels
from ald.groups.wording import readable, readable_condition


def test_long_sets_are_short() -> None:
    """Of more than six levels the first three are shown, with their number and that of all levels, if it is known."""
    letters = tuple("abcdefgh")
    assert readable_condition(Levels("job", "nominal", letters[:6])) == "job in {a, b, c, d, e, f}"
    assert readable_condition(Levels("job", "nominal", letters)) == "job in {8 levels: a, b, c, ...}"
    assert readable_condition(Levels("job", "nominal", letters, of=9409)) == "job in {8 of 9,409 levels: a, b, c, ...}"
    excluded = Levels("job", "nominal", letters, negated=True, of=20)
    assert readable_condition(excluded) == "job not in {8 of 20 levels: a, b, c, ...}"


def test_levels_in_short_sets_stay_whole() -> None:
    """A level is cut only within a set that is shortened; what is no plain word stands in quotes."""
    long = "x" * 200
    assert readable_condition(Levels("a b", "nominal", (long,))) == f'"a b" = {long}'
    shown = readable_condition(Levels("a b", "nominal", (long, None, "p & q", *"cdef")))
    assert shown == f'"a b" in {{7 levels: {"x" * 25}...{"x" * 12}, missing, "p & q", ...}}'


def test_bounds_are_rounded() -> None:
    """Bounds of many decimals are rounded, unless that made them one; single values too."""
    assert readable_condition(Interval("x", "numeric", 42.68637888710883, 65.0)) == "42.69 < x <= 65"
    assert readable_condition(Interval("x", "numeric", 0.33331111, 0.33331112)) == "0.33331111 < x <= 0.33331112"
    assert readable_condition(Interval.point("x", "numeric", 0.1 + 0.2)) == "x = 0.3"
    assert readable_condition(Interval("d", "date", 19000.0)) == "d > 2022-01-08"


def test_rounded_bounds_keep_who_lies_on_them() -> None:
    """Searches cut at values of the data: whoever has such a value is on the same side of the bound as it is shown."""
    bound = 1799.3618758749983
    assert readable_condition(Interval("x", "numeric", bound)) == "x > 1799.37"
    assert readable_condition(Interval("x", "numeric", None, bound)) == "x <= 1799.37"
    assert readable_condition(Interval("x", "numeric", bound, None, closed="left")) == "x >= 1799.36"
    assert readable_condition(Interval("x", "numeric", None, bound, closed="left")) == "x < 1799.36"
    assert readable_condition(Interval("x", "numeric", -0.0123456789)) == "x > -0.01234"
    assert readable_condition(Interval("x", "numeric", 1.2345678e300)) == "x > 1.2345678e+300"


def test_conditions_are_joined() -> None:
    """A criterion reads as its conditions do, and one without any as everyone."""
    criterion = Criterion([Levels("sex", "nominal", ("F",)), Interval("age", "numeric", 60.0)])
    assert readable(criterion) == str(criterion) == "age > 60 and sex = F"
    assert readable(Criterion([])) == "everyone"
