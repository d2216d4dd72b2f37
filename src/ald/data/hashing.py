"""Random halves and samples from the people themselves: the same wherever a row is, and in whatever order.

A row has a 64-bit hash, which follows from what is known of it: the names and values of its columns and its confusion
cell. Values count, not their codes, which depend on the other rows and on who has coded them. The hash is a sum of one
random number per column, value and name: so the order of columns changes nothing, either. The k-th person of a row has
the k-th half of the words that follow from the row's hash; it is a uniform number of 32 bits, and the person is drawn
if it is below the share. So each draw is an independent Bernoulli trial that depends on nothing but its key and on what
is known of the person. All numbers are mixed by the finalizer of splitmix64 (Steele, Lea and Flood 2014).
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ald._core import kernels
from ald._core.arrays import AnyArray, FloatArray, IntArray
from ald._core.threads import in_threads

if TYPE_CHECKING:
    from ald.data.coded import Attribute, AuditData

# Purposes of a draw.
POOL = 3

_GOLDEN = 0x9E3779B97F4A7C15
_MASK = 2**64 - 1
# What stands for values that are missing, and for the column of the confusion cell; no name has so many bytes.
_MISSING, _CELL = 0x6D697373696E67, 0x63656C6C
# Rows and people at a time: their numbers then stay in the processor's cache.
_AT_ONCE = 1 << 14
# Rows from which another thread saves more than it costs.
_WORTH_A_THREAD = 1 << 17
# A row of so many people that the number of those drawn has at least this variance draws it from the normal
# distribution that comes closest: nobody could tell.
_LARGE = 1024.0
_ONE = 2**32
_MICROSECONDS_PER_DAY = 86_400_000_000.0


def _mixed(x: AnyArray) -> AnyArray:
    """The finalizer of splitmix64."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))


def salt(seed: int, purpose: int, number: int = 0) -> int:
    """A key for a purpose, such as the sample of the tree of this number."""
    out = np.array([seed & _MASK], np.uint64)
    for part in (purpose, number):
        out = _mixed(out + np.uint64((part * _GOLDEN + _GOLDEN) & _MASK))
    return int(out[0])


def key_of(rng: np.random.Generator) -> int:
    """The key of the draws that a generator is for: its next number."""
    return int(rng.integers(_MASK, dtype=np.uint64, endpoint=True))


