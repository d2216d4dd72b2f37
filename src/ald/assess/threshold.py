"""Tests of disparities of several rates beyond what is acceptable: H0 is psi <= psi*, not psi = 0."""

from __future__ import annotations

import numpy as np
from scipy import special

from ald._core.arrays import FloatArray, IntArray
from ald.notions import RateCounter


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
