"""Results of the study as if they had been measured."""

from __future__ import annotations

from collections.abc import Callable

from ald.study.cases import Case
from ald.study.grids import LOCATION, SWEEPS, VARIANTS
from ald.study.systems import Result


def outcomes(share: float, runs: int = 100, race: bool = True) -> list[Result]:
    return [Result(located=i < share * runs, strict=i < share * runs, listed=1, race=race) for i in range(runs)]


Share = float | Callable[[Case], float]


def measured(**shares: Share) -> dict[Case, list[Result]]:
    """All cases of all systems, each system with one location rate everywhere, or one that depends on the case."""
    default = {"ald": 1.0, "ald_paper": 0.6}
    out = {}
    for sweep in SWEEPS:
        for system in dict.fromkeys((*LOCATION, *VARIANTS)):
            key = system.replace("-", "_")
            for case in sweep.cases((system,)):
                share = shares.get(key, default.get(key, 0.0))
                out[case] = outcomes(share(case) if callable(share) else share)
    return out
