"""Groups and what happened to them, as a person would say it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ald
from ald import Audit, Notion, Rate
from ald.groups.criterion import Condition, Criterion, Interval, Levels
from ald.notions import NOTIONS
from ald.report.summary.phrases import compared_with, group_words, happening, sentence, statement
from tests.tables import decisions


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (Interval("checks", "numeric", 2.0), "more than 2 checks"),
        (Interval("checks", "numeric", None, 2.0), "at most 2 checks"),
        (Interval("age", "numeric", 60.0), "age above 60"),
        (Interval("age", "numeric", 42.68637888, 65.0), "age above 42.69 and at most 65"),
        (Interval("age", "numeric", 4.0, 4.0, "both"), "age = 4"),
        (Interval("status", "numeric", 4.0), "status above 4"),
        (Interval("n checks", "numeric", 2.0), '"n checks" above 2'),
        (Interval("hired", "date", 19000.0), "hired after 2022-01-08"),
        (Interval("hired", "date", None, 19000.0), "hired up to 2022-01-08"),
        (Levels("sex", "nominal", ("F",)), "sex = F"),
        (Levels("department", "nominal", ("A", "B")), "department = A or B"),
        (Levels("department", "nominal", ("A", "B", "C")), "department = A, B or C"),
        (Levels("income", "nominal", (None,)), "no value of income"),
        (Levels("a b", "nominal", ("x\ny", "and")), '"a b" = "x\\ny" or "and"'),
        (Levels("sex", "nominal", ("F", "M"), negated=True), "sex not in {F, M}"),
    ],
)
def test_a_condition_in_words(condition: Condition, words: str) -> None:
    """Plain English where it says the same; names and levels are quoted as in criteria, and cannot act."""
    assert group_words(Criterion([condition])) == words


def test_conditions_are_joined() -> None:
    """Several conditions are one phrase."""
    both = Criterion([Interval("age", "numeric", 60.0), Levels("sex", "nominal", ("F",))])
    assert group_words(both) == "age above 60 and sex = F"


@pytest.mark.parametrize(
    ("name", "values", "favourable", "words"),
    [
        ("admitted", ["no", "yes"], "yes", "were admitted in"),
        ("survived", ["no", "yes"], "yes", " survived in"),
        ("survived", ["no", "yes"], "no", "had survived = no in"),
        ("released", ["No", "Yes"], "No", "were not released in"),
        ("need", ["no", "yes"], "yes", "had need = yes in"),
        ("income", ["<=50K", ">50K"], ">50K", 'had income = ">50K" in'),
    ],
)
def test_what_an_outcome_says(name: str, values: list[str], favourable: str, words: str) -> None:
    """A participle that is true or false is a verb; any other outcome is a value that people had."""
    columns: dict[str, Any] = {"g": ["a", "b"] * 100, name: [values[i % 4 != 0] for i in range(200)]}
    audit = ald.audit(columns, outcome=name, favourable=favourable, search=ald.Search("leaves", trees=1), level=1.0)
    assert words in statement(audit.gaps.rows[0], audit, 0.95, "everyone else")


def classified(notion: str | Notion) -> Audit:
    columns = decisions(600)
    columns["repaid"] = columns.pop("true")
    return ald.audit(columns, prediction="predicted", truth="repaid", notion=notion, search="leaves")


@pytest.mark.parametrize(
    ("hits", "base", "of", "what"),
    [
        ("fp tp", "all", "", "were given predicted = 1"),
        ("fp", "tn fp", "of those with repaid = 0", "were wrongly given predicted = 1"),
        ("fn", "fn tp", "of those with repaid = 1", "were wrongly given predicted = 0"),
        ("tp", "fn tp", "of those with repaid = 1", "were rightly given predicted = 1"),
        ("tp", "fp tp", "of those given predicted = 1", "had repaid = 1"),
        ("fn", "fn tn", "of those given predicted = 0", "had repaid = 1"),
        ("tn tp", "all", "", "were judged rightly"),
        ("fn fp", "all", "", "were judged wrongly"),
    ],
)
def test_what_a_rate_counts(hits: str, base: str, of: str, what: str) -> None:
    """Of whom, and what happened to them, from the confusion cells alone: notions of one's own have words too."""
    audit = classified("accuracy")
    told = happening(Rate("own", "own rate", hits=hits, base=base), None, audit)
    assert told is not None
    assert (told.of, told.what) == (of, what)


def test_a_rate_without_words_has_its_name() -> None:
    """Cells that make no simple sentence are told by the name of the rate."""
    rate = Rate("odd", "odd rate", hits="fn", base="fn fp tn")
    audit = classified(Notion("odd", (rate,)))
    assert happening(rate, None, audit) is None
    assert "had a odd rate of" in statement(audit.gaps.rows[0], audit, 0.95, "everyone else")


def test_every_notion_has_words() -> None:
    """No notion of the product falls back on names of rates."""
    audit = classified("accuracy")
    for notion in NOTIONS.values():
        assert all(happening(rate, None, audit) is not None for rate in notion.rates), notion.name


def test_rates_are_those_that_were_found() -> None:
    """Both rates, the difference in points, and its interval are the numbers of the finding."""
    audit = classified("equalized odds")
    gap = audit.gaps.rows[0]
    said = statement(gap, audit, audit.gaps.interval_level, "everyone else")
    for key in ("fpr", "fnr"):
        inside, outside, difference = gap.rates_inside[key], gap.rates_outside[key], gap.parts[key]
        low, high = gap.part_intervals[key]
        assert not {inside, outside, difference, low, high} & {None}
        numbers = np.array([inside, outside, difference, low, high], float) * 100
        told = "in {:.1f}% of cases, everyone else in {:.1f}% ({:+.1f} points, 95% interval {:.1f} to {:.1f})"
        assert told.format(*numbers) in said
    assert "; of those with repaid = 1, they were" in said


def test_whom_people_are_compared_with() -> None:
    """Comparable people are the same in legitimate factors, and alike in the groups before."""
    question: dict[str, Any] = {"outcome": "admitted", "favourable": "yes"}
    data = ald.datasets.load_berkeley()
    audit = ald.audit(data, seed=6, **question)
    assert compared_with(audit.config) == "everyone else"
    assert [compared_with(audit.config, group) for group in audit.groups] == [
        "everyone else",
        "comparable people (alike in department in {A, B})",
        "comparable people (alike in earlier groups)",
    ]
    given = ald.audit(data, given="department", **question)
    assert compared_with(given.config) == "comparable people (same department)"
    everyone = ald.audit(data, reference="all", **question)
    assert compared_with(everyone.config) == "everyone"


def test_a_sentence_begins_and_ends() -> None:
    """A capital first letter, a full stop, and nothing else is changed."""
    assert sentence("people with X") == "People with X."
