"""Audits the way auditors ask, as a whole: every number is recomputed from the rows by SciPy, statsmodels or pandas."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from scipy import stats
from statsmodels.stats.contingency_tables import StratifiedTable

import ald
from ald.datasets import load_berkeley
from ald.results.finding import Finding
from tests.flat import audit_flat
from tests.tables import decisions, people, rates_within, strata_before

BERKELEY: dict[str, Any] = {"outcome": "admitted", "favourable": "yes"}


def table_of(inside: Any, outside: Any, hit: Any) -> np.ndarray[Any, Any]:
    """The 2x2 table of hits and misses of two groups of rows."""
    hit = np.asarray(hit, bool)
    return np.array([[(side & hit).sum(), (side & ~hit).sum()] for side in map(np.asarray, (inside, outside))])


def pearson(table: np.ndarray[Any, Any]) -> float:
    return float(stats.chi2_contingency(table, correction=False).pvalue)


# Legitimate factors: Berkeley, both ways


def admissions() -> pd.DataFrame:
    frame = pd.DataFrame(load_berkeley())
    return frame.assign(y=(frame.admitted == "yes").astype(int), women=frame.gender == "female")


def departments() -> StratifiedTable:
    return StratifiedTable(
        [table_of(part.women, ~part.women, part.y) for _, part in admissions().groupby("department")]
    )


def test_without_given_departments_lead() -> None:
    """A plain audit headlines departments A and B: true, and useless."""
    first = ald.audit(load_berkeley(), **BERKELEY).groups[0]
    assert str(first.criterion) == "department in {A, B}"
    assert first.psi is not None
    assert first.psi > 0.3


def test_given_the_department_gender_is_not_listed() -> None:
    """Given the department, the overall difference between women and men is not listed."""
    audit = ald.audit(load_berkeley(), given="department", **BERKELEY)
    assert audit.groups == ()
    assert {str(found.criterion) for found in audit.candidates} <= {"gender = female", "gender = male"}
    assert [entry.reason for entry in audit.data_summary.left_out] == [
        "legitimate factor: people are compared within its strata"
    ]


def test_the_textbook_value() -> None:
    """Over departments CMH is 1.5246 on one degree of freedom without correction, p = 0.217, as in statsmodels."""
    expected = departments().test_null_odds(correction=False)
    (found,) = ald.audit(
        load_berkeley(), search="none", named_groups="gender = female", given="department", **BERKELEY
    ).named_groups
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-10)
    assert found.statistic == pytest.approx(1.5246, abs=5e-5)
    assert found.df == 1
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-9)
    assert found.p_value == pytest.approx(0.2169, abs=5e-5)
    assert found.test == "stratified chi2"


def test_simpsons_paradox_is_visible() -> None:
    """Women do better given the department and worse without it, and every department is shown with its rates."""
    frame = admissions()
    (found,) = ald.audit(
        load_berkeley(), search="none", named_groups="gender = female", given="department", **BERKELEY
    ).named_groups
    model = smf.ols("y ~ women + department", frame).fit()
    crude = frame.y[frame.women].mean() - frame.y[~frame.women].mean()
    assert found.psi == pytest.approx(model.params["women[T.True]"])
    assert found.psi_crude == pytest.approx(crude)
    assert found.psi > 0 > found.psi_crude
    assert [str(stratum.criterion) for stratum in found.strata] == [f"department = {letter}" for letter in "ABCDEF"]
    for stratum, (_, part) in zip(found.strata, frame.groupby("department"), strict=True):
        women, men = part.y[part.women], part.y[~part.women]
        assert (stratum.size, stratum.size_outside) == (len(women), len(men))
        assert stratum.rates_inside["selection"] == pytest.approx(women.mean())
        assert stratum.rates_outside["selection"] == pytest.approx(men.mean())
        assert stratum.parts["selection"] == pytest.approx(women.mean() - men.mean())
    assert sum(stratum.weight for stratum in found.strata) == pytest.approx(1)
    mean = sum(stratum.weight * (stratum.parts["selection"] or 0.0) for stratum in found.strata)
    assert mean == pytest.approx(found.psi)


def test_department_a_is_found_if_departments_may_be_named() -> None:
    """With departments allowed in criteria, department A's difference in favour of women is found."""
    audit = audit_flat(load_berkeley(), given="department", given_in_criteria=True, **BERKELEY)
    assert str(audit.groups[0].criterion) == "department = A and gender = female"
    assert audit.groups[0].psi is not None
    assert audit.groups[0].psi > 0.1


def test_a_stratum_named_by_itself_has_nobody_to_compare_with() -> None:
    """A group that is a whole stratum is compared with nobody: undefined, with a reason, and never listed."""
    (found,) = ald.audit(
        load_berkeley(), search="none", named_groups="department = A", given="department", **BERKELEY
    ).named_groups
    assert (found.psi, found.p_value, found.p_adjusted) == (None, None, None)
    assert found.undefined.startswith("nobody can be compared: no stratum has people")


