"""How far an audit is."""

from __future__ import annotations

from ald._core.steps import share_of_whole


def test_steps_follow_one_another() -> None:
    """Searching, testing and ranking are one way from 0 to 1, without a step back."""
    way = [share_of_whole(step, share) for step in ("search", "assess", "rank") for share in (0.0, 0.5, 1.0)]
    known = [share for share in way if share is not None]
    assert known == sorted(known)
    assert (known[0], len(known), round(known[-1], 9)) == (0.0, 9, 1.0)


def test_loading_says_nothing() -> None:
    """Nobody knows how long loading takes; an unknown step says nothing either."""
    assert share_of_whole("load", 0.5) is None
    assert share_of_whole("report", 0.5) is None
