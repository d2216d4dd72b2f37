"""What a description is worth on D1: evidence, and the price of having looked for it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import StratifiedTable

from ald.data.coarse import coarse_view
from ald.groups.membership import count_members, member_mask
from ald.groups.tree import CodedCondition
from ald.notions import ACCURACY, NOTIONS, SELECTION, RateCounter
from ald.search.explore.scoring import Aim, Scorer
from tests.coded import PARITY, coded
from tests.tables import decisions, people


def parity_scorer(n: int = 2000) -> Scorer:
    columns = people(n)
    return Scorer(coarse_view(coded({name: columns[name] for name in ("age", "sex", "y")})), PARITY)


def chi2(inside: np.ndarray, everyone: np.ndarray) -> float:
    n = everyone.sum()
    statistic = stats.chi2_contingency([inside, everyone - inside], correction=False).statistic
    return float(statistic * (n - 1) / n)


def test_evidence_is_chi2_against_everyone_else() -> None:
    """The evidence of a group is the two-sample chi2 of its rate against that of everyone else."""
    scorer = parity_scorer()
    inside = count_members([(CodedCondition(0, 5, 40),), (CodedCondition(1, 0, 0, (1,)),)], scorer.view.data)
    expected = [chi2(counts, scorer.view.totals) for counts in inside]
    assert scorer.statistic(inside).tolist() == pytest.approx(expected)
    assert scorer.log_p(scorer.statistic(inside)).tolist() == pytest.approx(stats.chi2.logsf(expected, 1).tolist())


def test_evidence_of_equalized_odds_adds_both_rates() -> None:
    """With disjoint rates the statistics add up, on as many degrees of freedom."""
    columns = decisions(2000)
    data = coded({"group": columns["group"], "prediction": columns["predicted"], "truth": columns["true"]})
    scorer = Scorer(coarse_view(data), RateCounter(NOTIONS["equalized odds"].rates, 4))
    inside = count_members([(CodedCondition(0, 0, 0, (0,)),)], data)
    everyone = data.cell_counts()
    expected = chi2(inside[0, :2], everyone[:2]) + chi2(inside[0, 2:], everyone[2:])
    assert scorer.statistic(inside)[0] == pytest.approx(expected)
    assert scorer.log_p(scorer.statistic(inside))[0] == pytest.approx(stats.chi2.logsf(expected, 2))


def test_evidence_of_overlapping_rates_is_the_strongest() -> None:
    """Where rows count in two rates, the larger statistic counts, and its p times their number."""
    columns = decisions(2000)
    data = coded({"group": columns["group"], "prediction": columns["predicted"], "truth": columns["true"]})
    scorer = Scorer(coarse_view(data), RateCounter([SELECTION, ACCURACY], 4))
    inside = count_members([(CodedCondition(0, 0, 0, (0,)),)], data)[0]
    everyone = data.cell_counts()
    selected, right = np.array([[1, 0], [0, 1], [1, 0], [0, 1]]), np.array([[0, 1], [1, 0], [1, 0], [0, 1]])
    expected = max(chi2(inside @ cells, everyone @ cells) for cells in (selected, right))
    found = scorer.statistic(inside[None])
    assert found[0] == pytest.approx(expected)
    assert scorer.log_p(found)[0] == pytest.approx(stats.chi2.logsf(expected, 1) + np.log(2))


def test_strata_give_the_stratified_evidence() -> None:
    """Given another group, a group's statistic is the stratified one, by statsmodels."""
    data = parity_scorer().view.data
    women = member_mask((CodedCondition(1, 0, 0, (0,)),), data)
    scorer = Scorer(coarse_view(data), PARITY, women.astype(np.int64))
    for low, high in ((0, 20), (10, 40), (25, 50)):
        old = member_mask((CodedCondition(0, low, high),), data)
        cells = [[[data.counts[old & (women == w) & (data.cells == c)].sum() for c in (0, 1)],
                  [data.counts[~old & (women == w) & (data.cells == c)].sum() for c in (0, 1)]]
                 for w in (False, True)]  # fmt: skip
        stratified = StratifiedTable([np.array(t) for t in cells]).test_null_odds(correction=False).statistic
        inside = np.array(cells)[:, 0].reshape(1, -1)
        assert scorer.statistic(inside)[0] == pytest.approx(stratified)


