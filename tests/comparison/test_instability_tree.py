"""The instability tree: where two classifiers differ in different ways, against a direct computation."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import ald
from ald.comparison.conditional_tree import CellResponse
from ald.comparison.instability_tree import paired_response, where_difference_changes
from ald.data.coded import AuditData, encode
from ald.data.inputs.sources import load
from ald.groups.rules import candidates, decode
from ald.notions import ERROR, FNR, FPR, PRECISION, SELECTION, TPR


def paired(columns: dict[str, np.ndarray], truth: np.ndarray, first: np.ndarray, second: np.ndarray) -> AuditData:
    cells = (4 * truth + 2 * first + second).astype(np.uint8)
    return encode(list(load(columns).columns.values()), cells, None, 8)


def two_models(seed: int = 0, n: int = 6000) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray, np.ndarray]:
    """The second model has more false positives among women below 40, and is as good as the first elsewhere."""
    rng = np.random.default_rng(seed)
    sex, age = rng.choice(["f", "m"], n), rng.integers(18, 80, n)
    truth = rng.integers(2, size=n)
    first, second = (np.where(rng.random(n) < 0.2, 1 - truth, truth) for _ in range(2))
    hurt = (sex == "f") & (age <= 40) & (truth == 0) & (rng.random(n) < 0.3)
    return {"sex": sex, "age": age, "job": rng.choice(["x", "y", "z"], n)}, truth, first, np.where(hurt, 1, second)


def test_finds_where_the_difference_changes() -> None:
    """The tree of two classifiers parts the group in which the second has more false positives than the first."""
    columns, truth, first, second = two_models()
    data = paired(columns, truth, first, second)
    forest = where_difference_changes(data, (FPR,))
    words = {str(decode(criterion, data.attributes)) for criterion in candidates(forest, data).criteria}
    assert any(word.startswith("age <= ") and word.endswith("sex = f") for word in words), words
    assert not any("job" in word for word in words)


def test_root_test_is_a_direct_computation() -> None:
    """The root's statistic is the two-sample statistic of the people's differences, computed from rows."""
    columns, truth, first, second = two_models(1)
    data = paired({"sex": columns["sex"]}, truth, first, second)
    forest = where_difference_changes(data, (FPR,), alpha=1.0)
    negative = truth == 0
    d, women = (second - first)[negative], (columns["sex"] == "f")[negative]
    n = len(d)
    expected = sum((d[g].sum() - g.sum() * d.mean()) ** 2 / g.sum() for g in (women, ~women)) / d.var() * (n - 1) / n
    assert forest.statistic[0] == pytest.approx(expected)


@pytest.mark.parametrize("rate", [SELECTION, FPR, FNR, TPR, ERROR], ids=lambda rate: rate.key)
def test_response_is_the_difference_of_hits(rate: ald.Rate) -> None:
    """Everyone's response is the second classifier's hit less the first's, among those who count."""
    response = paired_response((rate,))
    assert isinstance(response, CellResponse)
    for cell, (truth, first, second) in enumerate(product((0, 1), repeat=3)):
        in_base = 2 * truth + first in rate.base_cells
        assert response.base[0, cell] == in_base
        expected = (2 * truth + second in rate.hit_cells) - (2 * truth + first in rate.hit_cells)
        assert not in_base or response.value[0, cell] == expected


def test_precision_cannot_be_paired() -> None:
    """A rate over people with a favourable prediction is over other people for every classifier."""
    with pytest.raises(ald.SettingError, match="not over the same people"):
        paired_response((PRECISION,))
