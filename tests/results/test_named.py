"""Groups that the user names, tested on all data."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ald.data.roles import Roles
from ald.notions import NOTIONS
from ald.options import AuditConfig
from ald.pipeline import arrange, read
from ald.questions import questions
from ald.results.named import assess_named


def test_named_groups_are_tested_on_everyone() -> None:
    """Their sizes and rates are those of all rows, and the p-values are corrected for one another."""
    rng = np.random.default_rng(3)
    sex, age = rng.choice(["f", "m"], 800), rng.integers(20, 70, 800)
    y = (rng.random(800) < 0.4 + 0.2 * (sex == "f")).astype(int)
    config = AuditConfig(
        notion=NOTIONS["statistical parity"],
        outcome="y",
        groups_of_interest=("sex = f", "age > 60"),
        adjust="bonferroni",
    )
    roles, columns = Roles(outcome="y"), {"sex": sex, "age": age, "y": y}
    prepared = arrange(*read(columns, roles, config), roles, config)
    found = assess_named(prepared, questions(config), config)
    assert [str(one.criterion) for one in found] == ["sex = f", "age > 60"]
    for one, member in zip(found, (sex == "f", age > 60), strict=True):
        assert one.size == member.sum()
        assert one.psi == pytest.approx(y[member].mean() - y[~member].mean())
        table = [[y[side].sum(), (1 - y[side]).sum()] for side in (member, ~member)]
        p = stats.chi2_contingency(table, correction=False).pvalue
        assert one.p_value == pytest.approx(p)
        assert one.p_adjusted == pytest.approx(min(1.0, 2 * p))


def test_nobody_named_nothing_tested() -> None:
    """Without named groups there is nothing to say."""
    config = AuditConfig(notion=NOTIONS["statistical parity"], outcome="y")
    roles = Roles(outcome="y")
    prepared = arrange(*read({"g": ["a", "b"] * 60, "y": [0, 1] * 60}, roles, config), roles, config)
    assert assess_named(prepared, questions(config), config) == ()
