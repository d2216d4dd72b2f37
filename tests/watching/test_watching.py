"""Groups along time."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import ald
from ald.errors import InputError, SettingError
from ald.watching.watching import watch

MONTHS = np.arange("2025-01", "2026-03", dtype="datetime64[M]")


def decisions(change: float = 0.0, n: int = 600, seed: int = 1) -> pd.DataFrame:
    """Fourteen months of approvals; from 2025-09 on women get fewer by `change`."""
    rng = np.random.default_rng(seed)
    month = np.repeat(MONTHS, n)
    sex, region = rng.choice(["f", "m"], len(month)), rng.choice(["n", "s"], len(month))
    chance = 0.6 - 0.2 * (sex == "f") - np.where((sex == "f") & (month >= np.datetime64("2025-09")), change, 0.0)
    return pd.DataFrame({"month": month.astype("datetime64[s]"), "sex": sex, "region": region,
                         "approved": (rng.random(len(month)) < chance).astype(int)})  # fmt: skip


def test_windows_have_the_gaps_of_a_plain_count() -> None:
    """People, rates and gap of every window are those of a group-by, with the interval of a named group's audit."""
    data = decisions()
    (found,) = watch(data, by="month", named_groups="sex = f", outcome="approved").watched
    assert [gap.window for gap in found.gaps] == [str(month) for month in MONTHS]
    for gap, month in zip(found.gaps, MONTHS, strict=True):
        own = data[data["month"] == month]
        women = own[own["sex"] == "f"]["approved"]
        men = own[own["sex"] == "m"]["approved"]
        assert (gap.people, gap.others) == (len(women), len(men))
        assert (gap.inside, gap.outside) == pytest.approx((women.mean(), men.mean()))
        named = ald.audit(own, outcome="approved", search="none", named_groups="sex = f").named_groups[0]
        assert gap.gap == pytest.approx(named.psi)
        assert gap.interval == pytest.approx(named.interval)


def test_a_change_raises_an_alarm_and_is_dated() -> None:
    """A gap that widens by 30 points is noticed, and the month of the change is named; without a change nothing is."""
    found = watch(decisions(0.3), by="month", named_groups="sex = f", outcome="approved")
    (alarm,) = found.alarms
    assert alarm.changed == "2025-09"
    assert alarm.alarm is not None
    assert "2025-09" <= alarm.alarm <= "2025-11"
    assert watch(decisions(), by="month", named_groups="sex = f", outcome="approved").alarms == ()


def test_the_first_window_suggests_groups_and_is_watched_no_more() -> None:
    """Without groups those of the first window's audit are watched in all later ones."""
    found = watch(decisions(0.3), by="month", every="quarter", outcome="approved")
    assert found.audited == "2025-Q1"
    assert found.windows[0] == "2025-Q2"
    assert found.first is not None
    assert [str(one.criterion) for one in found.watched] == [str(one.criterion) for one in found.first.groups]


def test_an_earlier_audit_says_what_to_watch() -> None:
    """The listed groups of an audit are watched in every window."""
    audit = ald.audit(decisions(seed=2).drop(columns="month"), outcome="approved")
    found = watch(decisions(), by="month", first=audit, outcome="approved")
    assert [one.criterion for one in found.watched] == [one.criterion for one in audit.groups]
    assert len(found.windows) == len(MONTHS)


def test_two_periods_are_two_windows() -> None:
    """Two values of a column are two periods: the difference of the gaps, its interval, and the z test of it."""
    data = decisions(0.3)
    data["period"] = np.where(data["month"] >= "2025-09-01", "b after", "a before")
    found = watch(data.drop(columns="month"), by="period", every="value", named_groups="sex = f", outcome="approved")
    (one,) = found.watched
    (look,) = one.looks
    sides = [
        data[(data["period"] == p) & (data["sex"] == s)]["approved"] for p in ("a before", "b after") for s in "fm"
    ]
    gaps = [sides[0].mean() - sides[1].mean(), sides[2].mean() - sides[3].mean()]
    error = np.sqrt(sum(side.var(ddof=0) / len(side) for side in sides))
    assert found.looks == 1
    assert look.change == pytest.approx(gaps[1] - gaps[0])
    assert look.statistic == pytest.approx(abs(look.change) / error, rel=0.03)
    assert one.alarm == "b after"
    assert one.difference is not None
    assert one.difference.change == pytest.approx(gaps[1] - gaps[0])
    reach = stats.norm.isf(0.025) * error
    assert one.difference.interval == pytest.approx((look.change - reach, look.change + reach), abs=0.003)
    assert one.difference.log10_p == pytest.approx(np.log10(2) + stats.norm.logsf(look.statistic) / np.log(10))


