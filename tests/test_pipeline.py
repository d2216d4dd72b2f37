"""One halving, from D1 to the list: what is shared between questions, and what is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from ald.data.roles import Roles
from ald.options import AuditConfig
from ald.pipeline import Halving, arrange, read
from tests.halvings import one_halving
from tests.tables import decisions, people


def split_of(columns: Any, roles: dict[str, Any], repeat: int = 0, **options: Any) -> Halving:
    """One halving of an audit with these settings."""
    names = {"outcome", "prediction", "truth", "given", "cluster", "survey_weights"}
    config = AuditConfig(**{"notion": "statistical parity", "trees": 3} | options,
                         **{name: value for name, value in roles.items() if name in names})  # fmt: skip
    table, half = read(columns, Roles(**roles), config)
    prepared = arrange(table, half, Roles(**roles), config)
    return one_halving(prepared.data, config, repeat)


def test_both_halves_make_up_the_data() -> None:
    """D1 and D2 together are everyone, and the groups are assessed on D2 alone."""
    found = split_of(people(), {"outcome": "y"})
    assert found.d1.total + found.d2.total == 600
    assert all(answer.d2.total == found.d2.total for answer in found.answers)
    assert found.answers[0].assessment.size.max() < found.d2.total


def test_no_person_is_in_both_halves() -> None:
    """With clusters, nobody is in D1 and in D2, in no halving."""
    columns = people() | {"person": [f"p{i // 4}" for i in range(600)]}
    for repeat in range(3):
        found = split_of(columns, {"outcome": "y", "cluster": "person"}, repeat)
        assert found.d1.design.clusters is not None
        assert not np.intersect1d(found.d1.design.clusters, found.d2.design.clusters).size
        assert found.d1.total == 300


def test_halvings_differ() -> None:
    """Every repeat is another random halving, the same again with the same number."""
    halves = [split_of(people(), {"outcome": "y"}, repeat).d1.codes[0].tolist() for repeat in (0, 1, 1)]
    assert halves[0] != halves[1] == halves[2]


def test_questions_share_halves_and_correction() -> None:
    """All questions are asked of the same halves, and their p-values are corrected together, as SciPy does."""
    notions = ("statistical parity", "equalized odds", "accuracy")
    found = split_of(decisions(2000), {"prediction": "predicted", "truth": "true"}, notion=notions)
    assert [answer.question.notion.name for answer in found.answers] == list(notions)
    log_p = np.concatenate([answer.assessment.log_p for answer in found.answers])
    assert found.scores.log_p.tolist() == log_p.tolist()
    assert np.exp(found.scores.log_p_adjusted) == pytest.approx(stats.false_discovery_control(np.exp(log_p)))
    corrected = np.concatenate([answer.assessment.log_p_adjusted for answer in found.answers])
    assert corrected.tolist() == found.scores.log_p_adjusted.tolist()
    assert len(found.forest) == 3 * 3
    assert found.place(len(found.criteria) - 1) == (2, len(found.answers[2].proposed) - 1)


def test_questions_are_searched_as_if_alone() -> None:
    """What one question proposes does not depend on the others."""
    roles = {"prediction": "predicted", "truth": "true"}
    both = split_of(decisions(2000), roles, notion=("accuracy", "equalized odds"))
    alone = split_of(decisions(2000), roles, notion="accuracy")
    assert both.answers[0].proposed.criteria == alone.answers[0].proposed.criteria
    assert both.answers[0].assessment.log_p.tolist() == alone.answers[0].assessment.log_p.tolist()
