"""Comparing groups by amounts: which test leads, and what it says, against SciPy and statsmodels."""

from __future__ import annotations

from dataclasses import replace
from math import exp
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats

import ald
from ald.assess.amounts import contrast_of_amounts, dominated
from ald.assess.assessment import Terms, assess, assess_masks, assessment_terms
from ald.assess.contrast import Contrast
from ald.data.amounts import Unit
from ald.data.coded import Attribute, AuditData
from ald.data.design import Design
from ald.groups.membership import member_mask
from ald.groups.rules import candidates
from ald.groups.tree import CodedCondition
from ald.notions import AMOUNT_CELLS, Mean, MeanCounter, Notion
from ald.search.forest.rules import GrowthRules
from ald.search.forest.sampling import grow_forest


def amounts(values: np.ndarray, **design: Any) -> AuditData:
    """People with these amounts, and nothing else."""
    unit = Unit.of(values)
    return AuditData(
        attributes=(),
        codes=(),
        cells=np.zeros(len(values), np.uint8),
        counts=np.ones(len(values), np.int64),
        n_cells=len(AMOUNT_CELLS),
        design=Design(amounts=unit.integers(values), **design),
        unit=unit,
    )


def compared(values: np.ndarray, member: np.ndarray, strata: np.ndarray | None = None, **design: Any) -> Contrast:
    of = np.zeros(len(values), np.int64) if strata is None else strata
    return contrast_of_amounts(member, ~member, of, amounts(values, **design), 0)


def test_large_groups_are_compared_by_welch() -> None:
    """Means, p and interval are those of SciPy, in the unit of the amounts, whatever their offset."""
    rng = np.random.default_rng(0)
    values, member = np.round(rng.normal(50_000, 9_000, 400), 2), np.arange(400) < 150
    values[member] += 1_500
    found, theirs = compared(values, member), stats.ttest_ind(values[member], values[~member], equal_var=False)
    assert found.test == "Welch t"
    assert exp(found.log_p[0]) == pytest.approx(theirs.pvalue, rel=1e-9)
    assert (found.inside[0], found.outside[0]) == pytest.approx((values[member].mean(), values[~member].mean()))
    assert found.everyone[0] == pytest.approx(values.mean())
    interval = theirs.confidence_interval(0.95)
    assert [bound[0] for bound in found.intervals(0.05)] == pytest.approx([interval.low, interval.high])
    assert found.ranks is not None
    ranks = stats.mannwhitneyu(values[member], values[~member], method="asymptotic", use_continuity=False)
    assert exp(found.ranks.log_p()) == pytest.approx(ranks.pvalue)


def test_small_or_skew_groups_are_shuffled() -> None:
    """Few members, or amounts too skew for their number, are tested by permutation; the interval stays that of t."""
    rng = np.random.default_rng(1)
    for values, k in ((rng.normal(size=300), 12), (rng.exponential(size=300), 100)):
        member = np.arange(300) < k
        found = compared(values, member)
        assert found.test == "permutation t"
        theirs = stats.ttest_ind(values[member], values[~member], equal_var=False).confidence_interval(0.95)
        assert [bound[0] for bound in found.intervals(0.05)] == pytest.approx([theirs.low, theirs.high], rel=1e-6)


def test_a_few_who_hold_most_leave_it_to_ranks() -> None:
    """Where one person in a hundred holds most of what varies, the rank test leads, and it is said."""
    values = np.concatenate([np.linspace(1, 2, 198), [900.0, 1000.0]])
    found = compared(values, np.arange(200) % 3 == 0)
    assert found.dominated
    assert found.test == "rank"
    assert found.ranks is not None
    assert found.log_p[0] == found.ranks.log_p()
    assert dominated(values, np.ones(200, np.int64), np.zeros(200, np.int64))
    assert not dominated(values[:198], np.ones(198, np.int64), np.zeros(198, np.int64))


