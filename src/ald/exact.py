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
# How far probabilities are tilted at most, and how often the range of tilts is halved.
_MOST_TILT = 50.0
_HALVINGS = 60


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
    parts = [_hypergeometric(base_in, hits, base) for _, base_in, hits, base in strata]
    observed = sum(hits_in for hits_in, *_ in strata)
    position = observed - sum(first for first, _ in parts)
    log_pmf = parts[0][1] if len(parts) == 1 else _log_sum(parts, 0.0)
    if not np.isfinite(log_pmf[position]):
        # So far out that probabilities underflow: tilted towards what was observed, they do not.
        log_pmf = np.maximum(log_pmf, _log_sum(parts, _tilt(parts, observed)))
    return _tail(log_pmf, position, side)


def _log_sum(parts: Sequence[tuple[int, FloatArray]], tilt: float) -> FloatArray:
    """log probabilities of a sum of independent numbers, each from its first value on, as tilted by so much."""
    total, offset = np.ones(1), 0.0
    for first, log_pmf in parts:
        tilted = log_pmf + tilt * (first + np.arange(len(log_pmf)))
        peak = float(tilted.max())
        with np.errstate(under="ignore"):
            total = np.convolve(total, np.exp(tilted - peak))
            scale = float(total.max())
        total, offset = total / scale, offset + peak + float(np.log(scale))
    low = sum(first for first, _ in parts)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(total) + offset - tilt * (low + np.arange(len(total))))


def _tilt(parts: Sequence[tuple[int, FloatArray]], observed: int) -> float:
    """The exponential tilt under which the sum is expected to be what was observed."""
    low, high = -_MOST_TILT, _MOST_TILT
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        mean = 0.0
        for first, log_pmf in parts:
            x = first + np.arange(len(log_pmf))
            mean += float(np.sum(x * special.softmax(log_pmf + middle * x)))
        low, high = (middle, high) if mean < observed else (low, middle)
    return (low + high) / 2


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
