"""The three verdicts."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import pytest

from ald.errors import InputError, SettingError
from ald.gate.policy import make_check
from ald.gate.verdict import Verdict, judge
from tests.gate.people import decisions, scores, wages

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


def of(data: Any, **settings: Any) -> Verdict:
    return judge(make_check("a", {"data": data, **settings}), today=TODAY)


def test_the_limit_of_amounts_is_in_their_unit() -> None:
    """A gap of 300 EUR fails where 100 are accepted; equal wages pass a limit that the data can see."""
    asked: dict[str, Any] = {"outcome": "wage (EUR)", "share": 0.3}
    found = of(wages(3000, 300), **asked, limit=100)
    assert found.verdict == "fail"
    assert found.reasons == ("sex = f: the disparity exceeds the limit",)
    even = of(wages(3000, 0), **asked, limit=400)
    assert even.verdict == "pass"
    assert even.reasons[0].startswith("every gap of at least 30% of the people lies within 400 EUR")
    few = of(wages(3000, 0), outcome="wage (EUR)", limit=120, share=0.05)
    assert few.verdict == "not enough evidence"
    assert "disparities of 120 EUR in groups of 5%" in few.reasons[0]


def test_means_that_few_people_decide_are_no_evidence() -> None:
    """Where a few people hold most of what varies a check of means neither passes nor fails."""
    data = wages(3000, 300)
    data.loc[data.index[::300], "wage (EUR)"] = 1e7
    found = of(data, outcome="wage (EUR)", limit=100)
    assert found.verdict == "not enough evidence"
    assert "holds more than half of what varies" in found.reasons[0]


def test_scores_are_checked_for_calibration() -> None:
    """Scores that are 20 points too high for women fail a limit of 5; calibrated ones pass one that can be seen."""
    asked: dict[str, Any] = {"score": "p", "truth": "true", "share": 0.3}
    assert of(scores(3000, 0.2), **asked, limit=0.05).verdict == "fail"
    assert of(scores(3000, 0.0), **asked, limit=0.2).verdict == "pass"


def test_classes_are_checked() -> None:
    """Classes of an outcome, and whether predictions of classes are right, have a verdict."""
    data = decisions(3000, 0.0).drop(columns="approved")
    rng = np.random.default_rng(2)
    data["grade"] = rng.choice(["A", "B", "C"], 3000)
    data["said"] = np.where(rng.random(3000) < 0.7, data["grade"], "A")
    assert of(data.drop(columns="said"), outcome="grade", limit=0.25, share=0.3).verdict == "pass"
    predicted: dict[str, Any] = {"prediction": "said", "truth": "grade", "limit": 0.25, "share": 0.3}
    assert of(data, **predicted, notion="accuracy").verdict == "pass"
    with pytest.raises(SettingError, match="predictions of 3 classes: say which class counts, such as favourable='A'"):
        of(data, **predicted, notion="equalized odds")


def test_a_limit_of_rates_is_a_share() -> None:
    """Only amounts have a limit of 1 and more."""
    with pytest.raises(SettingError, match="limit of the check 'a' must be a number between 0 and 1, not 5"):
        of(decisions(3000, 0.0), outcome="approved", limit=5)
