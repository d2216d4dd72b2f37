"""Two models compared by means per row: numbers agree with a plain count, SciPy and the tree of rates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import ald
from ald.comparison.conditional_tree import CellResponse, grow_tree
from ald.comparison.instability_tree import where_mean_changes
from ald.comparison.means import pair_means
from ald.data.amounts import Unit
from ald.data.coded import Attribute, AuditData
from ald.data.design import Design
from ald.data.inputs.sources import load
from ald.data.roles import Roles
from ald.errors import ColumnError, SettingError
from ald.notions import SCORE_NOTIONS, Mean
from ald.search.forest.rules import GrowthRules


def scored(n: int = 6000, seed: int = 0, off: float = 0.15) -> pd.DataFrame:
    """Two scores: the second is higher for older women by about `off`."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "age": rng.integers(18, 70, n)})
    data["old"] = rng.beta(4, 4, n).round(3)
    data["y"] = (rng.random(n) < data["old"]).astype(int)
    raised = off * ((data["sex"] == "f") & (data["age"] > 40))
    data["new"] = np.clip(data["old"] + raised + rng.normal(0, 0.03, n), 0, 1).round(3)
    return data


def paid(n: int = 4000, seed: int = 0) -> pd.DataFrame:
    """Wages and two predictions of them: the second is less wrong about women."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "age": rng.integers(18, 70, n)})
    data["wage (EUR)"] = (2500 + rng.gamma(2, 300, n) - 300 * (data["sex"] == "f")).round(2)
    data["old"] = (2800 + rng.normal(0, 100, n)).round(2)
    data["new"] = (data["old"] - 250 * (data["sex"] == "f") + rng.normal(0, 20, n)).round(2)
    return data


LOSSES: dict[str, Any] = {
    "calibration": lambda score, truth: truth - score,
    "Brier score": lambda score, truth: (truth - score) ** 2,
    "log loss": lambda score, truth: -np.log(np.where(truth == 1, score, 1 - score)),
    "mean score": lambda score, truth: score,
}


@pytest.mark.parametrize("notion", LOSSES)
def test_changes_of_scores_are_those_of_a_plain_count(notion: str) -> None:
    """All people as the tested half: means of both models, change, statistic and interval are SciPy's."""
    data = scored()
    data[["old", "new"]] = data[["old", "new"]].clip(0.01, 0.99)
    found = ald.compare(data, predictions=["old", "new"], truth="y", notion=notion)
    assert found.groups
    for group in found.groups:
        (rate,) = group.rates
        assert rate.change == pytest.approx(group.change)
        assert rate.change == pytest.approx(rate.gap_second - rate.gap_first)
        assert rate.interval[0] < rate.change < rate.interval[1]
        inside = pd.Series(True, index=data.index)
        for condition in group.criterion:
            low, high = getattr(condition, "lower", None), getattr(condition, "upper", None)
            levels = getattr(condition, "levels", None)
            column = data[condition.attribute]
            own = column.isin(levels) if levels else (column > (low or -1)) & (column <= (high or 999))
            inside &= own
        change = LOSSES[notion](data["new"], data["y"]) - LOSSES[notion](data["old"], data["y"])
        a, b = change[inside], change[~inside]
        # The tested half is a sample of all people.
        error = np.hypot(stats.sem(a), stats.sem(b))
        assert rate.change == pytest.approx(a.mean() - b.mean(), abs=4 * error)
        half = (rate.interval[1] - rate.interval[0]) / 2
        reach = stats.norm.isf((1 - found.confidence) / 2)
        assert half == pytest.approx(np.sqrt(2) * reach * error, rel=0.25)


def test_numbers_of_a_group_are_those_of_its_half() -> None:
    """On the half that tests, means of both models, the test and its interval are exactly SciPy's."""
    data = paid(3000)
    data[["old", "new"]] += np.random.default_rng(1).random((3000, 2)) / 100
    roles = Roles(score="old", truth="wage (EUR)", attributes=("sex", "age"))
    (mean,) = SCORE_NOTIONS["absolute error"].rates
    assert isinstance(mean, Mean)
    paired, _, told = pair_means(load(data), roles, "new", mean)
    assert (told.unit, told.name) == ("EUR", "mean absolute error of wage")
    _, d2 = paired.halves(np.random.default_rng(0))
    asked: dict[str, Any] = {"truth": "wage (EUR)", "notion": "absolute error", "attributes": ["sex", "age"]}
    found = ald.compare(data, predictions=["old", "new"], **asked)
    at = [attribute.name for attribute in d2.data.attributes].index("sex")
    people = data.assign(
        before=(data["wage (EUR)"] - data["old"]).abs(), after=(data["wage (EUR)"] - data["new"]).abs()
    )
    # Who is in this half: every row is one person, told by what changes, and by sex.
    unit, sex = d2.data.unit, np.array(d2.data.attributes[at].levels)[d2.data.codes[at]]
    assert unit is not None
    people["key"] = unit.integers((people["after"] - people["before"]).to_numpy())
    half = people.merge(pd.DataFrame({"sex": sex, "key": d2.data.design.amounts}), on=["sex", "key"])
    assert len(half) == d2.data.total
    inside = half["sex"] == "f"
    group = next(group for group in found.tested if str(group.criterion) in ("sex = f", "sex = m"))
    rate, sign = group.rates[0], 1 if str(group.criterion) == "sex = f" else -1
    before, after = (half[name][inside].mean() - half[name][~inside].mean() for name in ("before", "after"))
    assert (rate.gap_first, rate.gap_second) == pytest.approx((sign * before, sign * after))
    change_of = half["after"] - half["before"]
    welch = stats.ttest_ind(change_of[inside], change_of[~inside], equal_var=False)
    assert group.statistic == pytest.approx(welch.statistic**2)
    ends = welch.confidence_interval(found.confidence)
    assert sorted(rate.interval) == pytest.approx(sorted((sign * ends.low, sign * ends.high)))


