"""Those who choose the groups: the same part of D1, however its rows are counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ald.data.coded import Attribute, AuditData
from ald.options import AuditConfig
from ald.search import pool
from ald.search.pool import in_pool, pool_note, pool_people, pool_share


def rows(n: int = 20_000, each: int = 1) -> AuditData:
    return AuditData(
        attributes=(Attribute(name="x", kind="numeric", values=np.arange(float(n))),),
        codes=(np.arange(n, dtype=np.uint32),),
        cells=np.zeros(n, np.uint8),
        counts=np.full(n, each),
        n_cells=2,
    )


def config(**options: Any) -> AuditConfig:
    return AuditConfig(notion="statistical parity", **options)  # type: ignore[arg-type]


def test_everyone_chooses_unless_they_are_very_many() -> None:
    """Different rows decide: of however many people who are often alike, all choose."""
    assert pool_share(pool.MOST_ROWS, 10**12) == 1.0
    assert pool_share(pool.MOST_ROWS + 1, 4 * pool.MOST_ROWS) == 0.25
    data = rows(each=3)
    assert pool_people(data, 1.0, 0) is data


@pytest.mark.parametrize("each", [1, 3])
def test_a_part_is_drawn_person_by_person(each: int) -> None:
    """About the share of people, others with another seed, and those that the row says they are."""
    data = rows(each=each)
    found = pool_people(data, 0.2, 5)
    assert abs(found.total - 0.2 * data.total) < 4 * np.sqrt(0.16 * data.total)
    assert found.counts.sum() == in_pool(data, 0.2, 5).sum()
    assert in_pool(data, 0.2, 5).tolist() != in_pool(data, 0.2, 6).tolist()
    assert in_pool(data.with_counts(np.where(data.codes[0] < 100, each, 0)), 0.2, 5).tolist() == (
        in_pool(data, 0.2, 5)[:100].tolist()
    )


def test_a_part_is_told() -> None:
    """Where a part chooses, a sentence says so; searches that test all leaves have none."""
    (note,) = pool_note(2_500_000, config())
    assert "2,500,000 different rows" in note
    assert "about 1,000,000 of its people" in note
    assert pool_note(pool.MOST_ROWS, config()) == ()
    assert pool_note(2_500_000, config(search="paper")) == ()
