"""The audit as a whole: every setting is honoured, and every reported number can be recomputed."""

from __future__ import annotations

import threading
import time
from functools import cache
from typing import Any

import numpy as np
import pytest

import ald
from ald.datasets import make_synthetic
from ald.results.audit import Audit
from ald.results.finding import Finding
from ald.search.forest.rules import GrowthRules, minimum_rows
from ald.statistics.score import Tables
from tests.flat import audit_flat
from tests.tables import people, public_data

ATTRIBUTES = ["age", "sex", "member", "score"]


@cache
def audited(**options: Any) -> Audit:
    """An audit of the same 3,000 people."""
    defaults: dict[str, Any] = {"outcome": "y", "attributes": ATTRIBUTES, "trees": 6}
    return audit_flat(people(3000), **defaults | options)


def words(audit: Audit) -> list[str]:
    return [str(found.criterion) for found in audit.candidates]


# Settings


def test_searches_differ() -> None:
    """The paper's search tests every leaf by chi2; ours tests a short list of groups."""
    ours, paper = audited(), audited(search="paper")
    assert ours.n_candidates <= 6 < paper.n_candidates
    assert {found.test for found in paper.candidates} == {"chi2"}
    assert paper.config.search == "paper"
    assert not paper.config.explores


def test_groups_are_tested_given_earlier_ones() -> None:
    """Later groups name those before them, are tested within their strata, and show the crude psi beside theirs."""
    audit = ald.audit(make_synthetic(1, n=6000, rho=0.3, seed=0), outcome="y", search=ald.Search(trees=3))
    in_order = sorted(audit.candidates, key=lambda found: len(found.given_groups))
    assert len(in_order) > 2
    for i, found in enumerate(in_order):
        assert [*found.given_groups] == [earlier.criterion for earlier in in_order[:i]]
        assert found.test.startswith("stratified") == (i > 0)
        assert (found.psi_crude is None) == (i == 0)


def test_a_later_group_has_the_sign_of_its_difference_given_the_first() -> None:
    """Where a group looks better off only because of another one, it is listed as worse off, by the same difference."""
    rng = np.random.default_rng(1)
    a = rng.random(8000) < 0.5
    b = rng.random(8000) < np.where(a, 0.7, 0.2)
    y = (rng.random(8000) < 0.3 + 0.35 * a - 0.1 * b).astype(int)
    columns = {"a": np.where(a, "x", "z"), "b": np.where(b, "x", "z"), "y": y}
    first, later = ald.audit(columns, outcome="y").groups
    assert {str(first.criterion), str(later.criterion)} == {"a = x", "b = x"}
    assert later.psi < 0 < later.psi_crude
    assert later.interval[1] < 0
    towards = [
        {str(found.criterion) for found in ald.audit(columns, outcome="y", favourable=1, direction=direction).groups}
        for direction in ("disadvantaged", "advantaged")
    ]
    assert "b = x" in towards[0] - towards[1]


def test_without_exploring_the_leaves_are_tested() -> None:
    """search="leaves" tests the leaves of the forest, which for one rate are those of the paper's search."""
    leaves, paper = audited(search="leaves"), audited(search="paper")
    assert words(leaves) == words(paper)
    assert [found.p_adjusted for found in leaves.groups] == [found.p_adjusted for found in paper.groups]


def test_the_papers_trees_split_on_errors() -> None:
    """For equalized odds the paper's trees split on the error indicator, ours on both rates."""
    data = make_synthetic(3, n=4000, rho=0.4, seed=0)
    options: dict[str, Any] = {"prediction": "prediction", "truth": "truth", "notion": "equalized odds", "trees": 5}
    leaves, paper = audit_flat(data, search="leaves", **options), audit_flat(data, search="paper", **options)
    assert leaves.forest != paper.forest
    assert leaves.forest.statistic[0] > 0


@pytest.mark.parametrize("groups", [1, 2, 3])
def test_groups(groups: int) -> None:
    """At most so many groups are listed, and they are the first of the ranked candidates that are significant."""
    audit = audited(groups=groups, search="paper")
    assert len(audit.groups) == groups
    assert [found.criterion for found in audit.groups] == [found.criterion for found in audit.candidates[:groups]]


