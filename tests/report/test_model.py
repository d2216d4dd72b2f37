"""The report is complete: formats need nothing else, and what is costly is made when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import pytest

import ald
from ald import Audit
from ald.report.csv import to_csv
from ald.report.frame import to_frame
from ald.report.markdown import to_markdown
from ald.report.model import Report
from ald.report.terminal import print_report
from ald.report.text import to_text
from tests.tables import people


@pytest.fixture(scope="module")
def report() -> Report:
    return ald.profile("nyc-ll144", people(), outcome="y", search=ald.Search(trees=3), columns={"sex": "sex"}).report()


def test_a_report_holds_no_audit(report: Report) -> None:
    """No field of a report is the audit that it is about."""
    values = [getattr(report, field.name) for field in fields(report)]
    assert not any(isinstance(value, Audit) for value in values)


@pytest.mark.parametrize("render", [to_text, to_csv, to_frame, print_report])
def test_short_formats_count_nothing(report: Report, render: Callable[[Report], Any]) -> None:
    """Formats without cards and sections do not ask for what takes counting."""

    def refuse() -> Any:
        raise AssertionError("nobody needs this")

    render(replace(report, _cards=refuse, _sections=refuse, _candidates=refuse, _document=refuse))


def test_costly_parts_are_made_once(report: Report) -> None:
    """Two formats share what was made for the first."""
    made = []

    def make() -> tuple[Any, ...]:
        made.append(1)
        return ()

    counted = replace(report, _cards=make)
    assert to_markdown(counted) == to_markdown(counted)
    assert made == [1]


def test_sections_have_those_of_the_profile(report: Report) -> None:
    """What a law asks for stands among the sections, and by itself for formats without them."""
    assert report.profile
    assert set(report.profile) <= set(report.sections)
