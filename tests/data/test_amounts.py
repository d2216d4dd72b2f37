"""Amounts as integers: what is exact, and what is lost where it is not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ald._core.exact import WORD
from ald.data.amounts import Unit

finite = st.floats(-1e300, 1e300)


@given(st.lists(st.integers(-20_000_000, 20_000_000), min_size=1), st.integers(0, 2))
def test_decimals_are_exact(cents: list[int], decimals: int) -> None:
    """Numbers with few decimals come back as they were, and their mean is that of the decimals."""
    values = np.array(cents) / 10.0**decimals
    unit = Unit.of(values)
    found = unit.integers(values)
    assert unit.values(found).tolist() == values.tolist()
    assert unit.mean(found.sum(), len(found)) == pytest.approx(sum(cents) / len(cents) / 10.0**decimals, rel=1e-12)


@given(st.lists(finite, min_size=1))
def test_any_number_fits(numbers: list[float]) -> None:
    """Numbers of any size are below 2^31 as integers, and off by less than a billionth of their range."""
    values = np.array(numbers)
    unit = Unit.of(values)
    found = unit.integers(values)
    assert (np.abs(found) < 2**WORD).all()
    low, high = values.min(), values.max()
    close = np.abs(unit.values(found) / 2 - values / 2) <= 1e-9 * (high / 2 - low / 2) + 1e-15 * np.abs(values)
    assert (close | (np.abs(values) < 1e-280)).all()


def test_an_offset_costs_nothing() -> None:
    """A million and six decimals are counted in millionths around the middle of the amounts."""
    values = np.array([1_000_000.000001, 1_000_003.5, 999_998.25])
    unit = Unit.of(values)
    assert unit.per_one == 1e6
    assert unit.values(unit.integers(values)).tolist() == values.tolist()


def test_the_mean_of_nobody_is_undefined() -> None:
    """No people have no mean."""
    assert np.isnan(Unit().mean(np.array([0]), np.array([0])))[0]
