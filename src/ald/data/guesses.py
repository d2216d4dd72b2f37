"""What the columns of a table may be, guessed by their names and values. A person decides."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ald.data.arrangement import HALF_WORDS
from ald.data.columns import Column
from ald.data.table import Table

_PREDICTION = frozenset((
    "pred", "predicted", "prediction", "predictions", "predict", "forecast", "model", "classified", "flagged",
))  # fmt: skip
_TRUTH = frozenset((
    "truth", "true", "actual", "label", "target", "observed", "recid", "reoffended", "repaid", "defaulted",
))  # fmt: skip
_OUTCOME = frozenset((
    "outcome", "outcomes", "decision", "decided", "result", "status", "approved", "approval", "approve", "admitted",
    "admission", "accepted", "granted", "hired", "hire", "selected", "released", "rejected", "reject", "denied", "deny",
    "refused", "promoted", "invited", "call", "callback", "survived", "default", "paid", "income", "y", "class",
))  # fmt: skip
# Numbers that say how much somebody got, has to pay or to wait.
_AMOUNT = frozenset((
    "wage", "wages", "salary", "salaries", "pay", "earnings", "income", "amount", "score", "loss", "cost", "costs",
    "price", "premium", "waiting", "days", "bonus", "residual", "error", "outcome", "y",
))  # fmt: skip
_PROTECTED = frozenset((
    "sex", "gender", "race", "ethnicity", "ethnic", "age", "religion", "disability", "disabled", "nationality",
    "marital", "married", "pregnant", "citizen", "citizenship", "colour", "color", "black", "hispanic", "female",
    "male", "afam", "hispan", "latino", "asian", "white",
))  # fmt: skip
_WEIGHTS = frozenset(("weight", "weights", "wt", "wts", "fnlwgt", "count", "counts", "freq", "frequency", "n"))
_SPLIT = frozenset(("split", "half", "fold", "set", "partition", "sample"))

# Words for what is good for people, and names of columns in which "yes" is not.
_GOOD = (
    "yes", "y", "approved", "granted", "admitted", "accepted", "hired", "selected", "released", "promoted", "invited",
    "good", "pass", "passed", "paid", "repaid", "survived", "favourable", "favorable", "positive",
)  # fmt: skip
_BAD_NAMES = frozenset((
    "rejected", "reject", "denied", "deny", "refused", "default", "defaulted", "recid", "reoffended", "arrested",
    "flagged", "dead", "died", "risk",
))  # fmt: skip
# An outcome of more values than this is rather a number or a text.
_MOST_VALUES = 6


@dataclass(frozen=True, kw_only=True)
class Guess:
    """The columns to audit: an outcome, or a prediction and its truth; the value that seems favourable; and why."""

    outcome: str | None = None
    prediction: str | None = None
    truth: str | None = None
    favourable: str | None
    reason: str

    @property
    def parts(self) -> dict[str, str]:
        """The columns by the parts that they play, which are options of an audit."""
        named = {"outcome": self.outcome, "prediction": self.prediction, "truth": self.truth}
        return {part: name for part, name in named.items() if name is not None}

    @property
    def result(self) -> str | None:
        """The column that says what came out in the end."""
        return self.outcome or self.truth


def _tokens(name: str) -> list[str]:
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return re.findall(r"[^\W\d_]+", parted.casefold())


def _is_named(name: str, words: frozenset[str]) -> bool:
    return not words.isdisjoint(_tokens(name))


def is_protected(name: str) -> bool:
    """Whether the name is that of an attribute that laws protect."""
    return _is_named(name, _PROTECTED)


def is_split(column: Column) -> bool:
    """Whether the column seems to say which half a row belongs to."""
    folded = tuple(sorted(word.casefold() for word in column.words())) if column.n_codes == 2 else ()
    pairs = {tuple(sorted(pair)) for pair in HALF_WORDS if "true" not in pair}
    return folded in pairs or (len(folded) == 2 and _is_named(column.name, _SPLIT))


def weights_kind(column: Column) -> str:
    """Whether the column seems to hold "weights" (people per row) or "survey_weights"; or empty."""
    if column.values is None or column.kind != "numeric" or not _is_named(column.name, _WEIGHTS):
        return ""
    if not column.n_codes > 2 or column.missing.any() or column.values.min() < 0:
        return ""
    return "weights" if column.is_integer and column.values.max() < 10_000 else "survey_weights"


def favourable_value(column: Column) -> str | None:
    """The value that seems good for people, if one does. Of 0 and 1, and of true and false, nothing is assumed."""
    good = ("no", "n") if _is_named(column.name, _BAD_NAMES) else _GOOD
    by_fold = {word.casefold(): word for word in column.words()}
    return next((by_fold[word] for word in good if word in by_fold), None)


def audited_columns(table: Table) -> Guess | None:
    """The columns that an audit is probably about; None if there is no column with
    two values, and no number that is named like an outcome.
    """
    free = [c for c in table.columns.values() if not is_protected(c.name) and not is_split(c) and c.n_codes >= 2]
    two = [column for column in free if column.n_codes == 2]
    for prediction in (column for column in two if _is_named(column.name, _PREDICTION)):
        for truth in (column for column in two if column.words() == prediction.words() and column is not prediction):
            if _is_named(truth.name, _TRUTH | _OUTCOME) and not _is_named(truth.name, _PREDICTION):
                return Guess(
                    prediction=prediction.name,
                    truth=truth.name,
                    favourable=favourable_value(prediction),
                    reason="a prediction and what was true, by their names and values",
                )
    few = [column for column in free if column.n_codes <= _MOST_VALUES and favourable_value(column) is not None]
    named = [column for column in (*two, *few) if _is_named(column.name, _OUTCOME | _TRUTH | _PREDICTION)]
    if named:
        return _outcome(named[0], "by its name")
    amounts = [column for column in free if column.kind == "numeric" and column.n_codes > _MOST_VALUES]
    amounts = [column for column in amounts if _is_named(column.name, _AMOUNT) and not weights_kind(column)]
    if amounts and not two:
        return Guess(outcome=amounts[0].name, favourable=None, reason="by its name, and no column has two values")
    if not two:
        return None
    if len(two) == 1:
        return _outcome(two[0], "the only column with two values that describes no person")
    return _outcome(two[-1], f"the last of {len(two):,} columns with two values: a mere guess")


def _outcome(column: Column, reason: str) -> Guess:
    return Guess(outcome=column.name, favourable=favourable_value(column), reason=reason)
