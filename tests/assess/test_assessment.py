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

from ald.assess.assessment import Terms, assess, assess_counts, assess_in_order
from ald.data.coded import AuditData
from ald.groups.membership import member_mask
from ald.groups.tree import CodedCondition, CodedCriterion
from ald.notions import ACCURACY, NOTIONS, SELECTION, Notion
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
def test_in_order_tests_within_the_groups_before(seed: int) -> None:
    """The first group has Pearson's test, a later one that given all before it (Cochran-Mantel-Haenszel), alone."""
    data = random_data(seed, 4000)
    found = assess_in_order(CRITERIA, data, SP)
    for i, criterion in enumerate(CRITERIA):
        inside = np.bincount(data.cells, data.counts * member_mask(criterion, data), minlength=2)
        p = pearson(inside, data.cell_counts() - inside).pvalue
        if i > 0:
            given_others, is_large = stratified(data, CRITERIA, i, (0, 1))
            assert is_large
            p = given_others.pvalue
        assert np.exp(found.log_p[i]) == pytest.approx(p, rel=1e-7)


@pytest.mark.parametrize("seed", range(6))
def test_everything_of_a_later_group_is_of_its_difference_within_strata(seed: int) -> None:
    """psi, rates, interval and sign are those within the groups before; the crude psi is that of all people."""
    data = random_data(seed, 3000)
    found = assess_in_order(CRITERIA, data, SP)
    intervals = found.intervals(0.05)
    masks = [member_mask(criterion, data) for criterion in CRITERIA]
    hit = data.cells == 1
    for i in range(1, len(CRITERIA)):
        pattern = np.stack(masks[:i], axis=1).astype(int) @ (1 << np.arange(i))
        weights, rates = [], []
        for stratum in np.unique(pattern):
            sides = [(pattern == stratum) & side for side in (masks[i], ~masks[i])]
            people = [data.counts[side].sum() for side in sides]
            if min(people) > 0:
                weights.append(people[0] * people[1] / sum(people))
                rates.append([data.counts[side & hit].sum() / n for side, n in zip(sides, people, strict=True)])
        inside, outside = np.average(rates, axis=0, weights=weights)
        assert (found.rate_in[0, i], found.rate_out[0, i]) == pytest.approx((inside, outside))
        assert found.psi[i] == pytest.approx(inside - outside)
        crude = [data.counts[side & hit].sum() / data.counts[side].sum() for side in (masks[i], ~masks[i])]
        assert found.psi_crude[i] == pytest.approx(crude[0] - crude[1])
        assert (intervals.low[i] <= 0 <= intervals.high[i]) == (found.log_p[i] > np.log(0.05))
        assert intervals.low[i] <= found.psi[i] <= intervals.high[i]
    assert np.isnan(found.psi_crude[0])


def test_a_reversal_has_the_sign_within_strata() -> None:
    """Simpson's reversal: what is higher for the crude eye and lower within the group before is listed as lower."""
    rng = np.random.default_rng(0)
    a = rng.random(20_000) < 0.5
    b = rng.random(20_000) < np.where(a, 0.8, 0.2)
    y = rng.random(20_000) < 0.3 + 0.35 * a - 0.08 * b
    data = coded({"a": a.astype(str), "b": b.astype(str), "y": y.astype(int)})
    groups: list[CodedCriterion] = [(CodedCondition(0, 0, 0, (1,)),), (CodedCondition(1, 0, 0, (1,)),)]
    for direction, low_p in ((0, True), (-1, True), (1, False)):
        found = assess_in_order(groups, data, SP, Terms(direction=direction))
        assert found.psi[1] == pytest.approx(-0.08, abs=0.03)
        assert found.psi_crude[1] > 0.08
        assert found.intervals(0.05).high[1] < 0
        assert (found.log_p[1] < np.log(1e-3)) == low_p


def test_no_group_is_disadvantaged_whose_every_rate_favours_it() -> None:
    """Asked for disadvantaged groups, one whose rates all are to its advantage has p = 1, threshold or not."""
    # False positives are to people's advantage, false negatives are not.
    favoured, rest = np.array([100, 300, 50, 350]), np.array([300, 100, 200, 200])
    for threshold in (0.0, 0.1):
        for direction, is_listed in ((-1, False), (1, True)):
            terms = Terms(direction=direction, threshold=threshold)
            found = assess_counts(favoured[None], favoured + rest, ODDS, terms)
            assert (found.log_p[0] < np.log(0.001)) == is_listed
            assert is_listed or found.log_p[0] == 0.0


@pytest.mark.parametrize(
    "terms",
    [
        Terms(exact=True),
        Terms(exact=True, direction=1),
        *(Terms(exact=True, threshold=threshold) for threshold in (0.005, 0.05)),
    ],
)
@given(case=counts(2, 60))
def test_intervals_agree_with_the_reported_test(terms: Terms, case: tuple[np.ndarray, np.ndarray]) -> None:
    """Whatever test is reported, the interval reaches the null exactly where the test does not reject at the level."""
    inside, outside = case
    assume(full(inside, outside))
    found = assess_counts(inside[None], inside + outside, SP, terms)
    p = float(np.exp(found.log_p[0]))
    assume(abs(p - 0.05) > 1e-6)
    intervals = found.intervals(0.05)
    low, high = float(intervals.low[0]), float(intervals.high[0])
    assert low - 1e-9 <= found.psi[0] <= high + 1e-9
    if terms.direction:
        assert (low > 0) == (p <= 0.05)
    elif terms.threshold:
        assert (low > terms.threshold or high < -terms.threshold) == (p <= 0.05)
    else:
        assert (low <= 0 <= high) == (p > 0.05)


def test_psi_of_several_rates_by_chance() -> None:
    """A psi of several rates is on average what it is said to be by chance, where there is no disparity."""
    rng = np.random.default_rng(0)
    cells = rng.multinomial(1, [0.3, 0.2, 0.2, 0.3], (2000, 2000)).astype(np.int64)
    inside, everyone = cells[:, :40].sum(axis=1), cells.sum(axis=1)
    found = [assess_counts(i[None], e, ODDS) for i, e in zip(inside, everyone, strict=True)]
    psi, expected = (np.mean([getattr(one, name)[0] for one in found]) for name in ("psi", "psi_by_chance"))
    assert psi == pytest.approx(expected, rel=0.03)
    assert psi > 0.08
    assert np.isnan(assess_counts(inside[:1, :2], everyone[0, :2], SP).psi_by_chance[0])


@pytest.mark.parametrize("seed", range(4))
def test_in_order_with_two_rates(seed: int) -> None:
    """With equalized odds, the p-values within strata are combined by Fisher's method."""
    data = random_data(seed, 8000, truth=True)
    found = assess_in_order(CRITERIA, data, ODDS)
    for i in range(1, len(CRITERIA)):
        parts = [stratified(data, CRITERIA, i, cells) for cells in ((0, 1), (2, 3))]
        assert all(is_large for _, is_large in parts)
        combined = stats.combine_pvalues([part.pvalue for part, _ in parts], method="fisher").pvalue
        assert np.exp(found.log_p[i]) == pytest.approx(combined, rel=1e-6)


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
    """A group that was there before, or is the complement of one, cannot be compared given it, and that is said."""
    data = random_data(0, 3000)
    rest = (CodedCondition(0, 0, 0, (1, 2)),)
    found = assess_in_order([CRITERIA[0], CRITERIA[0], rest], data, SP)
    assert np.isnan(found.log_p[1:]).all()
    assert [found.reason(i) for i in range(3)] == ["", *["the groups before it leave nobody to compare with"] * 2]
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
