"""A group's gap among people who are alike otherwise."""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import StratifiedTable

import ald
from ald import Audit, InputError
from ald.results.beside import AlikeGap, Beside


def people(n: int = 6000, seed: int = 1) -> pd.DataFrame:
    """Women are hired less, partly because of their education; half of the rows test."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], n, p=[0.45, 0.55])
    education = np.where(rng.random(n) < np.where(sex == "f", 0.7, 0.3), "school", rng.choice(["college", "none"], n))
    years = rng.integers(0, 6, n)
    chance = 0.7 - 0.25 * (sex == "f") - 0.2 * (education == "school") + 0.03 * years
    return pd.DataFrame(
        {
            "sex": sex,
            "education": education,
            "years": years,
            "region": rng.choice(["n", "s", None], n),
            "hired": (rng.random(n) < chance).astype(int),
            "half": rng.integers(0, 2, n),
        }
    )


@pytest.fixture(scope="module")
def data() -> pd.DataFrame:
    return people()


def audited(data: pd.DataFrame, **options: Any) -> Audit:
    return ald.audit(data, outcome="hired", split="half", **options)


@pytest.fixture(scope="module")
def audit(data: pd.DataFrame) -> Audit:
    found = audited(data)
    assert str(found.groups[0].criterion) == "sex = f"
    return found


def held_of(audit: Audit) -> Beside:
    """What is said of the first group."""
    beside = audit.details.beside[0]
    assert beside is not None
    return beside


def mantel_haenszel(rows: pd.DataFrame, inside: pd.Series, by: list[str]) -> float:
    """The weighted mean of the strata's differences, by a plain loop."""
    total, weights = 0.0, 0.0
    for _, stratum in rows.assign(inside=inside).groupby(by, dropna=False):
        group, others = stratum[stratum["inside"]]["hired"], stratum[~stratum["inside"]]["hired"]
        if len(group) and len(others):
            weight = len(group) * len(others) / len(stratum)
            total += weight * (group.mean() - others.mean())
            weights += weight
    return total / weights


def tables(rows: pd.DataFrame, inside: pd.Series, by: str) -> list[np.ndarray]:
    """2x2 tables per stratum, as statsmodels takes them."""
    return [
        np.array([[(of & (rows["hired"] == hired) & (rows[by] == value)).sum() for hired in (1, 0)]
                  for of in (inside, ~inside)])
        for value in rows[by].unique()
    ]  # fmt: skip


def test_gaps_are_those_of_a_plain_loop(data: pd.DataFrame, audit: Audit) -> None:
    """Crude and given each other attribute, levels, numbers and missing values alike."""
    beside = held_of(audit)
    rows = data[data["half"] == 1]
    inside = rows["sex"] == "f"
    assert beside.crude[0].gap == pytest.approx(rows[inside]["hired"].mean() - rows[~inside]["hired"].mean())
    assert {one.attribute for one in beside.attributes} == {"education", "years", "region"}
    for one in beside.attributes:
        assert one.gaps[0].gap == pytest.approx(mantel_haenszel(rows, inside, [one.attribute]))
        assert one.compared == 1.0


def test_tests_are_those_of_statsmodels(data: pd.DataFrame, audit: Audit) -> None:
    """The test of Cochran, Mantel and Haenszel, and that of Breslow and Day with Tarone's correction."""
    beside = held_of(audit)
    rows = data[data["half"] == 1]
    inside = rows["sex"] == "f"
    for one in beside.attributes:
        if one.attribute == "region":  # statsmodels' helper knows no missing values
            continue
        expected = StratifiedTable(tables(rows, inside, one.attribute))
        (found,) = one.gaps
        assert found.log10_p is not None
        assert found.log10_p_same is not None
        assert 10**found.log10_p == pytest.approx(expected.test_null_odds(correction=False).pvalue, rel=1e-6)
        assert 10**found.log10_p_same == pytest.approx(expected.test_equal_odds(adjust=True).pvalue, rel=1e-6)


