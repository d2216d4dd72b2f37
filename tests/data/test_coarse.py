"""Bins for exploring: what they hold, and that fewer of them are made of the same people."""

from __future__ import annotations

import numpy as np
import pytest

from ald.data.coarse import coarse_view, coarser
from tests.coded import coded


def columns(n: int = 500) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    number = np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n).round(2))
    return {"x": number, "g": rng.choice(list("abcde"), n), "y": rng.integers(0, 2, n)}


@pytest.mark.parametrize("bins", [3, 32])
def test_every_row_is_in_the_bin_of_its_code(bins: int) -> None:
    """Numbers lie between the edges of their bin, levels have one each, and the last bin is "missing"."""
    data = coded(columns())
    number, level = coarse_view(data, bins).columns
    expected = np.searchsorted(number.edges, data.codes[0], side="right") - 1
    missing = data.codes[0] == data.attributes[0].size
    assert number.bins.tolist() == np.where(missing, number.n, expected).tolist()
    assert level.levels[level.bins].tolist() == data.codes[1].tolist()


def test_levels_that_do_not_occur_have_no_bin() -> None:
    """Levels are numbered over those that occur."""
    data = coded(columns())
    column = coarse_view(data.with_counts(np.where(np.isin(data.codes[1], (1, 3)), data.counts, 0))).columns[1]
    assert (column.n, column.levels.tolist()) == (2, [1, 3])
    assert set(column.bins.tolist()) == {0, 1}


def test_a_coarser_view_is_that_of_the_data() -> None:
    """Fewer bins made from a view are those made from its data."""
    data = coded(columns())
    for made, fresh in zip(coarser(coarse_view(data), 4).columns, coarse_view(data, 4).columns, strict=True):
        assert made.edges.tolist() == fresh.edges.tolist()
        assert made.bins.tolist() == fresh.bins.tolist()
