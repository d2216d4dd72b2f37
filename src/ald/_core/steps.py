"""How far an audit is: the steps that it names while it works, as parts of the whole."""

from __future__ import annotations

# Where each step begins, and how much of the whole it is. Nobody knows how long loading takes: it has no part. Where
# everyone is searched and tested, half of "search" is told, and random halves are searched again.
_PARTS = {
    "search": (0.0, 0.9),
    "again": (0.45, 0.45),
    "repeat": (0.0, 0.9),
    "assess": (0.9, 0.06),
    "rank": (0.96, 0.04),
    "power": (0.0, 1.0),
}


def share_of_whole(step: str, share: float) -> float | None:
    """The share of the whole that is done; None where the step says nothing about it.

    >>> share_of_whole("search", 0.5), share_of_whole("load", 0.5)
    (0.45, None)
    """
    if step not in _PARTS:
        return None
    start, width = _PARTS[step]
    return start + width * share
