"""A criterion as code that picks its members: a pandas filter, and a condition of SQL.

>>> from ald.groups.criterion import Criterion, Interval, Levels
>>> older_women = Criterion([Interval("age", "numeric", lower=60.0), Levels("sex", "nominal", ("F",))])
>>> print(to_pandas(older_women))
df[(df['age'] > 60) & (df['sex'] == 'F')]
>>> print(to_sql(older_women))
WHERE "age" > 60 AND "sex" = 'F'
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import groupby
from math import isfinite

from ald.groups.criterion import CLOSED, Condition, Criterion, Interval, format_bound, visible


def to_pandas(criterion: Criterion) -> str:
    """The members among the rows of a DataFrame `df`: the one that was audited, or one with the same columns."""
    return f"df[{' & '.join(f'({part})' for c in criterion for part in _pandas(c))}]"


def _pandas(condition: Condition) -> list[str]:
    column = f"df[{condition.attribute!r}]"
    if isinstance(condition, Interval):
        if condition.kind != "numeric":
            # Times with a zone are compared in UTC, as the audit does.
            column = f"pd.to_datetime({column}, utc=True)" + (".dt.floor('D')" if condition.kind == "date" else "")
        return [
            f"{column} {sign} {_python_bound(bound, condition.kind)}" for sign, bound in _bounds(condition, "==")
        ] or [f"{column}.notna()"]
    if condition.negated:
        excluded = _pandas(replace(condition, negated=False))
        return [f"~({excluded[0]})", *([] if None in condition.levels else [f"{column}.notna()"])]
    named = [level for level in condition.levels if level is not None]
    values = [value for level in named for value in _python_values(level, condition.kind)]
    if len(values) == 1:
        parts = [f"{column} == {values[0]}"]
    else:
        parts = [f"{column}.isin([{', '.join(values)}])"] if values else []
    if None in condition.levels:
        parts.append(f"{column}.isna()")
    return [parts[0] if len(parts) == 1 else " | ".join(f"({part})" for part in parts)]


def _bounds(interval: Interval, equals: str) -> list[tuple[str, float]]:
    """The comparisons that make the interval: a sign and a value each."""
    if interval.is_point and interval.lower is not None:
        return [(equals, interval.lower)]
    has_lower, has_upper = CLOSED[interval.closed]
    bounds = ((">=" if has_lower else ">", interval.lower), ("<=" if has_upper else "<", interval.upper))
    return [(sign, bound) for sign, bound in bounds if bound is not None]


def _python_bound(bound: float, kind: str) -> str:
    text = format_bound(bound, kind)
    return text if kind == "numeric" else repr(text)


def _python_values(level: str, kind: str) -> list[str]:
    """The values that have this level as their word: a column of numbers may have been audited as words."""
    if kind == "boolean" and level in ("True", "False"):
        return [level]
    return [repr(level)] + ([level] if _is_number(level) else [])


def _is_number(level: str) -> bool:
    try:
        number = float(level)
    except ValueError:
        return False
    return isfinite(number) and format_bound(number, "numeric") == level


def to_sql(criterion: Criterion) -> str | None:
    """The same as a WHERE clause; None if a column's name has characters that SQL cannot write visibly."""
    if any(visible(condition.attribute) != condition.attribute for condition in criterion):
        return None
    return "WHERE " + " AND ".join(part for condition in criterion for part in _sql(condition))


def _sql(condition: Condition) -> list[str]:
    column = '"' + condition.attribute.replace('"', '""') + '"'
    if isinstance(condition, Interval):
        if condition.kind == "date":
            column = f"CAST({column} AS DATE)"
        return [f"{column} {sign} {_sql_bound(bound, condition.kind)}" for sign, bound in _bounds(condition, "=")] or [
            f"{column} IS NOT NULL"
        ]
    if condition.negated:
        # What is missing is neither equal nor unequal to anything, except to being missing.
        return [f"NOT ({_sql(replace(condition, negated=False))[0]})"]
    parts = []
    named = [level for level in condition.levels if level is not None]
    if condition.kind == "boolean" and set(named) <= {"True", "False"}:
        values = [level.upper() for level in named]
    else:
        values = [value for level in named for value in _sql_values(level)]
        if any(_is_number(level) for level in named):
            column = f"CAST({column} AS VARCHAR)"
    if values:
        parts.append(f"{column} = {values[0]}" if len(values) == 1 else f"{column} IN ({', '.join(values)})")
    if None in condition.levels:
        parts.append(f"{column} IS NULL")
    return [parts[0] if len(parts) == 1 else f"({' OR '.join(parts)})"]


def _sql_bound(bound: float, kind: str) -> str:
    text = format_bound(bound, kind)
    return text if kind == "numeric" else f"{'DATE' if kind == 'date' else 'TIMESTAMP'} '{text}'"


def _sql_values(level: str) -> list[str]:
    """The level as text; whole numbers also as a database writes them when they are of a type with decimals."""
    return [_literal(level), _literal(f"{level}.0")] if re.fullmatch(r"-?\d+", level) else [_literal(level)]


def _literal(text: str) -> str:
    """A text of SQL; characters that one cannot see go in by their number."""
    parts = []
    for hidden, characters in groupby(text, key=lambda character: visible(character) != character):
        run = "".join(characters)
        parts += [f"chr({ord(c)})" for c in run] if hidden else ["'" + run.replace("'", "''") + "'"]
    return " || ".join(parts) or "''"
