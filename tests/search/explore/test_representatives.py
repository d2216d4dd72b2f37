"""The list that is tested on D2: no finding twice, and nothing about levels that D1 never saw."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ald.data.coarse import coarse_view
from ald.data.coded import AuditData
from ald.groups.membership import Members, correlation, member_mask, membership_strata
from ald.groups.rules import decode
from ald.groups.tree import CodedCondition
from ald.search.explore.conditions import Conditions
from ald.search.explore.representatives import STOP, complement, nearest_nodes, representatives, simplest
from ald.search.explore.scoring import Scorer
from ald.search.explore.sharpen import Sharpener
from tests.coded import PARITY, coded, forest_of, representatives_of
from tests.search.explore.test_sharpen import circular


def random_data(seed: int, n: int = 1200) -> AuditData:
    """Related attributes, several of which describe nearly the same people."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 70, n)
    married = rng.random(n) < (age - 10) / 80
    role = np.where(married, rng.choice(["husband", "wife"], n), rng.choice(["child", "single"], n))
    sex = np.where(role == "husband", "m", np.where(role == "wife", "f", rng.choice(["f", "m"], n)))
    y = rng.random(n) < 0.2 + 0.3 * married + 0.2 * (age > 40) * rng.random() + 0.1 * (sex == "m")
    words = {"role": role, "sex": sex, "married": np.where(married, "yes", "no")}
    return coded({"age": age} | words | {"y": y.astype(int)})


@settings(max_examples=12)
@given(st.integers(0, 10**6), st.integers(1, 5))
def test_no_two_groups_are_alike(seed: int, groups: int) -> None:
    """Memberships of any two groups correlate by less than 0.6 on D1: no repetition, and no complement."""
    data = random_data(seed)
    masks = [member_mask(found.criterion, data) for found in representatives_of(data, groups=groups)]
    expanded = [np.repeat(mask, data.counts).astype(float) for mask in masks]
    assert masks
    for a, b in combinations(expanded, 2):
        assert abs(np.corrcoef(a, b)[0, 1]) < 0.6


@pytest.mark.parametrize("seed", range(8))
def test_other_descriptions_are_alike(seed: int) -> None:
    """What is folded into a group correlates with it by at least 0.6, and is none of the groups."""
    data = random_data(seed)
    found = representatives_of(data)
    taken = {one.criterion for one in found}
    assert any(one.also for one in found)
    for one in found:
        for other in one.also:
            assert other not in taken
            masks = [member_mask(criterion, data) for criterion in (one.criterion, other)]
            assert abs(correlation(*masks, data)) >= 0.6


@pytest.mark.parametrize("noise", [3, 6, 8, 10])
def test_moves_in_a_circle_leave_a_group_to_test(noise: int) -> None:
    """Where sharpening goes round in a circle, groups with clear evidence are proposed all the same."""
    data = circular(noise)
    first = representatives_of(data)[0].criterion
    assert Scorer(coarse_view(data), PARITY).values([first])[0] < -50


@settings(max_examples=12)
@example(0)
@given(st.integers(0, 10**6))
def test_the_search_ends_when_no_other_finding_is_left(seed: int) -> None:
    """With fewer groups than it may take it ends only where no single condition with clear evidence is new: not because
    its ways led to groups that are told already."""
    data = random_data(seed)
    masks = [member_mask(found.criterion, data) for found in representatives_of(data)]
    if len(masks) == 4:
        return
    scorer = Scorer(coarse_view(data), PARITY, membership_strata(masks))
    sharpener = Sharpener(scorer, Conditions(scorer.prices, 1))
    singles = sharpener.singles()
    assert singles
    for single in singles:
        told = any(abs(correlation(member_mask(single, data), mask, data)) >= 0.6 for mask in masks)
        assert told or sharpener.value(single) >= np.log(STOP)