@pytest.mark.parametrize("trees", [1, 4])
def test_trees(trees: int) -> None:
    """So many trees are grown."""
    assert len(audited(trees=trees).forest) == trees


def test_alpha() -> None:
    """No node splits unless its p is below alpha; a larger alpha grows larger trees."""
    forests = {alpha: audited(alpha=alpha, search="paper").forest for alpha in (0.001, 0.1, 1.0)}
    for alpha, forest in forests.items():
        assert (forest.log_p[~forest.is_leaf] < np.log(alpha)).all()
    assert forests[0.001].n_nodes < forests[0.1].n_nodes < forests[1.0].n_nodes


@pytest.mark.parametrize("search", ["default", "paper"])
def test_level(search: str) -> None:
    """Listed groups have a corrected p of at most the level; level 1 lists everything that is defined."""
    strict, everything = (
        audited(level=1e-30, groups=1000, search=search),
        audited(level=1.0, groups=1000, search=search),
    )
    assert 0 < len(strict.groups) < len(everything.groups)
    assert all(found.p_adjusted <= 1e-30 for found in strict.groups)
    assert len(everything.groups) == sum(not found.undefined for found in everything.candidates)


def test_adjust() -> None:
    """The corrections are ordered as they must be, and Bonferroni's is p times the number of tests."""
    found = {m: audited(adjust=m, search="paper").candidates for m in ("none", "bh", "by", "bonferroni")}
    tested = sum(not one.undefined for one in found["none"])
    assert tested > 1
    for none, bh, by, bonferroni in zip(*found.values(), strict=True):
        if none.p_value is None:
            continue
        assert none.p_adjusted == none.p_value
        assert none.p_adjusted <= bh.p_adjusted <= min(by.p_adjusted, bonferroni.p_adjusted) * (1 + 1e-9)
        assert bonferroni.p_adjusted == pytest.approx(min(1.0, none.p_value * tested), rel=1e-9, abs=1e-300)


def test_attributes_may_be_one_text() -> None:
    """One attribute needs no list."""
    audits = [ald.audit(people(), outcome="y", attributes=names) for names in ("sex", ["sex"])]
    assert audits[0] == audits[1]
    assert {condition.attribute for finding in audits[0].candidates for condition in finding.criterion} == {"sex"}


def test_attributes_are_the_only_ones_named() -> None:
    """Groups are described by the named attributes only."""
    audit = audited(attributes=("sex", "member"), level=1.0)
    assert {c.attribute for found in audit.candidates for c in found.criterion} <= {"sex", "member"}
    assert [attribute.name for attribute in audit.data_summary.attributes] == ["sex", "member"]


def test_steps_are_reported() -> None:
    """Progress is told by the names of the steps, in order, with shares from 0 to 1."""
    calls: list[tuple[str, float]] = []
    ald.audit(
        people(), outcome="y", search=ald.Search(trees=3), progress=lambda step, share: calls.append((step, share))
    )
    assert list(dict.fromkeys(step for step, _ in calls)) == ["load", "search", "assess", "rank"]
    assert all(0.0 <= share <= 1.0 for _, share in calls)
    shares = [share for step, share in calls if step == "search"]
    assert shares == sorted(shares)
    assert calls[-1] == ("rank", 1.0)


