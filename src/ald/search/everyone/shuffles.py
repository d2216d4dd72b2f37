"""Shuffled outcomes, 64 in a word: the same for any number of threads, and for C and NumPy.

What a person gets in a shuffle follows from a key, the person's place and the shuffle's number alone. Bits are drawn
one by one with about the chance that everyone of the stratum has; then bits of people drawn at random are changed until
the number of hits is right. Nobody is likelier than others to be among those changed: all arrangements of the hits are
equally likely, whatever the chance was.
"""

from __future__ import annotations

import numpy as np

from ald._core import kernels
from ald._core.arrays import AnyArray, FloatArray, IntArray
from ald.data.hashing import salt
from ald.search.everyone.layout import Layout

# Words of a block, and its lanes.
WORDS = 8
LANES = 64 * WORDS
# Purposes of random bits.
SHUFFLE, SETTLE, REDRAW, RESPLIT = 11, 12, 13, 14
_ONE = 1 << 16


def blocks_of(lanes: int) -> int:
    """The blocks that hold so many lanes."""
    return -(-lanes // LANES)


def shuffled(layout: Layout, seed: int, number: int, first: int, blocks: int) -> AnyArray:
    """The outcomes in the lanes of these blocks: words[blocks, people, 8]. Lane 0 of block 0 has the data's own.

    number: which shuffles these are, of those with one seed.
    """
    kernel = kernels.lanes()
    words = np.zeros((blocks, layout.people, WORDS), np.uint64)
    chances = np.repeat(_chances(layout.hits, np.diff(layout.starts)), np.diff(layout.starts))
    kernel.draw(chances, salt(seed, SHUFFLE, number), first * WORDS, words)
    kernel.settle(layout.starts, layout.hits, salt(seed, SETTLE, number), first * WORDS, words)
    _keep_own(layout, first, words)
    return words


def redrawn(layout: Layout, rates: FloatArray, seed: int, number: int, first: int, blocks: int) -> AnyArray:
    """As `shuffled`, but every person's outcome is drawn with a chance of its own."""
    words = np.zeros((blocks, layout.people, WORDS), np.uint64)
    chances = np.clip(np.rint(rates * _ONE), 0, _ONE).astype(np.uint32)
    kernels.lanes().draw(chances, salt(seed, REDRAW, number), first * WORDS, words)
    _keep_own(layout, first, words)
    return words


def own_outcomes(layout: Layout) -> AnyArray:
    """The data's outcomes in lane 0, and nobody's in all others."""
    words = np.zeros((1, layout.people, WORDS), np.uint64)
    _keep_own(layout, 0, words)
    return words


def _keep_own(layout: Layout, first: int, words: AnyArray) -> None:
    if first == 0 and len(words):
        words[0, :, 0] = (words[0, :, 0] & ~np.uint64(1)) | layout.outcome.astype(np.uint64)


def _chances(hits: IntArray, people: IntArray) -> AnyArray:
    """The chances to draw with, from 0 to 2^16: rather too few of the rarer outcome, which is quickly put right."""
    n = np.maximum(people, 1)
    down, up = hits * _ONE // n, -(-hits * _ONE // n)
    return np.where(2 * hits <= people, down, up).astype(np.uint32)
