"""How fast rows are counted, level by level, against a plain C loop that reads the same bytes once.

The 25 trees of an audit grow on samples of half of the rows of benchmarks/scale.py. A row is one word of eight bytes;
visiting a node counts every row for each of the attributes that the node draws, and tests these. The loop adds up the
words of an array of the same size. Prints bytes per second of both, and their ratio, for every level, with one thread
each and with two. Needs a C compiler and lightgbm (for benchmarks/scale.py).

    python benchmarks/counting.py [rows]
"""

from __future__ import annotations

import ctypes
import itertools
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scale import make

from ald.notions import SELECTION, RateCounter
from ald.search.growth import SAMPLE_SHARE, GrowthRules, grow
from ald.search.packed import PackedCounter, Plan, Tested
from ald.threads import in_threads

REPEATS = 5
TREES = 25
SOURCE = """
#include <stdint.h>
#include <stddef.h>
uint64_t total(const uint64_t *words, size_t n) {
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += words[i];
    }
    return sum;
}
"""


def plain_loop(folder: Path) -> Any:
    """The compiled loop, with the optimisation that the kernel is compiled with."""
    (folder / "total.c").write_text(SOURCE)
    library = folder / "total.so"
    subprocess.run(["cc", "-O3", "-shared", "-fPIC", "-o", library, folder / "total.c"], check=True)
    function = ctypes.CDLL(str(library)).total
    function.argtypes, function.restype = [ctypes.c_void_p, ctypes.c_size_t], ctypes.c_uint64
    return function


class Timed(PackedCounter):
    """A counter that visits every level REPEATS times more, without looking for cuts, and takes the time."""

    levels: ClassVar[list[tuple[int, int, int, float]]]

    def tests(self, nodes: Any, drawn: Any, min_bucket: Any, plan: Plan) -> Tested:
        found = super().tests(nodes, drawn, min_bucket, plan)
        never = replace(plan, critical=np.full(1000, np.inf))
        times = []
        for _ in range(REPEATS):
            start = time.perf_counter()
            super().tests(nodes, drawn, min_bucket, never)
            times.append(time.perf_counter() - start)
        rows = int((self._ends - self._starts)[nodes].sum())
        self.levels.append((len(nodes), rows, drawn.shape[1], statistics.median(times)))
        return found


def reading(total: Any, words: int, threads: int) -> float:
    """Seconds that the loop takes for so many words, each thread for its part."""
    buffer = np.ones(words, np.uint64)
    edges = np.linspace(0, words, threads + 1).astype(int).tolist()
    parts = [buffer[start:end] for start, end in itertools.pairwise(edges)]
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        in_threads(lambda part: total(part.ctypes.data, len(part)), parts, threads)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> None:
    n = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**7
    data = make(n)
    d1, _ = data.halves(np.random.default_rng(0))
    with tempfile.TemporaryDirectory() as folder:
        total = plain_loop(Path(folder))
        for threads in (1, 2):
            Timed.levels = []
            rngs = [np.random.default_rng(seed) for seed in range(TREES)]
            counter = Timed.drawn(d1, SAMPLE_SHARE, rngs, threads)
            width = counter._rows.itemsize * counter._rows.shape[1]
            grow(
                counter, d1.attributes, d1.scores(), RateCounter((SELECTION,), 2), GrowthRules(), rngs, threads=threads
            )
            print(
                f"{n:,} rows of {width} bytes, threads {threads}, load {os.getloadavg()[0]:.2f}, medians of {REPEATS}"
            )
            for depth, (nodes, rows, attributes, seconds) in enumerate(Timed.levels):
                ours, loop = (rows * width / each / 1e9 for each in (seconds, reading(total, rows, threads)))
                print(
                    f"level {depth:2d}: {nodes:6d} nodes, {rows:11,} rows for {attributes} attributes: "
                    f"{ours:5.2f} GB/s, plain loop {loop:5.2f} GB/s, ratio {ours / loop:.2f}"
                )


if __name__ == "__main__":
    main()
