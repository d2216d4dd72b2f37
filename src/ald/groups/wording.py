"""Criteria as people read them; code, documents and `str` have them whole."""

from __future__ import annotations

from dataclasses import replace

from ald.errors import shorten
from ald.groups.criterion import Condition, Criterion, Interval, format_bound, quote

# Sets of more levels are shortened to the first few.
_MOST, _FIRST = 6, 3
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
    lower, upper = (None if bound is None else _round(bound) for bound in (condition.lower, condition.upper))
    return condition if lower == upper and not condition.is_point else replace(condition, lower=lower, upper=upper)


def _round(bound: float) -> float:
    if len(format_bound(bound, "numeric")) <= 8:
        return bound
    return round(bound, 2) if abs(bound) >= 10 else float(f"{bound:.4g}")
