"""The statistics of Steps 1 and 2 as functions of arrays, in log space.

p-values of real audits underflow (10^-400 is common), so every test returns the natural logarithm of its
p-value. Undefined results are NaN here; who calls knows the reason and states it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

import numpy as np
from scipy import special

from ald._core.arrays import FloatArray, IntArray

LOG_2 = float(np.log(2.0))

# Below this the statistic is rounding noise of an exact independence.
NOISE = 1e-18

# Products of two counts below this bound are exact in 64-bit floating point.
_EXACT_FACTOR = 1 << 26

# From so many degrees of freedom on, Student's t is normal.
_NORMAL_DF = 1e5

# Degrees of freedom up to which the closed form is cheaper than it is worth to avoid.
_CLOSED_FORM_DF = 64


# Reported numbers are rounded to this many significant digits: what a platform's mathematical library adds in the
# last places must not change the bytes of a report.
DIGITS = 12


def round_reported(value: float) -> float | None:
    """The number as reported; None where it is undefined.

    >>> round_reported(0.1 + 0.2), round_reported(float("nan"))
    (0.3, None)
    """
    return float(f"{value:.{DIGITS}g}") if isfinite(value) else None


def chi2_log_sf(statistic: FloatArray, df: IntArray) -> FloatArray:
    """log P(chi2_df >= statistic), without underflow; NaN where df is 0 or the statistic is NaN.

    >>> chi2_log_sf(np.array([3.841458820694124, 5000.0]), np.array([1, 4])).round(4).tolist()
    [-2.9957, -2492.1756]
    """
    statistic, df = np.asarray(statistic, float), np.asarray(df, np.int64)
    if df.ndim == 0 and df == 1:
        tail = LOG_2 + special.log_ndtr(-np.sqrt(np.maximum(statistic, 0.0)))
        return np.asarray(np.where(statistic < NOISE, 0.0, np.minimum(tail, 0.0)))
    statistic, df = np.broadcast_arrays(statistic, df)
    out = np.full(statistic.shape, np.nan)
    defined = (df > 0) & ~np.isnan(statistic)
    zero = defined & (statistic < NOISE)
    out[zero] = 0.0
    infinite = defined & np.isposinf(statistic)
    out[infinite] = -np.inf
    defined &= ~(zero | infinite)
    one = defined & (df == 1)
    out[one] = LOG_2 + special.log_ndtr(-np.sqrt(statistic[one]))
    closed = defined & (df > 1)
    many = closed & (df > _CLOSED_FORM_DF)
    if many.any():
        with np.errstate(under="ignore"):
            tail = special.gammaincc(df[many] / 2.0, statistic[many] / 2.0)
        usable = tail > 1e-250
        where = np.flatnonzero(many)[usable]
        out.flat[where] = np.log(tail[usable])
        closed.flat[where] = False
    if closed.any():
        out[closed] = _closed_form(statistic[closed], df[closed])
    return np.asarray(np.minimum(out, 0.0))


def chi2_isf(p: float | FloatArray, df: IntArray) -> FloatArray:
    """The statistic whose tail is p.

    >>> chi2_isf(0.05, np.array([1, 2])).round(4).tolist()
    [3.8415, 5.9915]
    """
    return np.asarray(special.chdtri(df, p))


def _closed_form(statistic: FloatArray, df: IntArray) -> FloatArray:
    """The finite series of the chi2 tail for integer df, summed by logsumexp."""
    half = statistic / 2.0
    log_half = np.log(half)
    odd = df % 2 == 1
    with np.errstate(divide="ignore"):
        total = np.where(odd, LOG_2 + special.log_ndtr(-np.sqrt(statistic)), -np.inf)
    terms = df // 2
    for k in range(int(terms.max())):
        active = np.flatnonzero(terms > k)
        power = k + 0.5 * odd[active]
        term = -half[active] + power * log_half[active] - special.gammaln(power + 1.0)
        total[active] = np.logaddexp(total[active], term)
    return np.asarray(total)


def directed_log_p(statistic: FloatArray, difference: FloatArray, sides: Sequence[int]) -> FloatArray:
    """log p of chi2 statistics on 1 df (first axis: as many as sides), of either sign, or of one sign only.

    side: 0 for both, 1 for a difference above 0, -1 for one below.

    >>> directed_log_p(np.array([[3.84], [3.84]]), np.array([[0.1], [0.1]]), (0, 1)).round(3).tolist()
    [[-2.995], [-3.688]]
    """
    out = chi2_log_sf(statistic, np.asarray(1))
    for r, side in enumerate(sides):
        if side:
            out[r] = special.log_ndtr(-side * np.sign(difference[r]) * np.sqrt(statistic[r]))
    return out


def t_log_sf(t: FloatArray, df: FloatArray) -> FloatArray:
    """log P(T >= t) of Student's t, without underflow; the normal distribution where df is very large.

    >>> t_log_sf(np.array([2.0, 200.0, -1.0]), np.array([5.0, 8.0, np.inf])).round(4).tolist()
    [-2.9765, -36.0593, -0.1728]
    """
    t, df = np.broadcast_arrays(np.asarray(t, float), np.asarray(df, float))
    out = np.asarray(special.log_ndtr(-t))
    finite = (df < _NORMAL_DF) & ~np.isnan(t)
    t, df = t[finite], df[finite]
    # P(|T| >= t) is the incomplete beta function I_x(df / 2, 1 / 2) at x = df / (df + t^2); its power series in x has
    # positive terms only and does not underflow in log space.
    x, a = df / (df + t * t), df / 2.0
    with np.errstate(divide="ignore", under="ignore"):
        two_sided = np.log(special.betainc(a, 0.5, x))
        tiny = ~(two_sided > -600.0)
        a, x = a[tiny], x[tiny]
        series = a * np.log(x) - np.log(a) - special.betaln(a, 0.5) + np.log(special.hyp2f1(a, 0.5, a + 1.0, x))
    two_sided[tiny] = series
    out[finite] = np.where(t >= 0, two_sided - LOG_2, log1m_exp(two_sided - LOG_2))
    return np.minimum(out, 0.0)


def log1m_exp(log_p: FloatArray) -> FloatArray:
    """log(1 - p) from log p, accurate at both ends.

    >>> log1m_exp(np.array([np.log(0.25), -800.0])).round(6).tolist()
    [-0.287682, -0.0]
    """
    log_p = np.asarray(log_p, float)
    with np.errstate(divide="ignore", under="ignore", invalid="ignore"):
        near_one = np.log(-np.expm1(log_p))
        small = np.log1p(-np.exp(log_p))
    return np.where(log_p > -LOG_2, near_one, small)


def chi2_2x2(in_hit: IntArray, in_miss: IntArray, out_hit: IntArray, out_miss: IntArray) -> FloatArray:
    """Pearson's chi2 of 2x2 tables without continuity correction; NaN where a margin is zero.

    The counts are integers and the difference of their products is exact at any size.

    >>> chi2_2x2(*np.array([[171], [162], [349], [518]])).round(6).tolist()
    [12.06676]
    """
    a, b, c, d = (np.asarray(x, np.int64) for x in (in_hit, in_miss, out_hit, out_miss))
    inside, outside, hit, miss = a + b, c + d, a + c, b + d
    total = inside + outside
    if total.size and int(total.max()) >= _EXACT_FACTOR:
        exact = np.array([w * z - x * y for w, x, y, z in zip(*(v.tolist() for v in (a, b, c, d)), strict=True)])
        cross = exact.astype(float)
    else:
        cross = (a * d - b * c).astype(float)
    # Rows and columns enter symmetrically, so that a group and its complement tie to the last bit.
    rows = inside.astype(float) * outside.astype(float)
    columns = hit.astype(float) * miss.astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = (cross / rows) * (cross / columns) * total
    return np.where((rows > 0) & (columns > 0), value, np.nan)


def combine_fisher(log_p: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Fisher's method over the first axis: the statistic -2 sum(log p) and its log p on 2R df.

    Valid for independent p-values only: rates whose base rows are disjoint.
    """
    statistic = -2.0 * np.sum(log_p, axis=0)
    return statistic, chi2_log_sf(statistic, np.asarray(2 * log_p.shape[0]))


