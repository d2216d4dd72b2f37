"""Sums over short axes."""

from __future__ import annotations

import numpy as np
import pytest

from ald._core.segments import few_sums


@pytest.mark.parametrize("shape", [(5, 1), (5, 2), (3, 4, 2), (0, 3), (4,)])
@pytest.mark.parametrize("axis", [-1, 0])
def test_few_sums(shape: tuple[int, ...], axis: int) -> None:
    """The sums are NumPy's, whatever the shape, and the counts stay as they were."""
    counts = np.random.default_rng(0).integers(0, 2**60, shape) // 8
    if counts.shape[axis] == 0:
        counts = counts.T
    before = counts.copy()
    np.testing.assert_array_equal(few_sums(counts, axis), counts.sum(axis=axis))
    np.testing.assert_array_equal(counts, before)
