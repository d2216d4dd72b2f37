"""The association test of an attribute in a node, for many nodes and attributes at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ald._core.arrays import BoolArray, FloatArray, IntArray
from ald._core.segments import float_sums, integer_sums
from ald.notions import Measure
from ald.search.forest.counting import Histograms
from ald.statistics.basics import NOISE, chi2_log_sf


@dataclass(frozen=True, kw_only=True)
class Association:
    """Per request: the quadratic statistic, its degrees of freedom and log p (NaN with df 0: not testable)."""

    statistic: FloatArray
    df: IntArray
    log_p: FloatArray

    @property
    def testable(self) -> BoolArray:
        return np.asarray(self.df > 0)


def associate(
    histograms: Histograms, nominal: BoolArray, scores: FloatArray, rates: Measure, effect: float = 1.0
) -> Association:
    """The association of attributes with the outcome, by the conditional chi2 test of independence.

    `histograms`: observed values only. `nominal` per request: levels without order; otherwise `scores` per entry
    are the numbers correlated with the outcome. Several rates add up where no row counts in two of them; otherwise
    the smallest p counts, times their number. `effect`: by how much clusters or weights inflate the statistic.
    """
    offsets = histograms.offsets
    segment = histograms.request
    hit, base = rates.hit(histograms.counts), rates.base(histograms.counts)
    hits, bases = integer_sums(hit, offsets), integer_sums(base, offsets)
    squares = rates.squares(histograms.counts)
    margin = rates.margin(hits, bases, None if squares is None else integer_sums(squares, offsets))
    present = integer_sums(base > 0, offsets)
    testable = (present >= 2) & (margin > 0)
    # Integers: exactly zero where the outcome does not depend on the value.
    cross = rates.cross(hit, base, hits[:, segment], bases[:, segment])
    is_nominal = nominal[segment]
    x = scale_scores(scores, offsets, segment)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = (float_sums(base * x, offsets) / bases)[:, segment]
        centred = np.where(is_nominal, 0.0, x - mean)
        terms = np.where(is_nominal, np.where(base > 0, cross * cross / base, 0.0), cross * centred)
        sums = float_sums(terms, offsets)
        spread = float_sums(base * centred * centred, offsets)
        statistic = np.where(nominal, sums, sums * sums / spread) / margin * (bases - 1.0) / bases
    df = np.where(testable, np.where(nominal, present - 1, 1), 0)
    statistic = np.where(testable & (statistic >= NOISE), statistic, 0.0)
    return combine(statistic if effect == 1.0 else statistic / effect, df, rates)


def scale_scores(scores: FloatArray, offsets: IntArray, segment: IntArray) -> FloatArray:
    """Scores shifted and scaled to [0, 1] within their segment, where they ascend; the test is invariant."""
    low = np.zeros(len(offsets) - 1)
    high = np.zeros(len(offsets) - 1)
    filled = np.flatnonzero(offsets[1:] > offsets[:-1])
    low[filled], high[filled] = scores[offsets[filled]], scores[offsets[filled + 1] - 1]
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        width = high - low
        x = (scores - low[segment]) / width[segment]
        if np.isinf(width).any():
            halved = (scores / 2 - low[segment] / 2) / (high / 2 - low / 2)[segment]
            x = np.where(np.isinf(width)[segment], halved, x)
    return np.where((width > 0)[segment], x, 0.0)


def combine(statistic: FloatArray, df: IntArray, rates: Measure) -> Association:
    """One test from the rates' tests (first axis)."""
    if rates.disjoint:
        total, degrees = statistic.sum(axis=0), df.sum(axis=0)
        return Association(statistic=total, df=degrees, log_p=chi2_log_sf(total, degrees))
    log_p = chi2_log_sf(statistic, df)
    best = np.argmin(np.where(np.isnan(log_p), np.inf, log_p), axis=0)[None]
    smallest = np.take_along_axis(log_p, best, 0)[0]
    return Association(
        statistic=np.take_along_axis(statistic, best, 0)[0],
        df=np.take_along_axis(df, best, 0)[0],
        log_p=np.minimum(smallest + np.log(len(rates)), 0.0),
    )
