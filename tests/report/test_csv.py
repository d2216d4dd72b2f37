"""Reports for spreadsheets."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ald
from ald.report.csv import safe_text
from tests.tables import decisions, hostile, people

FORMULAS = ("=", "+", "-", "@", "\t", "\r")


@given(st.text())
def test_no_text_is_a_formula(text: str) -> None:
    """No text starts like a formula, and harmless text stays as it is."""
    assert not safe_text(text).startswith(FORMULAS)
    assert safe_text(text) in (text, "'" + text)


@pytest.mark.parametrize("word", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", 'a"b,c\nd', "=HYPERLINK()"])
def test_hostile_names_and_levels(word: str) -> None:
    """Names and levels cannot become formulas, columns or rows."""
    audit = ald.audit(hostile([word], [word, "other", "third"]), outcome="y", search=ald.Search(trees=3))
    rows = list(csv.reader(io.StringIO(audit.to_csv())))
    assert len(rows) == len(audit.groups) + 1 > 1
    assert {len(row) for row in rows} == {len(rows[0])}
    assert not any(row[rows[0].index("criterion")].startswith(FORMULAS) for row in rows)


def test_bounds_below_zero() -> None:
    """A criterion that starts with a minus sign is text, not a formula; numbers stay numbers."""
    columns = people()
    columns["y"] = [int(-0.5 < value <= 1.0) for value in columns["score"]]
    audit = ald.audit(columns, outcome="y", attributes=["score"], search=ald.Search("paper", trees=5))
    rows = list(csv.DictReader(io.StringIO(audit.to_csv())))
    assert any(row["criterion"].startswith("'-") for row in rows)
    assert [float(row["psi"]) for row in rows] == [finding.psi for finding in audit.groups]


def test_columns() -> None:
    """One row per group with rank, rates inside and outside, interval and p."""
    audit = ald.audit(
        decisions(), prediction="predicted", truth="true", notion="equalized odds", search=ald.Search(trees=3)
    )
    rows = list(csv.DictReader(io.StringIO(audit.to_csv())))
    assert [int(row["rank"]) for row in rows] == list(range(1, len(audit.groups) + 1))
    assert {"criterion", "size", "psi", "psi_fpr", "fpr_inside", "fnr_outside", "lower", "upper", "p_adjusted"} <= set(
        rows[0]
    )
