"""Clusters and survey weights: the sandwich against statsmodels, all else against loops over rows and pairs of rows."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from scipy import stats
from statsmodels.stats.contingency_tables import StratifiedTable
from statsmodels.stats.sandwich_covariance import S_crosssection

import ald
from ald.assess.robust import Robust, compare_robustly
from ald.notions import FNR, FPR, RateCounter
from tests.coded import PARITY, coded


def people(seed: int, *, units: int = 60, rows: int = 5, strata: int = 3, effect: float = 0.1) -> pd.DataFrame:
    """Equally many people per stratum with equally many rows each: whose outcomes are alike, with weights by row."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(strata * units), rows)
    stratum = person % strata
    group = (rng.random(strata * units) < 0.3 + 0.1 * (np.arange(strata * units) % strata))[person]
    rate = rng.beta(0.5, 0.7, strata * units)[person] * 0.8 + effect * group
    return pd.DataFrame(
        {
            "person": [f"p{i}" for i in person],
            "stratum": stratum,
            "group": group,
            "weight": rng.uniform(0.5, 3.0, len(person)).round(3),
            "y": (rng.random(len(person)) < rate).astype(int),
        }
    )


def compared(
    frame: pd.DataFrame, *, cluster: bool = False, weights: bool = False, rates: RateCounter = PARITY, **roles: Any
) -> list[Robust]:
    """The robust comparison of the group with everyone else within strata."""
    options = {"cluster": "person"} if cluster else {}
    options |= {"survey_weights": "weight"} if weights else {}
    table = frame.assign(row=np.arange(len(frame)).astype(str))
    data = coded({name: table[name].to_numpy() for name in table}, attributes=("row",), **options, **roles)
    order = np.array([int(data.attributes[0].levels[code] or 0) for code in data.codes[0]])
    group, stratum = frame["group"].to_numpy()[order], frame["stratum"].to_numpy()[order]
    return compare_robustly(group, ~group, stratum, data, rates)


def terms(frame: pd.DataFrame, *, cluster: bool, weights: bool) -> pd.DataFrame:
    """Per row: weight, group less its weighted share in the stratum, residuals, variance, unit; by pandas alone."""
    out = frame.assign(
        w=frame.weight / frame.weight.mean() if weights else 1.0,
        unit=frame.person if cluster else np.arange(len(frame)),
    )

    def within(column: str) -> pd.Series[float]:
        sums = (out.w * out[column]).groupby(out.stratum).transform("sum")
        return sums / out.w.groupby(out.stratum).transform("sum")

    out["centred"], out["mean"] = out.group - within("group"), within("y")
    out["spread"] = out["mean"] * (1 - out["mean"])
    out["residual"] = out.y - out["mean"]
    units = out.groupby("stratum").unit.transform("nunique")
    out["lever"] = out.w * out.centred * np.sqrt(units / (units - 1))
    return out


DESIGNS = pytest.mark.parametrize(("cluster", "weights"), [(True, False), (False, True), (True, True)])


@DESIGNS
@pytest.mark.parametrize("seed", range(4))
def test_the_difference_is_that_of_a_weighted_regression(seed: int, cluster: bool, weights: bool) -> None:
    """The difference is the coefficient of the group in statsmodels' WLS with an effect of every stratum."""
    frame = people(seed)
    model = smf.wls("y ~ group + C(stratum)", frame, weights=frame.weight if weights else np.ones(len(frame)))
    (found,) = compared(frame, cluster=cluster, weights=weights)
    assert found.difference == pytest.approx(model.fit().params["group[T.True]"], rel=1e-8)
    assert found.difference == pytest.approx(found.inside - found.outside, rel=1e-9)


@DESIGNS
@pytest.mark.parametrize("seed", range(4))
def test_the_sandwich_is_that_of_statsmodels(seed: int, cluster: bool, weights: bool) -> None:
    """t is the sum of weighted residuals of the group over the root of statsmodels' sums of squares over units."""
    frame = terms(people(seed), cluster=cluster, weights=weights)
    units = pd.factorize(frame.unit)[0]
    meat = float(S_crosssection((frame.lever * frame.residual).to_numpy()[:, None], units).item())
    excess = float((frame.w * frame.centred * frame.residual).sum())
    (found,) = compared(people(seed), cluster=cluster, weights=weights)
    assert found.t == pytest.approx(excess / np.sqrt(meat), rel=1e-8)


