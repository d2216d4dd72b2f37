"""Samples of people without replacement, as NumPy's generator draws them, person by person."""

from __future__ import annotations

import numpy as np

from ald._core import kernels
from ald._core.arrays import AnyArray, IntArray

# Samples as bits are for fewer people than this.
_MOST_PEOPLE = 2**32 - 1


class Drawer:
    """Draws samples of the same people again and again, in the same memory: one sample at a time."""

    def __init__(self, people: int) -> None:
        self._people = people
        self._order = np.empty(people, np.uint32)
        self._bits = np.empty(-(-people // 64), np.uint64)

    @staticmethod
    def available(people: int) -> bool:
        """Whether samples are drawn here, with the compiled kernel; else NumPy draws the same ones."""
        return people < _MOST_PEOPLE and kernels.draw() is not None

    def pick(self, k: int, rng: np.random.Generator) -> AnyArray:
        """The bits of k people, lowest first in words of 64; they last until the next sample."""
        kernel = kernels.draw()
        assert kernel is not None
        # Generators of 64 bits keep the upper half of a number for the next one of 32 bits that is asked for.
        halves = rng.bit_generator.state.get("has_uint32") == 0
        kernel.pick(rng.bit_generator.capsule, int(halves), self._people, k, self._order, self._bits)
        return self._bits


def people_drawn(counts: IntArray, k: int, rng: np.random.Generator) -> IntArray:
    """How many of k people fall into each row, where every row has so many."""
    total = int(counts.sum())
    if not Drawer.available(total):
        return rng.multivariate_hypergeometric(counts, k, method="count")
    return in_rows(Drawer(total).pick(k, rng), counts)


def in_rows(bits: AnyArray, counts: IntArray) -> IntArray:
    """How many people of each row a sample has."""
    kernel = kernels.draw()
    assert kernel is not None
    out = np.empty(len(counts), np.int64)
    kernel.spans(bits, np.ascontiguousarray(counts), out)
    return out


def as_bits(sample: AnyArray) -> AnyArray:
    """A sample as bits, from how many people of each row are in it, none or one; bits as they are."""
    if sample.dtype == np.uint64:
        return sample
    little = np.packbits(sample > 0, bitorder="little")
    return np.pad(little, (0, -len(little) % 8)).view("<u8").astype(np.uint64)


def kept(column: AnyArray, bits: AnyArray, wanted: bool, n: int) -> AnyArray:
    """The n items of a column that are in a sample, or are not."""
    kernel = kernels.draw()
    assert kernel is not None
    out = np.empty(n, column.dtype)
    kernel.keep(bits, int(wanted), np.ascontiguousarray(column), out)
    return out
