"""The assessment on D2 against SciPy and statsmodels."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from scipy.stats.contingency import expected_freq
from statsmodels.stats.contingency_tables import StratifiedTable

from ald.data.coded import AuditData
from ald.evaluation import Terms, assess, assess_counts, assess_in_order
from ald.notions import ACCURACY, NOTIONS, SELECTION, Notion
from ald.search.membership import member_mask
from ald.search.tree import CodedCondition, CodedCriterion
from tests.coded import coded

SP, ODDS = NOTIONS["statistical parity"], NOTIONS["equalized odds"]
BOTH = Notion("selection and accuracy", (SELECTION, ACCURACY))


def counts(n_cells: int, most: int) -> st.SearchStrategy[tuple[np.ndarray, np.ndarray]]:
    """Counts per cell of a group and of everyone else."""
    side = arrays(np.int64, n_cells, elements=st.integers(0, most))
    return st.tuples(side, side)


def pearson(a: np.ndarray, b: np.ndarray) -> Any:
    return stats.chi2_contingency([a, b], correction=False)


def full(*sides: np.ndarray) -> bool:
    """Whether no margin of the table of two sides is empty."""
    return bool(np.sum(sides, axis=0).all() and all(side.sum() for side in sides))


@given(counts(2, 400))
def test_one_rate_is_pearson(case: tuple[np.ndarray, np.ndarray]) -> None:
    """Statistical parity is tested by Pearson's chi2 without continuity correction; psi is the difference of rates."""
    inside, outside = case
    assume(full(inside, outside))
    found, expected = assess_counts(inside[None], inside + outside, SP), pearson(inside, outside)
    assert found.statistic[0] == pytest.approx(expected.statistic, rel=1e-9, abs=1e-12)
    assert np.exp(found.log_p[0]) == pytest.approx(expected.pvalue, rel=1e-7)
    assert found.psi[0] == pytest.approx(inside[1] / inside.sum() - outside[1] / outside.sum())
    assert found.df == 1
    assert found.test == ("chi2",)


@given(counts(4, 100))
def test_equalized_odds_is_fishers_method(case: tuple[np.ndarray, np.ndarray]) -> None:
    """The p-values among actual negatives and positives are combined by Fisher's method on 4 df."""
    inside, outside = case
    assume(full(inside[:2], outside[:2]) and full(inside[2:], outside[2:]))
    ps = [pearson(inside[part], outside[part]).pvalue for part in (slice(2), slice(2, 4))]
    assume(min(ps) > 1e-200)
    expected = stats.combine_pvalues(ps, method="fisher")
    found = assess_counts(inside[None], inside + outside, ODDS)
    assert found.statistic[0] == pytest.approx(expected.statistic, rel=1e-7, abs=1e-9)
    assert np.exp(found.log_p[0]) == pytest.approx(expected.pvalue, rel=1e-6)
    assert found.df == 4
    fpr = inside[1] / inside[:2].sum() - outside[1] / outside[:2].sum()
    fnr = inside[2] / inside[2:].sum() - outside[2] / outside[2:].sum()
    assert found.differences[:, 0].tolist() == pytest.approx([fpr, fnr])
    assert found.psi[0] == pytest.approx((abs(fpr) + abs(fnr)) / 2)


@given(counts(4, 100))
def test_overlapping_rates_take_twice_the_smaller_p(case: tuple[np.ndarray, np.ndarray]) -> None:
    """Rates over the same rows are not combined by Fisher's method: the smallest p times their number counts."""
    inside, outside = case
    tables = [
        [(side[0] + side[2], side[1] + side[3]) for side in case],
        [(side[1] + side[2], side[0] + side[3]) for side in case],
    ]
    assume(all(full(*np.array(table)) for table in tables))
    smallest = min(pearson(*table).pvalue for table in tables)
    found = assess_counts(inside[None], inside + outside, BOTH)
    assert np.exp(found.log_p[0]) == pytest.approx(min(1.0, 2 * smallest), rel=1e-7)


