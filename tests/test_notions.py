"""Notions and rates as data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ald
from ald import NOTIONS, Notion, Rate, SettingError
from ald.notions import ALIASES, CELLS, RateCounter, get_notion
from tests.tables import decisions

CELL_SETS = st.sets(st.sampled_from(CELLS), min_size=1)
PROPER_SETS = st.sets(st.sampled_from(CELLS), min_size=1, max_size=3)


@given(CELL_SETS, CELL_SETS)
def test_rates_need_hits_within_their_base(hits: set[str], base: set[str]) -> None:
    """A rate is accepted exactly if its hits are some, but not all, of its base."""
    words = " ".join(sorted(hits)), ", ".join(sorted(base))
    if hits < base:
        assert len(Rate("r", "rate", *words).hit_cells) == len(hits)
    else:
        with pytest.raises(SettingError, match="must be some, but not all"):
            Rate("r", "rate", *words)


@given(PROPER_SETS, st.lists(st.integers(0, 50), min_size=4, max_size=4))
def test_rates_count_cells(hits: set[str], counts: list[int]) -> None:
    """Hits and base are the sums of their cells."""
    counter = RateCounter([Rate("r", "rate", " ".join(sorted(hits)))], 4)
    by_name = dict(zip(CELLS, counts, strict=True))
    assert counter.hit(np.array(counts)).tolist() == [sum(by_name[cell] for cell in hits)]
    assert counter.base(np.array(counts)).tolist() == [sum(counts)]


def test_unknown_cells() -> None:
    """A cell that does not exist is an error that offers the nearest."""
    with pytest.raises(SettingError, match=r"names the unknown cell 'tpp'. Did you mean 'tp'"):
        Rate("r", "rate", "tpp")


@pytest.mark.parametrize(
    ("name", "needs_truth", "disjoint"),
    [
        ("statistical parity", False, True),
        ("equalized odds", True, True),
        ("equal opportunity", True, True),
        ("predictive equality", True, True),
        ("false negative rate", True, True),
        ("predictive parity", True, True),
        ("sufficiency", True, True),
        ("accuracy", True, True),
    ],
)
def test_properties_of_the_notions(name: str, needs_truth: bool, disjoint: bool) -> None:
    """Which notions need the truth, and whose rates are independent."""
    assert (NOTIONS[name].needs_truth, NOTIONS[name].disjoint) == (needs_truth, disjoint)


@pytest.mark.parametrize("text", ["Equalized Odds", "equalized-odds", "equalized_odds", " equalized  odds "])
def test_spellings_of_a_name(text: str) -> None:
    """Case, hyphens, underscores and spaces do not matter."""
    assert get_notion(text) is NOTIONS["equalized odds"]


def test_unknown_notions() -> None:
    """An unknown name is an error that offers the nearest."""
    with pytest.raises(SettingError, match=r"unknown notion 'equal odds'. Did you mean 'equalized odds'"):
        get_notion("equal odds")


@pytest.mark.parametrize("name", ALIASES)
def test_other_names(name: str) -> None:
    """Every other name in use is that of one of the notions, and none of a notion itself."""
    assert get_notion(name.title()) is NOTIONS[ALIASES[name]]
    assert name not in NOTIONS


@pytest.mark.parametrize(
    "name",
    [
        "false discovery rate", "true negative rate", "parity", "negative predictive value", "equity",
        "", "disparate treatment", "treatment equality", "counterfactual fairness",
    ],
)  # fmt: skip
def test_other_questions_are_not_offered(name: str) -> None:
    """A name of a question that no notion asks is an error that lists all notions and suggests none."""
    with pytest.raises(SettingError, match=rf"unknown notion '{name}'. Available: 'statistical parity'"):
        get_notion(name)


@pytest.mark.parametrize(("name", "meant"), [("demografic parity", "demographic parity"), ("seperation", "separation")])
def test_names_spelt_wrong(name: str, meant: str) -> None:
    """Of a name that is spelt wrong the right spelling is offered, also of other names."""
    with pytest.raises(SettingError, match=f"Did you mean '{meant}'"):
        get_notion(name)


def test_sufficiency() -> None:
    """Sufficiency compares who turned out positive, among those predicted so and among those who were not."""
    rates = {rate.key: (rate.hit_cells, rate.base_cells) for rate in NOTIONS["sufficiency"].rates}
    tn, fp, fn, tp = range(4)
    assert rates == {"precision": ({tp}, {tp, fp}), "for": ({fn}, {fn, tn})}


def test_notions_without_rates() -> None:
    """A notion needs a rate, and no key twice."""
    with pytest.raises(SettingError, match="has no rates"):
        Notion("empty", ())
    rate = Rate("r", "rate", "tp")
    with pytest.raises(SettingError, match="uses a rate key twice"):
        Notion("twice", (rate, rate))


def test_psi() -> None:
    """Psi is the difference of one rate, and the mean absolute difference of several."""
    differences = np.array([[-0.2, 0.1], [0.4, 0.1]])
    assert NOTIONS["statistical parity"].psi(differences[:1]).tolist() == [-0.2, 0.1]
    assert NOTIONS["equalized odds"].psi(differences).tolist() == pytest.approx([0.3, 0.1])


@pytest.mark.parametrize("name", NOTIONS)
def test_every_notion_can_be_audited(name: str) -> None:
    """Each notion gives rates that can be counted again from the cells."""
    audit = ald.audit(decisions(), prediction="predicted", truth="true", notion=name, search=ald.Search(trees=3))
    first = [finding for finding in audit.candidates if not finding.given_groups]
    assert first
    assert NOTIONS[name].rates
    for finding in first:
        assert list(finding.rates_inside) == [rate.key for rate in NOTIONS[name].rates]
        for rate in NOTIONS[name].rates:
            inside = np.array(list(finding.counts_inside.values()))
            base = inside[sorted(rate.base_cells)].sum()
            hits = inside[sorted(rate.hit_cells)].sum()
            assert finding.rates_inside[rate.key] == (pytest.approx(hits / base) if base else None)


def test_a_notion_of_ones_own() -> None:
    """A new notion is one declaration, and overlapping rates are allowed."""
    rates = (Rate("for", "false omission rate", "fn", "fn tn"), Rate("err", "error rate", "fp fn"))
    notion = Notion("mine", rates)
    assert not notion.disjoint
    audit = ald.audit(decisions(), prediction="predicted", truth="true", notion=notion, search=ald.Search(trees=3))
    assert audit.groups
    assert set(audit.groups[0].parts) == {"for", "err"}
    assert ald.Audit.from_json(audit.to_json()).notion == notion
