"""The linear auditor finds planted half-spaces, and its violations are those that one counts."""

from __future__ import annotations

import numpy as np
import pytest

from ald.baselines.gerrymandering import audit_rate, features, search
from ald.baselines.interface import Search
from ald.groups.derived import extend_data
from ald.groups.membership import member_mask
from ald.notions import FNR, FPR, SELECTION, RateCounter
from tests.coded import PARITY, coded


def planted(seed: int = 0, n: int = 6000) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Two numbers and a group: everyone above a line through them."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=n).round(2), (10 + 5 * rng.normal(size=n)).round(1)
    return {"a": a, "b": b}, a + (b - 10) / 5 > 0.5


def agreement(mask: np.ndarray, rows: np.ndarray, counts: np.ndarray) -> float:
    return float(counts[mask == rows].sum() / counts.sum())


def first_group(data: object, rates: RateCounter) -> np.ndarray:
    found = search(Search(data=data, rates=rates))  # type: ignore[arg-type]
    return member_mask(found.criteria[0], extend_data(data, found.derived))  # type: ignore[arg-type]


@pytest.mark.parametrize("rate", [0.9, 0.1])
def test_finds_a_planted_half_space(rate: float) -> None:
    """A half-space with a higher, or with a lower, rate is found almost exactly."""
    columns, group = planted()
    y = np.random.default_rng(1).random(len(group)) < np.where(group, rate, 0.5)
    data = coded(columns | {"y": y.astype(int)})
    mask = first_group(data, PARITY)
    a, b = (attribute.values[code] for attribute, code in zip(data.attributes, data.codes, strict=True))
    truth = a + (b - 10) / 5 > 0.5
    assert max(agreement(mask, truth, data.counts), agreement(mask, ~truth, data.counts)) > 0.8


@pytest.mark.parametrize("rate", [FPR, FNR], ids=lambda rate: rate.key)
def test_error_rates(rate: object) -> None:
    """False positives and false negatives are audited among those who can have them."""
    columns, group = planted(2)
    rng = np.random.default_rng(3)
    truth = rng.integers(2, size=len(group))
    where = truth == (0 if rate is FPR else 1)
    wrong = rng.random(len(group)) < np.where(group & where, 0.6, 0.15)
    data = coded(columns | {"prediction": np.where(wrong, 1 - truth, truth), "truth": truth})
    mask = first_group(data, RateCounter([rate], 4))  # type: ignore[list-item]
    a, b = (attribute.values[code] for attribute, code in zip(data.attributes, data.codes, strict=True))
    inside = a + (b - 10) / 5 > 0.5
    assert max(agreement(mask, inside, data.counts), agreement(mask, ~inside, data.counts)) > 0.75


def test_violation_is_share_times_difference() -> None:
    """The violation is the group's share times the difference of its rate from the overall rate."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=(500, 2))
    hits = (rng.random(500) < 0.3 + 0.2 * (x[:, 0] > 0)).astype(int)
    groups = audit_rate(x, np.ones(500, int), hits)
    assert groups
    for group in groups:
        inside = x @ group.weights > group.threshold
        expected = inside.mean() * abs(hits[inside].mean() - hits.mean())
        assert group.violation == pytest.approx(expected)
        assert np.sign(hits[inside].mean() - hits.mean()) == group.direction


def test_counts_are_people() -> None:
    """A row that stands for several people is the same as so many rows."""
    rng = np.random.default_rng(5)
    x, n = rng.normal(size=(60, 2)), rng.integers(1, 6, 60)
    hits = rng.binomial(n, 0.4)
    people = np.repeat(np.arange(60), n)
    single = np.concatenate([np.arange(k) < h for k, h in zip(n, hits, strict=True)]).astype(int)
    one, other = audit_rate(x, n, hits)[0], audit_rate(x[people], np.ones(len(people), int), single)[0]
    assert one.violation == pytest.approx(other.violation)
    assert one.weights == pytest.approx(other.weights)


def test_the_hidden_intersection_is_not_linear() -> None:
    """A disparity of two attributes that neither shows alone has no violation worth the name."""
    from ald.datasets import make_synthetic

    found = search(Search(data=coded(make_synthetic(2, rho=0.4)), rates=PARITY))
    assert max(found.score) < 0.02


def test_words_name_the_inequality() -> None:
    """The derived attribute spells out the inequality of its group."""
    columns, group = planted()
    data = coded(columns | {"sex": np.where(group, "f", "m"), "y": group.astype(int) ^ (columns["a"] > 2)})
    found = search(Search(data=data, rates=RateCounter([SELECTION], 2)))
    name = found.derived[0].attribute.name
    assert "[sex = f]" in name
    assert " > " in name


def test_features_of_missing_values() -> None:
    """A missing number counts as the mean, which is 0 in standard deviations."""
    data = coded({"a": [1.0, 2.0, 3.0, None] * 10, "y": [0, 1, 1, 0] * 10})
    how = features(data)
    assert how.tables[0][-1] == pytest.approx([0.0])
    assert how.tables[0][:-1].mean() == pytest.approx(0.0)
