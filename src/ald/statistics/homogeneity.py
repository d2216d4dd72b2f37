"""One odds ratio for all strata (Mantel and Haenszel 1959), and whether strata agree on it (Breslow and Day 1980).

With the correction of Tarone (1985), which makes the test valid with the estimate of Mantel and Haenszel.
"""

from __future__ import annotations

import numpy as np

from ald._core.arrays import FloatArray
from ald.statistics.basics import chi2_log_sf


def common_odds_ratio(hits_in: FloatArray, base_in: FloatArray, hits_out: FloatArray, base_out: FloatArray) -> float:
    """The odds of a hit inside over those outside, of all strata together; NaN where they do not say.

    >>> round(common_odds_ratio(*np.array([[8.0, 3], [10, 12], [2, 1], [9, 10]])), 3)
    6.737
    """
    total = np.maximum(base_in + base_out, 1.0)
    above = (hits_in * (base_out - hits_out) / total).sum()
    below = (hits_out * (base_in - hits_in) / total).sum()
    return float(above / below) if below > 0 else float("nan")


def breslow_day(
    hits_in: FloatArray, base_in: FloatArray, hits_out: FloatArray, base_out: FloatArray
) -> tuple[float, int, float]:
    """Whether all strata have one odds ratio: the statistic with Tarone's correction, its df, and log p.

    Strata in which one side is empty, or everyone has the same outcome, say nothing. NaN with fewer than two others.
    """
    hits = hits_in + hits_out
    says = (base_in > 0) & (base_out > 0) & (hits > 0) & (hits < base_in + base_out)
    a, n, b, m = (values[says].astype(float) for values in (hits_in, base_in, hits_out, base_out))
    ratio = common_odds_ratio(a, n, b, m)
    df = len(a) - 1
    if df < 1 or not np.isfinite(ratio) or ratio <= 0:
        return float("nan"), max(df, 0), float("nan")
    expected = _expected(ratio, n, m, a + b)
    variance = 1.0 / (1.0 / expected + 1.0 / (n - expected) + 1.0 / (a + b - expected) + 1.0 / (m - a - b + expected))
    statistic = float(((a - expected) ** 2 / variance).sum())
    statistic -= float((a - expected).sum() ** 2 / variance.sum())
    return statistic, df, float(chi2_log_sf(np.array(max(statistic, 0.0)), np.array(df)))


def _expected(ratio: float, n: FloatArray, m: FloatArray, hits: FloatArray) -> FloatArray:
    """The hits inside that give every stratum this odds ratio, at its margins."""
    if abs(ratio - 1.0) < 1e-9:
        return n * hits / (n + m)
    a = 1.0 - ratio
    b = m - hits + ratio * (n + hits)
    c = -ratio * n * hits
    root = np.sqrt(b * b - 4.0 * a * c)
    found = (-b + root) / (2.0 * a)
    other = (-b - root) / (2.0 * a)
    low, high = np.maximum(0.0, hits - m), np.minimum(n, hits)
    return np.where((found >= low) & (found <= high), found, other)
