"""Exact conditional tests for small groups: Fisher's test, and its stratified form.

Given the margins of every stratum, the number of hits in the group is a sum of independent hypergeometric variables;
the two-sided p-value adds up the probabilities of all outcomes that are no more likely than the one observed, the
one-sided one those of all outcomes at least as far in its direction.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import special

from ald.arrays import FloatArray

# The chi2 approximation is off by factors at small corrected levels when an expected count is below this.
SMALL = 20.0
# Outcomes this close in probability to the observed one count as equally likely, as in other software.
_EQUAL = 1e-7


def is_small(hits_in: int, base_in: int, hits_out: int, base_out: int) -> bool:
    """Whether one of the four expected counts is too small for chi2. Depends on the margins only.

    >>> is_small(30, 100, 300, 1000), is_small(3, 40, 30, 1000)
    (False, True)
    """
    total = base_in + base_out
    hits = hits_in + hits_out
    return min(base_in, base_out) * min(hits, total - hits) < SMALL * total


def exact_log_p(strata: Sequence[tuple[int, int, int, int]], side: int = 0) -> float:
    """log p of hits in the group given all margins; strata of (hits in, base in, hits in all, base of all).

    side: 1 for "more hits than expected", -1 for "fewer", 0 for both.

    >>> round(float(np.exp(exact_log_p([(8, 10, 10, 24)]))), 6)
    0.00267
    """
    observed, low, offset = 0, 0, 0.0
    total = np.ones(1)
    for hits_in, base_in, hits, base in strata:
        first, log_pmf = _hypergeometric(base_in, hits, base)
        observed, low = observed + hits_in, low + first
        peak = float(log_pmf.max())
        if len(strata) == 1:
            return _tail(log_pmf, observed - low, side)
        with np.errstate(under="ignore"):
            total = np.convolve(total, np.exp(log_pmf - peak))
            scale = float(total.max())
        total, offset = total / scale, offset + peak + float(np.log(scale))
    with np.errstate(divide="ignore"):
        return _tail(np.log(total) + offset, observed - low, side)


def _hypergeometric(base_in: int, hits: int, base: int) -> tuple[int, FloatArray]:
    """The smallest possible number of hits in the group, and log probabilities from there on."""
    low, high = max(0, hits + base_in - base), min(hits, base_in)
    x = np.arange(low, high + 1, dtype=float)

    def log_choose(n: FloatArray | float, k: FloatArray | float) -> FloatArray:
        return np.asarray(special.gammaln(n + 1.0) - special.gammaln(k + 1.0) - special.gammaln(n - k + 1.0))

    log_pmf = log_choose(hits, x) + log_choose(base - hits, base_in - x) - log_choose(base, base_in)
    return low, log_pmf


def _tail(log_pmf: FloatArray, position: int, side: int) -> float:
    if side:
        unlikely = log_pmf[position:] if side > 0 else log_pmf[: position + 1]
    else:
        unlikely = log_pmf[log_pmf <= log_pmf[position] + _EQUAL]
    return min(float(special.logsumexp(unlikely)), 0.0)