def test_groups_too_small_have_no_evidence() -> None:
    """Groups of fewer than 20 people, or all but so few, are worth nothing."""
    scorer = parity_scorer()
    hits = scorer.view.totals
    few = np.array([[0, 19], [0, 20]])
    assert (scorer.statistic(few) > 0).tolist() == [False, True]
    assert (scorer.statistic(hits - few) > 0).tolist() == [False, True]


def test_more_conditions_cost_more() -> None:
    """A description's price grows with every condition, and an interval costs more than a bound."""
    scorer = parity_scorer()
    bound, interval, level = CodedCondition(0, 10, 62), CodedCondition(0, 10, 40), CodedCondition(1, 0, 0, (0,))
    assert scorer.prices.criterion(()) == 0.0
    assert (
        scorer.prices.criterion((bound,))
        < scorer.prices.criterion((interval,))
        < scorer.prices.criterion((interval, level))
    )
    assert scorer.prices.criterion((level,)) < scorer.prices.criterion((bound, level))


def test_narrow_intervals_cost_more() -> None:
    """There are more different narrow intervals than wide ones, so they cost more."""
    scorer = parity_scorer()
    prices = scorer.prices.interval(0, np.array([0.5, 0.3, 0.1, 0.02]), two_sided=True, alone=True)
    assert (np.diff(prices) > 0).all()


def test_conditions_beside_others_cost_a_surcharge() -> None:
    """A bound that is added to other conditions must gain more than one that stands alone."""
    assert parity_scorer().prices.surcharge(CodedCondition(0, 10, 62)) > 0


def test_more_levels_cost_more() -> None:
    """Up to half of the levels, naming more of them costs more, at least the logarithm of the number of such sets."""
    rng = np.random.default_rng(0)
    data = coded({"g": rng.choice(list("abcdef"), 300), "y": rng.integers(0, 2, 300)})
    prices = Scorer(coarse_view(data), PARITY).prices.levels(0, np.array([1, 2, 3]), alone=True)
    assert (np.diff(prices) > 0).all()
    assert (np.exp(prices) >= [6, 15, 20]).all()


def test_values_are_evidence_plus_price() -> None:
    """The value of a group is its log p plus its price."""
    scorer = parity_scorer()
    criterion = (CodedCondition(0, 5, 40), CodedCondition(1, 0, 0, (1,)))
    inside = count_members([criterion], scorer.view.data)
    expected = scorer.log_p(scorer.statistic(inside))[0] + scorer.prices.criterion(criterion)
    assert scorer.values([criterion])[0] == pytest.approx(expected)


# Legitimate factors, directions, references, clusters


def frame_of(n: int = 3000) -> pd.DataFrame:
    """People in three departments, of which those with more women admit fewer."""
    rng = np.random.default_rng(4)
    department = rng.integers(0, 3, n)
    sex = np.where(rng.random(n) < 0.2 + 0.25 * department, "F", "M")
    age = rng.integers(20, 60, n)
    y = rng.random(n) < 0.7 - 0.2 * department + 0.1 * (age > 45)
    return pd.DataFrame({"age": age, "sex": sex, "department": department, "y": y.astype(int)})


WOMEN = (CodedCondition(1, 0, 0, (0,)),)


def scorer_given(frame: pd.DataFrame, **aim: object) -> Scorer:
    """A scorer of age and sex, within departments."""
    data = coded({name: frame[name].to_numpy() for name in frame}, given=("department",))
    return Scorer(coarse_view(data), PARITY, aim=Aim(given=data.design.strata, **aim))  # type: ignore[arg-type]


def strata_of(frame: pd.DataFrame, inside: pd.Series, outside: pd.Series) -> StratifiedTable:
    return StratifiedTable(
        [
            np.array([[(side[part.index] & (part.y == y)).sum() for y in (1, 0)] for side in (inside, outside)])
            for _, part in frame.groupby("department")
        ]
    )


