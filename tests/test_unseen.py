"""D2 is never seen by the search: whatever happens to it, the same groups are tested in the same order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ald.data.coded import Attribute, AuditData
from ald.data.columns import compact
from ald.data.design import Design
from ald.datasets import make_synthetic
from ald.options import AuditConfig
from ald.pipeline import Halving
from tests.coded import coded
from tests.halvings import one_halving

SEARCHES: list[dict[str, Any]] = [
    {},
    {"search": "paper"},
    {"search": "leaves"},
    {"direction": "disadvantaged"},
    {"given": ("stratum",)},
    {"cluster": "person"},
    {"survey_weights": "weight"},
    {"reference": "a group"},
]
IDS = ["default", "paper", "leaves", "one direction", "given", "cluster", "survey weights", "reference group"]


def data_for(notion: str, search: dict[str, Any]) -> AuditData:
    """Data with a planted disparity, and with the design that the search is about."""
    odds = notion == "equalized odds"
    data = coded(make_synthetic(3, n=1500, rho=0.3, seed=4) if odds else make_synthetic(5, n=1500, seed=4))
    rng = np.random.default_rng(9)
    n = len(data.cells)
    design = Design(
        strata=rng.integers(0, 30, n) if "given" in search else None,
        clusters=rng.integers(0, 400, n) if "cluster" in search else None,
        weights=rng.choice([0.5, 1.5, 4.0], n) if "survey_weights" in search else None,
        reference=rng.random(n) < 0.5 if "reference" in search else None,
    )
    return replace(data, design=design)


def split_with(data: AuditData, config: AuditConfig, change: Callable[[AuditData], AuditData]) -> Halving:
    """The audit's steps on the same D1 and a changed D2."""
    usual = AuditData.halves

    def halves(
        self: AuditData, rng: np.random.Generator, share: float = 0.5, threads: int = 1
    ) -> tuple[AuditData, AuditData]:
        d1, d2 = usual(self, rng, share)
        return d1, change(d2)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(AuditData, "halves", halves)
        return one_halving(data, config)


def changed(d2: AuditData, seed: int, rates: list[float], keep_attributes: bool) -> AuditData:
    """D2 with other outcomes, which depend strongly on one attribute, and other values among those that are known."""
    rng = np.random.default_rng(seed)
    n = len(d2.cells)
    codes = d2.codes
    if not keep_attributes:
        codes = tuple(compact(rng.integers(0, attribute.size, n), attribute.size) for attribute in d2.attributes)
    lead = codes[seed % len(codes)].astype(np.int64)
    chance = np.array(rates)[lead % len(rates)]
    cells = (rng.random(n) < chance).astype(np.uint8)
    if d2.n_cells == 4:
        cells = cells + 2 * rng.integers(0, 2, n).astype(np.uint8)
    return replace(d2, codes=codes, cells=cells.astype(np.uint8))


@pytest.mark.parametrize("notion", ["statistical parity", "equalized odds"])
@pytest.mark.parametrize("search", SEARCHES, ids=IDS)
@settings(max_examples=12)
@given(
    seed=st.integers(0, 10**6),
    rates=st.lists(st.floats(0, 1), min_size=1, max_size=4),
    keep_attributes=st.booleans(),
    ranking=st.sampled_from(["confidence", "magnitude"]),
)
def test_the_search_never_sees_d2(
    search: dict[str, Any], notion: str, seed: int, rates: list[float], keep_attributes: bool, ranking: str
) -> None:
    """Other outcomes and attributes in D2 leave the candidates, their order and the forest exactly as they are."""
    data = data_for(notion, search)
    # The paper's trees split on whether predictions are wrong, which no group was made to differ in: few of them do.
    trees = 20 if (notion, search) == ("equalized odds", {"search": "paper"}) else 5
    config = AuditConfig(notion=notion, trees=trees, ranking=ranking, **search)  # type: ignore[arg-type]
    usual = split_with(data, config, lambda d2: d2)
    other = split_with(data, config, lambda d2: changed(d2, seed, rates, keep_attributes))
    assert len(usual.answers[0].proposed) > 0
    assert other.answers[0].proposed == usual.answers[0].proposed
    assert other.forest.to_dict() == usual.forest.to_dict()


@pytest.mark.parametrize("search", [each for each in SEARCHES if each.get("search") != "paper"])
@settings(max_examples=6)
@given(seed=st.integers(0, 10**6), rates=st.lists(st.floats(0, 1), min_size=1, max_size=4), keep=st.booleans())
def test_d2_does_not_say_which_columns_give_the_outcome_away(
    search: dict[str, Any], seed: int, rates: list[float], keep: bool
) -> None:
    """D1 alone says so: with other outcomes in D2 the same columns are left out, and the same groups are proposed."""
    data = data_for("statistical parity", search)
    copy = Attribute(name="copy", kind="boolean", levels=("False", "True"))
    data = replace(data, attributes=(*data.attributes, copy), codes=(*data.codes, data.cells))
    config = AuditConfig(notion="statistical parity", trees=5, **search)  # type: ignore[arg-type]
    usual = split_with(data, config, lambda d2: d2)
    other = split_with(data, config, lambda d2: changed(d2, seed, rates, keep))
    (before,), (after,) = usual.answers, other.answers
    assert {condition.attribute for (condition,) in before.proposed.giveaways} == {len(data.attributes) - 1}
    assert after.proposed == before.proposed
    assert other.forest.to_dict() == usual.forest.to_dict()


@pytest.mark.parametrize("search", SEARCHES, ids=IDS)
def test_an_empty_d2_changes_no_candidate(search: dict[str, Any]) -> None:
    """With no one in D2 the same groups are proposed; all of them are undefined and none is listed."""
    data = data_for("statistical parity", search)
    config = AuditConfig(notion="statistical parity", trees=5, **search)  # type: ignore[arg-type]
    usual = split_with(data, config, lambda d2: d2)
    empty = split_with(data, config, lambda d2: d2.with_counts(np.zeros_like(d2.counts)))
    assert empty.answers[0].proposed == usual.answers[0].proposed
    assert np.isnan(empty.answers[0].assessment.log_p).all()
    assert empty.chosen.tolist() == []


@settings(max_examples=10)
@given(st.integers(0, 10**6))
def test_the_assessment_depends_on_d2(seed: int) -> None:
    """The p-values are those of D2: with other outcomes there, they are others."""
    data = data_for("statistical parity", {})
    config = AuditConfig(notion="statistical parity", trees=5)  # type: ignore[arg-type]
    usual = split_with(data, config, lambda d2: d2)
    other = split_with(data, config, lambda d2: changed(d2, seed, [0.5], keep_attributes=True))
    assert other.answers[0].assessment.log_p.tolist() != usual.answers[0].assessment.log_p.tolist()
