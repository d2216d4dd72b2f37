"""Parameter instability tree.

Source: A. Chouldechova and M. G'Sell, "Fairer and more accurate, but for whom?", FATML 2017 (arXiv:1707.00046).

The original compares two classifiers on the same people: everyone's response is how the second classifier's
contribution to a rate differs from the first's (-1, 0 or 1, among those who count for the rate), and a tree splits
where the mean of it changes, chosen by permutation tests. The paper's tests are those of a parametric model; ours are
the conditional ones in their asymptotic form.
"""

from __future__ import annotations

import numpy as np

from ald.comparison.conditional_tree import CellResponse, MeanResponse, grow_tree
from ald.data.coded import AuditData
from ald.errors import SettingError
from ald.groups.tree import Forest
from ald.notions import CELLS, Rate
from ald.search.forest.rules import GrowthRules


def paired_response(rates: tuple[Rate, ...]) -> CellResponse:
    """Per rate and paired cell: who counts for it, and the second classifier's hit less the first's.

    Cells of two classifiers on the same people: 4 * truth + 2 * first prediction + second prediction.
    """
    truth, first, second = (np.array([(cell >> bit) & 1 for cell in range(8)]) for bit in (2, 1, 0))
    base, value = np.zeros((len(rates), 8), dtype=bool), np.zeros((len(rates), 8))
    for r, rate in enumerate(rates):
        in_base, in_hits = (np.isin(np.arange(len(CELLS)), list(cells)) for cells in (rate.base_cells, rate.hit_cells))
        one, other = 2 * truth + first, 2 * truth + second
        if not np.array_equal(in_base[one], in_base[other]):
            raise SettingError(
                f"the {rate.name} of two classifiers is not over the same people: who counts for it depends on the "
                "prediction. Compare them by another notion."
            )
        base[r] = in_base[one]
        value[r] = in_hits[other].astype(float) - in_hits[one]
    return CellResponse(base=base, value=value)


def where_difference_changes(data: AuditData, rates: tuple[Rate, ...], *, alpha: float = 0.1) -> Forest:
    """The original: the tree of paired cells that splits where the difference of the classifiers' rates changes."""
    return grow_tree(data, paired_response(rates), GrowthRules(alpha=alpha, bonferroni=True))


def where_mean_changes(data: AuditData, *, alpha: float = 0.1) -> Forest:
    """The same of amounts: the tree that splits where the mean of what the second model changes differs."""
    assert data.design.amounts is not None
    largest = int(np.abs(data.design.amounts).max(initial=1))
    return grow_tree(data.ledger, MeanResponse(largest=largest), GrowthRules(alpha=alpha, bonferroni=True))
