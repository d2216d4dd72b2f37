"""How fast rows are counted, level by level, against a plain C loop that reads as many bytes once.

One tree grows on a sample of half of the rows of benchmarks/scale.py. Counting a row for one attribute reads its number
(four bytes), its code and its cell (one byte each). The loop adds up the bytes of an array of that size, one thread
each. Prints bytes per second of both, and their ratio, for every level. Needs a C compiler and lightgbm (for
benchmarks/scale.py).

    python benchmarks/counting.py [rows]
"""

from __future__ import annotations

import ctypes
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from scale import make

from ald.notions import SELECTION, RateCounter
from ald.search.counting import Histograms, MemoryCounter
from ald.search.growth import SAMPLE_SHARE, GrowthRules, grow

BYTES = 4 + 1 + 1
REPEATS = 5
SOURCE = """
#include <stdint.h>
#include <stddef.h>
uint64_t total(const uint8_t *bytes, size_t n) {
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += bytes[i];
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


class Timed(MemoryCounter):
    """A counter that times every level REPEATS times."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.levels: list[tuple[int, int, float]] = []

    def histograms(self, nodes: Any, attributes: Any) -> Histograms:
        times = []
        for _ in range(REPEATS):
            start = time.perf_counter()
            found = super().histograms(nodes, attributes)
            times.append(time.perf_counter() - start)
        visits = int((self._ends - self._starts)[nodes].sum())
        self.levels.append((len(np.unique(nodes)), visits, statistics.median(times)))
        return found


def main() -> None:
    n = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**7
    data = make(n)
    d1, _ = data.halves(np.random.default_rng(0))
    rng = np.random.default_rng(1)
    counter = Timed(d1, [d1.sample(SAMPLE_SHARE, rng)], 1)
    grow(counter, d1.attributes, d1.scores(), RateCounter((SELECTION,), 2), GrowthRules(), [rng])
    print(f"{n:,} rows, load {os.getloadavg()[0]:.2f}, medians of {REPEATS}, one thread")
    with tempfile.TemporaryDirectory() as folder:
        total = plain_loop(Path(folder))
        for depth, (nodes, visits, seconds) in enumerate(counter.levels):
            buffer = np.ones(visits * BYTES, np.uint8)
            times = []
            for _ in range(REPEATS):
                start = time.perf_counter()
                total(buffer.ctypes.data, len(buffer))
                times.append(time.perf_counter() - start)
            ours, loop = visits * BYTES / seconds / 1e9, visits * BYTES / statistics.median(times) / 1e9
            print(
                f"level {depth:2d}: {nodes:5d} nodes, {visits:11,} rows x attributes: {ours:5.2f} GB/s, "
                f"plain loop {loop:5.2f} GB/s, ratio {ours / loop:.2f}"
            )


if __name__ == "__main__":
    main()
