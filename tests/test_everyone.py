"""Audits of everyone: one answer for the same people, claims in one order, and what cannot be had without halves."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import ald
from ald._core.steps import share_of_whole
from ald.datasets import make_synthetic
from ald.results.audit import Audit
from ald.results.mode import Mode
from tests.tables import one_crossing


@cache
def combined(seed: int = 3) -> Audit:
    """One crossing of two attributes differs, in few people."""
    return ald.audit(one_crossing(1000, seed), outcome="y", split="none")


def people(n: int = 900, seed: int = 0) -> dict[str, Any]:
    """Three columns with values that repeat; one of them matters."""
    rng = np.random.default_rng(seed)
    columns = {name: rng.choice(["p", "q", "r"], n) for name in ("a", "b")} | {"age": rng.integers(2, 9, n) * 10}
    return columns | {"y": (rng.random(n) < np.where(columns["a"] == "p", 0.65, 0.35)).astype(int)}


def test_both_claims_are_told_of_one_group() -> None:
    """A group and the combination of its attributes are one finding with two p-values, each times two."""
    found = combined().groups[0]
    assert str(found.criterion) == "a = u and b = p"
    assert found.shuffled is not None
    assert found.together is not None
    assert found.shuffled.claim == "both"
    assert set(found.together.attributes) == {"a", "b"}
    assert (found.p_value, found.p_adjusted, found.shuffled.bound) == (0.001, 0.002, True)
    assert (found.together.p_adjusted, found.together.listed) == (0.002, True)
    assert found.interval[0] is not None
    assert found.psi is not None
    assert 0 < found.interval[0] < found.psi < (found.interval[1] or 0.0)
    assert combined().p_any == 0.002


def test_nobody_is_kept_apart() -> None:
    """All people are searched and tested, and the document says nothing of halves and trees."""
    audit = combined()
    assert audit.data_summary.rows_assess == 1000
    assert audit.mode.is_everyone
    document = audit.to_dict()
    assert {"forest"}.isdisjoint(document)
    assert {"rows_search", "rows_assess"}.isdisjoint(document["data"])
    assert {"tree", "node"}.isdisjoint(document["groups"][0])
    assert document["mode"] == {"name": "everyone", "shuffles": 999, "parts": 2, "complete": True}
    again = Audit.from_json(audit.to_json())
    assert again == audit
    assert str(again) == str(audit)
    halves = ald.audit(people(), outcome="y", split="random").to_dict()
    assert halves["mode"] == {"name": "halves"}
    assert all("shuffled" not in entry for entry in halves["candidates"])


def test_same_people_same_answer() -> None:
    """Rows in another order, people counted, and more threads: the same document to the byte."""
    columns = people()
    order = np.random.default_rng(1).permutation(len(columns["y"]))
    table, n = np.unique(np.stack([np.asarray(c).astype(str) for c in columns.values()]), axis=1, return_counts=True)
    counted: dict[str, Any] = dict(zip(columns, table, strict=True)) | {"n": n}
    counted["age"], counted["y"] = counted["age"].astype(int), counted["y"].astype(int)

    def document(data: Any, **options: Any) -> str:
        return ald.audit(data, outcome="y", split="none", **options).to_json()

    expected = document(columns)
    assert document({name: column[order] for name, column in columns.items()}) == expected
    assert document(ald.source(columns, threads=3)) == expected
    found = ald.audit(counted, outcome="y", split="none", weights="n")
    assert [one.to_dict() for one in found.groups] == [
        one.to_dict() for one in ald.audit(columns, outcome="y", split="none").groups
    ]


def test_seeds_agree() -> None:
    """Another seed shuffles otherwise, and lists the same group."""
    columns = people()
    audits = [ald.audit(columns, outcome="y", split="none", seed=seed) for seed in range(5)]
    assert {str(audit.groups[0].criterion) for audit in audits} == {"a = p"}
    assert len({audit.to_json() for audit in audits}) > 1


def test_the_list_ends_after_groups() -> None:
    """With one group asked for, no further round is run, and the report says how to go on."""
    columns = people(2000)
    chance = 0.3 + 0.3 * (columns["a"] == "p") + 0.2 * (columns["b"] == "q")
    columns["y"] = (np.random.default_rng(5).random(2000) < chance).astype(int)
    one = ald.audit(columns, outcome="y", split="none", groups=1)
    assert len(one.groups) == 1
    assert one.mode.complete is False
    assert "no further round was run. With groups=4" in one.report().result
    more = ald.audit(columns, outcome="y", split="none", groups=4)
    assert len(more.groups) > 1
    assert more.mode.complete
    assert "no further round" not in more.report().result
    assert more.groups[1].given_groups == (more.groups[0].criterion,)


def test_later_p_values_are_never_smaller() -> None:
    """The corrected p-value of a later group is the largest so far, also where its own is smaller."""
    columns = people(1500)
    found = ald.audit(columns, outcome="y", split="none").candidates
    groups = [one for one in found if one.shuffled is not None and one.shuffled.claim != "combination"]
    assert len(groups) > 1
    adjusted = [one.p_adjusted or 0.0 for one in groups]
    assert adjusted == sorted(adjusted)
    assert adjusted[-1] > 0.05


def test_several_questions_share_the_level() -> None:
    """Two notions halve the share of every claim, and p-values are multiplied by four."""
    scored = make_synthetic(3, n=3000, rho=0.5, seed=0)
    notions = ["statistical parity", "equalized odds"]
    audit = ald.audit(scored, prediction="prediction", truth="truth", notion=notions, split="none")
    assert audit.mode.parts == 4
    assert audit.mode.shuffles == 1599
    assert {one.notion for one in audit.candidates} == set(notions)
    first = next(one for one in audit.groups if one.notion == "equalized odds")
    assert first.shuffled is not None
    assert first.p_adjusted == pytest.approx(4 * (first.p_value or 0.0))
    assert set(first.part_intervals) == {"fpr", "fnr"}
    assert [one.p_adjusted for one in audit.groups] == sorted(one.p_adjusted or 0.0 for one in audit.groups)


def test_legitimate_factors_explain_what_they_explain() -> None:
    """Given a factor people are shuffled within its strata: what it explains is not listed, and strata are shown."""
    rng = np.random.default_rng(3)
    job = rng.integers(0, 4, 3000)
    data = {"job": job.astype(str), "sex": np.where(rng.random(3000) < 0.15 + 0.2 * job, "f", "m")}
    data["other"] = rng.choice(["u", "v"], 3000)
    data |= {"y": (rng.random(3000) < 0.2 + 0.15 * job - 0.15 * (data["other"] == "v")).astype(int)}
    plain = ald.audit(data, outcome="y", attributes=["sex", "other"], split="none")
    given = ald.audit(data, outcome="y", given="job", split="none")
    assert any("sex" in str(one.criterion) for one in plain.groups)
    assert not any("sex" in str(one.criterion) for one in given.groups)
    assert [len(one.strata) for one in given.groups] == [4]


def test_a_number_that_is_a_factor_is_cut_twice_as_fine() -> None:
    """A group that differs within classes only because these are wide does not hold in finer ones."""
    rng = np.random.default_rng(0)
    age = rng.random(4000)
    data = {"age": age, "old": np.where(rng.random(4000) < age, "yes", "no")}
    data |= {"real": rng.choice(["u", "v"], 4000)}
    data |= {"y": (rng.random(4000) < np.clip(0.1 + 0.7 * age + 0.2 * (data["real"] == "u"), 0, 1)).astype(int)}
    found = ald.audit(data, outcome="y", given=ald.Given("age", bins=2), split="none").groups
    real = next(one for one in found if "real" in str(one.criterion))
    old = next(one for one in found if "old" in str(one.criterion))
    assert [cut.holds for cut in real.finer] == [True]
    assert abs(old.finer[0].psi or 0.0) < 0.7 * abs(old.psi or 0.0)


def test_columns_that_give_the_outcome_away_come_first() -> None:
    """A copy of the outcome is a giveaway, and the search goes on without it; numbers of later columns are right."""
    columns = {"copy": np.where(people()["y"] == 1, "yes", "no"), **people()}
    audit = ald.audit(columns, outcome="y", split="none")
    assert [str(one.criterion) for one in audit.giveaways] == ["copy = yes"]
    assert [str(one.criterion) for one in audit.groups] == ["a = p"]
    assert audit.details.curve("a").attribute == "a"
    assert audit.p_any < 1e-20


def test_one_direction() -> None:
    """Only groups that fare worse are listed, and named by the side that does."""
    columns = people(2000)
    worse = ald.audit(columns, outcome="y", favourable="1", direction="disadvantaged", split="none").groups
    assert [str(one.criterion) for one in worse] == ["a in {q, r}"]
    assert (worse[0].psi or 0.0) < 0


@pytest.mark.parametrize(
    "options",
    [
        {"cluster": "a"},
        {"weights": ald.SurveyWeights("age")},
        {"threshold": 0.1},
        {"reference": "a = p"},
        {"ranking": "magnitude"},
        {"search": "paper"},
        {"search": "cart"},
    ],
)
def test_what_needs_halves_is_refused(options: dict[str, Any]) -> None:
    """Settings that need two halves are an error that says which and what to do."""
    with pytest.raises(ald.SettingError, match=r"split='none' searches and tests everyone, but .*: leave split out"):
        ald.audit(people(), outcome="y", split="none", **options)


def test_nothing_to_test() -> None:
    """Where no group can be as large as it must be, nothing is tested, and a warning says why."""
    columns = {name: column[:45] for name, column in people().items()}
    audit = ald.audit(columns, outcome="y", attributes=["a"], split="none")
    assert (audit.groups, audit.candidates) == ((), ())
    assert any("no group could be tested: no condition on one attribute gives" in line for line in audit.warnings)
    assert Audit.from_json(audit.to_json()) == audit


def test_too_few_people() -> None:
    """A group and everyone else need 20 people each: with fewer than both together an audit is refused."""
    assert ald.audit({name: column[:40] for name, column in people().items()}, outcome="y").mode.is_everyone
    with pytest.raises(ald.InputError, match="39 rows, too few to audit: at least 40 are needed"):
        ald.audit({name: column[:39] for name, column in people().items()}, outcome="y")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"cluster": "b"}, "cluster is given"),
        ({"weights": ald.SurveyWeights("age")}, "survey_weights are given"),
        ({"threshold": 0.1}, "a threshold is given"),
        ({"reference": "a = p"}, "a reference is given"),
        ({"ranking": "magnitude"}, "ranking is 'magnitude'"),
        ({"split": ald.Split(fraction=0.4)}, "fraction says how large the halves are"),
        ({"split": ald.Split(repeats=2)}, "repeats are halvings"),
        ({"search": "paper"}, "search is 'paper'"),
        ({"search": "cart"}, "search is 'cart'"),
        ({"search": ald.Search(trees=3)}, "trees say how the forest grows"),
        ({"search": ald.Search(alpha=0.2)}, "alpha says how the forest grows"),
    ],
)
def test_auto_takes_halves_where_they_are_needed(options: dict[str, Any], reason: str) -> None:
    """The report and the document say why people were split."""
    audit = ald.audit(people(), outcome="y", **options)
    assert audit.mode == Mode(name="halves", reason=reason)
    assert audit.to_dict()["mode"] == {"name": "halves", "reason": reason}
    assert f"People are split into two halves at random: {reason}." in audit.report().facts
    assert Audit.from_json(audit.to_json()) == audit


def test_auto_goes_by_people_times_attributes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to a fixed size everyone is searched and tested, above it people are split; nothing else decides."""
    columns = people()
    small = ald.audit(columns, outcome="y")
    assert small.config.split == "auto"
    assert small.mode.is_everyone
    assert small.groups == ald.audit(columns, outcome="y", split="none").groups
    monkeypatch.setattr("ald.pipeline.EVERYONE", 3 * 900 - 1)
    large = ald.audit(columns, outcome="y", split="auto")
    assert large.mode.reason == "people times attributes are more than 2,699"
    assert large.groups == ald.audit(columns, outcome="y", split="random").groups


def test_progress_goes_on() -> None:
    """Rounds, halves that are searched again and groups are told, as shares of the whole that only grow."""
    calls: list[tuple[str, float]] = []
    ald.audit(one_crossing(1000), outcome="y", progress=lambda step, share: calls.append((step, share)))
    assert list(dict.fromkeys(step for step, _ in calls)) == ["load", "search", "again", "assess", "rank"]
    shares = [done for done in (share_of_whole(*call) for call in calls) if done is not None]
    assert shares == sorted(shares)
    assert len(shares) > 60
    assert shares[-1] == 1.0
