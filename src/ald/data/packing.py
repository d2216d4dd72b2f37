"""Rows of coded data packed in words, for the compiled kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType

import numpy as np

from ald._core import kernels
from ald._core.arrays import AnyArray, ByteArray, FloatArray, IntArray
from ald._core.threads import in_threads
from ald.data.coded import AuditData

# Bits of half a word.
_HALF = 32
# The lowest bits of words where outcomes are amounts, which are empty: codes are read as places in a table.
_PLACE_BITS = 5
# Rows below which another thread costs more than it saves.
WORTH_A_THREAD = 50_000
# As many values of all attributes together as the kernel has room for, where it adds up amounts.
_MOST_AMOUNT_BINS = 1 << 22
# Word, shift, bits, size, kind and scores of every attribute.
Fields = tuple[IntArray, IntArray, IntArray, IntArray, ByteArray, FloatArray]


def available(data: AuditData) -> bool:
    """Whether this data can be packed: with the compiled kernels only, and with products of counts in 63 bits.

    Amounts are packed if they have a half of a word each, and if there is room for sums of them by attribute.
    """
    if kernels.packed() is None or data.total >= 2**31 or (len(data.counts) and int(data.counts.min()) < 0):
        return False
    amounts = data.design.amounts
    if amounts is None or len(amounts) == 0:
        return amounts is None
    bins = sum(1 << attribute.size.bit_length() for attribute in data.attributes)
    return bins <= _MOST_AMOUNT_BINS and int(amounts.min()) > -(2**31) and int(amounts.max()) < 2**31


@dataclass(frozen=True, kw_only=True)
class WordLayout:
    """Where the code of every attribute is: in which word, from which bit. The lowest bits of a word are the cell.

    weight: where the number of people is that a row stands for, in its highest bits; (-1, 63) if that is always one.
    Where outcomes are amounts, these are in the lower half of a last word, and people in its upper half.
    """

    word: IntArray
    shift: IntArray
    bits: IntArray
    n_words: int
    cell_bits: int
    weight: tuple[int, int]

    @classmethod
    def of(cls, largest: Sequence[int], n_cells: int, most: int = 1, *, amounts: bool = False) -> WordLayout:
        """The widest codes first, each into the first word that has room, people last.

        largest: of the codes of every attribute; most: people in a row.
        """
        cell_bits = _PLACE_BITS if amounts else max(1, (n_cells - 1).bit_length())
        width = [code.bit_length() for code in largest]
        used = [cell_bits]

        def place(bits: int) -> tuple[int, int]:
            at = next((w for w, taken in enumerate(used) if taken + bits <= 64), len(used))
            if at == len(used):
                used.append(cell_bits)
            start = used[at]
            used[at] += bits
            return at, min(start, 63)

        word, shift = np.zeros(len(width), np.int64), np.zeros(len(width), np.int64)
        for k in sorted(range(len(width)), key=lambda k: -width[k]):
            word[k], shift[k] = place(width[k])
        if amounts:
            used.append(_HALF)
        weight = (-1, 63) if most < 2 else (len(used) - 1, _HALF) if amounts else place(most.bit_length())
        bits = np.array(width, dtype=np.int64)
        return cls(word=word, shift=shift, bits=bits, n_words=len(used), cell_bits=cell_bits, weight=weight)

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """What every function of the kernel has to know."""
        return self.n_words, self.cell_bits, *self.weight

    def fields(self, sizes: IntArray, nominal: ByteArray | None = None, scores: FloatArray | None = None) -> Fields:
        """The arrays that describe attributes to the kernel; nothing is tested without their kind and scores."""
        kinds = np.zeros(len(sizes), np.uint8) if nominal is None else nominal
        return self.word, self.shift, self.bits, sizes, kinds, np.zeros(int(sizes.sum())) if scores is None else scores

    def with_people(self, words: AnyArray, people: IntArray) -> None:
        """Writes how many people rows stand for into their words."""
        word, shift = self.weight
        if word >= 0:
            words[:, word] |= people.astype(np.uint64) << np.uint64(shift)


def words_per_row(data: AuditData) -> int:
    """How many words a packed row has at most."""
    most = 1 if data.one_each else int(data.counts.max())
    return _layout([attribute.size for attribute in data.attributes], data, most).n_words


def _layout(largest: Sequence[int], data: AuditData, most: int) -> WordLayout:
    if data.design.amounts is None:
        return WordLayout.of(largest, data.n_cells, most)
    return WordLayout.of(largest, 1, most, amounts=True)


@dataclass(frozen=True, kw_only=True, eq=False)
class PackedRows:
    """The rows of coded data, packed: words[row, word]. There is room for how many people they are, which is empty."""

    layout: WordLayout
    words: AnyArray

    @classmethod
    def of(cls, data: AuditData, threads: int, most: int | None = None) -> PackedRows:
        """most: people that a row may stand for, if not as many as it does."""
        n = len(data.cells)
        if most is None:
            most = 1 if data.one_each else int(data.counts.max())
        layout = _layout([int(code.max()) if n else 0 for code in data.codes], data, most)
        amounts = data.design.amounts
        words = np.empty((n, layout.n_words), np.uint64)

        def pack(part: slice) -> None:
            rows = slice(part.start * WORTH_A_THREAD, part.stop * WORTH_A_THREAD)
            arrays = (data.cells[rows], layout.word, layout.shift, words[rows])
            kernel().pack([code[rows] for code in data.codes], layout.n_words, arrays)
            if amounts is not None:
                words[rows, -1] = amounts[rows].astype(np.uint32)

        blocks = np.full(-(-n // WORTH_A_THREAD), WORTH_A_THREAD, dtype=np.int64)
        in_threads(pack, kernels.chunks(blocks, threads, WORTH_A_THREAD), threads)
        return cls(layout=layout, words=words)


def kernel() -> ModuleType:
    """The compiled kernel of packed rows, where rows can be packed."""
    compiled = kernels.packed()
    assert compiled is not None
    return compiled
