"""The page that goes from a located group to a mitigated model."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from tests.tables import public_data

PAGE = Path(__file__).parents[2] / "docs" / "mitigation.md"


def test_the_page_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Locating, mitigating with Fairlearn and auditing again on fresh rows of Adult give what the page says."""
    pytest.importorskip("fairlearn", reason="make test-integrations installs Fairlearn")
    monkeypatch.setenv("ALD_DATA", str(public_data("adult.csv").parent))
    text = "\n".join(line for line in PAGE.read_text("utf-8").splitlines() if not line.startswith("```"))
    test = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
    report: list[str] = []
    result = doctest.DocTestRunner().run(test, out=report.append)
    assert result.attempted > 25
    assert result.failed == 0, "".join(report)
