"""Findings written out: their people, their strata, their psi without them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import ald
from ald.results.candidates import STRATA_SHOWN
from tests.flat import audit_flat
from tests.tables import decisions, people


def visits() -> pd.DataFrame:
    """Rows of 300 people in two wards, with weights, and a rate that depends on the ward and the sex."""
    rng = np.random.default_rng(3)
    person = np.repeat(np.arange(300), 4)
    ward, sex = rng.choice(["a", "b"], 300)[person], rng.choice(["F", "M"], 300)[person]
    y = rng.random(1200) < 0.3 + 0.2 * (ward == "a") + 0.2 * (sex == "F")
    return pd.DataFrame(
        {
            "person": [f"p{i}" for i in person],
            "ward": ward,
            "sex": sex,
            "w": rng.uniform(0.5, 2.0, 1200),
            "y": y.astype(int),
        }
    )


def named(frame: pd.DataFrame, **options: Any) -> ald.Finding:
    return audit_flat(frame, search="none", named_groups="sex = F", outcome="y", **options).named_groups[0]


@pytest.mark.parametrize("weighted", [False, True])
def test_strata_by_pandas(weighted: bool) -> None:
    """Every stratum shows its people and its (weighted) rates; weights are those of psi, and make it up."""
    frame = visits()
    found = named(frame, given="ward", **{"survey_weights": "w"} if weighted else {})
    frame["u"] = frame.w if weighted else 1.0
    weights = {}
    for ward, part in frame.groupby("ward"):
        women, men = part[part.sex == "F"], part[part.sex != "F"]
        stratum = next(s for s in found.strata if str(s.criterion) == f"ward = {ward}")
        assert (stratum.size, stratum.size_outside) == (len(women), len(men))
        assert stratum.rates_inside["selection"] == pytest.approx(np.average(women.y, weights=women.u))
        assert stratum.rates_outside["selection"] == pytest.approx(np.average(men.y, weights=men.u))
        weights[ward] = women.u.sum() * men.u.sum() / part.u.sum()
    total = sum(weights.values())
    assert {str(s.criterion): s.weight for s in found.strata} == {
        f"ward = {ward}": pytest.approx(weight / total) for ward, weight in weights.items()
    }
    assert found.psi == pytest.approx(sum(s.weight * (s.parts["selection"] or 0.0) for s in found.strata))


def test_psi_without_strata_is_crude() -> None:
    """psi_crude is psi of the same people without strata; without legitimate factors there is none."""
    frame = visits()
    assert named(frame, given="ward").psi_crude == pytest.approx(named(frame).psi)
    weighted = named(frame, given="ward", survey_weights="w")
    assert weighted.psi_crude == pytest.approx(named(frame, survey_weights="w").psi)
    assert named(frame).psi_crude is None
    assert named(frame).strata == ()


def test_people_are_different_ones() -> None:
    """With clusters `people` counts different people of the group; without it is undefined."""
    frame = visits()
    assert named(frame, cluster="person").people == frame.person[frame.sex == "F"].nunique()
    assert named(frame).people is None


def test_strata_of_a_notion_of_two_rates() -> None:
    """Strata show every rate, and psi_crude is the mean of absolute differences, as psi is."""
    columns = decisions(2000) | {"half": ["x", "y"] * 1000}
    roles: dict[str, Any] = {"prediction": "predicted", "truth": "true", "notion": "equalized odds"}
    (found,) = ald.audit(columns, search="none", named_groups="group = a", given="half", **roles).named_groups
    (crude,) = ald.audit(columns, search="none", named_groups="group = a", **roles).named_groups
    assert found.psi_crude == pytest.approx(crude.psi)
    assert all(set(s.parts) == {"fpr", "fnr"} for s in found.strata)


def test_the_heaviest_strata_are_shown() -> None:
    """Of very many strata the hundred with the largest weights are written out."""
    rng = np.random.default_rng(0)
    columns = people(3000) | {"zip": [f"z{i}" for i in np.minimum(rng.geometric(0.01, 3000), 400)]}
    (found,) = ald.audit(
        columns, search="none", named_groups="sex = F", outcome="y", given="zip", min_group_size=1
    ).named_groups
    assert len(found.strata) == STRATA_SHOWN
    assert 0.5 < sum(s.weight for s in found.strata) < 1


def test_only_listed_and_named_groups_have_strata() -> None:
    """Candidates that are not listed are written out without strata; those that are, as they are listed."""
    audit = ald.audit(people(2000), outcome="y", given="member", search=ald.Search(trees=4), groups=1)
    assert audit.groups
    assert all(found.strata for found in audit.groups)
    listed = {group.criterion: group for group in audit.groups}
    assert len(audit.candidates) > len(listed)
    for found in audit.candidates:
        assert found == listed[found.criterion] if found.criterion in listed else found.strata == ()


def test_trees_of_all_questions_are_numbered_on() -> None:
    """Findings of the second question name trees after those of the first, and the forest has them all."""
    audit = ald.audit(
        decisions(2000),
        prediction="predicted",
        truth="true",
        notion=["accuracy", "equalized odds"],
        search=ald.Search(trees=3),
    )
    assert len(audit.forest) == 6
    for found in audit.candidates:
        assert found.tree is not None
        assert (found.tree < 3) == (found.notion == "accuracy")


@pytest.mark.parametrize("options", [{}, {"given": "member"}, {"ranking": "magnitude"}])
def test_a_listed_group_is_the_same_among_the_candidates(options: dict[str, Any]) -> None:
    """A listed group has one interval, the one that allows for its selection, wherever it is shown."""
    audit = audit_flat(people(600), outcome="y", trees=3, groups=1, level=1e-6, **options)
    assert audit.n_candidates > len(audit.groups) > 0
    assert all(group in audit.candidates for group in audit.groups)
    assert all(group.interval_level > 1 - audit.config.level for group in audit.groups)
