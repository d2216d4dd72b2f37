"""The audit as a document: `schema: 1`, described in docs/schema.md."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from ald.config import AuditConfig
from ald.data.prepare import AttributeSummary, DataSummary, LeftOut
from ald.errors import InputError
from ald.findings import Finding
from ald.notions import Notion, Rate
from ald.search.tree import Forest
from ald.version import __version__

if TYPE_CHECKING:
    from ald.auditing import Audit

SCHEMA = 1


def audit_to_dict(audit: Audit) -> dict[str, Any]:
    """The audit as plain data: only text, numbers, true, false, null, lists and dictionaries."""
    config = {field.name: getattr(audit.config, field.name) for field in fields(AuditConfig) if field.name != "notion"}
    return {
        "schema": SCHEMA,
        "version": __version__,
        "notion": asdict(audit.notion) | {"rates": [asdict(rate) for rate in audit.notion.rates]},
        "config": config,
        "data": _plain(asdict(audit.data_summary)),
        "groups": [finding.to_dict() for finding in audit.groups],
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
        if key in ("groups", "candidates") and value:
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
        document = json.loads(text)
    except (ValueError, TypeError, RecursionError) as error:
        raise InputError(f"this is not a JSON document: {error}") from None
    found = document.get("schema") if isinstance(document, dict) else None
    if found != SCHEMA:
        raise InputError(f"this is not an audit of schema {SCHEMA}: its `schema` is {found!r}")
    try:
        notion = document["notion"]
        rates = tuple(Rate(**rate) for rate in notion["rates"])
        data = document["data"]
        return Audit(
            config=AuditConfig(notion=Notion(notion["name"], rates, notion["description"]), **document["config"]),
            data_summary=DataSummary(
                **data
                | {
                    "attributes": tuple(AttributeSummary(**entry) for entry in data["attributes"]),
                    "left_out": tuple(LeftOut(**entry) for entry in data["left_out"]),
                    "warnings": tuple(data["warnings"]),
                }
            ),
            groups=tuple(Finding.from_dict(entry) for entry in document["groups"]),
            forest=Forest.from_dict(document["forest"]),
            _candidates=tuple(Finding.from_dict(entry) for entry in document["candidates"]),
        )
    except (KeyError, IndexError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise InputError(f"this audit document is damaged or incomplete: {error!r}") from None