def test_intervals_agree_with_tests(audit: Audit) -> None:
    """An interval excludes 0 just where its test is significant, and holds the gap."""
    for beside in filter(None, audit.details.beside):
        for one in (beside.crude, *(each.gaps for each in beside.attributes)):
            low, high = one[0].interval
            assert low is not None
            assert high is not None
            assert one[0].log10_p is not None
            assert low <= (one[0].gap or 0.0) <= high
            assert (not low <= 0 <= high) == (one[0].log10_p < np.log10(0.05))


def test_legitimate_factors_one_by_one_and_together(data: pd.DataFrame) -> None:
    """With `given` there are the gaps given each factor, and given all together, which is what the audit tested."""
    audit = audited(data, given=["education", "region"], attributes=["sex", "years"])
    beside = held_of(audit)
    rows = data[data["half"] == 1]
    inside = rows["sex"] == "f"
    assert [factor.attribute for factor in beside.factors] == ["education", "region"]
    for factor in beside.factors:
        assert factor.gaps[0].gap == pytest.approx(mantel_haenszel(rows, inside, [factor.attribute]))
    assert beside.together is not None
    assert beside.together.gaps[0].gap == pytest.approx(mantel_haenszel(rows, inside, ["education", "region"]))
    assert beside.together.gaps[0].gap == pytest.approx(audit.groups[0].psi)
    assert [one.attribute for one in beside.attributes] == ["years"]


def test_how_people_differ(data: pd.DataFrame, audit: Audit) -> None:
    """The level in which the group differs most from everyone else, with the shares of both."""
    beside = held_of(audit)
    rows = data[data["half"] == 1]
    (education,) = (one for one in beside.attributes if one.attribute == "education")
    assert education.level == "school"
    of = rows["education"] == "school"
    assert (education.inside, education.outside) == pytest.approx(
        (of[rows["sex"] == "f"].mean(), of[rows["sex"] == "m"].mean())
    )


def test_people_without_anybody_like_them_are_counted() -> None:
    """Where a level is the group's alone, the share that can be compared is below 1."""
    data = people()
    rng = np.random.default_rng(5)
    data["clinic"] = np.where((data["sex"] == "f") & (rng.random(len(data)) < 0.3), "women", "both")
    beside = held_of(audited(data))
    (clinic,) = (one for one in beside.attributes if one.attribute == "clinic")
    rows = data[(data["half"] == 1) & (data["sex"] == "f")]
    assert clinic.compared == pytest.approx((rows["clinic"] == "both").mean())
    assert clinic.strata == 1


def test_every_rate_has_its_gap() -> None:
    """With several rates each has a gap, given the same people."""
    data = people()
    rng = np.random.default_rng(3)
    data["truth"] = np.where(rng.random(len(data)) < 0.8, data["hired"], 1 - data["hired"])
    found = ald.audit(data, prediction="hired", truth="truth", notion="equalized odds", split="half")
    for beside in filter(None, found.details.beside):
        for gaps in (beside.crude, *(one.gaps for one in beside.attributes)):
            assert [gap.rate for gap in gaps] == ["fpr", "fnr"]


@pytest.mark.parametrize("design", [{"cluster": "person"}, {"weights": ald.SurveyWeights("w")}])
def test_rows_that_are_no_independent_people_have_no_tests(design: dict[str, Any]) -> None:
    """With clusters and survey weights gaps stand without intervals and p-values of independent people."""
    data = people()
    data["person"] = np.arange(len(data)) // 2
    data["w"] = np.random.default_rng(0).uniform(1, 3, len(data))
    data = data.drop(columns="w" if "cluster" in design else "person")
    found = ald.audit(data.drop(columns="half"), outcome="hired", **design)
    assert found.groups
    for beside in filter(None, found.details.beside):
        for gap in beside.crude:
            assert gap == AlikeGap(
                rate="selection", gap=gap.gap, interval=(None, None), log10_p=None, log10_p_same=None
            )


def test_where_groups_are_compared_with_others() -> None:
    """With a reference group nothing is held beside everyone else."""
    found = audited(people(), reference="sex = m")
    assert found.groups
    assert set(found.details.beside) == {None}
    assert Audit.from_json(found.to_json()) == found


def test_everyone_searched_and_tested() -> None:
    """Without halves it is counted on everyone."""
    data = people(1500).drop(columns="half")
    found = ald.audit(data, outcome="hired", split="none")
    assert found.groups
    beside = held_of(found)
    inside = pd.Series(found.groups[0].criterion.mask(data), index=data.index)
    assert beside.attributes
    for one in beside.attributes:
        assert one.gaps[0].gap == pytest.approx(mantel_haenszel(data, inside, [one.attribute]))