def test_numbers_are_given_in_quantiles() -> None:
    """A number is cut into quantiles: given_bins of them, or the cube root of the number of people."""
    columns = people(1000)
    for bins, expected in ((None, 10), (4, 4)):
        audit = ald.audit(
            columns, search="none", named_groups="sex = F", outcome="y", given=ald.Given("score", bins=bins)
        )
        assert audit.data_summary.strata == expected
    frame = pd.DataFrame(columns).assign(bin=lambda f: pd.qcut(f.score, 4, labels=False))
    parts = [table_of(part.sex == "F", part.sex != "F", part.y) for _, part in frame.groupby("bin")]
    assert audit.named_groups[0].statistic == pytest.approx(StratifiedTable(parts).test_null_odds().statistic)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("row", "puts each of 600 people into a stratum of one"),
        ("copy", "given 'copy' determines the outcome"),
        ("sx", "there is no column 'sx' .*Did you mean 'sex'"),
        ("y", "column 'y' cannot be both outcome and given"),
    ],
)
def test_factors_that_leave_nothing(given: str, problem: str) -> None:
    """Strata of one row each, and a factor that is the outcome, are errors; so are columns that are not there."""
    columns = people() | {"row": [f"r{i}" for i in range(600)]}
    columns["copy"] = ["good" if y else "bad" for y in columns["y"]]
    with pytest.raises(ald.AldError, match=problem):
        ald.audit(columns, outcome="y", given=given)


def test_sparse_factors_are_warned_about() -> None:
    """Many people alone in their stratum are a warning; the audit goes on with the others."""
    rng = np.random.default_rng(0)
    columns = people() | {"zip": [f"z{i}" for i in np.where(rng.random(600) < 0.4, rng.permutation(600), 1000)]}
    audit = ald.audit(columns, outcome="y", given="zip", search=ald.Search(trees=3))
    assert any("people are alone in theirs" in warning for warning in audit.warnings)


# Clusters


def visits(n: int = 400, rows: int = 6, seed: int = 1) -> dict[str, Any]:
    """People with several rows whose outcomes are alike; more favourable ones for one region."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(n), rows)
    region = rng.choice(["north", "south", "west"], n)[person]
    rate = np.clip(rng.beta(0.6, 0.6, n)[person] * 0.6 + 0.35 * (region == "north"), 0, 1)
    return {
        "region": region,
        "sex": rng.choice(["F", "M"], n)[person],
        "hour": rng.integers(8, 18, n * rows),
        "person": np.char.add("p", person.astype(str)),
        "y": (rng.random(n * rows) < rate).astype(int),
    }


def test_people_and_rows_are_counted() -> None:
    """With clusters, sizes count rows, and people are counted beside them, in both halves."""
    columns = visits()
    audit = ald.audit(columns, outcome="y", cluster="person", search=ald.Search(trees=5))
    summary = audit.data_summary
    assert (summary.rows, summary.clusters) == (2400, 400)
    assert (summary.clusters_search, summary.clusters_assess) == (200, 200)
    assert (summary.rows_search, summary.rows_assess) == (1200, 1200)
    first = audit.groups[0]
    assert "region" in str(first.criterion)
    assert first.people is not None
    assert first.size == 6 * first.people
    assert first.test.startswith("Rao-Scott for clusters")


def test_clusters_need_more_evidence() -> None:
    """Rows of people who are alike are worth less: p is larger with clusters than without, psi is the same."""
    columns = visits()
    alone, clustered = (
        audit_flat(columns, search="none", named_groups="region = north", outcome="y", **options).named_groups[0]
        for options in ({}, {"cluster": "person"})
    )
    assert clustered.psi == pytest.approx(alone.psi)
    assert clustered.log10_p is not None
    assert alone.log10_p is not None
    assert clustered.log10_p > 0.5 * alone.log10_p


def test_everyone_in_a_cluster_of_their_own() -> None:
    """If every row is a person, clusters change psi by nothing and p hardly."""
    columns = people(3000) | {"id": [f"p{i}" for i in range(3000)]}
    names = ["sex = F", "age > 45", "member = true"]
    plain = ald.audit(columns, search="none", named_groups=names, outcome="y").named_groups
    clustered = ald.audit(columns, search="none", named_groups=names, outcome="y", cluster="id").named_groups
    for a, b in zip(plain, clustered, strict=True):
        assert b.psi == pytest.approx(a.psi)
        assert (b.size, b.people) == (a.size, a.size)
        assert b.statistic == pytest.approx(a.statistic, rel=0.05)
        # Student's tail is heavier than the normal one, which shows where p is tiny.
        assert b.log10_p == pytest.approx(a.log10_p, rel=0.12)
        assert b.interval == pytest.approx(a.interval, abs=5e-3)


def test_a_cluster_larger_than_half_of_the_data_is_refused() -> None:
    """A person with most of the rows cannot be halved: an error that asks whether it is the right column."""
    columns = people() | {"id": ["a"] * 301 + [f"p{i}" for i in range(299)]}
    with pytest.raises(
        ald.ColumnError, match=r"'id': one .* has 301 of 600 rows, more than half .* Is this the right column\?"
    ):
        ald.audit(columns, outcome="y", cluster="id")


# Survey weights


def test_equal_survey_weights_are_none() -> None:
    """Weights that are all alike give the unweighted psi and rates, and nearly its p and interval."""
    names = ["sex = F", "age > 45"]
    plain = ald.audit(people(3000), search="none", named_groups=names, outcome="y").named_groups
    for weight in (0.25, 1000.0):
        weighted = ald.audit(
            people(3000) | {"w": [weight] * 3000},
            search="none",
            named_groups=names,
            outcome="y",
            weights=ald.SurveyWeights("w"),
        ).named_groups
        for a, b in zip(plain, weighted, strict=True):
            assert b.psi == pytest.approx(a.psi)
            assert (b.share, b.size) == (pytest.approx(a.share), a.size)
            assert b.statistic == pytest.approx(a.statistic, rel=0.05)
            assert b.log10_p == pytest.approx(a.log10_p, rel=0.12)


def test_rates_are_those_of_the_population() -> None:
    """Rates, psi and shares are weighted; sizes and counts are those who were asked. Intervals are statsmodels' HC."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(people(2000)).assign(w=rng.uniform(0.2, 4, 2000))
    (found,) = ald.audit(
        frame, search="none", named_groups="sex = F", outcome="y", weights=ald.SurveyWeights("w")
    ).named_groups
    women = frame[frame.sex == "F"]
    men = frame[frame.sex != "F"]
    assert found.rates_inside["selection"] == pytest.approx(np.average(women.y, weights=women.w))
    assert found.psi == pytest.approx(np.average(women.y, weights=women.w) - np.average(men.y, weights=men.w))
    assert found.share == pytest.approx(women.w.sum() / frame.w.sum())
    assert found.size == len(women)
    assert found.counts_inside == {"negative": (women.y == 0).sum(), "positive": women.y.sum()}
    model = smf.wls("y ~ sex", frame.assign(sex=frame.sex == "F"), weights=frame.w).fit(cov_type="HC1")
    assert found.interval == pytest.approx(model.conf_int().loc["sex[T.True]"], rel=0.02)
    assert found.test == "Rao-Scott for weights"


