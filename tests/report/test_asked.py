"""What reports say of named groups, strata, designs and several questions."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np
import pytest

import ald
from ald.datasets import load_berkeley
from tests.flat import audit_flat
from tests.tables import decisions, hostile, people

BERKELEY: dict[str, Any] = {"outcome": "admitted", "favourable": "yes"}


def words(audit: ald.Audit) -> str:
    """The text of a report in one line."""
    return " ".join(str(audit).split())


def test_named_groups_have_a_line_each() -> None:
    """A report tells size, psi, interval and p of every named group, and psi without strata."""
    text = words(
        ald.audit(
            load_berkeley(),
            search="none",
            named_groups=["gender = female", "department = A"],
            given="department",
            **BERKELEY,
        )
    )
    assert (
        "None of 2 named groups shows a significant disparity. People with gender = female were admitted in 33.4% of "
        "cases, comparable people (same department) in 31.6% (+1.8 points, 95% interval -1.1 to 4.7)."
    ) in text
    assert (
        "Named group gender = female: +1.8 points (95% interval -1.1 to 4.7), corrected p = 0.22: not significant "
        "(1,835 people, tested on all data). Unadjusted gap: -14.2 points; adjusted: +1.8 points. The two have "
        "opposite signs: among comparable people the difference is reversed."
    ) in text
    assert "Named group department = A: nobody can be compared" in text


def test_strata_are_shown_where_people_are_compared() -> None:
    """A line per stratum with both sides; strata in which the group has nobody are not shown."""
    audit = audit_flat(load_berkeley(), given="department", given_in_criteria=True, split="random", **BERKELEY)
    text = words(audit)
    assert "department = A and gender = female, given department = A: selection 86.5% against 58.4% (+28.1)" in text
    assert "given department = B" not in text


def test_many_strata_are_cut_short() -> None:
    """A dozen strata are shown, those of the largest weight, and the number of others."""
    audit = ald.audit(
        people(2000), search="none", named_groups="sex = F", outcome="y", given=ald.Given("score", bins=30)
    )
    text = words(audit)
    assert text.count("sex = F, given ") == 13
    assert "18 more strata: the JSON document has them." in text


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"given": "member"}, "Given member: people are compared only with others of the same one of 2 strata."),
        ({"cluster": "person"}, "Rows with the same person are about one person: halves were drawn by person,"),
        ({"survey_weights": "w"}, "Weighted by w: rates, shares and tests are those of the population."),
        ({"reference": "all"}, "Groups are compared with everyone."),
        ({"reference": "sex = M"}, "Groups are compared with those outside the group with sex = M."),
        ({"direction": "advantaged", "favourable": 1}, "Only groups that are advantaged count: tests are one-sided."),
        ({"split": "half"}, "Which rows are searched and which ones test was given by the column half."),
    ],
)
def test_designs_are_said(options: dict[str, Any], sentence: str) -> None:
    """Reports say what was compared with what, as text and as Markdown; plain audits say nothing of it."""
    columns = people() | {
        "person": [f"p{i // 2}" for i in range(600)],
        "w": [0.5, 1.5] * 300,
        "half": [1] * 300 + [2] * 300,
    }
    audit = audit_flat(columns, outcome="y", trees=2, attributes=["age", "sex"], **options)
    assert sentence in words(audit)
    assert sentence in audit.to_markdown().replace("\\", "")
    assert sentence not in words(ald.audit(columns, outcome="y", search=ald.Search(trees=2), attributes=["age", "sex"]))


def test_several_notions_are_told_apart() -> None:
    """With several notions every row of the table names its own, in every format."""
    audit = ald.audit(
        decisions(3000),
        prediction="predicted",
        truth="true",
        search=ald.Search(trees=3),
        notion=["accuracy", "equalized odds"],
    )
    assert {found.notion for found in audit.groups} == {"accuracy", "equalized odds"}
    text = words(audit)
    assert "notion" in text
    assert "smallest gap for equalized odds" in text
    assert "in / out ," not in text
    rows = list(csv.DictReader(io.StringIO(audit.to_csv())))
    assert [row["notion"] for row in rows] == [found.notion for found in audit.groups]
    frame = audit.to_frame("pandas")
    assert frame.notion.tolist() == [found.notion for found in audit.groups]
    assert "| notion |" in audit.to_markdown()


def test_several_outcomes_are_told_apart() -> None:
    """With several outcomes every row of the table names its own."""
    columns = people(2000)
    rng = np.random.default_rng(0)
    columns["z"] = (rng.random(2000) < 0.3 + 0.3 * (np.array(columns["sex"]) == "F")).astype(int).tolist()
    audit = ald.audit(columns, outcome=["y", "z"], search=ald.Search(trees=3))
    rows = list(csv.DictReader(io.StringIO(audit.to_csv())))
    assert {row["outcome"] for row in rows} == {"y", "z"}
    assert (
        "Outcomes: y, positive value: 1; z, positive value: 1. Whether a positive value is good for people was not "
        "said." in words(audit)
    )


def test_one_question_needs_no_name() -> None:
    """With one notion and one outcome no column names them."""
    header = ald.audit(people(), outcome="y", search=ald.Search(trees=2)).to_csv().splitlines()[0].split(",")
    assert "notion" not in header
    assert "outcome" not in header


def test_hostile_names_are_shown_harmlessly() -> None:
    """Names of named groups and strata cannot act on who prints them."""
    columns = hostile(["n\x1b[31m"], ["<b>", "\x1b[2J", "=1+1"]) | {"s\x1b": ["x", "y"] * 200}
    criterion = ald.Criterion([ald.Levels("n\x1b[31m", "nominal", ("\x1b[2J",))])
    audit = ald.audit(columns, search="none", named_groups=criterion, outcome="y", given="s\x1b")
    assert audit.named_groups[0].size > 0
    assert "\x1b" not in str(audit) + audit.to_markdown() + audit.to_csv()
    assert "<b>" not in audit.to_markdown()
