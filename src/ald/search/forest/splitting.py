"""The best binary split of an attribute in a node, for many nodes at once."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from ald._core.arrays import BoolArray, FloatArray, IntArray
from ald._core.segments import TIE, first_best, integer_sums, maxima, owner, running_sums
from ald.notions import Measure
from ald.search.forest.counting import Histograms

# Up to this many levels present all two-block partitions are enumerated where the ordering by means is not enough.
ENUMERATED_LEVELS = 20
# With several rates no single ordering is exact: enumerate up to here at once, and scan several orderings beyond.
ENUMERATED_LEVELS_SEVERAL_RATES = 12
_DIRECTIONS = 16
_SIZES = [(2, 4), (5, 8), *((q, q) for q in range(9, ENUMERATED_LEVELS + 1))]
_ENTRIES_AT_ONCE = 1 << 22


@dataclass(frozen=True, kw_only=True)
class Splits:
    """Per segment the best admissible split: whether there is one, its statistic, and which entries go left."""

    found: BoolArray
    statistic: FloatArray
    goes_left: BoolArray


def best_splits(histograms: Histograms, nominal: BoolArray, rates: Measure, min_bucket: IntArray) -> Splits:
    """The split with the largest two-sample statistic, summed over rates, with both sides of at least `min_bucket`.

    Ordered attributes are cut after one of the values that occur; unordered ones are parted into two sets of the
    levels that occur, with the first level on the left.
    """
    n = len(histograms.offsets) - 1
    segment = histograms.request
    is_nominal = nominal[segment]
    several = len(rates) > 1
    enumerable = nominal & (histograms.lengths <= (ENUMERATED_LEVELS_SEVERAL_RATES if several else ENUMERATED_LEVELS))
    found, statistic, settled = np.zeros(n, bool), np.zeros(n), ~nominal
    goes_left = np.zeros(len(histograms.codes), bool)
    hit, base = rates.hit(histograms.counts), rates.base(histograms.counts)
    people = rates.people(histograms.counts)
    margin = _margin(histograms, hit, base, rates)
    # Cuts of the values in their order, and of the levels in the order of their means: with one rate, the best cut of
    # that order is the best partition wherever it is admissible.
    for direction in directions(len(rates), bool(enumerable[nominal].all())):
        order = _order(histograms, hit, base, is_nominal, direction)
        scan = _scan(rates, hit[:, order], base[:, order], people[order], margin, histograms.offsets, min_bucket)
        better = scan.statistic > statistic * (1 + TIE)
        if several:
            better &= ~enumerable
        found |= better
        statistic = np.where(better, scan.statistic, statistic)
        chosen = np.empty(len(order), bool)
        chosen[order] = np.arange(len(order)) <= scan.position[segment]
        goes_left = np.where(better[segment], chosen, goes_left)
        if not several:
            settled = settled | (scan.statistic >= scan.unrestricted * (1 - TIE))
    for segments, members, best in _enumerate(histograms, rates, min_bucket, np.flatnonzero(enumerable & ~settled)):
        better = best > statistic[segments] * (1 + TIE)
        statistic[segments[better]] = best[better]
        found[segments[better]] = True
        chosen_segments = segments[better]
        inside = np.arange(members.shape[1]) < histograms.lengths[chosen_segments, None]
        entries = histograms.offsets[chosen_segments, None] + np.arange(members.shape[1])
        goes_left[entries[inside]] = members[better][inside]
    # The first level present names the left side.
    filled = histograms.lengths > 0
    flip = np.zeros(n, bool)
    flip[filled] = nominal[filled] & ~goes_left[histograms.offsets[:-1][filled]]
    return Splits(found=found, statistic=statistic, goes_left=goes_left ^ flip[segment])


def two_sample(
    rates: Measure, hit: IntArray, base: IntArray, hits: IntArray, bases: IntArray, margin: FloatArray
) -> FloatArray:
    """The two-sample statistic, summed over rates (first axis), of `hit` of `base` within `hits` of `bases`.

    margin: that of the whole.
    """
    cross = rates.cross(hit, base, hits, bases)
    scale = margin * (base * (bases - base).astype(float))
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(scale > 0, cross * cross / scale * (bases - 1), 0.0)
    return np.asarray(value[0] if len(value) == 1 else value.sum(axis=0))


@dataclass(frozen=True, kw_only=True)
class _Scan:
    """The best cut of each segment in a given order of its entries."""

    position: IntArray  # the last entry on the left, -1 if no cut is admissible
    statistic: FloatArray  # of the best admissible cut
    unrestricted: FloatArray  # of the best cut whatever the bucket


def _margin(histograms: Histograms, hit: IntArray, base: IntArray, rates: Measure) -> FloatArray:
    """Of every segment as a whole: [rates, segments]."""
    squares, offsets = rates.squares(histograms.counts), histograms.offsets
    whole = None if squares is None else integer_sums(squares, offsets)
    return rates.margin(integer_sums(hit, offsets), integer_sums(base, offsets), whole)


def _scan(
    rates: Measure,
    hit: IntArray,
    base: IntArray,
    people: IntArray,
    margin: FloatArray,
    offsets: IntArray,
    min_bucket: IntArray,
) -> _Scan:
    segment = owner(offsets)
    hit, base = running_sums(hit, offsets), running_sums(base, offsets)
    n_left = running_sums(people, offsets)
    # The last entry of a segment holds its totals.
    last = np.maximum(offsets[1:] - 1, 0)[segment]
    n = n_left[last]
    statistic = two_sample(rates, hit, base, hit[:, last], base[:, last], margin[:, segment])
    admissible = (n_left >= min_bucket[segment]) & (n - n_left >= min_bucket[segment]) & (statistic > 0)
    position, best = first_best(np.where(admissible, statistic, -np.inf), offsets)
    unrestricted = maxima(np.where(n_left < n, statistic, -np.inf), offsets)
    return _Scan(position=position, statistic=np.where(position >= 0, best, 0.0), unrestricted=unrestricted)


def directions(n_rates: int, enumerated: bool) -> list[FloatArray]:
    """Directions in the space of rates to order levels by: one rate needs one, several a fan of them.

    Where all levels will be enumerated anyway, their order does not matter.
    """
    if n_rates == 1:
        return [np.ones(1)]
    if enumerated:
        return [np.zeros(n_rates)]
    if n_rates == 2:
        angles = np.arange(_DIRECTIONS) * np.pi / _DIRECTIONS
        return [np.array([np.cos(angle), np.sin(angle)]) for angle in angles]
    signs = [np.array((1.0, *rest)) for rest in product((1.0, -1.0), repeat=min(n_rates - 1, 5))]
    padded = [np.pad(sign, (0, n_rates - len(sign)), constant_values=1.0) for sign in signs]
    return [*np.eye(n_rates), *padded]


def _order(
    histograms: Histograms, hit: IntArray, base: IntArray, is_nominal: BoolArray, direction: FloatArray
) -> IntArray:
    """Entries ordered within their segment: values as they are, levels by their rates along a direction."""
    segment = histograms.request
    if len(hit) == 1:
        # Entries are in the order of segments and codes already, which a stable sort keeps.
        mean = hit[0] / np.maximum(base[0], 1)
        return np.lexsort((np.where(is_nominal, mean, 0.0), segment))
    hits = integer_sums(hit, histograms.offsets)[:, segment]
    bases = integer_sums(base, histograms.offsets)[:, segment]
    overall = hits / np.maximum(bases, 1)
    # A level outside a rate's base takes the node's mean of it.
    mean = np.where(base > 0, hit / np.maximum(base, 1), overall)
    spread = np.sqrt(np.maximum(overall * (1 - overall), 1e-12))
    key = np.where(is_nominal, direction @ ((mean - overall) / spread), 0.0)
    return np.lexsort((histograms.codes, key, segment))


def _enumerate(
    histograms: Histograms, rates: Measure, min_bucket: IntArray, segments: IntArray
) -> list[tuple[IntArray, BoolArray, FloatArray]]:
    """All partitions of these segments, a few sizes at a time: (segments, level goes left, statistic)."""
    results = []
    lengths = histograms.lengths[segments]
    for least, q in _SIZES:
        group = segments[(lengths >= least) & (lengths <= q)]
        if group.size == 0:
            continue
        # Segments with fewer levels are padded with empty ones: their partitions repeat, and the first one counts.
        width = histograms.lengths[group, None]
        entries = histograms.offsets[group, None] + np.minimum(np.arange(q), width - 1)
        padded = np.where((np.arange(q) < width)[:, :, None], histograms.counts[entries], 0)
        # Partition J: bit l of J sends level l + 1 to the right; J = 0 would leave the right side empty.
        right = (np.arange(1, 1 << (q - 1))[:, None] >> np.arange(q - 1)) & 1
        step = max(1, _ENTRIES_AT_ONCE // right.size)
        for start in range(0, len(group), step):
            block = group[start : start + step]
            counts = padded[start : start + step]
            total = counts.sum(axis=1)[:, None, :]
            # Exact: integers below 2^53 in floating point, which has fast matrix products.
            fast = np.int64 if np.abs(counts).max(initial=0) * q >= 2**53 else np.float64
            right_counts = (right.astype(fast) @ counts[:, 1:].astype(fast)).astype(np.int64)
            hits, bases = rates.hit(total), rates.base(total)
            margin = rates.margin(hits, bases, rates.squares(total))
            statistic = two_sample(rates, rates.hit(right_counts), rates.base(right_counts), hits, bases, margin)
            n_right, n = rates.people(right_counts), rates.people(total)
            limit = min_bucket[block, None]
            admissible = (n_right >= limit) & (n - n_right >= limit) & (statistic > 0)
            statistic = np.where(admissible, statistic, -np.inf)
            flat = np.arange(len(block) + 1) * len(right)
            position, best = first_best(statistic.ravel(), flat)
            ok = position >= 0
            members = np.ones((len(block), q), bool)
            members[ok, 1:] = right[position[ok] - flat[:-1][ok]] == 0
            results.append((block, members, np.where(ok, best, 0.0)))
    return results
