"""Audits of outcomes that are numbers, whole: what they list, say and keep, against plain computation."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import ald
from ald import ColumnError, SettingError
from ald.groups.criterion import Interval


def wages(n: int = 3000, seed: int = 0) -> pd.DataFrame:
    """Women over 40 earn less."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "age": rng.integers(18, 70, n),
            "city": rng.choice(list("abcd"), n),
            "person": rng.integers(0, n // 2, n),
            "weight": rng.uniform(0.5, 2.0, n).round(2),
        }
    )
    less = 400 * ((frame["sex"] == "f") & (frame["age"] > 40))
    frame["wage"] = np.round(2500 + rng.gamma(2, 400, n) - less, 2)
    return frame


def audited(**options: Any) -> ald.Audit:
    return ald.audit(wages(), outcome="wage", **{"exclude": ["person", "weight"]} | options)


def test_the_groups_that_differ_are_listed() -> None:
    """The default search lists the group whose mean was lowered, with its size, and reports say it in its unit."""
    audit = audited()
    first = audit.groups[0]
    age, sex = first.criterion
    assert (sex.attribute, age.attribute) == ("sex", "age")
    assert isinstance(age, Interval)
    assert age.upper is None
    assert 36 <= (age.lower or 0) <= 42
    low, high = first.interval
    assert low is not None
    assert high is not None
    assert low < -350 < high < 0
    text = " ".join(str(audit).split())
    assert "had a mean wage of" in text
    assert f"(on average {abs(first.psi or 0):,.0f} less, 95% interval {-high:,.0f} to {-low:,.0f})" in text
    assert first.superiority is not None
    assert first.superiority < 0.5


@pytest.mark.parametrize("search", ["leaves", "paper"])
def test_leaves_are_tested(search: Any) -> None:
    """The leaves of trees on amounts are candidates too, and the planted group is among those listed first."""
    found = audited(search=search).groups
    assert {"sex", "age"} <= {condition.attribute for condition in found[0].criterion}


def test_named_groups_by_scipy() -> None:
    """A named group has SciPy's t, p, interval, ranks and means on all data."""
    frame = wages()
    one = audited(search="none", named_groups="sex = f").named_groups[0]
    inside, outside = frame["wage"][frame["sex"] == "f"], frame["wage"][frame["sex"] == "m"]
    theirs = stats.ttest_ind(inside, outside, equal_var=False)
    interval = theirs.confidence_interval(0.95)
    assert one.test == "Welch t"
    assert one.psi == pytest.approx(inside.mean() - outside.mean())
    assert (one.rates_inside["mean"], one.rates_outside["mean"]) == pytest.approx((inside.mean(), outside.mean()))
    assert one.p_value == pytest.approx(theirs.pvalue, rel=1e-8)
    assert one.statistic == pytest.approx(theirs.statistic**2)
    assert one.interval == pytest.approx((interval.low, interval.high))
    ranks = stats.mannwhitneyu(inside, outside, method="asymptotic", use_continuity=False)
    assert one.superiority == pytest.approx(ranks.statistic / (len(inside) * len(outside)))
    assert one.log10_p_ranks == pytest.approx(np.log10(ranks.pvalue))
    assert one.counts_inside["people"] == len(inside)


def test_the_document_and_all_formats(tmp_path: Any) -> None:
    """The document is read back as it was, and every format renders amounts."""
    audit = audited(given="city", named_groups="sex = f", groups=2)
    assert ald.Audit.from_json(audit.to_json()).to_json() == audit.to_json()
    for ending in ("html", "md", "csv", "xlsx", "txt", "json"):
        audit.save(tmp_path / f"audit.{ending}")
        assert (tmp_path / f"audit.{ending}").stat().st_size > 100
    text = (tmp_path / "audit.html").read_text(encoding="utf-8")
    assert "mean wage along age" in text
    assert "percentage point" not in text


