"""The ledger of questions in reports: which question it is, whether it is exploratory, and p-values over all."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from typing import Any

import pytest

import ald
from ald.report.excel import to_excel
from ald.report.html import to_html
from ald.report.markdown import to_markdown
from ald.report.text import to_text
from ald.report.words import p_value
from tests.results.test_ledger import ledger
from tests.tables import people


@pytest.fixture(scope="module")
def audit() -> Any:
    """An audit with a listed group that is significant by itself, and not any more among many questions."""
    found = ald.audit(people(700), outcome="y", seed=1, split="random", named_groups="sex = F")
    assert found.groups
    return found


def test_without_a_ledger(audit: Any) -> None:
    """A report whose questions nobody counted says nothing about them."""
    report = audit.report()
    assert not any("question" in text for text in (*report.made, *report.lead))
    assert "ledger" not in [section.key for section in report.sections]
    assert "p_questions" not in [column.key for column in report.records.columns]


def test_the_first_question(audit: Any) -> None:
    """The first question says that it is the only one so far, and corrects nothing more."""
    report = replace(audit, ledger=ledger(1, 1)).report()
    assert report.made[-1] == "question 1 of 1 asked of this data"
    assert report.lead == audit.report().lead
    assert "p, 1 questions" not in [column.header for column in report.table.columns]


def test_a_further_question(audit: Any) -> None:
    """A further one says its number, that it is exploratory, and how many groups stay significant over all."""
    many = 10 ** int(-audit.groups[0].log10_p_adjusted)
    few, all_ = (replace(audit, ledger=ledger(2, n)).report() for n in (4, min(max(many, 5), 3000)))
    assert few.made[-1] == "question 2 of 4 asked of this data"
    assert "after an answer was seen: it is exploratory" in few.lead[-2]
    assert "Corrected for all 4 questions" in few.lead[-1]
    assert all_.lead[-1] != few.lead[-1]


def test_every_p_value_is_corrected(audit: Any) -> None:
    """Listed and named groups and attributes by themselves have their p-values times the number of questions."""
    asked = replace(audit, ledger=ledger(3, 4))
    section = asked.report().section("ledger-p")
    assert section.table is not None
    kinds = [row[1].text for row in section.table.rows]
    assert kinds.count("listed") == len(audit.groups)
    assert kinds.count("named") == 1
    assert kinds.count("attribute by itself") == len({gap.attribute for gap in audit.gaps.rows})
    for finding, row in zip(audit.groups, section.table.rows, strict=False):
        over = min(0.0, finding.log10_p_adjusted + 0.6020599913)
        assert row[3].value == pytest.approx(over)
        assert row[3].text == p_value(over)


def test_every_format_prints_it(audit: Any) -> None:
    """Every format has the number of the question; those with sections have the whole ledger."""
    report = replace(audit, ledger=ledger(4, 4)).report()
    words = "question 4 of 4 asked of this data"
    for text in (to_html(report), to_markdown(report)):
        assert words in text
        assert "outcome: y; seed: 3" in text
    assert words in to_text(report)
    assert len(to_excel(report)) > len(to_excel(audit.report()))
    rows = list(csv.DictReader(io.StringIO(replace(audit, ledger=ledger(4, 4)).to_csv())))
    assert [(row["questions"], row["exploratory"]) for row in rows] == [("4", "True")] * len(audit.groups)
    for row in rows:
        assert float(row["p_questions"]) == pytest.approx(min(1.0, 4 * float(row["p_adjusted"])))
