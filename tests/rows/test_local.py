"""Data in memory, as the steps of an audit ask for it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ald.data.coded import Attribute, AuditData
from ald.data.columns import compact
from ald.data.roles import Roles
from ald.groups.derived import Derived
from ald.groups.rules import Candidates
from ald.options import AuditConfig
from ald.pipeline import arrange, read
from ald.questions import questions
from ald.rows.local import LocalHalves, LocalRows
from tests.tables import people


def local_rows(columns: dict[str, Any], **options: Any) -> LocalRows:
    """The rows of an audit of outcome y."""
    config = AuditConfig(**{"notion": "statistical parity", "outcome": "y"} | options)
    roles = Roles(outcome="y", given=config.given)
    return LocalRows(prepared=arrange(*read(columns, roles, config), roles, config), config=config)


def local_halves(columns: dict[str, Any], **options: Any) -> LocalHalves:
    return local_rows(columns, **options).halves(np.random.SeedSequence(0))


def test_halves_make_up_the_rows() -> None:
    """Everyone is in D1 or in D2, in about the shares asked for, and one seed gives one halving."""
    halves = local_halves(people(), fraction=0.3)
    assert halves.d1.total + halves.d2.total == 600
    assert abs(halves.d1.total - 180) < 4 * np.sqrt(600 * 0.3 * 0.7)
    assert halves.d1.codes[0].tolist() == local_halves(people(), fraction=0.3).d1.codes[0].tolist()
    assert halves.strata is None


def test_legitimate_factors_make_strata_of_both_halves() -> None:
    """With a factor given, both halves have its strata, and the halves say what they mean."""
    halves = local_halves(people() | {"place": ["north", "south", "east"] * 200}, given=("place",))
    assert halves.strata is not None
    assert len(halves.strata) == 3
    for half in (halves.d1, halves.d2):
        assert half.design.strata is not None
        assert set(half.design.strata.tolist()) == {0, 1, 2}


def test_halves_are_extended_by_what_describes_the_groups() -> None:
    """Attributes that another system made follow those of both halves; without any, the halves stay as they are."""
    halves = local_halves(people())
    number = len(halves.d1.attributes)

    def first_level(data: AuditData) -> Any:
        return compact((data.codes[0] == 0).astype(np.int64), 2)

    new = Derived(attribute=Attribute(name="new", kind="boolean", levels=("False", "True")), codes=first_level)
    proposed = Candidates(criteria=(), tree=(), node=(), derived=(new,))
    wider = halves.extend([proposed])
    for half, before in ((wider.d1, halves.d1), (wider.d2, halves.d2)):
        assert half.attributes[number].name == "new"
        assert half.codes[number].tolist() == (before.codes[0] == 0).astype(int).tolist()
    assert halves.extend([]).d1 is halves.d1


def test_halves_are_seen_with_a_question_in_mind() -> None:
    """Of several outcomes every question sees its own, in D1 and in D2, and the same people."""
    columns = people() | {"z": [1] * 599 + [0]}
    config = AuditConfig(notion="statistical parity", outcome=("y", "z"))  # type: ignore[arg-type]
    roles = Roles(outcome=("y", "z"))
    rows = LocalRows(prepared=arrange(*read(columns, roles, config), roles, config), config=config)
    halves = rows.halves(np.random.SeedSequence(0))
    _, second = questions(config)
    counts = [view.cell_counts().tolist() for view in (halves.view_d1(second), halves.view_d2(second).data)]
    assert [sum(half) for half in counts] == [halves.d1.total, halves.d2.total]
    assert sorted(no for no, _ in counts) == [0, 1]


def test_one_halving_says_nothing_of_stability() -> None:
    """Stability is that of several halvings."""
    assert local_rows(people()).stability([]) == {}
