"""`ald check`: verdicts, exit codes, files."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from ald.gate import power
from tests.gate.people import decisions

POLICY = """
[checks.uneven]
data = "uneven.csv"
outcome = "approved"
limit = 0.05

[checks.small]
data = "small.csv"
outcome = "approved"
limit = 0.05

[checks.even]
data = "even.csv"
outcome = "approved"
limit = 0.35
share = 0.4

[checks.known]
data = "uneven.csv"
outcome = "approved"
limit = 0.35
share = 0.4
accept = [{ group = "sex = f", reason = "on purpose", until = 2027-01-31 }]
"""


@pytest.fixture
def policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(power, "RUNS", 10)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1763510400")
    decisions(5000, 0.45).to_csv(tmp_path / "uneven.csv", index=False)
    decisions(200, 0.0).to_csv(tmp_path / "small.csv", index=False)
    decisions(5000, 0.0).to_csv(tmp_path / "even.csv", index=False)
    path = tmp_path / "ald.toml"
    path.write_text(POLICY, "utf-8")
    return path


@pytest.mark.parametrize(
    ("names", "code", "words"),
    [
        (["uneven"], 1, ["FAIL  uneven", "sex = f"]),
        (["small"], 3, ["NOT ENOUGH EVIDENCE  small"]),
        (["even"], 0, ["PASS  even", "8 of"]),
        (["known"], 0, ["PASS  known", "accepted until 2027-01-31: on purpose"]),
        (["even", "small"], 3, ["PASS  even", "NOT ENOUGH EVIDENCE  small"]),
        ([], 1, ["FAIL  uneven", "PASS  known"]),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, list) else None,
)
def test_verdicts_and_exit_codes(run: Any, policy: Path, names: list[str], code: int, words: list[str]) -> None:
    """0 where all checks pass, 1 where one fails, 3 where one has not enough evidence."""
    result = run("check", *names)
    assert result.code == code, result.err
    assert all(word in result.out for word in words)


def test_files_and_annotations(run: Any, policy: Path, tmp_path: Path) -> None:
    """Verdicts are written by the endings of files, and printed as annotations."""
    result = run("check", "uneven", "--format", "github", "-o", tmp_path / "checks.xml", "-o", tmp_path / "checks.md")
    assert result.code == 1
    assert result.out.startswith("::error title=ald check uneven%3A fail::sex = f")
    assert ElementTree.parse(tmp_path / "checks.xml").getroot().get("failures") == "1"
    assert "**fail**" in (tmp_path / "checks.md").read_text("utf-8")


def test_an_acceptance_expires(run: Any, policy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The day after, the group counts again, and the message says that its time is over."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1801440000")
    result = run("check", "known")
    assert result.code == 1
    assert "accepted until 2027-01-31, which is over" in result.out


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("check", "evn"), "no check 'evn'. Did you mean 'even'"),
        (("check", "--policy", "none.toml"), "there is no policy 'none.toml'"),
        (("check", "-o", "checks.pdf"), "cannot tell the format of 'checks.pdf'"),
    ],
)
def test_errors(run: Any, policy: Path, arguments: tuple[str, ...], problem: str) -> None:
    """Errors are one sentence with exit code 2."""
    result = run(*arguments)
    assert result.code == 2
    assert problem in result.err
