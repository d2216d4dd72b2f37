"""The words of a finding: a criterion is a conjunction of conditions, at most one per attribute.

Criteria are values: they compare and hash by what they say, never by their text. Text appears at the edge only.

>>> c = Criterion([Interval("age", "numeric", lower=60.0), Levels("sex", "nominal", ("F",))])
>>> str(c)
'age > 60 and sex = F'
>>> c.mask({"age": [61, 61, 60], "sex": ["F", "M", "F"]}).tolist()
[True, False, False]
>>> Criterion.parse("sex == 'F' and age > 60") == c
True
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import isfinite
from typing import Any

import numpy as np

from ald._core.arrays import BoolArray
from ald.errors import ColumnError, SettingError

# Kinds of attributes. Intervals belong to the first row; levels to the second, and to the first as single values.
INTERVAL_KINDS = ("numeric", "date", "datetime")
LEVEL_KINDS = ("nominal", "ordinal", "boolean")
KINDS = INTERVAL_KINDS + LEVEL_KINDS

# Which bounds belong to an interval, as (lower, upper). Searches only make the first.
CLOSED = {"right": (False, True), "left": (True, False), "both": (True, True), "neither": (False, False)}

_PLAIN = re.compile(r"[^\W\d_][\w.+/-]*|\d[\w.+/-]*", re.UNICODE)
_RESERVED = {"and", "or", "not", "in", "missing", "true", "false"}
_DATED = re.compile(r"-?\d{4,}-\d\d-\d\d")
_ZONED = re.compile(r":.*(Z|[+-]\d\d(:?\d\d)?)$")

# Control characters, the marks that reorder or hide text, and what is no character at all: shown as escapes wherever
# words are printed.
_UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff\ufdd0-\ufdef\ufeff\ufffe\uffff]"
)


def visible(text: str) -> str:
    """The text with control and direction characters escaped, so that it cannot act on who prints it.

    >>> visible("a\\x1b[31m")
    'a\\\\x1b[31m'
    """
    return _UNPRINTABLE.sub(lambda match: match.group().encode("unicode_escape", "surrogatepass").decode(), text)


def quote(text: str) -> str:
    """The text as it stands in a criterion: plain words as they are, all else in double quotes.

    >>> print(quote("Husband"), quote("a & b"))
    Husband "a & b"
    """
    if _PLAIN.fullmatch(text) and text.casefold() not in _RESERVED:
        return text
    return '"' + visible(text.replace("\\", "\\\\").replace('"', '\\"')) + '"'


def format_bound(value: float, kind: str) -> str:
    """A bound of an interval in words: a number, a date (days since 1970) or a time (microseconds).

    >>> format_bound(30.0, "numeric"), format_bound(19000.0, "date")
    ('30', '2022-01-08')
    """
    if kind == "date":
        return str(np.datetime64(int(value), "D"))
    if kind == "datetime":
        day, time = str(np.datetime64(int(value), "us")).split("T")
        time = time.removesuffix(".000000")
        return day if time == "00:00:00" else f"{day} {time}"
    if abs(value) < 1e15 and value == int(value):
        return str(int(value))
    return repr(float(value))


def parse_bound(text: str | float, kind: str) -> float:
    """The inverse of `format_bound`, for what a JSON document holds. Times with a zone become UTC."""
    if kind == "numeric" or not isinstance(text, str):
        return float(text)
    if not _DATED.match(text):
        raise ValueError(f"{text!r} is not a {kind}")
    zoned = kind == "datetime" and _ZONED.search(text)
    moment = datetime.fromisoformat(text).astimezone(UTC).replace(tzinfo=None) if zoned else text.replace(" ", "T")
    return float(np.datetime64(moment, "D" if kind == "date" else "us").astype(np.int64))


@dataclass(frozen=True, order=True)
class Levels:
    """The attribute has one of some levels (negated: another one). `None` among them means that the value is missing.

    A missing value has no level, so that it never satisfies a negated condition. `of`: how many levels the attribute
    has, if that is known; no part of what the condition says.
    """

    attribute: str
    kind: str
    levels: tuple[str | None, ...]
    negated: bool = False
    of: int | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.negated:
            named = tuple(level for level in self.levels if level is not None)
            object.__setattr__(self, "levels", named or (None,))

    def __str__(self) -> str:
        name = quote(self.attribute)
        words = ["missing" if level is None else quote(level) for level in self.levels]
        if self.levels == (None,):
            return f"{name} is {'not ' if self.negated else ''}missing"
        if len(words) == 1:
            return f"{name} {'!=' if self.negated else '='} {words[0]}"
        return f"{name} {'not in' if self.negated else 'in'} {{{', '.join(words)}}}"

    @property
    def n_levels(self) -> int:
        return len(self.levels)

    def to_dict(self) -> dict[str, Any]:
        entry: dict[str, Any] = {"attribute": self.attribute, "kind": self.kind, "levels": list(self.levels)}
        entry |= {"negated": True} if self.negated else {}
        return entry if self.of is None else entry | {"of": self.of}


@dataclass(frozen=True, order=True)
class Interval:
    """The attribute is between two bounds; None for no bound. Dates are days, times microseconds since 1970.

    `closed` says which bounds belong to it: "right" (lower < attribute <= upper), "left", "both" or "neither".
    """

    attribute: str
    kind: str
    lower: float | None = None
    upper: float | None = None
    closed: str = "right"

    def __post_init__(self) -> None:
        if self.closed not in CLOSED:
            raise SettingError(f"unknown closed {self.closed!r} of an interval; give one of {', '.join(CLOSED)}")
        object.__setattr__(self, "closed", self._canonical())

    def _canonical(self) -> str:
        """One word for equal sets: a bound that is not there is open, and "right" where nothing is closed to say."""
        has_lower, has_upper = CLOSED[self.closed]
        has_lower &= self.lower is not None
        has_upper &= self.upper is not None
        if self.upper is None and not has_lower:
            return "right"
        return next(word for word, sides in CLOSED.items() if sides == (has_lower, has_upper))

    def __str__(self) -> str:
        name = quote(self.attribute)
        lower = "" if self.lower is None else format_bound(self.lower, self.kind)
        upper = "" if self.upper is None else format_bound(self.upper, self.kind)
        has_lower, has_upper = CLOSED[self.closed]
        if self.is_point:
            return f"{name} = {lower}"
        if lower and upper:
            return f"{lower} {'<=' if has_lower else '<'} {name} {'<=' if has_upper else '<'} {upper}"
        if lower:
            return f"{name} {'>=' if has_lower else '>'} {lower}"
        return f"{name} {'<=' if has_upper else '<'} {upper}" if upper else f"{name} is not missing"

    @classmethod
    def point(cls, attribute: str, kind: str, value: float) -> Interval:
        """The interval that holds this value only."""
        return cls(attribute, kind, value, value, "both")

    def holds(self, value: float) -> bool:
        """Whether a value is in it."""
        has_lower, has_upper = CLOSED[self.closed]
        return (self.lower is None or value > self.lower or (has_lower and value == self.lower)) and (
            self.upper is None or value < self.upper or (has_upper and value == self.upper)
        )

    @property
    def is_point(self) -> bool:
        """Whether it holds one value only."""
        return self.lower is not None and self.lower == self.upper and self.closed == "both"

    @property
    def n_levels(self) -> int:
        return 1 if self.is_point else (self.lower is not None) + (self.upper is not None)

    def to_dict(self) -> dict[str, Any]:
        entry = {
            "attribute": self.attribute,
            "kind": self.kind,
            "lower": _bound_value(self.lower, self.kind),
            "upper": _bound_value(self.upper, self.kind),
        }
        return entry if self.closed == "right" else entry | {"closed": self.closed}


Condition = Levels | Interval


def _bound_value(bound: float | None, kind: str) -> float | int | str | None:
    if bound is None:
        return None
    if kind != "numeric":
        return format_bound(bound, kind)
    return int(bound) if abs(bound) < 2**53 and bound == int(bound) else bound


class Criterion:
    """A conjunction of conditions in canonical order (by attribute name). Immutable, hashable."""

    __slots__ = ("conditions",)
    conditions: tuple[Condition, ...]

    def __init__(self, conditions: Iterable[Condition]) -> None:
        ordered = tuple(sorted(conditions, key=lambda condition: condition.attribute))
        names = [condition.attribute for condition in ordered]
        if len(set(names)) < len(names):
            raise ValueError("a criterion has at most one condition per attribute")
        object.__setattr__(self, "conditions", ordered)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Criterion is immutable")

    def __reduce__(self) -> tuple[Any, ...]:
        return (Criterion, (self.conditions,))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Criterion) and self.conditions == other.conditions

    def __hash__(self) -> int:
        return hash(self.conditions)

    def __len__(self) -> int:
        return len(self.conditions)

    def __iter__(self) -> Iterator[Condition]:
        return iter(self.conditions)

    def __str__(self) -> str:
        return " and ".join(str(condition) for condition in self.conditions) or "everyone"

    def __repr__(self) -> str:
        return f"<Criterion {self}>"

    @classmethod
    def parse(cls, text: str, data: Any = None) -> Criterion:
        """The criterion that a text such as `sex == 'F' and age > 60` names; docs/criteria.md has the language.

        With data (a DataFrame, a dict of arrays or a file) names and levels are checked, and attributes are of the
        kinds that they have there. A text that is no criterion is a `CriterionError` that shows where.
        """
        from ald.groups.language import parse

        return parse(text, data)

    @property
    def n_levels(self) -> int:
        """Levels and bounds named: the length of the description beyond its number of conditions."""
        return sum(condition.n_levels for condition in self.conditions)

    def mask(self, data: Any) -> BoolArray:
        """Which rows of the data (a DataFrame, a dict of arrays or a file) belong to the group.

        A missing value satisfies no condition on its attribute, unless the condition names "missing".
        """
        from ald.data.inputs.sources import load

        names = [condition.attribute for condition in self.conditions]
        # Words that a condition names are levels here, even such as stand for no value or are numbers elsewhere.
        named = {
            condition.attribute: [level for level in condition.levels if level is not None]
            for condition in self.conditions
            if isinstance(condition, Levels) and condition.kind == "nominal"
        }
        table = load(data, only=names or None, kinds=named)
        member = np.ones(table.n_rows, dtype=bool)
        for condition in self.conditions:
            member &= table[condition.attribute].matches(condition)
        return member

    def to_list(self) -> list[dict[str, Any]]:
        """The conditions as plain data (the schema's `conditions`)."""
        return [condition.to_dict() for condition in self.conditions]

    @classmethod
    def from_list(cls, conditions: Iterable[Mapping[str, Any]]) -> Criterion:
        """The inverse of `to_list`."""
        return cls(_condition_from(entry) for entry in conditions)


def _condition_from(entry: Mapping[str, Any]) -> Condition:
    name, kind = entry["attribute"], entry["kind"]
    if not isinstance(name, str):
        raise ColumnError(f"an attribute's name must be text, not {name!r}")
    if kind not in KINDS:
        raise ColumnError(f"unknown kind {kind!r} of attribute {name!r}; kinds are {', '.join(KINDS)}")
    if kind in LEVEL_KINDS or "levels" in entry:
        levels, negated = entry["levels"], entry.get("negated", False)
        if isinstance(levels, str) or not all(level is None or isinstance(level, str) for level in levels):
            raise ColumnError(f"the levels of attribute {name!r} must be a list of words, not {levels!r}")
        if not isinstance(negated, bool):
            raise ColumnError(f"`negated` of attribute {name!r} must be true or false, not {negated!r}")
        of = entry.get("of")
        if of is not None and (not isinstance(of, int) or isinstance(of, bool) or of < 0):
            raise ColumnError(f"`of` of attribute {name!r} must be a number of levels, not {of!r}")
        return Levels(name, kind, tuple(levels), negated, of)
    lower, upper = (None if entry[k] is None else parse_bound(entry[k], kind) for k in ("lower", "upper"))
    if not all(bound is None or isfinite(bound) for bound in (lower, upper)):
        raise ColumnError(f"the bounds of attribute {name!r} must be finite numbers")
    closed = entry.get("closed", "right")
    if closed not in tuple(CLOSED):
        raise ColumnError(f"unknown `closed` {closed!r} of attribute {name!r}; give one of {', '.join(CLOSED)}")
    return Interval(name, kind, lower, upper, closed)
