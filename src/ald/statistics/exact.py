"""Exact conditional tests for small groups: Fisher's test, its stratified form, and the intervals that invert them.

Given the margins of every stratum, the number of hits in the group is a sum of independent hypergeometric variables;
the two-sided p-value adds up the probabilities of all outcomes that are no more likely than the one observed, the
one-sided one those of all outcomes at least as far in its direction. With another odds ratio than 1, the same for all
strata, the probabilities are those tilted by its logarithm.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy import special

from ald._core.arrays import BoolArray, FloatArray

# The chi2 approximation is off by factors at small corrected levels when an expected count is below this.
SMALL = 20.0
# Outcomes this close in probability to the observed one count as equally likely, as in other software.
_EQUAL = 1e-7
# How far probabilities are tilted at most, and how often the range of tilts is halved.
_MOST_TILT = 50.0
_HALVINGS = 60
# Tilts that are tried at a time for the end of an interval, and how often the grid is made finer. So far out that one
# tail has this share of the level, both tails have less than it.
_STEPS = 64
_ROUNDS = 9
_FAR = 0.01


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
    log_pmf, position = _hits(strata)
    return _tail(log_pmf, position, side)


def exact_interval(
    strata: Sequence[tuple[int, int, int, int]], weight: float, level: float, *, one_sided: bool = False
) -> tuple[float, float]:
    """The differences of rates that the test does not reject at `level`: odds ratios, turned into differences.

    An odds ratio lets so many hits in the group be expected, at the margins as they are; those beyond the ones expected
    without any difference, divided by `weight` (the sum of n_in n_out / n over strata), are the difference that it
    makes. one_sided: each end is that of the one-sided test at half the level.

    >>> low, high = exact_interval([(8, 10, 10, 24)], 10 * 14 / 24, 0.05)
    >>> (round(low, 3), round(high, 3))
    (0.232, 0.92)
    """
    log_pmf, position = _hits(strata)
    even = _mean(log_pmf, 0.0)
    # Tested at no difference, as everywhere else: what is rejected there lies on the side of what was observed.
    rejected = _p_values(log_pmf, position, np.zeros(1))[0] <= level and not one_sided
    ends = []
    for side in (-1, 1):
        # Mirrored, the lower end is an upper one.
        pmf, at = (log_pmf, position) if side > 0 else (log_pmf[::-1], len(log_pmf) - 1 - position)
        if at == len(pmf) - 1:
            mean = float(at)
        elif one_sided:
            mean = _mean(pmf, _tail_tilt(pmf, at, level / 2))
        else:
            stop = 0.0 if rejected and side * (position - even) < 0 else np.inf
            mean = _mean(pmf, _last_tilt(pmf, at, level, stop))
        ends.append((mean if side > 0 else len(log_pmf) - 1 - mean) - even)
    return ends[0] / weight, ends[1] / weight


def widen(exact: tuple[float, float], score: tuple[float, float]) -> tuple[float, float]:
    """The exact interval, as wide as that of the score test where this keeps 0 inside or outside of it.

    Taken at the observed margins, the exact interval does not know how much the margins themselves vary by chance.

    >>> widen((0.01, 0.05), (-0.01, 0.06))
    (0.01, 0.06)
    """
    low, high = min(exact[0], score[0]), max(exact[1], score[1])
    return exact[0] if low <= 0.0 < exact[0] else low, exact[1] if exact[1] < 0.0 <= high else high


def _hits(strata: Sequence[tuple[int, int, int, int]]) -> tuple[FloatArray, int]:
    """log probabilities of hits in the group, from the least possible number on, and which of them was observed."""
    parts = [_hypergeometric(base_in, hits, base) for _, base_in, hits, base in strata]
    first, observed = sum(first for first, _ in parts), sum(hits_in for hits_in, *_ in strata)
    log_pmf = parts[0][1] if len(parts) == 1 else _log_sum(parts, 0.0)
    if not np.isfinite(log_pmf[observed - first]):
        # So far out that probabilities underflow: tilted towards what was observed, they do not.
        log_pmf = np.maximum(log_pmf, _log_sum(parts, _tilt(parts, observed)))
    return log_pmf, observed - first


def _mean(log_pmf: FloatArray, tilt: float) -> float:
    """How many hits more than the least possible number are expected."""
    x = np.arange(len(log_pmf))
    return float(np.sum(x * special.softmax(log_pmf + tilt * x)))


def _tail_tilt(log_pmf: FloatArray, position: int, level: float) -> float:
    """The tilt at which so few hits as observed, or fewer, have this probability."""
    x = np.arange(len(log_pmf))

    def is_likelier(tilts: FloatArray) -> BoolArray:
        tilted = log_pmf + tilts[:, None] * x
        below = special.logsumexp(tilted[:, : position + 1], axis=1) - special.logsumexp(tilted, axis=1)
        return np.asarray(below > np.log(level))

    return _last(is_likelier, -_MOST_TILT, _MOST_TILT)


def _last_tilt(log_pmf: FloatArray, position: int, level: float, stop: float) -> float:
    """The largest tilt, below `stop`, at which the two-sided test does not reject; p-values may jump on the way."""

    def is_accepted(tilts: FloatArray) -> BoolArray:
        return _p_values(log_pmf, position, tilts) > level

    if np.isfinite(stop):
        return _last(is_accepted, _tail_tilt(log_pmf, position, 0.5), stop)
    # So few hits as observed, or fewer, have the level here by themselves; the other tail can only add to that.
    start, far = (_tail_tilt(log_pmf, position, share) for share in (level, level * _FAR))
    return _last(is_accepted, start, far)


def _last(holds: Callable[[FloatArray], BoolArray], low: float, high: float) -> float:
    """The largest number between two for which this holds, as far as a grid that gets finer can tell."""
    for _ in range(_ROUNDS):
        grid = np.linspace(low, high, _STEPS)
        at = np.flatnonzero(holds(grid))
        last = int(at[-1]) if len(at) else 0
        low, high = float(grid[last]), float(grid[min(last + 1, _STEPS - 1)])
    return low


def _p_values(log_pmf: FloatArray, position: int, tilts: FloatArray) -> FloatArray:
    """Two-sided p-values at these tilts."""
    tilted = log_pmf + tilts[:, None] * np.arange(len(log_pmf))
    tilted -= special.logsumexp(tilted, axis=1, keepdims=True)
    with np.errstate(under="ignore"):
        return np.asarray(np.where(tilted <= tilted[:, [position]] + _EQUAL, np.exp(tilted), 0.0).sum(axis=1))


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


def log_hypergeometric(x: FloatArray, base_in: FloatArray | float, hits: FloatArray | float, base: float) -> FloatArray:
    """log probabilities of x hits in the group, given the margins."""

    def log_choose(n: FloatArray | float, k: FloatArray | float) -> FloatArray:
        return np.asarray(special.gammaln(n + 1.0) - special.gammaln(k + 1.0) - special.gammaln(n - k + 1.0))

    return log_choose(hits, x) + log_choose(base - hits, base_in - x) - log_choose(base, base_in)


def log_p_of_all(log_pmf: FloatArray, side: int = 0) -> FloatArray:
    """log p of every outcome, by the same rule as that of one.

    >>> np.exp(log_p_of_all(np.log([0.2, 0.5, 0.3]))).round(2).tolist()
    [0.2, 1.0, 0.5]
    """
    if side:
        return np.asarray(np.minimum(np.logaddexp.accumulate(log_pmf[::-side])[::-side], 0.0))
    order = np.argsort(log_pmf)
    below = np.searchsorted(log_pmf[order], log_pmf + _EQUAL, side="right")
    return np.asarray(np.minimum(np.logaddexp.accumulate(log_pmf[order])[below - 1], 0.0))


def _hypergeometric(base_in: int, hits: int, base: int) -> tuple[int, FloatArray]:
    """The smallest possible number of hits in the group, and log probabilities from there on."""
    low, high = max(0, hits + base_in - base), min(hits, base_in)
    return low, log_hypergeometric(np.arange(low, high + 1, dtype=float), base_in, hits, base)


def _tail(log_pmf: FloatArray, position: int, side: int) -> float:
    if side:
        unlikely = log_pmf[position:] if side > 0 else log_pmf[: position + 1]
    else:
        unlikely = log_pmf[log_pmf <= log_pmf[position] + _EQUAL]
    return min(float(special.logsumexp(unlikely)), 0.0)