@pytest.mark.parametrize("seed", range(30))
def test_an_alarm_of_two_periods_is_a_small_p(seed: int) -> None:
    """Between two periods an alarm, a corrected p at most the level, and an interval without 0 are one thing."""
    data = decisions(n=60, seed=seed)
    data["month"] = np.where(data["month"] >= "2025-09-01", "b", "a")
    found = watch(
        data, by="month", every="value", named_groups=["sex = f", "region = n"], outcome="approved", level=0.4
    )
    for one in found.watched:
        assert one.difference is not None
        low, high = one.difference.interval
        assert (one.alarm is not None) == (one.difference.p_adjusted <= 0.4) == (not low <= 0 <= high)


def test_legitimate_factors_make_strata_within_windows() -> None:
    """With `given` gaps are differences within its strata: a factor that explains them leaves none."""
    rng = np.random.default_rng(3)
    data = decisions()
    data["job"] = np.where(rng.random(len(data)) < np.where(data["sex"] == "f", 0.8, 0.2), "a", "b")
    data["approved"] = (rng.random(len(data)) < np.where(data["job"] == "a", 0.3, 0.7)).astype(int)
    crude, within = (
        watch(data, by="month", named_groups="sex = f", outcome="approved", **options).watched[0].gaps
        for options in ({}, {"given": "job"})
    )
    assert all(gap.gap is not None and gap.gap < -0.1 for gap in crude)
    assert abs(np.mean([gap.gap for gap in within])) < 0.05


def test_every_rate_is_watched() -> None:
    """Several rates of predictions are watched each, and share the level."""
    data = decisions().rename(columns={"approved": "predicted"})
    data["true"] = np.random.default_rng(4).integers(0, 2, len(data))
    found = watch(
        data, by="month", named_groups="sex = f", prediction="predicted", truth="true", notion="equalized odds"
    )
    assert [one.rate.key for one in found.watched] == ["fpr", "fnr"]


def test_settings_of_audits_say_what_is_watched() -> None:
    """Groups of an earlier audit and named ones are watched together, each once."""
    audit = ald.audit(decisions(seed=2).drop(columns="month"), outcome="approved")
    both = watch(decisions(), by="month", first=audit, named_groups=["region = n", "sex = f"], outcome="approved")
    listed = [one.criterion for one in audit.groups]
    assert [one.criterion for one in both.watched][: len(listed)] == listed
    assert {str(one.criterion) for one in both.watched} == {*map(str, listed), "region = n", "sex = f"}


def test_the_document_is_plain() -> None:
    """JSON has windows, gaps and looks; the same data gives the same bytes, whatever the order of its rows."""
    data = decisions(n=60)
    found = watch(data, by="month", named_groups="sex = f", outcome="approved")
    document = json.loads(found.to_json())
    assert document["windows"] == [str(month) for month in MONTHS]
    assert len(document["watched"][0]["looks"]) == len(MONTHS) - 1
    again = watch(data.sample(frac=1, random_state=1), by="month", named_groups="sex = f", outcome="approved")
    assert again.to_json() == found.to_json()


def test_rows_without_a_date_are_left_out_and_counted() -> None:
    """They are in no window, and a warning says how many."""
    data = decisions(n=60)
    data.loc[data.index[:5], "month"] = pd.NaT
    found = watch(data, by="month", named_groups="sex = f", outcome="approved")
    assert any("5 rows without a value of 'month' are left out" in warning for warning in found.warnings)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"looks": 3}, "there are 14 windows and so 13 looks, and 3 were planned"),
        ({"looks": 0}, "looks must be a whole number"),
        ({"every": "year", "named_groups": ()}, "needs two windows at least|lists no group to watch"),
        ({"every": "moth"}, "unknown every 'moth'. Did you mean 'month'"),
        ({"cluster": "region"}, "cluster is not supported where groups are watched"),
        ({"split": "region"}, "split is one of auto, none, random"),
        ({"first": "audit.json"}, "first must be an audit"),
        ({"colour": 1}, "ald.watch has no option 'colour'"),
        ({"by": "approved"}, "says when: it cannot have another role"),
        ({"by": 3}, "by must be the name of a column"),
    ],
)
def test_what_cannot_be_watched(options: dict[str, Any], message: str) -> None:
    """Every refusal says what was found and what helps."""
    settings = {"by": "month", "named_groups": "sex = f", "outcome": "approved"} | options
    with pytest.raises((InputError, SettingError), match=message):
        watch(decisions(n=60), **settings)


