"""What is left of a finding where a legitimate factor is cut twice as fine, and what is said of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ald
from tests.tables import cutoff


def steep(n: int = 4000, seed: int = 0) -> dict[str, Any]:
    """A score on which outcomes and a group depend so steeply that wide classes of it leave much of that."""
    rng = np.random.default_rng(seed)
    score = rng.uniform(size=n)
    group = np.where(rng.random(n) < score, "yes", "no")
    y = (rng.random(n) < score).astype(int)
    return {"score": score, "group": group, "region": rng.choice(["north", "south"], n), "y": y}


def test_a_cut_off_is_no_disparity() -> None:
    """Where outcome and group jump at one value of a legitimate factor, named groups do not differ given it."""
    found = [
        ald.audit(
            cutoff(2000, seed)[0], search="none", named_groups="group = yes", outcome="y", given="score"
        ).named_groups[0]
        for seed in range(80)
    ]
    assert sum((one.p_value or 1.0) <= 0.05 for one in found) <= 9


@pytest.mark.parametrize("in_criteria", [False, True])
def test_a_search_does_not_list_a_cut_off(in_criteria: bool) -> None:
    """Nor does a search list them, whether or not the factor may describe groups."""
    listed = 0
    for seed in range(40):
        columns, _ = cutoff(2000, seed)
        audit = ald.audit(
            columns,
            outcome="y",
            given=ald.Given("score", in_criteria=in_criteria),
            seed=seed,
            search=ald.Search(trees=5),
        )
        listed += any(all(cut.holds for cut in found.finer) for found in audit.groups)
    assert listed <= 5


def test_what_finer_strata_end_is_said() -> None:
    """A finding that is gone, with each class of a factor cut in two, is a warning and a sentence of its card."""
    audit = ald.audit(steep(), outcome="y", given=ald.Given("score", bins=3))
    (found,) = audit.groups
    (cut,) = found.finer
    assert (cut.factor, cut.strata, cut.holds, cut.turned) == ("score", 6, False, False)
    assert cut.psi is not None
    assert found.psi is not None
    assert abs(cut.psi) < 0.6 * abs(found.psi)
    (warning,) = [text for text in audit.warnings if "twice as fine" in text]
    assert warning.startswith(
        "'group = no' no longer differs significantly if 'score' is cut twice as fine (corrected p"
    )
    assert "the finding ends, and the effect of score within its classes may be all" in " ".join(
        audit.report().cards[0].sentences
    )


def test_what_finer_strata_leave_is_no_warning() -> None:
    """A finding that finer strata do not end says so, and there is no warning."""
    columns = steep()
    columns["y"] = (np.random.default_rng(1).random(4000) < 0.3 + 0.4 * (columns["group"] == "yes")).astype(int)
    audit = ald.audit(columns, outcome="y", given="score")
    assert [cut.holds for cut in audit.groups[0].finer] == [True]
    assert not any("twice as fine" in text for text in audit.warnings)
    assert "the finding holds" in str(audit.report().cards[0].sentences)


def test_what_finer_strata_turn_round() -> None:
    """A difference that has the other sign in finer strata is said to be turned round."""
    rng = np.random.default_rng(2)
    score = np.arange(12_000) % 3
    yes = rng.random(12_000) < 0.02 + 0.48 * score
    y = rng.random(12_000) < 0.16 + 0.41 * score - 0.15 * yes
    columns = {"score": score, "group": np.where(yes, "yes", "no"), "y": y.astype(int)}
    (found,) = ald.audit(
        columns, search="none", named_groups="group = yes", outcome="y", given=ald.Given("score", bins=2)
    ).named_groups
    assert found.psi is not None
    assert found.psi > 0.02
    (cut,) = found.finer
    assert (cut.turned, cut.holds) == (True, False)
    assert cut.psi is not None
    assert cut.psi < 0


def test_named_groups_say_it_too() -> None:
    """Named groups are tested on all data, within classes that all data cuts, and warned about in the same way."""
    asked = ald.audit(
        steep(),
        search="none",
        named_groups=["group = yes", "region = north"],
        outcome="y",
        given=ald.Given("score", bins=3),
    )
    assert [[cut.holds for cut in found.finer] for found in asked.named_groups] == [[False], []]
    assert sum("twice as fine" in text for text in asked.warnings) == 1
    assert "the finding ends" in str(asked)


def test_every_number_is_cut_finer_by_itself() -> None:
    """With several factors each number is cut in turn; words have no finer cut."""
    columns = steep() | {"other": np.random.default_rng(3).normal(size=4000)}
    audit = ald.audit(columns, outcome="y", given=ald.Given(["score", "other", "region"], bins=3))
    assert [cut.factor for cut in audit.groups[0].finer] == ["score", "other"]
    assert [cut.holds for cut in audit.groups[0].finer] == [False, True]


def test_documents_keep_finer_cuts() -> None:
    """The document has them, and gives them back."""
    audit = ald.audit(steep(), outcome="y", given=ald.Given("score", bins=3), search=ald.Search(trees=3))
    assert audit.groups[0].finer
    assert ald.Audit.from_json(audit.to_json()) == audit
