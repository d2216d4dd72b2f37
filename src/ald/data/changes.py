"""Where along a number the outcome changes: so that people in one class of it have the same chances, whoever they are.

A class in which the outcome jumps mixes people with different chances; if a group is more frequent on one side of the
jump, it seems to differ. Cuts at the jumps end that, and cuts twice as fine show how much of it may be left.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from scipy import special

from ald._core.arrays import FloatArray, IntArray
from ald.data.coded import quantile_edges

# A cut where the outcome changes must be worth a test with this p-value.
CHANGE = 0.001
# Places between which a first look chooses, per class; they are settled among all values afterwards.
_PLACES = 8
# How often cuts are settled, each given its neighbours.
_ROUNDS = 2
# Likelihoods that differ by less are equal: rounding must not choose.
_EQUAL = 1e-9


def class_edges(table: FloatArray, people: IntArray, classes: int) -> IntArray:
    """Codes at which at most so many classes start, then the number of codes.

    table: per code how much the people with it say of every confusion cell; people: how many they are. Classes start
    where the outcome changes; the largest pieces between these are then cut into equal numbers of people.
    """
    if np.count_nonzero(people) <= classes:
        return quantile_edges(people, classes)
    changes = _changes(table, people, classes)
    pieces = [people[start:end] for start, end in pairwise(changes.tolist())]
    sizes, possible = [np.array([f(piece) for piece in pieces]) for f in (np.sum, np.count_nonzero)]
    parts = np.ones(len(pieces), np.int64)
    while parts.sum() < classes:
        parts[int(np.argmax(np.where(parts < possible, sizes / parts, -1.0)))] += 1
    edges = [
        start + quantile_edges(piece, n)[:-1]
        for start, piece, n in zip(changes[:-1].tolist(), pieces, parts.tolist(), strict=True)
    ]
    return np.concatenate([*edges, [len(people)]])


def finer_edges(table: FloatArray, edges: IntArray) -> IntArray:
    """The codes at which classes are cut in two: where most of the change within a class lies on its two sides."""
    return np.array([start + cut for start, end in pairwise(edges.tolist()) for cut in _middle(table[start:end])], int)


def _changes(table: FloatArray, people: IntArray, most: int) -> IntArray:
    """The most likely places of changes, at a price for each: the start of every piece, then the number of codes."""
    grid = quantile_edges(people, _PLACES * most)
    running = np.zeros((table.shape[1], len(table) + 1))
    np.cumsum(table.T, axis=1, out=running[:, 1:])
    at = running[:, grid]
    likelihood = _likelihood(at[:, None, :] - at[:, :, None])
    df = max(int(np.count_nonzero(running[:, -1])) - 1, 1)
    price = float(special.chdtri(df, CHANGE)) / 2.0
    chosen = _partition(likelihood, price)
    while len(chosen) - 1 > most:
        # Of too many, the one that says least is given up.
        before, cut, after = chosen[:-2], chosen[1:-1], chosen[2:]
        worth = likelihood[before, cut] + likelihood[cut, after] - likelihood[before, after]
        least = 1 + int(np.argmax(worth < worth.min() + _EQUAL))
        chosen = np.concatenate([chosen[:least], chosen[least + 1 :]])
    edges = grid[chosen]
    for _ in range(_ROUNDS):
        for i in range(1, len(edges) - 1):
            low, high = int(edges[i - 1]), int(edges[i + 1])
            here = running[:, low + 1 : high]
            below, above = here - running[:, [low]], running[:, [high]] - here
            edges[i] = low + 1 + _first_best(_likelihood(below) + _likelihood(above))
    return edges


def _likelihood(counts: FloatArray) -> FloatArray:
    """The largest log-likelihood of counts (cells first)."""
    counts = np.maximum(counts, 0.0)
    people = counts.sum(axis=0)
    return np.asarray(special.xlogy(counts, counts).sum(axis=0) - special.xlogy(people, people))


def _partition(likelihood: FloatArray, price: float) -> IntArray:
    """The ends of the pieces (positions from 0 on) whose likelihoods less their prices add up to most."""
    n = len(likelihood)
    best, before = np.zeros(n), np.zeros(n, np.int64)
    for end in range(1, n):
        values = best[:end] + likelihood[:end, end] - price
        before[end] = int(np.argmax(values > values.max() - _EQUAL))
        best[end] = values[before[end]]
    ends = [n - 1]
    while ends[-1] > 0:
        ends.append(int(before[ends[-1]]))
    return np.array(ends[::-1])


def _first_best(values: FloatArray) -> int:
    """The place of the largest value; of several next to each other (nobody is between them) the one in the middle."""
    best = np.flatnonzero(values > values.max() - _EQUAL)
    together = best[best == best[0] + np.arange(len(best))]
    return int(together[len(together) // 2])


def _middle(table: FloatArray) -> Iterator[int]:
    """Where a class is cut in two, if it has two codes: where the outcomes below differ most from their expectation."""
    people = table.sum(axis=1)
    if np.count_nonzero(people) < 2:
        return
    running = np.cumsum(table, axis=0)[:-1]
    share = table.sum(axis=0) / people.sum()
    some = share > 0
    below = running.sum(axis=1)
    beyond = running[:, some] - below[:, None] * share[some]
    values = (beyond**2 / share[some]).sum(axis=1)
    if not values.max() > _EQUAL:
        values = -np.abs(below - people.sum() / 2)
    yield 1 + _first_best(values)