def test_log_p_of_strong_disparities() -> None:
    """log p keeps its value where p itself underflows to 0."""
    inside, everyone = np.array([[10, 4990], [20, 4980]]), np.array([5000, 5000])
    found = assess_counts(inside, everyone, SP)
    assert (np.exp(found.log_p) == 0).all()
    assert -6000 < found.log_p[0] < found.log_p[1] < -3000


@pytest.mark.parametrize(
    ("inside", "everyone", "notion", "reason"),
    [
        ([0, 0], [5, 5], SP, "the selection rate is undefined in the group: no one there counts for it"),
        ([5, 5], [5, 5], SP, "the selection rate is undefined outside the group: no one there counts for it"),
        ([3, 0], [9, 0], SP, "the selection rate is 0 in and outside the group"),
        ([0, 3], [0, 9], SP, "the selection rate is 1 in and outside the group"),
        ([3, 3, 0, 0], [9, 9, 9, 9], ODDS, "the false negative rate is undefined in the group: no one there counts"),
    ],
)
def test_undefined_tests_say_why(inside: list[int], everyone: list[int], notion: Notion, reason: str) -> None:
    """A zero margin leaves the test undefined, with the reason in words."""
    found = assess_counts(np.array([inside]), np.array(everyone), notion)
    assert np.isnan(found.log_p[0])
    assert np.isnan(found.log_p_adjusted[0])
    assert found.reason(0).startswith(reason)


def test_undefined_tests_leave_the_correction() -> None:
    """Undefined tests do not count as tests: the corrected p-values are those without them."""
    everyone = np.array([500, 500])
    defined = np.array([[100, 60], [200, 190], [40, 90]])
    with_empty = np.insert(defined, 1, [0, 0], axis=0)
    for method in ("bh", "by", "bonferroni"):
        alone = assess_counts(defined, everyone, SP, Terms(adjustment=method)).log_p_adjusted
        assert assess_counts(with_empty, everyone, SP, Terms(adjustment=method)).log_p_adjusted[
            [0, 2, 3]
        ] == pytest.approx(alone)


@given(counts(2, 150))
def test_exact_where_an_expected_count_is_below_20(case: tuple[np.ndarray, np.ndarray]) -> None:
    """Fisher's exact test is used exactly where one of the four expected counts is below 20."""
    inside, outside = case
    assume(full(inside, outside))
    found = assess_counts(inside[None], inside + outside, SP, Terms(exact=True))
    least = expected_freq([inside, outside]).min()
    assume(abs(least - 20) > 1e-9)
    assert found.test[0] == ("exact" if least < 20 else "chi2")
    p = (stats.fisher_exact([inside, outside]) if least < 20 else pearson(inside, outside)).pvalue
    assert np.exp(found.log_p[0]) == pytest.approx(p, rel=1e-6)


def test_exactly_20_expected_is_enough_for_chi2() -> None:
    """With an expected count of exactly 20 the test is chi2; with one favourable outcome less it is exact."""
    for hits, test in ((40, "chi2"), (39, "exact")):
        found = assess_counts(np.array([[75, 25]]), np.array([200 - hits, hits]), SP, Terms(exact=True))
        assert found.test == (test,)


def random_data(seed: int, n: int, truth: bool = False) -> AuditData:
    rng = np.random.default_rng(seed)
    a, b, x = rng.choice(list("pqr"), n), rng.choice(list("uv"), n), rng.integers(0, 30, n)
    y = (rng.random(n) < 0.3 + 0.15 * (a == "p") * rng.random() + 0.15 * (x > 20)).astype(int)
    columns = {"a": a, "b": b, "x": x}
    return coded(columns | ({"prediction": y, "truth": rng.integers(0, 2, n)} if truth else {"y": y}))


CRITERIA: list[CodedCriterion] = [
    (CodedCondition(0, 0, 0, (0,)),),
    (CodedCondition(2, 15, 30),),
    (CodedCondition(0, 0, 0, (0, 1)), CodedCondition(1, 0, 0, (1,))),
    (CodedCondition(1, 0, 0, (0,)), CodedCondition(2, 5, 22)),
]