def test_given_factors_stratify_the_evidence() -> None:
    """Within legitimate factors the evidence is statsmodels' CMH, and the confounded difference is gone."""
    frame = frame_of()
    scorer = scorer_given(frame)
    inside = count_members([WOMEN], scorer.view.data)
    women = frame.sex == "F"
    expected = strata_of(frame, women, ~women).test_null_odds(correction=False).statistic
    assert scorer.statistic(inside)[0] == pytest.approx(expected)
    plain = Scorer(coarse_view(coded({name: frame[name].to_numpy() for name in ("age", "sex", "y")})), PARITY)
    assert plain.statistic(count_members([WOMEN], plain.view.data))[0] > 10 * expected


def test_differences_are_within_strata() -> None:
    """The difference of a group is that within strata, weighted by n_in n_out / n."""
    frame = frame_of()
    scorer = scorer_given(frame)
    difference, base = scorer.differences(count_members([WOMEN], scorer.view.data))
    parts, weights = [], []
    for _, part in frame.groupby("department"):
        women = part.sex == "F"
        parts.append(part.y[women].mean() - part.y[~women].mean())
        weights.append(women.sum() * (~women).sum() / len(part))
    assert difference[0, 0] == pytest.approx(np.average(parts, weights=weights))
    assert base[0, 0] == (frame.sex == "F").sum()


def test_a_direction_leaves_one_side() -> None:
    """Looking for disadvantaged groups only, an advantaged group has no evidence, and the other way round."""
    frame = frame_of()
    old = (CodedCondition(0, 26, 40),)
    found = {}
    for direction in (-1, 0, 1):
        scorer = scorer_given(frame, direction=direction)
        found[direction] = scorer.statistic(count_members([old], scorer.view.data))[0]
    assert found[0] > 10
    assert found[1] == pytest.approx(found[0])
    assert found[-1] == 0.0


def test_a_reference_group_is_whom_others_are_compared_with() -> None:
    """With a reference group, evidence compares the group with its members outside the group only."""
    frame = frame_of()
    marked = frame.age <= 40
    data = coded({name: frame[name].to_numpy() for name in ("age", "sex", "y")})
    assert data.attributes[0].values is not None
    reference = data.attributes[0].values[data.codes[0]] <= 40
    data = replace(data, design=replace(data.design, reference=reference))
    scorer = Scorer(coarse_view(data), PARITY)
    women = frame.sex == "F"
    others = frame.assign(department=0)
    expected = strata_of(others, women, ~women & marked).test_null_odds(correction=False).statistic
    assert scorer.statistic(count_members([WOMEN], scorer.view.data))[0] == pytest.approx(expected)


def test_clusters_divide_the_evidence() -> None:
    """A design effect of 2 halves every statistic, with strata and without."""
    frame = frame_of()
    plain = coarse_view(coded({name: frame[name].to_numpy() for name in ("age", "sex", "y")}))
    for one, two in (
        (scorer_given(frame), scorer_given(frame, effect=2.0)),
        (Scorer(plain, PARITY), Scorer(plain, PARITY, aim=Aim(effect=2.0))),
    ):
        inside = count_members([WOMEN], one.view.data)
        assert two.statistic(inside)[0] == pytest.approx(one.statistic(inside)[0] / 2)


def test_factors_may_be_added_for_less() -> None:
    """A condition on a legitimate factor says in which strata others differ: it costs no surcharge, and less."""
    data = coded({name: frame_of()[name].astype(str).to_numpy() for name in ("sex", "department", "y")})
    plain, given = (Scorer(coarse_view(data), PARITY, aim=Aim(factors=f)) for f in (frozenset(), frozenset({1})))
    condition = CodedCondition(1, 0, 0, (0,))
    assert given.prices.surcharge(condition) == 0.0 < plain.prices.surcharge(condition)
    assert given.prices.condition(condition, alone=True) < plain.prices.condition(condition, alone=True)
