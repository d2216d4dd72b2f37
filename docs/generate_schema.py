"""Writes docs/schema.json, and the same for comparisons and watches: JSON Schemas of the shapes of documents.

Run it after a change of these: .venv/bin/python docs/generate_schema.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ald.results.comparison import COMPARISON
from ald.results.document import DOCUMENT, OF_EVERYONE, OF_HALVES
from ald.results.ledger import LEDGER
from ald.results.shapes import json_schema
from ald.results.watch import WATCH

HERE = Path(__file__).parent


def generated() -> dict[str, str]:
    """The schemas as texts, by the names of their files."""
    either = {"anyOf": [json_schema(one) for one in (OF_HALVES, OF_EVERYONE)]}
    whole = json_schema(DOCUMENT)
    whole["properties"]["ledger"] = json_schema(LEDGER)  # only of audits that were asked for on the page
    return {
        "schema.json": _write("an audit", whole | either),
        "comparison.schema.json": _write("a comparison", json_schema(COMPARISON)),
        "watch.schema.json": _write("a watch", json_schema(WATCH)),
    }


def _write(of: str, schema: dict[str, Any]) -> str:
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"The document of {of} by ALD, schema 1",
        "description": "What a reader relies on; docs/schema.md says what it means, and other keys may be there too.",
    }
    return json.dumps(head | schema, indent=1, ensure_ascii=True) + "\n"


if __name__ == "__main__":
    for name, text in generated().items():
        (HERE / name).write_text(text, encoding="utf-8")
