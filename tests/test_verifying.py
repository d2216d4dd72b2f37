"""Whether a report is true of its data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ald
from ald.notions import SELECTION, Notion
from ald.verifying import verify
from tests.tables import decisions, people, write_csv

FEW = {"search": ald.Search(trees=3), "split": "random"}


def saved(audit: ald.Audit, folder: Path) -> tuple[Path, Path]:
    audit.save(folder / "audit.html", title="A <title>", notes="One note", date="2026-11-30")
    audit.save(folder / "audit.json")
    return folder / "audit.html", folder / "audit.json"


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"split": "none"},
        {"exclude": "score"},
        {"attributes": ["score", "sex"], **FEW},
        {"named_groups": ["sex = F", "age > 40"], "search": "none"},
        {"notion": Notion("own", (SELECTION,), "my own"), "favourable": 1, "direction": "disadvantaged", **FEW},
        {"given": ald.Given("age", bins=3), "seed": 5, **FEW},
        {"split": ald.Split(repeats=2), "search": "leaves", "level": 0.5, "min_group_size": 1},
    ],
)
def test_true_reports_are_found_true(tmp_path: Path, options: dict[str, Any]) -> None:
    """The page and the document of an audit, with any settings, are the same when it is done again."""
    file = write_csv(tmp_path / "people.csv", people(500))
    page, document = saved(ald.audit(file, outcome="y", **options), tmp_path)
    found = verify(page, file)
    assert (found.is_same, found.same_page, found.same_file, found.differences) == (True, True, True, ())
    assert found.compared > 100
    found = verify(document, file)
    assert (found.is_same, found.same_page, found.same_file) == (True, None, None)


def test_two_columns_and_several_outcomes(tmp_path: Path) -> None:
    """Predictions with a truth, several outcomes with a favourable value each, and counts per row."""
    columns = decisions(600)
    both = ald.audit(columns, prediction="predicted", truth="true", notion=["equalized odds", "accuracy"], **FEW)
    assert verify(saved(both, tmp_path)[0], columns).is_same
    outcomes = ["predicted", "true"]
    several = ald.audit(columns, outcome=outcomes, favourable={"predicted": 1}, **FEW)
    assert verify(saved(several, tmp_path)[0], columns).is_same
    counted = {"sex": ["f", "m"] * 2, "y": [0, 0, 1, 1], "n": [300, 200, 100, 250]}
    weighted = ald.audit(counted, outcome="y", weights="n", **FEW)
    assert verify(saved(weighted, tmp_path)[1], counted, weights="n").is_same


def test_numbers_and_profiles(tmp_path: Path) -> None:
    """Outcomes that are numbers, and what a law asks to be counted."""
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], 600)
    columns = {"sex": sex, "age": rng.integers(18, 80, 600), "pay": rng.normal(100, 9, 600).round() + 5 * (sex == "m")}
    assert verify(saved(ald.audit(columns, outcome="pay", **FEW), tmp_path)[0], columns).is_same
    berkeley = ald.datasets.load_berkeley()
    law = ald.profile("nyc-ll144", berkeley, columns={"sex": "gender"}, outcome="admitted", favourable="yes", **FEW)
    assert verify(saved(law, tmp_path)[0], berkeley).is_same


def test_two_data_sets(tmp_path: Path) -> None:
    """Halves that were given are given again."""
    first, second = people(400, 1), people(400, 2)
    page, _ = saved(ald.audit(split=(first, second), outcome="y", search=ald.Search(trees=3)), tmp_path)
    assert verify(page, (first, second)).is_same
    with pytest.raises(ald.InputError, match="two data sets were audited: give both"):
        verify(page, first)


def test_other_data_is_found_out(tmp_path: Path) -> None:
    """One person's other outcome changes numbers, and the file is another one."""
    columns = people(500)
    file = write_csv(tmp_path / "people.csv", columns)
    page, document = saved(ald.audit(file, outcome="y", **FEW), tmp_path)
    columns["y"][0] = 1 - columns["y"][0]
    write_csv(file, columns)
    for report in (page, document):
        found = verify(report, file)
        assert not found.is_same
        assert any(one.place.startswith("data.cells") for one in found.differences)
        assert "numbers and words are not the same" in str(found)
    assert verify(page, file).same_file is False


def test_a_page_that_was_changed_is_found_out(tmp_path: Path) -> None:
    """What the page shows is compared too, and not only the document inside."""
    file = write_csv(tmp_path / "people.csv", people(500))
    page, document = saved(ald.audit(file, outcome="y", **FEW), tmp_path)
    text = page.read_text("utf-8")
    page.write_text(text.replace("One note", "Another note", 1), "utf-8")
    found = verify(page, file)
    assert (found.differences, found.same_page, found.is_same) == ((), False, False)
    told = json.loads(document.read_text())
    told["groups"][0]["psi"] += 0.001
    document.write_text(json.dumps(told))
    (difference,) = verify(document, file).differences
    assert difference.place == "groups.0.psi"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("no report", "neither an HTML report nor a JSON document"),
        ("<html></html>", "neither an HTML report nor a JSON document"),
        ("[]", "only audits can be verified"),
        ('{"schema": 1, "kind": "watch"}', "this is 'a watch': only audits"),
        ('{"schema": 1, "version": "0"}', "damaged or incomplete"),
    ],
)
def test_what_is_no_report_of_an_audit(tmp_path: Path, content: str, problem: str) -> None:
    """Anything else is an error in a sentence."""
    (tmp_path / "report").write_text(content)
    with pytest.raises(ald.InputError, match=problem):
        verify(tmp_path / "report", people(100))
    with pytest.raises(ald.InputError, match="cannot be read"):
        verify(tmp_path / "nothing", people(100))
    with pytest.raises(ald.SettingError, match=r"no option 'wieghts'\. Did you mean 'weights'"):
        verify(tmp_path / "report", people(100), wieghts="n")
