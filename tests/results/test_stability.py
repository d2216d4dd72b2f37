"""What several halvings say together."""

from __future__ import annotations

import numpy as np
import pytest

from ald.data.roles import Roles
from ald.options import AuditConfig
from ald.pipeline import arrange, read
from ald.results.stability import p_any, stability
from tests.tables import people
from tests.test_pipeline import split_of


def test_stability_is_per_question() -> None:
    """A group counts as listed again only where it is listed for the same question."""
    columns = people(1500)
    rng = np.random.default_rng(0)
    columns["z"] = rng.integers(0, 2, 1500).tolist()
    splits = [split_of(columns, {"outcome": ("y", "z")}, repeat) for repeat in range(3)]
    config = AuditConfig(notion="statistical parity", outcome=("y", "z"))
    table, half = read(columns, Roles(outcome=("y", "z")), config)
    data = arrange(table, half, Roles(outcome=("y", "z")), config).data
    found = stability(splits, data)
    assert set(found) == set(splits[0].chosen.tolist())
    assert all(share in (pytest.approx(1 / 3), pytest.approx(2 / 3), 1.0) for share in found.values())


def test_p_any_of_one_and_of_several() -> None:
    """One halving: the smallest p times the tests. Several: twice the median of these, at most 1."""
    splits = [split_of(people(), {"outcome": "y"}, repeat) for repeat in range(3)]
    minima = [min(1.0, float(np.exp(s.scores.log_p.min())) * len(s.scores.log_p)) for s in splits]
    assert p_any(splits[:1]) == pytest.approx(minima[0])
    assert p_any(splits) == pytest.approx(min(1.0, 2 * float(np.median(minima))))
