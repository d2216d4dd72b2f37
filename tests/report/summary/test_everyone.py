"""What reports say of audits of everyone, in every format."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import ald
from ald.notions import NOTIONS
from ald.report.summary import everyone
from ald.results.audit import Audit
from ald.results.finding import Finding
from tests.tables import one_crossing


@cache
def audited() -> Audit:
    """One crossing of two attributes differs."""
    return ald.audit(one_crossing(1000), outcome="y", split="none")


@cache
def nothing() -> Audit:
    rng = np.random.default_rng(0)
    data = {"a": rng.choice(["u", "v"], 400), "b": rng.choice(["p", "q"], 400), "y": rng.integers(0, 2, 400)}
    return ald.audit(data, outcome="y", split="none")


def first() -> Finding:
    return audited().groups[0]


def test_why_p_values_may_be_believed() -> None:
    """One sentence says how often shuffled outcomes had something as strong; with halves, who never was searched."""
    nothing = "When the outcomes were shuffled at random 999 times, nothing as strong came up"
    assert nothing in everyone.certainty(first())
    assert first().shuffled is not None
    seen = [replace(first(), shuffled=replace(first().shuffled, as_strong=k)) for k in (1, 2)]
    assert everyone.believed(seen[0]).endswith("shuffled at random 999 times, something as strong came up once")
    assert everyone.believed(seen[1]).endswith("something as strong came up 2 times")
    halves = ald.audit(one_crossing(1000), outcome="y", split="random")
    assert "that the search never saw" in halves.report().result
    assert "shuffl" not in str(halves)


def test_where_a_group_ends_may_be_unclear() -> None:
    """A group that fewer than half of the halves find again is said to be there, and its description to be unsure."""
    assert first().shuffled is not None
    said = [everyone.certainty(replace(first(), shuffled=replace(first().shuffled, found=k))) for k in (24, 25)]
    assert ["exactly which people make up the group is not" in text for text in said] == [True, False]


def test_bounds_are_written_as_bounds() -> None:
    """Where no shuffle was as strong the p-value is at most so large, in tables and sentences."""
    assert everyone.p_adjusted_text(first()) == "≤ 0.002"
    assert everyone.p_adjusted_words(first()) == "p ≤ 0.002"
    assert first().shuffled is not None
    seen = replace(first(), shuffled=replace(first().shuffled, bound=False, as_strong=2))
    assert everyone.p_adjusted_text(seen) == "0.002"
    assert everyone.p_adjusted_words(seen) == "p = 0.002"


def test_combination_and_group_are_told_apart() -> None:
    """Both claims have a sentence; a combination that is listed by itself says that no group is significant."""
    told = everyone.certainty(first())
    assert "a and b together matter, beyond what each does by itself (p = 0.004)" in told
    assert "most of all for a = u and b = p" in told
    assert first().shuffled is not None
    alone = replace(first(), shuffled=replace(first().shuffled, claim="combination"))
    assert everyone.combination_statement(alone).endswith("None of the groups that they form is significant by itself")
    assert "from the effects of each attribute by itself" in everyone.believed(alone)
    assert first().together is not None
    weak = replace(first(), together=replace(first().together, listed=False, bound=False, log10_p_adjusted=-0.5))
    assert "is not significant (p = 0.32)" in everyone.together(weak)


def test_sizes_on_new_people() -> None:
    """What such a group shows on new people stands beside psi, which is called exaggerated where power is low."""
    assert first().shuffled is not None
    sure = replace(first(), shuffled=replace(first().shuffled, exaggerated=False, psi_new=0.2))
    assert (
        everyone.new_people(sure, NOTIONS["statistical parity"])
        == " On new people such a group shows a gap of about +20.0 points."
    )
    doubtful = replace(first(), shuffled=replace(first().shuffled, exaggerated=True, psi_new=-0.1))
    assert everyone.new_people(doubtful, NOTIONS["statistical parity"]).endswith("is probably exaggerated.")
    same = replace(first(), shuffled=replace(first().shuffled, exaggerated=True, psi_new=first().psi))
    assert "exaggerated" not in everyone.new_people(same, NOTIONS["statistical parity"])
    later = replace(audited(), groups=(first(), doubtful))
    assert f"Group 2:{everyone.new_people(doubtful, NOTIONS['statistical parity'])}" in later.report().facts


def test_halves_that_lead_there() -> None:
    """How many of 50 random halves lead to the group, and by which descriptions, if these are other ones."""
    own = first()
    assert own.shuffled is not None
    n = own.shuffled.found
    assert [one.criterion for one in own.shuffled.descriptions] == [own.criterion]
    assert everyone.halves(own) == f"found in {n} of 50 random halves of the people"
    other = replace(
        own,
        shuffled=replace(
            own.shuffled, descriptions=(replace(own.shuffled.descriptions[0], halves=3), own.shuffled.descriptions[0])
        ),
    )
    assert everyone.halves(other).endswith(f", as a = u and b = p (3); a = u and b = p ({n})")


def test_an_empty_list_names_the_strongest() -> None:
    """Without a group the report says what was strongest and how often chance has such."""
    text = " ".join(nothing().report().lead)
    assert "The strongest that was found is" in text
    assert "above the level of 0.05" in text
    assert text.endswith("This does not prove that there is no disparity.")
    assert all(len(sentence) > 20 for sentence in nothing().report().lead)


@pytest.mark.parametrize("ending", ["txt", "md", "html", "notebook", "finding"])
def test_formats_for_people(ending: str) -> None:
    """Every format says on whom was tested, and none speaks of a half that was kept or of a tree."""
    audit = audited()
    found = {
        "txt": lambda: str(audit),
        "md": audit.to_markdown,
        "html": audit.to_html,
        "notebook": audit._repr_html_,
        "finding": lambda: str(audit.groups[0]._repr_html_()),
    }[ending]()
    assert "0.002" in found
    assert "kept for the tests" not in found
    assert "plot_tree" not in found
    if ending in ("txt", "md", "html"):
        assert "all of them for the search and for the tests" in found
        assert "on new" in found


def test_formats_for_machines() -> None:
    """Tables of values have both claims, sizes on new people and halves, each in a column of its own."""
    (row,) = csv.DictReader(io.StringIO(audited().to_csv()))
    assert row["claim"] == "both"
    assert float(row["p_together"]) == 0.004
    assert float(row["psi_new"]) > 0
    assert 0 < float(row["stability"]) <= 1
    frame = audited().to_frame("pandas")
    assert list(frame["claim"]) == ["both"]
    assert json.loads(audited().to_json())["groups"][0]["shuffled"]["halves"] == 50


def test_settings_of_halves_and_trees_are_not_shown() -> None:
    """What means nothing without halves is no setting of the report; with halves it is."""
    settings = [[entry.text for entry in row] for row in audited().report().section("settings").table.rows]  # type: ignore[union-attr]
    assert ["split", "none"] in settings
    assert {"trees", "alpha", "fraction", "repeats", "adjust"}.isdisjoint(name for name, _ in settings)
    halves = ald.audit(one_crossing(1000), outcome="y", split="random").report().section("settings").table
    assert {"trees", "adjust"} <= {row[0].text for row in halves.rows}  # type: ignore[union-attr]


def test_what_a_law_asks_for_is_said_of_everyone() -> None:
    """Profiles speak of no half that was kept for the tests."""
    data = ald.datasets.load_berkeley()
    options = {"outcome": "admitted", "favourable": "yes", "split": "none"}
    city = ald.profile("nyc-ll144", data, columns={"sex": "gender"}, **options)
    union = ald.profile("eu-ai-act", data, **options)
    assert "not on the half" not in str(city)
    assert "Counted on all 4,526 people: sex by the column gender" in " ".join(str(city).split())
    assert "All 4,526 people served the search and the tests, against shuffled outcomes" in union.to_markdown()


def test_no_tree_can_be_drawn() -> None:
    """No tree grew: asking for one is an error that says so."""
    with pytest.raises(ald.InputError, match="was searched among everyone"):
        first().plot_tree()