@DESIGNS
@pytest.mark.parametrize("seed", range(6))
def test_the_standard_error_is_at_least_that_of_statsmodels(seed: int, cluster: bool, weights: bool) -> None:
    """The error is statsmodels' cluster or HC0 error times sqrt(u / (u - 1)), of u units; or the steady one."""
    frame = people(seed)
    model = smf.wls("y ~ group + C(stratum)", frame, weights=frame.weight if weights else np.ones(len(frame)))
    how: dict[str, Any] = {"cov_type": "HC0"}
    if cluster:
        how = {"cov_type": "cluster", "cov_kwds": {"groups": pd.factorize(frame.person)[0], "use_correction": False}}
    u = 60 if cluster else 300
    sandwich = float(model.fit(**how).bse["group[T.True]"]) * np.sqrt(u / (u - 1))
    (found,) = compared(frame, cluster=cluster, weights=weights)
    scale = found.difference * float((terms(frame, cluster=cluster, weights=weights).eval("w * centred ** 2")).sum())
    steady = abs(scale / found.z) / (scale / found.difference)
    assert found.error == pytest.approx(max(sandwich, steady), rel=1e-8)


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_one_correlation_for_all_pairs(seed: int, weights: bool) -> None:
    """z has the variance of rows that correlate alike within people: by loops over all pairs of their rows."""
    frame = terms(people(seed, units=20, rows=4, strata=2), cluster=True, weights=weights)
    alone = together = products = 0.0
    pairs = 0
    for _, part in frame.groupby("person"):
        standard = (part.residual / np.sqrt(part.spread)).tolist()
        lever = (part.lever * np.sqrt(part.spread)).tolist()
        alone += sum(x * x for x in lever)
        for i, j in combinations(range(len(part)), 2):
            products += standard[i] * standard[j]
            together += 2 * lever[i] * lever[j]
            pairs += 1
    variance = alone + min(max(products / pairs, 0.0), 1.0) * max(together, 0.0)
    excess = float((frame.w * frame.centred * frame.residual).sum())
    (found,) = compared(people(seed, units=20, rows=4, strata=2), cluster=True, weights=weights)
    assert products > 0
    assert found.z == pytest.approx(excess / np.sqrt(variance), rel=1e-8)


@DESIGNS
def test_degrees_of_freedom(cluster: bool, weights: bool) -> None:
    """The degrees of freedom are Satterthwaite's of units with these variances, less one: by a loop over units."""
    frame = terms(people(1), cluster=cluster, weights=weights)
    variances = [float((part.lever**2 * part.spread).sum()) for _, part in frame.groupby("unit")]
    expected = sum(variances) ** 2 / sum(v * v for v in variances) - 1
    (found,) = compared(people(1), cluster=cluster, weights=weights)
    assert found.df == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("side", [0, 1, -1])
def test_the_larger_p_of_both_tests_counts(side: int) -> None:
    """p is the larger one of the normal test by the steady variance and Student's by the sandwich, by SciPy."""
    for seed in range(4):
        (found,) = compared(people(seed, units=8), cluster=True)
        tails = (
            [2 * stats.norm.sf(abs(found.z)), 2 * stats.t.sf(abs(found.t), found.df)]
            if side == 0
            else [stats.norm.sf(side * found.z), stats.t.sf(side * found.t, found.df)]
        )
        assert np.exp(found.log_p(side)) == pytest.approx(max(tails), rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_clusters_of_one_row_are_people(seed: int) -> None:
    """Where everyone has one row, the steady test is Cochran-Mantel-Haenszel's, of statsmodels."""
    frame = people(seed, units=300, rows=1)
    tables = [
        np.array([[((part.group == g) & (part.y == y)).sum() for y in (1, 0)] for g in (True, False)])
        for _, part in frame.groupby("stratum")
    ]
    expected = StratifiedTable(tables).test_null_odds(correction=False)
    (found,) = compared(frame, cluster=True)
    assert found.z**2 == pytest.approx(expected.statistic, rel=1e-9)
    # The sandwich of independent rows differs by chance only.
    assert found.log_p() == pytest.approx(np.log(expected.pvalue), rel=0.1, abs=0.1)


def test_equal_weights_are_no_weights() -> None:
    """Survey weights that are all alike, whatever their size, give Cochran-Mantel-Haenszel's statistic."""
    frame = people(2, rows=1, units=300)
    (plain,) = compared(frame, cluster=True)
    for weight in (1.0, 0.001, 5e6):
        (found,) = compared(frame.assign(weight=weight), weights=True)
        assert (found.z, found.t, found.difference) == pytest.approx((plain.z, plain.t, plain.difference), rel=1e-9)


def test_weights_matter_up_to_a_factor() -> None:
    """A thousand times the survey weights is the same survey."""
    frame = people(3)
    (one,), (many,) = (compared(frame.assign(weight=frame.weight * k), weights=True) for k in (1, 1000))
    assert one.log_p() == pytest.approx(many.log_p(), rel=1e-9)
    assert one.error == pytest.approx(many.error, rel=1e-9)


def test_repeating_all_rows_of_people_adds_no_evidence() -> None:
    """With clusters, writing down every row twice changes no test: there are not more people."""
    frame = people(4)
    (once,), (twice,) = (compared(pd.concat([frame] * k, ignore_index=True), cluster=True) for k in (1, 2))
    assert (twice.t, twice.df, twice.difference) == pytest.approx((once.t, once.df, once.difference), rel=1e-9)
    # The steady variance sees pairs that are perfectly alike, and can only grow.
    assert abs(twice.z) <= abs(once.z) * (1 + 1e-9)


def test_groups_without_hits_are_not_certain() -> None:
    """A group of six people without one hit has no infinite statistic: the steady variance does without its own."""
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(300), 3)
    group = person < 6
    y = np.where(group, 0, rng.random(900) < 0.3).astype(int)
    frame = pd.DataFrame({"person": person.astype(str), "stratum": 0, "group": group, "weight": 1.0, "y": y})
    (found,) = compared(frame, cluster=True)
    assert 0.001 < np.exp(found.log_p()) < 0.2


