"""Arrays of text as codes: what a dictionary would give, or nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ald.data.columns import from_objects
from ald.data.sources import from_array
from ald.data.texts import code_texts

WORDS = st.text(st.sampled_from("ab ÄΩ\U0001f600\n-0"), max_size=5).map(lambda word: word.rstrip("\0"))


@given(st.lists(WORDS, min_size=1, max_size=40))
def test_codes_stand_for_the_texts_in_order(words: list[str]) -> None:
    """Every code stands for its row's text, and distinct texts are in the order of their characters."""
    found = code_texts(np.array(words))
    if found is None:
        # Rare characters are too many to tell apart by counting in few rows.
        return
    codes, distinct = found
    assert [distinct[code] for code in codes.tolist()] == words
    assert distinct == sorted(set(words))


@given(st.lists(st.text(st.sampled_from("abc"), max_size=4), min_size=1, max_size=40))
def test_a_column_of_texts_is_that_of_its_objects(words: list[str]) -> None:
    """An array of text gives the same column as the list of its values."""
    column, expected = from_array("g", np.array(words)), from_objects("g", words)
    assert (column.kind, column.levels) == (expected.kind, expected.levels)
    assert column.codes.tolist() == expected.codes.tolist()
    assert column.codes.dtype == expected.codes.dtype


@pytest.mark.parametrize(
    "texts",
    [
        np.array([], dtype="U3"), np.array(["", ""]), np.array(["a" * 40]), np.array([b"a"]), np.array([1]),
        np.array(["a", "b"], dtype=">U1"), np.array(["\U0010ffff\U0010ffff"]),
    ],
    ids=["none", "empty", "wide", "bytes", "numbers", "foreign", "rare"],
)  # fmt: skip
def test_other_arrays_are_left_to_others(texts: np.ndarray) -> None:
    """Arrays that are not narrow texts of this machine, or have too many characters, are not coded here."""
    assert code_texts(texts) is None or texts.dtype.isnative
    if texts.dtype.kind == "U" and len(texts):
        column = from_array("g", texts)
        assert [column.levels[code] for code in column.codes.tolist()] == texts.tolist()


def test_some_rows_of_an_array() -> None:
    """An array that is not contiguous is read where its values are."""
    texts = np.array(["x", "a", "y", "b", "x", "c"])
    assert code_texts(texts[::2]) is not None
    assert from_array("g", texts[::2]).levels == ("x", "y")
