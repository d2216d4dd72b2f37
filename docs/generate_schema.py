"""Writes docs/schema.json, the JSON Schema of the document, from the shapes by which it is read.

Run it after a change of these: .venv/bin/python docs/generate_schema.py
"""

from __future__ import annotations

import json
from pathlib import Path

from ald.results.document import DOCUMENT, OF_EVERYONE, OF_HALVES
from ald.results.shapes import json_schema

PAGE = Path(__file__).with_name("schema.json")


def generated() -> str:
    """The schema as text."""
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The document of an audit by ALD, schema 1",
        "description": "What a reader relies on; docs/schema.md says what it means, and other keys may be there too.",
    }
    either = {"anyOf": [json_schema(one) for one in (OF_HALVES, OF_EVERYONE)]}
    return json.dumps(head | json_schema(DOCUMENT) | either, indent=1, ensure_ascii=True) + "\n"


if __name__ == "__main__":
    PAGE.write_text(generated(), encoding="utf-8")
