"""How fast rows are counted, level by level, against a plain C loop that reads the same bytes once.

The 25 trees of an audit grow on samples of half of the rows of benchmarks/scale.py. A row is one word of eight bytes.
Counting a node fills, from all its rows, the histograms of the attributes that the node draws, and empties them again;
visiting it tests these attributes too. The loop adds up the words of an array of the same size. Prints bytes per second
of all three, and the ratios to the loop, for every level, with one thread each and with two. Needs a C compiler and
lightgbm (for benchmarks/scale.py).

    python benchmarks/counting.py [rows]
"""

from __future__ import annotations

import ctypes
import itertools
import os
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scale import make

from ald._core.kernels import chunks
from ald._core.threads import in_threads
from ald.notions import SELECTION, RateCounter
from ald.search.forest.growth import grow
from ald.search.forest.packed import KernelTest, PackedSplitter, Visit
from ald.search.forest.rules import SAMPLE_SHARE, GrowthRules

REPEATS = 5
TREES = 25
HERE = Path(__file__).parent


def compiled(folder: Path) -> ctypes.CDLL:
    """The kernel's counting, and the plain loop, as the kernel is compiled."""
    library = folder / "counting.so"
    include = [f"-I{HERE.parent / 'src' / 'ald' / '_core'}", f"-I{sysconfig.get_path('include')}"]
    command = ["cc", "-O3", "-shared", "-fPIC", *include, "-o", str(library), str(HERE / "counting.c")]
    subprocess.run(command, check=True)
    found = ctypes.CDLL(str(library))
    number, array = ctypes.c_int64, ctypes.c_void_p
    found.count_nodes.argtypes = [
        number, number, number, array, array, number, array, array, number, array, ctypes.c_int,
    ]  # fmt: skip
    found.count_nodes.restype = number
    found.total.argtypes, found.total.restype = [array, number], ctypes.c_uint64
    return found


def median_seconds(work: Callable[[], object]) -> float:
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


@dataclass(frozen=True, kw_only=True)
class Level:
    nodes: int
    rows: int
    attributes: int
    counting: float
    visiting: float


class Timed(PackedSplitter):
    """Counts and visits every level REPEATS times more, without looking for cuts, and takes the time."""

    library: ClassVar[ctypes.CDLL]
    levels: ClassVar[list[Level]]

    def visit(self, nodes: Any, drawn: Any, min_bucket: Any, test: KernelTest) -> Visit:
        found = super().visit(nodes, drawn, min_bucket, test)
        never = replace(test, critical=np.full(1000, np.inf))
        visiting = median_seconds(lambda: super(Timed, self).visit(nodes, drawn, min_bucket, never))
        rows = self._ends[nodes] - self._starts[nodes]
        counted = self.count(nodes, drawn, look=True)
        assert counted == rows.sum() * drawn.shape[1], "rows were lost"
        counting = median_seconds(lambda: self.count(nodes, drawn))
        level = Level(
            nodes=len(nodes), rows=int(rows.sum()), attributes=drawn.shape[1], counting=counting, visiting=visiting
        )
        self.levels.append(level)
        return found

    def count(self, nodes: Any, drawn: Any, *, look: bool = False) -> int:
        """Counts the drawn attributes of nodes, and, if looked at, how many people are in the histograms."""
        layout, rows = self._layout, self._rows
        fields = np.ascontiguousarray(layout.fields(self._sizes)[:4])
        starts, ends = self._starts[nodes], self._ends[nodes]
        drawn = np.ascontiguousarray(drawn)

        def part(of: slice) -> int:
            start, end, attributes = starts[of], ends[of], drawn[of]
            return int(
                self.library.count_nodes(
                    layout.n_words, layout.cell_bits, len(self._sizes), fields.ctypes.data, rows.ctypes.data,
                    len(start), start.ctypes.data, end.ctypes.data, drawn.shape[1], attributes.ctypes.data, int(look),
                )
            )  # fmt: skip

        return sum(in_threads(part, chunks(ends - starts, self._threads, 1), self._threads))


def reading(library: ctypes.CDLL, words: int, threads: int) -> float:
    """Seconds that the loop takes for so many words, each thread for its part."""
    buffer = np.ones(words, np.uint64)
    edges = np.linspace(0, words, threads + 1).astype(int).tolist()
    parts = [buffer[start:end] for start, end in itertools.pairwise(edges)]
    return median_seconds(lambda: in_threads(lambda part: library.total(part.ctypes.data, len(part)), parts, threads))


def main() -> None:
    n = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**7
    data = make(n)
    d1, _ = data.halves(np.random.default_rng(0))
    with tempfile.TemporaryDirectory() as folder:
        Timed.library = compiled(Path(folder))
        for threads in (1, 2):
            Timed.levels = []
            rngs = [np.random.default_rng(seed) for seed in range(TREES)]
            splitter = Timed.draw(d1, SAMPLE_SHARE, rngs, threads)
            width = splitter._rows.itemsize * splitter._rows.shape[1]
            grow(splitter, d1.attributes, d1.scores(), RateCounter((SELECTION,), 2), GrowthRules(), rngs)
            print(
                f"{n:,} rows of {width} bytes, {Timed.levels[0].attributes} attributes counted, threads {threads}, "
                f"load {os.getloadavg()[0]:.2f}, medians of {REPEATS}"
            )
            loops = [reading(Timed.library, level.rows, threads) for level in Timed.levels]
            for depth, (level, loop) in enumerate(zip(Timed.levels, loops, strict=True)):
                report(f"level {depth:2d}", level, loop, width)
            everything = Level(
                nodes=sum(level.nodes for level in Timed.levels),
                rows=sum(level.rows for level in Timed.levels),
                attributes=Timed.levels[0].attributes,
                counting=sum(level.counting for level in Timed.levels),
                visiting=sum(level.visiting for level in Timed.levels),
            )
            report("together", everything, sum(loops), width)


def report(name: str, level: Level, loop: float, width: int) -> None:
    size = level.rows * width / 1e9
    print(
        f"{name}: {level.nodes:6d} nodes, {level.rows:13,} rows: loop {size / loop:5.2f} GB/s, "
        f"counting {size / level.counting:5.2f} GB/s ({loop / level.counting:.2f}), "
        f"with tests {size / level.visiting:5.2f} GB/s ({loop / level.visiting:.2f})"
    )


if __name__ == "__main__":
    main()
