"""The best splits of nodes from their histograms, in NumPy: what every place that can only count goes through."""

from __future__ import annotations

from functools import partial

import numpy as np

from ald._core import kernels
from ald._core.arrays import IntArray
from ald._core.threads import in_threads
from ald.notions import RateCounter
from ald.search.forest.association import Association, associate
from ald.search.forest.choice import LevelTests, Select, first_admissible, select_by_log_p
from ald.search.forest.counting import Counter, Histograms, Routing
from ald.search.forest.splitter import BestSplits, Cuts, NodeTest
from ald.search.forest.splitting import best_splits
from ald.search.forest.within import associate_within, best_splits_within

# Entries of histograms that are tested at once.
_ENTRIES_AT_ONCE = 1 << 15
_COLUMNS = ("statistic", "df", "log_p")


class HistogramSplitter:
    """A splitter made of a counter: it asks for the histograms of all attributes drawn, and does the rest itself."""

    def __init__(self, counter: Counter, threads: int = 1, select: Select = select_by_log_p) -> None:
        """select: replaced in tests only, by the reference software's tie rule."""
        self._counter, self._threads, self._select = counter, threads, select

    def roots(self) -> IntArray:
        return self._counter.roots()

    def split(self, routing: Routing) -> None:
        self._counter.split(routing)

    def best_splits(self, nodes: IntArray, drawn: IntArray, min_bucket: IntArray, test: NodeTest) -> BestSplits:
        requests = np.repeat(nodes, drawn.shape[1]), drawn.ravel()
        histograms = without_missing(self._counter.histograms(*requests), drawn.ravel(), test)
        tests = LevelTests.of(nodes, drawn, _associate(histograms, drawn.ravel(), test, self._threads), test.rules)
        least = np.repeat(min_bucket, drawn.shape[1])
        cut = partial(cuts_of, histograms, attributes=drawn.ravel(), min_bucket=least, test=test)
        return tests.split_by(first_admissible(self._select(tests, test.rules.tries), cut))


def without_missing(histograms: Histograms, attributes: IntArray, test: NodeTest) -> Histograms:
    """Without the entries of missing values, which take no part in tests and splits."""
    filled = histograms.lengths > 0
    # A missing value has the largest code, so that it is the last entry of its request.
    last = histograms.offsets[1:][filled] - 1
    missing = last[histograms.codes[last] == test.sizes[attributes[filled]]]
    if len(missing) == 0:
        return histograms
    kept = np.ones(len(histograms.codes), dtype=bool)
    kept[missing] = False
    return histograms.keep(kept)


def cuts_of(
    histograms: Histograms, chosen: IntArray, *, attributes: IntArray, min_bucket: IntArray, test: NodeTest
) -> Cuts:
    """The best splits of some of the requests. attributes, min_bucket: of all requests."""
    some = histograms.select(chosen)
    nominal = test.nominal[attributes[chosen]]
    if some.counts.shape[1] == test.n_cells:
        splits = best_splits(some, nominal, test.rates, min_bucket[chosen])
    else:
        assert isinstance(test.rates, RateCounter)
        splits = best_splits_within(some, nominal, test.rates, min_bucket[chosen], test.n_cells)
    return Cuts.of(chosen, some, splits, nominal)


def _associate(histograms: Histograms, attributes: IntArray, test: NodeTest, threads: int) -> Association:
    """The tests of all requests, a few at a time: their arrays then stay in the processor's cache."""

    def associate_part(part: slice) -> Association:
        some = histograms.part(part)
        attribute = attributes[part]
        scores = test.scores[test.score_start[attribute][some.request] + some.codes]
        nominal = test.nominal[attribute]
        if some.counts.shape[1] == test.n_cells:
            return associate(some, nominal, scores, test.rates, test.effect)
        assert isinstance(test.rates, RateCounter)
        return associate_within(some, nominal, scores, test.rates, test.n_cells, test.effect)

    parts = kernels.chunks(histograms.lengths, 1 + len(histograms.codes) // _ENTRIES_AT_ONCE, 1)
    done = in_threads(associate_part, parts or [slice(0, len(attributes))], threads)
    if len(done) == 1:
        return done[0]
    statistic, df, log_p = (np.concatenate([getattr(one, name) for one in done]) for name in _COLUMNS)
    return Association(statistic=statistic, df=df, log_p=log_p)