def test_which_test_leads_does_not_depend_on_who_is_a_member() -> None:
    """Shuffled members are compared by the same test."""
    rng = np.random.default_rng(2)
    for values in (rng.normal(size=200), rng.exponential(size=200), rng.lognormal(0, 2, 200)):
        member = np.arange(200) < 60
        assert len({compared(values, rng.permutation(member)).test for _ in range(5)}) == 1


@pytest.mark.parametrize("design", ["clusters", "weights", "strata"])
def test_clusters_weights_and_strata_are_those_of_a_regression(design: str) -> None:
    """The difference is that of a regression with an effect of every stratum; clusters have its robust error."""
    rng = np.random.default_rng(3)
    n = 600
    member, stratum = rng.random(n) < 0.3, rng.integers(0, 3, n) if design == "strata" else np.zeros(n, np.int64)
    cluster, weights = rng.integers(0, 120, n), rng.uniform(0.5, 2, n)
    values = np.round(1e6 + rng.normal(size=n) + rng.normal(size=120)[cluster] + stratum + 0.3 * member, 4)
    own = {"clusters": {"clusters": cluster}, "weights": {"weights": weights}, "strata": {}}[design]
    found = compared(values, member, stratum, **own)
    columns = np.column_stack([member, np.eye(3)[stratum][:, : stratum.max() + 1]]).astype(float)
    weight = weights if design == "weights" else np.ones(n)
    model = sm.WLS(values - 1e6, columns, weights=weight)
    fit = model.fit(cov_type="cluster", cov_kwds={"groups": cluster}) if design == "clusters" else model.fit()
    assert found.difference[0] == pytest.approx(fit.params[0], rel=1e-6)
    if design == "clusters":
        part = found.parts[0].means  # type: ignore[attr-defined]
        assert part.sandwich[0] ** 0.5 == pytest.approx(fit.bse[0], rel=0.05)
        assert found.test == "robust t"
    low, high = found.intervals(0.05)
    assert low[0] < found.difference[0] < high[0]


def test_a_threshold_is_for_t() -> None:
    """Against a threshold only t can test: small groups, too."""
    values, member = np.random.default_rng(5).normal(size=60), np.arange(60) < 10
    data = amounts(values)
    found = contrast_of_amounts(member, ~member, np.zeros(60, np.int64), data, 0, threshold=0.5)
    assert found.test == "Welch t"


def test_nobody_to_compare_with_and_nothing_that_varies() -> None:
    """Without anyone on one side, or with the same amount for all, the test is undefined."""
    values = np.arange(40.0)
    assert np.isnan(compared(values, np.ones(40, bool)).log_p[0])
    assert np.isnan(compared(np.full(40, 7.5), values < 20).log_p[0])
    assert np.isnan(compared(np.full(40, 7.5), values < 20, clusters=np.arange(40)).log_p[0])


