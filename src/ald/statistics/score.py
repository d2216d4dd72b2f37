"""The score test of a difference of two rates within strata, at any difference, and the interval that inverts it.

In every stratum the rates are the most likely ones with the difference that is tested (Miettinen and Nurminen 1985);
strata weigh as Mantel and Haenszel weigh them. At no difference this is the Cochran-Mantel-Haenszel test, and without
strata Pearson's chi2: so an interval holds 0 exactly where the reported test does not reject.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special

from ald._core.arrays import BoolArray, FloatArray, IntArray
from ald.statistics.basics import t_log_sf

# How often the range of possible ends is halved: more than floating point can tell apart.
_HALVINGS = 56


def restricted_rates(
    hits_in: FloatArray, base_in: FloatArray, hits_out: FloatArray, base_out: FloatArray, difference: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The most likely rates inside and outside whose difference is the given one (Farrington and Manning 1990)."""
    p_in, p_out, ratio = hits_in / base_in, hits_out / base_out, base_out / base_in
    a = 1 + ratio
    b = -(1 + ratio + p_in + ratio * p_out + difference * (ratio + 2))
    c = difference**2 + difference * (2 * p_in + ratio + 1) + p_in + ratio * p_out
    d = -p_in * difference * (1 + difference)
    v = (b / (3 * a)) ** 3 - b * c / (6 * a**2) + d / (2 * a)
    u = np.where(v >= 0, 1.0, -1.0) * np.sqrt(np.maximum((b / (3 * a)) ** 2 - c / (3 * a), 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        cosine = np.where(u != 0, np.clip(v / u**3, -1.0, 1.0), 1.0)
    inside = 2 * u * np.cos((np.pi + np.arccos(cosine)) / 3) - b / (3 * a)
    low, high = np.maximum(difference, 0.0), np.minimum(1.0 + difference, 1.0)
    inside = np.clip(inside, low, high)
    return inside, inside - difference


@dataclass(frozen=True, kw_only=True, eq=False)
class Tables:
    """Hits and bases inside and outside, [..., strata]. One entry per group and rate in front, strata last.

    by_margins: variances are those of given margins, as Cochran, Mantel and Haenszel have them; if not, Pearson's.
    """

    hits_in: IntArray
    base_in: IntArray
    hits_out: IntArray
    base_out: IntArray
    by_margins: bool

    @cached_property
    def _usable(self) -> BoolArray:
        """Strata with both sides; all others say nothing."""
        return np.asarray((self.base_in > 0) & (self.base_out > 0))

    @cached_property
    def _columns(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        hits = (np.where(self._usable, hits, 0).astype(float) for hits in (self.hits_in, self.hits_out))
        bases = (np.where(self._usable, base, 1).astype(float) for base in (self.base_in, self.base_out))
        (a, b), (n, m) = hits, bases
        return a, n, b, m

    @cached_property
    def _weight(self) -> FloatArray:
        _, n, _, m = self._columns
        return np.where(self._usable, n * m / (n + m), 0.0)

    @property
    def weight(self) -> float:
        """The sum of all strata's weights, of one group and rate."""
        return float(self._weight.sum())

    @cached_property
    def difference(self) -> FloatArray:
        """The mean difference within strata."""
        a, n, b, m = self._columns
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((self._weight * (a / n - b / m)).sum(axis=-1) / self._weight.sum(axis=-1))

    def error(self, at: FloatArray | float) -> FloatArray:
        """The standard error of the difference, if the true one is that in every stratum."""
        a, n, b, m = self._columns
        inside, outside = restricted_rates(a, n, b, m, np.asarray(at, float)[..., None])
        variance = inside * (1 - inside) / n + outside * (1 - outside) / m
        if self.by_margins:
            variance = variance * (n + m) / (n + m - 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.sqrt((self._weight**2 * variance).sum(axis=-1)) / self._weight.sum(axis=-1))

    def interval(self, level: float) -> tuple[FloatArray, FloatArray]:
        """All differences that the score test does not reject at `level`; NaN where no stratum has both sides."""
        z = float(-special.ndtri(level / 2.0))
        low, high = (self._end(side, z) for side in (-1.0, 1.0))
        return low, high

    def _end(self, side: float, z: float) -> FloatArray:
        """The largest difference (side 1) or the smallest one (side -1) that is not rejected."""
        inner, outer = self.difference, np.full(self.difference.shape, side)
        for _ in range(_HALVINGS):
            middle = (inner + outer) / 2
            accepted = np.abs(self.difference - middle) <= z * self.error(middle)
            inner, outer = np.where(accepted, middle, inner), np.where(accepted, outer, middle)
        # What is never rejected goes as far as differences do.
        return np.where(outer == side, side, (inner + outer) / 2)

    def beyond_log_p(self, threshold: float, side: int = 0) -> FloatArray:
        """log p of a difference no larger than the threshold, with the standard error at that boundary.

        side: 1 to test difference <= threshold only, -1 to test difference >= -threshold only, 0 for both.
        """
        difference = self.difference
        sign = np.where(difference >= 0, 1.0, -1.0) if side == 0 else np.full(difference.shape, float(side))
        error = self.error(sign * threshold)
        log_p = beyond_log_p(difference, error, np.asarray(np.inf), threshold, side)
        return np.where(error > 0, log_p, np.nan)


def beyond_log_p(
    difference: FloatArray, error: FloatArray, df: FloatArray, threshold: float, side: int = 0
) -> FloatArray:
    """log p of |difference| <= threshold, from a standard error with degrees of freedom (or infinitely many)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if side:
            return t_log_sf((side * difference - threshold) / error, df)
        near = t_log_sf((np.abs(difference) - threshold) / error, df)
        far = t_log_sf((np.abs(difference) + threshold) / error, df) if threshold else near
        return np.minimum(np.logaddexp(near, far), 0.0)