def test_counts_are_people_and_survey_weights_are_not() -> None:
    """Three times the counts is three times the evidence; three times the survey weights is the same survey."""
    columns = people(1000)
    counted, more = (
        ald.audit(
            columns | {"w": [k] * 1000}, search="none", named_groups="sex = F", outcome="y", weights="w"
        ).named_groups[0]
        for k in (1, 3)
    )
    surveyed, again = (
        ald.audit(
            columns | {"w": [k] * 1000},
            search="none",
            named_groups="sex = F",
            outcome="y",
            weights=ald.SurveyWeights("w"),
        ).named_groups[0]
        for k in (1, 3)
    )
    assert more.size == 3 * counted.size
    assert more.statistic == pytest.approx(3 * counted.statistic)
    assert (again.size, again.log10_p) == (surveyed.size, pytest.approx(surveyed.log10_p))


def test_counts_and_survey_weights_together() -> None:
    """A table of counts with survey weights is the same survey as the table of its people."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {"g": rng.choice(list("ab"), 60), "w": rng.choice([0.5, 1.5], 60), "y": rng.integers(0, 2, 60)}
    )
    frame["n"] = rng.integers(1, 9, 60)
    rows = frame.loc[frame.index.repeat(frame.n)].drop(columns="n")
    counted = ald.audit(
        frame, search="none", named_groups="g = a", outcome="y", weights=ald.SurveyWeights("w", counts="n")
    ).named_groups
    assert (
        counted
        == ald.audit(
            rows, search="none", named_groups="g = a", outcome="y", weights=ald.SurveyWeights("w")
        ).named_groups
    )


# Own splits


def last_and_this_year() -> tuple[dict[str, Any], dict[str, Any]]:
    return people(1500, seed=5), people(1200, seed=6)


def recomputed(found: Finding, data: Any, outcome: str = "y") -> float:
    """Pearson's p of a finding on the people that it was tested on."""
    mask = found.criterion.mask(data)
    return pearson(table_of(mask, ~mask, np.asarray(data[outcome]) == 1))


