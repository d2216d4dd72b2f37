"""What several halvings say together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ald.data.roles import Roles
from ald.options import AuditConfig
from ald.pipeline import arrange, read
from ald.results.stability import p_any, stability
from tests.tables import people
from tests.test_pipeline import split_of


def test_stability_is_per_question() -> None:
    """A group that one question always lists counts as found again for another only where that one lists it too."""
    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {"sex": rng.choice(["f", "m"], 1200), "noise": rng.choice(["p", "q"], 1200)}
    for outcome, effect in (("y", 0.3), ("z", 0.05)):
        columns[outcome] = (rng.random(1200) < np.where(columns["sex"] == "f", 0.5 + effect, 0.5 - effect)).astype(int)
    splits = [split_of(columns, {"outcome": ("y", "z")}, repeat) for repeat in range(6)]
    config = AuditConfig(notion="statistical parity", outcome=("y", "z"))
    table, half = read(columns, Roles(outcome=("y", "z")), config)
    data = arrange(table, half, Roles(outcome=("y", "z")), config).data
    listed = [{split.place(i)[0] for i in split.chosen.tolist()} for split in splits]
    assert [0 in questions for questions in listed] == [True] * 6
    found = {splits[0].place(i)[0]: share for i, share in stability(splits, data).items()}
    assert found == {0: 1.0, 1: sum(1 in questions for questions in listed) / 6}
    assert found[1] < 1.0


def test_p_any_of_one_and_of_several() -> None:
    """One halving: the smallest p times the tests. Several: twice the median of these, at most 1."""
    splits = [split_of(people(), {"outcome": "y"}, repeat) for repeat in range(3)]
    minima = [min(1.0, float(np.exp(np.nanmin(s.log_p))) * s.n_tests) for s in splits]
    assert p_any(splits[:1]) == pytest.approx(minima[0])
    assert p_any(splits) == pytest.approx(min(1.0, 2 * float(np.median(minima))))
