"""Columns that give the outcome away, in an audit: they come first, with what D2 says, and the search goes on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ald
from ald import NOTIONS, Audit
from tests.flat import audit_flat
from tests.tables import decisions, people, public_data


def leaking(n: int = 1200, wrong: float = 0.02, **more: Any) -> dict[str, Any]:
    """Age and sex matter, and a last column says the outcome, up to a few mistakes."""
    columns = people(n)
    rng = np.random.default_rng(5)
    y = np.array(columns["y"])
    told = np.where(rng.random(n) < wrong, 1 - y, y)
    half = ["train" if i % 2 else "test" for i in range(n)]
    return {**columns, "half": half, "copy": np.where(told > 0, "yes", "no").tolist(), **more}


def audited(columns: Any, **options: Any) -> Audit:
    """An audit of `y` with few trees."""
    return audit_flat(columns, outcome="y", trees=5, **options)


def named(audit: Audit) -> list[str]:
    """The conditions that give the outcome away."""
    return [str(finding.criterion) for finding in audit.giveaways]


def test_they_are_found_with_their_gap_and_interval_on_d2() -> None:
    """A column that says the outcome is a finding, tested on D2 as a named group is tested on the same people."""
    columns = leaking()
    audit = audited(columns, split="half", exclude="member")
    (found,) = audit.giveaways
    kept = {name: [v for v, half in zip(values, columns["half"], strict=True) if half == "test"]
            for name, values in columns.items()}  # fmt: skip
    same = ald.audit(kept, named_groups=str(found.criterion), outcome="y", search="none").named_groups[0]
    assert found.psi is not None
    assert abs(found.psi) > 0.9
    for name in ("size", "psi", "interval", "log10_p", "test", "rates_inside", "rates_outside", "counts_inside"):
        assert getattr(found, name) == getattr(same, name)


def test_the_search_goes_on_as_if_they_were_not_there() -> None:
    """On the same halves, the groups are those of the same data without the column, with the same numbers."""
    columns = leaking()
    with_it, without_it = (
        audited({k: v for k, v in columns.items() if k != left_out}, split="half") for left_out in ("", "copy")
    )
    assert named(with_it) in (["copy = yes"], ["copy = no"])
    assert named(without_it) == []
    assert len(with_it.groups) > 1
    assert with_it.groups == without_it.groups
    assert [one.criterion for one in with_it.candidates] == [one.criterion for one in without_it.candidates]
    assert [one.psi for one in with_it.candidates] == [one.psi for one in without_it.candidates]


@pytest.mark.parametrize("options", [{"search": "leaves"}, {"ranking": "magnitude"}, {"direction": "disadvantaged"}])
def test_every_search_of_ours_looks_for_them(options: dict[str, Any]) -> None:
    """No leaf and no group names the column; with a direction, the group is the one asked for."""
    audit = audited(leaking(), favourable=1, **options)
    assert len(audit.giveaways) == 1
    assert all("copy" not in str(finding.criterion) for finding in audit.candidates)
    if "direction" in options:
        assert named(audit) == ["copy = no"]


@pytest.mark.parametrize("options", [{"search": "paper"}, {"search": "chaid"}])
def test_searches_of_others_stay_as_they_are(options: dict[str, Any]) -> None:
    """The paper's search and other systems are true to their authors, and find the column as a group."""
    audit = audited(leaking(), **options)
    assert audit.giveaways == ()
    assert "copy" in str(audit.groups[0].criterion)


def test_they_are_corrected_for_their_own_number() -> None:
    """Their p-values change nothing for the groups found, and are corrected among themselves."""
    columns = leaking()
    columns["copies"] = [f"{text}!" for text in columns["copy"]]
    audit = audited(columns, adjust="bonferroni")
    assert len(audit.giveaways) == 2
    for finding in audit.giveaways:
        assert finding.log10_p is not None
        assert finding.log10_p_adjusted == pytest.approx(finding.log10_p + np.log10(2))
        assert finding.interval == finding.interval_unadjusted
        assert finding.interval_level == 0.95
    assert audit.n_tested == len(audit.candidates)


