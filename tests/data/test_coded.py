"""Coded data: merging, drawing, halves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ald
from ald.assess.assessment import assess
from ald.data import coded
from ald.data.coded import (
    Attribute,
    AuditData,
    as_counts,
    attribute_of,
    encode,
    merge,
    number_values,
    weighted_bincount,
)
from ald.data.columns import compact, from_levels, from_numbers
from ald.groups.rules import candidates
from ald.notions import NOTIONS, SELECTION, RateCounter
from ald.search.forest.counting import MemoryCounter, Routing
from ald.search.forest.growth import grow
from ald.search.forest.histograms import HistogramSplitter
from ald.search.forest.rules import GrowthRules
from tests import coded as tables
from tests.coded import surveyed
from tests.tables import people


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2**40)), min_size=1))
def test_weighted_counts_are_exact(pairs: list[tuple[int, int]]) -> None:
    """Sums of counts per code are exact integers."""
    codes, counts = (np.array(part) for part in zip(*pairs, strict=True))
    expected = [sum(n for code, n in pairs if code == k) for k in range(5)]
    assert weighted_bincount(codes, counts, 5).tolist() == expected


def test_weighted_counts_beyond_floating_point() -> None:
    """Sums that a double cannot hold are exact too."""
    assert weighted_bincount(np.array([0, 0]), np.array([2**53, 1]), 1).tolist() == [2**53 + 1]


def coded_data(n: int, seed: int = 0) -> AuditData:
    """Unmerged data of a numeric, a nominal and an ordinal attribute with missing values."""
    rng = np.random.default_rng(seed)
    sizes = (6, 4, 3)
    codes = [rng.integers(0, size + 1, n) for size in sizes]
    cells = (rng.random(n) < 0.2 + 0.1 * codes[0]).astype(np.uint8)
    attributes = (
        Attribute(name="n", kind="numeric", values=np.arange(6) * 1.5),
        Attribute(name="w", kind="nominal", levels=("a", "b", "c", "d")),
        Attribute(name="o", kind="ordinal", levels=("S", "M", "L")),
    )
    columns = tuple(compact(code, size) for code, size in zip(codes, sizes, strict=True))
    return AuditData(attributes=attributes, codes=columns, cells=cells, counts=np.ones(n, np.int64), n_cells=2)


def as_dict(data: AuditData) -> dict[tuple[int, ...], int]:
    """People per combination of codes and cell."""
    out: dict[tuple[int, ...], int] = {}
    for *key, n in zip(*(code.tolist() for code in data.codes), data.cells.tolist(), data.counts.tolist(), strict=True):
        out[tuple(key)] = out.get(tuple(key), 0) + n
    return out


@given(st.integers(1, 300), st.integers(0, 100), st.sampled_from([0, 8, 10**9]))
def test_merging_is_exact(n: int, seed: int, dense_keys: int) -> None:
    """Merged rows are distinct, in order, and stand for the same people, by sorting as by counting."""
    data = coded_data(n, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coded, "_DENSE_KEYS", dense_keys)
        merged = merge(data)
    assert as_dict(merged) == as_dict(data)
    keys = list(zip(*(code.tolist() for code in merged.codes), merged.cells.tolist(), strict=True))
    assert keys == sorted(set(keys))


def test_merging_does_not_depend_on_the_order_of_rows() -> None:
    """Shuffled rows merge to the same arrays."""
    data = coded_data(500)
    order = np.random.default_rng(0).permutation(500)
    shuffled = AuditData(
        attributes=data.attributes,
        codes=tuple(code[order] for code in data.codes),
        cells=data.cells[order],
        counts=data.counts,
        n_cells=2,
    )
    a, b = merge(data), merge(shuffled)
    assert [code.tolist() for code in a.codes] == [code.tolist() for code in b.codes]
    assert (a.cells.tolist(), a.counts.tolist()) == (b.cells.tolist(), b.counts.tolist())


def test_merging_more_attributes_than_a_key_can_hold() -> None:
    """Forty attributes of many values merge without overflow."""
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 1000, (50, 40))
    picked = rows[rng.integers(0, 50, 400)]
    columns = [from_numbers(f"x{i}", picked[:, i]) for i in range(40)]
    merged = encode(columns, np.zeros(400, np.uint8), None, 2)
    assert len(merged.cells) == len(np.unique(picked, axis=0))
    assert merged.total == 400


@pytest.mark.parametrize("n_levels", [254, 255, 256, 65534, 65535, 65536])
def test_missing_as_a_level_fits_the_codes(n_levels: int) -> None:
    """The extra level for missing values has its own code at every width of the codes."""
    codes = np.append(np.arange(n_levels), -1)
    column = from_levels("x", codes, [f"{i:06}" for i in range(n_levels)])
    data = encode([column], np.zeros(n_levels + 1, np.uint8), None, 2)
    (attribute,) = data.attributes
    assert attribute.levels[-1] is None
    assert data.codes[0].tolist() == list(range(n_levels + 1))
    assert np.iinfo(data.codes[0].dtype).max >= attribute.size


@pytest.mark.parametrize(
    ("values", "low", "high", "text"),
    [
        ([0.0, 1.0], 1, 2, "x = 1"),
        ([0.5, 1.5], 0, 1, "x = 0.5"),
        ([1.0, 2.0, 4.0], 1, 2, "x = 2"),
        ([1.0, 2.0, 4.0], 0, 1, "x = 1"),
        ([1.0, 2.0, 4.0], 2, 3, "x = 4"),
        ([1.0, 2.0, 4.0], 0, 2, "x <= 2"),
        ([1.0, 2.0, 4.0], 1, 3, "x > 1"),
        ([0.5, 1.0, 2.0], 1, 2, "0.5 < x <= 1"),
    ],
)
def test_single_values_are_named(values: list[float], low: int, high: int, text: str) -> None:
    """A range of one whole number, and one of two values, are named as that value; other numbers by their bounds."""
    attribute, _ = attribute_of(from_numbers("x", np.array([*values, np.nan])))
    assert str(attribute.condition(low, high)) == text


def test_a_bin_is_no_single_value() -> None:
    """Where numbers were cut into bins, one of them holds more than its largest value, and has bounds."""
    attribute, _ = attribute_of(replace(from_numbers("x", np.array([1.0, 5.0, 9.0])), binned=True))
    assert str(attribute.condition(1, 2)) == "1 < x <= 5"


@pytest.mark.parametrize(
    ("levels", "codes", "text"),
    [
        ("abcde", [0, 1, 2, 3], "x != e"),
        ("abcdef", [0, 1, 2, 5], "x not in {d, e}"),
        ("abcdefg", [0, 1, 2, 5], "x in {a, b, c, f}"),
        ("abcd", [0, 1, 2], "x in {a, b, c}"),
        (["a", "b", "c", "d", "e", None], [0, 1, 2, 3], "x != e"),
        (["a", "b", "c", "d", None], [0, 1, 2, 3], "x is not missing"),
        (["a", "b", "c", "d", None], [0, 1, 2, 4], "x in {a, b, c, missing}"),
    ],
)
def test_many_levels_are_told_by_the_others(levels: Any, codes: list[int], text: str) -> None:
    """Four levels and more are told by those that they lack, where these are half as many at most; never with a missing
    value among them, which no negation names. The condition holds for the levels named, and no others."""
    codes_of = [-1 if level is None else "abcdefg".index(level) for level in levels]
    column = from_levels("x", np.array(codes_of), "abcdefg")
    attribute, coded_as = attribute_of(column)
    condition = attribute.level_condition(codes)
    assert str(condition) == text
    assert column.matches(condition).tolist() == [code in codes for code in coded_as]


def test_ordered_levels_are_always_named() -> None:
    """Levels with an order are named one by one, since a level that the search never saw satisfies no condition."""
    attribute, _ = attribute_of(from_levels("x", np.arange(6), "abcdef", ordered=True))
    assert str(attribute.level_condition([0, 1, 2, 3, 4])) == "x in {a, b, c, d, e}"


def test_ranks_of_ordered_levels_count_those_that_occur() -> None:
    """A level without rows in the data takes no rank."""
    data = coded_data(100)
    some = data.with_counts(np.where(data.codes[2] == 1, 0, 1))
    assert some.scores()[2].tolist() == [1, 1, 2]


def test_halves() -> None:
    """D1 and D2 are disjoint, together everyone, of about the right sizes, and without empty cells."""
    data = merge(coded_data(501))
    first, second = data.halves(np.random.default_rng(0))
    assert first.total + second.total == 501
    assert abs(first.total - 250) < 4 * np.sqrt(501 / 4)
    whole = as_dict(first)
    for key, n in as_dict(second).items():
        whole[key] = whole.get(key, 0) + n
    assert whole == as_dict(data)
    assert first.counts.min() > 0


@pytest.mark.parametrize("kernel", ["c", "numpy"])
def test_many_rows_are_merged_by_their_hashes(monkeypatch: pytest.MonkeyPatch, kernel: str) -> None:
    """Above the limit rows are not sorted: those that are alike become one, in the order in which they came."""
    monkeypatch.setenv("ALD_KERNEL", kernel)
    monkeypatch.setattr(coded, "SORTED_ROWS", 1000)
    monkeypatch.setattr(coded, "_DENSE_KEYS", 0)
    rng = np.random.default_rng(0)
    values, cells = rng.integers(0, 4000, 9000), np.zeros(9000, np.uint8)
    columns = [from_numbers("x", values * 1.5), from_numbers("y", values % 7)]
    counts = rng.integers(1, 4, 9000)
    found = encode(columns, cells, counts, 2)
    _, first = np.unique(values, return_index=True)
    assert found.codes[0].tolist() == columns[0].codes[np.sort(first)].tolist()
    assert as_dict(found) == as_dict(AuditData(**{**vars_of(found), "codes": tuple(c.codes for c in columns),
                                                  "cells": cells, "counts": counts}))  # fmt: skip
    assert len(encode([from_numbers("x", np.arange(9000) * 0.5)], cells, None, 2).cells) == 9000
    few = encode([from_numbers("x", values % 900)], cells, None, 2)
    assert few.codes[0].tolist() == list(range(900))


def test_different_rows_of_one_hash_stay_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are merged because they are alike, never because their hashes are."""
    monkeypatch.setattr(coded, "SORTED_ROWS", 10)
    monkeypatch.setattr(coded, "_DENSE_KEYS", 0)
    monkeypatch.setattr(coded, "row_hashes", lambda data: np.zeros(len(data.cells), np.uint64))
    assert len(encode([from_numbers("x", np.arange(50) % 40)], np.zeros(50, np.uint8), None, 2).cells) == 40


