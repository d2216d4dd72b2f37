"""The audit as a document: `schema: 1`, described in docs/schema.md."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from math import isfinite
from types import NoneType
from typing import TYPE_CHECKING, Any

from ald.config import AuditConfig
from ald.data.prepare import AttributeSummary, DataSummary, LeftOut
from ald.errors import InputError, shorten
from ald.findings import Finding
from ald.notions import Notion, Rate
from ald.power import Detectable
from ald.search.tree import Forest
from ald.version import __version__

if TYPE_CHECKING:
    from ald.auditing import Audit

SCHEMA = 1

# What a document must hold, as far as it is read: a type, [of each], {"*": of each}, {"name": of it}, or alternatives.
_NUMBER = (float, NoneType)
_TEXT = (str, NoneType)
_BY_RATE = {"*": _NUMBER}
_COUNT = (int, NoneType)
_CONDITIONS = [{"attribute": str, "kind": str}]
_STRATUM = {
    "criterion": str,
    "conditions": _CONDITIONS,
    "size": int,
    "size_outside": int,
    "rates_inside": _BY_RATE,
    "rates_outside": _BY_RATE,
    "parts": _BY_RATE,
    "weight": float,
}
_FINDING = {
    "criterion": str,
    "conditions": _CONDITIONS,
    "size": int,
    "share": float,
    "psi": _NUMBER,
    "parts": _BY_RATE,
    "rates_inside": _BY_RATE,
    "rates_outside": _BY_RATE,
    "ratios": _BY_RATE,
    "interval": [_NUMBER],
    "part_intervals": {"*": [_NUMBER]},
    "counts_inside": {"*": int},
    "counts_outside": {"*": int},
    "statistic": _NUMBER,
    "df": int,
    "p_value": _NUMBER,
    "log10_p": _NUMBER,
    "p_adjusted": _NUMBER,
    "log10_p_adjusted": _NUMBER,
    "tree": _COUNT,
    "node": _COUNT,
    "notion": str,
    "outcome": _TEXT,
    "people": _COUNT,
    "psi_crude": _NUMBER,
    "strata": [_STRATUM],
    "test": str,
    "interval_level": float,
    "interval_unadjusted": [_NUMBER],
    "also": [{"criterion": str, "conditions": _CONDITIONS, "size": int, "overlap": float}],
    "stability": _NUMBER,
    "undefined": str,
}
_DOCUMENT = {
    "version": str,
    "notions": [
        {
            "name": str,
            "description": str,
            "rates": [{"key": str, "name": str, "hits": str, "base": str, "better": str}],
        }
    ],
    "config": {
        "outcome": (str, NoneType, [str]),
        **dict.fromkeys(("favourable", "prediction", "truth", "cluster", "survey_weights"), _TEXT),
        "given": [str],
        "groups_of_interest": [str],
    },
    "data": {
        "rows": int,
        "cells": {"*": int},
        "attributes": [{"name": str, "kind": str, "distinct": int, "missing": int}],
        "left_out": [{"name": str, "reason": str}],
        "warnings": [str],
        "rows_search": int,
        "rows_assess": int,
        **dict.fromkeys(("clusters", "clusters_search", "clusters_assess", "strata"), _COUNT),
    },
    "p_any": float,
    "detectable": [{"share": float, "psi": _NUMBER, "notion": str, "outcome": _TEXT}],
    "groups": [_FINDING],
    "named": [_FINDING],
    "candidates": [_FINDING],
    "forest": {
        "trees": int,
        "attributes": [({"name": str, "kind": str, "levels": [_TEXT]}, {"name": str, "kind": str, "cuts": [float]})],
        **{name: [int] for name in ("tree", "node", "parent", "left", "right", "attribute", "cut")},
        "counts": [[int]],
        "sides": {"*": [[int]]},
        "statistic": [_NUMBER],
        "log_p": [_NUMBER],
    },
}


def audit_to_dict(audit: Audit) -> dict[str, Any]:
    """The audit as plain data: only text, numbers, true, false, null, lists and dictionaries."""
    config = {field.name: getattr(audit.config, field.name) for field in fields(AuditConfig) if field.name != "notion"}
    return {
        "schema": SCHEMA,
        "version": __version__,
        "notions": [_plain(asdict(notion)) for notion in audit.config.notions],
        "config": _plain(config),
        "data": _plain(asdict(audit.data_summary)),
        "p_any": audit.p_any,
        "detectable": [asdict(entry) for entry in audit.detectable],
        "groups": [finding.to_dict() for finding in audit.groups],
        "named": [finding.to_dict() for finding in audit.named],
        "candidates": [finding.to_dict() for finding in audit.candidates],
        "forest": audit.forest.to_dict(),
    }


def _plain(value: Any) -> Any:
    """Tuples as lists, all the way down, as JSON would give them back."""
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    return [_plain(entry) for entry in value] if isinstance(value, (list, tuple)) else value


def audit_to_json(audit: Audit) -> str:
    """One line per top-level entry and per group: readable, and the same bytes for the same audit."""
    document = audit_to_dict(audit)
    lines = []
    for key, value in document.items():
        if key in ("groups", "named", "candidates") and value:
            rows = ",\n".join(f"  {_dump(entry)}" for entry in value)
            lines.append(f"{_dump(key)}: [\n{rows}\n]")
        else:
            lines.append(f"{_dump(key)}: {_dump(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _dump(value: Any) -> str:
    # ASCII: level names may hold characters that not every reader of the file can take.
    return json.dumps(value, ensure_ascii=True, allow_nan=False)


def audit_from_json(text: str | bytes) -> Audit:
    """The inverse of `audit_to_json`."""
    from ald.auditing import Audit

    try:
        document = json.loads(text, parse_constant=_refuse)
    except (ValueError, TypeError, RecursionError) as error:
        raise InputError(f"this is not a JSON document: {error}") from None
    found = document.get("schema") if isinstance(document, dict) else None
    if found != SCHEMA:
        raise InputError(f"this is not an audit of schema {SCHEMA}: its `schema` is {found!r}")
    try:
        _check(document, _DOCUMENT, "")
        _check_sizes(document)
        notions = tuple(
            Notion(notion["name"], tuple(Rate(**rate) for rate in notion["rates"]), notion["description"])
            for notion in document["notions"]
        )
        config: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in document["config"].items()
        }
        data = document["data"]
        return Audit(
            config=AuditConfig(notion=notions, **config),
            data_summary=DataSummary(
                **data
                | {
                    "attributes": tuple(AttributeSummary(**entry) for entry in data["attributes"]),
                    "left_out": tuple(LeftOut(**entry) for entry in data["left_out"]),
                    "warnings": tuple(data["warnings"]),
                }
            ),
            groups=tuple(Finding.from_dict(entry) for entry in document["groups"]),
            named=tuple(Finding.from_dict(entry) for entry in document["named"]),
            forest=Forest.from_dict(document["forest"]),
            detectable=tuple(Detectable(**entry) for entry in document["detectable"]),
            p_any=document["p_any"],
            _candidates=tuple(Finding.from_dict(entry) for entry in document["candidates"]),
        )
    except InputError:
        raise
    except (KeyError, IndexError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise InputError(f"this audit document is damaged or incomplete: {error!r}") from None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _check(value: Any, shape: Any, place: str) -> None:
    """Raises where the value is not of the shape."""
    if isinstance(shape, dict) and isinstance(value, dict):
        inside = dict.fromkeys(value, shape["*"]) if "*" in shape else shape
        for key, entry in inside.items():
            if key not in value:
                raise InputError(f"this audit document is damaged or incomplete: it has no `{place}{key}`")
            _check(value[key], entry, f"{place}{key}.")
    elif isinstance(shape, list) and isinstance(value, list):
        for i, entry in enumerate(value):
            _check(entry, shape[0], f"{place}{i}.")
    elif not _is(value, shape):
        raise InputError(f"this audit document is damaged: its `{place[:-1]}` is {shorten(repr(value))}")


def _is(value: Any, shape: Any) -> bool:
    if isinstance(shape, tuple):
        return any(_is(value, alternative) for alternative in shape)
    if isinstance(shape, (list, dict)):
        try:
            if type(value) is type(shape):
                _check(value, shape, "")
        except InputError:
            return False
        return type(value) is type(shape)
    if isinstance(value, bool):
        return False
    if shape is float:
        return isinstance(value, (int, float)) and isfinite(value)
    return isinstance(value, shape) and not (shape is int and abs(value) >= 2**63)


def _check_sizes(document: dict[str, Any]) -> None:
    """Raises where parts of the document do not fit one another."""
    rates = {notion["name"]: {rate["key"] for rate in notion["rates"]} for notion in document["notions"]}
    for entry in (*document["groups"], *document["named"], *document["candidates"]):
        keys = rates.get(entry["notion"])
        by_rate = ("parts", "rates_inside", "rates_outside", "ratios", "part_intervals")
        bounds = [entry["interval"], entry["interval_unadjusted"], *entry["part_intervals"].values()]
        named = [entry[name] for name in by_rate]
        named += [stratum[name] for stratum in entry["strata"] for name in ("parts", "rates_inside", "rates_outside")]
        if any(set(values) != keys for values in named) or any(len(pair) != 2 for pair in bounds):
            raise InputError(
                f"this audit document is damaged: a finding does not fit the notion: {entry['criterion']!r}"
            )
    forest = document["forest"]
    columns = ("tree", "node", "parent", "left", "right", "counts", "attribute", "cut", "statistic", "log_p")
    n, books = len(forest["tree"]), forest["attributes"]
    whole = all(len(forest[name]) == n for name in columns) and len({len(cells) for cells in forest["counts"]}) <= 1
    for attribute, cut in zip(forest["attribute"], forest["cut"], strict=False):
        book = books[attribute] if attribute < len(books) else {}
        whole &= attribute < len(books) and (attribute < 0 or "cuts" not in book or 0 <= cut < len(book["cuts"]))
    whole &= all(-1 <= i < n for name in ("parent", "left", "right") for i in forest[name])
    whole &= all(0 <= int(i) < n and len(sides) == 2 for i, sides in forest["sides"].items())
    if not whole:
        raise InputError("this audit document is damaged: the columns of its forest do not fit one another")
