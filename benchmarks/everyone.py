"""Everyone searched and tested: 999 shuffles in every round against the same search without shuffles, in one run.

The data set of hidden combinations with irrelevant attributes, 10,000 people x 20 attributes unless said otherwise.
"Without shuffles" are the same rounds: the search that halves get, of everyone, which takes as many groups; and all
combinations made ready to be scored, which leaves out one score of the data. What everything takes is held against both
together, and against the search of groups alone, which claims nothing of combinations. CPU seconds of one thread, the
best of three. Random halves (found again, and what a group shows on new people) are timed apart. Then whole audits, in
wall time with all threads, by size: `ald.pipeline.EVERYONE` is chosen so that they take about two seconds on two cores.

    OPENBLAS_NUM_THREADS=1 python benchmarks/everyone.py [people attributes]
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any

import ald
from ald.data.inputs.sources import load
from ald.data.prepare import prepare
from ald.data.roles import Roles
from ald.datasets import make_synthetic
from ald.groups.membership import Members
from ald.notions import OUTCOME_CELLS, SELECTION, RateCounter
from ald.pipeline import EVERYONE
from ald.search.everyone.again import found_again
from ald.search.everyone.beyond import Beyond, Combinations
from ald.search.everyone.layout import layout
from ald.search.everyone.rounds import SHUFFLES, Everyone
from ald.search.everyone.sizes import expected_size
from ald.search.explore.representatives import representatives
from ald.search.explore.scoring import Aim

LEVEL = 0.025
REPEATS = 3
SIZES = ((1_000, 20), (10_000, 5), (10_000, 20), (40_000, 5))


def best(function: Callable[[], Any]) -> tuple[float, Any]:
    """The least CPU time, and the result."""
    times, result = [], None
    for _ in range(REPEATS):
        start = time.process_time()
        result = function()
        times.append(time.process_time() - start)
    return min(times), result


def main() -> None:
    people, attributes = [int(float(word)) for word in sys.argv[1:]] or (10_000, 20)
    columns = make_synthetic(2, n=people, rho=0.2, irrelevant=attributes - 3, seed=1)
    data = prepare(load(columns), Roles(outcome="y"), OUTCOME_CELLS).data
    rates, aim = RateCounter([SELECTION], 2), Aim()
    print(f"{people:,} people x {attributes}, {SHUFFLES} shuffles per round, load {os.getloadavg()[0]:.2f}")
    groups, found = best(lambda: list(Everyone(data, rates, aim, level=LEVEL).rounds()))
    listed = [one for one in found if one.listed]
    plain, _ = best(lambda: representatives(data, rates, Members([], data.attributes), len(listed), aim=aim))
    described = Everyone(data, rates, aim, level=LEVEL).described
    together, combined = best(lambda: list(Combinations(data, rates, aim, level=LEVEL, described=described).rounds()))
    ready, _ = best(lambda: [Beyond(described[0], layout(data, rates, one.strata)) for one in combined])
    print(f"  without shuffles: groups {plain:.3f} s CPU, combinations {ready:.3f} s")
    print(f"  groups: {len(found)} rounds, {groups:.3f} s, {groups / plain:.1f} times")
    print(f"  combinations: {len(combined)} rounds, {together:.3f} s, {together / ready:.1f} times")
    print(f"  both: {(groups + together) / (plain + ready):.1f} times the same rounds without shuffles; "
          f"{(groups + together) / plain:.1f} times those of groups alone")  # fmt: skip
    again, _ = best(lambda: found_again([(one.criterion, one.strata) for one in listed], data, rates, aim))
    sizes, _ = best(lambda: [expected_size(one.criterion, one.strata, data, rates) for one in listed])
    print(f"  random halves: searched again {again:.2f} s, sizes on new people {sizes:.2f} s", flush=True)
    for n, k in SIZES:
        columns = make_synthetic(2, n=n, rho=0.2, irrelevant=k - 3, seed=1)
        times = []
        for _ in range(REPEATS):
            start = time.perf_counter()
            ald.audit(columns, outcome="y", split="none")
            times.append(time.perf_counter() - start)
        print(f"  whole audit, {n:,} x {k} ({n * k / EVERYONE:.2f} of the limit): {min(times):.2f} s", flush=True)


if __name__ == "__main__":
    main()
