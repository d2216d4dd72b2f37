"""What is asked of a score, row by row: the score itself, how far it is from what was true, and losses."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ald._core.arrays import BoolArray, FloatArray
from ald.data.amounts import Unit
from ald.data.asked import check_size, decimals_of, parse_unit
from ald.data.outcomes import BETTER, favourable_rows, known_outcomes
from ald.data.roles import Roles
from ald.data.table import Table
from ald.errors import ColumnError, SettingError
from ald.notions import Mean

# Scores count as at least this far from 0 and from 1: a wrong one that was sure has a large log loss, not an infinite.
_SURE = 1e-15


def _log_loss(score: FloatArray, truth: FloatArray) -> FloatArray:
    chance = np.clip(score, _SURE, 1.0 - _SURE)
    return np.asarray(-(truth * np.log(chance) + (1.0 - truth) * np.log1p(-chance)))


# By the key of the mean, of the score and the truth: a number, or 1 where it has the value that the score is
# the chance of.
PER_ROW: Mapping[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "score": lambda score, truth: score,
    "calibration": lambda score, truth: truth - score,
    "brier": lambda score, truth: (truth - score) ** 2,
    "log_loss": _log_loss,
    "residual": lambda score, truth: truth - score,
    "absolute_error": lambda score, truth: np.abs(truth - score),
    "squared_error": lambda score, truth: (truth - score) ** 2,
}


def scores_of(table: Table, roles: Roles) -> tuple[FloatArray, BoolArray | None]:
    """The score and the truth of every row, where that is yes or no; none may be missing."""
    assert roles.score is not None
    column = table[roles.score]
    score = _numbers(table, roles.score, "score")
    if roles.truth is None:
        return score, None
    low, high = float(column.values[0]), float(column.values[-1])  # type: ignore[index]
    if low < 0.0 or high > 1.0:
        raise ColumnError(
            f"score {column.name!r} has values from {low:g} to {high:g}, and with a truth it must be a probability, "
            "from 0 to 1. Leave the truth out to compare mean scores, or give the probability. If the score predicts "
            "the truth, a number, say notion='residual' (command line: --notion residual)."
        )
    return score, favourable_rows(table[roles.truth], roles.favourable, "truth", table.counts)


def _numbers(table: Table, name: str, role: str) -> FloatArray:
    """The numbers of a column, row by row."""
    column = table[name]
    if column.values is None or column.kind != "numeric":
        raise ColumnError(f"{role} {name!r} must be a column of numbers; it is {column.kind}")
    if column.n_codes < 2:
        raise ColumnError(f"{role} {name!r} has the same value in every row: there are no differences to locate.")
    if name in table.binned:
        raise ColumnError(
            f"{role} {name!r} has so many values that they were cut into bins when {table.source} was read: means are "
            "of the values themselves. Give more memory (memory_limit), or fewer rows."
        )
    return np.asarray(column.values[column.codes], dtype=float)


def score_asked(table: Table, roles: Roles, mean: Mean) -> Mean:
    """The mean that is asked of a score, with its unit; what cannot be done with it is refused by name."""
    known, _ = known_outcomes(table, roles.outcome_columns)
    table = table if known is None else table.take(known)
    if mean.of_number and roles.favourable not in (None, *BETTER):
        raise SettingError(
            f"favourable={roles.favourable!r} says nothing about predicted numbers: say 'higher' or 'lower', whichever "
            "is good for people"
        )
    if roles.directed and roles.favourable is None:
        of_classes = roles.truth is not None and not mean.of_number
        said = "which value of the truth is good for people" if of_classes else "whether a higher score is"
        how = "favourable=... (command line: --favourable)" if of_classes else "favourable='higher' or 'lower'"
        raise SettingError(f"direction asks who fares worse or better, and nothing says {said}. Say {how}.")
    if roles.truth is None and roles.favourable not in (None, "higher", "lower"):
        raise SettingError(
            f"favourable={roles.favourable!r} says nothing about a score without a truth: say 'higher' or 'lower', "
            "whichever is good for people"
        )
    values = amounts_of_score(table, roles, mean)
    check_size(f"score {roles.score!r}", values)
    unit = Unit.of(np.unique(values))
    is_share = mean.is_share and bool(values.min() >= -1.0 and values.max() <= 1.0)
    # Where more is good for people, predictions below the truth are to their disadvantage.
    higher = {"score": roles.favourable != "lower", "residual": roles.favourable == "lower"}
    better = "higher" if higher.get(mean.key, False) else "lower"
    what, unit_words = ("", "") if not mean.of_number or roles.truth is None else parse_unit(roles.truth)
    return Mean(
        mean.key,
        f"{mean.name} of {what}" if what else mean.name,
        unit="" if mean.key == "squared_error" else unit_words,
        better=better,
        per_one=unit.per_one,
        origin=unit.origin,
        decimals=decimals_of(values),
        is_share=is_share,
        is_signed=bool(values.min() < 0),
    )


def amounts_of_score(table: Table, roles: Roles, mean: Mean) -> FloatArray:
    """What the mean is of, row by row."""
    if mean.of_number:
        assert roles.score is not None
        assert roles.truth is not None
        if table[roles.truth].n_codes == 2:
            asked = mean.key.replace("_", " ")
            raise ColumnError(
                f"truth {roles.truth!r} has two values, and the notion {asked!r} is for numbers that were predicted. "
                "Of a probability 'calibration', 'Brier score' or 'log loss' may be asked."
            )
        both = (_numbers(table, roles.score, "score"), _numbers(table, roles.truth, "truth"))
        return PER_ROW[mean.key](*both)
    score, truth = scores_of(table, roles)
    return PER_ROW[mean.key](score, np.zeros(len(score)) if truth is None else truth.astype(float))
