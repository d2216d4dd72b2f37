"""Exact tests of location rates, all two-sided, and Holm's correction for the number of scenarios."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp

import numpy as np
from scipy import special

from ald.statistics.exact import exact_log_p

# Level of every comparison, over all of its scenarios.
LEVEL = 0.05


def paired_p(only_first: int, only_other: int) -> float:
    """McNemar's exact test of two systems on the same data sets: those that only one of the two locates.

    >>> round(paired_p(10, 2), 5), paired_p(0, 0)
    (0.03857, 1.0)
    """
    fewer, both = min(only_first, only_other), only_first + only_other
    return min(2.0 * float(special.bdtr(fewer, both, 0.5)), 1.0) if both else 1.0


def share_p(hits: int, runs: int, bound: float) -> float:
    """The exact binomial test of a share against a bound: twice the smaller tail.

    >>> round(share_p(25, 100, 0.15), 4)
    0.0122
    """
    below = float(special.bdtr(hits, runs, bound))
    above = float(special.bdtrc(hits - 1, runs, bound)) if hits else 1.0
    return min(2.0 * min(below, above), 1.0)


def independent_p(hits: int, runs: int, other_hits: int, other_runs: int) -> float:
    """Fisher's exact test of shares of different data sets.

    >>> round(independent_p(8, 10, 2, 14), 6)
    0.00267
    """
    return exp(exact_log_p([(hits, runs, hits + other_hits, runs + other_runs)]))


def holm(p: Sequence[float]) -> list[float]:
    """p-values corrected so that any true hypothesis is rejected with at most the level's probability (Holm 1979).

    >>> [round(value, 3) for value in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p, float)
    order = np.argsort(values, kind="stable")
    out = np.empty(len(values))
    out[order] = np.minimum(np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1)), 1.0)
    return [float(value) for value in out]
