"""Outcomes that are numbers, as integers: sums of them are exact, and the same in any order.

Amounts with few decimals are counted in their last one (cents), if that takes no more than 32 bits from the smallest
to the largest. Otherwise the unit is the power of two that does: less than one part in a billion of their range.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import frexp, ldexp

import numpy as np

from ald._core.arrays import FloatArray, IntArray
from ald._core.exact import WORD

# Decimals up to which a unit is looked for.
_DECIMALS = 9
# Floating point is exact up to here.
_EXACT = 2.0**53


@dataclass(frozen=True, kw_only=True)
class Unit:
    """How amounts are counted: as value * per_one - origin, rounded to integers below 2^31 in size."""

    per_one: float = 1.0
    origin: int = 0

    @classmethod
    def of(cls, values: FloatArray) -> Unit:
        """The unit of these amounts, all of them finite.

        >>> Unit.of(np.array([0.25, 10.0])), Unit.of(np.array([7.0, 7.0]))
        (Unit(per_one=100.0, origin=512), Unit(per_one=1.0, origin=7))
        """
        distinct = np.unique(values)
        low, high = float(distinct[0]), float(distinct[-1])
        for decimals in range(_DECIMALS + 1):
            per_one = 10.0**decimals
            if max(abs(low), abs(high)) * per_one >= _EXACT or (high - low) * per_one >= 2.0 ** (WORD + 1) - 2:
                break
            if np.array_equal(np.rint(distinct * per_one) / per_one, distinct):
                return cls._around(low, high, per_one)
        # The range is below 2^bits; a number of a double's size has no more than 53 bits in all.
        bits = [WORD - frexp(high - low)[1]] if high > low else []
        most = frexp(max(abs(low), abs(high)))[1]
        return cls._around(low, high, ldexp(1.0, min(*bits, 53 - most, 1000)))

    @classmethod
    def _around(cls, low: float, high: float, per_one: float) -> Unit:
        return cls(per_one=per_one, origin=(round(low * per_one) + round(high * per_one)) // 2)

    def integers(self, values: FloatArray) -> IntArray:
        """The amounts as integers."""
        return np.rint(values * self.per_one).astype(np.int64) - self.origin

    def mean(self, total: IntArray | FloatArray, people: IntArray | FloatArray) -> FloatArray:
        """The mean of amounts with this sum; NaN of nobody."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray((np.asarray(total, float) / people + self.origin) / self.per_one)

    def values(self, amounts: IntArray | FloatArray) -> FloatArray:
        """The amounts themselves."""
        return np.asarray((amounts + self.origin) / self.per_one, dtype=float)