@pytest.mark.parametrize("reference", ["rest", "all"])
@pytest.mark.parametrize("threshold", [0.0, 0.2])
@pytest.mark.parametrize("seed", range(3))
def test_sums_say_what_rows_say(seed: int, threshold: float, reference: str) -> None:
    """From sums of all groups at once follows what comparing each of them row by row gives."""
    rng = np.random.default_rng(seed)
    n = 500
    values = np.round(rng.normal(size=n) if seed else rng.exponential(size=n), 3)
    code = rng.integers(0, 6, n)
    code[: n // 20] = 5
    plain = amounts(values)
    attribute = Attribute(name="a", kind="nominal", levels=tuple("uvwxyz"))
    data = replace(plain, attributes=(attribute,), codes=(code.astype(np.uint8),))
    notion = Notion("equal means", (Mean("mean", "mean", per_one=plain.unit.per_one, origin=plain.unit.origin),))
    criteria = [(CodedCondition(0, 0, 0, (level,)),) for level in range(6)]
    terms = Terms(threshold=threshold, reference=reference)
    found = assess(criteria, data, notion, terms)
    each = assess_masks([code == level for level in range(6)], data, notion, terms)
    assert found.test == each.test
    assert found.log_p == pytest.approx(each.log_p, rel=1e-9)
    for name in ("rate_in", "rate_out", "null_error", "scale", "inside", "outside", "size", "psi"):
        assert getattr(found, name) == pytest.approx(getattr(each, name), rel=1e-9)
    for ours, theirs in zip(found.intervals(0.05).low, each.intervals(0.05).low, strict=True):
        assert ours == pytest.approx(theirs)


def test_leaves_are_counted_as_their_criteria_are() -> None:
    """Sums of amounts by the paths of a forest are those by its criteria, negative ones too."""
    rng = np.random.default_rng(4)
    n = 800
    frame = {"a": rng.integers(0, 9, n), "b": rng.choice(list("pqr"), n)}
    values = np.round(rng.normal(size=n) - frame["a"] + 2.0 * (frame["b"] == "q"), 2)
    attributes = (
        Attribute(name="a", kind="numeric", values=np.arange(9.0)),
        Attribute(name="b", kind="nominal", levels=("p", "q", "r")),
    )
    codes = (frame["a"].astype(np.uint8), np.searchsorted(list("pqr"), frame["b"]).astype(np.uint8))
    data = replace(amounts(values), attributes=attributes, codes=codes)
    rngs = [np.random.default_rng(seed) for seed in range(4)]
    proposed = candidates(grow_forest(data, MeanCounter(), GrowthRules(), rngs), data)
    assert proposed.leaves is not None
    assert data.design.amounts is not None
    assert data.design.amounts.min() < 0
    counted = proposed.leaves.count(data.ledger)
    assert len(counted) > 10
    assert counted.tolist() == [data.tally(member_mask(criterion, data)).tolist() for criterion in proposed.criteria]
    sums, small = proposed.leaves.sums(data, 60)
    assert sums.tolist() == counted.tolist()
    assert (small.lengths > 0).tolist() == (counted[:, 0] < 60).tolist()
    for i in np.flatnonzero(small.lengths).tolist():
        assert small[i].tolist() == np.flatnonzero(member_mask(proposed.criteria[i], data)).tolist()


@pytest.mark.parametrize("reference", ["rest", "all"])
def test_leaves_are_tested_as_groups_are(reference: str) -> None:
    """All leaves of a forest at once, from rows that go down its trees, have the tests of each group by itself."""
    rng = np.random.default_rng(5)
    n = 900
    columns = {
        "a": rng.choice(["u", "v", "w", None], n),
        "b": rng.integers(0, 40, n).astype(float),
        "y": np.round(rng.normal(size=n), 2),
    }
    columns["b"][::17] = np.nan
    audit = ald.audit(columns, outcome="y", search=ald.Search("leaves", trees=5, alpha=0.9), reference=reference)
    tests = {found.test for found in audit.candidates}
    assert {"permutation t", "Welch t"} <= tests
    (answer,) = audit._candidates.split.answers  # type: ignore[union-attr]
    alone = assess(answer.proposed.criteria, answer.d2, audit.notion, assessment_terms(audit.config))
    together = answer.assessment
    np.testing.assert_array_equal(alone.inside, together.inside)
    np.testing.assert_allclose(alone.log_p, together.log_p, rtol=1e-12)
    assert alone.test == together.test


def test_a_factor_that_leaves_two_people_alone() -> None:
    """Two people who share a legitimate factor with nobody else do not leave a disparity among all others untested."""
    n = 200
    columns = {
        "sex": ["F", "M"] * (n // 2),
        "job": ["alone"] * 2 + ["clerk", "clerk", "smith", "smith"] * (n // 4 - 1) + ["clerk"] * 2,
        "wage": [1000.0 + 7 * (i * i % 31) + 300 * (i % 2) for i in range(n)],
    }
    asked: Any = {"outcome": "wage", "given": "job", "search": "none", "named_groups": "sex = F"}
    (found,) = ald.audit(columns, **asked).named_groups
    assert found.p_adjusted is not None
    assert found.p_adjusted < 0.001