def test_any_disparity_at_all_counts_them() -> None:
    """One p-value for any disparity is that of everything that was tested on D2."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1000)
    audit = audited({"noise": rng.normal(size=1000), "copy": y > 0, "y": y})
    assert audit.p_any < 1e-50


def test_several_outcomes_have_columns_of_their_own() -> None:
    """A column that gives one outcome away is searched for another one."""
    rng = np.random.default_rng(0)
    columns = leaking(2000)
    columns["z"] = np.where(rng.random(2000) < 0.7, np.array(columns["copy"]) == "yes", rng.random(2000) < 0.5)
    audit = audit_flat(columns, outcome=("y", "z"), trees=5)
    assert [(finding.outcome, [c.attribute for c in finding.criterion]) for finding in audit.giveaways] == [
        ("y", ["copy"])
    ]
    used = {finding.outcome for finding in audit.candidates if "copy" in str(finding.criterion)}
    assert used == {"z"}


def test_predictions_are_judged_per_rate() -> None:
    """The score that a prediction is made of gives both error rates away."""
    columns = decisions(8000)
    rng = np.random.default_rng(0)
    columns["points"] = (np.array(columns["predicted"]) + rng.random(8000)).tolist()
    audit = audit_flat(columns, prediction="predicted", truth="true", notion=NOTIONS["equalized odds"], trees=5)
    (found,) = audit.giveaways
    assert str(found.criterion).startswith("points ")
    assert found.psi == pytest.approx(1.0, abs=0.02)
    assert set(found.part_intervals) == {"fpr", "fnr"}


def test_all_attributes_may_give_the_outcome_away() -> None:
    """Then nothing is left to search: no group is tested, and a warning says why."""
    columns = leaking()
    audit = audited({"copy": columns["copy"], "y": columns["y"]})
    assert len(audit.giveaways) == 1
    assert audit.groups == audit.candidates == ()
    assert any(warning.endswith("every attribute gives the outcome away") for warning in audit.warnings)


def test_they_go_with_every_design() -> None:
    """Strata, clusters, survey weights, references and repeats: all are as for listed groups."""
    n = 1200
    rng = np.random.default_rng(7)
    columns = leaking(n, person=[f"p{i // 2}" for i in range(n)], w=rng.choice([1.0, 2.0], n).tolist(),
                      site=rng.choice(list("xyz"), n).tolist())  # fmt: skip
    for options in (
        {"given": "site"}, {"cluster": "person"}, {"survey_weights": "w"}, {"repeats": 3}, {"reference": "sex = M"},
        {"reference": "all"}, {"threshold": 0.1},
    ):  # fmt: skip
        audit = audited(columns, exclude="half", **options)
        (found,) = audit.giveaways
        assert found.psi is not None
        assert abs(found.psi) > 0.4
        assert found.p_adjusted is not None
        assert found.p_adjusted < 1e-20
        assert bool(found.strata) is ("given" in options)
        assert (found.people is not None) is ("cluster" in options)


def test_a_document_keeps_them() -> None:
    """They are part of the JSON document and come back from it."""
    audit = audited(leaking())
    again = Audit.from_json(audit.to_json())
    assert again == audit
    assert named(again) == named(audit)
    with pytest.raises(ald.InputError, match="giveaways"):
        Audit.from_json(audit.to_json().replace('"giveaways"', '"other"'))


def test_data_that_gives_nothing_away_has_none() -> None:
    """The embedded data sets and the paper's synthetic ones have no such column."""
    assert audited(people()).giveaways == ()
    berkeley = audit_flat(ald.datasets.load_berkeley(), outcome="admitted", favourable="yes", trees=5)
    assert berkeley.giveaways == ()
    for number in (1, 2, 3, 4, 5):
        data = ald.datasets.make_synthetic(number, n=2000, seed=1)
        roles = {"outcome": "y"} if "y" in data else {"prediction": "prediction", "truth": "truth"}
        notion = "statistical parity" if "y" in data else "equalized odds"
        assert audit_flat(data, notion=notion, trees=5, **roles).giveaways == ()


@pytest.mark.parametrize(
    ("name", "roles"),
    [
        ("compas.csv", {"prediction": "predicted_high_risk", "truth": "reoffended", "notion": "equalized odds"}),
        ("compas.csv", {"outcome": "predicted_high_risk"}),
        ("adult.csv", {"outcome": "income", "favourable": ">50K"}),
    ],
)
def test_the_papers_data_gives_nothing_away(name: str, roles: dict[str, Any]) -> None:
    """COMPAS and Adult have no such column."""
    assert audit_flat(public_data(name), trees=2, **roles).giveaways == ()