def test_two_data_sets_search_and_test() -> None:
    """Groups are searched in the first data set, and every number of theirs is of the second."""
    last, this = last_and_this_year()
    audit = ald.audit(split=(last, this), outcome="y", search=ald.Search(trees=5))
    assert (audit.data_summary.rows_search, audit.data_summary.rows_assess) == (1500, 1200)
    assert audit.config.split == "own"
    first = audit.groups[0]
    mask = first.criterion.mask(this)
    y = np.asarray(this["y"])
    assert first.size == mask.sum()
    assert first.psi == pytest.approx(y[mask].mean() - y[~mask].mean())
    assert first.p_value == pytest.approx(recomputed(first, this), rel=1e-8)


@pytest.mark.parametrize(
    "halves",
    [(2023, 2024), (-1.5, 0), ("search", "assess"), ("Train", "TEST"), (False, True),
     (np.datetime64("2023-12-31"), np.datetime64("2024-12-31"))],
)  # fmt: skip
def test_a_column_is_the_same_as_two_data_sets(halves: tuple[Any, Any]) -> None:
    """A column that tells the halves apart gives the same findings as two data sets, in whatever order rows are."""
    last, this = last_and_this_year()
    both = {name: [*last[name], *this[name]] for name in last}
    both["half"] = [np.array(halves)[0].item()] * 1500 + [np.array(halves)[1].item()] * 1200
    order = np.random.default_rng(0).permutation(2700)
    shuffled = {name: [values[i] for i in order] for name, values in both.items()}
    expected = ald.audit(split=(last, this), outcome="y", search=ald.Search(trees=5))
    found = ald.audit(shuffled, split="half", outcome="y", search=ald.Search(trees=5))
    assert found.groups == expected.groups
    assert found.candidates == expected.candidates
    assert found.config.split == "half"


def test_files_can_be_the_halves(tmp_path: Any) -> None:
    """Two files are two data sets."""
    last, this = last_and_this_year()
    paths = []
    for name, columns in (("last", last), ("this", this)):
        paths.append(tmp_path / f"{name}.csv")
        pd.DataFrame({key: columns[key] for key in ("age", "sex", "y")}).to_csv(paths[-1], index=False)
    expected = ald.audit(split=(last, this), outcome="y", search=ald.Search(trees=3), attributes=["age", "sex"])
    assert ald.audit(split=tuple(paths), outcome="y", search=ald.Search(trees=3)).groups == expected.groups


def test_levels_that_only_one_half_has() -> None:
    """A level that occurs in one data set only belongs to no group of the other, and harms nothing."""
    last, this = last_and_this_year()
    last["sex"] = ["X" if i % 50 == 0 else value for i, value in enumerate(last["sex"])]
    this["sex"] = ["Z" if i % 50 == 0 else value for i, value in enumerate(this["sex"])]
    audit = ald.audit(split=(last, this), outcome="y", search=ald.Search(trees=5))
    first = audit.groups[0]
    assert first.size == first.criterion.mask(this).sum()


@pytest.mark.parametrize("fraction", [0.3, 0.8])
def test_fraction(fraction: float) -> None:
    """The search has about so large a share of the people, the assessment all others."""
    audit = ald.audit(people(1001), outcome="y", search=ald.Search(trees=3), split=ald.Split(fraction=fraction))
    assert audit.data_summary.rows_search + audit.data_summary.rows_assess == 1001
    assert abs(audit.data_summary.rows_search - fraction * 1001) < 4 * np.sqrt(1001 * fraction * (1 - fraction))


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"fraction": 0}, "fraction must be above 0"),
        ({"fraction": 1}, "fraction must be above 0 and below 1"),
        ({"split": "half", "fraction": 0.3}, "fraction is for random halves"),
        ({"split": "half", "repeats": 3}, "repeats are random splits"),
        ({"split": "hlf"}, "there is no column 'hlf'.*Did you mean 'half'"),
        ({"split": "sex"}, "which of them is for the search"),
        ({"split": 3}, "split must be .* not int"),
        ({"split": ({}, {}, {})}, "give the data, or two data sets|split must be"),
        ({"split": (people(100), people(100))}, "give the data, or two data sets"),
        ({"split": "tiny"}, "the half for the search has 1 rows and the one for the assessment 599"),
    ],
)
def test_splits_that_do_not_work(options: dict[str, Any], problem: str) -> None:
    """Splits that make no sense, or leave the search too few, are errors."""
    columns = people() | {"half": [1, 2] * 300, "tiny": [1] + [2] * 599}
    with pytest.raises(ald.AldError, match=problem):
        audit_flat(columns, outcome="y", **options)


def test_overlapping_halves_are_refused() -> None:
    """The same people in both halves are an error, whether by data set, by identifier or by cluster."""
    columns = people(200) | {"id": [f"p{i}" for i in range(200)]}
    later = {name: values[100:] for name, values in columns.items()}
    with pytest.raises(ald.InputError, match="are the same"):
        ald.audit(split=(columns, columns), outcome="y")
    with pytest.raises(ald.InputError, match="100 rows are in both data sets \\(by column 'id'\\)"):
        ald.audit(split=(columns, later), outcome="y")
    repeated = columns | {"person": [f"p{i // 3}" for i in range(200)], "half": [1, 2] * 100}
    with pytest.raises(ald.InputError, match="clusters of 'person' are in both halves"):
        ald.audit(repeated, outcome="y", split="half", cluster="person")


