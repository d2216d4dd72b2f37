"""What a document must hold, as a value: what is read is checked by it, and the published JSON Schema is made of it."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from types import NoneType
from typing import Any

from ald.errors import InputError, shown

# Whole numbers that every reader of JSON can hold in 64 bits.
_MOST = 2**63 - 1
_NAMES: dict[type, str] = {str: "string", bool: "boolean", int: "integer", float: "number", NoneType: "null"}


@dataclass(frozen=True, kw_only=True)
class Within:
    """A number of this type between two bounds, which belong to it."""

    of: type
    low: float
    high: float


# A shape is a type, `Within`, [of each], {"*": of each}, {"name": of it}, or a tuple of alternatives.
Shape = Any

PEOPLE = Within(of=int, low=0, high=2**62)
# What is added up of amounts may be negative, too.
ADDED = Within(of=int, low=-(2**62), high=2**62)
PLACE = Within(of=int, low=-1, high=2**62)
SHARE = Within(of=float, low=0.0, high=1.0)
LOG = Within(of=float, low=-1e15, high=0.0)
# What is computed from data is never so large; what stands in the data may be.
COMPUTED = Within(of=float, low=-1e15, high=1e15)


def check_shape(value: Any, shape: Shape, place: str = "") -> None:
    """Raises where the value is not of the shape."""
    if isinstance(shape, dict) and isinstance(value, dict):
        inside = dict.fromkeys(value, shape["*"]) if "*" in shape else shape
        for key, entry in inside.items():
            if key not in value:
                raise InputError(f"this audit document is damaged or incomplete: it has no `{place}{key}`")
            check_shape(value[key], entry, f"{place}{key}.")
    elif isinstance(shape, list) and isinstance(value, list):
        for i, entry in enumerate(value):
            check_shape(entry, shape[0], f"{place}{i}.")
    elif not _is(value, shape):
        raise InputError(f"this audit document is damaged: its `{place[:-1]}` is {shown(value)}")


def _is(value: Any, shape: Shape) -> bool:
    if isinstance(shape, tuple):
        return any(_is(value, alternative) for alternative in shape)
    if isinstance(shape, Within):
        return _is(value, shape.of) and shape.low <= value <= shape.high
    if isinstance(shape, (list, dict)):
        try:
            if type(value) is type(shape):
                check_shape(value, shape)
        except InputError:
            return False
        return type(value) is type(shape)
    if isinstance(value, bool) or shape is bool:
        return isinstance(value, bool) and shape is bool
    if shape is float:
        return isinstance(value, (int, float)) and isfinite(value)
    return isinstance(value, shape) and not (shape is int and abs(value) > _MOST)


def json_schema(shape: Shape) -> dict[str, Any]:
    """The shape as JSON Schema (2020-12): other keys than the named ones may be there too.

    >>> json_schema({"size": PEOPLE, "names": [str]})["properties"]["names"]
    {'type': 'array', 'items': {'type': 'string'}}
    """
    if isinstance(shape, tuple):
        alternatives = [json_schema(one) for one in shape]
        names = [one["type"] for one in alternatives if set(one) == {"type"}]
        return {"type": names} if len(names) == len(alternatives) else {"anyOf": alternatives}
    if isinstance(shape, Within):
        return json_schema(shape.of) | {"minimum": shape.low, "maximum": shape.high}
    if isinstance(shape, list):
        return {"type": "array", "items": json_schema(shape[0])}
    if not isinstance(shape, dict):
        return {"type": _NAMES[shape]}
    if "*" in shape:
        return {"type": "object", "additionalProperties": json_schema(shape["*"])}
    properties = {name: json_schema(entry) for name, entry in shape.items()}
    return {"type": "object", "required": list(shape), "properties": properties}
