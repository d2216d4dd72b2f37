"""Who has more: the rank test of two groups within strata, and the probability of superiority.

Without strata it is the test of Mann and Whitney (1947), with strata that of van Elteren (1960); both with ties. The
probability of superiority is that of a member of one group having more than someone of the other, with half of the
ties; its variance is that of DeLong (1988), or of Brunner and Munzel.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log

import numpy as np
from scipy import special

from ald._core.arrays import BoolArray, FloatArray, IntArray
from ald.statistics.basics import LOG_2


@dataclass(frozen=True, kw_only=True)
class RankResult:
    """z of equal distributions, and the probability of superiority with its standard error; NaN is undefined."""

    z: float
    superiority: float
    error: float

    def log_p(self, side: int = 0) -> float:
        """log p. side: 1 if the group has more, -1 if it has less, 0 for either."""
        if side:
            return float(special.log_ndtr(-side * self.z))
        return min(LOG_2 + float(special.log_ndtr(-abs(self.z))), 0.0)

    def interval(self, level: float) -> tuple[float, float]:
        """Of the probability of superiority, by its logit: within 0 and 1, and of the same width either way."""
        p = self.superiority
        if not 0.0 < p < 1.0 or not self.error > 0:
            return p, p
        half = -float(special.ndtri(level / 2.0)) * self.error / (p * (1.0 - p))
        middle = log(p / (1.0 - p))
        return 1.0 / (1.0 + exp(-(middle - half))), 1.0 / (1.0 + exp(-(middle + half)))


def compare_ranks(
    inside: BoolArray, outside: BoolArray, amounts: IntArray, people: IntArray, strata: IntArray
) -> RankResult:
    """Those inside against those outside. amounts, people, strata: per row; everyone of a row has its amount.

    Strata weigh 1 / (n + 1), which is best against a shift of the same size everywhere (van Elteren); the probability
    is a mean of the strata's under the weights of their pairs per person.
    """
    weighted, variance, numerator, denominator, errors = 0.0, 0.0, 0.0, 0.0, 0.0
    used = inside | outside
    for stratum in np.unique(strata[used]):
        here = used & (strata == stratum)
        n, m, superiority, tied, error = _placements(inside[here], amounts[here], people[here])
        if n == 0 or m == 0:
            continue
        total = n + m
        weight = n * m / total
        numerator += weight * superiority
        denominator += weight
        errors += (weight * error) ** 2
        if total > 1:
            weighted += n * m * (superiority - 0.5) / (total + 1.0)
            variance += n * m / 12.0 * (total + 1.0 - tied / (total * (total - 1.0))) / (total + 1.0) ** 2
    if denominator == 0.0 or variance <= 0.0:
        return RankResult(z=float("nan"), superiority=float("nan"), error=float("nan"))
    return RankResult(z=weighted / variance**0.5, superiority=numerator / denominator, error=errors**0.5 / denominator)


def _placements(inside: BoolArray, amounts: IntArray, people: IntArray) -> tuple[float, float, float, float, float]:
    """Of one stratum: people on both sides, superiority, the sum of t^3 - t over ties, and superiority's error."""
    _, place = np.unique(amounts, return_inverse=True)
    top = int(place.max()) + 1
    counts = [np.bincount(place[side], people[side], minlength=top).astype(float) for side in (inside, ~inside)]
    n, m = (float(count.sum()) for count in counts)
    if n == 0 or m == 0:
        return n, m, 0.5, 0.0, 0.0
    # The share of the other side that an amount is above, with half of those who have the same.
    below = [(np.cumsum(count) - count / 2.0) / size for count, size in zip(counts, (n, m), strict=True)]
    superiority = float(counts[0] @ below[1]) / n
    both = counts[0] + counts[1]
    spread = [_variance(counts[0], below[1], n), _variance(counts[1], below[0], m)]
    return n, m, superiority, float((both**3 - both).sum()), (spread[0] / n + spread[1] / m) ** 0.5


def _variance(counts: FloatArray, values: FloatArray, n: float) -> float:
    mean = float(counts @ values) / n
    return float(counts @ (values - mean) ** 2) / max(n - 1.0, 1.0)
