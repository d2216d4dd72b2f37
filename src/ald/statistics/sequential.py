"""Whether a number changed, looked at again and again: an error rate that holds over all planned looks together.

At every look each earlier point in time is tried as the one where the number changed: its mean after it less its
mean before, over the standard error of that. The largest of these in absolute value is compared with a critical value
that spends an equal share of the error at every look (Lan and DeMets 1983, linear spending). What the largest one is by
chance follows from the standard errors alone, for estimates are independent and about normal: it is simulated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ald._core.arrays import FloatArray
from ald.statistics.basics import chi2_isf

# Simulated series, and the seed of all of them: the same errors have the same critical values.
SERIES = 100_000
_SEED = 20231


@dataclass(frozen=True, kw_only=True)
class Change:
    """What a look shows. after: the first window after the likeliest point of change. statistic: |z| there.

    critical: the value that raises an alarm from this look on; infinite where nothing can be compared yet. before,
    change, error: the mean before that point, what it changed by, and the standard error of that.
    """

    after: int
    statistic: float
    critical: float
    before: float
    change: float
    error: float

    @property
    def alarm(self) -> bool:
        return self.statistic >= self.critical


class Looks:
    """Critical values look by look, as windows come in: earlier ones never change."""

    def __init__(self, planned: int, level: float) -> None:
        self.planned, self.level = planned, level
        self._normal = np.random.default_rng(_SEED)
        self._drawn: list[FloatArray] = []
        self._quiet = np.ones(SERIES, bool)
        self._spent = 0

    def next(self, errors: FloatArray) -> float:
        """The critical value at the next look, of windows with these standard errors (infinite: nobody was there)."""
        self._drawn.append(self._normal.standard_normal(SERIES))
        k = len(errors)
        largest = np.zeros(SERIES)
        information = np.where(np.isfinite(errors) & (errors > 0), errors, np.inf) ** -2.0
        # S: the sum of estimates by their information, of windows from j on and before.
        total = np.zeros(SERIES)
        sums = []
        for z, one in zip(self._drawn, information, strict=True):
            total = total + z * np.sqrt(one)
            sums.append(total)
        below = np.cumsum(information)
        compared = False
        for j in range(1, k):
            before, after = below[j - 1], below[-1] - below[j - 1]
            if before <= 0 or after <= 0:
                continue
            compared = True
            z = ((sums[-1] - sums[j - 1]) / after - sums[j - 1] / before) / np.sqrt(1 / before + 1 / after)
            np.maximum(largest, np.abs(z), out=largest)
        # The first window is no look: nothing is compared yet.
        allowed = round(SERIES * self.level * min(max(k - 1, 0), self.planned) / self.planned)
        spend = allowed - self._spent
        if not compared or spend < 1:
            return float("inf")
        if np.count_nonzero(information) == 2 and not self._spent:  # one comparison, and the first
            critical = float(np.sqrt(chi2_isf(allowed / SERIES, np.array([1]))[0]))
        else:
            among = np.sort(largest[self._quiet])
            critical = float(among[-spend]) if spend <= len(among) else 0.0
        self._quiet &= largest < critical
        self._spent = allowed
        return critical


def likeliest_change(estimates: FloatArray, errors: FloatArray) -> tuple[int, float, float, float, float]:
    """The point in time after which a number changed most: the window, |z|, the mean before, the change, its error."""
    known = np.isfinite(estimates) & np.isfinite(errors) & (errors > 0)
    information = np.where(known, errors, np.inf) ** -2.0
    weighted = information * np.where(known, estimates, 0.0)
    best = (0, 0.0, float("nan"), float("nan"), float("nan"))
    for j in range(1, len(estimates)):
        before, after = float(information[:j].sum()), float(information[j:].sum())
        if before <= 0 or after <= 0:
            continue
        first = float(weighted[:j].sum()) / before
        change, error = float(weighted[j:].sum()) / after - first, float(np.sqrt(1 / before + 1 / after))
        if abs(change) / error > best[1] or best[0] == 0:
            best = (j, abs(change) / error, first, change, error)
    return best
