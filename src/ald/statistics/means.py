"""The difference of two means within strata: Welch's t.

Both sides of a stratum have a variance of their own (Welch 1947); strata weigh n_in n_out / (n_in + n_out), as Mantel
and Haenszel weigh them. Without strata this is Welch's test. A side of one person has the variance of the other side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from ald._core.arrays import FloatArray, IntArray
from ald._core.exact import scatter
from ald.statistics.score import beyond_log_p


@dataclass(frozen=True, kw_only=True)
class MeanDifference:
    """The means inside and outside under the strata's weights, and of both together; NaN is undefined."""

    inside: float
    outside: float
    everyone: float
    error: float
    df: float
    weight: float

    @property
    def difference(self) -> float:
        """Inside minus outside."""
        return self.inside - self.outside

    @property
    def t(self) -> float:
        """The difference in standard errors; no difference is none, whatever its error."""
        if self.difference == 0.0:
            return 0.0
        return float(np.divide(self.difference, self.error)) if self.error > 0 else float("nan")

    def log_p(self, side: int = 0) -> float:
        """log p of no difference. side: 1 for a higher mean inside, -1 for a lower one."""
        return self.beyond_log_p(0.0, side)

    def beyond_log_p(self, threshold: float, side: int = 0) -> float:
        """log p of a difference no larger than the threshold (side 0: of either sign)."""
        if not self.error > 0:
            return float("nan")
        difference, error, df = (np.array([value]) for value in (self.difference, self.error, self.df))
        return float(beyond_log_p(difference, error, df, threshold, side)[0])

    def interval(self, level: float) -> tuple[float, float]:
        """The differences that the test does not reject at `level`."""
        half = -float(special.stdtrit(self.df, level / 2.0)) * self.error
        return self.difference - half, self.difference + half


@dataclass(frozen=True, kw_only=True)
class Side:
    """People, sum, and sum of squared deviations from their own mean, per stratum (last axis)."""

    people: FloatArray
    total: FloatArray
    spread: FloatArray

    @classmethod
    def of(cls, values: FloatArray, people: IntArray, stratum: IntArray, n_strata: int) -> Side:
        """From values, how many people have each, and their strata. Values should be centred somewhere near."""
        n, total = (np.bincount(stratum, w, minlength=n_strata).astype(float) for w in (people, people * values))
        deviation = values - (total / np.maximum(n, 1.0))[stratum]
        return cls(
            people=n,
            total=total,
            spread=np.bincount(stratum, people * deviation**2, minlength=n_strata).astype(float),
        )

    @classmethod
    def from_sums(cls, table: IntArray, per_one: float) -> Side:
        """Groups in one stratum each, from their people, sum, and both words of the sum of squares, [groups, 4]."""
        n = table[:, 0].astype(float)
        spread = scatter(*np.ascontiguousarray(table.T)) / np.maximum(n, 1.0) / per_one**2
        return cls(people=n[:, None], total=table[:, 1:2] / per_one, spread=spread[:, None])


@dataclass(frozen=True, kw_only=True)
class Contrasts:
    """Many differences at once (first axes), as columns of `MeanDifference`."""

    inside: FloatArray
    outside: FloatArray
    everyone: FloatArray
    error: FloatArray
    df: FloatArray
    weight: FloatArray


def contrasts(inside: Side, outside: Side) -> Contrasts:
    """Differences within strata (last axis)."""
    n, m = inside.people, outside.people
    both = (n > 0) & (m > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = np.where(both, n * m / (n + m), 0.0)
        scale = weight.sum(axis=-1)
        a, b = (np.where(both, side.total / side.people, 0.0) for side in (inside, outside))
        pooled = np.where(both, (inside.total + outside.total) / (n + m), 0.0)
        means = [(weight * x).sum(axis=-1) / scale for x in (a, b, pooled)]
        # Two people of a stratum, one on each side, do not tell how much amounts vary: the other strata do.
        spread, freedom = (np.where(both, x, 0.0) for x in (inside.spread + outside.spread, n + m - 2))
        elsewhere = (spread.sum(axis=-1) / freedom.sum(axis=-1))[..., None]
        shared = np.where(freedom > 0, spread / freedom, elsewhere)
        variance, parts = np.zeros(scale.shape), np.zeros(scale.shape)
        for side in (inside, outside):
            k = side.people
            own = np.where(k > 1, side.spread / (k - 1), shared)
            part = np.where(both, (weight / scale[..., None]) ** 2 * own / k, 0.0)
            variance += part.sum(axis=-1)
            parts += (part**2 / np.maximum(np.where(k > 1, k, n + m - 1) - 1, 1.0)).sum(axis=-1)
        df = np.where(parts > 0, variance**2 / parts, np.nan)
    return Contrasts(inside=means[0], outside=means[1], everyone=means[2], error=np.sqrt(variance), df=df, weight=scale)


def welch(inside: Side, outside: Side) -> MeanDifference:
    """The difference of one group, from its strata."""
    found = contrasts(inside, outside)
    return MeanDifference(
        inside=float(found.inside),
        outside=float(found.outside),
        everyone=float(found.everyone),
        error=float(found.error),
        df=float(found.df),
        weight=float(found.weight),
    )


def intervals_of_means(
    table: IntArray, per_one: float, means: FloatArray, differences: FloatArray, level: float
) -> tuple[tuple[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]:
    """t intervals of the means of some disjoint groups, and of their differences from all others.

    table: per group the people, sum, and both words of the sum of squares; means, differences: what is known of them.
    """
    inside, outside = (Side.from_sums(side, per_one) for side in (table, table.sum(axis=0, keepdims=True) - table))
    n = inside.people[:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.where(n > 1, np.sqrt(inside.spread[:, 0] / (n - 1) / n), np.nan)
        half = -special.stdtrit(np.maximum(n - 1, 1.0), level / 2.0) * error
        found = contrasts(inside, outside)
        beside = -special.stdtrit(found.df, level / 2.0) * found.error
    return (means - half, means + half), (differences - beside, differences + beside)
