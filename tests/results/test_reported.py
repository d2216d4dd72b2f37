"""What every result can do."""

from __future__ import annotations

from pathlib import Path

import pytest

import ald
from ald.results.reported import Reported
from tests.results.test_comparison import scored
from tests.tables import people
from tests.watching.test_watching import decisions

RESULTS = {
    "audit": lambda: ald.audit(people(), outcome="y", search=ald.Search(trees=2)),
    "comparison": lambda: ald.compare(scored(2000), predictions=["old", "new"], truth="repaid"),
    "watch": lambda: ald.watch(decisions(0.3, n=60), by="month", named_groups="sex = f", outcome="approved"),
}


@pytest.fixture(scope="module", params=RESULTS)
def result(request: pytest.FixtureRequest) -> Reported:
    found: Reported = RESULTS[request.param]()
    return found


@pytest.mark.parametrize("ending", ["html", "pdf", "xlsx", "md", "csv", "json", "txt"])
def test_every_result_is_saved_in_every_format(result: Reported, ending: str, tmp_path: Path) -> None:
    """The file holds what the method of that format gives, under the title that was asked for."""
    path = tmp_path / f"result.{ending}"
    result.save(path, title="Ours", date="2026-11-30")
    content = path.read_bytes()
    assert len(content) > 100
    if ending in ("html", "md", "txt"):
        assert "Ours" in content.decode()
        assert "30 November 2026" in content.decode()
    if ending == "json":
        assert content.decode() == result.to_json()


def test_every_result_has_a_title_of_its_own(result: Reported) -> None:
    """Without a title reports have that of their kind."""
    assert result.report().title == result.TITLE
    assert result.report(title="Ours").title == "Ours"


def test_every_result_is_shown_in_notebooks_and_frames(result: Reported) -> None:
    """A notebook shows its headline, and a DataFrame has a row for each row of CSV."""
    assert result.report().headline[:20] in result._repr_html_()
    assert len(result.to_frame()) == len(result.to_csv().splitlines()) - 1


def test_results_of_different_kinds_differ() -> None:
    """Results are equal if their documents are; those of another kind never are."""
    first = RESULTS["comparison"]()
    assert first == RESULTS["comparison"]()
    assert first != RESULTS["watch"]()
