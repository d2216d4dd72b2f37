"""What a text means: its statements about each attribute become one condition, with the data or without.

Without data, attributes that are compared by size are numbers or times, and all others have levels.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any, TypeVar

from ald.data.columns import MICROSECONDS_PER_DAY, Column
from ald.data.inputs.sources import load
from ald.errors import CriterionError, SettingError, nearest, shorten, shown
from ald.groups.criterion import (
    INTERVAL_KINDS,
    Condition,
    Criterion,
    Interval,
    Levels,
    format_bound,
    parse_bound,
    quote,
)
from ald.groups.language.syntax import Limits, Membership, Statement, is_measure, is_missing, statements
from ald.groups.language.tokens import DATE, MOMENT, NUMBER, Token, error

_EXAMPLES = {
    "numeric": "a number",
    "date": "a date such as 2024-12-31",
    "datetime": "a time such as 2024-12-31 09:30:00",
}

_CODE = re.compile("[+-]?0[0-9]")

_Value = TypeVar("_Value", bound=str | float | None)


def parse(text: str, data: Any = None) -> Criterion:
    """The criterion that a text names; with data (all that `ald.audit` takes), checked against its columns.

    >>> print(parse("sex == 'F' and 30 < age <= 60"))
    30 < age <= 60 and sex = F
    """
    about: dict[str, list[Statement]] = {}
    for statement in _statements(text):
        about.setdefault(statement.name.text, []).append(statement)
    if data is None or not about:
        columns: dict[str, Column] = {}
    else:
        table = load(data, only=list(about))
        columns = {name: table[name] for name in about}
    return Criterion(
        Attribute(text=text, name=name, said=said, column=columns.get(name)).condition() for name, said in about.items()
    )


def _statements(text: str) -> Sequence[Statement]:
    if not isinstance(text, str):
        raise SettingError(f"a criterion must be a text such as 'sex = F and age > 60', not {shown(text)}")
    return statements(text)


def find_mentioned(texts: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The attributes that criteria are about, and the values that they name, without looking at any data.

    >>> find_mentioned(["sex == 'F' and 30 < age <= 60"])
    {'sex': ('F',), 'age': ('30', '60')}
    """
    named: dict[str, dict[str, None]] = {}
    for text in texts:
        for statement in _statements(text):
            values = statement.values if isinstance(statement, Membership) else [token for _, token in statement.bounds]
            named.setdefault(statement.name.text, {}).update((token.text, None) for token in values)
    return {name: tuple(values) for name, values in named.items()}


