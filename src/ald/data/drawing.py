"""Samples of rows of one person each as bits, in words of 64."""

from __future__ import annotations

import numpy as np

from ald._core import kernels
from ald._core.arrays import AnyArray


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
