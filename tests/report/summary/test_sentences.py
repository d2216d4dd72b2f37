"""Sentences for people who read no statistics."""

from __future__ import annotations

from typing import Any

import pytest

import ald
from ald import Audit, Notion, Rate
from ald.report.summary.sentences import certainty, could_have_seen, headline, lead, magnitude, statement
from tests.flat import audit_flat
from tests.tables import decisions, people


@pytest.fixture(scope="module")
def berkeley() -> Audit:
    return ald.audit(ald.datasets.load_berkeley(), outcome="admitted", favourable="yes")


def classified(notion: str | Notion, **options: Any) -> Audit:
    return audit_flat(decisions(3000), prediction="predicted", truth="true", notion=notion, trees=5, **options)


def test_headline(berkeley: Audit) -> None:
    """The headline says among how many people, who, in which direction, by how much, and how surely."""
    assert headline(berkeley) == (
        "Among 2,241 people, those with department in {A, B} get the favourable outcome (admitted = yes) 37 percentage "
        "points more often than everyone else (95% interval 32.7 to 41.1 points)."
    )


def test_directions(berkeley: Audit) -> None:
    """A group below everyone else has it less often, with an interval read in that direction."""
    second = berkeley.groups[1]
    assert second.psi is not None
    assert second.psi < 0
    assert statement(second, berkeley) == (
        "people with department = F get the favourable outcome (admitted = yes) 27.1 percentage points less often than "
        "comparable people (alike in earlier groups) (95% interval 23.3 to 30.5 points)"
    )
    assert magnitude(second, berkeley).endswith(
        "Their selection rate is 5.6% against 32.7% among comparable people (alike in earlier groups), 17% of theirs. "
        "Unadjusted psi: -0.387; adjusted: -0.271."
    )


def test_certainty(berkeley: Audit) -> None:
    """Certainty is a word and a p-value in words."""
    assert certainty(berkeley.groups[0], berkeley) == (
        "The evidence for a disparity is very strong: the corrected p-value is below 0.001."
    )
    other = ald.audit(ald.datasets.load_berkeley(), outcome="admitted", favourable="yes", seed=6)
    assert certainty(other.groups[2], other) == (
        "The evidence for a disparity is moderate: the corrected p-value is 0.048."
    )


@pytest.mark.parametrize(
    ("notion", "words"),
    [
        ("statistical parity", "are selected"),
        ("predictive equality", "are wrongly predicted to be positive"),
        ("false negative rate", "are wrongly predicted to be negative"),
        ("equal opportunity", "are rightly predicted to be positive"),
        ("accuracy", "are predicted rightly"),
        (Notion("own", (Rate("for", "false omission rate", hits="fn", base="fn tn"),)), "have a false omission rate"),
    ],
)
def test_every_rate_has_words(notion: str | Notion, words: str) -> None:
    """Known rates have a verb, others their name."""
    audit = classified(notion, level=1.0, adjust="none")
    assert words in headline(audit)


def test_several_rates() -> None:
    """Several rates are told one by one, with their directions; psi is their mean."""
    audit = classified("equalized odds")
    assert "the false positive rate is" in headline(audit)
    assert "and the false negative rate" in headline(audit)
    assert "The mean of the absolute differences, psi, is" in lead(audit)[0]


def test_repeats_and_threshold() -> None:
    """Stability is told as a count of halvings, and a threshold is named."""
    audit = classified("accuracy", repeats=3, threshold=0.05)
    assert "of 3 random halvings list an equivalent group" in lead(audit)[1]
    assert "a disparity larger than 0.05" in lead(audit)[1]


def test_nothing_found() -> None:
    """An empty list says that it proves nothing, and what could have been seen."""
    columns = people()
    columns["y"] = [i % 2 for i in range(600)]
    audit = ald.audit(columns, outcome="y", search=ald.Search(trees=2), level=1e-12)
    people_tested = audit.data_summary.rows_assess
    assert headline(audit) == f"Among {people_tested} people, no group was found with a significant disparity."
    first, second = lead(audit)
    assert "This does not prove that there is no disparity." in first
    assert "The audit could have seen, in four of five cases, a disparity of" in second
    assert "in a group of 50% of the people" in second


def test_too_few_people() -> None:
    """Where not even the largest disparity could be seen, this is said."""
    audit = ald.audit(
        {"x": ["a", "b", "b", "a"] * 20, "y": [0, 1] * 40}, outcome="y", search=ald.Search(trees=1), level=1e-30
    )
    assert could_have_seen(audit) == [
        "With so few people, even the largest possible disparity would usually have been missed."
    ]
