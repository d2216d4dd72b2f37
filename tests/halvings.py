"""One halving of coded data in memory, from D1 to the list."""

from __future__ import annotations

from ald.data.coded import AuditData
from ald.data.strata import Factors
from ald.options import AuditConfig
from ald.pipeline import Halving, assess_groups, grow, rank_groups, seeds_of
from ald.questions import questions
from ald.rows.local import LocalHalves


def one_halving(data: AuditData, config: AuditConfig, repeat: int = 0, given: Factors | None = None) -> Halving:
    """What an audit with these settings finds in one halving."""
    halves_seed, forest_seed = seeds_of(config, repeat)
    halves = LocalHalves.of(data, given, config, halves_seed)
    grown = grow(halves, questions(config), config, forest_seed, _say_nothing)
    return rank_groups(grown.halves, assess_groups(grown, config, _say_nothing), config, _say_nothing)


def _say_nothing(step: str, share: float) -> None:
    """Nobody asked."""
