"""Members of criteria: counts, masks of coded rows, and masks of the data in words agree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ald.data.coded import Attribute, AuditData
from ald.data.columns import compact
from ald.search.membership import count_members, member_mask
from ald.search.rules import decode
from ald.search.tree import CodedCondition, CodedCriterion

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
        patch.setattr("ald.search.membership._WORTH_A_THREAD", 10)
        for threads in (1, 3):
            assert count_members(found, data, threads).tolist() == expected


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
