"""Criteria as people read them; code, documents and `str` have them whole."""

from __future__ import annotations

from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal

from ald.errors import shorten
from ald.groups.criterion import CLOSED, Condition, Criterion, Interval, format_bound, quote

# Sets of more levels are shortened to the first few.
_MOST, _FIRST = 6, 3
# Numbers of this size have no decimals.
_WHOLE = 2.0**53
# Characters of a level in a shortened set.
_LENGTH = 40


def readable(criterion: Criterion) -> str:
    """The criterion with bounds of many decimals rounded, and of a long set of levels the first few.

    >>> from ald.groups.criterion import Levels
    >>> print(readable(Criterion([Interval("age", "numeric", 42.68637888710883, 65.0)])))
    42.69 < age <= 65
    >>> print(readable(Criterion([Levels("job", "nominal", tuple("abcdefgh"), of=9409)])))
    job in {8 of 9,409 levels: a, b, c, ...}
    """
    return " and ".join(map(readable_condition, criterion)) or str(criterion)


def readable_condition(condition: Condition) -> str:
    """The same of one condition."""
    if isinstance(condition, Interval):
        return str(with_round_bounds(condition))
    if len(condition.levels) <= _MOST:
        return str(condition)
    first = ", ".join(
        "missing" if level is None else shorten(quote(level), _LENGTH) for level in condition.levels[:_FIRST]
    )
    number = f"{len(condition.levels):,}" + ("" if condition.of is None else f" of {condition.of:,}")
    return f"{quote(condition.attribute)} {'not in' if condition.negated else 'in'} {{{number} levels: {first}, ...}}"


def with_round_bounds(condition: Interval) -> Interval:
    """The condition with bounds of few decimals."""
    if condition.kind != "numeric":
        return condition
    if condition.is_point:
        assert condition.lower is not None
        point = _round(condition.lower, ROUND_HALF_EVEN)
        return replace(condition, lower=point, upper=point)
    has_lower, has_upper = CLOSED[condition.closed]
    lower = None if condition.lower is None else _round(condition.lower, ROUND_FLOOR if has_lower else ROUND_CEILING)
    upper = None if condition.upper is None else _round(condition.upper, ROUND_CEILING if has_upper else ROUND_FLOOR)
    is_empty = lower is not None and upper is not None and lower >= upper
    return condition if is_empty else replace(condition, lower=lower, upper=upper)


def _round(bound: float, rounding: str) -> float:
    """The bound with few decimals, rounded so that whoever has just this value stays on the same side of it."""
    if len(format_bound(bound, "numeric")) <= 8 or abs(bound) >= _WHOLE:
        return bound
    exact = Decimal(repr(bound))
    last = Decimal("0.01") if abs(bound) >= 10 else Decimal(1).scaleb(exact.adjusted() - 3)
    return float(exact.quantize(last, rounding))
