"""Every attribute's own gap, on all data."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import ald
from ald.groups.criterion import Criterion
from ald.results.gaps import LEVELS
from tests.tables import decisions, people, rates_within


def random_table(seed: int) -> pd.DataFrame:
    """A table with attributes of every kind, some of their values missing, and an outcome."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(120, 700))
    frame = pd.DataFrame(
        {
            "race": rng.choice(["a", "b", "c", "d"], n, p=[0.55, 0.3, 0.1, 0.05]),
            "sex": rng.choice(["F", "M"], n),
            "age": rng.integers(18, 80, n).astype(float),
            "few": rng.choice([0, 1, 2], n),
            "yes": rng.random(n) < 0.3,
            "place": rng.choice(["north", "south", "west"], n),
        }
    )
    for name in ("race", "age"):
        frame.loc[rng.random(n) < rng.choice([0.0, 0.08]), name] = None
    chance = 0.3 + 0.2 * (frame["sex"] == "F") + 0.2 * (frame["age"] > 50) + 0.1 * (frame["place"] == "north")
    return frame.assign(y=(rng.random(n) < chance).astype(int), z=(rng.random(n) < 0.4).astype(int))


def parts_of(column: pd.Series) -> list[pd.Series]:
    """Who is compared with the rest, by the plainest rules: quarters of numbers by their order, and levels."""
    known = column.dropna().sort_values().to_numpy()
    if column.dtype == float and len(set(known)) > 4:
        ends = [known[-(-len(known) * k // 4) - 1] for k in range(1, 5)]
        parts = [(column > low) & (column <= high) for low, high in pairwise([-np.inf, *ends])]
    else:
        parts = [column == level for level in sorted(set(known))]
    parts += [column.isna()] if column.isna().any() else []
    return [min(parts, key=lambda part: int(part.sum()))] if len(parts) == 2 else parts


def members(gap: Any, frame: pd.DataFrame) -> pd.Series:
    """Who satisfies the gap's criterion, as it is printed and read back."""
    return pd.Series(Criterion.parse(str(gap.criterion), frame).mask(frame))


@pytest.mark.parametrize("seed", range(50))
def test_gaps_are_those_of_a_plain_loop(seed: int) -> None:
    """Each level, part of a number, and "missing" against the rest: people, rates, differences, p-values."""
    frame = random_table(seed)
    attributes = ["race", "sex", "age", "few", "yes", "place"]
    gaps = ald.audit(
        frame, outcome="y", attributes=attributes, exclude="z", search="leaves", min_group_size=1, seed=seed
    ).gaps
    found = {tuple(members(gap, frame)): gap for gap in gaps.rows}
    expected = {tuple(part): part for name in attributes for part in parts_of(frame[name])}
    assert set(found) == set(expected)
    m = len(expected)
    assert gaps.compared == m
    for key, inside in expected.items():
        gap, y = found[key], frame["y"]
        assert gap.size == inside.sum()
        assert gap.share == pytest.approx(inside.mean())
        assert gap.rates_inside["selection"] == pytest.approx(y[inside].mean())
        assert gap.rates_outside["selection"] == pytest.approx(y[~inside].mean())
        assert gap.psi == pytest.approx(y[inside].mean() - y[~inside].mean())
        table = pd.crosstab(inside, y)
        small = gap.test == "exact"
        test = stats.fisher_exact(table) if small else stats.chi2_contingency(table, correction=False)
        assert gap.p_adjusted == pytest.approx(min(1.0, m * test.pvalue), rel=1e-6)
        low, high = gap.interval
        assert not {low, high, gap.psi, gap.p_adjusted} & {None}
        assert low <= gap.psi <= high  # type: ignore[operator]
        assert (gap.p_adjusted <= 0.05) == (not low <= 0.0 <= high)  # type: ignore[operator]


@pytest.mark.parametrize("seed", range(5))
def test_gaps_within_strata_are_those_of_a_plain_loop(seed: int) -> None:
    """With a legitimate factor, rates are means over its strata, and the factor itself is no attribute."""
    frame = random_table(seed)
    gaps = ald.audit(frame, outcome="y", attributes=["race", "sex", "place"], given="place", search="leaves").gaps
    assert {gap.attribute for gap in gaps.rows} == {"race", "sex"}
    for gap in gaps.rows:
        inside = members(gap, frame).to_numpy()
        rates = rates_within(frame["y"].to_numpy(), inside, ~inside, frame["place"].to_numpy())
        assert (gap.rates_inside["selection"], gap.rates_outside["selection"]) == pytest.approx(rates)
        assert gap.test.startswith("stratified")


@pytest.mark.parametrize("seed", range(5))
def test_gaps_of_surveys_are_weighted_and_clusters_are_counted(seed: int) -> None:
    """Rates are those of the population, and a gap says of how many people its rows are."""
    frame = random_table(seed)
    rng = np.random.default_rng(seed)
    frame["weight"] = rng.uniform(0.5, 2.0, len(frame))
    frame["person"] = rng.integers(0, len(frame) // 2, len(frame))
    gaps = ald.audit(
        frame,
        outcome="y",
        attributes=["race", "sex"],
        weights=ald.SurveyWeights("weight"),
        cluster="person",
        search="leaves",
    ).gaps
    assert gaps.rows
    for gap in gaps.rows:
        inside = members(gap, frame)
        assert gap.size == inside.sum()
        assert gap.people == frame["person"][inside].nunique()
        assert gap.share == pytest.approx(frame["weight"][inside].sum() / frame["weight"].sum())
        for rate, side in ((gap.rates_inside, inside), (gap.rates_outside, ~inside)):
            assert rate["selection"] == pytest.approx(np.average(frame["y"][side], weights=frame["weight"][side]))
        assert gap.test == "Rao-Scott for clusters and weights"


def test_a_gap_is_that_of_the_group_when_it_is_named() -> None:
    """With legitimate factors, too: people are compared on all data, in the same strata."""
    question = {"outcome": "admitted", "favourable": "yes", "given": "department"}
    found = ald.audit(ald.datasets.load_berkeley(), named_groups="gender = female", **question)  # type: ignore[arg-type]
    (gap,), (named,) = found.gaps.rows, found.named_groups
    assert gap.criterion == named.criterion
    for name in ("size", "psi", "rates_inside", "rates_outside", "interval", "part_intervals", "p_adjusted"):
        assert getattr(gap, name) == getattr(named, name)


def test_several_questions_make_one_family() -> None:
    """Every outcome has its own gaps, and all are corrected together."""
    frame = random_table(1)
    attributes = ["race", "sex"]
    both = ald.audit(frame, outcome=["y", "z"], attributes=attributes, search="leaves").gaps
    alone = {name: ald.audit(frame, outcome=name, attributes=attributes, search="leaves").gaps for name in ("y", "z")}
    assert both.compared == 2 * alone["y"].compared
    for gap in both.rows:
        same = next(row for row in alone[str(gap.outcome)].rows if row.criterion == gap.criterion)
        assert gap.psi == same.psi
        assert same.p_adjusted is not None
        assert gap.p_adjusted == pytest.approx(min(1.0, 2 * same.p_adjusted)) or same.p_adjusted == 1.0


def test_several_rates_are_their_mean() -> None:
    """psi of equalized odds is the mean of the absolute differences of both rates, in a gap as in a finding."""
    frame = pd.DataFrame(decisions())
    gaps = ald.audit(frame, prediction="predicted", truth="true", notion="equalized odds", search="leaves").gaps
    gap = next(gap for gap in gaps.rows if str(gap.criterion) == "group = a")
    inside = frame["group"] == "a"
    differences = []
    for truth, key in ((0, "fpr"), (1, "fnr")):
        wrong = (frame["predicted"] != frame["true"]) & (frame["true"] == truth)
        rates = [wrong[side].sum() / (frame["true"][side] == truth).sum() for side in (inside, ~inside)]
        assert (gap.rates_inside[key], gap.rates_outside[key]) == pytest.approx(tuple(rates))
        differences.append(abs(rates[0] - rates[1]))
    assert gap.psi == pytest.approx(np.mean(differences))


def test_the_two_sides_of_a_comparison_are_one_gap() -> None:
    """Of two levels the smaller one is compared; both are where a direction or a reference tells them apart."""
    frame = pd.DataFrame({"sex": ["F"] * 70 + ["M"] * 130, "y": [0, 1] * 100})
    plain = ald.audit(frame, outcome="y", search="leaves").gaps
    assert [str(gap.criterion) for gap in plain.rows] == ["sex = F"]
    options: list[dict[str, Any]] = [{"reference": "all"}, {"favourable": 1, "direction": "disadvantaged"}]
    for asked in options:
        gaps = ald.audit(frame, outcome="y", search="leaves", **asked).gaps
        assert {str(gap.criterion) for gap in gaps.rows} == {"sex = F", "sex = M"}


def test_of_many_levels_the_largest_are_compared() -> None:
    """The others are counted, and an order of many levels is cut like a number."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"town": rng.integers(0, 60, 3000), "y": rng.integers(0, 2, 3000)})
    frame["town"] = [f"t{town:02}" for town in frame["town"]]
    gaps = ald.audit(frame, outcome="y", search="leaves").gaps
    assert gaps.shortened == {"town": 60 - LEVELS}
    sizes = frame["town"].value_counts()
    assert sorted((gap.size for gap in gaps.rows), reverse=True) == sizes.tolist()[:LEVELS]
    ordered = ald.source(frame, kinds={"town": sorted(sizes.index)})
    gaps = ald.audit(ordered, outcome="y", search="leaves").gaps
    assert (len(gaps), gaps.shortened) == (4, {})


def test_significant_gaps_come_first_each_by_size() -> None:
    """A tiny level that chance made extreme does not stand above one that is sure."""
    gaps = ald.audit(people(), outcome="y").gaps
    order = [(gap.p_adjusted > 0.05, -abs(gap.psi)) for gap in gaps.rows if gap.psi is not None and gap.p_adjusted]
    assert order == sorted(order)
    assert [gap.attribute for gap in gaps.largest()] == list(dict.fromkeys(gap.attribute for gap in gaps.rows))


def test_what_cannot_be_compared_says_why() -> None:
    """A level whose people count for no rate is undefined, comes last, and does not count among the comparisons."""
    frame = pd.DataFrame(decisions())
    frame.loc[frame["true"] == 0, "x"] = 1.0
    frame["level"] = np.where(frame["true"] == 0, "only negatives", frame["group"])
    gaps = ald.audit(frame, prediction="predicted", truth="true", notion="equal opportunity", attributes="level").gaps
    last = gaps.rows[-1]
    assert str(last.criterion) == 'level = "only negatives"'
    assert (last.psi, last.p_adjusted) == (None, None)
    assert "no one there counts for it" in last.undefined
    assert gaps.compared == len(gaps) - 1


def test_without_attributes_there_are_no_gaps() -> None:
    """Where only named groups are tested, the gaps are absent, with the reason."""
    gaps = ald.audit(people(), outcome="y", search="none", named_groups="sex = F").gaps
    assert not gaps.rows
    assert "named groups" in gaps.absent
