"""How fast rows are counted, level by level, against a plain C loop that reads the same bytes once.

One tree grows on a sample of half of the rows of benchmarks/scale.py. A row is one word of eight bytes; visiting a node
counts every row for each of the attributes that the node draws, and tests these. The loop adds up the words of an
array of the same size, one thread each. Prints bytes per second of both, and their ratio, for every level. Needs a C
compiler and lightgbm (for benchmarks/scale.py).

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
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scale import make

from ald.notions import SELECTION, RateCounter
from ald.search.growth import SAMPLE_SHARE, GrowthRules, grow
from ald.search.packed import PackedCounter, Plan, Tested

REPEATS = 5
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

    levels: ClassVar[list[tuple[int, int, int, float]]] = []

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


def main() -> None:
    n = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**7
    data = make(n)
    d1, _ = data.halves(np.random.default_rng(0))
    rng = np.random.default_rng(1)
    counter = Timed.drawn(d1, SAMPLE_SHARE, [rng])
    width = counter._rows.itemsize * counter._rows.shape[1]
    grow(counter, d1.attributes, d1.scores(), RateCounter((SELECTION,), 2), GrowthRules(), [rng])
    print(f"{n:,} rows of {width} bytes, load {os.getloadavg()[0]:.2f}, medians of {REPEATS}, one thread")
    with tempfile.TemporaryDirectory() as folder:
        total = plain_loop(Path(folder))
        for depth, (nodes, rows, attributes, seconds) in enumerate(Timed.levels):
            buffer = np.ones(rows, np.uint64)
            times = []
            for _ in range(REPEATS):
                start = time.perf_counter()
                total(buffer.ctypes.data, len(buffer))
                times.append(time.perf_counter() - start)
            ours, loop = rows * width / seconds / 1e9, buffer.nbytes / statistics.median(times) / 1e9
            print(
                f"level {depth:2d}: {nodes:6d} nodes, {rows:10,} rows for {attributes} attributes: {ours:5.2f} GB/s, "
                f"plain loop {loop:5.2f} GB/s, ratio {ours / loop:.2f}"
            )


if __name__ == "__main__":
    main()
