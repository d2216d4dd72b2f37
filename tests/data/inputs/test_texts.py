"""Texts as codes: what a dictionary would give, or nothing."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ald.data.columns import from_objects
from ald.data.inputs.frames import read_series
from ald.data.inputs.sources import from_array
from ald.data.inputs.texts import code_chunks, code_texts

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


TEXTS = st.text(st.sampled_from("aé😀\x00 zZ"), max_size=20) | st.sampled_from(["x" * 17, "x" * 8 + "y" + "x" * 8, ""])


@given(
    values=st.lists(TEXTS | st.none(), max_size=60),
    cuts=st.lists(st.integers(0, 60), max_size=3),
    wide=st.booleans(),
    skipped=st.integers(0, 3),
)
def test_texts_in_buffers_are_coded_in_the_order_of_appearance(
    values: list[str | None], cuts: list[int], wide: bool, skipped: int
) -> None:
    """Whatever the chunks, wherever they begin, with missing values, and for texts that differ in the middle only."""
    pa = pytest.importorskip("pyarrow")
    pytest.importorskip("ald.data.inputs._texts", reason="needs the compiled kernels, which were not built")
    kind = pa.large_string() if wide else pa.string()
    edges = [0, *sorted(min(cut, len(values)) for cut in cuts), len(values)]
    pieces = [pa.array([*["skipped"] * skipped, *values[a:b]], kind).slice(skipped) for a, b in pairwise(edges)]
    coded = code_chunks([chunk_of(piece, 8 if wide else 4) for piece in pieces])
    assert coded is not None
    codes, first = coded
    distinct = list(dict.fromkeys(value for value in values if value is not None))
    assert [values[row] for row in first.tolist()] == distinct
    assert codes.tolist() == [-1 if value is None else distinct.index(value) for value in values]


def chunk_of(piece: Any, width: int) -> tuple[Any, ...]:
    valid, offsets, data = piece.buffers()
    return width, offsets, data, valid, piece.offset, len(piece)


def test_very_many_texts_are_left_to_others() -> None:
    """4,096 distinct texts are coded, one more is too many."""
    pa = pytest.importorskip("pyarrow")
    pytest.importorskip("ald.data.inputs._texts", reason="needs the compiled kernels, which were not built")
    texts = [f"text number {i}" for i in range(4097)]
    coded = code_chunks([chunk_of(pa.array(texts[:4096] * 2, pa.string()), 4)])
    assert coded is not None
    assert coded[0].tolist() == [*range(4096)] * 2
    assert code_chunks([chunk_of(pa.array(texts, pa.string()), 4)]) is None


@pytest.mark.parametrize(
    "chunk",
    [
        (4, np.array([0, 1], np.int32), b"a", None, 0, 2),
        (4, np.array([0, 1], np.int32), b"a", None, 1, 1),
        (8, np.array([0, 1], np.int32), b"a", None, 0, 1),
        (2, np.array([0, 1], np.int16), b"a", None, 0, 1),
        (4, np.array([0, 1], np.int32), b"a", b"", 0, 1),
        (4, np.array([0, 1], np.int32), b"a", None, -1, 1),
        (4, np.array([0, 1], np.int32), b"a", None, 2**63 - 1, 1),
        (4, np.array([0, 1], np.int32), b"a", None, 2**63 - 2, 2),
    ],
)
def test_chunks_must_be_as_they_say(chunk: tuple[Any, ...]) -> None:
    """Buffers that are too short are errors, never reads out of bounds."""
    kernel = pytest.importorskip("ald.data.inputs._texts", reason="needs the compiled kernels, which were not built")
    width, offsets, *rest = chunk
    with pytest.raises(ValueError, match="does not fit"):
        kernel.code([(width, offsets.tobytes(), *rest)], np.empty(2, np.int64), np.empty(4096, np.int64))


@pytest.mark.parametrize("chunks", [(), [[4, b"", b"", None, 0, 0]]])
def test_chunks_are_tuples_in_a_list(chunks: Any) -> None:
    """Anything else is an error that says so."""
    kernel = pytest.importorskip("ald.data.inputs._texts", reason="needs the compiled kernels, which were not built")
    with pytest.raises(TypeError):
        kernel.code(chunks, np.empty(2, np.int64), np.empty(4096, np.int64))


@pytest.mark.parametrize("offsets", [[0, 2], [-1, 1], [1, 0], [3, 3]])
def test_offsets_that_lead_out_of_the_bytes_are_not_followed(offsets: list[int]) -> None:
    """Such a chunk is left to others."""
    kernel = pytest.importorskip("ald.data.inputs._texts", reason="needs the compiled kernels, which were not built")
    chunk = (4, np.array(offsets, np.int32).tobytes(), b"a", None, 0, 1)
    assert kernel.code([chunk], np.empty(1, np.int64), np.empty(4096, np.int64)) == -1


def test_frames_are_the_same_without_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns of text of pandas have the same codes and levels, whoever codes them."""
    pd = pytest.importorskip("pandas")
    words = pd.Series(["b", None, "a", "b", "", "c" * 30], dtype="str", name="word")
    ours = read_series("word", words)
    monkeypatch.setenv("ALD_KERNEL", "numpy")
    theirs = read_series("word", words)
    assert (ours.codes.tolist(), ours.levels) == (theirs.codes.tolist(), theirs.levels)
    assert ours.codes.dtype == theirs.codes.dtype
