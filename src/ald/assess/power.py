"""What an audit could have seen: the smallest disparity that its tests would have found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from ald._core.arrays import IntArray
from ald.notions import Notion, RateCounter
from ald.statistics.basics import rounded

SHARES = (0.01, 0.02, 0.05, 0.1, 0.25, 0.5)
POWER = 0.8


@dataclass(frozen=True, kw_only=True)
class Detectable:
    """For groups of this share: the smallest |psi| found with 80 % power, had the search proposed exactly this group.

    None: even the largest possible disparity of such a group would be missed more often than that.
    """

    share: float
    psi: float | None
    notion: str = ""
    outcome: str | None = None


def detectable(
    everyone: IntArray,
    notion: Notion,
    level: float,
    tests: int,
    shares: Sequence[float] = SHARES,
    *,
    threshold: float = 0.0,
    effect: float = 1.0,
    outcome: str | None = None,
) -> tuple[Detectable, ...]:
    """The smallest detectable |psi| per share of people, in tests at level / tests.

    Every rate is taken to differ by the same amount; the statistic is then chi2 with as many degrees of freedom as
    rates, and its noncentrality grows with the square of that amount. Beyond a threshold it is the amount beyond it.
    `effect`: by how much clusters or weights make the people fewer than they are.
    """
    rates = RateCounter(notion.rates, len(everyone))
    hits, bases = rates.hit(everyone) / effect, rates.base(everyone) / effect
    df = len(notion.rates)
    critical = special.chdtri(df, level / max(tests, 1))
    noncentrality = float(special.chndtrinc(critical, df, 1.0 - POWER))
    out = []
    for share in shares:
        mean = hits / np.maximum(bases, 1.0)
        with np.errstate(divide="ignore"):
            precision = bases * share * (1.0 - share) / (mean * (1.0 - mean))
        psi = threshold + float(np.sqrt(noncentrality / precision.sum()))
        # The group's rate is mean + psi (1 - share) or mean - psi (1 - share), and must be a rate.
        possible = np.all((mean + psi * (1 - share) <= 1) | (mean - psi * (1 - share) >= 0))
        found = rounded(psi) if possible and np.isfinite(psi) and psi > threshold else None
        out.append(Detectable(share=share, psi=found, notion=notion.name, outcome=outcome))
    return tuple(out)
