"""Every system: coded data in, ranked criteria out, and what it proposes is tested like anything else."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import ald
from ald.baselines import SYSTEMS, get_system
from ald.baselines.interface import Search, propose, propose_ranked
from ald.datasets import make_synthetic
from ald.groups.derived import extend_data
from ald.groups.membership import count_members
from ald.groups.rules import decode
from tests.coded import PARITY, coded
from tests.tables import decisions, people

NAMES = [name + ":sex" * system.needs_attribute for name, system in SYSTEMS.items()]
each_system = pytest.mark.parametrize("method", NAMES)


@each_system
def test_proposals_are_ranked_and_real(method: str) -> None:
    """Criteria come with scores that do not ascend, each once, and describe people who are there."""
    data = coded(people(900))
    system, given = get_system(method)
    found = system.search(Search(data=data, rates=PARITY, given=given))
    assert found.criteria
    assert list(found.score) == sorted(found.score, reverse=True)
    assert len(set(found.criteria)) == len(found.criteria) == len(found.score)
    candidates, _ = propose_ranked(found, data)
    sizes = count_members(candidates.criteria, extend_data(data, found.derived)).sum(axis=1)
    assert (sizes > 0).all()
    assert (sizes < data.total).all()


@each_system
def test_trees_show_the_proposals(method: str) -> None:
    """Every proposal is a node of the forest, whose people on D1 are those of the criterion."""
    data = coded(people(900))
    candidates, forest = propose(method, data, PARITY, np.random.default_rng(0), alpha=0.1)
    whole = extend_data(data, candidates.derived)
    paths = forest.criteria([attribute.size for attribute in whole.attributes])
    at = {key: i for i, key in enumerate(zip(forest.tree.tolist(), forest.node.tolist(), strict=True))}
    assert candidates.criteria
    for criterion, tree, node in zip(candidates.criteria, candidates.tree, candidates.node, strict=True):
        path = paths[at[tree, node]]
        counts = count_members([criterion, path], whole)
        assert counts[0].tolist() == counts[1].tolist() == forest.counts[at[tree, node]].tolist()


@each_system
def test_audit_with_a_method(method: str) -> None:
    """An audit with any method tests what it proposes on D2, keeps its forest, and is read back from its document."""
    columns = people(900)
    audit = ald.audit(columns, outcome="y", search=method, seed=3)
    assert audit.config.system == method
    assert ald.Audit.from_json(audit.to_json()) == audit
    significant = [found for found in audit.candidates if found.p_adjusted is not None and found.p_adjusted <= 0.05]
    assert audit.n_candidates > 0
    assert len(audit.groups) == min(3, len(significant))
    assert {group.criterion for group in audit.groups} <= {found.criterion for found in significant}
    again = ald.audit(ald.source(columns, threads=1), outcome="y", search=method, seed=3)
    assert again.to_json() == audit.to_json()


@pytest.mark.parametrize("method", [name for name in NAMES if ":" not in name])
def test_audit_of_predictions(method: str) -> None:
    """Methods search for what the notion asks for: error rates of a classifier too."""
    audit = ald.audit(decisions(1600), prediction="predicted", truth="true", notion="equalized odds", search=method)
    assert audit.n_candidates > 0


@pytest.mark.parametrize("method", ["gerrymandering", "subset-scan"])
def test_repeats_with_derived_attributes(method: str) -> None:
    """Groups of derived attributes can be compared between halvings."""
    audit = ald.audit(people(900), outcome="y", search=method, split=ald.Split(repeats=3))
    assert audit.groups
    assert all(group.stability >= 0.33 for group in audit.groups)


def test_small_groups_are_tested_exactly() -> None:
    """Small groups that a system proposes are tested exactly, and intervals of listed groups allow for selection."""
    rng = np.random.default_rng(0)
    office = rng.choice([f"o{i}" for i in range(30)], 1500)
    y = rng.random(1500) < np.where(office == "o3", 0.9, 0.15)
    audit = ald.audit({"office": office, "y": y.astype(int)}, outcome="y", search="subset-scan")
    assert "exact" in {candidate.test for candidate in audit.candidates}
    assert audit.groups[0].interval_level == pytest.approx(1 - 0.05 * len(audit.groups) / audit.n_candidates)


def test_missing_values_take_part() -> None:
    """Every system copes with missing values of every kind of attribute."""
    columns = people(900)
    rng = np.random.default_rng(0)
    for name in ("age", "sex", "hired", "member"):
        gone = rng.random(900) < 0.1
        columns[name] = [None if missing else value for value, missing in zip(columns[name], gone, strict=True)]
    del columns["seen"]
    for method in NAMES:
        if not method.startswith("fliptest"):
            assert ald.audit(columns, outcome="y", search=method).n_candidates > 0
    columns["sex"] = people(900)["sex"]
    assert ald.audit(columns, outcome="y", search="fliptest:sex").n_candidates > 0


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("subset", "Did you mean 'subset-scan'"),
        ("association-tree", "needs the attribute"),
        ("cart:sex", "looks at all attributes"),
        ("association-tree:sx", "no attribute 'sx'.*Did you mean 'sex'"),
        ("fliptest:age", "has .* values here"),
    ],
)
def test_wrong_methods(method: str, message: str) -> None:
    """A wrong method says what was expected and the nearest name."""
    with pytest.raises(ald.SettingError, match=message):
        ald.audit(people(), outcome="y", search=method)


@pytest.mark.parametrize(("method", "module"), [("cart", "sklearn"), ("fliptest:sex", "ot")])
def test_missing_extra(method: str, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its library a method prints the command that installs it."""
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ald.SettingError, match=r"pip install 'ald-audit\[baselines\]'"):
        ald.audit(people(), outcome="y", search=method)


