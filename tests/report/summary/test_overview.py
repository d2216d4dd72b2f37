"""What stands on the first screen beside the groups."""

from __future__ import annotations

import numpy as np
import pytest

import ald
from ald import Audit
from ald.report.summary.overview import ATTRIBUTES, show_gaps, show_power
from tests.tables import decisions, people


@pytest.fixture(scope="module")
def berkeley() -> Audit:
    return ald.audit(ald.datasets.load_berkeley(), outcome="admitted", favourable="yes", split="random")


def test_every_attribute_has_its_largest_gap(berkeley: Audit) -> None:
    """Nobody has to ask where an attribute is: each has one row, and all levels follow."""
    shown = show_gaps(berkeley)
    assert shown is not None
    assert shown.table is not None
    assert shown.more is not None
    assert [[entry.text for entry in row] for row in shown.table.rows] == [
        ["department = F", "714", "6.4% / 44.8%", "-38.4", "-41.5 to -34.8"],
        ["gender = female", "1,835", "30.4% / 44.5%", "-14.2", "-18.0 to -10.3"],
    ]
    assert len(shown.more.rows) == len(berkeley.gaps) == 7
    assert "hold for all 7 comparisons together" in shown.paragraphs[0]


def test_many_attributes_are_folded() -> None:
    """The first screen has the largest gaps; the others are counted, and among all levels."""
    rng = np.random.default_rng(1)
    columns = {f"a{i}": rng.integers(0, 2, 400) for i in range(ATTRIBUTES + 5)} | {"y": rng.integers(0, 2, 400)}
    shown = show_gaps(ald.audit(columns, outcome="y", search=ald.Search("leaves", trees=1)))
    assert shown is not None
    assert shown.table is not None
    assert shown.more is not None
    assert len(shown.table.rows) == ATTRIBUTES
    assert len(shown.more.rows) == ATTRIBUTES + 5
    assert shown.paragraphs[1] == "5 more attributes are not among these."
    assert shown.table.rows[0][0] == shown.more.rows[0][0]
    assert [row[0] for row in shown.table.rows] == [row[0] for row in shown.more.rows[:ATTRIBUTES]]


def test_protected_attributes_are_on_the_first_screen() -> None:
    """Attributes that laws protect, by their names, are there however small their gaps, with several levels."""
    rng = np.random.default_rng(1)
    columns = {f"a{i}": rng.integers(0, 2, 400) for i in range(ATTRIBUTES + 5)}
    columns |= {"race": np.array(["p", "q", "r"])[np.arange(400) % 3], "sex": np.array(["f", "m"])[np.arange(400) % 2]}
    columns["y"] = (np.arange(400) // 6) % 2
    shown = show_gaps(ald.audit(columns, outcome="y", search=ald.Search("leaves", trees=1)))
    assert shown is not None
    assert shown.table is not None
    assert shown.more is not None
    told = [row[0].text for row in shown.table.rows]
    assert len(told) == ATTRIBUTES
    assert shown.more.rows[0][0].text == told[0]
    assert {"race = p", "race = q", "race = r"} < set(told)
    assert len([text for text in told if text.startswith("sex")]) == 1


def test_several_questions_are_told_apart() -> None:
    """Of several notions every row says which one it is about, and one row stands for each attribute."""
    audit = ald.audit(
        decisions(), prediction="predicted", truth="true", notion=["equalized odds", "accuracy"], search="leaves"
    )
    shown = show_gaps(audit)
    power = show_power(audit)
    assert shown is not None
    assert shown.table is not None
    assert [column.header for column in shown.table.columns][1] == "about"
    assert len(shown.table.rows) == 2
    assert power is not None
    assert power.table is not None
    assert [row[0].text for row in power.table.rows] == [
        "smallest gap for equalized odds",
        "smallest gap for accuracy",
    ]


def test_several_rates_have_a_mean_gap_without_sign() -> None:
    """A mean of absolute differences has no direction."""
    audit = ald.audit(decisions(), prediction="predicted", truth="true", notion="equalized odds", search="leaves")
    shown = show_gaps(audit)
    assert shown is not None
    assert shown.table is not None
    column = [column.header for column in shown.table.columns].index("mean gap")
    assert not any(row[column].text.startswith(("+", "-")) for row in shown.table.rows)


def test_what_could_have_been_seen_is_in_points(berkeley: Audit) -> None:
    """One column per size of a group, with the numbers of the audit."""
    shown = show_power(berkeley)
    assert shown is not None
    assert shown.table is not None
    (row,) = shown.table.rows
    assert [column.header for column in shown.table.columns][1] == "22 (1%)"
    for entry, found in zip(row[1:], berkeley.detectable, strict=True):
        assert found.psi is not None
        assert entry.value == 100 * found.psi
        assert entry.text == f"{100 * found.psi:.1f}"


def test_gaps_that_nobody_could_see_have_a_reason() -> None:
    """Where even the largest possible gap is missed, the table says so, and what that means."""
    rare = {"a": np.arange(80) % 2, "b": np.arange(80) % 7, "y": np.arange(80) < 6}
    shown = show_power(ald.audit(rare, outcome="y"))
    assert shown is not None
    assert shown.table is not None
    assert shown.table.rows[0][-1].text == "none"
    assert shown.paragraphs[0].endswith("None: even the largest possible gap would usually be missed.")


def test_without_a_search_there_is_nothing_beside() -> None:
    """Named groups alone have no attributes, and no power of a search."""
    audit = ald.audit(people(), outcome="y", search="none", named_groups="sex = F")
    assert show_gaps(audit) is None
    assert show_power(audit) is None
