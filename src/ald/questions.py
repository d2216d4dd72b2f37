"""What an audit asks: one question per notion, or per outcome. All are answered together, with one correction."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ald.data.coded import AuditData
from ald.notions import AMOUNT_CELLS, CELLS, OUTCOME_CELLS, Notion
from ald.options import AuditConfig


@dataclass(frozen=True, kw_only=True)
class Question:
    """A notion, of one outcome or of predictions and truth, and how to see the data with that question in mind."""

    notion: Notion
    outcome: str | None
    cell_names: tuple[str, ...]
    cells: tuple[int, ...] | None = None

    def view(self, data: AuditData) -> AuditData:
        """The data with the confusion cells of this question."""
        return data if self.cells is None else data.with_cells(np.array(self.cells), len(self.cell_names))


def questions(config: AuditConfig) -> tuple[Question, ...]:
    """The questions of an audit, in the order given."""
    if config.mean is not None:
        return (Question(notion=config.notions[0], outcome=config.outcome_columns[0], cell_names=AMOUNT_CELLS),)
    if config.classes:
        return tuple(_class_questions(config))
    if not config.outcomes:
        return tuple(Question(notion=notion, outcome=None, cell_names=CELLS) for notion in config.notions)
    # The cell of several outcomes has a bit for each.
    n = len(config.outcomes)
    return tuple(
        Question(
            notion=notion,
            outcome=outcome,
            cell_names=OUTCOME_CELLS,
            cells=None if n == 1 else tuple((cell >> i) & 1 for cell in range(2**n)),
        )
        for i, outcome in enumerate(config.outcomes)
        for notion in config.notions
    )


def _class_questions(config: AuditConfig) -> Iterator[Question]:
    """Every class against all others; whether predictions are right is asked of all classes together."""
    n = len(config.classes)
    # The cell of a prediction and the truth is n times the class that was true, and the class that was predicted.
    right = tuple(3 if cell // n == cell % n else 1 for cell in range(n * n))
    for notion in config.notions:
        if not config.outcomes and all(rate.asks_whether_right for rate in notion.rates):
            yield Question(notion=notion, outcome=None, cell_names=CELLS, cells=right)
            continue
        for k, name in enumerate(config.classes):
            if config.outcomes:
                own = tuple(int(cell == k) for cell in range(n))
                yield Question(notion=notion, outcome=name, cell_names=OUTCOME_CELLS, cells=own)
            else:
                own = tuple(2 * (cell // n == k) + (cell % n == k) for cell in range(n * n))
                yield Question(notion=notion, outcome=name, cell_names=CELLS, cells=own)


def joint_cells(config: AuditConfig) -> tuple[str, ...]:
    """The names of the confusion cells that all questions share, or of what is added up of amounts."""
    if config.mean is not None:
        return AMOUNT_CELLS
    if config.classes and config.outcomes:
        return config.classes
    if config.classes:
        return tuple(f"{true} as {predicted}" for true in config.classes for predicted in config.classes)
    if not config.outcomes:
        return CELLS
    if len(config.outcomes) == 1:
        return OUTCOME_CELLS
    n = len(config.outcomes)
    return tuple(
        " and ".join(f"{name} {OUTCOME_CELLS[(cell >> i) & 1]}" for i, name in enumerate(config.outcomes))
        for cell in range(2**n)
    )
