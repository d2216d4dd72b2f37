"""Columns of text: words for "no value", and numbers as people write them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ald
from ald.data.columns import Column
from ald.data.inputs.sources import load
from ald.data.words import NO_VALUE, decimal_commas, read_words, written_numbers


def column(words: list[Any], kind: Any = None) -> Column:
    return load({"x": words}, kinds={} if kind is None else {"x": kind})["x"]


def rows(found: Column) -> list[str | None]:
    words = [*found.words(), None]
    return [words[code] for code in found.codes]


@pytest.mark.parametrize("word", sorted(NO_VALUE))
@pytest.mark.parametrize("change", [str, str.upper, str.title, " {} ".format])
def test_words_for_no_value(word: str, change: Any) -> None:
    """Each of them is missing in a column of words, in any case and with spaces around, and the note counts them."""
    found = column(["a", change(word), "b", change(word)])
    assert rows(found) == ["a", None, "b", None]
    assert found.notes == (
        f"2 values of column 'x' ({change(word)!r}) were read as missing (kind nominal keeps words)",
    )


@pytest.mark.parametrize("word", ["none", "?", "-", ".", "missing", "unknown", "nil", "Namibia"])
def test_words_that_may_be_values(word: str) -> None:
    """Words that often are values stay values among words."""
    assert rows(column(["a", word])) == ["a", word]


@pytest.mark.parametrize(
    ("words", "kind", "kept"),
    [
        (["a", "N/A"], "nominal", ["a", "N/A"]),
        (["low", "N/A", "high"], ["N/A", "low", "high"], ["low", "N/A", "high"]),
        (["low", "N/A", "high"], ["low", "high"], ["low", None, "high"]),
        (["$5", "$6"], "nominal", ["$5", "$6"]),
        (["$5", "$6"], ["$6", "$5"], ["$5", "$6"]),
        (["$5", "N/A"], "numeric", ["5", None]),
        (["yes", "N/A", "no"], "boolean", ["yes", None, "no"]),
    ],
)
def test_kinds_decide(words: list[str], kind: Any, kept: list[str | None]) -> None:
    """A column of kind nominal keeps its words, and one whose levels are given keeps those; others are read."""
    assert rows(column(words, kind).as_kind(kind)) == kept


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        (["$2,210.00", "$5"], [2210, 5]),
        (["-$5", "$-6", "0"], [-5, -6, 0]),
        (["80.0%", "5 %"], [80, 5]),
        (["1,234", "999", "1,000,000.5"], [1234, 999, 1000000.5]),
        (["10 €", "7€"], [10, 7]),
        (["£1", "?"], [1, np.nan]),
    ],
)
def test_numbers_as_people_write_them(words: list[str], numbers: list[float]) -> None:
    """Currencies, percent signs and commas between thousands are taken off."""
    found = written_numbers(words)
    np.testing.assert_array_equal(found, numbers)


@pytest.mark.parametrize(
    "words",
    [
        ["$5", "€6"],
        ["80%", "5"],
        ["1,23", "4"],
        ["1,2345", "6"],
        ["0,123", "4"],
        ["1,234", "about 5"],
        ["$", "5"],
        ["5", "6"],
        ["$%5", "6"],
        ["12,345,678,901,234,567", "1"],
        ["N/A"],
    ],
)
def test_what_is_no_such_number(words: list[str]) -> None:
    """Two currencies, shares among plain numbers, odd commas, other words, and plain numbers are not."""
    assert written_numbers(words) is None


@given(st.lists(st.integers(-(10**9), 10**9), min_size=1, unique=True))
def test_written_numbers_come_back(numbers: list[int]) -> None:
    """Whatever number Python writes with commas is read as that number."""
    found = written_numbers([f"{number:,}%" for number in numbers])
    assert found is not None
    assert found.tolist() == numbers


def test_the_warning_says_what_was_read() -> None:
    """The note of such a column shows one value and its number, and counts words for no value."""
    (note,) = column(["$2,210.00", "$5", "n/a", "n/a"]).notes
    assert note == (
        "column 'x' was read as numbers, '$2,210.00' as 2210.00 (kind nominal keeps words); 2 values of column 'x' "
        "('n/a') as missing"
    )


def test_decimal_commas() -> None:
    """Commas are decimal unless each is followed by three digits, as between thousands."""
    assert decimal_commas(["1,5", "2", "NA"])
    assert not decimal_commas(["1,500", "2"])
    assert not decimal_commas(["1.5", "2,5"])
    assert not decimal_commas(["1", "2"])


def test_reading_again_changes_nothing() -> None:
    """A column that was read is read as it is."""
    for words in (["a", "N/A"], ["$5", "$6"], ["1", "NA"]):
        once = column(words)
        assert read_words(once) == once or once.values is not None
        assert read_words(once).notes == once.notes


def test_notes_count_rows_of_the_data() -> None:
    """Where equal rows were counted, so are the values that were read as missing."""
    plain = load({"x": ["a", "b"]})["x"]
    words = Column(name="x", kind="nominal", codes=plain.codes, levels=("N/A", "b"))
    assert read_words(words, counts=np.array([7, 2])).notes[0].startswith("7 values")


@pytest.mark.parametrize("words", [["N/A", "a", "b"], ["$1,200", "$5", "N/A"], ["1", "NA", "3"], ["1,5", "2", "NA"]])
def test_the_same_from_every_input(tmp_path: Path, words: list[str]) -> None:
    """Files, DataFrames, lazy ones and dictionaries are read alike."""
    import duckdb
    import polars as pl

    frame = pd.DataFrame({"x": words * 20, "y": range(20 * len(words))})
    frame.to_csv(tmp_path / "x.csv", index=False)
    frame.to_parquet(tmp_path / "x.parquet")
    connection = duckdb.connect()
    relation = connection.from_df(frame)
    inputs = [str(tmp_path / "x.csv"), str(tmp_path / "x.parquet"), frame, pl.DataFrame(frame), relation]
    expected = load({name: list(frame[name]) for name in frame})["x"]
    for data in inputs:
        found = load(data)["x"]
        assert (found.kind, rows(found), found.notes) == (expected.kind, rows(expected), expected.notes)


def test_masks_of_words_that_were_kept() -> None:
    """A group that names such a word finds its members, though the data is read anew."""
    rng = np.random.default_rng(0)
    answer = rng.choice(["N/A", "a", "b"], 600)
    data = {"x": answer.tolist(), "y": (rng.random(600) < np.where(answer == "N/A", 0.9, 0.2)).astype(int).tolist()}
    (found, *_) = ald.audit(ald.source(data, kinds={"x": "nominal"}), outcome="y", search=ald.Search(trees=2)).groups
    assert (found.criterion.mask(data) == (answer == "N/A")).all()
    (missing, *_) = ald.audit(data, outcome="y", search=ald.Search(trees=2)).groups
    assert (missing.criterion.mask(data) == (answer == "N/A")).all()
