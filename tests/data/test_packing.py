"""Rows of coded data packed in words: which data can be, and where everything is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ald._core import kernels
from ald.data import packing
from ald.data.design import Design
from ald.data.packing import WordLayout
from tests.coded import coded


@given(st.lists(st.integers(0, 10**6), max_size=40), st.integers(1, 250), st.integers(1, 2**31))
def test_fields_of_a_layout_do_not_overlap(largest: list[int], n_cells: int, most: int) -> None:
    """Every code has bits of its own, above those of the cell and below those of people; no word is left empty."""
    layout = WordLayout.of(largest, n_cells, most)
    assert 1 << layout.cell_bits >= n_cells
    used: dict[int, int] = {}
    for code, word, shift in zip(largest, layout.word.tolist(), layout.shift.tolist(), strict=True):
        bits = ((1 << code.bit_length()) - 1) << shift
        assert bits < 2**64
        assert not bits & ((1 << layout.cell_bits) - 1)
        assert not used.get(word, 0) & bits
        used[word] = used.get(word, 0) | bits
    word, shift = layout.weight
    assert (word >= 0) == (most > 1)
    if most > 1:
        assert most << shift < 2**64
        assert used.get(word, 0) < 1 << shift
        assert shift >= layout.cell_bits
        used[word] = used.get(word, 0) | most << shift
    assert layout.n_words == max([1, *(word + 1 for word in used)])


@given(st.lists(st.integers(0, 10**6), max_size=40), st.integers(1, 2**31))
def test_amounts_have_a_last_word_of_their_own(largest: list[int], most: int) -> None:
    """No code is in it, and people are in its upper half."""
    # As many empty bits as those of amounts have.
    plain, layout = WordLayout.of(largest, 32), WordLayout.of(largest, 1, most, amounts=True)
    assert layout.n_words == plain.n_words + 1
    assert layout.word.tolist() == plain.word.tolist()
    assert layout.weight == ((plain.n_words, 32) if most > 1 else (-1, 63))


@pytest.mark.skipif(kernels.packed() is None, reason="needs the compiled kernels, which were not built")
@pytest.mark.parametrize(("amount", "values", "fits"), [(5, 3, True), (2**31, 3, False), (5, 2**23, False)])
def test_amounts_are_packed_where_there_is_room(amount: int, values: int, fits: bool) -> None:
    """In 32 bits, with as many bins as all attributes have codes; otherwise NumPy adds them up."""
    data = coded({"a": ["p", "q"] * 25, "y": [0, 1] * 25})
    first = replace(data.attributes[0], kind="numeric", values=np.arange(float(values)), levels=())
    design = Design(amounts=np.full(50, amount))
    assert packing.available(replace(data, attributes=(first,), design=design)) == fits


@pytest.mark.skipif(kernels.packed() is None, reason="needs the compiled kernels, which were not built")
def test_packing_is_for_compiled_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where NumPy is to count, rows are not packed; nor where products of counts could overflow."""
    data = coded({"a": ["p", "q"] * 25, "y": [0, 1] * 25})
    assert packing.available(data)
    assert not packing.available(data.with_counts(data.counts * 2**30))
    monkeypatch.setenv("ALD_KERNEL", "numpy")
    assert not packing.available(data)
