"""When and how nodes split, and on how many people trees grow."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np

from ald._core.arrays import IntArray

# The share of D1 that every tree is grown on, drawn without replacement.
SAMPLE_SHARE = 0.632


@dataclass(frozen=True, kw_only=True)
class GrowthRules:
    """When and how a node splits. `tries`: attributes tried for an admissible split, best first."""

    alpha: float = 0.1
    minsplit: int = 20
    minbucket: int = 7
    minprob: float = 0.01
    tries: int = 2
    attributes_per_node: int | None = None
    bonferroni: bool = False

    def draw(self, n_attributes: int) -> int:
        """How many attributes a node draws: ceil(sqrt(K)) unless said otherwise."""
        if self.attributes_per_node is None:
            return ceil(sqrt(n_attributes))
        return min(self.attributes_per_node, n_attributes)

    def min_bucket(self, n: IntArray) -> IntArray:
        """The least size of a child, from the size of the node (not of the root)."""
        return np.asarray(np.maximum(self.minbucket, np.ceil(self.minprob * n)), dtype=np.int64)


def minimum_rows(rules: GrowthRules, fraction: float = 0.5) -> int:
    """The least number of people with which a tree's sample of D1 can be split at all."""
    n = ceil(rules.minsplit / (SAMPLE_SHARE * fraction))
    while int(SAMPLE_SHARE * int(fraction * n)) < rules.minsplit:
        n += 1
    return n + n % 2