def pay(change: float = 0.0, n: int = 300, seed: int = 1) -> pd.DataFrame:
    """The same months with a wage; from 2025-09 on women get less by `change`."""
    rng = np.random.default_rng(seed)
    data = decisions(n=n, seed=seed)
    lower = np.where((data["sex"] == "f") & (data["month"] >= "2025-09-01"), change, 0.0)
    data["wage (EUR)"] = (2500 + rng.gamma(2, 400, len(data)) - 100 * (data["sex"] == "f") - lower).round(2)
    return data.drop(columns="approved")


def test_windows_of_amounts_have_the_gaps_of_a_plain_count() -> None:
    """Means and gap of every window are those of a group-by, with the interval of a named group's audit."""
    data = pay()
    (found,) = watch(data, by="month", named_groups="sex = f", outcome="wage (EUR)").watched
    for gap, month in zip(found.gaps, MONTHS, strict=True):
        own = data[data["month"] == month]
        means = own.groupby("sex")["wage (EUR)"].mean()
        assert (gap.inside, gap.outside) == pytest.approx((means["f"], means["m"]))
        named = ald.audit(own, outcome="wage (EUR)", search="none", named_groups="sex = f").named_groups[0]
        assert gap.gap == pytest.approx(named.psi)
        assert gap.interval == pytest.approx(named.interval)


def test_a_change_of_amounts_raises_an_alarm_in_their_unit() -> None:
    """A gap that widens by 400 EUR is noticed and dated, and the report speaks of EUR; without a change nothing is."""
    found = watch(pay(400), by="month", named_groups="sex = f", outcome="wage (EUR)")
    (alarm,) = found.alarms
    assert alarm.changed == "2025-09"
    report = found.report()
    assert report.headline.startswith("The gap of people with sex = f changed by -")
    assert " EUR since 2025-09, from -" in report.headline
    assert "points" not in str(found)
    assert ald.Watch.from_json(found.to_json()).to_json() == found.to_json()
    assert watch(pay(), by="month", named_groups="sex = f", outcome="wage (EUR)").alarms == ()


def test_the_first_window_of_amounts_suggests_groups() -> None:
    """Without groups those of the first window's audit of amounts are watched."""
    data = pay(n=600)
    data["wage (EUR)"] -= 400 * (data["sex"] == "f")
    found = watch(data, by="month", outcome="wage (EUR)")
    assert found.audited == "2025-01"
    assert [str(one.criterion) for one in found.watched] == ["sex = f"]


def test_scores_are_watched_by_what_is_asked_of_them() -> None:
    """Calibration of a score is watched: the mean of truth minus score inside less that outside."""
    rng = np.random.default_rng(5)
    data = decisions()
    data["p"] = rng.beta(3, 3, len(data)).round(3)
    off = np.where((data["sex"] == "f") & (data["month"] >= "2025-09-01"), 0.3, 0.0)
    data["approved"] = (rng.random(len(data)) < np.clip(data["p"] - off, 0, 1)).astype(int)
    found = watch(data, by="month", named_groups="sex = f", score="p", truth="approved")
    (one,) = found.watched
    own = data[data["month"] == MONTHS[-1]].assign(off=lambda d: d["approved"] - d["p"]).groupby("sex")["off"].mean()
    assert one.gaps[-1].gap == pytest.approx(own["f"] - own["m"])
    assert one.changed == "2025-09"
    assert "points since 2025-09" in found.report().headline


def test_classes_are_watched_one_by_one() -> None:
    """Every class of an outcome against all others has a gap of its own, and all share the level."""
    data = decisions()
    data["grade"] = np.random.default_rng(6).choice(["A", "B", "C"], len(data))
    found = watch(data.drop(columns="approved"), by="month", named_groups="sex = f", outcome="grade")
    assert [one.outcome for one in found.watched] == ["A", "B", "C"]
    own = data[data["month"] == MONTHS[0]]
    share = own.assign(a=own["grade"] == "A").groupby("sex")["a"].mean()
    assert found.watched[0].gaps[0].gap == pytest.approx(share["f"] - share["m"])


def test_amounts_that_few_people_decide_are_said_to_be() -> None:
    """Where a few people hold most of what varies, a warning says that means of windows say little."""
    data = pay(n=60)
    data.loc[data.index[::200], "wage (EUR)"] = 1e6
    found = watch(data, by="month", named_groups="sex = f", outcome="wage (EUR)")
    assert any("means of windows say little" in warning for warning in found.warnings)
    assert not watch(pay(n=60), by="month", named_groups="sex = f", outcome="wage (EUR)").warnings


def test_amounts_are_the_same_in_any_order() -> None:
    """The order of rows changes no byte of what is said of amounts."""
    data = pay(n=60)
    texts = [
        watch(rows, by="month", named_groups="sex = f", outcome="wage (EUR)").to_json()
        for rows in (data, data.sample(frac=1, random_state=1))
    ]
    assert texts[0] == texts[1]
