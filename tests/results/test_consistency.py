"""Whether the parts of a document fit one another."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from ald import Audit, InputError
from tests.results.test_document import an_audit


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    result: dict[str, Any] = json.loads(an_audit().to_json())
    return result


def _split(forest: dict[str, Any]) -> int:
    return next(i for i, attribute in enumerate(forest["attribute"]) if attribute >= 0)


def _leaf(forest: dict[str, Any]) -> int:
    return next(i for i, attribute in enumerate(forest["attribute"]) if attribute < 0)


def _set(column: str, at: Callable[[dict[str, Any]], int], value: Any) -> Callable[[dict[str, Any]], None]:
    def change(document: dict[str, Any]) -> None:
        document["forest"][column][at(document["forest"])] = value

    return change


FOREST = {
    "its own parent": _set("parent", lambda _: 1, 1),
    "parent below": _set("parent", lambda _: 1, 2),
    "root with a parent": _set("parent", lambda _: 0, 0),
    "left is not next": _set("left", _split, 0),
    "right is before": _set("right", _split, 0),
    "leaf with a child": _set("left", _leaf, 0),
    "tree beyond": _set("tree", lambda _: 0, 3),
    "node out of order": _set("node", lambda _: 1, 7),
    "attribute beyond": _set("attribute", _split, 99),
    "people appear": lambda document: document["forest"]["counts"][_split(document["forest"])].__setitem__(0, 10**6),
    "too many trees": lambda document: document["forest"].__setitem__("trees", 0),
    "side of no node": lambda document: document["forest"]["sides"].__setitem__("x", [[], []]),
    "level beyond": lambda document: next(iter(document["forest"]["sides"].values()))[0].append(99),
    "dropped level": lambda document: [book["levels"].clear() for book in document["forest"]["attributes"]
                                       if "levels" in book],
    "dropped cut": lambda document: [book["cuts"].pop() for book in document["forest"]["attributes"]
                                     if book.get("cuts")],
}  # fmt: skip


@pytest.mark.parametrize("name", FOREST)
def test_a_forest_of_trees(document: dict[str, Any], name: str) -> None:
    """Nodes that are no trees are refused before anything is drawn: they would be followed for ever, or beyond."""
    damaged = copy.deepcopy(document)
    FOREST[name](damaged)
    with pytest.raises(InputError, match="the columns of its forest do not fit one another"):
        Audit.from_json(json.dumps(damaged))


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("node", 10**6, "no tree has the node"),
        ("tree", 9, "no tree has the node"),
        ("tree", None, "no tree has the node"),
        ("size", 0, "does not fit the notion"),
        ("interval", [0.5, -0.5], "does not fit the notion"),
        ("interval", [None, 0.5], "does not fit the notion"),
        ("share", 1e308, "`groups.0.share` is 1e"),
        ("psi", 1e308, "`groups.0.psi` is 1e"),
        ("p_adjusted", 1.5, "`groups.0.p_adjusted` is 1.5"),
        ("log10_p", 3.0, "`groups.0.log10_p` is 3"),
        ("size", -1, "`groups.0.size` is -1"),
        ("outcome", "wage", "nothing is known of outcome 'wage'"),
    ],
)
def test_findings(document: dict[str, Any], key: str, value: Any, problem: str) -> None:
    """Findings have the people, the bounds and the node that they say."""
    damaged = copy.deepcopy(document)
    damaged["groups"][0][key] = value
    with pytest.raises(InputError, match=problem):
        Audit.from_json(json.dumps(damaged))
