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
    _, stratum = np.unique(strata, return_inverse=True)
    n_strata = int(stratum.max()) + 1 if len(stratum) else 0
    if n_strata == 1:
        return Shuffles(values).log_p(inside, side)
    log_p = _log_p(inside, values, stratum, n_strata, side, _FIRST)
    return log_p if not log_p < log(_LARGE) else _log_p(inside, values, stratum, n_strata, side, SHUFFLES)


class Shuffles:
    """The same test of many groups of the same people, without strata: groups as large share their shuffles."""

    def __init__(self, values: FloatArray) -> None:
        self._n = len(values)
        self._people = _People(values)
        self._shuffled: dict[tuple[int, int, int], FloatArray] = {}

    def log_p(self, inside: BoolArray, side: int = 0) -> float:
        """log p of no difference between those inside and all others; NaN if undefined."""
        k = int(np.count_nonzero(inside))
        # The smaller side is drawn.
        return self.log_p_of(k, np.flatnonzero(inside if 2 * k <= self._n else ~inside), side)

    def log_p_of(self, k: int, drawn: IntArray, side: int = 0) -> float:
        """The same of k people; drawn: the places of these, or of all others if these are fewer."""
        return float(self.log_ps_of(k, drawn[None], side)[0])

    def log_ps_of(self, k: int, drawn: IntArray, side: int = 0) -> FloatArray:
        """The same of several groups of k people, [groups, people]."""
        out = np.full(len(drawn), np.nan)
        if not 0 < k < self._n:
            return out
        own = _towards(self._t(k, drawn), side)
        left = np.arange(len(drawn))
        for times in (_FIRST, SHUFFLES):
            out[left] = _shares(own[left], self._among(k, times, side), times)
            left = left[out[left] < log(_LARGE)]
            if len(left) == 0:
                break
        return out

    def _t(self, k: int, chosen: IntArray) -> FloatArray:
        both = self._people.sides([chosen], swapped=2 * k > self._n)
        return _t([Side(**{name: getattr(each, name)[:, None] for name in _COLUMNS}) for each in both])

    def _among(self, k: int, times: int, side: int) -> FloatArray:
        """t of so many choices of k members, ascending, without those that are undefined."""
        if (k, times, side) not in self._shuffled:
            rng = np.random.default_rng([self._n, k])
            t = _towards(self._t(k, draws(self._n, min(k, self._n - k), times, rng)), side)
            self._shuffled[k, times, side] = np.sort(t[~np.isnan(t)])
        return self._shuffled[k, times, side]


def _log_p(inside: BoolArray, values: FloatArray, stratum: IntArray, n_strata: int, side: int, times: int) -> float:
    parts = []
    rng = np.random.default_rng([len(values), int(inside.sum())])
    for s in range(n_strata):
        own, value = inside[stratum == s], values[stratum == s]
        k, n = int(own.sum()), len(own)
        if 0 < k < n:
            # The smaller side is drawn; those who are on it come first.
            member = own if 2 * k <= n else ~own
            seen = np.flatnonzero(member)[None]
            chosen = [seen, draws(n, seen.shape[1], times, rng)]
            parts.append(_People(value).sides(chosen, swapped=2 * k > n))
    if not parts:
        return float("nan")
    both = [
        Side(**{name: np.stack([getattr(part[i], name) for part in parts], axis=-1) for name in _COLUMNS})
        for i in (0, 1)
    ]
    t = _towards(_t(both), side)
    return float(_shares(t[:1], np.sort(t[1:][~np.isnan(t[1:])]), times)[0])


_COLUMNS = ("people", "total", "spread")


def _t(both: list[Side]) -> FloatArray:
    found = contrasts(*both)
    difference = found.inside - found.outside
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(difference == 0.0, 0.0, difference / found.error))


def _towards(t: FloatArray, side: int) -> FloatArray:
    return side * t if side else np.abs(t)


def _shares(own: FloatArray, shuffled: FloatArray, times: int) -> FloatArray:
    """log of the share of statistics that are as large, the own one among them. shuffled: of so many times those that
    are defined, ascending.
    """
    as_far = len(shuffled) - np.searchsorted(shuffled, own - _TIE * np.abs(own))
    numbers, place = np.unique(as_far, return_inverse=True)
    logs = np.array([log((n + 1) / (times + 1)) for n in numbers.tolist()])
    return np.where(np.isnan(own), np.nan, logs[place])


class _People:
    """The amounts of the people of one stratum, and sums over those who are chosen."""

    def __init__(self, values: FloatArray) -> None:
        self.centred = values - values.mean()
        self.squares = self.centred**2
        self.square = float(self.squares.sum())

    def sides(self, chosen: list[IntArray], *, swapped: bool) -> tuple[Side, Side]:
        """Those inside and outside, for every choice of members."""
        picked_values = [self.centred.take(c) for c in chosen]
        totals = np.concatenate([values.sum(axis=1) for values in picked_values])
        squares = np.concatenate([(values * values).sum(axis=1) for values in picked_values])
        k, n = chosen[0].shape[1], len(self.centred)
        people = np.full(len(totals), float(k))
        picked = Side(people=people, total=totals, spread=np.maximum(squares - totals**2 / k, 0.0))
        rest = -totals
        spread = np.maximum(self.square - squares - rest**2 / (n - k), 0.0)
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
        if k * k < n:
            # Hardly anyone is drawn twice among the first k.
            ascending = np.sort(drawn[:, :k], axis=1)
            differ = (ascending[:, 1:] != ascending[:, :-1]).all(axis=1)
            out[left[differ]] = drawn[differ, :k]
            left, drawn = left[~differ], drawn[~differ]
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
