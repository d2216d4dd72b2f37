"""One question per notion or outcome, and how each sees the data."""

from __future__ import annotations

from itertools import product

from ald.data.inputs.sources import load
from ald.data.prepare import prepare
from ald.data.roles import Roles
from ald.notions import CELLS, OUTCOME_CELLS
from ald.options import AuditConfig
from ald.questions import joint_cells, questions


def test_one_question_per_notion() -> None:
    """Several notions are as many questions, in the order given, of the same cells."""
    config = AuditConfig(notion=("accuracy", "equalized odds"), prediction="p", truth="t")
    asked = questions(config)
    assert [question.notion.name for question in asked] == ["accuracy", "equalized odds"]
    assert {question.cell_names for question in asked} == {CELLS}
    assert joint_cells(config) == CELLS


def test_one_question_per_outcome() -> None:
    """Several outcomes are as many questions, outcome by outcome; one outcome is one question about it."""
    assert [question.outcome for question in questions(AuditConfig(notion="statistical parity", outcome="y"))] == ["y"]
    asked = questions(AuditConfig(notion="statistical parity", outcome=("y", "z")))
    assert [question.outcome for question in asked] == ["y", "z"]


def test_every_outcome_sees_its_own_cells() -> None:
    """Each question sees of the joint cells only whether its own outcome is positive."""
    rows = list(product((0, 1), repeat=3)) * 4
    columns = {name: [row[i] for row in rows] for i, name in enumerate("xyz")} | {"a": ["p", "q"] * 16}
    config = AuditConfig(notion="statistical parity", outcome=("x", "y", "z"))
    data = prepare(load(columns), Roles(outcome=("x", "y", "z"), attributes=("a",)), joint_cells(config)).data
    assert data.n_cells == 8
    for i, question in enumerate(questions(config)):
        seen = question.view(data)
        assert (seen.n_cells, question.cell_names) == (2, OUTCOME_CELLS)
        assert seen.cells.tolist() == [cell >> i & 1 for cell in data.cells.tolist()]
        assert seen.cell_counts().tolist() == [16, 16]


def test_joint_cells_have_names() -> None:
    """The cells of several outcomes are named by all of them, the first outcome changing fastest."""
    assert joint_cells(AuditConfig(notion="statistical parity", outcome=("hired", "paid"))) == (
        "hired negative and paid negative",
        "hired positive and paid negative",
        "hired negative and paid positive",
        "hired positive and paid positive",
    )


def test_one_question_sees_the_data_as_it_is() -> None:
    """With one outcome nothing is translated."""
    columns = {"a": ["p", "q", "p", "q"], "y": [0, 1, 1, 0]}
    data = prepare(load(columns), Roles(outcome="y"), OUTCOME_CELLS).data
    (question,) = questions(AuditConfig(notion="statistical parity", outcome="y"))
    assert question.view(data) is data
