"""The permutation test of a difference of means: Welch's t among shuffled outcomes.

If outcomes do not depend on membership, every choice of as many members from the same strata is as likely as the one
that was seen. A statistic in units of its own error also keeps its level, with more people, where only the means are
equal (Janssen 1997; Chung and Romano 2013).
"""

from __future__ import annotations

from math import ceil, log, log1p, sqrt

import numpy as np

from ald._core.arrays import BoolArray, FloatArray, IntArray
from ald.statistics.means import Side, contrasts

# Shuffles; the smallest p-value is one in as many, and one. A p-value that fewer show to be large is left at that.
SHUFFLES = 9_999
_FIRST, _LARGE = 499, 0.2
# Shuffled statistics this close to the one that was seen count as equal.
_TIE = 1e-9


def permutation_log_p(inside: BoolArray, values: FloatArray, strata: IntArray, side: int = 0) -> float:
    """log p of no difference, person by person. side: 1 for more inside, -1 for less, 0 for either; NaN if undefined.

    Shuffles come from a generator with a fixed seed: the same people have the same p-value.
    """
    log_p = _log_p(inside, values, strata, side, _FIRST)
    return log_p if not log_p < log(_LARGE) else _log_p(inside, values, strata, side, SHUFFLES)


def _log_p(inside: BoolArray, values: FloatArray, strata: IntArray, side: int, times: int) -> float:
    _, stratum = np.unique(strata, return_inverse=True)
    parts = []
    rng = np.random.default_rng([len(values), int(inside.sum())])
    for s in range(int(stratum.max()) + 1 if len(stratum) else 0):
        own, value = inside[stratum == s], values[stratum == s]
        k, n = int(own.sum()), len(own)
        if 0 < k < n:
            # The smaller side is drawn; those who are on it come first.
            member = own if 2 * k <= n else ~own
            seen = np.flatnonzero(member)[None]
            parts.append(_sides(value, [seen, draws(n, seen.shape[1], times, rng)], swapped=2 * k > n))
    if not parts:
        return float("nan")
    both = [
        Side(**{name: np.stack([getattr(part[i], name) for part in parts], axis=-1) for name in _COLUMNS})
        for i in (0, 1)
    ]
    found = contrasts(*both)
    difference = found.inside - found.outside
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(difference == 0.0, 0.0, difference / found.error)
    t = side * t if side else np.abs(t)
    as_far = np.count_nonzero(t[1:] >= t[0] - _TIE * np.abs(t[0]))
    return float("nan") if np.isnan(t[0]) else log((as_far + 1) / len(t))


_COLUMNS = ("people", "total", "spread")


def _sides(values: FloatArray, chosen: list[IntArray], *, swapped: bool) -> tuple[Side, Side]:
    """Those inside and outside, for every choice of members."""
    centred = values - values.mean()
    totals, squares = (np.concatenate([each[c].sum(axis=1) for c in chosen]) for each in (centred, centred**2))
    k, n = chosen[0].shape[1], len(values)
    people = np.full(len(totals), float(k))
    picked = Side(people=people, total=totals, spread=np.maximum(squares - totals**2 / k, 0.0))
    rest = -totals
    spread = np.maximum(float((centred**2).sum()) - squares - rest**2 / (n - k), 0.0)
    others = Side(people=n - people, total=rest, spread=spread)
    return (others, picked) if swapped else (picked, others)


def draws(n: int, k: int, times: int, rng: np.random.Generator) -> IntArray:
    """So many times k of n different numbers below n, [times, k], for k up to half of n: the first k different ones.

    >>> bool((np.diff(np.sort(draws(9, 4, 100, np.random.default_rng(0)), axis=1), axis=1) > 0).all())
    True
    """
    needed = -n * log1p(-k / n) if k < n else 4.0 * n
    width = ceil(needed + 4.0 * sqrt(needed) + 8.0)
    out = np.empty((times, k), np.int64)
    left = np.arange(times)
    while len(left):
        drawn = rng.integers(0, n, (len(left), width))
        order = np.argsort(drawn, axis=1, kind="stable")
        ascending = np.take_along_axis(drawn, order, axis=1)
        again = np.zeros(drawn.shape, bool)
        np.put_along_axis(again, order[:, 1:], ascending[:, 1:] == ascending[:, :-1], axis=1)
        enough = np.flatnonzero((~again).sum(axis=1) >= k)
        kept = ~again[enough]
        first = kept & (np.cumsum(kept, axis=1) <= k)
        out[left[enough]] = drawn[enough][first].reshape(-1, k)
        left = np.delete(left, enough)
    return out
