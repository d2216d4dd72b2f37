"""Columns that identify people rather than describe them, and what is said about them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ald._core.arrays import FloatArray, IntArray
from ald.errors import shorten

# Unordered columns with more distinct values per row than this, and whole numbers that never repeat, identify
# people rather than describe them. Small tables are not judged.
IDENTIFIER_SHARE = 0.9
IDENTIFIER_ROWS = 50
# A value in fewer rows than this says nothing of a group. An unordered column with more values than `MANY`, such that
# more than half of its rows have such a value, nearly identifies them.
FEW = 5
MANY = 100
# A column identifies people with several rows if at least so many values are in the same number of rows, nearly all of
# them, and in no more rows than `MOST_REPEATS`.
REPEATED_VALUES = 30
MOST_REPEATS = 20
NEARLY_ALL = 0.95


@dataclass(frozen=True, kw_only=True, eq=False)
class Occurrences:
    """How often the values of a column occur: `values[i]` of them are in `rows[i]` rows each."""

    rows: IntArray
    values: IntArray

    @classmethod
    def of(cls, sizes: IntArray) -> Occurrences:
        """From the number of rows of every value."""
        rows, values = np.unique(sizes[sizes > 0], return_counts=True)
        return cls(rows=rows.astype(np.int64), values=values.astype(np.int64))

    @property
    def distinct(self) -> int:
        """How many different values there are."""
        return int(self.values.sum())

    @property
    def observed(self) -> int:
        """The rows with a value."""
        return int((self.rows * self.values).sum())

    @property
    def nearly_identify(self) -> bool:
        """Whether most rows have a value that hardly any others have."""
        few = self.rows < FEW
        return self.distinct > MANY and 2 * int((self.rows * self.values)[few].sum()) > self.observed

    @property
    def repeats(self) -> int:
        """In how many rows nearly every value is, where that is one small number above 1; otherwise 0."""
        if self.distinct < REPEATED_VALUES:
            return 0
        most = int(np.argmax(self.values))
        rows = int(self.rows[most])
        equal = int(self.values[most]) >= NEARLY_ALL * self.distinct
        return rows if equal and 1 < rows <= MOST_REPEATS else 0


def may_repeat(distinct: float, observed: int) -> bool:
    """Whether a column of so many values may be one whose values repeat, as far as their number tells."""
    return distinct * max(2 * (FEW - 1), MOST_REPEATS) >= NEARLY_ALL * observed


def counts_rows(values: FloatArray | None, rows: int) -> bool:
    """Whether values are the numbers of the rows of a table, from 0 or from 1 on.

    >>> counts_rows(np.arange(1.0, 73.0), 72), counts_rows(np.arange(20.0, 92.0), 72)
    (True, False)
    """
    if values is None or len(values) != rows or rows < 2:
        return False
    first, last = float(values[0]), float(values[-1])
    return first in (0.0, 1.0) and last - first == rows - 1


def words_reason(distinct: int, observed: int, *, about: bool = False) -> str:
    """Why a column of words is left out; `about`: their number was estimated."""
    if observed == 1:
        return "identifier-like (only one row has a value)"
    n = f"about {min(distinct, observed):,}" if about else f"{distinct:,}"
    return f"identifier-like ({n} different values in {observed:,} rows)"


def numbers_reason(observed: int) -> str:
    """Why a column of whole numbers is left out."""
    return f"identifier-like (a different whole number in each of {observed:,} rows)"


def repeated_reason(found: Occurrences, *, is_number: bool) -> str:
    """Why a column whose values repeat is left out; empty if it is not.

    >>> sizes = np.full(400, 2)
    >>> repeated_reason(Occurrences.of(sizes), is_number=True)
    'identifier-like (400 different values, nearly each of them in exactly 2 of 800 rows)'
    """
    if 1 < found.repeats < FEW:
        return (
            f"identifier-like ({found.distinct:,} different values, nearly each of them in exactly {found.repeats} of "
            f"{found.observed:,} rows)"
        )
    return words_reason(found.distinct, found.observed) if not is_number and found.nearly_identify else ""


def judge_repeats(name: str, found: Occurrences, *, is_number: bool) -> tuple[str, str]:
    """Why a column whose values repeat is left out, and what to do with it; each empty if there is nothing to say.

    Columns that stay are judged once more, from their values; numbers from bins.
    """
    reason, hint = repeated_reason(found, is_number=is_number), cluster_hint(name, found, is_number=is_number)
    return reason, hint if reason or is_number else ""


def cluster_hint(name: str, found: Occurrences, *, is_number: bool) -> str:
    """What to do with a column that identifies people with several rows; empty if it does not look like one."""
    nearly = not is_number and found.nearly_identify and found.distinct <= IDENTIFIER_SHARE * found.observed
    if not found.repeats and not nearly:
        return ""
    each = f", nearly each of them in exactly {found.repeats}" if found.repeats else ""
    return (
        f"column {shorten(name)!r} looks like an identifier that repeats ({found.distinct:,} values in "
        f"{found.observed:,} rows{each}). If rows with the same value are about one person, say "
        f"cluster={shorten(name)!r}: otherwise tests treat all rows as independent, and chance looks like disparity."
    )
