"""The search: what trees split on, and why it may propose nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ald.options import AuditConfig
from ald.questions import questions
from ald.search.proposing import propose_groups, search_rates, why_none
from tests.coded import coded
from tests.tables import people


def test_the_paper_splits_on_errors() -> None:
    """The paper's search of a notion that needs the truth has one rate, that of errors; ours has the notion's own."""
    for search, keys in (("paper", ["error"]), ("default", ["fpr", "fnr"])):
        config = AuditConfig(notion="equalized odds", prediction="p", truth="t", search=search)
        (question,) = questions(config)
        assert [rate.key for rate in search_rates(question, config)] == keys


def test_leaves_are_all_of_the_forest() -> None:
    """Without exploring, every leaf of the forest is proposed, and nothing else."""
    data = coded(people(3000))
    config = AuditConfig(notion="statistical parity", outcome="y", search="leaves", trees=3)  # type: ignore[arg-type]
    (question,) = questions(config)
    rngs = [np.random.default_rng(seed) for seed in range(3)]
    forest, proposed = propose_groups(data, question, config, rngs, 1, lambda share: None)
    assert proposed.leaves is not None
    assert len(proposed) > 3
    assert forest.is_leaf[proposed.leaves.at].all()


@pytest.mark.parametrize(
    ("outcome", "options", "reason"),
    [
        (0, {}, "the selection rate is 0 for everyone"),
        (1, {}, "the selection rate is 1 for everyone"),
        (None, {"search": "leaves"}, "no tree finds a split at alpha 0.1"),
        (None, {"search": "chaid"}, "chaid proposes none"),
        (None, {"direction": "advantaged"}, "more that is advantaged compared with"),
    ],
)
def test_nothing_proposed_has_its_reason(outcome: int | None, options: dict[str, Any], reason: str) -> None:
    """The sentence names what is the same for everyone, or which search found no split or no condition."""
    data = coded({"g": ["a", "b"] * 20, "y": [0, 1] * 20}, favourable=1)
    data = replace(data, cells=np.full_like(data.cells, outcome)) if outcome is not None else data
    config = AuditConfig(notion="statistical parity", outcome="y", favourable="1", **options)  # type: ignore[arg-type]
    (question,) = questions(config)
    assert reason in why_none(data, question, config)
