"""Synthetic data sets."""

from __future__ import annotations

import numpy as np
import pytest

from ald import SettingError
from ald.datasets import make_synthetic
from ald.datasets.synthetic import true_rate


@pytest.mark.parametrize("dataset", [1, 2])
def test_same_seed_same_data(dataset: int) -> None:
    """A seed fixes the data, and another gives other data."""
    a, b, c = (make_synthetic(dataset, n=500, irrelevant=2, seed=seed) for seed in (1, 1, 2))
    assert all((a[name] == b[name]).all() for name in a)
    assert not (a["y"] == c["y"]).all()


@pytest.mark.parametrize("dataset", [1, 2])
def test_the_rate_is_one_half(dataset: int) -> None:
    """The outcome's overall rate is one half."""
    assert make_synthetic(dataset, n=200_000)["y"].mean() == pytest.approx(0.5, abs=0.01)


def test_the_age_band() -> None:
    """In the first data set the rate is higher inside the band, by about rho."""
    data = make_synthetic(1, n=200_000, rho=0.2, width=24)
    inside = (data["age"] > 42) & (data["age"] <= 66)
    difference = data["y"][inside].mean() - data["y"][~inside].mean()
    assert difference == pytest.approx(0.2, abs=0.02)


def test_the_intersection() -> None:
    """In the second data set only race and gender together matter."""
    data = make_synthetic(2, n=200_000, rho=0.2)
    race, gender, y = data["race"] == "r1", data["gender"] == "g1", data["y"]
    assert y[race == gender].mean() == pytest.approx(0.4, abs=0.01)
    assert y[race != gender].mean() == pytest.approx(0.6, abs=0.01)
    assert y[race].mean() == pytest.approx(y[~race].mean(), abs=0.01)


def test_irrelevant_attributes() -> None:
    """As many irrelevant attributes as asked for, alternating between words and numbers, before the outcome."""
    data = make_synthetic(1, n=50, irrelevant=3)
    assert list(data)[-4:] == ["noise1", "noise2", "noise3", "y"]
    assert [np.asarray(data[f"noise{i}"]).dtype.kind for i in (1, 2, 3)] == ["U", "f", "U"]


def test_unknown_data_sets() -> None:
    """Another number is an error."""
    with pytest.raises(SettingError, match=r"there is no synthetic data set 99; there are \[1, 2"):
        make_synthetic(99)


@pytest.mark.parametrize("dataset", [1, 2])
def test_true_probabilities(dataset: int) -> None:
    """Outcomes occur as often as the true probability says, wherever it has one value; other data sets have none."""
    options = {"rho": 0.3, "width": 30.0}
    data = make_synthetic(dataset, n=400_000, **options)
    rate = true_rate(dataset, data, **options)
    values = np.unique(rate)
    assert len(values) == {1: 6, 2: 2}[dataset]
    for value in values:
        assert data["y"][rate == value].mean() == pytest.approx(value, abs=0.01)
    with pytest.raises(SettingError, match="3"):
        true_rate(3, make_synthetic(3, n=10))
