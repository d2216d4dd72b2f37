"""ALD with a single conditional inference tree as Step 1, its tests corrected for the number of attributes.

Source: T. Hothorn, K. Hornik and A. Zeileis, "Unbiased recursive partitioning: a conditional inference framework",
JCGS 15 (2006). The tree sees all of D1 and, in every node, all attributes.
"""

from __future__ import annotations

import numpy as np

from ald.baselines.interface import Ranked, Search, ranked_leaves
from ald.groups.tree import Forest
from ald.search.forest.growth import grow
from ald.search.forest.rules import GrowthRules
from ald.search.forest.sampling import splitter_of


def search(request: Search) -> Ranked:
    """The leaves of one tree."""
    return ranked_leaves(one_tree(request, bonferroni=True), request.data, request.rates)


def one_tree(request: Search, *, bonferroni: bool) -> Forest:
    """One conditional inference tree on all of the data."""
    data = request.data
    rules = GrowthRules(alpha=request.alpha, bonferroni=bonferroni, attributes_per_node=len(data.attributes))
    splitter = splitter_of(data, [data.counts])
    return grow(splitter, data.attributes, data.scores(), request.rates, rules, [np.random.default_rng(0)])
