"""Those who choose the groups to test: all of D1, or where it has very many different rows a part of its people.

Where data stays elsewhere these people come back, so they must not be too many; data in memory does as it does, so that
the result is the same. The forest sees all of D1 nevertheless, and every test all of D2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ald._core.arrays import IntArray
from ald.data.coded import AuditData
from ald.data.hashing import POOL, drawn, row_hashes, salt

if TYPE_CHECKING:
    from ald.options import AuditConfig

# D1 of more different rows has about so many people choose the groups.
MOST_ROWS = 1_000_000


def pool_share(rows: int, people: int) -> float:
    """The share of the people of D1 who choose the groups, where these have so many different rows."""
    return MOST_ROWS / people if rows > MOST_ROWS else 1.0


def in_pool(d1: AuditData, share: float, seed: int) -> IntArray:
    """How many people of every row choose the groups. seed: of the audit."""
    return drawn(row_hashes(d1), d1.counts, share, salt(seed, POOL)) if share < 1.0 else d1.counts


def pool_people(d1: AuditData, share: float, seed: int) -> AuditData:
    """The people of D1 who choose the groups."""
    return d1.with_counts(in_pool(d1, share, seed)) if share < 1.0 else d1


def pool_note(rows: int, config: AuditConfig) -> tuple[str, ...]:
    """What is said of a part of D1, where it has so many different rows."""
    if not config.explores or rows <= MOST_ROWS:
        return ()
    return (
        f"the search's half has {rows:,} different rows: the groups to test were chosen with about {MOST_ROWS:,} of "
        "its people",
    )
