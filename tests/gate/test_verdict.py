"""The three verdicts."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from ald.errors import InputError
from ald.gate.policy import make_check
from ald.gate.verdict import Verdict, judge
from tests.gate.people import decisions

TODAY = date(2026, 11, 19)


def verdict(data: Any, **settings: Any) -> Verdict:
    return judge(make_check("a", {"data": data, "outcome": "approved", **settings}), today=TODAY)


def test_a_disparity_beyond_the_limit_fails() -> None:
    """Where a group exceeds the limit significantly the check fails, and names it."""
    found = verdict(decisions(4000, 0.2), limit=0.05)
    assert found.verdict == "fail"
    assert found.reasons == ("sex = f: the disparity exceeds the limit",)
    assert str(found.groups[0].criterion) == "sex = f"
    assert found.groups[0].sure


def test_too_little_data_does_not_pass() -> None:
    """Even outcomes of few people are no evidence: intervals reach beyond the limit."""
    found = verdict(decisions(300, 0.0), limit=0.05)
    assert found.verdict == "not enough evidence"
    assert "the data cannot tell" in found.reasons[0]


def test_intervals_within_the_limit_are_not_enough_without_power() -> None:
    """Where all own gaps are within the limit, and a combination would not be seen, the check does not pass."""
    found = verdict(decisions(20_000, 0.0), limit=0.04, share=0.05)
    assert found.verdict == "not enough evidence"
    assert found.power is not None
    assert not found.power.enough
    assert found.reasons[0].startswith("too little data: of disparities of 4 points in groups of 5% of the people")


def test_many_even_decisions_pass() -> None:
    """Where nothing exceeds the limit, all own gaps are within it, and it would have been seen, the check passes."""
    found = verdict(decisions(5000, 0.0), limit=0.35, share=0.4)
    assert found.verdict == "pass"
    assert found.power is not None
    assert found.power.enough
    assert found.groups == ()


@pytest.mark.parametrize(("until", "expected"), [("2026-11-19", "pass"), ("2026-11-18", "fail")])
def test_known_groups_are_accepted_up_to_a_day(until: str, expected: str) -> None:
    """An accepted group does not count against the check until its day is over; everyone else counts as before."""
    accept = [{"group": "sex = f", "reason": "known", "until": until}]
    found = verdict(decisions(5000, 0.45), limit=0.35, share=0.4, accept=accept)
    assert found.verdict == expected
    assert [group.lapsed for group in found.groups if group.accepted] == [expected == "fail"] * len(found.groups)
    if expected == "fail":
        assert "accepted until 2026-11-18, which is over" in found.reasons[0]


def test_groups_smaller_than_what_matters_do_not_count() -> None:
    """A disparity in fewer people than the share that matters is none of the check's business."""
    data = decisions(5000, 0.0)
    few = data.index[:150]
    data["region"] = data["region"].where(~data.index.isin(few), "island")
    data.loc[few, "approved"] = 0
    assert verdict(data, limit=0.35, share=0.4).verdict == "pass"
    assert verdict(data, limit=0.2, share=0.01).verdict == "fail"


def test_a_check_has_one_data_set() -> None:
    """Two data sets are no data of a check."""
    data = decisions(300, 0.0)
    with pytest.raises(InputError, match="one data set"):
        judge(make_check("a", {"data": None, "outcome": "approved", "limit": 0.1})
              .__class__(name="a", data=None, limit=0.1, options={"outcome": "approved", "split": (data, data[:99])}),
              today=TODAY)  # fmt: skip
