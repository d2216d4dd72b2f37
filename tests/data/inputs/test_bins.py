"""Quantile bins of numbers with very many different values."""

from __future__ import annotations

import numpy as np

from ald.data.inputs.bins import MOST_BINS, cut, cut_note, free_bins, named_bounds


def test_a_value_becomes_the_largest_of_its_bin() -> None:
    """Bins are known by their largest value; the last bin takes what is above it, and what is not finite is missing."""
    found = cut(np.array([1.0, 2.0, 2.5, 9.0, np.nan, np.inf]), np.array([2.0, 5.0]))
    np.testing.assert_array_equal(found, [2.0, 2.0, 5.0, 5.0, np.nan, np.nan])


def test_named_numbers_have_bins_of_their_own() -> None:
    """Words that are numbers are bounds, others are not; each takes two of the bins."""
    bounds = named_bounds([" 3 ", "x", "inf", "4.5"], "numeric")
    assert bounds == [3.0, 4.5]
    assert free_bins(bounds) == MOST_BINS - 5


def test_a_cut_is_said() -> None:
    """The note names the column, its different values and its bins."""
    assert cut_note("pay", 12_345, 4_000).startswith(
        "column 'pay' has about 12,345 different values: it was cut into 4,000 quantile bins"
    )
