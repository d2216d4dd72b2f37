"""Comparing a group with others where rows are not independent people who count alike: clusters and survey weights.

The difference within strata is the Mantel-Haenszel one, which is also that of a regression with an effect of every
stratum. Its variance is the larger of two:

- the sandwich over clusters (Rao and Scott 1984; Liang and Zeger 1986), right whatever the correlation, but too small
  by chance in groups of few clusters: its degrees of freedom are those of Bell and McCaffrey (2002);
- that of clusters in which rows correlate alike, with one correlation for all (Donner and Donald 1988), which is steady
  also where a small group has no hits at all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from ald._core.arrays import BoolArray, FloatArray, IntArray
from ald.data.coded import AuditData
from ald.notions import RateCounter
from ald.statistics.score import beyond_log_p


@dataclass(frozen=True, kw_only=True)
class Robust:
    """The comparison for one rate or mean; NaN is undefined. `error` is of `difference`.

    Variances of the difference, if the true one is d: sandwich[0] - 2 d sandwich[1] + d^2 sandwich[2], with `df`
    degrees of freedom, and `steady` whatever d is. A test is the weaker of both. No difference is larger than `limit`.
    """

    inside: float
    outside: float
    everyone: float
    difference: float
    error: float
    df: float
    sandwich: tuple[float, float, float]
    steady: float
    limit: float = 1.0

    def scaled(self, factor: float) -> Robust:
        """The comparison in another unit, of what has no largest difference."""
        a, b, c = self.sandwich
        return Robust(
            inside=self.inside * factor,
            outside=self.outside * factor,
            everyone=self.everyone * factor,
            difference=self.difference * factor,
            error=self.error * factor,
            df=self.df,
            sandwich=(a * factor**2, b * factor, c),
            steady=self.steady * factor**2,
            limit=np.inf,
        )

    @property
    def z(self) -> float:
        """The test of no difference by the steady variance."""
        return _standardise(self.difference, self.steady)

    @property
    def t(self) -> float:
        """The test of no difference by the sandwich."""
        return _standardise(self.difference, self.sandwich[0])

    @property
    def statistic(self) -> float:
        """As reported: that of the weaker of both tests."""
        return float(np.minimum(abs(self.z), abs(self.t)) ** 2)

    @property
    def null_error(self) -> float:
        """The standard error, if there is no difference."""
        return float(np.sqrt(self.steady))

    def log_p(self, side: int = 0) -> float:
        """log p of no difference. side: 1 for a higher rate inside, -1 for a lower one."""
        return self.beyond_log_p(0.0, side)

    def beyond_log_p(self, threshold: float, side: int = 0) -> float:
        """log p of a difference no larger than the threshold (side 0: of either sign)."""
        at = threshold * (side or (1.0 if self.difference >= 0 else -1.0))
        variance = np.array([self.steady, _quadratic(self.sandwich, at)])
        df = np.array([np.inf, self.df])
        log_p = beyond_log_p(np.full(2, self.difference), np.sqrt(np.maximum(variance, _NONE)), df, threshold, side)
        return float(log_p.max())

    def interval(self, level: float) -> tuple[float, float]:
        """All differences that the test does not reject at `level`: those that one of its two tests accepts."""
        half = float(np.sqrt(self.steady) * -special.ndtri(level / 2.0))
        ends = [self.difference - half, self.difference + half]
        # (difference - d)^2 <= t^2 (a - 2 b d + c d^2), solved for d.
        t2 = float(special.stdtrit(self.df, level / 2.0)) ** 2
        a, b, c = self.sandwich
        square, line = 1.0 - t2 * c, self.difference - t2 * b
        root = line**2 - square * (self.difference**2 - t2 * a)
        if square <= 0.0:
            ends += [-self.limit, self.limit]
        elif root > 0.0:
            ends += [(line - root**0.5) / square, (line + root**0.5) / square]
        return max(min(ends), -self.limit), min(max(ends), self.limit)


# Instead of no variance at all, which nothing can be divided by.
_NONE = 1e-300
_UNKNOWN = dict.fromkeys(("inside", "outside", "everyone", "difference", "error", "df", "steady"), np.nan)
UNDEFINED = Robust(**_UNKNOWN, sandwich=(np.nan, np.nan, np.nan))


def _standardise(difference: float, variance: float) -> float:
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.where(difference == 0, 0.0, np.float64(difference) / np.sqrt(variance)))


def _quadratic(coefficients: tuple[float, float, float], d: float) -> float:
    a, b, c = coefficients
    return a - 2.0 * d * b + d * d * c


def compare_robustly(
    inside: BoolArray, outside: BoolArray, strata: IntArray, data: AuditData, rates: RateCounter
) -> list[Robust]:
    """Per rate the comparison of those inside with those outside, within strata."""
    one = np.eye(data.n_cells, dtype=np.int64)
    is_hit, in_base = rates.hit(one).astype(bool), rates.base(one).astype(bool)
    out = []
    for hit, base in zip(is_hit, in_base, strict=True):
        rows = np.flatnonzero((inside | outside) & base[data.cells])
        out.append(_one_mean(rows, hit[data.cells[rows]].astype(float), inside, strata, data, binary=True))
    return out


def compare_amounts_robustly(
    rows: IntArray, values: FloatArray, inside: BoolArray, strata: IntArray, data: AuditData
) -> Robust:
    """As `compare_robustly`, of numbers. values: of these rows, which are those of both sides."""
    # In units of their own spread, so that no variance looks like none.
    spread = float(np.sqrt(np.cov(values, fweights=data.counts[rows]))) if len(rows) > 1 else 0.0
    centre = float(np.average(values, weights=data.counts[rows])) if len(rows) else 0.0
    if not spread > 0:
        return UNDEFINED
    found = _one_mean(rows, (values - centre) / spread, inside, strata, data, binary=False).scaled(spread)
    shifted = {name: getattr(found, name) + centre for name in ("inside", "outside", "everyone")}
    return replace(found, **shifted)


def _one_mean(
    rows: IntArray, values: FloatArray, inside: BoolArray, strata: IntArray, data: AuditData, *, binary: bool
) -> Robust:
    if not rows.size:
        return UNDEFINED
    people, design = data.counts[rows].astype(float), data.design
    weight = np.ones(len(rows)) if design.weights is None else design.weights[rows]
    # Weights matter up to a factor only; near 1 their squares do no harm.
    weight = weight / np.average(weight, weights=people)
    group, hit = inside[rows].astype(float), values
    present, stratum = np.unique(strata[rows], return_inverse=True)

    def sums(values: FloatArray) -> FloatArray:
        return np.asarray(np.bincount(stratum, people * weight * values, minlength=len(present)), dtype=float)

    n, n_in, hits, hits_in = sums(np.ones(len(rows))), sums(group), sums(hit), sums(group * hit)
    weights = n_in * (n - n_in) / n
    both = weights > 0
    if not both.any():
        return UNDEFINED
    mean, share = hits / n, n_in / n
    scale = weights.sum()
    excess = float((hits_in - n_in * mean)[both].sum())
    difference = excess / scale
    with np.errstate(divide="ignore", invalid="ignore"):
        rate_in, rate_out = hits_in / n_in, (hits - hits_in) / (n - n_in)
    rate = {
        "inside": float((weights * rate_in)[both].sum() / scale),
        "outside": float((weights * rate_out)[both].sum() / scale),
        "everyone": float((weights * mean)[both].sum() / scale),
    }
    unit = np.arange(len(rows)) if design.clusters is None else np.unique(design.clusters[rows], return_inverse=True)[1]
    units = _units_per_stratum(stratum, unit, people, len(present), design.clusters is None)
    # A stratum's own mean takes up one of its units; a stratum of one unit compares within that unit.
    factor = np.where(units > 1, units / np.maximum(units - 1.0, 1.0), 1.0)
    lever = weight * (group - share[stratum]) * np.sqrt(factor)[stratum] * both[stratum]
    residual = hit - mean[stratum]
    spread = mean * (1.0 - mean) if binary else sums(residual**2) / n
    clustered = design.clusters is not None
    sides = [lever * residual, lever * (group - share[stratum])]
    products = [_sum_of_products(sides[i], sides[j], unit, people, clustered) for i, j in ((0, 0), (0, 1), (1, 1))]
    steady = _exchangeable(lever, residual, spread[stratum], unit, people, clustered)
    df = _degrees_of_freedom(lever**2 * spread[stratum], unit, people, clustered)
    if not max(products[0], steady) > 1e-12:
        return UNDEFINED
    sandwich = (products[0] / scale**2, products[1] / scale**2, products[2] / scale**2)
    return Robust(
        **rate,
        difference=difference,
        error=float(np.sqrt(max(_quadratic(sandwich, difference), steady / scale**2))),
        # Where one cluster or weight outweighs all others there is next to nothing to learn from: t with 1 df says so.
        df=max(df, 1.0),
        sandwich=sandwich,
        steady=steady / scale**2,
    )


def _units_per_stratum(stratum: IntArray, unit: IntArray, people: FloatArray, n_strata: int, alone: bool) -> FloatArray:
    """How many clusters (or people, where everyone is one) every stratum has."""
    if alone:
        return np.asarray(np.bincount(stratum, people, minlength=n_strata), dtype=float)
    n_units = int(unit.max()) + 1
    pairs = np.unique(stratum * n_units + unit)
    return np.bincount(pairs // n_units, minlength=n_strata).astype(float)


def _sum_of_products(a: FloatArray, b: FloatArray, unit: IntArray, people: FloatArray, clustered: bool) -> float:
    """The sum over clusters (or people) of the products of their sums."""
    if not clustered:
        return float((people * a * b).sum())
    return float((np.bincount(unit, people * a) * np.bincount(unit, people * b)).sum())


def _exchangeable(
    lever: FloatArray, residual: FloatArray, spread: FloatArray, unit: IntArray, people: FloatArray, clustered: bool
) -> float:
    """The variance if any two rows of a cluster correlate alike, by what all clusters together show."""
    alone = float((people * lever**2 * spread).sum())
    if not clustered:
        return alone
    with np.errstate(divide="ignore", invalid="ignore"):
        standard = np.where(spread > 0, residual / np.sqrt(spread), 0.0)
    counted = people * (spread > 0)
    sizes = np.bincount(unit, counted)
    pairs = float((sizes**2).sum() - counted.sum())
    if pairs <= 0:
        return alone
    products = float((np.bincount(unit, people * standard) ** 2).sum() - (people * standard**2).sum())
    correlation = min(max(products / pairs, 0.0), 1.0)
    levers = lever * np.sqrt(spread)
    together = float((np.bincount(unit, people * levers) ** 2).sum())
    return alone + correlation * max(together - alone, 0.0)


def _degrees_of_freedom(variance: FloatArray, unit: IntArray, people: FloatArray, clustered: bool) -> float:
    """Of a sum of squares in which units have these variances, less one (Satterthwaite)."""
    total = float((people * variance).sum())
    squares = (
        float((np.bincount(unit, people * variance) ** 2).sum()) if clustered else float((people * variance**2).sum())
    )
    return total * total / squares - 1.0 if squares > 0 else 0.0
