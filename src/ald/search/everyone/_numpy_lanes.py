"""The functions of _lanes.c in NumPy: the same integers, and the same floating point numbers to the bit.

The signatures are those of _lanes.c, whose comments say what each function does.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ald._core.arrays import AnyArray, CodeArray, FloatArray, IntArray

WORDS = 8
LANES = 64 * WORDS
_CHANCE = 16
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_NO_VARIANCE = 1e-12


def mixed(x: AnyArray) -> AnyArray:
    """The finalizer of splitmix64."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))


def draw(chances: AnyArray, key: int, first_word: int, words: AnyArray) -> None:
    people = len(chances)
    for number in range(words.size // max(people * WORDS, 1)):
        block = words.reshape(-1, people, WORDS)[number]
        first = np.uint64(first_word + number * WORDS) + np.arange(WORDS, dtype=np.uint64)
        place = (np.arange(people, dtype=np.uint64) << np.uint64(25))[:, None] + (first << np.uint64(5))
        block[...] = np.where(chances >> _CHANCE, ~np.uint64(0), np.uint64(0))[:, None]
        for bit in range(_CHANCE):
            chance = (chances & ((2 << bit) - 1))[:, None]
            random = mixed(np.uint64(key) + _GOLDEN * (place + np.uint64(bit + 1)))
            # A person's first bits that are 0 leave nothing to draw for.
            drawn = np.where(chance >> bit, block | random, block & random)
            block[...] = np.where((chance > 0) & (chances >> _CHANCE == 0)[:, None], drawn, block)


def settle(starts: IntArray, hits: IntArray, key: int, first_word: int, words: AnyArray) -> None:
    people = int(starts[-1])
    blocks = words.reshape(-1, people, WORDS) if people else words.reshape(0, 0, WORDS)
    for number, block in enumerate(blocks):
        lanes = np.uint64((first_word + number * WORDS) * 64) + np.arange(LANES, dtype=np.uint64)
        for s, (start, end) in enumerate(zip(starts.tolist(), starts[1:].tolist(), strict=False)):
            own = block[start:end]
            missing = hits[s] - _bits(own).sum(axis=0)
            stream = mixed(np.uint64(key) + _GOLDEN * (np.uint64(s << 32) + lanes + np.uint64(1)))
            i = 1
            while (active := np.flatnonzero(missing)).size:
                random = mixed(stream[active] + np.uint64(i * int(_GOLDEN) % 2**64))
                at = (random >> np.uint64(32)) * np.uint64(end - start) >> np.uint64(32)
                word, bit = active // 64, np.uint64(1) << (active % 64).astype(np.uint64)
                is_set = (own[at, word] & bit) != 0
                change = np.flatnonzero(is_set == (missing[active] < 0))
                np.bitwise_xor.at(own, (at[change], word[change]), bit[change])
                missing[active[change]] -= np.sign(missing[active[change]])
                i += 1


def _bits(words: AnyArray) -> IntArray:
    """Words as bits, [people, lanes]."""
    lowest_first = words.astype("<u8").view(np.uint8).reshape(len(words), words.shape[1] * 8)
    return np.unpackbits(lowest_first, axis=1, bitorder="little").astype(np.int64)


def count(
    columns: Sequence[CodeArray],
    sizes: IntArray,
    parts: IntArray,
    offsets: IntArray,
    slots: AnyArray,
    words: AnyArray,
    out: AnyArray,
) -> None:
    n, n_parts = len(columns[0]), len(offsets) - 1
    blocks = words.reshape(-1, n, WORDS) if n else words.reshape(0, 0, WORDS)
    table = out.reshape(-1, len(blocks), LANES) if len(blocks) else out.reshape(0, 0, LANES)
    table[...] = 0
    for number, block in enumerate(blocks):
        bits = _bits(block)
        for chosen, start, end in zip(parts.reshape(n_parts, -1), offsets, offsets[1:], strict=False):
            key = np.zeros(n, np.int64)
            for k in chosen.tolist():
                key = key * sizes[k] + columns[k]
            row = slots[start:end][key]
            counted = np.flatnonzero(row >= 0)
            order = counted[np.argsort(row[counted], kind="stable")]
            if order.size:
                rows, first = np.unique(row[order], return_index=True)
                table[rows, number] = np.add.reduceat(bits[order], first, axis=0)


def best(
    table: AnyArray,
    lanes: int,
    low: IntArray,
    high: IntArray,
    expected: FloatArray,
    scale: FloatArray,
    cost: FloatArray,
    sides: FloatArray,
    kinds: IntArray,
    out: FloatArray,
    out_at: IntArray,
) -> None:
    rates = len(sides)
    counts = table.reshape(-1, rates, lanes)
    found, at = out.reshape(-1, lanes), out_at.reshape(-1, lanes)
    expected, scale = expected.reshape(-1, rates), scale.reshape(-1, rates)
    for kind, (start, end) in enumerate(zip(kinds.tolist(), kinds[1:].tolist(), strict=False)):
        found[kind], at[kind] = 0.0, -1
        gain = np.full(lanes, -1e300)
        for i in range(start, end):
            if not scale[i].any():
                continue
            x = np.zeros(lanes)
            for r in np.flatnonzero(scale[i]).tolist():
                d = (counts[high[i], r] - counts[low[i], r]).astype(float) - expected[i, r]
                if sides[r]:
                    d = np.maximum(d * sides[r], 0.0)
                x += d * d * scale[i, r]
            worth = x - cost[i]
            better = worth > gain
            gain = np.where(better, worth, gain)
            found[kind] = np.where(better, x, found[kind])
            at[kind] = np.where(better, i, at[kind])


def best_forms(
    table: AnyArray,
    common: AnyArray,
    lanes: int,
    rates: int,
    rows_at: IntArray,
    groups_at: IntArray,
    coefs: FloatArray,
    common_coefs: FloatArray,
    scale: FloatArray,
    cost: FloatArray,
    out: FloatArray,
    out_at: IntArray,
) -> None:
    counts, shared = table.reshape(-1, rates, lanes), common.reshape(-1, rates, lanes)
    scale, shared_coefs = scale.reshape(-1, rates), common_coefs.reshape(len(cost), rates, len(shared))
    out[...], out_at[...] = 0.0, -1
    gain, used = np.full(lanes, -1e300), 0
    for t, (first, last) in enumerate(pairwise(groups_at.tolist())):
        rows = counts[rows_at[t] : rows_at[t + 1]]
        for i in range(first, last):
            x = np.zeros(lanes)
            for r in range(rates):
                total = np.zeros(lanes)
                for own, row in zip(coefs[used : used + len(rows)].tolist(), rows[:, r], strict=True):
                    total += own * row
                for own, row in zip(shared_coefs[i, r].tolist(), shared[:, r], strict=True):
                    total += own * row
                x += total * total * scale[i, r]
                used += len(rows)
            worth = x - cost[i]
            better = worth > gain
            gain = np.where(better, worth, gain)
            out[...] = np.where(better, x, out)
            out_at[...] = np.where(better, i, out_at)


def best_heads(
    table: AnyArray,
    lanes: int,
    people: IntArray,
    smallest: int,
    bases: IntArray,
    weights: FloatArray,
    sizes: FloatArray,
    expected: FloatArray,
    spread: FloatArray,
    cost: FloatArray,
    sides: FloatArray,
    out: FloatArray,
    out_at: IntArray,
) -> None:
    n, rates = len(people), len(sides)
    counts = table.reshape(n, rates, lanes)
    expected, spread = expected.reshape(n, rates), spread.reshape(n, rates)
    bases = bases.reshape(n, rates, -1)
    weights, sizes = weights.reshape(rates, -1), sizes.reshape(rates, -1)
    with np.errstate(divide="ignore", invalid="ignore"):
        excess = counts - expected[:, :, None]
        means = np.where(spread[:, :, None] > 0, excess / spread[:, :, None], 0.0)
    directions = [means[:, r] for r in range(rates)]
    if rates > 1:
        directions += [_sum(directions), directions[0] - _sum(directions[1:])]
    found, at, lane = out.reshape(-1, lanes), out_at.reshape(-1, lanes), np.arange(lanes)
    for o, direction in enumerate(directions):
        order = np.argsort(direction, axis=0, kind="stable")
        found[o], at[o] = 0.0, 0
        gain = np.full(lanes, -1e300)
        members = np.cumsum(people[order], axis=0)
        hits = np.cumsum(counts[order, :, lane], axis=0)
        mean = np.cumsum(expected[order], axis=0)
        inside = np.zeros((lanes, *bases.shape[1:]), np.int64)
        for k in range(1, n):
            inside += bases[order[k - 1]]
            x, opposite = np.zeros(lanes), np.zeros(lanes)
            for r in range(rates):
                variance = np.zeros(lanes)
                for s in range(weights.shape[1]):
                    base = inside[:, r, s].astype(float)
                    variance += weights[r, s] * (base * (sizes[r, s] - base))
                d = hits[k - 1, :, r].astype(float) - mean[k - 1, :, r]
                with np.errstate(divide="ignore", invalid="ignore"):
                    part = np.where(variance > _NO_VARIANCE, d * d / variance, 0.0)
                x += np.where((sides[r] == 0) | (d * sides[r] > 0), part, 0.0)
                opposite += np.where((sides[r] == 0) | (d * sides[r] < 0), part, 0.0)
            large = (members[k - 1] >= smallest) & (members[-1] - members[k - 1] >= smallest)
            options = [(x, k, k)] + ([(opposite, n - k, k - n)] if sides.any() else [])
            for value, named, number in options:
                better = large & (value > 0) & (value - cost[named] > gain)
                gain = np.where(better, value - cost[named], gain)
                found[o] = np.where(better, value, found[o])
                at[o] = np.where(better, number, at[o])


def _sum(values: Sequence[FloatArray]) -> FloatArray:
    """The sum in the order of the values."""
    out = values[0]
    for value in values[1:]:
        out = out + value
    return out
