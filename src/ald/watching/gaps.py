"""The gaps that are watched, window by window: of rates, and of means.

Both say what a gap is, its interval in every window by itself, and its standard errors if all windows have one gap.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy import special

from ald._core.arrays import FloatArray, IntArray
from ald.data.amounts import Unit
from ald.statistics.means import Contrasts, Side, contrasts
from ald.statistics.score import Tables

# Of a mean whose variance depends on itself.
_ROUNDS = 3


class Gaps(Protocol):
    """One gap in every window; NaN where nobody was there to compare."""

    @property
    def estimates(self) -> FloatArray:
        """Inside minus outside, within strata."""

    @property
    def levels(self) -> tuple[FloatArray, FloatArray]:
        """The rates or means inside and outside, under the weights of the difference."""

    def interval(self, level: float) -> tuple[FloatArray, FloatArray]:
        """The interval of every window's gap by itself."""

    def errors(self, k: int) -> FloatArray:
        """The standard errors in the first k windows, if all of them have one gap; infinite where nothing is known."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RateGaps:
    """Gaps of a rate: hits and bases per window (first axis) and stratum."""

    tables: Tables

    @cached_property
    def estimates(self) -> FloatArray:
        return np.asarray(self.tables.difference, float)

    @property
    def levels(self) -> tuple[FloatArray, FloatArray]:
        tables = self.tables
        with np.errstate(divide="ignore", invalid="ignore"):
            total = tables.base_in + tables.base_out
            both = (tables.base_in > 0) & (tables.base_out > 0)
            weight = np.where(both, tables.base_in * tables.base_out / total, 0.0)
            sums = weight.sum(axis=-1)
            return tuple(
                np.asarray(np.where(weight > 0, weight * hits / base, 0.0).sum(axis=-1) / sums)
                for hits, base in ((tables.hits_in, tables.base_in), (tables.hits_out, tables.base_out))
            )  # type: ignore[return-value]

    def interval(self, level: float) -> tuple[FloatArray, FloatArray]:
        return self.tables.interval(level)

    def errors(self, k: int) -> FloatArray:
        """The gap that all windows have is their mean, by which the variance of a rate is known."""
        estimates = self.estimates
        known = np.isfinite(estimates[:k])
        if not known.any():
            return np.full(k, np.inf)
        mean = float(estimates[:k][known].mean())
        errors = np.full(k, np.inf)
        for _ in range(_ROUNDS):
            with np.errstate(divide="ignore", invalid="ignore"):
                errors = np.where(known, self.tables.error(np.full(len(estimates), mean))[:k], np.inf)
            usable = known & (errors > 0)
            if not usable.any():
                return np.full(k, np.inf)
            weight = np.where(usable, errors, np.inf) ** -2.0
            mean = float((weight * np.where(known, estimates[:k], 0.0)).sum() / weight.sum())
        return np.where(errors > 0, errors, np.inf)


@dataclass(frozen=True, kw_only=True, eq=False)
class MeanGaps:
    """Gaps of a mean: people, sum, and both words of the sum of squares per window (first axis) and stratum."""

    inside: IntArray
    outside: IntArray
    unit: Unit

    @cached_property
    def _sides(self) -> tuple[Side, Side]:
        shape = self.inside.shape[:-1]
        flat = [Side.from_sums(table.reshape(-1, table.shape[-1]), self.unit.per_one)
                for table in (self.inside, self.outside)]  # fmt: skip
        inside, outside = (
            Side(**{name: getattr(side, name).reshape(shape) for name in ("people", "total", "spread")})
            for side in flat
        )
        return inside, outside

    @cached_property
    def _found(self) -> Contrasts:
        return contrasts(*self._sides)

    @property
    def estimates(self) -> FloatArray:
        return self._found.inside - self._found.outside

    @property
    def levels(self) -> tuple[FloatArray, FloatArray]:
        shift = self.unit.origin / self.unit.per_one
        return self._found.inside + shift, self._found.outside + shift

    def interval(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Welch's."""
        with np.errstate(invalid="ignore"):
            half = -special.stdtrit(self._found.df, level / 2.0) * self._found.error
        return self.estimates - half, self.estimates + half

    def errors(self, k: int) -> FloatArray:
        """Welch's, but at least those of variances that all windows share: a window's own can be too small by chance,
        and of amounts that are skew it is where its mean is."""
        sides = self._sides
        n, m = (side.people[:k] for side in sides)
        both = (n > 0) & (m > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            weight = np.where(both, n * m / (n + m), 0.0)
            share = weight / weight.sum(axis=-1, keepdims=True)
            spread = [side.spread[:k].sum(axis=0) for side in sides]
            free = [np.maximum(side.people[:k] - 1, 0).sum(axis=0) for side in sides]
            pooled = (spread[0] + spread[1]) / (free[0] + free[1])
            own = [np.where(f > 0, s / f, pooled) for s, f in zip(spread, free, strict=True)]
            variance = np.where(both, share**2 * (own[0] / n + own[1] / m), 0.0).sum(axis=-1)
            errors = np.fmax(np.sqrt(variance), self._found.error[:k])
        return np.where(errors > 0, errors, np.inf)