def _of_text(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def _of_numbers(values: FloatArray) -> AnyArray:
    return _mixed(np.ascontiguousarray(values + 0.0, dtype=np.float64).view(np.uint64) + np.uint64(_GOLDEN))


def _of_words(words: Sequence[str | None], *, truths: bool) -> AnyArray:
    """Words that are numbers count as these: a column is the same as numbers, as categories and as text."""
    numbers = [1.0 if truths and word == "True" else 0.0 if truths and word == "False" else _number(word)
               for word in words]  # fmt: skip
    out = _of_numbers(np.array([np.nan if number is None else number for number in numbers], np.float64))
    for i, (word, number) in enumerate(zip(words, numbers, strict=True)):
        if number is None:
            out[i] = _MISSING if word is None else _of_text(word)
    return out


def _number(word: str | None) -> float | None:
    """The number that a word is, if that is the way in which it is written."""
    try:
        number = float(word or "")
    except ValueError:
        return None
    whole = abs(number) < 1e15 and number == int(number)
    return number if word == (str(int(number)) if whole else repr(number)) else None


def value_hashes(attribute: Attribute) -> AnyArray:
    """The random number of every code of a column, the last one for missing values."""
    if attribute.values is None:
        own = _of_words(attribute.levels, truths=attribute.kind == "boolean")
    else:
        # Dates are times at midnight.
        own = _of_numbers(attribute.values * (_MICROSECONDS_PER_DAY if attribute.kind == "date" else 1.0))
    return named(attribute.name, np.append(own, np.uint64(_MISSING)))


def named(name: str, values: AnyArray) -> AnyArray:
    """The random numbers of values of a column, given numbers that tell these apart."""
    return _mixed(values.astype(np.uint64) + np.uint64(_of_text(name)))


def number_hashes(name: str, values: FloatArray) -> AnyArray:
    """The random number of every row, from a column of numbers that is not coded."""
    return named(name, _of_numbers(values))


def row_hashes(data: AuditData, threads: int = 1) -> AnyArray:
    """The hash of every row."""
    if data.hashes is not None:
        return data.hashes
    cells = _mixed(np.arange(data.n_cells, dtype=np.uint64) + np.uint64(_CELL))
    parts = [*zip(data.codes, map(value_hashes, data.attributes), strict=True), (data.cells, cells)]
    return sum_hashes(parts, len(data.cells), threads)


def sum_hashes(parts: Sequence[tuple[AnyArray, AnyArray]], rows: int, threads: int = 1) -> AnyArray:
    """The sum of one number per column: of codes, and of the numbers that they stand for."""
    out = np.zeros(rows, np.uint64)
    kernel = kernels.draw()
    if kernel is None:

        def add(part: slice) -> None:
            for start in range(part.start, part.stop, _AT_ONCE):
                some = slice(start, min(start + _AT_ONCE, part.stop))
                for codes, table in parts:
                    out[some] += table[codes[some]]

    else:
        codes = [np.ascontiguousarray(column) for column, _ in parts]
        tables = np.concatenate([table for _, table in parts]) if parts else np.zeros(0, np.uint64)
        offsets = np.cumsum([0, *(len(table) for _, table in parts)])

        def add(part: slice) -> None:
            kernel.add([column[part] for column in codes], tables, offsets, out[part])

    pieces = max(1, min(threads, rows // _WORTH_A_THREAD))
    edges = np.linspace(0, rows, pieces + 1).astype(np.int64).tolist()
    in_threads(add, [slice(start, end) for start, end in pairwise(edges)], pieces)
    return out


def firsts(hashes: AnyArray) -> AnyArray | None:
    """Per row the first one with the same hash; None if all differ."""
    kernel = kernels.draw()
    if kernel is None or len(hashes) >= _ONE - 1:
        _, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
        return None if len(first) == len(hashes) else first[inverse]
    out = np.empty(len(hashes), np.uint32)
    return out if kernel.firsts(hashes, out) < len(hashes) else None


def bound_of(share: float) -> int:
    """Those are drawn whose number of 32 bits is below this."""
    return round(share * _ONE)


def drawn(hashes: AnyArray, counts: IntArray, share: float, key: int) -> IntArray:
    """How many of each row's people are drawn, each with the chance `share`."""
    bound = bound_of(share)
    chance = bound / _ONE
    large = counts * (chance * (1.0 - chance)) >= _LARGE
    out = np.zeros(len(hashes), np.int64)
    if not large.any():
        _draw(hashes, counts, bound, key, out)
        return out
    few, many = np.flatnonzero(~large), np.flatnonzero(large)
    some = np.zeros(len(few), np.int64)
    _draw(hashes[few], counts[few], bound, key, some)
    out[few], out[many] = some, _many(hashes[many], counts[many], chance, key)
    return out


def _draw(hashes: AnyArray, counts: IntArray, bound: int, key: int, out: IntArray) -> None:
    kernel = kernels.draw()
    if kernel is not None:
        kernel.draw(np.ascontiguousarray(hashes), np.ascontiguousarray(counts, np.int64), bound, key, out)
        return
    words = (counts + 1) // 2
    ends = np.cumsum(words)
    starts = ends - words
    total = int(ends[-1]) if len(ends) else 0
    for start in range(0, total, _AT_ONCE):
        at = np.arange(start, min(start + _AT_ONCE, total))
        row = np.searchsorted(ends, at, side="right")
        number = at - starts[row]
        word = _mixed((hashes[row] + number.astype(np.uint64) * np.uint64(_GOLDEN)) ^ np.uint64(key))
        chosen = (word & np.uint64(_ONE - 1)) < np.uint64(bound)
        second = ((word >> np.uint64(32)) < np.uint64(bound)) & (2 * number + 1 < counts[row])
        np.add.at(out, row, chosen.astype(np.int64) + second)


def drawn_bits(hashes: AnyArray, share: float, key: int) -> tuple[AnyArray, int]:
    """Who is drawn of rows of one person each, as bits, lowest first in words of 64, and how many they are.

    With the compiled kernel only.
    """
    kernel = kernels.draw()
    assert kernel is not None
    bits = np.empty(-(-len(hashes) // 64), np.uint64)
    return bits, kernel.draw_bits(hashes, bound_of(share), key, bits)


def _many(hashes: AnyArray, counts: IntArray, chance: float, key: int) -> IntArray:
    """As `drawn`, of rows of very many people, by two uniform numbers each (Box and Muller 1958)."""
    word = _mixed(hashes ^ np.uint64(key))
    turn: AnyArray = _mixed(word + np.uint64(_GOLDEN))
    radius, angle = (((one >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53 for one in (word, turn))
    normal = np.sqrt(-2.0 * np.log(radius)) * np.cos(2.0 * np.pi * angle)
    wanted = np.rint(counts * chance + np.sqrt(counts * (chance * (1.0 - chance))) * normal)
    return np.asarray(np.clip(wanted, 0, counts), dtype=np.int64)


def smallest(hashes: AnyArray, n: int, key: int) -> IntArray:
    """The places of n of these hashes, drawn without replacement: those with the smallest numbers."""
    return np.asarray(np.argsort(_mixed(hashes ^ np.uint64(key)), kind="stable")[:n])
