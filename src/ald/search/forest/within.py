"""Association tests and splits within strata of legitimate factors: what `association` and `splitting` do without.

In a node every stratum has its own rate. A value's people have `excess` hits beyond what their strata let expect, and a
`spread` of hits: both add up over values, and over strata. The variance of a sum of excesses over some values is
taken as if these values had the same share of every stratum: never too small, and exact with one stratum.
"""

from __future__ import annotations

import numpy as np

from ald._core.arrays import BoolArray, FloatArray, IntArray
from ald._core.segments import TIE, first_best, float_sums, integer_sums, running_sums
from ald.notions import RateCounter
from ald.search.forest.association import Association, combine, scale_scores
from ald.search.forest.counting import Histograms
from ald.search.forest.splitting import Splits, directions


def _terms(histograms: Histograms, rates: RateCounter, n_cells: int) -> tuple[FloatArray, FloatArray]:
    """Excess and spread of every entry, [rates, entries]."""
    counts = np.moveaxis(histograms.counts.reshape(len(histograms.counts), -1, n_cells), 1, 0)
    hit, base = rates.hit(counts), rates.base(counts)
    hits, bases = integer_sums(hit, histograms.offsets), integer_sums(base, histograms.offsets)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(bases > 1, hits / bases, 0.0)
        spread = np.where(bases > 1, mean * (1.0 - mean) * bases / (bases - 1.0), 0.0)
    used = (bases > 1)[..., histograms.request]
    excess = np.where(used, hit - base * mean[..., histograms.request], 0.0)
    return excess.sum(axis=1), (base * spread[..., histograms.request]).sum(axis=1)


def associate_within(
    histograms: Histograms, nominal: BoolArray, scores: FloatArray, rates: RateCounter, n_cells: int, effect: float
) -> Association:
    """As `associate`, within strata: the counts of every entry are those of all strata, `n_cells` each."""
    offsets, segment = histograms.offsets, histograms.request
    excess, spread = _terms(histograms, rates, n_cells)
    present = integer_sums(spread > 0, offsets)
    testable = present >= 2
    is_nominal = nominal[segment]
    x = scale_scores(scores, offsets, segment)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = (float_sums(spread * x, offsets) / float_sums(spread, offsets))[:, segment]
        centred = np.where(is_nominal, 0.0, x - mean)
        terms = np.where(is_nominal, np.where(spread > 0, excess**2 / spread, 0.0), excess * centred)
        sums, width = float_sums(terms, offsets), float_sums(spread * centred * centred, offsets)
        statistic = np.where(nominal, sums, np.where(width > 0, sums * sums / width, 0.0))
    df = np.where(testable, np.where(nominal, present - 1, 1), 0)
    return combine(np.where(testable & (statistic > TIE), statistic, 0.0) / effect, df, rates)


def best_splits_within(
    histograms: Histograms, nominal: BoolArray, rates: RateCounter, min_bucket: IntArray, n_cells: int
) -> Splits:
    """As `best_splits`, within strata. Levels are cut in the order of their excess per spread, which with one rate
    contains the best partition."""
    offsets, segment = histograms.offsets, histograms.request
    n = len(offsets) - 1
    excess, spread = _terms(histograms, rates, n_cells)
    people = histograms.counts.sum(axis=1)
    is_nominal = nominal[segment]
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(spread > 0, excess / spread, 0.0)
    found, statistic, goes_left = np.zeros(n, bool), np.zeros(n), np.zeros(len(people), bool)
    for direction in directions(len(rates.rates), enumerated=False):
        order = np.lexsort((histograms.codes, np.where(is_nominal, direction @ mean, 0.0), segment))
        value, n_left = _cuts(excess[:, order], spread[:, order], people[order], offsets)
        rest = float_sums(people, offsets)[segment] - n_left
        limit = min_bucket[segment]
        admissible = (n_left >= limit) & (rest >= limit) & (value > 0)
        position, best = first_best(np.where(admissible, value, -np.inf), offsets)
        better = (position >= 0) & (best > statistic * (1 + TIE))
        found |= better
        statistic = np.where(better, best, statistic)
        chosen = np.empty(len(order), bool)
        chosen[order] = np.arange(len(order)) <= position[segment]
        goes_left = np.where(better[segment], chosen, goes_left)
    filled = histograms.lengths > 0
    flip = np.zeros(n, bool)
    flip[filled] = nominal[filled] & ~goes_left[offsets[:-1][filled]]
    return Splits(found=found, statistic=statistic, goes_left=goes_left ^ flip[segment])


def _cuts(excess: FloatArray, spread: FloatArray, people: IntArray, offsets: IntArray) -> tuple[FloatArray, IntArray]:
    """The statistic of cutting after every entry, summed over rates, and the people up to there."""
    segment = np.repeat(np.arange(len(offsets) - 1), offsets[1:] - offsets[:-1])
    left, width = (_running(values, offsets) for values in (excess, spread))
    total = float_sums(spread, offsets)[:, segment]
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = width * (total - width) / total
        value = np.where(variance > TIE * total, left * left / variance, 0.0)
    return value.sum(axis=0), running_sums(people, offsets)


def _running(values: FloatArray, offsets: IntArray) -> FloatArray:
    """Cumulative sums over the last axis that start anew in every segment."""
    running = np.concatenate([np.zeros((len(values), 1)), np.cumsum(values, axis=1)], axis=1)
    return np.asarray(running[:, 1:] - np.repeat(running[:, offsets[:-1]], offsets[1:] - offsets[:-1], axis=1))
