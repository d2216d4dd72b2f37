"""Products of integers that are exact wherever floating point would lose what matters.

Amounts are integers of up to 31 bits besides the sign, and so are numbers of people: sums of amounts fit into 64 bits,
and sums of squares into two words. Products of such sums need not fit. But their differences wrap around: modulo 2^64
they are right, so that the difference of two products is exact wherever it is small. Where it is large, floating point
has nothing to cancel.
"""

from __future__ import annotations

import numpy as np

from ald._core.arrays import FloatArray, IntArray

# Amounts are below 2^WORD in size, and the low word of a sum of squares counts what is below it.
WORD = 31
# Differences below this are exact modulo 2^64, rounding of their estimate included.
_WRAPS = 2.0**62


def cross_product(hit: IntArray, base: IntArray, hits: IntArray, bases: IntArray) -> FloatArray:
    """hit * bases - base * hits: exactly, up to two billion people, and without overflow beyond."""
    if bases.size and int(bases.max()) >= 2**31:
        return np.asarray(hit.astype(float) * bases - base.astype(float) * hits)
    return np.asarray((hit * bases - base * hits).astype(float))


def cross_product_of_sums(part: IntArray, people: IntArray, whole: IntArray, everyone: IntArray) -> FloatArray:
    """part * everyone - people * whole of sums of amounts: exactly below 2^62, and with the float's precision above.

    >>> big = np.array([2**40 + 1])
    >>> cross_product_of_sums(big, np.array([2**20]), 2 * big, np.array([2**21])).tolist()
    [0.0]
    """
    estimate = part.astype(float) * everyone - people.astype(float) * whole
    return np.where(np.abs(estimate) < _WRAPS, part * everyone - people * whole, estimate)


def squares(amounts: IntArray) -> tuple[IntArray, IntArray]:
    """The high and the low word of every amount's square.

    >>> [word.tolist() for word in squares(np.array([-3, 2**31 - 1]))]
    [[0, 2147483646], [9, 1]]
    """
    square = amounts * amounts
    return square >> WORD, square & ((1 << WORD) - 1)


def moments(amounts: IntArray) -> IntArray:
    """What is added up of amounts: one for each person, the amount, and the two words of its square, [people, 4]."""
    return np.stack([np.ones_like(amounts), amounts, *squares(amounts)], axis=-1)


def scatter(people: IntArray, total: IntArray, high: IntArray, low: IntArray) -> FloatArray:
    """people * sum of squares - sum^2, which is people^2 times the variance; 0 only where all amounts are the same.

    >>> scatter(*(np.array([x]) for x in (4, 10, 0, 30))).tolist()
    [20.0]
    """
    # Around the whole number next to the mean nothing large is left to cancel.
    centre = (2 * total + people) // np.maximum(2 * people, 1)
    rest = total - people * centre
    estimate = np.ldexp(high.astype(float), WORD) + low - centre.astype(float) * (total + rest)
    wrapped = (high << WORD) + low - centre * (total + rest)
    around = np.where(estimate < _WRAPS, wrapped, estimate)
    return np.asarray(people * around - rest.astype(float) * rest)