# Direction and reference


@cache
def halves_of() -> tuple[dict[str, Any], dict[str, Any]]:
    return people(4000, seed=7), people(4000, seed=8)


@pytest.mark.parametrize(("direction", "sign"), [("disadvantaged", -1), ("advantaged", 1)])
def test_only_one_direction_is_listed(direction: str, sign: int) -> None:
    """Listed groups differ in the direction that was asked for, and p is that of the one-sided test, by SciPy."""
    last, this = halves_of()
    audit = ald.audit(split=(last, this), outcome="y", favourable=1, search=ald.Search(trees=5), direction=direction)
    assert audit.groups
    for found in audit.groups:
        assert np.sign(found.psi or 0) == sign
    first = audit.candidates[0]
    mask = first.criterion.mask(this)
    table = table_of(mask, ~mask, np.asarray(this["y"]) == 1)
    z = sign * np.sign(first.psi or 0) * np.sqrt(stats.chi2_contingency(table, correction=False).statistic)
    assert first.log10_p == pytest.approx(stats.norm.logsf(z) / np.log(10), rel=1e-8)


@pytest.mark.parametrize("group", ["sex = F", "age > 45", "member = true and age > 70"])
def test_one_sided_tests_of_named_groups(group: str) -> None:
    """One-sided p-values of both directions add up to 1 where the test is chi2, and are SciPy's where it is exact."""
    columns = people(400)
    low, both, high = (
        ald.audit(
            columns, search="none", named_groups=group, outcome="y", favourable=1, direction=direction
        ).named_groups[0]
        for direction in ("disadvantaged", "both", "advantaged")
    )
    mask = ald.Criterion.parse(group, columns).mask(columns)
    table = table_of(mask, ~mask, np.asarray(columns["y"]) == 1)
    assert low.test == both.test == high.test
    if both.test == "exact":
        for found, side in ((low, "less"), (both, "two-sided"), (high, "greater")):
            assert found.p_value == pytest.approx(stats.fisher_exact(table, alternative=side).pvalue, rel=1e-6)
    else:
        assert low.p_value + high.p_value == pytest.approx(1)
        assert min(low.p_value, high.p_value) == pytest.approx(both.p_value / 2)
    assert low.psi == both.psi == high.psi


def test_a_false_negative_is_a_disadvantage() -> None:
    """Whether more hits are to people's advantage depends on the rate: false negatives are not."""
    rng = np.random.default_rng(1)
    n = 3000
    group = rng.choice(["a", "b"], n)
    truth = rng.integers(0, 2, n)
    said = np.where((group == "a") & (rng.random(n) < 0.3), 0, truth)
    columns = {"g": group, "said": said, "true": truth}
    options: dict[str, Any] = {"prediction": "said", "truth": "true", "favourable": 1, "notion": "false negative rate"}
    (worse,) = audit_flat(
        columns, search="none", named_groups="g = a", direction="disadvantaged", **options
    ).named_groups
    (better,) = audit_flat(columns, search="none", named_groups="g = a", direction="advantaged", **options).named_groups
    assert worse.parts["fnr"] == better.parts["fnr"] > 0.2
    assert worse.p_value < 1e-20 < 0.99 < better.p_value


def test_compared_with_all() -> None:
    """With reference="all" rates are those of everyone, psi is smaller, and the test is the same."""
    last, this = halves_of()
    rest = ald.audit(split=(last, this), outcome="y", search=ald.Search(trees=5))
    everyone = ald.audit(split=(last, this), outcome="y", search=ald.Search(trees=5), reference="all")
    y = np.asarray(this["y"])
    assert [str(f.criterion) for f in everyone.candidates] == [str(f.criterion) for f in rest.candidates]
    for a, b in zip(everyone.candidates, rest.candidates, strict=True):
        mask = a.criterion.mask(this)
        assert a.psi_crude is None or a.psi_crude == pytest.approx(y[mask].mean() - y.mean())
        assert 0 < a.psi / b.psi < 1
        assert a.log10_p == pytest.approx(b.log10_p)
        # The interval shrinks as psi does.
        assert a.interval == pytest.approx([a.psi / b.psi * end for end in b.interval])
    (first,) = (a for a in everyone.candidates if not a.given_groups)
    mask = first.criterion.mask(this)
    assert first.rates_outside["selection"] == pytest.approx(y.mean())
    assert first.psi == pytest.approx(y[mask].mean() - y.mean())