def test_progress_is_told_by_one_thread_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads that grow trees of their own do not call at once, and no call tells less than the one before."""
    monkeypatch.setattr("ald.search.forest.sampling._WORTH_GROUPS", 1)
    busy, overlaps, shares = threading.Lock(), [], []

    def progress(step: str, share: float) -> None:
        free = busy.acquire(blocking=False)
        overlaps.append(not free)
        shares.extend([share] if step == "search" else [])
        time.sleep(0.002)
        if free:
            busy.release()

    ald.audit(ald.source(people(), threads=4), outcome="y", search=ald.Search(trees=8), progress=progress)
    assert not any(overlaps)
    assert shares == sorted(shares)
    assert len(set(shares)) > 4


def test_repeats_are_reported() -> None:
    """With several halvings, progress tells the share of them that is done."""
    calls: list[tuple[str, float]] = []
    ald.audit(
        people(),
        outcome="y",
        search=ald.Search(trees=2),
        split=ald.Split(repeats=3),
        progress=lambda step, share: calls.append((step, share)),
    )
    assert {step for step, _ in calls} == {"load", "repeat", "rank"}
    shares = [share for step, share in calls if step == "repeat"]
    assert shares == sorted(shares)
    assert max(shares) < 1.0


def test_fewest_rows() -> None:
    """With fewer people than a tree's sample needs to split, the audit says so; with as many it runs."""
    least = minimum_rows(GrowthRules())
    columns = {"g": ["a", "b"] * least, "y": [0, 1, 1, 0] * (least // 2)}
    with pytest.raises(ald.InputError):
        ald.audit({name: values[: least - 1] for name, values in columns.items()}, outcome="y", split="random")
    audit = ald.audit({name: values[:least] for name, values in columns.items()}, outcome="y", split="random")
    assert audit.data_summary.rows == least


# Results


def test_halves() -> None:
    """The search has about half of the people, the assessment all others, and groups are counted on the latter."""
    audit = ald.audit(
        {name: values[:2999] for name, values in people(3000).items()}, outcome="y", search=ald.Search(trees=3)
    )
    searched, tested = audit.data_summary.rows_search, audit.data_summary.rows_assess
    assert searched + tested == 2999
    assert abs(searched - 1500) < 4 * np.sqrt(2999 / 4)
    assert audit.candidates
    for found in audit.candidates:
        assert sum(found.counts_inside.values()) == found.size
        assert sum(found.counts_inside.values()) + sum(found.counts_outside.values()) == tested


def recomputed(found: Finding, level: float) -> list[float]:
    inside, outside = found.counts_inside, found.counts_outside
    numbers = [inside["positive"], sum(inside.values()), outside["positive"], sum(outside.values())]
    hits_in, base_in, hits_out, base_out = np.array(numbers)[:, None]
    tables = Tables(hits_in=hits_in, base_in=base_in, hits_out=hits_out, base_out=base_out, by_margins=False)
    return [float(bound) for bound in tables.interval(level)]


@pytest.mark.parametrize("level", [0.05, 0.2])
@pytest.mark.parametrize("groups", [1, 3])
def test_listed_intervals_are_selective(level: float, groups: int) -> None:
    """Significant groups have intervals at level * significant / tested; unadjusted ones are at the level itself."""
    audit = audited(level=level, groups=groups)
    tested = sum(not found.undefined for found in audit.candidates)
    significant = [found for found in audit.candidates if found.p_adjusted is not None and found.p_adjusted <= level]
    selective = level * len(significant) / tested
    assert audit.groups
    for found in (*audit.groups, *significant):
        if not found.given_groups:
            assert found.interval == pytest.approx(recomputed(found, selective), rel=1e-9)
            assert found.interval_unadjusted == pytest.approx(recomputed(found, level), rel=1e-9)
        assert found.interval_level == pytest.approx(1 - selective)
        assert found.interval[0] <= found.interval_unadjusted[0] <= found.psi <= found.interval[1]
        assert not found.interval[0] <= 0 <= found.interval[1]


def test_candidates_show_listed_groups_as_they_are_listed() -> None:
    """A listed group among the candidates has the interval that the list has."""
    audit = audited(groups=1, level=0.2)
    listed = {found.criterion: found for found in audit.groups}
    again = [found for found in audit.candidates if found.criterion in listed]
    assert again == [listed[found.criterion] for found in again]
    assert again


def test_intervals_of_the_papers_search_are_plain() -> None:
    """In the paper's search intervals are at the level itself, for listed groups too."""
    groups = audited(search="paper").groups
    assert groups
    for found in groups:
        assert found.interval == found.interval_unadjusted == pytest.approx(recomputed(found, 0.05), rel=1e-9)


def test_threshold() -> None:
    """With a threshold fewer groups are listed, those whose |psi| is surely larger; p-values grow with it."""
    audits = [audited(threshold=threshold, attributes=("age", "sex")) for threshold in (0.0, 0.1, 0.25, 0.6)]
    first = str(audits[0].groups[0].criterion)
    ps = [next(f.log10_p for f in audit.candidates if str(f.criterion) == first) for audit in audits]
    assert ps == sorted(ps)
    assert [len(audit.groups) for audit in audits] == sorted((len(audit.groups) for audit in audits), reverse=True)
    assert audits[-1].groups == ()
    for audit in audits[1:3]:
        assert audit.groups
        assert all(abs(found.psi) > audit.config.threshold for found in audit.groups)


def test_detectable() -> None:
    """The audit says which disparities it could have seen; larger groups need smaller ones."""
    found = [entry for entry in audited().detectable if entry.psi is not None]
    assert len(found) >= 3
    assert [entry.share for entry in found] == sorted(entry.share for entry in found)
    psis = [entry.psi for entry in found]
    assert psis == sorted(psis, reverse=True)
    assert 0 < psis[-1] < 0.2


# Repeats


def test_stability_is_a_share() -> None:
    """Stability is the share of halvings that list an equivalent group, the reported one among them."""
    audit = audited(repeats=5, trees=3)
    assert audit.groups
    assert all(round(found.stability * 5) in range(1, 6) for found in audit.groups)
    assert all(found.stability * 5 == pytest.approx(round(found.stability * 5)) for found in audit.groups)
    assert max(found.stability for found in audit.groups) == 1.0


def test_repeats_do_not_change_the_list() -> None:
    """The listed groups are those of the first halving, the same as without repeats; stability is what is added."""
    once, often = audited(trees=3), audited(repeats=5, trees=3)
    assert words(once) == words(often)
    assert [found.p_adjusted for found in once.groups] == [found.p_adjusted for found in often.groups]
    assert [found.stability for found in once.groups] == [None] * len(words(once))
    assert words(once)


def test_repeats_are_deterministic() -> None:
    """Repeated halvings give the same bytes again, whatever the number of threads."""
    options: dict[str, Any] = {"outcome": "y", "trees": 2, "repeats": 3}
    assert audit_flat(people(), threads=1, **options).to_json() == audit_flat(people(), threads=2, **options).to_json()


def test_p_any_of_one_halving() -> None:
    """With one halving, p_any is the smallest p times the number of tests."""
    rng = np.random.default_rng(5)
    columns = {"a": rng.choice(list("pqr"), 800), "b": rng.random(800), "y": rng.integers(0, 2, 800)}
    audit = ald.audit(columns, outcome="y", search=ald.Search("leaves", trees=4, alpha=1.0))
    ps = [found.p_value for found in audit.candidates if not found.undefined]
    assert audit.p_any == pytest.approx(min(1.0, min(ps) * len(ps)))


@pytest.mark.parametrize("repeats", [2, 3, 5])
def test_p_any_of_several_halvings(monkeypatch: pytest.MonkeyPatch, repeats: int) -> None:
    """With several halvings, p_any is twice the median of their smallest corrected p-values, at most 1."""
    import ald.pipeline

    splits = []
    usual = ald.pipeline.rank_groups
    monkeypatch.setattr("ald.pipeline.rank_groups", lambda *args: splits.append(usual(*args)) or splits[-1])
    rng = np.random.default_rng(6)
    g = rng.choice(list("pq"), 600)
    columns = {"g": g, "x": rng.random(600), "y": (rng.random(600) < 0.4 + 0.1 * (g == "p")).astype(int)}
    audit = ald.audit(columns, outcome="y", search=ald.Search(trees=3), split=ald.Split(repeats=repeats))
    minima = sorted(min(0.0, np.min(s.scores.log_p) + np.log(len(s.scores.log_p))) for s in splits)
    middle = (minima[(repeats - 1) // 2] + minima[repeats // 2]) / 2
    assert len(splits) == repeats
    assert audit.p_any == pytest.approx(min(1.0, 2 * np.exp(middle)))


# Public data


def compas(seed: int, **options: Any) -> Audit:
    roles = {"prediction": "predicted_high_risk", "truth": "reoffended", "attributes": ["race"]}
    return ald.audit(public_data("compas.csv"), **roles, notion="equalized odds", seed=seed, **options)


@pytest.mark.parametrize("seed", range(20))
def test_compas_by_race(seed: int) -> None:
    """On COMPAS African-Americans come first: more false positives and fewer false negatives."""
    first = compas(seed).groups[0]
    (condition,) = first.criterion
    assert "African-American" in condition.levels
    assert set(condition.levels) <= {"African-American", "Native American"}
    assert first.parts["fpr"] > 0.15
    assert first.parts["fnr"] < -0.15


def test_compas_by_magnitude() -> None:
    """Ranked by magnitude, people of "Other" race are among the first three for most seeds."""
    wanted = {("Other",), ("Asian", "Other")}
    lists = [compas(seed, ranking="magnitude").groups for seed in range(20)]
    assert sum(any(g.criterion.conditions[0].levels in wanted for g in groups) for groups in lists) >= 15


@cache
def adult() -> Audit:
    attributes = ["age", "relationship", "sex", "race", "marital_status"]
    return ald.audit(public_data("adult.csv"), outcome="income", favourable=">50K", attributes=attributes, groups=5)


def test_adult_names_married_people_first() -> None:
    """On Adult the first group is of married people, by relationship or marital status."""
    married = {"Husband", "Wife", "Married-civ-spouse", "Married-AF-spouse"}
    named = [c for c in adult().groups[0].criterion if c.attribute in ("relationship", "marital_status")]
    assert named
    assert all(set(c.levels) <= married for c in named)
    assert adult().groups[0].psi > 0.3


def test_adult_is_ordered_although_p_underflows() -> None:
    """On Adult groups are listed by log p, the first of which is too small for floating point."""
    logs = [found.log10_p for found in adult().groups]
    assert adult().groups[0].p_value == 0.0
    assert logs[0] < -400
    assert logs == sorted(logs)


def test_adult_tells_no_finding_twice() -> None:
    """On Adult no two listed groups are about the same people: memberships correlate by less than 0.6."""
    masks = np.array([found.criterion.mask(public_data("adult.csv")) for found in adult().groups])
    assert len(masks) >= 3
    assert np.abs(np.corrcoef(masks) - np.eye(len(masks))).max() < 0.6


def test_adult_beats_the_published_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """On Adult the first group has a larger chi2 on D2 than each of the three groups that were published."""
    import ald.pipeline
    from ald.assess.assessment import assess
    from ald.groups.tree import CodedCondition

    splits = []
    usual = ald.pipeline.rank_groups
    monkeypatch.setattr("ald.pipeline.rank_groups", lambda *args: splits.append(usual(*args)) or splits[-1])
    adult.cache_clear()
    first, d2 = adult().groups[0], splits[0].d2
    names = [attribute.name for attribute in d2.attributes]

    def levels(name: str, *wanted: str) -> CodedCondition:
        j = names.index(name)
        return CodedCondition(j, 0, 0, tuple(d2.attributes[j].levels.index(level) for level in wanted))

    races = levels("race", "Asian-Pac-Islander", "Black", "White")
    published = [
        (races, levels("relationship", "Husband")),
        (levels("marital_status", "Married-AF-spouse", "Married-civ-spouse"), levels("sex", "Male"), races),
        (levels("relationship", "Husband", "Wife"), levels("sex", "Male")),
    ]
    theirs = assess([tuple(sorted(group)) for group in published], d2, ald.NOTIONS["statistical parity"])
    assert (theirs.share > 0.35).all()
    assert first.statistic > theirs.statistic.max()


def test_also_never_names_the_complement() -> None:
    """What is reported beside a group shares people with it: its complement does not."""
    audit = ald.audit(ald.datasets.load_berkeley(), outcome="admitted", favourable="yes", split="random")
    others = [other for finding in audit.groups for other in finding.also]
    assert others
    assert all(other.overlap > 0.3 for other in others)


def test_reports_say_what_was_audited() -> None:
    """Text and Markdown name the audited column and its favourable value."""
    audit = ald.audit(ald.datasets.load_berkeley(), outcome="admitted", favourable="yes")
    for text in (str(audit), audit.to_markdown().replace("\\", "")):
        assert "Outcome: admitted, favourable value: yes." in text


def test_an_empty_list_beyond_a_threshold_says_so() -> None:
    """With a threshold an empty list does not claim that there is no disparity."""
    audit = ald.audit(ald.datasets.make_synthetic(2), outcome="y", threshold=0.9)
    assert not audit.groups
    assert "No disparity significantly larger than 90 percentage points found." in str(audit)


def test_a_series_is_no_data_set() -> None:
    """One column by itself is refused with a list of what can be read."""
    pd = pytest.importorskip("pandas")
    with pytest.raises(ald.InputError, match="Series"):
        ald.audit(pd.Series([0, 1]), outcome="y")


def test_small_leaves_are_tested_exactly_except_in_the_papers_search() -> None:
    """With search="leaves", leaves of few hits are tested exactly; the paper's search has chi2 throughout."""
    rng = np.random.default_rng(4)
    columns = {"a": rng.choice(list("pqrstu"), 2000), "x": rng.random(2000), "y": (rng.random(2000) < 0.01).astype(int)}
    leaves = [
        f for f in ald.audit(columns, outcome="y", search=ald.Search("leaves", alpha=1.0)).candidates if not f.undefined
    ]
    assert leaves
    assert {found.test for found in leaves} == {"exact"}
    paper = [
        f for f in ald.audit(columns, outcome="y", search=ald.Search("paper", alpha=1.0)).candidates if not f.undefined
    ]
    assert paper
    assert {found.test for found in paper} == {"chi2"}


def rare(n: int = 400) -> dict[str, np.ndarray]:
    """A sex that does not matter, and an outcome that one person has."""
    rng = np.random.default_rng(0)
    return {"sex": rng.choice(["f", "m"], n), "y": (np.arange(n) == 0).astype(int), "z": rng.integers(0, 2, n)}


@pytest.mark.parametrize(
    ("columns", "options", "why"),
    [
        (rare(), {"seed": 4}, "in the half that was searched, the selection rate is 0 for everyone"),
        (
            rare(),
            {"seed": 2},
            "in the half that was kept for the tests, the selection rate is 0 in and outside the group",
        ),
        (
            {"sex": ["f"] * 10 + ["m"] * 390, "y": rare()["z"]},
            {},
            "in the half that was searched, no condition on one attribute gives a group of 20 people or more that "
            "differs from 20 others or more",
        ),
        (
            {"sex": rare()["sex"], "y": rare()["z"]},
            {"search": "leaves", "alpha": 1e-4},
            "in the half that was searched, no tree finds a split at alpha 0.0001",
        ),
    ],
)
def test_nothing_tested_has_its_reason_as_a_warning(columns: Any, options: dict[str, Any], why: str) -> None:
    """Where no group could be tested, a warning says why; no report says that nothing was found."""
    found = audit_flat(columns, outcome="y", split="random", **options)
    assert found.n_tested == 0
    assert f"no group could be tested: {why}" in found.warnings
    tested = found.data_summary.rows_assess
    assert found.report().headline == f"Among {tested} people, no group could be tested."
    for text in (str(found), found.to_markdown(), found.to_html()):
        assert "no group could be tested" in text
        assert "disparity found" not in text


@pytest.mark.parametrize(
    "options",
    [
        {"given": "place"},
        {"cluster": "who"},
        {"weights": ald.SurveyWeights("weight")},
        {"reference": "place = p"},
        {"threshold": 0.1, "given": "place"},
    ],
)
def test_an_empty_search_is_said_whatever_the_design(options: dict[str, Any]) -> None:
    """Within strata, by clusters, with weights or a reference group, a search without any group is no error either."""
    rng = np.random.default_rng(0)
    columns = {"place": rng.choice(["p", "q"], 400), "who": np.arange(400) // 2, "weight": rng.gamma(2.0, 1.0, 400)}
    columns |= {"sex": ["f"] * 10 + ["m"] * 390, "y": rng.integers(2, size=400)}
    found = ald.audit(columns, outcome="y", attributes="sex", split="random", **options)
    assert found.n_candidates == 0
    assert any("no group could be tested: in the half that was searched" in warning for warning in found.warnings)
    assert "disparity found" not in str(found)
    assert ald.Audit.from_json(found.to_json()) == found


def test_each_question_without_a_test_has_its_reason() -> None:
    """Of several questions, the warning names the one of which no group could be tested."""
    data = rare()
    found = ald.audit(
        {"sex": data["sex"], "p": data["y"], "t": data["z"]},
        prediction="p", truth="t", notion=["equalized odds", "accuracy"], seed=3, split="random",
    )  # fmt: skip
    (warning,) = found.warnings
    assert warning.startswith("no group could be tested for equalized odds: ")
    assert found.n_tested == 1
    assert "No significant disparity found." in str(found)
    assert ald.Audit.from_json(found.to_json()).n_tested == 1