def stratified(data: AuditData, criteria: list[CodedCriterion], i: int, cells: tuple[int, int]) -> tuple[Any, bool]:
    """statsmodels' test of group i within the patterns of the groups before it, and whether chi2 is good for it."""
    masks = [member_mask(criterion, data) for criterion in criteria[: i + 1]]
    pattern = np.stack(masks[:i], axis=1).astype(int) @ (1 << np.arange(i))
    tables = []
    for stratum in np.unique(pattern):
        here = pattern == stratum
        table = np.array(
            [
                [data.counts[here & side & (data.cells == cell)].sum() for cell in cells]
                for side in (masks[i], ~masks[i])
            ]
        )
        if table.sum(axis=0).all() and table.sum(axis=1).all():
            tables.append(table)
    together = np.sum(tables, axis=0)
    return StratifiedTable(tables).test_null_odds(correction=False), bool(expected_freq(together).min() >= 20)


@pytest.mark.parametrize("seed", range(6))
def test_in_order_takes_the_larger_p(seed: int) -> None:
    """Each group's p is the larger of its own and that given all groups before it (Cochran-Mantel-Haenszel)."""
    data = random_data(seed, 4000)
    found = assess_in_order(CRITERIA, data, SP)
    for i, criterion in enumerate(CRITERIA):
        inside = np.bincount(data.cells, data.counts * member_mask(criterion, data), minlength=2)
        p = pearson(inside, data.cell_counts() - inside).pvalue
        if i > 0:
            given_others, is_large = stratified(data, CRITERIA, i, (0, 1))
            assert is_large
            p = max(p, given_others.pvalue)
        assert np.exp(found.log_p[i]) == pytest.approx(p, rel=1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_in_order_with_two_rates(seed: int) -> None:
    """With equalized odds, both the marginal and the stratified p are combined by Fisher's method before comparing."""
    data = random_data(seed, 8000, truth=True)
    found = assess_in_order(CRITERIA, data, ODDS)
    marginal = assess(CRITERIA, data, ODDS).log_p
    for i in range(1, len(CRITERIA)):
        parts = [stratified(data, CRITERIA, i, cells) for cells in ((0, 1), (2, 3))]
        assert all(is_large for _, is_large in parts)
        combined = stats.combine_pvalues([part.pvalue for part, _ in parts], method="fisher").pvalue
        assert np.exp(found.log_p[i]) == pytest.approx(max(combined, np.exp(marginal[i])), rel=1e-6)


@settings(max_examples=20)
@given(st.integers(0, 1000), st.permutations(range(4)), st.integers(1, 3))
def test_later_groups_do_not_matter(seed: int, order: list[int], kept: int) -> None:
    """The p-values of the first groups are the same whatever comes after them, in whatever order."""
    data = random_data(seed, 300)
    criteria = [CRITERIA[i] for i in order]
    expected = assess_in_order(criteria[:kept], data, SP).log_p
    for later in (criteria[kept:], criteria[kept:][::-1]):
        found = assess_in_order(criteria[:kept] + later, data, SP).log_p[:kept]
        assert np.array_equal(found, expected, equal_nan=True)


def test_a_group_told_again_adds_nothing() -> None:
    """A group that was there before, or is the complement of one, has p = 1 given it."""
    data = random_data(0, 3000)
    rest = (CodedCondition(0, 0, 0, (1, 2)),)
    found = assess_in_order([CRITERIA[0], CRITERIA[0], rest], data, SP)
    assert found.log_p[1:].tolist() == [0.0, 0.0]
    assert found.log_p[0] == assess([CRITERIA[0]], data, SP).log_p[0]


def test_small_strata_are_tested_exactly() -> None:
    """Where the groups before leave few people to compare, the stratified test is exact, and says so."""
    data = random_data(2, 60)
    found = assess_in_order(CRITERIA, data, SP)
    assert all("exact" in test for test in found.test)


def test_the_assessment_takes_one_data_set() -> None:
    """What is assessed are criteria on one data set: there is no way to hand it the data of the search."""
    for function in (assess, assess_in_order):
        parameters = list(inspect.signature(function).parameters.values())
        assert [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD] == [
            "criteria",
            "data",
            "notion",
            "terms",
        ]
        assert sum("AuditData" in str(p.annotation) for p in parameters) == 1
