"""The parameter instability tree (`ald.comparison.instability_tree`), adapted to a single data set.

The response is the outcome itself, and the tree a single conditional inference tree with plain permutation tests, as in
the study that adapted it.
"""

from __future__ import annotations

from ald.baselines.ctree import one_tree
from ald.baselines.interface import Ranked, Search, ranked_leaves


def search(request: Search) -> Ranked:
    """The leaves of one conditional inference tree without correction."""
    return ranked_leaves(one_tree(request, bonferroni=False), request.data, request.rates)
