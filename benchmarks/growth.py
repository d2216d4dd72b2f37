"""How the time and the memory of an audit grow with rows, attributes, values and trees.

From coded arrays to ranked findings, all threads, both presets; one thing changes at a time, and every run is a process
of its own, after one audit of a few rows. Prints seconds (medians), their ratio to the first line of each block, and
the peak memory beyond that before the audit.

    python benchmarks/growth.py
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import time

import numpy as np

from ald._core.threads import available_threads
from ald.data.coded import Attribute, AuditData
from ald.data.columns import compact
from ald.options import AuditConfig
from ald.pipeline import assess_groups, grow, rank_groups, seeds_of
from ald.questions import questions
from ald.rows.local import LocalHalves

BASE = {"rows": 10**6, "attributes": 10, "values": 255, "trees": 25}
CHANGES = {
    "rows": (10**4, 10**5, 10**6, 10**7),
    "attributes": (5, 10, 20, 40),
    "values": (16, 255, 4096),
    "trees": (5, 25, 100),
}
REPEATS = 3


def make(rows: int, attributes: int, values: int) -> AuditData:
    """Half of the attributes numbers with so many values, half unordered with 8 levels; a few of each matter."""
    rng = np.random.default_rng(0)
    half = attributes // 2
    codes = [compact(rng.integers(0, values, rows), values) for _ in range(attributes - half)]
    codes += [rng.integers(0, 8, rows, dtype=np.uint8) for _ in range(half)]
    score = 1.5 * (codes[0] / values - 0.5) + (codes[1] / values - 0.5) + 0.1 * (codes[-1] - 3.5)
    return AuditData(
        attributes=(
            *(
                Attribute(name=f"x{k}", kind="numeric", values=np.arange(float(values)))
                for k in range(attributes - half)
            ),
            *(Attribute(name=f"c{k}", kind="nominal", levels=tuple("abcdefgh")) for k in range(half)),
        ),
        codes=tuple(codes),
        cells=(rng.random(rows) < 1 / (1 + np.exp(-score))).astype(np.uint8),
        counts=np.ones(rows, np.int64),
        n_cells=2,
    )


def audit(data: AuditData, search: str, trees: int) -> None:
    """Everything from halves to ranks."""
    config = AuditConfig(notion="statistical parity", outcome="y", split="random", search=search, trees=trees)  # type: ignore[arg-type]
    halves_seed, forest_seed = seeds_of(config, 0)
    halves = LocalHalves.of(data, None, config, halves_seed, available_threads())
    grown = grow(halves, questions(config), config, forest_seed, say_nothing)
    rank_groups(grown.halves, assess_groups(grown, config, say_nothing), config, say_nothing)


def say_nothing(step: str, share: float) -> None:
    """Nobody asked how far the audit is."""


def gibibytes() -> float:
    """The peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def measure(preset: str | None, rows: int, attributes: int, values: int, trees: int) -> tuple[float, float]:
    """Seconds and gibibytes of one setting."""
    audit(make(2000, attributes, values), preset, 2)
    data = make(rows, attributes, values)
    before, times = gibibytes(), []
    for _ in range(REPEATS):
        start = time.perf_counter()
        audit(data, preset, trees)
        times.append(time.perf_counter() - start)
    return statistics.median(times), gibibytes() - before


def main() -> None:
    if len(sys.argv) > 1:
        print(json.dumps(measure(**json.loads(sys.argv[1]))))
        return
    print(f"load {os.getloadavg()[0]:.2f}, medians of {REPEATS}; where nothing else is said: {BASE}")
    for preset in ("paper", None):
        for name, values in CHANGES.items():
            first = None
            for value in values:
                setting = json.dumps({"preset": preset, **BASE, name: value})
                done = subprocess.run([sys.executable, __file__, setting], check=True, capture_output=True, text=True)
                seconds, memory = json.loads(done.stdout)
                first = first or seconds
                print(
                    f"preset {preset}, {name} {value:,}: {seconds:.3f} s, {seconds / first:.1f} times the first, "
                    f"{memory:.2f} GiB",
                    flush=True,
                )


if __name__ == "__main__":
    main()
