"""GROW: Step 1, a forest on samples of the data, by the fastest splitter that can hold it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ald._core.arrays import IntArray
from ald._core.threads import in_threads
from ald.data.coded import AuditData
from ald.groups.tree import Forest
from ald.notions import RateCounter
from ald.search.forest import packed
from ald.search.forest.counting import Counter, MemoryCounter
from ald.search.forest.growth import grow
from ald.search.forest.histograms import HistogramSplitter
from ald.search.forest.packed import PackedRows, PackedSplitter
from ald.search.forest.rules import SAMPLE_SHARE, GrowthRules
from ald.search.forest.splitter import Splitter

# Rows of all samples below which drawing them in threads costs more than it saves.
_WORTH_A_THREAD = 500_000
# Bytes per row of a tree's sample where rows are not packed.
_UNPACKED_BYTES = 16


def bytes_per_row(data: AuditData) -> int:
    """The memory that growing one tree takes for every row of the data."""
    if not packed.available(data):
        return _UNPACKED_BYTES
    return 8 * packed.words_per_row(data)


def counter_of(data: AuditData, samples: Sequence[IntArray]) -> Counter:
    """The faster counter of those that can hold this data. samples: per tree how often each row is in its sample."""
    return PackedSplitter.of(data, samples) if packed.available(data) else MemoryCounter(data, samples)


def splitter_of(data: AuditData, samples: Sequence[IntArray]) -> Splitter:
    """The fastest splitter of those that can hold this data. samples: as for a counter."""
    if packed.available(data):
        return PackedSplitter.of(data, samples)
    return HistogramSplitter(MemoryCounter(data, samples))


def grow_forest(
    data: AuditData,
    rates: RateCounter,
    rules: GrowthRules,
    rngs: Sequence[np.random.Generator],
    *,
    given: IntArray | None = None,
    effect: float = 1.0,
    threads: int = 1,
    progress: Callable[[float], None] | None = None,
    rows: PackedRows | None = None,
) -> Forest:
    """A forest of conditional inference trees, each on 0.632 of the data drawn without replacement.

    given: the stratum of every row; tests and splits are then within strata. effect: by how much clusters or weights
    inflate test statistics. rows: of the data, if they are packed already.
    """
    n_cells = data.n_cells
    splitter: Splitter
    if given is None and packed.available(data):
        splitter = PackedSplitter.drawn(data, SAMPLE_SHARE, rngs, threads, rows)
    else:
        drawers = threads if len(rngs) * len(data.cells) >= _WORTH_A_THREAD else 1
        samples = in_threads(lambda rng: data.sample(SAMPLE_SHARE, rng), rngs, drawers)
        if given is not None:
            cells = (given * n_cells + data.cells).astype(np.uint8)
            data = replace(data, cells=cells, n_cells=n_cells * (int(given.max()) + 1))
        splitter = HistogramSplitter(MemoryCounter(data, samples, threads), threads)
    return grow(
        splitter, data.attributes, data.scores(), rates, rules, rngs, n_cells=n_cells, effect=effect, progress=progress
    )
