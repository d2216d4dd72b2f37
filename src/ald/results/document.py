"""The audit as a document: `schema: 1`, described in docs/schema.md."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from types import NoneType
from typing import TYPE_CHECKING, Any, cast

from ald._core.version import __version__
from ald.assess.power import Detectable
from ald.data.outcomes import OutcomeSummary
from ald.data.prepare import AttributeSummary, DataSummary, LeftOut
from ald.errors import InputError, shown
from ald.groups.tree import Forest
from ald.notions import Notion, rate_from
from ald.options import AuditConfig
from ald.options.table import AUDIT_OPTIONS
from ald.profiles import Profile
from ald.results.beside import BESIDE
from ald.results.consistency import check_consistency
from ald.results.details import Details
from ald.results.finding import Finding
from ald.results.gaps import Gaps
from ald.results.ledger import LEDGER, Ledger
from ald.results.mode import Mode
from ald.results.privacy import Hidden
from ald.results.shapes import ADDED, COMPUTED, LOG, PEOPLE, PLACE, SHARE, Shape, Within, check_shape

if TYPE_CHECKING:
    from ald.results.audit import Audit

SCHEMA = 1
# Candidates in the document inside a page; a report of thousands would be megabytes.
CANDIDATES = 200
# The lists of findings; and the lists of groups, in documents of all kinds.
_FINDINGS = ("giveaways", "groups", "named_groups", "candidates")
_GROUPS = (*_FINDINGS, "tested", "watched")

# What a document must hold, as far as it is read.
_NUMBER = (COMPUTED, NoneType)
_P = (SHARE, NoneType)
_LOG = (LOG, NoneType)
_BOUND = (float, NoneType)
_TEXT = (str, NoneType)
_BY_RATE = {"*": _NUMBER}
_COUNT = (PEOPLE, NoneType)
_CONDITIONS = [{"attribute": str, "kind": str}]
_STRATUM = {
    "criterion": str,
    "conditions": _CONDITIONS,
    "size": PEOPLE,
    "size_outside": PEOPLE,
    "rates_inside": _BY_RATE,
    "rates_outside": _BY_RATE,
    "parts": _BY_RATE,
    "weight": SHARE,
}
_FINDING = {
    "criterion": str,
    "conditions": _CONDITIONS,
    "size": PEOPLE,
    "share": SHARE,
    "psi": _NUMBER,
    "parts": _BY_RATE,
    "rates_inside": _BY_RATE,
    "rates_outside": _BY_RATE,
    "ratios": _BY_RATE,
    "interval": [_NUMBER],
    "part_intervals": {"*": [_NUMBER]},
    "counts_inside": {"*": ADDED},
    "counts_outside": {"*": ADDED},
    "statistic": _NUMBER,
    "df": PEOPLE,
    "p_value": _P,
    "log10_p": _LOG,
    "p_adjusted": _P,
    "log10_p_adjusted": _LOG,
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
            "strata": PEOPLE,
            "psi": _NUMBER,
            "p_adjusted": _P,
            "log10_p_adjusted": _LOG,
            **dict.fromkeys(("turned", "holds"), bool),
        }
    ],
    "test": str,
    "interval_level": SHARE,
    "interval_unadjusted": [_NUMBER],
    "also": [{"criterion": str, "conditions": _CONDITIONS, "size": PEOPLE, "overlap": SHARE}],
    "stability": _P,
    "undefined": str,
}
_GAP = {
    "criterion": str,
    "conditions": _CONDITIONS,
    "notion": str,
    "outcome": _TEXT,
    "size": PEOPLE,
    "people": _COUNT,
    "share": SHARE,
    "psi": _NUMBER,
    "parts": _BY_RATE,
    "rates_inside": _BY_RATE,
    "rates_outside": _BY_RATE,
    "interval": [_NUMBER],
    "part_intervals": {"*": [_NUMBER]},
    "p_adjusted": _P,
    "log10_p_adjusted": _LOG,
    "test": str,
    "undefined": str,
}
_CHANCE = {"as_strong": _COUNT, "bound": bool}
_TOGETHER = {
    **_CHANCE,
    "attributes": [str],
    "df": PEOPLE,
    "listed": bool,
    "drawn": _COUNT,
    "statistic": _NUMBER,
    **dict.fromkeys(("p_value", "p_adjusted"), _P),
    **dict.fromkeys(("log10_p", "log10_p_adjusted"), _LOG),
}
# What only findings of one way of testing have.
_OF_TREES = {"tree": _COUNT, "node": _COUNT}
_SHUFFLED = {
    **_CHANCE,
    "claim": str,
    "shuffles": PEOPLE,
    "psi_new": _NUMBER,
    "exaggerated": (bool, NoneType),
    "halves": PEOPLE,
    "found": PEOPLE,
    "descriptions": [{"criterion": str, "conditions": _CONDITIONS, "halves": PEOPLE}],
}
_TREE = {"tree": ADDED, "counts": [([ADDED], NoneType)]}
HALVES: dict[str, Any] = {
    "rows_search": PEOPLE,
    "rows_assess": PEOPLE,
    **dict.fromkeys(("clusters_search", "clusters_assess"), _COUNT),
}
_FOREST = {
    "trees": PEOPLE,
    "attributes": [({"name": str, "kind": str, "levels": [_TEXT]}, {"name": str, "kind": str, "cuts": [float]})],
    **{name: [PLACE] for name in ("tree", "node", "parent", "left", "right", "attribute", "cut")},
    "counts": [[ADDED]],
    "sides": {"*": [[PEOPLE]]},
    "statistic": [_NUMBER],
    "log_p": [_LOG],
}
# What documents of every kind begin with, and what was asked, of what data.
HEAD: dict[str, Any] = {"schema": Within(of=int, low=SCHEMA, high=SCHEMA), "version": str}
NOTIONS = [
    {
        "name": str,
        "description": str,
        "rates": [{"key": str, "name": str, "hits": str, "base": str, "better": str}],
    }
]
CONFIG: dict[str, Any] = {
    "outcome": (str, NoneType, [str]),
    "favourable": (str, NoneType, [_TEXT]),
    **dict.fromkeys(("prediction", "truth", "cluster", "survey_weights"), _TEXT),
    "given": [str],
    "named_groups": [str],
}
DATA: dict[str, Any] = {
    "rows": PEOPLE,
    "outcomes": [{"name": str, "negative": str, "positive": str}],
    "cells": {"*": ADDED},
    "attributes": [{"name": str, "kind": str, "distinct": PEOPLE, "missing": _COUNT}],
    "left_out": [{"name": str, "reason": str}],
    "warnings": [str],
    **dict.fromkeys(("clusters", "strata"), _COUNT),
}
DOCUMENT: dict[str, Any] = {
    **HEAD,
    "mode": {"name": str},
    "notions": NOTIONS,
    "config": CONFIG,
    "data": DATA,
    "p_any": SHARE,
    "detectable": [{"share": SHARE, "psi": _NUMBER, "notion": str, "outcome": _TEXT}],
    "giveaways": [_FINDING],
    "groups": [_FINDING],
    "named_groups": [_FINDING],
    "gaps": {
        "compared": PEOPLE,
        "interval_level": SHARE,
        "shortened": {"*": PEOPLE},
        "absent": str,
        "hidden": PEOPLE,
        "rows": [_GAP],
    },
    "details": {
        "curves": [
            {
                "attribute": str,
                "kind": str,
                "outcome": _TEXT,
                "without_missing": bool,
                "bins": [{"counts": [ADDED], "first": _BOUND, "last": _BOUND, "levels": [_TEXT], "n_levels": PEOPLE}],
            }
        ],
        "dropped": [
            [
                {
                    "attribute": str,
                    "size": PEOPLE,
                    "share": SHARE,
                    "psi": _NUMBER,
                    "rates_inside": _BY_RATE,
                    "rates_outside": _BY_RATE,
                    "interval": [_NUMBER],
                    "undefined": str,
                    "within": [([ADDED], NoneType)],
                }
            ]
        ],
        "beside": [(NoneType, BESIDE)],
    },
    "profile": (
        NoneType,
        {
            "name": str,
            "columns": {"*": str},
            "tables": [
                {
                    "roles": [str],
                    "categories": [{"names": [str], "people": PEOPLE, "selected": PEOPLE}],
                    "unknown": _COUNT,
                    "hidden": PEOPLE,
                }
            ],
        },
    ),
    "candidates": [_FINDING],
    "significant": [PEOPLE],
    "hidden": dict.fromkeys(("groups", "tested", "significant", "giveaways", "nodes"), PEOPLE),
}
# What only audits on halves have, and only those on everyone.
OF_HALVES: dict[str, Any] = {
    "data": HALVES,
    "forest": _FOREST,
    "details": {"trees": [_TREE]},
    **{key: [_OF_TREES] for key in ("giveaways", "groups", "named_groups", "candidates")},
}
OF_EVERYONE: dict[str, Any] = {
    "mode": {"shuffles": PEOPLE, "parts": PEOPLE, "complete": bool},
    **{key: [{"shuffled": _SHUFFLED}] for key in ("groups", "candidates")},
}


def audit_to_dict(audit: Audit) -> dict[str, Any]:
    """The audit as plain data: only text, numbers, true, false, null, lists and dictionaries."""
    return _to_dict(audit, audit.candidates, audit.gaps, audit.forest)


def reduced_to_dict(audit: Audit, most: int) -> dict[str, Any]:
    """The same with so many candidates at most, a fifth as many gaps, and only trees that listed groups come from.

    `reduced` counts what is left out.
    """
    trees = {finding.tree for finding in audit.groups if finding.tree is not None}
    document = _to_dict(audit, audit.first_candidates(most), audit.gaps.first(most // 5), audit.forest.only(trees))
    left_out = {} if audit.mode.is_everyone else {"trees": audit.forest.n_trees - len(trees)}
    left_out |= {
        "candidates": audit.n_candidates - len(document["candidates"]),
        "gaps": len(audit.gaps) - len(document["gaps"]["rows"]),
    }
    if left_out["gaps"]:
        # Cards show them, and nobody reads this back.
        left_out["beside"] = len(document["details"].pop("beside"))
    return {"schema": document.pop("schema"), "reduced": left_out, **document}


def _to_dict(audit: Audit, candidates: Sequence[Finding], gaps: Gaps, forest: Forest) -> dict[str, Any]:
    document = {
        "schema": SCHEMA,
        "version": __version__,
        "mode": audit.mode.to_dict(),
        **what_was_asked(audit.config, audit.data_summary),
        "p_any": audit.p_any,
        "detectable": [asdict(entry) for entry in audit.detectable],
        "giveaways": [finding.to_dict() for finding in audit.giveaways],
        "groups": [finding.to_dict() for finding in audit.groups],
        "named_groups": [finding.to_dict() for finding in audit.named_groups],
        "gaps": gaps.to_dict(),
        "details": plain(audit.details.to_dict()),
        "profile": None if audit.profile is None else plain(audit.profile.to_dict()),
        "candidates": [finding.to_dict() for finding in candidates],
        "significant": list(audit.significant),
        "hidden": audit.hidden.to_dict(),
        "forest": forest.to_dict(),
    }
    if audit.ledger is not None:
        document["ledger"] = audit.ledger.to_dict()
    if audit.mode.is_everyone:
        # Nobody was kept apart, and no tree grew.
        document["data"] = {key: value for key, value in document["data"].items() if key not in HALVES}
        del document["forest"]
        del document["details"]["trees"]
    return document


def what_was_asked(config: AuditConfig, data: DataSummary) -> dict[str, Any]:
    """The notions, the settings and the data, as documents have them."""
    keys = [key for key, option in AUDIT_OPTIONS.items() if option.in_document and key != "notion"]
    keys = [key for key in keys if key != "score" or config.score is not None]
    classes = {"classes": config.classes} if config.classes else {}
    return {
        "notions": [plain(asdict(notion)) for notion in config.notions],
        "config": plain({key: getattr(config, key) for key in keys} | classes),
        "data": plain(asdict(data)),
    }


def plain(value: Any) -> Any:
    """Tuples as lists, all the way down, as JSON would give them back."""
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    return [plain(entry) for entry in value] if isinstance(value, (list, tuple)) else value


def write_json(document: dict[str, Any]) -> str:
    """The document as text: one line per top-level entry, and one per group."""
    lines = []
    for key, value in document.items():
        if key in _GROUPS and value:
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


def read_json(text: str | bytes, kind: str | None) -> dict[str, Any]:
    """The document of a kind (None: an audit) that a text holds; its shape is not checked yet."""
    what = kind or "audit"
    try:
        document = json.loads(text, parse_constant=_refuse)
    except (ValueError, TypeError, RecursionError) as error:
        raise InputError(
            f"this is not a JSON document, such as audit.save('audit.json') or --output audit.json writes: {error}"
        ) from None
    found = document.get("schema") if isinstance(document, dict) else None
    if found != SCHEMA:
        raise InputError(f"this is not {_an(what)} of schema {SCHEMA}: its `schema` is {found!r}")
    if document.get("kind") != kind:
        other = document.get("kind")
        own = f"`kind` is {shown(other)}" if "kind" in document else "there is no `kind`, as in that of an audit"
        raise InputError(f"this is not the document of {_an(what)}: {own}. `ald report` reads documents of every kind.")
    return cast("dict[str, Any]", document)


def _an(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


@contextmanager
def read_document(text: str | bytes, kind: str, shape: Shape) -> Iterator[dict[str, Any]]:
    """The document of a kind that a text holds; whatever fails while it is read says that it is damaged."""
    document = read_json(text, kind)
    with whole_documents():
        check_shape(document, shape)
        yield document


@contextmanager
def whole_documents() -> Iterator[None]:
    """Whatever fails while a document is read says that the document is damaged."""
    try:
        yield
    except InputError:
        raise
    except (KeyError, IndexError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise InputError(f"this audit document is damaged or incomplete: {error!r}") from None


def read_config(document: dict[str, Any]) -> AuditConfig:
    """The settings, with their notions."""
    notions = tuple(
        Notion(notion["name"], tuple(rate_from(rate) for rate in notion["rates"]), notion["description"])
        for notion in document["notions"]
    )
    config: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in document["config"].items()
    }
    return AuditConfig(notion=notions, **config)


def read_data(data: dict[str, Any]) -> DataSummary:
    """What was audited."""
    return DataSummary(
        **data
        | {
            "outcomes": tuple(OutcomeSummary(**entry) for entry in data["outcomes"]),
            "attributes": tuple(AttributeSummary(**entry) for entry in data["attributes"]),
            "left_out": tuple(LeftOut(**entry) for entry in data["left_out"]),
            "warnings": tuple(data["warnings"]),
        }
    )


def audit_from_json(text: str | bytes) -> Audit:
    """The audit that `Audit.to_json` wrote."""
    from ald.results.audit import Audit

    document = read_json(text, None)
    reduced = document.get("reduced")
    if isinstance(reduced, dict) and (reduced.get("candidates") or reduced.get("gaps")):
        raise InputError(
            "this is the reduced document of a report, without most of its candidates and gaps; read the one that "
            "audit.save('audit.json') or --output audit.json wrote"
        )
    with whole_documents():
        check_shape(document, DOCUMENT)
        mode = Mode(**document["mode"])
        _check_mode(document, mode)
        ledger = _ledger(document)
        check_consistency(document)
        data = document["data"]
        if mode.is_everyone:
            data = data | {"rows_assess": data["rows"]}
        return Audit(
            config=read_config(document),
            mode=mode,
            data_summary=read_data(data),
            giveaways=tuple(Finding.from_dict(entry) for entry in document["giveaways"]),
            groups=tuple(Finding.from_dict(entry) for entry in document["groups"]),
            named_groups=tuple(Finding.from_dict(entry) for entry in document["named_groups"]),
            forest=_forest(document),
            _detectable=tuple(Detectable(**entry) for entry in document["detectable"]),
            p_any=document["p_any"],
            _details=Details.from_dict(document["details"]),
            _gaps=Gaps.from_dict(document["gaps"]),
            profile=None if document["profile"] is None else Profile.from_dict(document["profile"]),
            ledger=ledger,
            _candidates=tuple(Finding.from_dict(entry) for entry in document["candidates"]),
            significant=tuple(document["significant"]),
            hidden=Hidden(**document["hidden"]),
        )


def _forest(document: dict[str, Any]) -> Forest:
    if "forest" in document:
        return Forest.from_dict(document["forest"])
    return Forest.concatenate([], len(document["data"]["cells"]))


def _ledger(document: dict[str, Any]) -> Ledger | None:
    """The questions that were asked of the same data; most documents do not have them."""
    if "ledger" not in document:
        return None
    check_shape(document["ledger"], LEDGER, "ledger.")
    ledger = Ledger.from_dict(document["ledger"])
    numbers = [one.number for one in ledger.asked]
    if numbers != list(range(1, ledger.total + 1)) or ledger.number not in numbers:
        raise InputError("this audit document is damaged: the questions of its `ledger` are not numbered from 1 on")
    return ledger


def _check_mode(document: dict[str, Any], mode: Mode) -> None:
    """Raises where parts are missing that audits of this kind have."""
    findings = [(name, i, entry) for name in _FINDINGS for i, entry in enumerate(document[name])]
    for name, i, entry in findings:
        place = f"{name}.{i}."
        check_shape(entry.get("strata_hidden", 0), PEOPLE, f"{place}strata_hidden.")
        for key, shape in (("together", _TOGETHER), ("shuffled", _SHUFFLED)):
            if key in entry:
                check_shape(entry[key], shape, f"{place}{key}.")
        if "shuffled" not in entry:
            check_shape(entry, _OF_TREES, place)
    check_shape(document, OF_EVERYONE if mode.is_everyone else OF_HALVES)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")