def combine_bonferroni(log_p: FloatArray) -> FloatArray:
    """The smallest of the p-values over the first axis times their number, for dependent tests."""
    return np.asarray(np.minimum(np.min(log_p, axis=0) + np.log(log_p.shape[0]), 0.0))


def adjust(log_p: FloatArray, method: str) -> FloatArray:
    """Log p-values corrected for multiplicity: "bh", "bonferroni", "by" or "none".

    NaN entries stay NaN and do not count.

    >>> np.exp(adjust(np.log([0.01, 0.02, 0.9]), "bh")).round(3).tolist()
    [0.03, 0.03, 0.9]
    """
    log_p = np.asarray(log_p, float)
    out = np.full(log_p.shape, np.nan)
    defined = np.flatnonzero(~np.isnan(log_p))
    m = defined.size
    if m == 0:
        return out
    if method == "none":
        out[defined] = log_p[defined]
    elif method == "bonferroni":
        out[defined] = np.minimum(log_p[defined] + np.log(m), 0.0)
    elif method in ("bh", "by"):
        penalty = np.log(np.sum(1.0 / np.arange(1, m + 1))) if method == "by" else 0.0
        order = defined[np.argsort(log_p[defined], kind="stable")]
        scaled = log_p[order] + np.log(m) - np.log(np.arange(1, m + 1)) + penalty
        out[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 0.0)
    else:
        raise ValueError(f"unknown correction {method!r}")
    return out


ADJUSTMENTS: Sequence[str] = ("bh", "bonferroni", "by", "none")


def wilson(hits: IntArray, base: IntArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Wilson's score interval of a proportion at confidence 1 - level."""
    z = -special.ndtri(level / 2.0)
    n = np.asarray(base, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.asarray(hits, float) / n
        centre = (p + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)


def newcombe(
    in_hit: IntArray, in_base: IntArray, out_hit: IntArray, out_base: IntArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """Newcombe's hybrid score interval for the difference of two independent proportions.

    >>> low, high = newcombe(*np.array([[56], [70], [48], [80]]), level=0.05)
    >>> (low.round(4).tolist(), high.round(4).tolist())
    ([0.0524], [0.3339])
    """
    low_in, high_in = wilson(in_hit, in_base, level)
    low_out, high_out = wilson(out_hit, out_base, level)
    with np.errstate(divide="ignore", invalid="ignore"):
        p_in = np.asarray(in_hit, float) / np.asarray(in_base, float)
        p_out = np.asarray(out_hit, float) / np.asarray(out_base, float)
    difference = p_in - p_out
    low = difference - np.hypot(p_in - low_in, high_out - p_out)
    high = difference + np.hypot(high_in - p_in, p_out - low_out)
    return low, high