def test_compared_with_a_group() -> None:
    """With a group as reference, tests compare with its members who are not in the group, by SciPy."""
    last, this = halves_of()
    audit = ald.audit(split=(last, this), outcome="y", search=ald.Search(trees=5), reference="sex = M and age <= 30")
    y = np.asarray(this["y"]) == 1
    marked = ald.Criterion.parse("sex = M and age <= 30", this).mask(this)
    assert audit.groups
    assert audit.config.reference == "sex = M and age <= 30"
    for found in audit.candidates:
        mask = found.criterion.mask(this)
        others = marked & ~mask
        assert sum(found.counts_outside.values()) == others.sum()
        if found.undefined:
            continue
        rates = rates_within(y, mask, others, strata_before(found, this))
        assert (found.rates_inside["selection"], found.rates_outside["selection"]) == pytest.approx(rates)
    (first,) = (found for found in audit.candidates if not found.given_groups)
    mask = first.criterion.mask(this)
    assert first.statistic == pytest.approx(
        stats.chi2_contingency(table_of(mask, marked & ~mask, y), correction=False).statistic
    )


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"direction": "worse"}, "unknown direction 'worse'"),
        ({"direction": ["both"]}, r"direction must be a text, not \['both'\]"),
        ({"reference": None}, 'reference must be "rest", "all" or a group in words'),
        ({"reference": 3}, "reference must be"),
        ({"given": 3}, "given must be names of columns"),
        ({"named_groups": 3}, "a criterion must be a text"),
        ({"reference": "everybody else"}, "everybody else"),
        ({"reference": "sex = X"}, "sex"),
        ({"reference": "sx = F"}, "there is no column 'sx'.*Did you mean 'sex'"),
        ({"reference": "age > 1000"}, "the reference 'age > 1000' is empty"),
        ({"reference": "age > 0"}, "the reference 'age > 0' is everyone"),
    ],
)
def test_directions_and_references_that_make_no_sense(options: dict[str, Any], problem: str) -> None:
    """Unknown words, columns and levels, and references that are nobody or everyone, are errors."""
    with pytest.raises(ald.AldError, match=problem):
        audit_flat(people(), outcome="y", **options)


# Several notions, several outcomes

NOTIONS = ["statistical parity", "equalized odds", "accuracy"]
MODEL: dict[str, Any] = {"prediction": "predicted", "truth": "true", "trees": 4}


def test_one_correction_over_all_notions() -> None:
    """All p-values of all notions are corrected together, by SciPy's Benjamini-Hochberg."""
    audit = audit_flat(decisions(3000), notion=NOTIONS, **MODEL)
    ps = [found.p_value for found in audit.candidates if not found.undefined]
    expected = stats.false_discovery_control(ps)
    assert [found.p_adjusted for found in audit.candidates if not found.undefined] == pytest.approx(expected)
    assert {found.notion for found in audit.candidates} == set(NOTIONS)
    assert len(audit.groups) <= 3
    assert audit.p_any == pytest.approx(min(1.0, min(ps) * len(ps)))


def test_findings_of_each_notion_are_its_own() -> None:
    """Each notion's tests are those of an audit of it alone: only the correction and the ranking are shared."""
    together = audit_flat(decisions(3000), notion=NOTIONS, **MODEL)
    for notion in NOTIONS:
        mine = {str(f.criterion): f for f in together.candidates if f.notion == notion}
        assert mine
        for criterion, found in mine.items():
            mask_in = sum(found.counts_inside.values())
            assert set(found.parts) == {rate.key for rate in ald.NOTIONS[notion].rates}
            assert found.size == mask_in, criterion
        assert together.notion_of(next(iter(mine.values()))).name == notion
    first = {str(f.criterion): f.p_value for f in audit_flat(decisions(3000), notion=NOTIONS[0], **MODEL).candidates}
    assert first == {str(f.criterion): f.p_value for f in together.candidates if f.notion == NOTIONS[0]}


def test_one_notion_in_a_list_is_one_notion() -> None:
    """A list of one notion or outcome gives the same bytes as the notion or outcome itself."""
    assert audit_flat(decisions(), notion=["equalized odds"], **MODEL).to_json() == (
        audit_flat(decisions(), notion="equalized odds", **MODEL).to_json()
    )
    assert (
        ald.audit(people(), outcome=["y"], search=ald.Search(trees=3)).to_json()
        == ald.audit(people(), outcome="y", search=ald.Search(trees=3)).to_json()
    )


def hired_and_promoted() -> tuple[dict[str, Any], dict[str, Any]]:
    out = []
    for seed in (1, 2):
        columns = people(2500, seed=seed)
        rng = np.random.default_rng(seed)
        columns["hired"] = columns.pop("y")
        promoted = rng.random(2500) < np.where(np.array(columns["sex"]) == "F", 0.2, 0.45)
        columns["promoted"] = np.where(promoted, "up", "same").tolist()
        out.append(columns)
    return out[0], out[1]


