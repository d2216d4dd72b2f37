"""Parameter instability tree.

Source: A. Chouldechova and M. G'Sell, "Fairer and more accurate, but for whom?", FATML 2017 (arXiv:1707.00046).

The original compares two classifiers on the same people: everyone's response is how the second classifier's
contribution to a rate differs from the first's (-1, 0 or 1, among those who count for the rate), and a tree splits
where the mean of it changes, chosen by permutation tests: `where_difference_changes`. `search` is the adaptation to a
single data set: the response is the outcome itself, and the tree a single conditional inference tree with plain
permutation tests. The paper's tests are those of a parametric model; ours are the conditional ones in their asymptotic
form, as in the study that adapted it.
"""

from __future__ import annotations

import numpy as np

from ald.baselines.ctree import one_tree
from ald.baselines.interface import Ranked, Search, ranked_leaves
from ald.comparison.conditional_tree import Response, grow_tree
from ald.data.coded import AuditData
from ald.errors import SettingError
from ald.groups.tree import Forest
from ald.notions import CELLS, Rate
from ald.search.forest.rules import GrowthRules

# Cells of two classifiers on the same people: 4 * truth + 2 * first prediction + second prediction.
PAIRED_CELLS = tuple(f"truth {t}, first {a}, second {b}" for t in (0, 1) for a in (0, 1) for b in (0, 1))


def search(request: Search) -> Ranked:
    """The leaves of one conditional inference tree without correction."""
    return ranked_leaves(one_tree(request, bonferroni=False), request.data, request.rates)


def paired_response(rates: tuple[Rate, ...]) -> Response:
    """Per rate and paired cell: who counts for it, and the second classifier's hit less the first's."""
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
    return Response(base=base, value=value)


def where_difference_changes(data: AuditData, rates: tuple[Rate, ...], *, alpha: float = 0.1) -> Forest:
    """The original: the tree of paired cells that splits where the difference of the classifiers' rates changes."""
    return grow_tree(data, paired_response(rates), GrowthRules(alpha=alpha, bonferroni=True))
