"""Members of criteria: counts, masks of coded rows, and masks of the data in words agree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ald.data.coded import Attribute, AuditData
from ald.data.columns import compact
from ald.groups.membership import Leaves, Members, count_members, member_mask, membership_strata, people_jointly
from ald.groups.rules import candidates, decode
from ald.groups.tree import CodedCondition, CodedCriterion
from ald.notions import SELECTION, RateCounter
from ald.search.forest.rules import GrowthRules
from ald.search.forest.sampling import grow_forest

SIZES = (7, 4, 3, 300)


def coded(n: int, seed: int) -> AuditData:
    """Coded rows with missing values and counts."""
    rng = np.random.default_rng(seed)
    attributes = (
        Attribute(name="n", kind="numeric", values=np.arange(7) - 2.5),
        Attribute(name="w", kind="nominal", levels=("a", "b", "c", None)),
        Attribute(name="o", kind="ordinal", levels=("S", "M", "L")),
        Attribute(name="d", kind="date", values=np.arange(300) * 10.0),
    )
    codes = tuple(compact(rng.integers(0, size + (size != 4), n), size) for size in SIZES)
    return AuditData(
        attributes=attributes, codes=codes, cells=rng.integers(0, 4, n).astype(np.uint8),
        counts=rng.integers(1, 1000, n), n_cells=4)  # fmt: skip


@st.composite
def criteria(draw: st.DrawFn) -> CodedCriterion:
    chosen = sorted(draw(st.sets(st.integers(0, 3), max_size=4)))
    conditions = []
    for attribute in chosen:
        size = SIZES[attribute]
        if attribute in (1, 2):
            levels = tuple(sorted(draw(st.sets(st.integers(0, size - 1), min_size=1))))
            conditions.append(CodedCondition(attribute, 0, 0, levels))
        else:
            low = draw(st.integers(0, size - 1))
            high = draw(st.integers(low + 1, size))
            conditions.append(CodedCondition(attribute, low, high))
    return tuple(conditions)


@pytest.mark.parametrize("kernel", ["c", "numpy"])
@given(st.lists(criteria(), max_size=8), st.integers(0, 100), st.sampled_from([1, 5, 3000]))
def test_counts_are_those_of_masks(kernel: str, found: list[CodedCriterion], seed: int, n: int) -> None:
    """Counts per criterion and cell are the sums over the rows that satisfy it."""
    data = coded(n, seed)
    expected = [
        [int(data.counts[member_mask(criterion, data) & (data.cells == cell)].sum()) for cell in range(4)]
        for criterion in found
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ALD_KERNEL", kernel)
        patch.setattr("ald.groups.membership._WORTH_A_THREAD", 10)
        for threads in (1, 3):
            assert count_members(found, data, threads).tolist() == expected
            members = Members(found, data.attributes)
            assert members.people(data, threads)[members.which].tolist() == [sum(counts) for counts in expected]


def planted(n: int, seed: int) -> AuditData:
    """Rows whose outcome depends on every attribute, some with a level of 70 that few have."""
    data, rng = coded(n, seed), np.random.default_rng(seed)
    many = Attribute(name="m", kind="nominal", levels=tuple(f"{i}" for i in range(70)))
    codes = (*data.codes, np.minimum(rng.geometric(0.1, n), 69).astype(np.uint8))
    chance = sum(code.astype(float) / max(code.max(), 1) for code in codes) / len(codes)
    cells = 2 * rng.integers(0, 2, n) + (rng.random(n) < chance)
    return AuditData(
        attributes=(*data.attributes, many), codes=codes, cells=cells.astype(np.uint8), counts=data.counts, n_cells=4
    )


@pytest.mark.parametrize("kernel", ["c", "numpy"])
@pytest.mark.parametrize("seed", range(3))
def test_leaves_of_a_forest(monkeypatch: pytest.MonkeyPatch, kernel: str, seed: int) -> None:
    """Sending people down the trees counts the members of every leaf's criterion, also among people never seen."""
    monkeypatch.setenv("ALD_KERNEL", kernel)
    monkeypatch.setattr("ald.data.packing.WORTH_A_THREAD", 10)
    monkeypatch.setattr("ald.groups.membership._ROWS_AT_ONCE", 64)
    grown, others = planted(400, seed), planted(3001, seed + 10)
    # One level of each kind that the forest has not seen.
    kept = (grown.codes[1] != 1) & (grown.codes[2] != 1)
    grown = grown.with_counts(np.where(kept, grown.counts % 5, 0))
    rngs = [np.random.default_rng(i) for i in range(4)]
    forest = grow_forest(grown, RateCounter((SELECTION,), 4), GrowthRules(alpha=0.9), rngs)
    found = candidates(forest, grown)
    assert found.leaves is not None
    assert len(found) > 40
    assert {c.attribute for criterion in found.criteria for c in criterion} == set(range(5))
    expected = count_members(found.criteria, others)
    for threads in (1, 3):
        assert found.leaves.count(others, threads).tolist() == expected.tolist()
    nobody = others.with_counts(np.zeros_like(others.counts))
    assert not found.leaves.count(nobody).any()
    none = Leaves(forest=forest, at=np.zeros(0, np.int64), present={})
    assert none.count(others).shape == (0, 4)


