"""Verdicts for people, for pull requests, and for the systems that run checks."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from xml.etree import ElementTree

from ald.gate.verdict import Exceeding, Verdict
from ald.groups.criterion import visible
from ald.groups.wording import readable
from ald.report.markdown import escape
from ald.report.units import common_units
from ald.report.words import percent

EXIT_CODES = {"pass": 0, "fail": 1, "not enough evidence": 3}
# Groups that a verdict names in messages of one line.
_SHOWN = 5


def exit_code(verdicts: Sequence[Verdict]) -> int:
    """1 if a check fails, else 3 if one has not enough evidence, else 0."""
    codes = {EXIT_CODES[verdict.verdict] for verdict in verdicts}
    return next((code for code in (1, 3) if code in codes), 0)


def to_text(verdicts: Sequence[Verdict]) -> str:
    """A paragraph per check, with the groups that it is about."""
    return "\n".join(line for verdict in verdicts for line in (*_lines(verdict), "")) or "no checks\n"


def _lines(verdict: Verdict) -> list[str]:
    lines = [f"{verdict.verdict.upper()}  {visible(verdict.check.name)}"]
    lines += [f"  {visible(reason)}" for reason in verdict.reasons]
    lines += [f"  {line}" for line in table_lines(verdict)]
    return lines


def table_lines(verdict: Verdict) -> list[str]:
    """The groups of a verdict in aligned columns."""
    if not verdict.groups:
        return []
    rows = [("group", "people", "psi", "interval", ""), *(_row(group, verdict) for group in verdict.groups)]
    widths = [max(len(row[k]) for row in rows) for k in range(4)]
    return [
        f"{row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:>{widths[2]}}  {row[3]:>{widths[3]}}  {row[4]}".rstrip()
        for row in rows
    ]


def _row(group: Exceeding, verdict: Verdict) -> tuple[str, str, str, str, str]:
    (low, high), units = group.interval, common_units(verdict.audit.config.notions)
    return (
        visible(readable(group.criterion)),
        f"{group.size:,} ({percent(group.share)})",
        units.signed(group.psi),
        f"{units.signed(low)} to {units.signed(high)}",
        visible(_remark(group)),
    )


def _remark(group: Exceeding) -> str:
    what = "exceeds the limit" if group.sure else "may exceed the limit"
    if group.accepted is None:
        return what
    day = group.accepted.until.isoformat()
    return f"{what}; accepted until {day}{', which is over' if group.lapsed else ''}: {group.accepted.reason}"


def to_markdown(verdicts: Sequence[Verdict]) -> str:
    """A table of checks, and one per check of the groups that it is about."""
    lines = ["# Checks for disparities", "", "| check | verdict | limit | why |", "|---|---|--:|---|"]
    for verdict in verdicts:
        why = _entry("; ".join(verdict.reasons))
        lines.append(f"| {_entry(verdict.check.name)} | **{verdict.verdict}** | {verdict.check.limit:g} | {why} |")
    for verdict in verdicts:
        if verdict.groups:
            lines += ["", f"## {escape(verdict.check.name)}", "", "| group | people | psi | interval | |"]
            lines += [
                "|---|--:|--:|--:|---|",
                *(f"| {' | '.join(map(_entry, _row(g, verdict)))} |" for g in verdict.groups),
            ]
    return "\n".join(lines) + "\n"


def _entry(text: str) -> str:
    return escape(text).replace("|", "\\|").replace("\n", " ")


def to_junit(verdicts: Sequence[Verdict]) -> str:
    """JUnit's XML: a case per check. What is not a pass is a failure of that type."""
    failures = sum(verdict.verdict != "pass" for verdict in verdicts)
    suite = ElementTree.Element("testsuite", name="ald check", tests=str(len(verdicts)), failures=str(failures))
    for verdict in verdicts:
        case = ElementTree.SubElement(suite, "testcase", classname="ald.check", name=visible(verdict.check.name))
        if verdict.verdict != "pass":
            message = visible("; ".join(verdict.reasons))
            failure = ElementTree.SubElement(case, "failure", type=verdict.verdict, message=message)
            failure.text = "\n".join(table_lines(verdict))
    ElementTree.indent(suite)
    text: str = ElementTree.tostring(suite, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def to_github(verdicts: Sequence[Verdict]) -> str:
    """Annotations of GitHub's workflows: an error, a warning or a notice per check."""
    kinds = {"fail": "error", "not enough evidence": "warning", "pass": "notice"}
    lines = []
    for verdict in verdicts:
        groups = [_row(group, verdict) for group in verdict.groups if group.counts][:_SHOWN]
        message = "; ".join([*verdict.reasons, *(f"{row[0]}: psi {row[2]} ({row[3]})" for row in groups)])
        title = f"ald check {verdict.check.name}: {verdict.verdict}"
        lines.append(f"::{kinds[verdict.verdict]} title={_property(title)}::{_data(message)}")
    return "\n".join(lines) + "\n"


def _data(text: str) -> str:
    return visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def to_json(verdicts: Sequence[Verdict]) -> str:
    """The verdicts as JSON. Same data, same policy, same day: same bytes."""
    found = {"checks": [verdict.to_dict() for verdict in verdicts], "exit_code": exit_code(verdicts)}
    return json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


FORMATS: dict[str, Callable[[Sequence[Verdict]], str]] = {
    "text": to_text,
    "json": to_json,
    "junit": to_junit,
    "github": to_github,
    "markdown": to_markdown,
}
# Formats of files by their endings.
ENDINGS = {".txt": "text", ".json": "json", ".xml": "junit", ".md": "markdown", ".markdown": "markdown"}
