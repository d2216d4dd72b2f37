"""Comparisons as documents."""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np
import pytest

import ald
from ald import Comparison, InputError


def scored(n: int = 4000, seed: int = 1) -> dict[str, Any]:
    """Two models, of which the second wrongly accepts a quarter of the women more."""
    rng = np.random.default_rng(seed)
    sex, truth = rng.choice(["f", "m"], n), rng.integers(2, size=n)
    old = np.where(rng.random(n) < 0.2, 1 - truth, truth)
    new = np.where((sex == "f") & (truth == 0) & (rng.random(n) < 0.25), 1, old)
    return {"sex": sex, "age": rng.integers(18, 80, n), "repaid": truth, "old": old, "new": new}


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return ald.compare(scored(), predictions=["old", "new"], truth="repaid")


def test_documents_keep_comparisons(comparison: Comparison) -> None:
    """A comparison that is read back equals the one that was written, and every format of it is the same."""
    nothing = ald.compare(scored(), predictions=["old", "new"], truth="repaid", attributes="age", notion="accuracy")
    assert comparison.groups
    for found in (comparison, nothing):
        again = Comparison.from_json(found.to_json())
        assert again == found
        assert again.to_json() == found.to_json()
        assert (str(again), again.to_csv(), again.to_html()) == (str(found), found.to_csv(), found.to_html())


def test_what_was_asked(comparison: Comparison) -> None:
    """The columns, the notion and the level are those that were asked for, and the document says its kind."""
    asked = (comparison.first, comparison.second, comparison.truth, comparison.notion.name, comparison.level)
    assert asked == ("old", "new", "repaid", "equalized odds", 0.05)
    document = json.loads(comparison.to_json())
    assert (document["schema"], document["kind"], document["second"]) == (1, "comparison", "new")
    assert document["config"]["prediction"] == "old"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda d: d.pop("second"), "it has no `second`"),
        (lambda d: d["groups"][0]["rates"].pop(), "a group does not fit the notion: 'sex"),
        (lambda d: d["tested"][0]["rates"][0].update(interval=[0.2, 0.1]), "does not fit the notion"),
        (lambda d: d["overall"].pop("fpr"), "`overall` does not fit the notion"),
        (lambda d: d["groups"][0].update(size="many"), "damaged"),
        (lambda d: d["notions"].clear(), "damaged or incomplete"),
    ],
)
def test_damaged_documents(comparison: Comparison, change: Any, problem: str) -> None:
    """A document that no comparison could have written is an error that says what is wrong with it."""
    document = copy.deepcopy(comparison.to_dict())
    change(document)
    with pytest.raises(InputError, match=problem):
        Comparison.from_json(json.dumps(document))


def test_outcomes_that_were_not_asked_for() -> None:
    """A document whose data are of other columns than it compares is refused before anything is written."""
    document = ald.compare(scored(), predictions=["old", "new"], truth="repaid").to_dict()
    document["data"]["outcomes"][0]["name"] = "wage"
    with pytest.raises(InputError, match="`outcomes` of `data` are not those of `config`"):
        Comparison.from_json(json.dumps(document))