def test_a_planted_group_survives_the_test() -> None:
    """The subset scan's group of the hidden intersection is listed, as one crossing of race and gender."""
    audit = ald.audit(make_synthetic(2, rho=0.3, seed=1), outcome="y", search="subset-scan")
    assert {condition.attribute for condition in audit.groups[0].criterion} == {"race", "gender"}


@each_system
def test_hostile_names(method: str) -> None:
    """Names and levels with control and direction characters never reach the terminal as such."""
    rng = np.random.default_rng(0)
    level = rng.choice(["\x1b[31mred", "\u202eevil", 'a "quoted" | bar'], 1500)
    columns = {"se\x1bx": level, "sex": rng.choice(["f", "m"], 1500), "age\n": rng.integers(18, 80, 1500)}
    y = rng.random(1500) < 0.2 + 0.5 * (level == "\u202eevil") + 0.2 * (columns["sex"] == "f")
    audit = ald.audit(columns | {"y": y.astype(int)}, outcome="y", search=method)
    assert audit.n_candidates > 0
    for text in (str(audit), audit.to_markdown()):
        assert "\x1b" not in text
        assert "\u202e" not in text


def test_nothing_is_listed_where_nothing_is() -> None:
    """With no disparity, honest tests keep the lists of most data sets empty, whatever the method proposes."""
    listed = {
        method: sum(bool(ald.audit(make_synthetic(2, n=2000, rho=0.0, seed=s), outcome="y", search=method).groups)
                    for s in range(20))
        for method in ("subset-scan", "cart", "gerrymandering", "chaid")
    }  # fmt: skip
    assert all(count <= 5 for count in listed.values()), listed


def test_decoded_words() -> None:
    """Levels of an ordered attribute are named one by one."""
    rng = np.random.default_rng(0)
    size = rng.choice(["S", "M", "L"], 2000)
    y = (rng.random(2000) < np.where(size == "M", 0.8, 0.2)).astype(int)
    data = coded({"size": size, "y": y}, kinds={"size": ["S", "M", "L"]})
    for method in ("chaid", "subset-scan"):
        candidates, _ = propose(method, data, PARITY, np.random.default_rng(0), alpha=0.1)
        assert "size = M" in [str(decode(criterion, data.attributes)) for criterion in candidates.criteria]
