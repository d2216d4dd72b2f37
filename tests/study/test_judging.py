"""Tests of location rates are exact, and Holm's correction is that of statsmodels."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from ald.study.judging import holm, independent_p, paired_p, share_p


def test_paired_systems_are_compared_by_mcnemars_exact_test() -> None:
    """p is that of statsmodels for every number of data sets that only one of two systems locates."""
    for first, other in product(range(13), repeat=2):
        expected = mcnemar([[5, first], [other, 3]], exact=True).pvalue if first + other else 1.0
        assert paired_p(first, other) == pytest.approx(expected, rel=1e-12)


def test_shares_are_compared_with_a_bound_by_the_binomial_test() -> None:
    """p is twice the smaller tail, counted term by term."""
    for hits, bound in product(range(21), (0.02, 0.15, 0.95)):
        terms = [comb(20, k) * bound**k * (1 - bound) ** (20 - k) for k in range(21)]
        expected = min(2 * min(sum(terms[: hits + 1]), sum(terms[hits:])), 1.0)
        assert share_p(hits, 20, bound) == pytest.approx(expected, rel=1e-9)


def test_other_data_sets_are_compared_by_fishers_exact_test() -> None:
    """p is SciPy's for shares of different data sets, also where neither locates anything."""
    for hits, other in ((0, 0), (53, 58), (2, 30), (100, 97)):
        expected = stats.fisher_exact([[hits, 100 - hits], [other, 120 - other]]).pvalue
        assert independent_p(hits, 100, other, 120) == pytest.approx(expected, rel=1e-9)


def test_holms_correction() -> None:
    """Corrected p-values are those of statsmodels, in the order given."""
    p = np.random.default_rng(0).random(40) ** 4
    assert holm(p.tolist()) == pytest.approx(multipletests(p, method="holm")[1], rel=1e-12)
    assert holm([]) == []