def test_documents_keep_it(audit: Audit) -> None:
    """What is read back is the same."""
    assert Audit.from_json(audit.to_json()).details == audit.details


@pytest.mark.parametrize(
    "change",
    [
        lambda held: held.pop(),
        lambda held: held[0]["crude"].clear(),
        lambda held: held[0]["attributes"][0]["gaps"][0].update(interval=[1, 0]),
        lambda held: held[0]["attributes"][0].update(compared=2),
        lambda held: held[0].pop("together"),
    ],
)
def test_damaged_documents(audit: Audit, change: Any) -> None:
    """What no audit could have written is an error."""
    document = copy.deepcopy(json.loads(audit.to_json()))
    change(document["details"]["beside"])
    with pytest.raises(InputError, match="damaged"):
        Audit.from_json(json.dumps(document))


def paid(n: int = 4000) -> pd.DataFrame:
    """Wages: older women earn less, and so do people in the north, where more women are."""
    rng = np.random.default_rng(11)
    data = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "age": rng.integers(18, 70, n)})
    data["region"] = np.where(rng.random(n) < np.where(data["sex"] == "f", 0.6, 0.4), "north", "south")
    less = 400.0 * ((data["sex"] == "f") & (data["age"] > 40)) + 300.0 * (data["region"] == "north")
    data["wage"] = (3000 + rng.gamma(2, 200, n) - less).round(2)
    return data


@pytest.mark.parametrize("given", [None, "region"])
def test_gaps_of_means_among_people_alike_are_those_of_a_loop(given: str | None) -> None:
    """Crude, given a factor and each other attribute: the mean of strata's differences, weighted n m / (n + m)."""
    data = paid()
    data["half"] = np.where(np.arange(len(data)) % 2, "assess", "search")
    options = {} if given is None else {"given": given}
    found = ald.audit(data, outcome="wage", split="half", **options)
    own = data[data["half"] == "assess"]
    for group, beside in zip(found.groups, found.details.beside, strict=True):
        assert beside is not None
        inside = group.as_sensitive_feature(own) != "everyone else"

        def within(strata: Any, inside: Any = inside) -> float:
            parts = []
            for _, rows in own.assign(inside=inside).groupby(strata):
                a, b = rows["wage"][rows["inside"]], rows["wage"][~rows["inside"]]
                if len(a) and len(b):
                    parts.append((len(a) * len(b) / (len(a) + len(b)), a.mean() - b.mean()))
            weight, difference = np.array(parts).T
            return float(weight @ difference / weight.sum())

        assert beside.crude[0].gap == pytest.approx(within(np.zeros(len(own))))
        welch = stats.ttest_ind(own["wage"][inside], own["wage"][~inside], equal_var=False)
        assert beside.crude[0].interval == pytest.approx(tuple(welch.confidence_interval(0.95)))
        assert beside.crude[0].log10_p == pytest.approx(np.log10(welch.pvalue), rel=1e-6)
        for one in (*beside.factors, *beside.attributes):
            if one.attribute != "age":  # whose classes are bins
                assert one.gaps[0].gap == pytest.approx(within(own[one.attribute].to_numpy()))
        assert bool(beside.factors) == (given is not None)
        text = found.to_markdown()
        assert "Crude gap" in text
        assert "undefined" not in text.split("Crude gap")[1].split("\n")[0]


def test_later_groups_of_amounts_have_their_crude_gap() -> None:
    """A group within strata of the one before it says what it differs by from everyone else."""
    data = paid()
    data["half"] = np.where(np.arange(len(data)) % 2, "assess", "search")
    found = ald.audit(data, outcome="wage", split="half")
    own = data[data["half"] == "assess"]
    first, *others = found.groups
    assert first.psi_crude is None
    assert others
    for group in others:
        inside = group.as_sensitive_feature(own) != "everyone else"
        assert group.psi_crude == pytest.approx(own["wage"][inside].mean() - own["wage"][~inside].mean())
        assert group.psi_crude != group.psi
