"""Random halves and samples from the rows themselves: the same wherever a row is, and however often it is looked at.

Every coded row has a 64-bit hash: beginning with a constant, each code and then the confusion cell is added and the sum
mixed by the finalizer of splitmix64 (Steele, Lea and Flood 2014). The k-th person of a row has the hash plus k times
the constant; mixed once more with a salt for the purpose, it is a uniform number, and the person is drawn if it is
below the share. So each draw is an independent Bernoulli trial that depends on nothing but the seed, the purpose and
what is known of the person.
"""

from __future__ import annotations

import numpy as np

from ald._core.arrays import AnyArray, IntArray
from ald.data.coded import AuditData

# Purposes of a draw.
HALF, TREE, POOL = 1, 2, 3

_GOLDEN = 0x9E3779B97F4A7C15
_MASK = 2**64 - 1
# Rows and people at a time: their numbers then stay in the processor's cache.
_AT_ONCE = 1 << 14


def _mixed(x: AnyArray) -> AnyArray:
    """The finalizer of splitmix64."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))


def salt(seed: int, purpose: int, number: int = 0) -> int:
    """A number for a purpose, such as the sample of the tree of this number."""
    out = np.array([seed & _MASK], np.uint64)
    for part in (purpose, number):
        out = _mixed(out + np.uint64((part * _GOLDEN + _GOLDEN) & _MASK))
    return int(out[0])


def row_hashes(data: AuditData) -> AnyArray:
    """The hash of every row, from its codes and its confusion cell."""
    out = np.empty(len(data.cells), np.uint64)
    for start in range(0, len(out), _AT_ONCE):
        rows = slice(start, start + _AT_ONCE)
        mixed = np.full(len(out[rows]), _GOLDEN, np.uint64)
        for part in (*data.codes, data.cells):
            mixed = _mixed(mixed + part[rows].astype(np.uint64) + np.uint64(_GOLDEN))
        out[rows] = mixed
    return out


def drawn(hashes: AnyArray, counts: IntArray, share: float, salt: int) -> IntArray:
    """How many of each row's people are drawn, each with the chance `share`."""
    bound, key = np.uint64(int(share * 2.0**53)), np.uint64(salt)
    out = np.zeros(len(hashes), np.int64)
    if len(counts) and int(counts.max()) <= 1:
        for start in range(0, len(hashes), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            out[part] = (_mixed(hashes[part] ^ key) >> np.uint64(11)) < bound
        return np.minimum(out, counts)
    people = np.concatenate([[0], np.cumsum(counts)])
    for start in range(0, int(people[-1]), _AT_ONCE):
        person = np.arange(start, min(start + _AT_ONCE, int(people[-1])))
        row = np.searchsorted(people, person, side="right") - 1
        unit = hashes[row] + (person - people[row]).astype(np.uint64) * np.uint64(_GOLDEN)
        chosen = (_mixed(unit ^ key) >> np.uint64(11)) < bound
        np.add.at(out, row[chosen], 1)
    return out


def in_d1(data: AuditData, seed: int, share: float) -> IntArray:
    """How many people of every row are in D1: as the rows say, or each person with the chance `share`."""
    if data.design.half is not None:
        return np.where(data.design.half == 0, data.counts, 0)
    return sample(data, share, seed, HALF)


def halves(data: AuditData, seed: int, share: float) -> tuple[AuditData, AuditData]:
    """D1 and D2."""
    first = in_d1(data, seed, share)
    return data.with_counts(first), data.with_counts(data.counts - first)


def sample(data: AuditData, share: float, seed: int, purpose: int, number: int = 0) -> IntArray:
    """How many people of every row are in a sample for a purpose."""
    return drawn(row_hashes(data), data.counts, share, salt(seed, purpose, number))