def test_same_bytes_whatever_threads_kernel_and_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads, the kernel and the order of the rows change nothing."""
    expected = audited().to_json()
    frame = wages().sample(frac=1, random_state=1)
    options: dict[str, Any] = {"outcome": "wage", "exclude": ["person", "weight"]}
    assert ald.audit(ald.source(wages(), threads=3), **options).to_json() == expected
    assert ald.audit(frame, **options).to_json() == expected
    monkeypatch.setenv("ALD_KERNEL", "numpy")
    assert audited().to_json() == expected


@pytest.mark.parametrize(
    "options",
    [
        {"given": "city"},
        {"given": "age"},
        {"cluster": "person", "exclude": ["weight"]},
        {"weights": ald.SurveyWeights("weight"), "exclude": ["person"]},
        {"reference": "sex = m"},
        {"reference": "all"},
        {"split": ald.Split(repeats=2)},
        {"threshold": 50.0},
        {"direction": "disadvantaged", "favourable": "higher"},
        {"ranking": "magnitude"},
    ],
    ids=str,
)
def test_designs(options: dict[str, Any]) -> None:
    """Whoever is compared with whom: women who earn less are listed first, and the report is written."""
    audit = audited(**options)
    first = audit.groups[0]
    assert "sex" in {condition.attribute for condition in first.criterion}
    assert "sex" in str(audit)
    assert abs(first.psi or 0.0) > 50
    if "direction" in options:
        assert all((found.psi or 0.0) < 0 for found in audit.groups)
    assert audit.detectable[-1].psi is not None


def test_a_few_large_amounts_leave_it_to_ranks() -> None:
    """Where a few people hold most of what varies, the rank test decides, and the report says so."""
    rng = np.random.default_rng(1)
    group = rng.choice(["a", "b"], 1000)
    loss = rng.lognormal(0, 2.5, 1000) * np.where(group == "a", 3.0, 1.0)
    audit = ald.audit({"group": group, "loss": loss}, outcome="loss")
    assert audit.groups[0].dominated
    assert audit.groups[0].test == "rank"
    assert any("few people hold most of what varies" in line for line in audit.report().cards[0].sentences)


def test_a_cut_is_the_yes_no_column() -> None:
    """`favourable=">= 3000"` is the audit of the column that says so."""
    frame = wages()
    cut = ald.audit(frame, outcome="wage", favourable=">= 3000", exclude=["person", "weight"])
    frame["high"] = (frame["wage"] >= 3000).astype(int)
    same = ald.audit(frame, outcome="high", favourable="1", exclude=["person", "weight", "wage"])
    assert [found.to_dict() for found in cut.groups] == [found.to_dict() for found in same.groups]


def test_every_format_speaks_in_the_unit(tmp_path: Any) -> None:
    """A unit in brackets behind the column's name stands behind the numbers, and nothing speaks of points or rates."""
    frame = wages().rename(columns={"wage": "wage (EUR)"})
    audit = ald.audit(frame, outcome="wage (EUR)", exclude=["person", "weight"], given="city", named_groups="sex = f")
    for ending in ("html", "md", "txt"):
        audit.save(tmp_path / f"audit.{ending}")
        text = (tmp_path / f"audit.{ending}").read_text(encoding="utf-8")
        assert re.search(r"had a mean wage of [\d,]+ EUR", text)
        assert not re.search(
            r"percentage point|in points|selection|chi2", text.replace("in percentage points; with", "")
        )
    audit.save(tmp_path / "audit.pdf")
    assert (tmp_path / "audit.pdf").read_bytes()[:5] == b"%PDF-"
    assert "EUR" in audit._repr_html_()
    rows = audit.to_frame()
    assert rows["psi"].to_list() == [found.psi for found in audit.groups]
    assert rows["mean_inside"].to_list() == [found.rates_inside["mean"] for found in audit.groups]


def test_small_data_takes_halves() -> None:
    """split="auto" splits people where the outcome is a number, and says why."""
    audit = audited(split="auto")
    assert (audit.mode.name, audit.mode.reason) == ("halves", "the outcome is a number")
    assert "two halves at random: the outcome is a number" in " ".join(str(audit).split())


def test_own_gaps_by_scipy() -> None:
    """Every level's own gap is Welch's t on all data, in the unit, with intervals that hold together."""
    frame, gaps = wages(), audited().gaps
    gap = next(gap for gap in gaps.rows if str(gap.criterion) == "sex = f")
    inside, outside = frame["wage"][frame["sex"] == "f"], frame["wage"][frame["sex"] == "m"]
    theirs = stats.ttest_ind(inside, outside, equal_var=False)
    together = theirs.confidence_interval(1 - 0.05 / gaps.compared)
    assert gap.psi == pytest.approx(inside.mean() - outside.mean())
    assert gap.interval == pytest.approx((together.low, together.high))
    assert gap.p_adjusted == pytest.approx(min(1.0, gaps.compared * theirs.pvalue), rel=1e-6)
    assert gap.size == len(inside)


def test_a_look_knows_amounts() -> None:
    """A look says what an audit could see in the unit, and how to start it."""
    seen = ald.look(wages().rename(columns={"wage": "wage (EUR)"}), outcome="wage (EUR)")
    assert seen.notions == ()
    assert "compared by its mean" in seen.parts[0].reason
    assert re.search(r"gaps of \d+ EUR or more", str(seen))
    assert seen.python == "ald.audit(data, outcome='wage (EUR)')"
    assert ald.look(wages().drop(columns=["sex", "weight"])).outcome == "wage"


def test_profiles_count_who_was_selected() -> None:
    """A profile of a number is refused by its name, and a cut of it is counted."""
    asked = {"columns": {"sex": "sex"}, "outcome": "wage", "exclude": ["person", "weight"]}
    with pytest.raises(SettingError, match="a profile counts who was selected"):
        ald.profile("nyc-ll144", wages(), **asked)
    cut = ald.profile("nyc-ll144", wages(), favourable=">= 3000", **asked)
    assert cut.profile is not None


@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_amounts_of_no_size(size: float) -> None:
    """Amounts whose squares have no place are refused with the way out."""
    with pytest.raises(ColumnError, match="power of ten"):
        ald.audit({"a": ["x", "y"] * 200, "v": [size, 2 * size, 3 * size, 4 * size] * 100}, outcome="v")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"split": "none"}, "split='none' shuffles yes and no only"),
        ({"search": "cart"}, "search='cart' looks at yes and no only"),
        ({"direction": "disadvantaged"}, "nothing says whether more of 'wage' is good"),
        ({"outcome": ["wage", "age"]}, "it is audited by itself"),
        ({"notion": ["statistical parity", ald.Notion("mine", (ald.Rate("r", "r", hits="tp fp"),))]}, "no notion"),
    ],
)
def test_what_cannot_be_had_is_refused_by_name(options: dict[str, Any], said: str) -> None:
    """The error says which option is meant, and what to do; it makes up no number."""
    with pytest.raises(SettingError, match=said) as raised:
        ald.audit(wages(), **{"outcome": "wage"} | options)
    assert not re.search(">= [0-9]", str(raised.value))


def test_thresholds_of_rates_stay_below_one() -> None:
    """Only amounts differ by 1 or more."""
    with pytest.raises(SettingError, match="threshold must be from 0 on and below 1"):
        ald.audit(ald.datasets.load_berkeley(), outcome="admitted", favourable="yes", threshold=2.0)