@dataclass(frozen=True, kw_only=True)
class Attribute:
    """All that a text says about one attribute, and the column, if there is data."""

    text: str
    name: str
    said: Sequence[Statement]
    column: Column | None = None

    def condition(self) -> Condition:
        """The condition that all statements make together."""
        return self._read_measure() if self.kind in INTERVAL_KINDS else self._read_levels()

    @cached_property
    def kind(self) -> str:
        """The column's kind, or what the values look like."""
        if self.column is not None:
            return self.column.kind
        bounds = [value for statement in self._comparisons for _, value in statement.bounds]
        for value in bounds:
            if not is_measure(value):
                raise self._error(
                    f"found {value} where a number or a date was expected; levels can be compared by their order only "
                    "where the data is known",
                    value,
                )
        if bounds:
            kinds = ["datetime" if MOMENT.fullmatch(value.text) else "numeric" for value in bounds]
            if len(set(kinds)) > 1:
                odd = next(value for value, kind in zip(bounds, kinds, strict=True) if kind != kinds[0])
                raise self._error(f"{self._shown} is compared with a number and with a date", odd)
            return kinds[0]
        values = [value for statement in self._memberships for value in statement.values if not is_missing(value)]
        return "boolean" if values and all(value.says("true", "false") for value in values) else "nominal"

    @property
    def _comparisons(self) -> list[Limits]:
        return [statement for statement in self.said if isinstance(statement, Limits)]

    @property
    def _memberships(self) -> list[Membership]:
        return [statement for statement in self.said if isinstance(statement, Membership)]

    # Numbers, dates and times.

    def _read_measure(self) -> Condition:
        """One interval, or one set of values."""
        allowed, excluded = _sets((s.negated, map(self._measure_or_missing, s.values)) for s in self._memberships)
        lower, upper, closed = self._bounds()
        if allowed is None and lower is None and upper is None:
            return self._values(excluded, negated=True)
        if allowed is not None:
            span = Interval(self.name, self.kind, lower, upper, closed)
            present = bool(self._comparisons or excluded)
            kept = [value for value in allowed if value not in excluded and _holds(span, value, present=present)]
            return self._values(kept, negated=False)
        numbers = [value for value in excluded if value is not None]
        if lower in numbers:
            closed = {"both": "right", "left": "neither"}.get(closed, closed)
        if upper in numbers:
            closed = {"both": "left", "right": "neither"}.get(closed, closed)
        span = Interval(self.name, self.kind, lower, upper, closed)
        if lower is not None and upper is not None and not (lower < upper or span.is_point):
            raise self._contradiction()
        if any(_holds(span, number, present=True) for number in numbers):
            raise self._error(
                f"the conditions on {self._shown} leave a range with a gap, which is not a single condition: name the "
                "ranges on its two sides as groups of their own",
                self.said[-1].name,
            )
        return span

    def _bounds(self) -> tuple[float | None, float | None, str]:
        """The largest lower and the smallest upper bound, and which of them belong to the interval."""
        # Of equal bounds the open one is stricter: above for lower ones, below for upper ones.
        lowers: list[tuple[float | None, bool]] = []
        uppers: list[tuple[float | None, bool]] = []
        for statement in self._comparisons:
            for sign, value in statement.bounds:
                side = lowers if sign in (">", ">=") else uppers
                side.append((self._measure(value), sign in (">", "<=")))
        lower, lower_open = max(lowers, default=(None, True))
        upper, upper_closed = min(uppers, default=(None, True))
        if lower_open:
            return lower, upper, "right" if upper_closed else "neither"
        return lower, upper, "both" if upper_closed else "left"

    def _values(self, values: Iterable[float | None], *, negated: bool) -> Condition:
        """The condition that the attribute is one of these values, in ascending order and "missing" last."""
        numbers = sorted(value for value in values if value is not None)
        words: list[str | None] = [format_bound(number, self.kind) for number in numbers]
        if negated and not words:
            return Interval(self.name, self.kind)
        missing = not negated and None in values
        if not words and not missing:
            raise self._contradiction()
        if len(numbers) == 1 and not negated and not missing:
            return Interval.point(self.name, self.kind, numbers[0])
        return Levels(self.name, self.kind, (*words, None) if missing else tuple(words), negated)

    def _measure_or_missing(self, value: Token) -> float | None:
        return None if is_missing(value) else self._measure(value)

    def _measure(self, value: Token) -> float:
        """A value as a number of the attribute's kind."""
        pattern = NUMBER if self.kind == "numeric" else MOMENT
        if not pattern.fullmatch(value.text):
            holds = "" if self.column is None else f" (the column holds values of kind {self.kind})"
            raise self._error(f"found {value} where {_EXAMPLES[self.kind]} was expected{holds}", value)
        try:
            if self.kind == "date" and not DATE.fullmatch(value.text):
                number = parse_bound(value.text, "datetime") / MICROSECONDS_PER_DAY
            else:
                number = parse_bound(value.text, self.kind)
        except ValueError as problem:
            raise self._error(f"there is no such {self.kind}: {problem}", value) from None
        if not isfinite(number):
            raise self._error(f"the number {value} is too large", value)
        if self.kind == "date" and number != int(number):
            raise self._error(f"{self._shown} holds dates without times: write the day only", value)
        return number + 0.0  # -0.0 is 0

    # Levels.

    def _read_levels(self) -> Condition:
        """One set of levels."""
        sets: list[tuple[bool, Iterable[str | None]]] = [
            (s.negated, [None if is_missing(value) else self._level(value) for value in s.values])
            for s in self._memberships
        ]
        sets += [(False, self._in_order(statement)) for statement in self._comparisons]
        allowed, excluded = _sets(sets)
        everything = () if self.column is None else self.column.levels
        if allowed is None:
            if everything and all(level in excluded for level in everything):
                raise self._contradiction()
            return Levels(self.name, self.kind, self._order_levels(excluded), negated=True, of=self._n_levels)
        kept = {level: None for level in allowed if level not in excluded and not (level is None and excluded)}
        if not kept:
            raise self._contradiction()
        return Levels(self.name, self.kind, self._order_levels(kept), of=self._n_levels)

    @property
    def _n_levels(self) -> int | None:
        """How many levels the column has, "missing" being one."""
        return None if self.column is None else self.column.n_codes + bool(self.column.missing.any())

    def _order_levels(self, levels: Mapping[str | None, None]) -> tuple[str | None, ...]:
        """Levels in the order of the column, "missing" last; without a column as they were written."""
        if self.column is None:
            return tuple(levels)
        return tuple(level for level in (*self.column.levels, None) if level in levels)

    def _level(self, value: Token) -> str:
        """The level that a value names."""
        if self.column is None:
            return value.text.capitalize() if self.kind == "boolean" else value.text
        if value.text in self._by_text:
            return value.text
        same = self._by_number.get(_number(value.text), ())
        if len(same) == 1:
            return same[0]
        if value.says("true", "false") and value.text.casefold() in self._by_truth:
            return self._by_truth[value.text.casefold()]
        hint = f" Rows without a value: `{self._shown} is missing`." if value.says("null", "na", "none") else ""
        raise self._error(f"{self._shown} has no level {value}. {nearest(value.text, self.column.levels)}{hint}", value)

    @cached_property
    def _by_text(self) -> dict[str, int]:
        assert self.column is not None
        return {level: i for i, level in enumerate(self.column.levels)}

    @cached_property
    def _by_number(self) -> dict[float | None, list[str]]:
        """The levels that read as each number."""
        found: dict[float | None, list[str]] = {}
        for level in self._by_text:
            number = _number(level)
            if number is not None:
                found.setdefault(number, []).append(level)
        return found

    @cached_property
    def _by_truth(self) -> dict[str, str]:
        folded = {level.casefold(): level for level in reversed(list(self._by_text))}
        return {word: folded[word] for word in ("true", "false") if word in folded}

    def _in_order(self, statement: Limits) -> list[str | None]:
        """The levels of an ordinal attribute within some bounds."""
        assert self.column is not None
        if self.kind != "ordinal":
            levels = ", ".join(shorten(quote(level)) for level in self.column.levels[:2])
            raise self._error(
                f"{self._shown} holds words whose order is not known: name levels, as in "
                f"`{self._shown} in {{{levels}}}`, or give the order as its kind",
                statement.bounds[0][1],
            )
        first, last = 0, len(self.column.levels)
        for sign, value in statement.bounds:
            if is_missing(value):
                raise self._error(f"a missing value has no place in the order: write `{self._shown} is missing`", value)
            place = self._by_text[self._level(value)]
            if sign in (">", ">="):
                first = max(first, place + (sign == ">"))
            else:
                last = min(last, place + (sign == "<="))
        return list(self.column.levels[first:last])

    # Errors.

    def _contradiction(self) -> CriterionError:
        what, them = (
            ("these conditions contradict each other", "all of them")
            if self.said[1:]
            else ("this condition contradicts itself", "it")
        )
        return self._error(f"{what}: no value of {self._shown} satisfies {them}", self.said[-1].name)

    @property
    def _shown(self) -> str:
        return shorten(quote(self.name))

    def _error(self, problem: str, at: Token) -> CriterionError:
        return error(problem, self.text, at.position)


def _sets(
    statements: Iterable[tuple[bool, Iterable[_Value]]],
) -> tuple[dict[_Value, None] | None, dict[_Value, None]]:
    """The values in all sets that are not negated (None if all are), and those in any that is; in order."""
    allowed: dict[_Value, None] | None = None
    excluded: dict[_Value, None] = {}
    for negated, values in statements:
        if negated:
            excluded.update(dict.fromkeys(values))
        else:
            allowed = {value: None for value in values if allowed is None or value in allowed}
    return allowed, excluded


def _number(text: str) -> float | None:
    """The text as a number; None if it is none, or a code with leading zeros such as 007."""
    return float(text) if NUMBER.fullmatch(text) and not _CODE.match(text) else None


def _holds(span: Interval, value: float | None, *, present: bool) -> bool:
    """Whether a value is in an interval; a missing one only if none has to be present."""
    return not present if value is None else span.holds(value)