def vars_of(data: AuditData) -> dict[str, Any]:
    return {name: getattr(data, name) for name in ("attributes", "codes", "cells", "counts", "n_cells")}


class TestMergedAndUnmerged:
    """Whether rows are merged changes no number."""

    def pair(self) -> tuple[AuditData, list[np.ndarray], AuditData, list[np.ndarray]]:
        """Data with samples of its rows, and the same merged."""
        data = coded_data(2000)
        merged = merge(data)
        key = {
            row: i for i, row in enumerate(zip(*(c.tolist() for c in merged.codes), merged.cells.tolist(), strict=True))
        }
        where = np.array([key[row] for row in zip(*(c.tolist() for c in data.codes), data.cells.tolist(), strict=True)])
        rng = np.random.default_rng(5)
        samples = [(rng.random(2000) < 0.6).astype(np.int64) for _ in range(3)]
        merged_samples = [
            np.bincount(where, sample, minlength=len(merged.cells)).astype(np.int64) for sample in samples
        ]
        return data, samples, merged, merged_samples

    def test_histograms(self) -> None:
        """Histograms of given samples agree, at the roots and after a split."""
        data, samples, merged, merged_samples = self.pair()
        counters = [MemoryCounter(data, samples), MemoryCounter(merged, merged_samples)]
        routing = Routing(
            nodes=np.array([0, 2]),
            attributes=np.array([0, 1]),
            sizes=np.array([6, 4]),
            cut=np.array([1, -1]),
            of_split=np.array([1, 1, 1, 1]),
            codes=np.arange(4),
            goes_left=np.array([False, True, False, True]),
            missing_left=np.array([False, False]),
        )
        assert routing.tables.tolist() == [1, 1, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0]
        assert routing.offsets.tolist() == [0, 7, 12]
        for _ in range(2):
            nodes, attributes = (part.ravel() for part in np.meshgrid(np.arange(3), np.arange(3)))
            a, b = (counter.histograms(nodes, attributes) for counter in counters)
            assert a.offsets.tolist() == b.offsets.tolist()
            assert a.codes.tolist() == b.codes.tolist()
            assert a.counts.tolist() == b.counts.tolist()
            for counter in counters:
                counter.split(routing)

    def test_trees_and_assessments(self) -> None:
        """Trees grown on given samples agree, and so do the assessments of their leaves."""
        data, samples, merged, merged_samples = self.pair()
        rates = RateCounter([SELECTION], 2)
        found: list[Any] = []
        for table, draws in ((data, samples), (merged, merged_samples)):
            rngs = [np.random.default_rng(i) for i in range(3)]
            splitter = HistogramSplitter(MemoryCounter(table, draws))
            forest = grow(splitter, table.attributes, table.scores(), rates, GrowthRules(alpha=0.5), rngs)
            proposed = candidates(forest, table)
            result = assess(proposed.criteria, table, NOTIONS["statistical parity"])
            found.append(
                (forest.with_attributes(table.attributes).to_dict(), proposed.criteria, result.inside.tolist())
            )
        assert found[0] == found[1]
        assert len(found[0][1]) > 3

    @pytest.mark.parametrize("kernel", ["c", "numpy"])
    @pytest.mark.parametrize("search", ["default", "paper"])
    def test_a_whole_audit(self, monkeypatch: pytest.MonkeyPatch, search: Any, kernel: str) -> None:
        """Rows that are not sorted, in another order, give the same bytes."""
        columns = people(1500)
        asked: dict[str, Any] = {"outcome": "y", "search": ald.Search(search, trees=3)}
        expected = ald.audit(columns, **asked).to_json()
        monkeypatch.setattr(coded, "SORTED_ROWS", 0)
        monkeypatch.setattr(coded, "_DENSE_KEYS", 0)
        monkeypatch.setenv("ALD_KERNEL", kernel)
        order = np.random.default_rng(0).permutation(1500)
        mixed = {name: [values[i] for i in order] for name, values in columns.items()}
        assert ald.audit(mixed, **asked).to_json() == expected


