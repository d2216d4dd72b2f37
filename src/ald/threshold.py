"""Tests of disparities beyond what is acceptable: H0 is |psi| <= psi*, not psi = 0."""

from __future__ import annotations

import numpy as np
from scipy import special

from ald.arrays import FloatArray, IntArray
from ald.notions import RateCounter
from ald.statistics import t_log_sf


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


def one_rate_log_p(
    hits_in: IntArray, base_in: IntArray, hits_out: IntArray, base_out: IntArray, threshold: float, side: int = 0
) -> FloatArray:
    """log p of |difference| <= threshold, with the standard error at that boundary; the chi2 test at threshold 0.

    side: 1 to test difference <= threshold only, -1 to test difference >= -threshold only.
    """
    a, n, b, m = (np.asarray(x, float) for x in (hits_in, base_in, hits_out, base_out))
    with np.errstate(divide="ignore", invalid="ignore"):
        difference = a / n - b / m
        sign = np.where(difference >= 0, 1.0, -1.0) if side == 0 else np.asarray(float(side))
        inside, outside = restricted_rates(a, n, b, m, sign * threshold)
        error = np.sqrt(inside * (1 - inside) / n + outside * (1 - outside) / m)
        log_p = beyond_log_p(difference, error, np.asarray(np.inf), threshold, side)
    return np.where(error > 0, log_p, np.nan)


def beyond_log_p(
    difference: FloatArray, error: FloatArray, df: FloatArray, threshold: float, side: int = 0
) -> FloatArray:
    """log p of |difference| <= threshold, from a standard error with degrees of freedom (or infinitely many)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if side:
            return t_log_sf((side * difference - threshold) / error, df)
        near, far = (np.abs(difference) - threshold) / error, (np.abs(difference) + threshold) / error
        return np.minimum(np.logaddexp(t_log_sf(near, df), t_log_sf(far, df)), 0.0)


def several_rates_log_p(inside: IntArray, outside: IntArray, rates: RateCounter, threshold: float) -> FloatArray:
    """log p of a mean absolute difference <= threshold: min(1, 2^R sf((psi - threshold) / se))."""
    differences, variance = [], []
    for side in (inside, outside):
        hits, bases = rates.hit(side).astype(float), rates.base(side).astype(float)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = hits / bases
        differences.append(mean)
        variance.append(_covariance(side.astype(float), mean, bases, rates))
    difference = differences[0] - differences[1]
    sign = np.where(difference >= 0, 1.0, -1.0)
    spread = np.einsum("rsi,ri,si->i", variance[0] + variance[1], sign, sign) / len(difference) ** 2
    # With no hits, or no misses, a side seems not to vary: at least the variance of no difference counts.
    hits, bases = (f(inside) + f(outside) for f in (rates.hit, rates.base))
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = hits / bases
        pooled = mean * (1 - mean) * (1 / rates.base(inside) + 1 / rates.base(outside))
    spread = np.maximum(spread, pooled.sum(axis=0) / len(difference) ** 2)
    psi = np.abs(difference).mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_p = special.log_ndtr(-(psi - threshold) / np.sqrt(spread)) + len(difference) * np.log(2.0)
    return np.where(spread > 0, np.minimum(log_p, 0.0), np.nan)


def _covariance(counts: FloatArray, mean: FloatArray, bases: FloatArray, rates: RateCounter) -> FloatArray:
    """Covariances of estimated rates [rates, rates, groups]; rows in the base of two rates make them dependent."""
    n, n_cells = counts.shape
    residual = np.zeros((len(mean), n, n_cells))
    for cell in range(n_cells):
        alone = np.zeros((1, n_cells), np.int64)
        alone[0, cell] = 1
        is_hit, in_base = rates.hit(alone)[:, 0], rates.base(alone)[:, 0]
        residual[:, :, cell] = np.where(in_base[:, None] > 0, is_hit[:, None] - mean, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = residual / bases[:, :, None]
    return np.asarray(np.einsum("ric,sic,ic->rsi", scaled, scaled, counts))