@pytest.mark.parametrize(("groups", "taken"), [(1, 2), (2, 3), (3, 4), (6, 7), (20, 7)])
def test_few_groups_are_tested(groups: int, taken: int) -> None:
    """A third more groups are taken than the list shall have, rounded up, while there are new ones: here, of seven
    attributes that matter, or until their strata are too many to be counted."""
    rng = np.random.default_rng(0)
    columns = {f"x{i}": rng.choice(["p", "q"], 6000) for i in range(7)}
    rate = 0.15 + 0.1 * sum((column == "p").astype(int) for column in columns.values())
    data = coded(columns | {"y": (rng.random(6000) < rate).astype(int)})
    assert len(representatives_of(data, groups=groups)) == taken


@pytest.mark.parametrize("seed", range(4))
def test_a_level_that_d1_never_saw_is_in_no_criterion(seed: int) -> None:
    """Levels that do not occur in D1 are named nowhere, not even by a complement."""
    data = random_data(seed)
    role = next(j for j, attribute in enumerate(data.attributes) if attribute.name == "role")
    unseen = data.attributes[role].levels.index("wife")
    d1 = data.with_counts(np.where(data.codes[role] == unseen, 0, data.counts))
    found = [criterion for one in representatives_of(d1) for criterion in (one.criterion, *one.also)]
    assert found
    assert all(unseen not in c.levels for criterion in found for c in criterion if c.attribute == role)
    others = tuple(code for code in range(4) if code != unseen)
    (rest,) = complement((CodedCondition(role, 0, 0, others[:1]),), d1)
    assert rest[0].levels == others[1:]


def named(data: AuditData, *conditions: CodedCondition) -> str:
    return str(decode(simplest(conditions, data), data.attributes))


def test_the_smaller_of_a_group_and_its_complement_is_named() -> None:
    """Of one condition and everyone else the smaller group is named, however many levels that takes; of two conditions
    there is no complement."""
    rng = np.random.default_rng(0)
    x, g = rng.integers(0, 10, 1000), rng.choice(list("abcdef"), 1000, p=[0.7, 0.06, 0.06, 0.06, 0.06, 0.06])
    data = coded({"x": x, "g": g, "y": rng.integers(0, 2, 1000)})
    numbers = {attribute.name: j for j, attribute in enumerate(data.attributes)}
    at, level = numbers["x"], numbers["g"]
    assert named(data, CodedCondition(at, 0, 9)) == named(data, CodedCondition(at, 9, 10)) == "x = 9"
    assert named(data, CodedCondition(at, 0, 3)) == named(data, CodedCondition(at, 3, 10)) == "x <= 2"
    assert named(data, CodedCondition(at, 1, 9)) == "0 < x <= 8"
    assert named(data, CodedCondition(level, 0, 0, (0,))) == "g != a"
    assert named(data, CodedCondition(level, 0, 0, (0, 1, 2))) == "g in {d, e, f}"
    both = (CodedCondition(at, 0, 9), CodedCondition(level, 0, 0, (0,)))
    assert simplest(both, data) == both


def test_missing_numbers_make_two_findings_of_a_cut() -> None:
    """Where a number is missing, those above a cut are not everyone but those below, and the group stays."""
    x = np.where(np.arange(1000) == 0, np.nan, np.arange(1000) % 10)
    data = coded({"x": x, "y": np.arange(1000) % 2})
    assert named(data, CodedCondition(0, 0, 9)) == "x <= 8"
    g = np.where(np.arange(1000) % 10 == 0, None, np.where(np.arange(1000) % 3 == 0, "a", "b"))
    data = coded({"g": g, "y": np.arange(1000) % 2})
    assert named(data, CodedCondition(0, 0, 0, (1,))) == "g in {a, missing}"


