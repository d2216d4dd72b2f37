"""A whole audit of Adult against fitting scikit-learn's random forest alone, in the same run.

Adult (48,842 rows, five attributes) is read from the folder that ALD_DATA names. Prints medians, the load of the
machine and the ratio; absolute times mean little. Then the command, cold, against importing SciPy and DuckDB.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.preprocessing import OrdinalEncoder

import ald

ATTRIBUTES = ["age", "relationship", "sex", "race", "marital_status"]
REPEATS = 9


def median(function: Callable[[], Any]) -> float:
    function()
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def cold(*command: str) -> Callable[[], Any]:
    """A process of its own."""
    return lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    folder = os.environ.get("ALD_DATA")
    if not folder or not (Path(folder) / "adult.csv").exists():
        sys.exit("set ALD_DATA to a folder that holds adult.csv")
    frame = pd.read_csv(Path(folder) / "adult.csv")[[*ATTRIBUTES, "income"]]
    half = frame.sample(len(frame) // 2, random_state=0)
    x = OrdinalEncoder().fit_transform(half[ATTRIBUTES])
    y = (half["income"] == ">50K").to_numpy().astype(np.int64)

    def fit(jobs: int) -> Callable[[], Any]:
        forest = RandomForestClassifier(25, max_depth=8, min_samples_leaf=100, n_jobs=jobs, random_state=0)
        return lambda: forest.fit(x, y)

    peer = {jobs: median(fit(jobs)) for jobs in (1, 2)}
    best = min(peer.values())
    print(f"load {os.getloadavg()[0]:.2f}, medians of {REPEATS}")
    print(f"scikit-learn fit alone: {peer[1] * 1e3:.1f} ms with 1 job, {peer[2] * 1e3:.1f} ms with 2")
    for search, split in (("paper", "auto"), ("default", "auto"), ("default", "none")):
        ours = median(lambda search=search, split=split: ald.audit(  # type: ignore[misc]
            frame, outcome="income", favourable=">50K", attributes=ATTRIBUTES, search=search, split=split))  # fmt: skip
        print(f"ald, whole audit, search {search}, split {split}: {ours * 1e3:.1f} ms: {ours / best:.2f} times as long "
              f"as the fit, {best / ours:.2f} times as fast")  # fmt: skip
    path = str(Path(folder) / "adult.csv")
    options = ["--outcome", "income", "--favourable", ">50K", "--attributes", ",".join(ATTRIBUTES)]
    command = median(cold(sys.executable, "-m", "ald", "audit", path, *options))
    imports = median(cold(sys.executable, "-c", "import scipy.stats, duckdb"))
    print(f"`ald audit`, cold: {command:.2f} s: {command / imports:.2f} times as long as importing SciPy and DuckDB")


if __name__ == "__main__":
    main()
