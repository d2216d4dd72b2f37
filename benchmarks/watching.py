"""How often watching raises an alarm though nothing changed, and after how many looks it finds a change.

Months of 2,000 people, of whom 10 % are in the watched group, and 24 planned looks. Months differ for everyone alike.

    python benchmarks/watching.py alarms RUNS     false alarms in series without a change
    python benchmarks/watching.py delays RUNS     looks until a change of 10 points is found
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np

from ald.statistics.score import Tables
from ald.statistics.sequential import Change, Looks
from ald.watching.gaps import RateGaps
from ald.watching.watching import take_looks

LOOKS, LEVEL = 24, 0.05
PEOPLE, SHARE = 2_000, 0.1
CHANGE = -0.1
WITHIN = (1, 2, 3, 6, 12)


def series(rng: np.random.Generator, rate: float, change: float = 0.0, at: int = LOOKS + 1) -> Tables:
    """A month of people for the start and for every look: hits and people inside and outside the group."""
    months = np.arange(LOOKS + 1)
    people = rng.binomial(PEOPLE, SHARE, len(months))
    others = rate + 0.2 * rate * np.sin(months / 4)
    inside = others - 0.1 * rate + np.where(months >= at, change, 0.0)
    return Tables(
        hits_in=rng.binomial(people, inside)[:, None],
        base_in=people[:, None],
        hits_out=rng.binomial(PEOPLE - people, others)[:, None],
        base_out=(PEOPLE - people)[:, None],
        by_margins=False,
    )


def looks(tables: Tables, groups: int) -> Iterator[tuple[int, Change]]:
    """Look by look, where so many groups share the level."""
    return enumerate(take_looks(RateGaps(tables=tables), Looks(LOOKS, LEVEL / groups)))


def first_alarm(tables: Tables, groups: int) -> int | None:
    """The month of the first alarm; 0 is the one before the first look."""
    return next((month for month, look in looks(tables, groups) if look.alarm), None)


def count_alarms(runs: int) -> None:
    """Series without a change that raise an alarm at any look."""
    print("| favourable | series | with an alarm |", "|--:|--:|--:|", sep="\n")
    for rate in (0.5, 0.05):
        rng = np.random.default_rng(1)
        alarms = sum(first_alarm(series(rng, rate), 1) is not None for _ in range(runs))
        print(f"| {rate:.0%} | {runs:,} | {alarms / runs:.1%} |", flush=True)


def count_looks(runs: int) -> None:
    """Looks until a change is found, counted from the first month that has it."""
    heads = [f"within {k} look{'s' * (k > 1)}" for k in WITHIN]
    print(f"| groups watched | months before | {' | '.join(heads)} | half are found within | alarm before the change |")
    print("|--:|--:" + "|--:" * len(WITHIN) + "|--:|--:|")
    for groups in (1, 3):
        for at in (1, 6, 12, 18):
            rng = np.random.default_rng(2)
            found = [first_alarm(series(rng, 0.5, CHANGE, at), groups) for _ in range(runs)]
            early = sum(month is not None and month < at for month in found)
            delays = np.array([month - at + 1 for month in found if month is not None and month >= at])
            shares = [f"{(delays <= k).sum() / runs:.0%}" for k in WITHIN]
            enough = np.sort(delays)[(runs + 1) // 2 - 1] if len(delays) >= (runs + 1) // 2 else "–"
            print(f"| {groups} | {at} | {' | '.join(shares)} | {enough} | {early / runs:.1%} |", flush=True)


if __name__ == "__main__":
    measures = {"alarms": count_alarms, "delays": count_looks}
    if len(sys.argv) != 3 or sys.argv[1] not in measures:
        sys.exit(__doc__)
    measures[sys.argv[1]](int(sys.argv[2]))
