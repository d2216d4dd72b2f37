"""The ledger of questions in documents: kept, read back, and refused where it is damaged."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

import ald
from ald.errors import InputError
from ald.results.ledger import Asked, Ledger


def ledger(number: int, total: int) -> Ledger:
    """A ledger whose first question was asked before any answer."""
    asked = (Asked(number=i, words=f"outcome: y; seed: {i}", exploratory=i > 1) for i in range(1, total + 1))
    return Ledger(number=number, asked=tuple(asked))


def test_bonferroni() -> None:
    """A p-value is multiplied by the number of questions, and is at most 1; what is undefined stays so."""
    assert ledger(2, 4).correct(-3.0) == pytest.approx(-3.0 + 0.60206, abs=1e-5)
    assert ledger(1, 1).correct(-3.0) == -3.0
    assert ledger(1, 4).correct(-0.1) == 0.0
    assert ledger(1, 4).correct(None) is None


@pytest.fixture(scope="module")
def audit() -> Any:
    return ald.audit(ald.datasets.load_berkeley(), outcome="admitted", favourable="yes", split="random")


def test_documents_keep_it(audit: Any) -> None:
    """An audit with a ledger is read back with it; the document is otherwise that without one."""
    asked = replace(audit, ledger=ledger(2, 3))
    assert ald.Audit.from_json(asked.to_json()).ledger == ledger(2, 3)
    document = json.loads(asked.to_json())
    assert document.pop("ledger") == ledger(2, 3).to_dict()
    assert document == json.loads(audit.to_json())
    assert ald.Audit.from_json(audit.to_json()).ledger is None


@pytest.mark.parametrize(
    "damaged",
    [
        {"number": 3, "asked": [{"number": 1, "words": "x", "exploratory": False}]},
        {"number": 1, "asked": [{"number": 2, "words": "x", "exploratory": False}]},
        {"number": 1, "asked": []},
        {"number": 1, "asked": [{"number": 1, "words": 5, "exploratory": False}]},
        {"number": 1},
        None,
    ],
)
def test_damaged_ones_are_refused(damaged: Any, audit: Any) -> None:
    """A ledger whose questions are not numbered from 1 on, or that is none, is an error in words."""
    document = json.loads(audit.to_json()) | {"ledger": damaged}
    with pytest.raises(InputError, match="ledger"):
        ald.Audit.from_json(json.dumps(document))