def test_nobody_to_compare_is_undefined() -> None:
    """Without a stratum that has both sides, or with one outcome only, all is undefined."""
    frame = people(0).assign(group=lambda f: f.stratum == 0)
    (found,) = compared(frame, cluster=True)
    assert np.isnan([found.difference, found.z, found.t, found.log_p()]).all()
    # Outcomes vary, but not among those who are compared.
    silent = people(0).assign(y=lambda f: ((f.stratum == 0) & f.group).astype(int))
    silent["group"] &= silent.stratum > 0
    (found,) = compared(silent, cluster=True)
    assert np.isnan(found.log_p())


def test_every_rate_has_its_own_base() -> None:
    """Of equalized odds, each rate is compared among those it is about, as if they were all."""
    rng = np.random.default_rng(1)
    frame = people(1).rename(columns={"y": "prediction"})
    frame["truth"] = rng.integers(0, 2, len(frame))
    both = compared(frame, cluster=True, rates=RateCounter([FPR, FNR], 4))
    negatives = frame[frame.truth == 0].rename(columns={"prediction": "y"}).drop(columns="truth")
    (alone,) = compared(negatives.reset_index(drop=True), cluster=True)
    assert (both[0].z, both[0].t, both[0].df) == pytest.approx((alone.z, alone.t, alone.df), rel=1e-9)


@pytest.mark.parametrize("weights", [False, True])
def test_no_difference_is_seldom_found(weights: bool) -> None:
    """Without a difference hardly more than 5 % of p-values are below 0.05 with clusters (error probability 1e-5)."""
    runs = 150
    frames = [people(seed, units=25, effect=0.0) for seed in range(runs)]
    found = [compared(frame, cluster=True, weights=weights)[0].log_p() for frame in frames]
    assert sum(p < np.log(0.05) for p in found) <= stats.binom.isf(1e-5, runs, 0.05)
    # Whoever takes the rows of a person for people finds more, beyond chance.
    alone = [compared(frame, weights=True)[0].log_p() for frame in frames]
    assert sum(p < np.log(0.05) for p in alone) > stats.binom.isf(1e-5, runs, 0.05)


def test_no_difference_without_variance_is_no_difference() -> None:
    """People who are alike in every respect show no difference: p is 1, and never undefined."""
    columns = {"g": ["a", "a", "b", "b"] * 40, "p": [f"p{i // 4}" for i in range(160)], "y": [1, 0, 1, 0] * 40}
    (found,) = ald.audit(columns, search="none", named_groups="g = a", outcome="y", cluster="p").named_groups
    assert (found.psi, found.p_value) == (0.0, 1.0)


def test_a_weight_that_outweighs_all_others_leaves_little_to_learn() -> None:
    """With one huge weight in the group psi and its interval are there, and p is not small."""
    rng = np.random.default_rng(3)
    columns = {
        "g": ["a"] * 30 + ["b"] * 970,
        "w": [5000.0] + [1.0] * 999,
        "y": [1, *rng.integers(0, 2, 999).tolist()],
    }
    (found,) = ald.audit(
        columns, search="none", named_groups="g = a", outcome="y", weights=ald.SurveyWeights("w")
    ).named_groups
    assert found.undefined == ""
    assert found.psi is not None
    assert found.p_value is not None
    assert found.p_value > 0.05