def test_several_outcomes() -> None:
    """Outcomes are audited together; findings say which one they are about, and their numbers are of it."""
    last, this = hired_and_promoted()
    audit = ald.audit(
        split=(last, this), outcome=["hired", "promoted"], favourable={"promoted": "up"}, search=ald.Search(trees=5)
    )
    values = {"hired": np.asarray(this["hired"]) == 1, "promoted": np.asarray(this["promoted"]) == "up"}
    assert {found.outcome for found in audit.groups} == {"hired", "promoted"}
    for found in audit.candidates:
        assert found.outcome is not None
        mask, y = found.criterion.mask(this), values[found.outcome]
        inside, outside = rates_within(y, mask, ~mask, strata_before(found, this))
        assert found.psi == pytest.approx(inside - outside)
        assert found.counts_inside["positive"] == (y & mask).sum()
    ps = [found.p_value for found in audit.candidates if not found.undefined]
    assert [found.p_adjusted for found in audit.candidates] == pytest.approx(stats.false_discovery_control(ps))
    assert {entry.outcome for entry in audit.detectable} == {"hired", "promoted"}
    assert sum(audit.data_summary.cells.values()) == 5000
    assert audit.data_summary.cells["hired positive and promoted negative"] == sum(
        ((np.asarray(c["hired"]) == 1) & (np.asarray(c["promoted"]) == "same")).sum() for c in (last, this)
    )


def test_several_are_named_once() -> None:
    """A notion or an outcome that is named twice, none at all, and too many outcomes are errors."""
    for options, problem in (
        ({"notion": ["accuracy", "accuracy"]}, "a notion is named twice"),
        ({"notion": []}, "name at least one notion"),
    ):
        with pytest.raises(ald.SettingError, match=problem):
            audit_flat(decisions(), **MODEL | options)
    with pytest.raises(ald.SettingError, match="column 'y' is named twice as outcome"):
        ald.audit(people(), outcome=["y", "y"])
    with pytest.raises(ald.SettingError, match="name the column to audit"):
        ald.audit(people(), outcome=[])


# Named groups


def test_named_groups_are_tested_on_all_data() -> None:
    """Groups of interest are tested on all people, by chi2, with a correction of their own, in the order given."""
    columns = people(3000)
    names = ["sex = F", "age > 45 and sex = M", "member = true"]
    asked = ald.audit(columns, search="none", named_groups=names, outcome="y")
    assert [str(found.criterion) for found in asked.named_groups] == [
        "sex = F",
        "age > 45 and sex = M",
        'member = "True"',
    ]
    y = np.asarray(columns["y"]) == 1
    ps = []
    for found, text in zip(asked.named_groups, names, strict=True):
        mask = ald.Criterion.parse(text, columns).mask(columns)
        ps.append(pearson(table_of(mask, ~mask, y)))
        assert found.size == mask.sum()
        assert found.psi == pytest.approx(y[mask].mean() - y[~mask].mean())
        assert found.p_value == pytest.approx(ps[-1], rel=1e-8)
        assert (found.tree, found.node) == (None, None)
    assert [found.p_adjusted for found in asked.named_groups] == pytest.approx(stats.false_discovery_control(ps))
    assert (asked.groups, asked.n_candidates, asked.data_summary.rows_assess) == ((), 0, 3000)


def test_named_groups_beside_a_search() -> None:
    """Groups of interest change nothing of the search and its correction, and are what they are by themselves."""
    names = ["sex = F", "age > 45"]
    plain = ald.audit(people(), outcome="y", search=ald.Search(trees=3))
    both = ald.audit(people(), outcome="y", search=ald.Search(trees=3), named_groups=names)
    assert both.groups == plain.groups
    assert both.candidates == plain.candidates
    assert both.named_groups == ald.audit(people(), search="none", named_groups=names, outcome="y").named_groups


def test_small_named_groups_are_tested_exactly() -> None:
    """A group of few people is tested by Fisher's exact test, SciPy's."""
    columns = people(300)
    (found,) = ald.audit(columns, search="none", named_groups="age > 76", outcome="y").named_groups
    mask = np.asarray(columns["age"]) > 76
    assert found.test == "exact"
    table = table_of(mask, ~mask, np.asarray(columns["y"]) == 1)
    assert found.p_value == pytest.approx(stats.fisher_exact(table).pvalue, rel=1e-6)


def test_criteria_can_be_named_as_values() -> None:
    """Groups and references are texts or criteria; a finding's criterion can be asked about again."""
    first = ald.audit(people(), outcome="y", search=ald.Search(trees=3)).groups[0].criterion
    by_value, by_text = (
        ald.audit(people(), search="none", named_groups=group, outcome="y").named_groups
        for group in (first, str(first))
    )
    assert by_value == by_text
    women = ald.Criterion([ald.Levels("sex", "nominal", ("F",))])
    assert (
        ald.audit(people(), search="none", named_groups=first, outcome="y", reference=women).named_groups[0].size
        == by_value[0].size
    )


