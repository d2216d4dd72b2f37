"""Two models whose scores, or predicted numbers, are compared by a mean of something per row, such as a loss.

Everyone's response is what the second model has more of it than the first. Groups in which its mean is another one are
searched on one random half, by the tree of amounts, and tested on the other half as any amounts are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ald._core.arrays import BoolArray
from ald.assess.amounts import contrast_of_amounts
from ald.assess.contrast import Contrast
from ald.comparison.instability_tree import where_mean_changes
from ald.data.amounts import Unit
from ald.data.asked import check_size, decimals_of
from ald.data.coded import AuditData
from ald.data.columns import from_numbers
from ald.data.outcomes import outcome_summaries
from ald.data.prepare import DataSummary, prepare
from ald.data.roles import Roles
from ald.data.scores import amounts_of_score, score_asked
from ald.data.table import Table
from ald.errors import ColumnError
from ald.groups.membership import member_mask
from ald.groups.rules import candidates
from ald.groups.tree import CodedCriterion
from ald.notions import AMOUNT_CELLS, Mean


@dataclass(frozen=True, kw_only=True, eq=False)
class PairedMeans:
    """People with what changes for them, as amounts, and what they have under the first model, as scores."""

    data: AuditData
    first: Unit

    def halves(self, rng: np.random.Generator) -> tuple[PairedMeans, PairedMeans]:
        """D1 and D2."""
        d1, d2 = self.data.halves(rng)
        return replace(self, data=d1), replace(self, data=d2)

    def means(self, rows: BoolArray) -> tuple[float, float]:
        """The mean of the first and of the second model among the people of some rows."""
        design, unit = self.data.design, self.data.unit
        assert design.scores is not None
        assert unit is not None
        people, total = self.data.tally(rows)[:2].tolist()
        if not people:
            return float("nan"), float("nan")
        # Whole numbers, so that no sum depends on the order of rows.
        before = float(self.first.mean(np.asarray((self.data.counts[rows] * design.scores[rows]).sum()), people))
        return before, before + float(unit.mean(np.asarray(total), people))


def pair_means(table: Table, roles: Roles, second: str, mean: Mean) -> tuple[PairedMeans, DataSummary, Mean]:
    """The people of both models, their summary, and the mean that is asked for with its unit."""
    both = [replace(roles, score=name) for name in (str(roles.score), second)]
    asked = [score_asked(table, own, mean) for own in both]
    first, then = (amounts_of_score(table, own, mean) for own in both)
    changes = then - first
    if not changes.any():
        raise ColumnError(
            f"{roles.score!r} and {second!r} have the same {mean.name} for everyone: there is nothing to compare."
        )
    check_size(f"the change from {roles.score!r} to {second!r}", np.append(changes, 0.0))
    unit, own = Unit.of(np.unique(np.append(changes, 0.0))), Unit.of(np.unique(first))
    told = replace(
        asked[0],
        per_one=unit.per_one,
        origin=unit.origin,
        decimals=max(asked[0].decimals, decimals_of(changes)),
        is_share=all(one.is_share for one in asked),
        is_signed=True,
    )
    columns = {name: column for name, column in table.columns.items() if name not in (roles.score, roles.truth)}
    columns[second] = from_numbers(second, changes)
    kinds = {name: kind for name, kind in (roles.kinds or {}).items() if name in columns and name != second}
    changed = replace(roles, outcome=second, score=None, truth=None, favourable=None, kinds=kinds)
    prepared = prepare(
        replace(table, columns=columns),
        changed,
        AMOUNT_CELLS,
        mean=told,
        beside=own.integers(first).astype(float),
    )
    summary = replace(prepared.summary, outcomes=outcome_summaries(table, roles))
    return PairedMeans(data=prepared.data, first=own), summary, told


def search_means(d1: PairedMeans, alpha: float) -> list[CodedCriterion]:
    """The groups to test: leaves of the tree, of two that are everyone the one in which more changes."""
    criteria = candidates(where_mean_changes(d1.data, alpha=alpha), d1.data).criteria
    masks = [member_mask(criterion, d1.data) for criterion in criteria]
    if len(criteria) != 2:
        return list(criteria)
    moved = [abs(after - before) for before, after in map(d1.means, masks)]
    return [criteria[int(np.argmax(moved))]]


def assess_means(criteria: Sequence[CodedCriterion], d2: PairedMeans) -> list[tuple[BoolArray, Contrast]]:
    """Every group against everyone else: who is in it, and the difference of what changes."""
    strata = np.zeros(len(d2.data.cells), np.int64)
    masks = [member_mask(criterion, d2.data) for criterion in criteria]
    return [(mask, contrast_of_amounts(mask, ~mask, strata, d2.data, 0)) for mask in masks]


def log_p_of(contrast: Contrast) -> float:
    """log p of a group; NaN where it is undefined. Where nothing varies on either side ranks tell all the same."""
    log_p = float(contrast.log_p[0])
    if np.isnan(log_p) and contrast.ranks is not None and abs(float(contrast.difference[0])) > 0:
        return contrast.ranks.log_p(0)
    return log_p


def interval_of(contrast: Contrast, level: float) -> tuple[float, float]:
    """The interval of Welch's t; of a change that is the same for everyone on each side, that change."""
    low, high = contrast.parts[0].interval(level)
    difference = float(contrast.difference[0])
    return (difference, difference) if np.isnan(low) else (low, high)
