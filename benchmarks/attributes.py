"""The default search on 10^6 rows with 50 attributes, from arrays to the ranked list.

Half of the attributes are numbers, half have four levels; two of them matter together. Prints the median time, the
peak of memory and the load.

    python benchmarks/attributes.py [rows [attributes]]
"""

from __future__ import annotations

import os
import resource
import statistics
import sys
import time

import ald
from ald.datasets import make_synthetic

REPEATS = 5


def main() -> None:
    rows, attributes = [int(float(word)) for word in sys.argv[1:]] or (10**6, 50)
    data = make_synthetic(2, n=rows, irrelevant=attributes - 3)
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        audit = ald.audit(data, outcome="y")
        times.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    seconds = f"{statistics.median(times):.1f} s (median of {REPEATS})"
    print(f"{rows:,} rows, {attributes} attributes: {seconds}, {peak:.1f} GiB, load {os.getloadavg()[0]:.2f}")
    print(audit.groups)


if __name__ == "__main__":
    main()
