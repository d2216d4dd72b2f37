"""What a document must hold, and the schema that is published."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path
from types import NoneType
from typing import Any

import pytest

import ald
from ald import InputError
from ald.results.comparison import COMPARISON
from ald.results.document import DOCUMENT
from ald.results.shapes import COMPUTED, PEOPLE, SHARE, Within, check_shape, json_schema
from ald.results.watch import WATCH
from tests.results.test_comparison import scored
from tests.watching.test_watching import decisions

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(
    ("value", "shape"),
    [
        (0, PEOPLE),
        (1.0, SHARE),
        (-1e15, COMPUTED),
        (None, (SHARE, NoneType)),
        ({"a": [1, 2]}, {"*": [int]}),
        ({"a": "x", "more": 1}, {"a": str}),
        (True, bool),
    ],
)
def test_what_fits(value: Any, shape: Any) -> None:
    """Values on the bounds fit, alternatives too, and keys that nobody asked for."""
    check_shape(value, shape)


@pytest.mark.parametrize(
    ("value", "shape", "place"),
    [
        ({"a": -1}, {"a": PEOPLE}, "`a` is -1"),
        ({"a": {"b": [1.5]}}, {"a": {"b": [SHARE]}}, "`a.b.0` is 1.5"),
        ({"a": 1e308}, {"a": COMPUTED}, "`a` is 1e+308"),
        ({"a": True}, {"a": int}, "`a` is True"),
        ({"a": 2**63}, {"a": int}, "`a` is 9223372036854775808"),
        ({"a": float("inf")}, {"a": float}, "`a` is inf"),
        ({}, {"a": str}, "it has no `a`"),
        ({"a": 1}, {"a": (str, NoneType)}, "`a` is 1"),
        ({"a": "x" * 1000}, {"a": int}, "`a` is 'xxx"),
    ],
)
def test_what_does_not(value: Any, shape: Any, place: str) -> None:
    """Anything else is refused, and the message says where it stands, in few words."""
    with pytest.raises(InputError, match=re.escape(place)) as refused:
        check_shape(value, shape)
    assert len(str(refused.value)) < 150


def test_as_json_schema() -> None:
    """Every kind of shape has its words in JSON Schema."""
    assert json_schema((str, NoneType)) == {"type": ["string", "null"]}
    assert json_schema(Within(of=int, low=1, high=2)) == {"type": "integer", "minimum": 1, "maximum": 2}
    assert json_schema([{"a": bool}]) == {
        "type": "array",
        "items": {"type": "object", "required": ["a"], "properties": {"a": {"type": "boolean"}}},
    }
    assert json_schema({"*": float}) == {"type": "object", "additionalProperties": {"type": "number"}}
    assert json_schema((NoneType, {"a": str}))["anyOf"][0] == {"type": "null"}


def test_the_published_schemas() -> None:
    """The schemas in docs/ are those of the shapes by which documents of every kind are read."""
    generated = runpy.run_path(str(DOCS / "generate_schema.py"))["generated"]()
    shapes = {"schema.json": DOCUMENT, "comparison.schema.json": COMPARISON, "watch.schema.json": WATCH}
    assert set(generated) == set(shapes)
    for name, text in generated.items():
        assert (DOCS / name).read_text(encoding="utf-8") == text
        assert set(shapes[name]) == set(json.loads(text)["required"])


@pytest.mark.parametrize("kind", ["comparison", "watch"])
def test_comparisons_and_watches_fit_theirs(kind: str) -> None:
    """A validator of JSON Schema takes the documents of comparisons and watches."""
    jsonschema = pytest.importorskip("jsonschema")
    results = {
        "comparison": lambda: ald.compare(scored(2000), predictions=["old", "new"], truth="repaid"),
        "watch": lambda: ald.watch(decisions(n=60), by="month", named_groups="sex = f", outcome="approved"),
    }
    schema = json.loads((DOCS / f"{kind}.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(results[kind]().to_dict(), schema)


def test_documents_fit_it() -> None:
    """A validator of JSON Schema takes the document of an audit, and refuses a damaged one."""
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((DOCS / "schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    document = ald.audit(ald.datasets.load_berkeley(), outcome="admitted", favourable="yes").to_dict()
    jsonschema.validate(document, schema)
    document["groups"][0]["share"] = 1e308
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, schema)