@given(criteria(), st.integers(0, 100))
def test_masks_in_words(criterion: CodedCriterion, seed: int) -> None:
    """The criterion in words selects the same rows of the data in words."""
    data = coded(60, seed)
    columns: dict[str, object] = {}
    for attribute, code in zip(data.attributes, data.codes, strict=True):
        values = attribute.levels if attribute.values is None else tuple(attribute.values.tolist())
        columns[attribute.name] = [(*values, None)[i] for i in code]
    days = [None if day is None else np.datetime64(int(day), "D") for day in columns["d"]]  # type: ignore[attr-defined]
    found = decode(criterion, data.attributes).mask(columns | {"d": days})
    # A numeric condition without bounds asks for a value; in words it is not there.
    bounded = [c for c in criterion if c.levels or (c.low, c.high) != (0, SIZES[c.attribute])]
    if len(bounded) == len(criterion):
        np.testing.assert_array_equal(found, member_mask(criterion, data))
    else:
        assert (found >= member_mask(criterion, data)).all()


@given(st.integers(1, 200), st.integers(0, 10**6), st.sampled_from([0.01, 0.5]))
def test_patterns_of_many_memberships(n: int, seed: int, share: float) -> None:
    """Rows are in one stratum if they are members of the same groups, however many these are; in the groups' order."""
    masks = np.random.default_rng(seed).random((n, 60)) < share
    _, expected = np.unique(masks, axis=1, return_inverse=True)
    assert membership_strata(list(masks)).tolist() == expected.ravel().tolist()


def test_people_are_counted_jointly() -> None:
    """People per combination of columns and of membership in groups, as counted row by row."""
    data = coded(400, 5)
    halves = np.array([0, 0, 0, 1, 1, 1, 1, 2])
    levels = np.arange(5)
    before = ((CodedCondition(2, 0, 0, (0, 2)),), (CodedCondition(3, 20, 200),))
    keys, counts = people_jointly(data, [(0, halves, 3), (1, levels, 5)], before)
    masks = [member_mask(criterion, data).astype(int) for criterion in before]
    rows = zip(halves[data.codes[0]], levels[data.codes[1]], *masks, data.cells, data.counts, strict=True)
    expected = dict.fromkeys(keys.tolist(), np.zeros(4, np.int64))
    for half, level, first, second, cell, n in rows:
        key = int(((half * 5 + level) * 2 + first) * 2 + second)
        expected[key] = expected[key] + n * (np.arange(4) == cell)
    assert {int(key): own.tolist() for key, own in zip(keys, counts, strict=True)} == {
        key: own.tolist() for key, own in expected.items()
    }
