"""Products and sums of amounts, against Python's own integers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ald._core.exact import WORD, cross_product, cross_product_of_sums, moments, scatter, squares

LARGEST = 2**WORD - 1
amounts = st.lists(st.integers(-LARGEST, LARGEST) | st.integers(-3, 3), min_size=1, max_size=30)


@given(amounts)
def test_squares_are_two_words(values: list[int]) -> None:
    """High and low word together are the square, and the low word is below 2^31."""
    high, low = squares(np.array(values))
    assert [int(h) * 2**WORD + int(x) for h, x in zip(high, low, strict=True)] == [v * v for v in values]
    assert ((low >= 0) & (low < 2**WORD)).all()


@given(amounts, st.integers(1, 50_000_000))
def test_scatter_is_people_squared_times_the_variance(values: list[int], repeated: int) -> None:
    """The scatter is n times the sum of squares less the squared sum, to nine digits at any offset."""
    total = moments(np.array(values)).sum(axis=0) * repeated
    n, s = repeated * len(values), repeated * sum(values)
    exact = n * repeated * sum(v * v for v in values) - s * s
    found = float(scatter(*(total[i : i + 1] for i in range(4)))[0])
    assert found == pytest.approx(exact, rel=1e-9)
    assert (found == 0) == (exact == 0)


def test_scatter_of_small_differences_far_from_zero() -> None:
    """What differs by one unit in two billion keeps all of its digits, and what does not differ has none."""
    values = np.repeat(LARGEST - np.arange(3), 100_000)
    for part, expected in ((values, int(3e5 * 2e5)), (np.full(300_000, LARGEST), 0)):
        total = moments(part).sum(axis=0)
        assert scatter(*(total[i : i + 1] for i in range(4)))[0] == expected


@given(st.integers(1, 2**31 - 1), st.integers(-LARGEST, LARGEST), st.integers(1, 2**31 - 1), st.integers(-5, 5))
def test_cross_products_of_sums(everyone: int, mean: int, people: int, more: int) -> None:
    """A part with the mean of the whole has none; a difference of a few units is exact, however large the sums."""
    people = min(people, everyone)
    whole, part = mean * everyone, mean * people + more
    found = cross_product_of_sums(*(np.array([x]) for x in (part, people, whole, everyone)))
    assert found[0] == more * everyone


@given(st.integers(0, 2**40), st.integers(0, 2**40), st.integers(0, 2**40), st.integers(0, 2**40))
def test_cross_products_of_counts(hit: int, miss: int, other_hit: int, other_miss: int) -> None:
    """Products of counts are exact up to two billion people, and right to the precision of floats beyond."""
    base, hits, bases = hit + miss, hit + other_hit, hit + miss + other_hit + other_miss
    found = float(cross_product(*(np.array([x]) for x in (hit, base, hits, bases)))[0])
    exact = hit * bases - base * hits
    assert found == (exact if bases < 2**31 else pytest.approx(exact, abs=1e-15 * bases**2))
