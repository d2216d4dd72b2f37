"""The power of a check: disparities planted into its own data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ald.auditing import Request, read_request
from ald.data.inputs.sources import load
from ald.gate import power
from ald.gate.power import Power, _as_amounts, _draw_group, _without_disparity, simulate_power
from tests.gate.people import decisions, predictions, scores, wages


def request(data: Any, **options: Any) -> Request:
    return read_request({"data": data, **options})


def test_a_disparity_is_planted_and_nothing_else() -> None:
    """Outside the group the rate is the overall one, inside it less by the limit, whatever the data showed before."""
    data = decisions(40_000, 0.4)
    asked = request(data, outcome="approved")
    group = np.arange(40_000) % 10 == 0
    table = _without_disparity(load(data), asked, group, 0.1, np.random.default_rng(1))
    approved, rate = table["approved"].codes == 1, data["approved"].mean()
    assert approved[group].mean() == pytest.approx(rate - 0.1, abs=0.03)
    assert approved[~group].mean() == pytest.approx(rate, abs=0.01)
    women = (data["sex"] == "f").to_numpy()
    assert approved[women & ~group].mean() == pytest.approx(approved[~women & ~group].mean(), abs=0.02)


@pytest.mark.parametrize(
    ("notion", "hit", "base"),
    [
        ("predictive equality", (0, 1), [(0, 0), (0, 1)]),
        ("false negative rate", (1, 0), [(1, 0), (1, 1)]),
        ("predictive parity", (1, 1), [(0, 1), (1, 1)]),
    ],
)
def test_rates_of_predictions_are_planted_in_their_base(notion: str, hit: Any, base: Any) -> None:
    """Of predictions the rate that the notion asks about has the disparity; cells are (truth, prediction)."""
    data = predictions(40_000)
    asked = request(data, prediction="predicted", truth="true", notion=notion)
    group = np.arange(40_000) % 5 == 0
    table = _without_disparity(load(data), asked, group, 0.1, np.random.default_rng(2))
    cells = list(zip(table["true"].codes.tolist(), table["predicted"].codes.tolist(), strict=True))
    is_base, is_hit = (np.array([cell in wanted for cell in cells]) for wanted in (base, [hit]))
    inside, outside = (is_hit[is_base & side].mean() for side in (group, ~group))
    assert inside - outside == pytest.approx(-0.1, abs=0.03)


def test_groups_have_about_the_share_that_is_asked_for() -> None:
    """Groups of one attribute or two are drawn until one has the share."""
    table = load(decisions(5000, 0.0).assign(age=np.arange(5000) % 60))
    columns = [table[name] for name in ("sex", "region", "age")]
    rng = np.random.default_rng(3)
    shares = [_draw_group(columns, 0.1, rng).mean() for _ in range(50)]
    assert 0.06 < min(shares) <= max(shares) < 0.16


def test_power_is_low_where_there_are_few_people_and_high_where_there_are_many() -> None:
    """Runs end as soon as the answer is certain."""
    small, large = decisions(300, 0.0), decisions(5000, 0.0)
    low = simulate_power(load(small), request(small, outcome="approved"), 0.05, 0.1)
    assert not low.enough
    assert low.runs < power.RUNS
    high = simulate_power(load(large), request(large, outcome="approved"), 0.35, 0.4)
    assert high.enough
    assert high == Power(found=8, runs=high.runs)


def test_rows_that_count_several_people_are_dealt_out_to_people() -> None:
    """A table of counts has the power of the people that it counts."""
    data = decisions(4000, 0.0)
    counted = data.value_counts().reset_index(name="n")
    asked = request(counted, outcome="approved", weights="n")
    assert not simulate_power(load(counted), asked, 0.02, 0.1).enough


def test_amounts_are_planted_in_their_unit() -> None:
    """Amounts are dealt out anew among all people, and everyone in the group has less by the limit."""
    data = wages(20_000, 500)
    asked = request(data, outcome="wage (EUR)")
    group = np.arange(20_000) % 10 == 0
    table = _without_disparity(load(data), asked, group, 150.0, np.random.default_rng(1))
    column = table["wage (EUR)"]
    assert column.values is not None
    wage = column.values[column.codes]
    assert wage[group].mean() - wage[~group].mean() == pytest.approx(-150, abs=60)
    assert np.where(group, wage + 150, wage).mean() == pytest.approx(data["wage (EUR)"].mean())
    women = (data["sex"] == "f").to_numpy()
    assert wage[women & ~group].mean() == pytest.approx(wage[~women & ~group].mean(), abs=30)


def test_what_is_asked_of_a_score_is_planted_as_an_amount() -> None:
    """The mean of something per row becomes one column of it, in place of score and truth."""
    data = scores(500, 0.2)
    asked = request(data, score="p", truth="true", notion="Brier score")
    table, again = _as_amounts(load(data), asked)
    assert set(table.names) == {"sex", "region", "p"}
    column = table["p"]
    assert column.values is not None
    assert column.values[column.codes] == pytest.approx((data["true"] - data["p"]).to_numpy() ** 2)
    assert again.config.outcomes == ("p",)
    assert again.roles.truth is None


@pytest.mark.parametrize("kind", ["outcome", "prediction"])
def test_classes_are_planted(kind: str) -> None:
    """The most frequent class is rarer in the group by the limit; or predictions there are right less often."""
    rng = np.random.default_rng(4)
    data = decisions(40_000, 0.0).drop(columns="approved")
    data["grade"] = rng.choice(["A", "B", "C"], 40_000, p=[0.5, 0.3, 0.2])
    if kind == "outcome":
        asked = request(data, outcome="grade")
    else:
        data["said"] = np.where(rng.random(40_000) < 0.6, data["grade"], "B")
        asked = request(data, prediction="said", truth="grade", notion="accuracy")
    asked = replace(asked, config=replace(asked.config, classes=("A", "B", "C")))
    group = np.arange(40_000) % 5 == 0
    table = _without_disparity(load(data), asked, group, 0.1, rng)
    words = {name: np.array(table[name].words())[table[name].codes] for name in asked.config.outcome_columns}
    hit = words["grade"] == "A" if kind == "outcome" else words["grade"] == words["said"]
    assert hit[group].mean() - hit[~group].mean() == pytest.approx(-0.1, abs=0.03)


def test_rows_without_an_outcome_are_no_part_of_the_simulation() -> None:
    """As in the audit, rows without an outcome are left out."""
    data = decisions(400, 0.0).astype({"approved": float})
    data.loc[data.index[:20], "approved"] = np.nan
    assert not simulate_power(load(data), request(data, outcome="approved"), 0.05, 0.1).enough
