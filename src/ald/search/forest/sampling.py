"""GROW: Step 1, a forest on samples of the data, by the fastest splitter that can hold it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from threading import Lock

import numpy as np

from ald._core.arrays import AnyArray, IntArray
from ald._core.threads import in_threads
from ald.data import packing
from ald.data.coded import AuditData
from ald.data.hashing import row_hashes
from ald.data.inputs.memory import machine_memory
from ald.data.packing import PackedRows
from ald.groups.tree import Forest
from ald.notions import Measure
from ald.search.forest.counting import Counter, MemoryCounter
from ald.search.forest.growth import grow
from ald.search.forest.histograms import HistogramSplitter
from ald.search.forest.packed import PackedSplitter
from ald.search.forest.rules import SAMPLE_SHARE, GrowthRules
from ald.search.forest.splitter import Splitter

# Rows of all samples below which drawing them in threads costs more than it saves.
_WORTH_A_THREAD = 500_000
# Bytes per row of a tree's sample where rows are not packed.
_UNPACKED_BYTES = 16
# Rows of all trees from which threads grow trees of their own.
_WORTH_GROUPS = 5_000_000
# Bytes of samples of amounts that a thread holds, if one tree does not need more.
_BYTES_AT_ONCE = 1 << 26
# The part of the memory that is for growing trees.
_SHARE_FOR_TREES = 4


def bytes_per_row(data: AuditData) -> int:
    """The memory that growing one tree takes for every row of the data."""
    if not packing.available(data):
        return _UNPACKED_BYTES
    return 8 * packing.words_per_row(data)


def counter_of(data: AuditData, samples: Sequence[IntArray]) -> Counter:
    """The faster counter of those that can hold this data. samples: per tree how often each row is in its sample."""
    return PackedSplitter.of(data, samples) if packing.available(data) else MemoryCounter(data, samples)


def splitter_of(data: AuditData, samples: Sequence[IntArray]) -> Splitter:
    """The fastest splitter of those that can hold this data. samples: as for a counter."""
    if packing.available(data):
        return PackedSplitter.of(data, samples)
    return HistogramSplitter(MemoryCounter(data, samples))


def grow_forest(
    data: AuditData,
    rates: Measure,
    rules: GrowthRules,
    rngs: Sequence[np.random.Generator],
    *,
    given: IntArray | None = None,
    effect: float = 1.0,
    threads: int = 1,
    progress: Callable[[float], None] | None = None,
    rows: PackedRows | None = None,
    room: AnyArray | None = None,
) -> Forest:
    """A forest of conditional inference trees, each on a sample of the data: everyone is in it with chance 0.632.

    given: the stratum of every row; tests and splits are then within strata. effect: by how much clusters or weights
    inflate test statistics. rows: of the data, if they are packed already; room: for those of all trees.
    """
    n_cells = data.n_cells
    splitter: Splitter
    if given is None and packing.available(data):
        splitter = PackedSplitter.draw(data, SAMPLE_SHARE, rngs, threads, rows, room)
    else:
        drawers = threads if len(rngs) * len(data.cells) >= _WORTH_A_THREAD else 1
        data = replace(data, hashes=row_hashes(data, threads))
        samples = in_threads(lambda rng: data.sample(SAMPLE_SHARE, rng), rngs, drawers)
        if given is not None:
            cells = (given * n_cells + data.cells).astype(np.uint8)
            data = replace(data, cells=cells, n_cells=n_cells * (int(given.max()) + 1))
        splitter = HistogramSplitter(MemoryCounter(data, samples, threads), threads)
    return grow(
        splitter, data.attributes, data.scores(), rates, rules, rngs, n_cells=n_cells, effect=effect, progress=progress
    )


def grow_within_memory(
    data: AuditData,
    rates: Measure,
    rules: GrowthRules,
    rngs: Sequence[np.random.Generator],
    *,
    given: IntArray | None = None,
    effect: float = 1.0,
    threads: int = 1,
    progress: Callable[[float], None],
    memory_limit: int | None = None,
) -> Forest:
    """The same forest as that of `grow_forest`, as many trees at a time as the memory holds."""
    done, telling = np.zeros(len(rngs)), Lock()
    rows = PackedRows.of(data, threads) if given is None and packing.available(data) else None

    of_tree = len(data.cells) * bytes_per_row(data)
    # New memory has to be cleared, which takes as long as growing on it: amounts, which take more, use some again.
    again = rows is not None and data.design.amounts is not None
    rooms: list[AnyArray] = []

    def grown(part: slice, threads: int) -> Forest:
        def share(of_part: float) -> None:
            # Callers hear of one step at a time, and never of less than before.
            with telling:
                done[part] = of_part
                progress(float(done.mean()))

        room = None
        if again and rows is not None:
            room = rooms.pop() if rooms else np.empty(0, np.uint64)
            needed = (part.stop - part.start) * rows.words.size
            room = room if len(room) >= needed else np.empty(needed, np.uint64)
        forest = grow_forest(
            data, rates, rules, rngs[part],
            given=given, effect=effect, threads=threads, progress=share, rows=rows, room=room,
        )  # fmt: skip
        if room is not None:
            rooms.append(room)
        return forest

    forests = []
    for part in tree_parts(of_tree, len(rngs), memory_limit):
        # With many rows every thread grows trees of its own: while one asks for statistics, another counts.
        trees = part.stop - part.start
        groups = min(threads, trees) if trees * len(data.cells) >= _WORTH_GROUPS else 1
        rounds = -(-trees * of_tree // (groups * _BYTES_AT_ONCE)) if again else 1
        edges = np.linspace(part.start, part.stop, min(groups * rounds, trees) + 1).astype(int).tolist()
        pieces = [slice(a, b) for a, b in pairwise(edges)]
        forests += in_threads(partial(grown, threads=threads // groups), pieces, groups)
    return Forest.concatenate(forests)


def tree_parts(tree: int, trees: int, memory_limit: int | None) -> list[slice]:
    """The trees that are grown at a time. Every tree has a generator of its own, so this changes no result.

    tree: the bytes that growing one tree takes.

    >>> tree_parts(16 * 10**7, 25, 4 * 10**9)
    [slice(0, 6, None), slice(6, 12, None), slice(12, 18, None), slice(18, 24, None), slice(24, 25, None)]
    """
    limit = memory_limit or (machine_memory() // 2)
    most = max(1, limit // _SHARE_FOR_TREES // max(tree, 1))
    return [slice(start, min(start + most, trees)) for start in range(0, trees, most)]