def test_everyone_else_has_levels_that_d1_never_saw() -> None:
    """A set that is told by the levels it lacks holds those of the other half too: it is everyone else."""
    g = np.array(list("abcdef") * 100)
    data = coded({"g": g, "y": np.arange(600) % 2})
    d1 = data.with_counts(np.where(data.codes[0] == 5, 0, data.counts))
    assert named(d1, CodedCondition(0, 0, 0, (0,))) == "g = a"
    assert complement((CodedCondition(0, 0, 0, (0,)),), d1) == [(CodedCondition(0, 0, 0, (1, 2, 3, 4, 5)),)]
    few = d1.with_counts(np.where(d1.codes[0] == 0, 10 * d1.counts, d1.counts))
    assert named(few, CodedCondition(0, 0, 0, (1, 2, 3, 4))) == "g != a"


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(1, 9)), min_size=2, max_size=30), st.booleans())
def test_correlation_counts_people(rows: list[tuple[bool, bool, int]], one_each: bool) -> None:
    """The correlation of two memberships is that over people, row counts included; 0 where one does not vary."""
    a, b, counts = (np.array(column) for column in zip(*rows, strict=True))
    counts = np.ones_like(counts) if one_each else counts
    data = AuditData(attributes=(), codes=(), cells=np.zeros(len(a), np.uint8), counts=counts, n_cells=1)
    x, y = np.repeat(a, counts).astype(float), np.repeat(b, counts).astype(float)
    expected = np.corrcoef(x, y)[0, 1] if x.std() > 0 and y.std() > 0 else 0.0
    assert correlation(a, b, data) == pytest.approx(expected, abs=1e-9)


def test_nearest_nodes_hold_about_the_same_people() -> None:
    """The node shown for a group is one whose membership correlates most with it."""
    data = random_data(2)
    paths = forest_of(data, PARITY).criteria([attribute.size for attribute in data.attributes])
    criteria = [one.criterion for one in representatives_of(data)]
    masks = [member_mask(path, data) for path in paths]
    assert criteria
    nodes = Members(paths, data.attributes)
    for criterion, node in zip(criteria, nearest_nodes(criteria, nodes, data), strict=True):
        own = member_mask(criterion, data)
        best = max(correlation(own, mask, data) for mask in masks)
        assert correlation(own, masks[node], data) == pytest.approx(best)


def voyage(seed: int) -> AuditData:
    """As of a ship: sex decides most, then class; age has to do with class."""
    rng = np.random.default_rng(seed)
    n = 1300
    sex, place = rng.random(n) < 0.36, rng.choice(3, n, p=[0.25, 0.21, 0.54])
    age = np.clip(rng.normal(np.array([39, 29, 25])[place], 13), 1, 80).round()
    chance = np.where(sex, np.array([0.96, 0.89, 0.49])[place], np.array([0.34, 0.15, 0.15])[place] + 0.3 * (age < 12))
    words = {"sex": np.where(sex, "female", "male"), "class": np.array(["1st", "2nd", "3rd"])[place], "age": age}
    return coded(words | {"y": rng.random(n) < chance})


@pytest.mark.parametrize("seed", range(6))
def test_single_conditions_compete_in_every_round(seed: int) -> None:
    """What sharpening gives up for a weaker group is taken nonetheless, where it is the strongest: class before age."""
    data = voyage(seed)
    names = [attribute.name for attribute in data.attributes]
    found = representatives(data, PARITY, Members([], data.attributes), 3)
    singles = [names[r.criterion[0].attribute] for r in found if len(r.criterion) == 1]
    assert singles[:2] == ["sex", "class"]


def test_nearest_of_equal_nodes() -> None:
    """Of nodes that are equally near the forest's last one is shown, at the first place where the forest has it."""
    data = random_data(2)
    size = data.attributes[0].size
    group, other = (CodedCondition(0, 0, size // 2),), (CodedCondition(0, size // 4, size),)
    same = (CodedCondition(0, 0, size // 2), CodedCondition(0, 0, size))
    paths = [(), same, other, group, same, group, other]
    assert nearest_nodes([group, other], Members(paths, data.attributes), data) == [3, 2]