def test_columns_that_are_no_attributes_can_be_named() -> None:
    """A named group may use any column of the data, whichever attributes the search has."""
    audit = ald.audit(people(), outcome="y", attributes=["sex"], named_groups=["age > 45"], search=ald.Search(trees=2))
    assert audit.named_groups[0].size == sum(age > 45 for age in people()["age"])


@pytest.mark.parametrize(
    ("groups", "error", "problem"),
    [
        ("sx = F", ald.ColumnError, "there is no column 'sx'.*Did you mean 'sex'"),
        ("sex = Fe", ald.CriterionError, "sex"),
        ("age > 1000", ald.InputError, "is empty: nobody of 600 people satisfies it"),
        ("age > 0", ald.InputError, "is everyone: nobody is left to compare with"),
        ("everyone", ald.InputError, "is everyone"),
        ("sex =", ald.CriterionError, "sex ="),
        ("__import__('os')", ald.CriterionError, "."),
        ([], ald.SettingError, "name at least one group"),
    ],
)
def test_groups_that_are_none(groups: Any, error: type[Exception], problem: str) -> None:
    """Unknown columns and levels, nobody, everyone and texts that are no groups are errors."""
    with pytest.raises(error, match=problem):
        ald.audit(people(), search="none", named_groups=groups, outcome="y")


def test_named_groups_with_clusters_and_weights_and_strata() -> None:
    """Named groups respect clusters, survey weights and legitimate factors, alone and together."""
    columns = visits() | {"w": np.linspace(0.5, 2.0, 2400)}
    seen = {}
    for options in ({}, {"cluster": "person"}, {"survey_weights": "w"}, {"cluster": "person", "survey_weights": "w"}):
        for given in ((), ("sex", "hour")):
            (found,) = audit_flat(
                columns,
                search="none",
                named_groups="region = north",
                outcome="y",
                given=given,
                min_group_size=1,
                **options,
            ).named_groups
            seen[found.test, bool(given)] = found
            assert found.people == (None if "cluster" not in options else found.size // 6)
            assert bool(found.strata) == bool(given)
    assert {test for test, _ in seen} == {
        "chi2",
        "stratified chi2",
        "Rao-Scott for clusters",
        "Rao-Scott for weights",
        "Rao-Scott for clusters and weights",
    }


def test_named_groups_of_several_notions() -> None:
    """Every group is tested for every notion, group by group, with one correction."""
    audit = ald.audit(
        decisions(),
        search="none",
        named_groups=["group = a", "x > 0"],
        prediction="predicted",
        truth="true",
        notion=NOTIONS,
    )
    assert [(str(f.criterion), f.notion) for f in audit.named_groups] == [
        (group, notion) for group in ("group = a", "x > 0") for notion in NOTIONS
    ]
    ps = [found.p_value for found in audit.named_groups]
    assert [found.p_adjusted for found in audit.named_groups] == pytest.approx(stats.false_discovery_control(ps))


# Documents


DOCUMENTS: dict[str, dict[str, Any]] = {
    "given": {"given": ["region"], "given_in_criteria": True},
    "cluster": {"cluster": "person"},
    "weights": {"survey_weights": "w"},
    "all": {"given": ["hour"], "given_bins": 3, "cluster": "person", "survey_weights": "w", "reference": "sex = M"},
    "direction": {"favourable": 1, "direction": "disadvantaged", "reference": "all", "fraction": 0.4},
    "outcomes": {"outcome": ["y", "z"], "named_groups": ["sex = F", "hour > 12"]},
    "repeats": {"cluster": "person", "repeats": 2},
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_keep_what_was_asked(name: str) -> None:
    """Every kind of audit can be written, read back and shown, and is the same."""
    columns = visits() | {"w": np.linspace(0.5, 2.0, 2400), "z": np.arange(2400) % 7 % 2}
    attributes = ["region", "sex", "hour"]
    audit = audit_flat(columns, **{"outcome": "y", "trees": 3, "attributes": attributes} | DOCUMENTS[name])
    again = ald.Audit.from_json(audit.to_json())
    assert again == audit
    assert again.to_json() == audit.to_json()
    assert (str(again), again.to_markdown(), again.to_csv()) == (str(audit), audit.to_markdown(), audit.to_csv())
    assert json.loads(audit.to_json())["config"] | {} == json.loads(again.to_json())["config"]


def test_documents_of_named_groups() -> None:
    """The document of groups that were only named has no search in it, and can be read back."""
    asked = ald.audit(load_berkeley(), search="none", named_groups="gender = female", given="department", **BERKELEY)
    document = json.loads(asked.to_json())
    assert document["config"]["search"] == "none"
    assert (document["groups"], document["candidates"], document["forest"]["trees"]) == ([], [], 0)
    assert [entry["criterion"] for entry in document["named_groups"]] == ["gender = female"]
    assert ald.Audit.from_json(asked.to_json()) == asked
