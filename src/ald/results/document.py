"""The audit as a document: `schema: 1`, described in docs/schema.md."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from itertools import pairwise
from math import isfinite
from types import NoneType
from typing import TYPE_CHECKING, Any

from ald._core.version import __version__
from ald.assess.power import Detectable
from ald.data.outcomes import OutcomeSummary
from ald.data.prepare import AttributeSummary, DataSummary, LeftOut
from ald.errors import InputError, shorten
from ald.groups.tree import Forest
from ald.notions import Notion, Rate
from ald.options import AuditConfig
from ald.options.table import AUDIT_OPTIONS
from ald.profiles import Profile
from ald.results.details import Details
from ald.results.finding import Finding
from ald.results.gaps import Gaps
from ald.results.mode import Mode

if TYPE_CHECKING:
    from ald.results.audit import Audit

SCHEMA = 1
# The lists of findings.
_FINDINGS = ("giveaways", "groups", "named_groups", "candidates")

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
    "notion": str,
    "outcome": _TEXT,
    "people": _COUNT,
    "size_all": _COUNT,
    "psi_crude": _NUMBER,
    "psi_by_chance": _NUMBER,
    "given_groups": [{"criterion": str, "conditions": _CONDITIONS}],
    "strata": [_STRATUM],
    "finer": [
        {
            "factor": str,
            "strata": int,
            **dict.fromkeys(("psi", "p_adjusted", "log10_p_adjusted"), _NUMBER),
            **dict.fromkeys(("turned", "holds"), bool),
        }
    ],
    "test": str,
    "interval_level": float,
    "interval_unadjusted": [_NUMBER],
    "also": [{"criterion": str, "conditions": _CONDITIONS, "size": int, "overlap": float}],
    "stability": _NUMBER,
    "undefined": str,
}
_GAP = {
    "criterion": str,
    "conditions": _CONDITIONS,
    "notion": str,
    "outcome": _TEXT,
    "size": int,
    "people": _COUNT,
    "share": float,
    "psi": _NUMBER,
    "parts": _BY_RATE,
    "rates_inside": _BY_RATE,
    "rates_outside": _BY_RATE,
    "interval": [_NUMBER],
    "part_intervals": {"*": [_NUMBER]},
    "p_adjusted": _NUMBER,
    "log10_p_adjusted": _NUMBER,
    "test": str,
    "undefined": str,
}
_CHANCE = {"as_strong": _COUNT, "bound": bool}
_TOGETHER = {
    **_CHANCE,
    "attributes": [str],
    "df": int,
    "listed": bool,
    "drawn": _COUNT,
    **dict.fromkeys(("statistic", "p_value", "log10_p", "p_adjusted", "log10_p_adjusted"), _NUMBER),
}
# What only findings of one way of testing have.
_OF_TREES = {"tree": _COUNT, "node": _COUNT}
_SHUFFLED = {
    **_CHANCE,
    "claim": str,
    "shuffles": int,
    "psi_new": _NUMBER,
    "exaggerated": (bool, NoneType),
    "halves": int,
    "found": int,
    "descriptions": [{"criterion": str, "conditions": _CONDITIONS, "halves": int}],
}
_TREE = {"tree": int, "counts": [[int]]}
_HALVES = {"rows_search": int, "rows_assess": int, **dict.fromkeys(("clusters_search", "clusters_assess"), _COUNT)}
_FOREST = {
    "trees": int,
    "attributes": [({"name": str, "kind": str, "levels": [_TEXT]}, {"name": str, "kind": str, "cuts": [float]})],
    **{name: [int] for name in ("tree", "node", "parent", "left", "right", "attribute", "cut")},
    "counts": [[int]],
    "sides": {"*": [[int]]},
    "statistic": [_NUMBER],
    "log_p": [_NUMBER],
}
_DOCUMENT = {
    "version": str,
    "mode": {"name": str},
    "notions": [
        {
            "name": str,
            "description": str,
            "rates": [{"key": str, "name": str, "hits": str, "base": str, "better": str}],
        }
    ],
    "config": {
        "outcome": (str, NoneType, [str]),
        "favourable": (str, NoneType, [_TEXT]),
        **dict.fromkeys(("prediction", "truth", "cluster", "survey_weights"), _TEXT),
        "given": [str],
        "named_groups": [str],
    },
    "data": {
        "rows": int,
        "outcomes": [{"name": str, "negative": str, "positive": str}],
        "cells": {"*": int},
        "attributes": [{"name": str, "kind": str, "distinct": int, "missing": int}],
        "left_out": [{"name": str, "reason": str}],
        "warnings": [str],
        **dict.fromkeys(("clusters", "strata"), _COUNT),
    },
    "p_any": float,
    "detectable": [{"share": float, "psi": _NUMBER, "notion": str, "outcome": _TEXT}],
    "giveaways": [_FINDING],
    "groups": [_FINDING],
    "named_groups": [_FINDING],
    "gaps": {
        "compared": int,
        "interval_level": float,
        "shortened": {"*": int},
        "absent": str,
        "rows": [_GAP],
    },
    "details": {
        "curves": [
            {
                "attribute": str,
                "kind": str,
                "outcome": _TEXT,
                "bins": [{"counts": [int], "first": _NUMBER, "last": _NUMBER, "levels": [_TEXT], "n_levels": int}],
            }
        ],
        "dropped": [
            [
                {
                    "attribute": str,
                    "size": int,
                    "share": float,
                    "psi": _NUMBER,
                    "rates_inside": _BY_RATE,
                    "rates_outside": _BY_RATE,
                    "interval": [_NUMBER],
                    "undefined": str,
                    "within": [[int]],
                }
            ]
        ],
    },
    "profile": (
        NoneType,
        {
            "name": str,
            "columns": {"*": str},
            "tables": [
                {
                    "roles": [str],
                    "categories": [{"names": [str], "people": int, "selected": int}],
                    "unknown": int,
                }
            ],
        },
    ),
    "candidates": [_FINDING],
    "significant": [int],
}


def audit_to_dict(audit: Audit) -> dict[str, Any]:
    """The audit as plain data: only text, numbers, true, false, null, lists and dictionaries."""
    return _to_dict(audit, audit.candidates, audit.gaps, audit.forest)


def reduced_to_dict(audit: Audit, most: int) -> dict[str, Any]:
    """The same with so many candidates and gaps at most, and without trees that no listed group comes from.

    `reduced` counts what is left out.
    """
    trees = {finding.tree for finding in audit.groups if finding.tree is not None}
    document = _to_dict(audit, audit.first_candidates(most), audit.gaps.first(most), audit.forest.only(trees))
    left_out = {} if audit.mode.is_everyone else {"trees": audit.forest.n_trees - len(trees)}
    left_out |= {
        "candidates": audit.n_candidates - len(document["candidates"]),
        "gaps": len(audit.gaps) - len(document["gaps"]["rows"]),
    }
    return {"schema": document.pop("schema"), "reduced": left_out, **document}


def _to_dict(audit: Audit, candidates: Sequence[Finding], gaps: Gaps, forest: Forest) -> dict[str, Any]:
    keys = [key for key, option in AUDIT_OPTIONS.items() if option.in_document and key != "notion"]
    document = {
        "schema": SCHEMA,
        "version": __version__,
        "mode": audit.mode.to_dict(),
        "notions": [_plain(asdict(notion)) for notion in audit.config.notions],
        "config": _plain({key: getattr(audit.config, key) for key in keys}),
        "data": _plain(asdict(audit.data_summary)),
        "p_any": audit.p_any,
        "detectable": [asdict(entry) for entry in audit.detectable],
        "giveaways": [finding.to_dict() for finding in audit.giveaways],
        "groups": [finding.to_dict() for finding in audit.groups],
        "named_groups": [finding.to_dict() for finding in audit.named_groups],
        "gaps": gaps.to_dict(),
        "details": _plain(audit.details.to_dict()),
        "profile": None if audit.profile is None else _plain(audit.profile.to_dict()),
        "candidates": [finding.to_dict() for finding in candidates],
        "significant": list(audit.significant),
        "forest": forest.to_dict(),
    }
    if audit.mode.is_everyone:
        # Nobody was kept apart, and no tree grew.
        document["data"] = {key: value for key, value in document["data"].items() if key not in _HALVES}
        del document["forest"]
        del document["details"]["trees"]
    return document


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
        if key in _FINDINGS and value:
            lines.append(f"{_dump(key)}: {_dump_rows(value)}")
        elif key == "gaps" and value["rows"]:
            rest = [f"{_dump(name)}: {_dump(entry)}" for name, entry in value.items() if name != "rows"]
            lines.append(f'{_dump(key)}: {{{", ".join(rest)}, "rows": {_dump_rows(value["rows"])}}}')
        else:
            lines.append(f"{_dump(key)}: {_dump(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _dump_rows(rows: Sequence[Any]) -> str:
    return "[\n" + ",\n".join(f"  {_dump(row)}" for row in rows) + "\n]"


def _dump(value: Any) -> str:
    # ASCII: level names may hold characters that not every reader of the file can take.
    return json.dumps(value, ensure_ascii=True, allow_nan=False)


def audit_from_json(text: str | bytes) -> Audit:
    """The inverse of `audit_to_json`."""
    from ald.results.audit import Audit

    try:
        document = json.loads(text, parse_constant=_refuse)
    except (ValueError, TypeError, RecursionError) as error:
        raise InputError(f"this is not a JSON document: {error}") from None
    found = document.get("schema") if isinstance(document, dict) else None
    if found != SCHEMA:
        raise InputError(f"this is not an audit of schema {SCHEMA}: its `schema` is {found!r}")
    reduced = document.get("reduced")
    if isinstance(reduced, dict) and (reduced.get("candidates") or reduced.get("gaps")):
        raise InputError(
            "this is the reduced document of a report, without most of its candidates and gaps; read the one that "
            "audit.save('audit.json') or --output audit.json wrote"
        )
    try:
        _check(document, _DOCUMENT, "")
        mode = Mode(**document["mode"])
        _check_mode(document, mode)
        _check_sizes(document, mode)
        notions = tuple(
            Notion(notion["name"], tuple(Rate(**rate) for rate in notion["rates"]), notion["description"])
            for notion in document["notions"]
        )
        config: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in document["config"].items()
        }
        data = document["data"]
        if mode.is_everyone:
            data = data | {"rows_assess": data["rows"]}
        return Audit(
            config=AuditConfig(notion=notions, **config),
            mode=mode,
            data_summary=DataSummary(
                **data
                | {
                    "outcomes": tuple(OutcomeSummary(**entry) for entry in data["outcomes"]),
                    "attributes": tuple(AttributeSummary(**entry) for entry in data["attributes"]),
                    "left_out": tuple(LeftOut(**entry) for entry in data["left_out"]),
                    "warnings": tuple(data["warnings"]),
                }
            ),
            giveaways=tuple(Finding.from_dict(entry) for entry in document["giveaways"]),
            groups=tuple(Finding.from_dict(entry) for entry in document["groups"]),
            named_groups=tuple(Finding.from_dict(entry) for entry in document["named_groups"]),
            forest=_forest(document),
            detectable=tuple(Detectable(**entry) for entry in document["detectable"]),
            p_any=document["p_any"],
            _details=Details.from_dict(document["details"]),
            _gaps=Gaps.from_dict(document["gaps"]),
            profile=None if document["profile"] is None else Profile.from_dict(document["profile"]),
            _candidates=tuple(Finding.from_dict(entry) for entry in document["candidates"]),
            significant=tuple(document["significant"]),
        )
    except InputError:
        raise
    except (KeyError, IndexError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise InputError(f"this audit document is damaged or incomplete: {error!r}") from None


def _forest(document: dict[str, Any]) -> Forest:
    if "forest" in document:
        return Forest.from_dict(document["forest"])
    return Forest.joined([], len(document["data"]["cells"]))


def _check_mode(document: dict[str, Any], mode: Mode) -> None:
    """Raises where parts are missing that audits of this kind have."""
    findings = [(name, i, entry) for name in _FINDINGS for i, entry in enumerate(document[name])]
    for name, i, entry in findings:
        place = f"{name}.{i}."
        for key, shape in (("together", _TOGETHER), ("shuffled", _SHUFFLED)):
            if key in entry:
                _check(entry[key], shape, f"{place}{key}.")
        if "shuffled" not in entry:
            _check(entry, _OF_TREES, place)
    if mode.is_everyone:
        _check(document["mode"], {"shuffles": int, "parts": int, "complete": bool}, "mode.")
        _check(document, {"groups": [{"shuffled": _SHUFFLED}], "candidates": [{"shuffled": _SHUFFLED}]}, "")
        return
    _check(document, {"data": _HALVES, "forest": _FOREST, "details": {"trees": [_TREE]}}, "")


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
    if isinstance(value, bool) or shape is bool:
        return isinstance(value, bool) and shape is bool
    if shape is float:
        return isinstance(value, (int, float)) and isfinite(value)
    return isinstance(value, shape) and not (shape is int and abs(value) >= 2**63)


def _check_sizes(document: dict[str, Any], mode: Mode) -> None:
    """Raises where parts of the document do not fit one another."""
    rates = {notion["name"]: {rate["key"] for rate in notion["rates"]} for notion in document["notions"]}
    findings = [entry for name in _FINDINGS for entry in document[name]]
    for entry in findings:
        keys = rates.get(entry["notion"])
        by_rate = ("parts", "rates_inside", "rates_outside", "ratios", "part_intervals")
        bounds = [entry["interval"], entry["interval_unadjusted"], *entry["part_intervals"].values()]
        strata = [stratum[name] for stratum in entry["strata"] for name in ("rates_inside", "rates_outside", "parts")]
        rated = [*(entry[name] for name in by_rate), *strata]
        if any(set(values) != keys for values in rated) or any(len(pair) != 2 for pair in bounds):
            raise InputError(
                f"this audit document is damaged: a finding does not fit the notion: {entry['criterion']!r}"
            )
    config = document["config"]
    named = config["outcome"] or [config["prediction"], config["truth"]]
    audited = dict.fromkeys([named] if isinstance(named, str) else named)
    if [entry["name"] for entry in document["data"]["outcomes"]] != list(audited):
        raise InputError("this audit document is damaged: `outcomes` of `data` are not those of `config`")
    significant = document["significant"]
    whole = all(a < b for a, b in pairwise([-1, *significant, len(document["candidates"])]))
    if not whole or len(significant) < len(document["groups"]):
        raise InputError("this audit document is damaged: `significant` does not fit its groups and candidates")
    _check_gaps(document, rates)
    _check_details(document)
    _check_profile(document)
    if mode.is_everyone:
        return
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


def _check_gaps(document: dict[str, Any], rates: dict[str, set[str]]) -> None:
    """Raises where gaps do not fit the notions, or are not along one attribute each."""
    for entry in document["gaps"]["rows"]:
        by_rate = ("parts", "rates_inside", "rates_outside", "part_intervals")
        whole = all(set(entry[name]) == rates.get(entry["notion"]) for name in by_rate)
        whole &= all(len(pair) == 2 for pair in (entry["interval"], *entry["part_intervals"].values()))
        if not whole or len(entry["conditions"]) != 1:
            raise InputError(f"this audit document is damaged: a gap does not fit the notion: {entry['criterion']!r}")


def _check_details(document: dict[str, Any]) -> None:
    """Raises where the details do not fit the groups, the cells or one another."""
    curves = {(curve["attribute"], curve["outcome"]): curve for curve in document["details"]["curves"]}
    cells = {len(group["counts_inside"]) for group in document["groups"]}
    n_cells = max(cells, default=0)
    whole = len(cells) <= 1
    whole &= all(len(bin_["counts"]) == n_cells for curve in curves.values() for bin_ in curve["bins"])
    dropped = document["details"]["dropped"]
    whole &= len(dropped) == len(document["groups"])
    for group, entries in zip(document["groups"], dropped, strict=False):
        used = [condition["attribute"] for condition in group["conditions"]]
        whole &= all((name, group["outcome"]) in curves for name in used)
        whole &= [entry["attribute"] for entry in entries] == (used if len(used) > 1 else [])
        for entry in entries:
            bins = curves.get((entry["attribute"], group["outcome"]), {"bins": ()})["bins"]
            whole &= len(entry["within"]) == len(bins) and all(len(counts) == n_cells for counts in entry["within"])
            whole &= len(entry["interval"]) == 2 and set(entry["rates_inside"]) == set(group["rates_inside"])
            whole &= set(entry["rates_outside"]) == set(group["rates_outside"])
    nodes = Counter(document["forest"]["tree"]) if "forest" in document else Counter()
    for tree in document["details"].get("trees", ()):
        whole &= len(tree["counts"]) == nodes[tree["tree"]] and all(len(cells) == n_cells for cells in tree["counts"])
    if not whole:
        raise InputError("this audit document is damaged: its `details` do not fit its groups")


def _check_profile(document: dict[str, Any]) -> None:
    """Raises where the counts of the profile cannot be right."""
    profile = document["profile"] or {"columns": {}, "tables": []}
    for table in profile["tables"]:
        whole = bool(table["roles"]) and set(table["roles"]) <= set(profile["columns"]) and table["unknown"] >= 0
        for category in table["categories"]:
            whole &= len(category["names"]) == len(table["roles"])
            whole &= 0 <= category["selected"] <= category["people"] > 0
        if not whole:
            raise InputError("this audit document is damaged: the counts of its `profile` do not fit one another")
