"""Draws by hash: independent trials with the right chance, and the same wherever a row is."""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ald.data import hashing
from ald.data.coded import Attribute, AuditData
from ald.data.design import Design
from ald.data.hashing import drawn, firsts, key_of, row_hashes, salt, smallest, sum_hashes, value_hashes
from ald.data.inputs.sources import load

GOLDEN = 0x9E3779B97F4A7C15


def coded(rows: int = 40_000, most: int = 1, seed: int = 0) -> AuditData:
    rng = np.random.default_rng(seed)
    attributes = (
        Attribute(name="a", kind="numeric", values=np.arange(300.0)),
        Attribute(name="b", kind="nominal", levels=tuple(map(str, range(200)))),
    )
    place = rng.permutation(300 * 200)[:rows]
    return AuditData(
        attributes=attributes,
        codes=((place // 200).astype(np.uint16), (place % 200).astype(np.uint8)),
        cells=(rng.random(rows) < 0.3).astype(np.uint8),
        counts=rng.integers(1, most + 1, rows),
        n_cells=2,
    )


def mixed(x: int) -> int:
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) % 2**64
    return x ^ (x >> 31)


def of_text(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


def of_number(number: float) -> int:
    return mixed((int(np.float64(number).view(np.uint64)) + GOLDEN) % 2**64)


@pytest.mark.parametrize("kernel", ["c", "numpy"])
def test_a_known_number(monkeypatch: pytest.MonkeyPatch, kernel: str) -> None:
    """Hash and draws are what the documentation says, computed here by whole numbers of Python."""
    monkeypatch.setenv("ALD_KERNEL", kernel)
    data = AuditData(
        attributes=(
            Attribute(name="age", kind="numeric", values=np.array([20.0, 30.5])),
            Attribute(name="place", kind="nominal", levels=("north", None)),
        ),
        codes=(np.array([1], np.uint8), np.array([0], np.uint8)),
        cells=np.array([1], np.uint8),
        counts=np.array([51]),
        n_cells=2,
    )
    parts = [(of_number(30.5), "age"), (of_text("north"), "place")]
    expected = sum(mixed((value + of_text(name)) % 2**64) for value, name in parts)
    expected = (expected + mixed(1 + int.from_bytes(b"cell", "big"))) % 2**64
    assert int(row_hashes(data)[0]) == expected
    key = salt(7, 2, 3)
    words = [mixed(((expected + k * GOLDEN) % 2**64) ^ key) for k in range(26)]
    people = [half for word in words for half in (word % 2**32, word >> 32)][:51]
    bound = round(0.632 * 2**32)
    assert drawn(row_hashes(data), data.counts, 0.632, key).tolist() == [sum(one < bound for one in people)]


def table_hashes(columns: Any) -> list[int]:
    """The hash of every row of a table, with all of its columns as attributes."""
    from ald.data.coded import attribute_of

    found = [attribute_of(column) for column in load(columns).columns.values()]
    rows = len(found[0][1])
    return sum_hashes([(codes, value_hashes(attribute)) for attribute, codes in found], rows).tolist()


NUMBERS = [3, 1, 12, 1]


@pytest.mark.parametrize(
    "other",
    [
        pd.Series(NUMBERS, dtype="int8"),
        pd.Series(NUMBERS, dtype="float64"),
        pd.Series(NUMBERS, dtype="Int64"),
        pd.Series(["3", "1", "12", "1"]),
        pd.Series([3, 1, 12, 1], dtype="category"),
        pd.Series(["3", "1", "12", "1"], dtype="category"),
        pd.Series([3.0, 1.0, 12.0, 1.0], dtype=object),
    ],
    ids=["int8", "float", "nullable", "text", "category", "text category", "objects"],
)
def test_a_value_is_the_same_in_every_type(other: pd.Series[Any]) -> None:
    """Numbers as integers, floats, texts and categories have one hash."""
    assert table_hashes({"x": np.array(NUMBERS)}) == table_hashes(pd.DataFrame({"x": other}))


def test_truth_values_and_times_are_the_same_in_every_type() -> None:
    """Truth values are 0 and 1, as text too; dates are times at midnight."""
    truth = table_hashes({"x": np.array([True, False])})
    assert table_hashes({"x": np.array([1, 0])}) == truth
    assert table_hashes(pd.DataFrame({"x": ["True", "False"]}).astype("category")) != [0, 0]
    days = pd.Series(pd.to_datetime(["2024-01-02", "2024-03-01"]))
    hour = pd.concat([days, pd.Series([pd.Timestamp("2024-01-02 01:00")])], ignore_index=True)
    assert table_hashes(pd.DataFrame({"x": days})) == table_hashes(pd.DataFrame({"x": hour}))[:2]


def test_missing_values_have_a_hash_of_their_own() -> None:
    """The same in every kind of column, and not that of any value."""
    as_number, as_word = (table_hashes({"x": values}) for values in ([None, 1.0, 2.0], [None, "a", "b"]))
    assert as_number[0] == as_word[0]
    assert len({*as_number, *as_word}) == 5


def test_codes_and_the_order_of_columns_do_not_count() -> None:
    """Other rows give a value another code, but no other hash; names belong to values."""
    first = {"x": ["b", "c"], "y": [5, 7]}
    assert table_hashes({"y": [5, 7, 1], "x": ["b", "c", "a"]})[:2] == table_hashes(first)
    assert table_hashes({"x": [5, 7], "y": ["b", "c"]}) != table_hashes(first)


@pytest.mark.parametrize("rows", [0, 1, 5000, 300_000])
def test_hashes_and_draws_are_the_same_with_and_without_the_kernel(monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    """To the last bit, with any number of threads."""
    rng = np.random.default_rng(rows)
    parts = [
        (rng.integers(0, size, rows).astype(dtype), rng.integers(0, 2**64, size, np.uint64))
        for size, dtype in ((200, np.uint8), (4000, np.uint16), (70_000, np.uint32))
    ]
    counts = rng.integers(0, 6, rows)
    ours = sum_hashes(parts, rows, threads=4)
    mine = drawn(ours, counts, 0.3, 11)
    monkeypatch.setenv("ALD_KERNEL", "numpy")
    assert (sum_hashes(parts, rows) == ours).all()
    assert (drawn(ours, counts, 0.3, 11) == mine).all()


@pytest.mark.parametrize("most", [1, 5])
def test_draws_do_not_depend_on_the_order_of_rows(most: int) -> None:
    """The same row gets the same draw wherever it is."""
    data = coded(most=most)
    order = np.random.default_rng(1).permutation(len(data.cells))
    found = drawn(row_hashes(data), data.counts, 0.632, 4)
    assert (drawn(row_hashes(data)[order], data.counts[order], 0.632, 4) == found[order]).all()


@pytest.mark.parametrize("most", [1, 5])
def test_draws_are_independent_trials(most: int) -> None:
    """Shares are right, and so is the share of those that two keys have in common."""
    data = coded(most=most)
    n = int(data.counts.sum())
    first = drawn(row_hashes(data), data.counts, 0.5, salt(0, 1))
    assert first.max() <= most
    assert abs(first.sum() - 0.5 * n) < 4 * np.sqrt(0.25 * n)
    if most == 1:
        for key in (salt(0, 2), salt(0, 2, 1), salt(1, 1)):
            both = (first * drawn(row_hashes(data), data.counts, 0.632, key)).sum()
            assert abs(both - 0.316 * n) < 4 * np.sqrt(0.316 * 0.684 * n)
    # Outcomes and values are as frequent among those drawn as among all.
    for values in (data.cells, data.codes[0] % 2, data.codes[1] % 2):
        share, chance = (first * values).sum() / first.sum(), (data.counts * values).sum() / n
        assert abs(share - chance) < 4 * np.sqrt(chance * (1 - chance) / n)


@pytest.mark.parametrize(("count", "share"), [(7, 0.632), (60, 0.5), (30_000, 0.632), (10**12, 0.3)])
def test_the_number_drawn_is_binomial(count: int, share: float) -> None:
    """Of few people and of very many, for whom nobody tosses all the coins."""
    rng = np.random.default_rng(count)
    found = drawn(rng.integers(0, 2**64, 4000, np.uint64), np.full(4000, count), share, 5)
    assert found.min() >= 0
    assert found.max() <= count
    smoothed = found + rng.random(4000) - 0.5
    theirs = rng.binomial(count, share, 200_000) + rng.random(200_000) - 0.5
    assert stats.ks_2samp(smoothed, theirs).pvalue > 1e-3


def test_one_more_person_changes_no_other_draw() -> None:
    """The k-th person of a row has the k-th draw of its hash."""
    hashes = row_hashes(coded(2000))
    found = [drawn(hashes, np.full(2000, n), 0.5, 9) for n in range(8)]
    assert all(set(np.unique(more - less).tolist()) == {0, 1} for less, more in pairwise(found))


@given(st.lists(st.integers(0, 30), max_size=300))
def test_equal_hashes_are_found(hashes: list[int]) -> None:
    """With the first row that has each, with and without the kernel."""
    array = np.array(hashes, np.uint64)
    expected = [hashes.index(one) for one in hashes]
    for kernel in ("c", "numpy"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ALD_KERNEL", kernel)
            found = firsts(array)
        assert (list(range(len(hashes))) if found is None else found.tolist()) == expected


def test_clusters_are_drawn_without_replacement() -> None:
    """So many as wanted, by their hashes, whatever their order."""
    hashes = np.random.default_rng(0).integers(0, 2**64, 100, np.uint64)
    chosen = set(hashes[smallest(hashes, 30, 1)].tolist())
    assert len(chosen) == 30
    assert set(hashes[::-1][smallest(hashes[::-1], 30, 1)].tolist()) == chosen
    assert set(hashes[smallest(hashes, 30, 2)].tolist()) != chosen


def test_keys_follow_from_seeds() -> None:
    """One seed gives one key, another one another; they use all bits."""
    keys = [key_of(np.random.default_rng(seed)) for seed in range(200)]
    assert len(set(keys)) == 200
    assert keys[3] == key_of(np.random.default_rng(3))
    assert max(keys) > 2**63


def test_rows_keep_their_hashes() -> None:
    """A row that is seen without an attribute or with other cells is drawn as before."""
    data = coded(500)
    whole = replace(data, hashes=row_hashes(data))
    less = replace(whole, attributes=whole.attributes[:1], codes=whole.codes[:1], design=Design())
    assert row_hashes(less.with_cells(np.array([0, 0]), 1)).tolist() == row_hashes(data).tolist()
    some = np.where(np.arange(500) % 3 == 0, 1, 0)
    assert row_hashes(less.with_counts(some)).tolist() == row_hashes(data)[::3].tolist()


def test_codes_must_fit_their_numbers() -> None:
    """What does not fit is an error, never a read out of bounds."""
    kernel = pytest.importorskip("ald.data._draw", reason="needs the compiled kernels, which were not built")
    table, out = np.zeros(3, np.uint64), np.zeros(2, np.uint64)
    codes, hashes, people = np.array([0, 3], np.uint8), np.zeros(2, np.uint64), np.zeros(2, np.int64)
    for wrong in (
        lambda: kernel.add([codes], table, np.array([0, 3]), out),
        lambda: kernel.add([codes], table, np.array([0, 4]), out),
        lambda: kernel.add([codes], table, np.array([0, 1, 3]), out),
        lambda: kernel.add([codes.astype(np.uint16)], table, np.array([0, 3]), out),
        lambda: kernel.add([codes.astype(np.uint32)], table, np.array([0, 3]), out),
        lambda: kernel.draw(hashes, people[:1], 1, 1, people),
        lambda: kernel.draw(hashes, people, 1, 1, people[:1]),
        lambda: kernel.draw_bits(hashes, 1, 1, np.zeros(2, np.uint64)),
        lambda: kernel.firsts(hashes, np.zeros(1, np.uint32)),
    ):
        with pytest.raises(ValueError, match="do not fit"):
            wrong()
    assert hashing.sum_hashes([], 2).tolist() == [0, 0]