@pytest.mark.parametrize("notion", ["residual", "absolute error", "squared error"])
def test_predicted_numbers_are_compared_in_their_unit(notion: str) -> None:
    """The group whose errors change is found, and the report speaks of EUR; documents read back are the same."""
    found = ald.compare(paid(), predictions=["old", "new"], truth="wage (EUR)", notion=notion)
    assert "sex" in str(found.groups[0].criterion)
    headline = found.report().headline
    assert f"mean {notion} of wage" in headline
    assert (" EUR." in headline) == (notion != "squared error")
    assert "points" not in headline
    assert ald.Comparison.from_json(found.to_json()).to_json() == found.to_json()
    assert str(ald.Comparison.from_json(found.to_json()).report().headline) == headline


def test_the_order_of_rows_does_not_matter() -> None:
    """The same people in another order give the same bytes."""
    data = paid(1500)
    asked: dict[str, Any] = {"predictions": ["old", "new"], "truth": "wage (EUR)", "notion": "residual"}
    assert ald.compare(data, **asked).to_json() == ald.compare(data.sample(frac=1, random_state=1), **asked).to_json()


def test_models_that_change_nothing_for_a_group_list_nothing() -> None:
    """Changes that are the same noise for everyone lead to no group in nearly all of 40 data sets."""
    listed = 0
    for seed in range(40):
        data = scored(800, seed, off=0.0)
        listed += bool(ald.compare(data, predictions=["old", "new"], truth="y", notion="Brier score").groups)
    assert listed <= 6


def test_a_change_that_is_the_same_for_all_members_is_listed() -> None:
    """Where nothing varies on either side ranks tell the group, and the interval is the change itself."""
    data = paid()
    data["new"] = data["old"] - 100.0 * (data["sex"] == "f")
    found = ald.compare(data, predictions=["old", "new"], truth="wage (EUR)", notion="residual")
    (group,) = found.groups
    assert group.rates[0].interval == (pytest.approx(group.change), pytest.approx(group.change))
    assert abs(group.change) == pytest.approx(100)
    assert group.p_adjusted < 1e-6


def test_the_tree_of_amounts_is_the_tree_of_cells() -> None:
    """Responses of -1, 0 and 1 as amounts grow the tree that they grow as cells."""
    rng = np.random.default_rng(3)
    n = 3000
    sex, region, age = rng.integers(0, 2, n), rng.integers(0, 4, n), rng.integers(0, 30, n)
    cell = rng.choice(3, n, p=[0.2, 0.6, 0.2])
    cell = np.where((sex == 1) & (age > 12) & (rng.random(n) < 0.4), 2, cell)
    attributes = (
        Attribute(name="sex", kind="nominal", levels=("f", "m")),
        Attribute(name="region", kind="nominal", levels=tuple("news")),
        Attribute(name="age", kind="numeric", values=np.arange(30.0)),
    )
    codes = tuple(column.astype(np.uint8) for column in (sex, region, age))
    ones = np.ones(n, np.int64)
    cells = AuditData(attributes=attributes, codes=codes, cells=cell.astype(np.uint8), counts=ones, n_cells=3)
    amounts = AuditData(
        attributes=attributes,
        codes=codes,
        cells=np.zeros(n, np.uint8),
        counts=ones,
        n_cells=4,
        design=Design(amounts=cell.astype(np.int64) - 1),
        unit=Unit(),
    )
    response = CellResponse(base=np.ones((1, 3), dtype=bool), value=np.array([[-1.0, 0.0, 1.0]]))
    expected = grow_tree(cells, response, GrowthRules(alpha=0.1, bonferroni=True))
    found = where_mean_changes(amounts)
    assert found.n_nodes == expected.n_nodes > 3
    assert found.attribute.tolist() == expected.attribute.tolist()
    assert found.counts[:, 0].tolist() == expected.counts.sum(axis=1).tolist()


def test_what_cannot_be_compared_is_refused_by_name() -> None:
    """Numbers without a notion that is about them, and models that are the same, get the reason and what helps."""
    data, wages = scored(600), paid(600)
    both: dict[str, Any] = {"predictions": ["old", "new"]}
    with pytest.raises(SettingError, match=r"by notion='calibration'.*by 'residual'.*favourable='>= 0.5'"):
        ald.compare(data, truth="y", **both)
    with pytest.raises(ColumnError, match="it must be a probability, from 0 to 1"):
        ald.compare(wages, truth="wage (EUR)", notion="calibration", **both)
    with pytest.raises(ColumnError, match="truth 'y' has two values"):
        ald.compare(data, truth="y", notion="residual", **both)
    with pytest.raises(ColumnError, match="the same mean of truth minus score for everyone"):
        ald.compare(data.assign(new=data["old"]), truth="y", notion="calibration", **both)
    with pytest.raises(SettingError, match="says nothing of two models"):
        ald.compare(data, truth="y", notion=ald.Notion("m", (ald.notions.Mean("m", "m"),)), **both)
    cut = ald.compare(data, truth="y", favourable=">= 0.5", **both)
    assert cut.config.prediction == "old"
