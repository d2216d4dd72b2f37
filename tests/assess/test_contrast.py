"""Comparing one group with others within strata, against statsmodels, SciPy and loops over the same people."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from scipy import stats
from statsmodels.stats.contingency_tables import StratifiedTable
from statsmodels.stats.proportion import proportions_ztest

from ald.assess.contrast import Contrast, contrast
from ald.notions import FNR, FPR, SELECTION, RateCounter
from tests.coded import PARITY, coded


def rows(seed: int, n: int = 3000, strata: int = 6) -> pd.DataFrame:
    """People of a group or not, in strata of different sizes and rates, some of which lack a side or an outcome."""
    rng = np.random.default_rng(seed)
    stratum = np.minimum(rng.geometric(0.4, n) - 1, strata - 1)
    group = rng.random(n) < np.linspace(0.15, 0.8, strata)[stratum]
    y = rng.random(n) < np.linspace(0.7, 0.2, strata)[stratum] + 0.04 * rng.random() * group
    frame = pd.DataFrame({"stratum": stratum, "group": group, "y": y.astype(int)})
    sparse = pd.DataFrame(
        {
            "stratum": [90, 90, 91, 91, 92, 92, 92],
            "group": [True, True, False, False, True, False, False],
            "y": [1, 0, 0, 1, 1, 1, 1],
        }
    )
    return pd.concat([frame, sparse], ignore_index=True)


def compared(frame: pd.DataFrame, direction: int = 0, rates: RateCounter = PARITY, **outcome: str) -> Contrast:
    """The comparison of the group with everyone else within strata."""
    # A row number keeps rows from being merged, so that they stay in the order of the frame.
    table = frame.assign(row=np.arange(len(frame)).astype(str))
    data = coded({name: table[name].to_numpy() for name in ("row", *frame.columns)}, attributes=("row",), **outcome)
    order = np.array([int(data.attributes[0].levels[code] or 0) for code in data.codes[0]])
    group, stratum = frame["group"].to_numpy()[order], frame["stratum"].to_numpy()[order]
    return contrast(group, ~group, stratum, data, rates, direction=direction)


def tables(frame: pd.DataFrame) -> list[np.ndarray[Any, Any]]:
    """The 2x2 tables of the strata that say something, as statsmodels wants them: no empty row, no empty column."""
    made = [
        np.array([[((part.group == g) & (part.y == y)).sum() for y in (1, 0)] for g in (True, False)])
        for _, part in frame.groupby("stratum")
    ]
    return [table for table in made if table.sum(axis=0).all() and table.sum(axis=1).all()]


@pytest.mark.parametrize("seed", range(10))
def test_cochran_mantel_haenszel(seed: int) -> None:
    """The test is statsmodels' StratifiedTable.test_null_odds without correction; silent strata add nothing."""
    frame = rows(seed)
    expected = StratifiedTable(tables(frame)).test_null_odds(correction=False)
    found = compared(frame)
    assert found.test == "stratified chi2"
    assert found.statistic[0] == pytest.approx(expected.statistic, rel=1e-9)
    assert np.exp(found.log_p[0]) == pytest.approx(expected.pvalue, rel=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_the_difference_is_that_of_a_regression_with_strata(seed: int) -> None:
    """The difference is the coefficient of the group in a linear regression with an effect of every stratum."""
    frame = rows(seed)
    expected = smf.ols("y ~ group + C(stratum)", frame).fit().params["group[T.True]"]
    assert compared(frame).difference[0] == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_weights_of_strata(seed: int) -> None:
    """Strata weigh n_in n_out / (n_in + n_out), in the difference and in the rates on both sides."""
    frame = rows(seed)
    weights, inside, outside = [], [], []
    for _, part in frame.groupby("stratum"):
        members, rest = part.y[part.group], part.y[~part.group]
        if len(members) and len(rest):
            weights.append(len(members) * len(rest) / len(part))
            inside.append(members.mean())
            outside.append(rest.mean())
    found = compared(frame)
    assert found.inside[0] == pytest.approx(np.average(inside, weights=weights))
    assert found.outside[0] == pytest.approx(np.average(outside, weights=weights))
    assert found.difference[0] == pytest.approx(found.inside[0] - found.outside[0])


@pytest.mark.parametrize("seed", range(5))
def test_one_stratum_is_no_stratum(seed: int) -> None:
    """With one stratum the difference is that of the rates, and the statistic Pearson's times (n - 1) / n."""
    frame = rows(seed).assign(stratum=0)
    rates = frame.groupby("group").y.mean()
    plain = stats.chi2_contingency(pd.crosstab(frame.group, frame.y), correction=False).statistic
    found = compared(frame)
    assert found.difference[0] == pytest.approx(rates[True] - rates[False])
    assert found.statistic[0] == pytest.approx(plain * (len(frame) - 1) / len(frame))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("direction", [-1, 1])
def test_one_sided_within_strata(seed: int, direction: int) -> None:
    """A one-sided p is half of the two-sided one if the difference is in its direction, otherwise 1 less that half."""
    frame = rows(seed)
    p = StratifiedTable(tables(frame)).test_null_odds(correction=False).pvalue
    found = compared(frame, direction)
    expected = p / 2 if np.sign(found.difference[0]) == direction else 1 - p / 2
    assert np.exp(found.log_p[0]) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("side", ["larger", "smaller"])
def test_one_sided_without_strata(side: str) -> None:
    """In one stratum the one-sided p is that of statsmodels' pooled z, times sqrt((n - 1) / n)."""
    frame = rows(3).assign(stratum=0)
    by_group = frame.groupby("group").y.agg(["sum", "count"]).reindex([True, False])
    z, _ = proportions_ztest(by_group["sum"], by_group["count"], alternative=side)
    direction = 1 if side == "larger" else -1
    expected = stats.norm.logsf(direction * z * np.sqrt(1 - 1 / len(frame)))
    assert compared(frame, direction).log_p[0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("direction", "side"), [(0, "two-sided"), (1, "greater"), (-1, "less")])
def test_small_strata_are_tested_exactly(seed: int, direction: int, side: str) -> None:
    """In one small stratum the test is SciPy's Fisher test, on either side or on both."""
    frame = rows(seed, 40, 1)
    frame = frame[frame.stratum == 0]
    found = compared(frame, direction)
    assert found.test == "stratified exact"
    expected = stats.fisher_exact(tables(frame)[0], alternative=side).pvalue
    assert np.exp(found.log_p[0]) == pytest.approx(expected, rel=1e-7)


def test_several_small_strata_are_tested_exactly() -> None:
    """In several small strata the exact p adds up the products of their hypergeometric probabilities."""
    frame = rows(1, 40, 3)
    parts = tables(frame)
    pmf = {0: 1.0}
    for table in parts:
        law = stats.hypergeom(table.sum(), table[:, 0].sum(), table[0].sum())
        low, high = law.support()
        pmf = {
            total: sum(pmf.get(total - x, 0.0) * law.pmf(x) for x in range(low, high + 1))
            for total in range(min(pmf) + low, max(pmf) + high + 1)
        }
    seen = int(sum(table[0, 0] for table in parts))
    upper = sum(p for x, p in pmf.items() if x >= seen)
    lower = sum(p for x, p in pmf.items() if x <= seen)
    both = sum(p for p in pmf.values() if p <= pmf[seen] * (1 + 1e-7))
    assert len(parts) >= 2
    for direction, expected in ((0, both), (1, upper), (-1, lower)):
        assert np.exp(compared(frame, direction).log_p[0]) == pytest.approx(expected, rel=1e-7)


def test_nothing_to_compare_is_undefined() -> None:
    """Where no stratum has both sides, or both outcomes, there is no p-value."""
    frame = pd.DataFrame(
        {"stratum": [0, 0, 1, 1, 2, 2], "group": [True, True, False, False, True, False], "y": [0, 1, 0, 1, 1, 1]}
    )
    assert np.isnan(compared(frame).log_p[0])


def test_lower_rates_can_be_better() -> None:
    """To the disadvantage of a group means a higher false negative rate, but a lower false positive rate."""
    rng = np.random.default_rng(0)
    n = 4000
    group, truth = rng.random(n) < 0.4, rng.random(n) < 0.5
    said = rng.random(n) < np.where(truth, 0.7, 0.3) - 0.1 * group
    frame = pd.DataFrame({"stratum": 0, "group": group, "prediction": said.astype(int), "truth": truth.astype(int)})
    rates = RateCounter([FPR, FNR], 4)
    disadvantaged, advantaged = (compared(frame, direction, rates).log_p for direction in (-1, 1))
    assert compared(frame, 0, rates).difference[0] < 0 < compared(frame, 0, rates).difference[1]
    assert (disadvantaged < np.log(0.01)).all()
    assert (advantaged > np.log(0.9)).all()


def test_rates_are_those_named() -> None:
    """One entry per rate, in the order of the rates."""
    found = compared(rows(0), rates=RateCounter([SELECTION], 2))
    assert found.log_p.shape == found.inside.shape == found.difference.shape == (1,)


def test_intervals_of_small_groups_cover_within_strata() -> None:
    """With ten people inside, intervals of 95 % hold the true difference in nearly as many of 300 random tables."""
    rng = np.random.default_rng(1)
    group = np.arange(510) < 10
    covered = 0
    for _ in range(300):
        hit = rng.random(510) < np.where(group, 0.1, 0.3)
        found = compared(pd.DataFrame({"stratum": 0, "group": group, "y": hit.astype(int)}))
        covered += abs(found.difference[0] + 0.2) <= 1.96 * found.error[0]
    assert covered >= 0.92 * 300
