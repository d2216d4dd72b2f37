"""Sentences for people who read no statistics."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import ald
from ald import Audit, Notion
from ald.report.summary.sentences import (
    certainty,
    could_have_seen,
    lead,
    magnitude,
    state,
    verdict,
    worse_for_whom,
)
from tests.flat import audit_flat
from tests.tables import decisions, people


@pytest.fixture(scope="module")
def berkeley() -> Audit:
    return ald.audit(ald.datasets.load_berkeley(), outcome="admitted", favourable="yes", split="random")


def classified(notion: str | Notion, **options: Any) -> Audit:
    return audit_flat(decisions(3000), prediction="predicted", truth="true", notion=notion, trees=5, **options)


def test_verdict(berkeley: Audit) -> None:
    """The verdict says who, what happened to them and to whom else, by how much, and how surely."""
    assert verdict(berkeley) == (
        "People with department = A or B were admitted in 63.4% of cases, everyone else in 26.5% "
        "(+37.0 points, 95% interval 32.7 to 41.1)."
    )
    assert magnitude(berkeley.groups[0], berkeley) == (
        "The group holds 711 of the 2,241 people in the test (31.7%), and 1,518 of all 4,526. "
        "Their selection rate divided by the others': ratio 2.40."
    )


def test_directions(berkeley: Audit) -> None:
    """A later group is compared with comparable people, and its unadjusted gap stands beside the adjusted one."""
    second = berkeley.groups[1]
    assert state(second, berkeley) == (
        "People with department = F were admitted in 5.6% of cases, comparable people (alike in department in {A, B}) "
        "in 32.7% (-27.1 points, 95% interval -30.5 to -23.3)."
    )
    assert magnitude(second, berkeley).endswith("Unadjusted gap: -38.7 points; adjusted: -27.1 points.")


def test_certainty(berkeley: Audit) -> None:
    """Certainty is a word and a p-value in words."""
    assert certainty(berkeley.groups[0], berkeley) == (
        "The evidence for a disparity is very strong: corrected p < 0.001."
    )
    other = ald.audit(ald.datasets.load_berkeley(), outcome="admitted", favourable="yes", seed=6, split="random")
    assert certainty(other.groups[2], other) == "The evidence for a disparity is moderate: corrected p = 0.048."


def test_several_rates() -> None:
    """Several rates are told one by one; their mean has no sign, and it is said which is higher for whom."""
    audit = classified("equalized odds")
    assert '; of those with "true" = 1, they were wrongly given' in verdict(audit)
    first = lead(audit)[0]
    assert "The mean gap of the 2 rates is " in first
    assert "is +" not in first
    assert "higher for them" in first


@pytest.mark.parametrize("favourable", [0, 1])
def test_which_rate_is_worse_for_whom(favourable: int) -> None:
    """Where it is known what is good for people, the sentence says which rate is worse for the group."""
    audit = classified("equalized odds", favourable=favourable)
    finding = audit.groups[0]
    worse = {"fpr": (finding.parts["fpr"] or 0.0) < 0, "fnr": (finding.parts["fnr"] or 0.0) > 0}
    names = {"fpr": "false positive rate", "fnr": "false negative rate"}
    told = worse_for_whom(finding, audit)
    for key, name in names.items():
        sides = told[: told.index("for them")] if "for them" in told else ""
        assert (name in sides) == worse[key]
    assert "worse for" in told


def test_repeats_and_threshold() -> None:
    """Stability is told as a count of halvings, and a threshold is named."""
    audit = classified("accuracy", repeats=3, threshold=0.05)
    assert re.search(r"; found in [123] of 3 random splits\.$", lead(audit)[1])
    assert "a disparity larger than 5 percentage points" in lead(audit)[1]


def test_nothing_found() -> None:
    """An empty list says so, and at once which gaps could have been seen; it proves nothing."""
    columns = people()
    columns["y"] = [i % 2 for i in range(600)]
    audit = ald.audit(columns, outcome="y", search=ald.Search(trees=2), level=1e-12)
    least = min(entry.psi for entry in audit.detectable if entry.psi is not None)
    assert verdict(audit) == (
        f"No significant disparity found. With {audit.data_summary.rows_assess} people in the test, only gaps above "
        f"about {100 * least:.0f} points could have been seen."
    )
    assert lead(audit)[0].endswith("That does not prove that there is none.")


def test_too_few_people() -> None:
    """Where not even the largest disparity could be seen, this is said."""
    audit = ald.audit(
        {"x": ["a", "b", "b", "a"] * 20, "y": [0, 1] * 40}, outcome="y", search=ald.Search(trees=1), level=1e-30
    )
    assert could_have_seen(audit) == (
        f"With {audit.data_summary.rows_assess} people in the test, even the largest possible gap would usually have "
        "been missed."
    )


def test_what_all_data_shows_beside_an_empty_list() -> None:
    """Half the data may be too few for the search, and all of it enough for an attribute: then both are said."""
    rng = np.random.default_rng(11)
    sex = rng.choice(["F", "M"], 400)
    columns = {"sex": sex, "y": (rng.random(400) < np.where(sex == "F", 0.41, 0.59)).astype(int)}
    audit = ald.audit(columns, outcome="y", search=ald.Search("leaves", trees=1), level=0.001)
    assert not audit.groups
    gap = audit.gaps.rows[0]
    assert gap.p_adjusted is not None
    assert gap.p_adjusted < 0.001
    assert verdict(audit).startswith(
        "The search found no significant disparity. On all data, however, people with sex = "
    )


def test_nothing_is_called_adjusted_that_is_not() -> None:
    """People with several rows are compared with everyone else: no unadjusted gap stands beside the same gap."""
    columns: dict[str, Any] = dict(people(600)) | {"id": [i // 2 for i in range(600)]}
    audit = ald.audit(columns, outcome="y", cluster="id", search="none", named_groups="sex = F")
    assert "nadjusted gap" not in str(audit)
    assert "nadjusted gap" not in audit.to_html()


def test_large_amounts_are_written_out() -> None:
    """The range of an outcome in millions has no exponent."""
    columns: dict[str, Any] = dict(people(400)) | {"price": [95_000 + 3571 * i for i in range(400)]}
    audit = ald.audit(columns, outcome="price", search="none", named_groups="sex = F")
    assert "Outcome: price, a number from 95,000 to 1,519,829, compared" in str(audit)