@given(st.lists(st.integers(0, 500), max_size=60))
def test_numbered(values: list[int]) -> None:
    """Integers are numbered as NumPy's unique does it, dense ones and sparse ones."""
    array = np.array(values, dtype=np.int64)
    distinct, numbers = np.unique(array, return_inverse=True)
    found = number_values(array)
    assert (found[0].tolist(), found[1].tolist()) == (distinct.tolist(), numbers.tolist())


@given(st.lists(st.floats(0.001, 500), min_size=2, max_size=60))
def test_weights_become_people(weights: list[float]) -> None:
    """As many people in all as rows; the first so many rows always hold their weight, to within a person."""
    data = surveyed(weights)
    counted = as_counts(data)
    assert counted.total == len(weights)
    assert (counted.counts > 0).all()
    # Rows that stand for nobody are dropped; put them back as 0 to compare.
    assert data.design.weights is not None
    people = np.zeros(len(weights), np.int64)
    position = {code: i for i, code in enumerate(data.codes[1].tolist())}
    for code, count in zip(counted.codes[1].tolist(), counted.counts.tolist(), strict=True):
        people[position[code]] = count
    wanted = data.design.weights * len(weights) / data.design.weights.sum()
    assert np.abs(np.cumsum(people) - np.cumsum(wanted)).max() <= 0.5 + 1e-6


def test_groups_keep_their_weight() -> None:
    """Rows that are alike stand next to each other, so that levels of the first attribute keep their weight too."""
    rng = np.random.default_rng(1)
    data = surveyed(rng.exponential(1.0, 3000).tolist())
    counted = as_counts(data)
    assert data.design.weights is not None
    for level in range(3):
        wanted = data.design.weights[data.codes[0] == level].sum() * 3000 / data.design.weights.sum()
        assert abs(counted.counts[counted.codes[0] == level].sum() - wanted) <= 1.0


def test_without_weights_nothing_changes() -> None:
    """Data without survey weights is taken as it is."""
    data = tables.coded({"a": list("pqpq"), "y": [0, 1, 1, 0]})
    assert as_counts(data) is data
