"""Claims in one order, and as findings: p-values as they count, bounds, and what is absent."""

from __future__ import annotations

import pytest

import ald
from ald.datasets import make_synthetic
from ald.errors import InputError
from ald.notions import get_notion
from ald.questions import Question
from ald.results.audit import Audit
from ald.results.claims import Shuffled, Together, Told, p_of
from ald.results.everyone import Chances, Claim, in_order
from ald.results.mode import HALVES, Mode
from tests.coded import coded
from tests.tables import one_crossing

DATA = coded(make_synthetic(2, n=300, rho=0.3, seed=0))
QUESTION = Question(notion=get_notion("statistical parity"), outcome="y", cell_names=("negative", "positive"))


def chances(log_p: float, value: float, *, listed: bool = True) -> Chances:
    return Chances(
        log_p=log_p, log_p_adjusted=log_p, as_strong=0, of=999, bound=True, value=value, statistic=9.0, df=1,
        listed=listed,
    )  # fmt: skip


def claim(group: Chances | None, together: Chances | None = None) -> Claim:
    return Claim(question=QUESTION, data=DATA, criterion=(), group=group, together=together)


def test_sequences_keep_their_order() -> None:
    """The strongest claims come first, ties by evidence; what is not listed last; no sequence is turned round."""
    first, second, last = claim(chances(-6, -20)), claim(chances(-6, -40)), claim(chances(-1, -1, listed=False))
    other, end = claim(None, chances(-6, -30)), claim(None, chances(-2, -2, listed=False))
    assert in_order([[first, second, last], [other, end]]) == [other, first, second, end, last]
    assert in_order([[], [end]]) == [end]


def test_a_claim_counts_by_what_it_is_listed_for() -> None:
    """A group that is listed is ordered by its own p-value, not by that of a combination that is not."""
    both = claim(chances(-4, -9), chances(-9, -99, listed=False))
    assert both.key == (-4, -9)
    assert claim(chances(-1, -1, listed=False), chances(-3, -5, listed=False)).key == (-3, -5)


def test_p_values_as_documents_have_them() -> None:
    """A p-value and its decimal logarithm; very small ones are 0 with a logarithm."""
    assert p_of(0.0) == (1.0, 0.0)
    value, log10 = p_of(-2000.0)
    assert value == 0.0
    assert log10 == pytest.approx(-868.588963807)


def test_what_findings_hold_besides_goes_through_documents() -> None:
    """Claims are read back as they were; of a mode only what there is."""
    audit = ald.audit(one_crossing(1000), outcome="y", split="none")
    found = audit.groups[0]
    assert isinstance(found.together, Together)
    assert isinstance(found.shuffled, Shuffled)
    assert Together.from_dict(found.together.to_dict()) == found.together
    assert Shuffled.from_dict(found.shuffled.to_dict()) == found.shuffled
    assert found.shuffled.descriptions[0] == Told(criterion=found.criterion, halves=found.shuffled.found)
    assert HALVES.to_dict() == {"name": "halves"}
    assert Mode(**audit.mode.to_dict()) == audit.mode


@pytest.mark.parametrize("damage", ["shuffled", "mode", "forest"])
def test_damaged_documents(damage: str) -> None:
    """A document of everyone without its claims, or of halves without its trees, is refused."""
    data = one_crossing(1000)
    document = ald.audit(data, outcome="y", split="random" if damage == "forest" else "none").to_json()
    changed = {
        "shuffled": document.replace('"shuffled": {', '"shuffled": null, "was": {'),
        "mode": document.replace('"shuffles": 999, "parts"', '"parts"'),
        "forest": document.replace('"forest"', '"wood"'),
    }[damage]
    assert changed != document
    with pytest.raises(InputError, match="damaged"):
        Audit.from_json(changed)
