"""Verdicts in every format."""

from __future__ import annotations

import json
from datetime import date
from functools import cache
from xml.etree import ElementTree

import pytest

from ald.gate.policy import make_check
from ald.gate.rendering import FORMATS, exit_code, to_github, to_json, to_junit, to_markdown, to_text
from ald.gate.verdict import Verdict, judge
from tests.gate.people import decisions

TODAY = date(2026, 11, 19)


@cache
def fails() -> Verdict:
    """A check with a hostile name, of data with a hostile level."""
    data = decisions(4000, 0.2).replace({"sex": {"f": "<b>|f\n"}})
    return judge(make_check("a:b,<c>%\n", {"data": data, "outcome": "approved", "limit": 0.05}), today=TODAY)


@cache
def unsure() -> Verdict:
    return judge(make_check("small", {"data": decisions(300, 0.0), "outcome": "approved", "limit": 0.05}), today=TODAY)


@cache
def passes() -> Verdict:
    check = make_check("even", {"data": decisions(5000, 0.0), "outcome": "approved", "limit": 0.35, "share": 0.4})
    return judge(check, today=TODAY)


def test_exit_codes() -> None:
    """1 if a check fails, else 3 if one has not enough evidence, else 0."""
    assert exit_code([passes()]) == 0
    assert exit_code([passes(), unsure()]) == 3
    assert exit_code([unsure(), fails(), passes()]) == 1


def test_text_names_groups_with_numbers() -> None:
    """People read verdict, reason, and a table of groups; no level breaks a line."""
    text = to_text([fails(), unsure()])
    assert text.startswith("FAIL  a:b,<c>%\\n\n")
    assert "exceeds the limit" in text
    assert "NOT ENOUGH EVIDENCE  small" in text
    assert "<b>|f\\n" in text


def test_junit_is_xml_with_a_case_per_check() -> None:
    """What is not a pass is a failure of that type, with the groups as its text."""
    suite = ElementTree.fromstring(to_junit([fails(), unsure(), passes()]))
    assert (suite.get("tests"), suite.get("failures")) == ("3", "2")
    cases = list(suite.iter("testcase"))
    assert [case.get("name") for case in cases] == ["a:b,<c>%\\n", "small", "even"]
    failures = [case.find("failure") for case in cases]
    assert [None if found is None else found.get("type") for found in failures] == ["fail", "not enough evidence", None]
    assert failures[0] is not None
    assert "exceeds the limit" in (failures[0].text or "")


def test_annotations_are_one_line_each() -> None:
    """Errors, warnings and notices of GitHub; nothing in a name or level ends or begins a command."""
    lines = to_github([fails(), unsure(), passes()]).splitlines()
    assert [line.split(" ")[0] for line in lines] == ["::error", "::warning", "::notice"]
    assert "title=ald check a%3Ab%2C<c>%25\\n%3A fail::" in lines[0]


def test_markdown_is_a_table() -> None:
    """Every check is a row; levels with bars and tags end no entry."""
    lines = to_markdown([fails(), passes()]).splitlines()
    rows = [line for line in lines if line.startswith("| ") and "**" in line]
    assert len(rows) == 2
    assert "**fail**" in rows[0]
    assert any("\\<b>\\|f" in line for line in lines)


def test_json_has_everything() -> None:
    """The document has verdicts, numbers and the exit code."""
    found = json.loads(to_json([fails(), passes()]))
    assert found["exit_code"] == 1
    assert [check["verdict"] for check in found["checks"]] == ["fail", "pass"]
    assert found["checks"][1]["power"]["found"] == 8
    group = found["checks"][0]["groups"][0]
    assert group["exceeds"]
    low, high = group["interval"]
    assert low > 0.05 or high < -0.05


@pytest.mark.parametrize("name", FORMATS)
def test_same_verdicts_same_bytes(name: str) -> None:
    """Every format is a function of the verdicts."""
    assert FORMATS[name]([fails(), unsure()]) == FORMATS[name]([fails(), unsure()])
