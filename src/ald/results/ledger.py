"""The ledger of questions: each one asked of the same data is one more look at the same people."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import log10
from typing import Any

from ald.results.shapes import PEOPLE

LEDGER: dict[str, Any] = {"number": PEOPLE, "asked": [{"number": PEOPLE, "words": str, "exploratory": bool}]}


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A question that was asked of data. exploratory: an answer about the same data had been seen before."""

    number: int
    words: str
    exploratory: bool


@dataclass(frozen=True, kw_only=True)
class Ledger:
    """All questions that were asked of the same data so far; number: which of them an audit answers."""

    number: int
    asked: tuple[Asked, ...]

    @property
    def total(self) -> int:
        """How many questions there are."""
        return len(self.asked)

    @property
    def own(self) -> Asked:
        """The question of this audit."""
        return next(one for one in self.asked if one.number == self.number)

    def correct(self, log10_p: float | None) -> float | None:
        """A p-value corrected for the number of questions as well (Bonferroni), as logarithms.

        >>> asked = tuple(Asked(number=i, words="", exploratory=i > 1) for i in (1, 2))
        >>> round(10 ** Ledger(number=1, asked=asked).correct(-2.0), 3)
        0.02
        """
        return None if log10_p is None else min(0.0, log10_p + log10(self.total))

    def to_dict(self) -> dict[str, Any]:
        """The ledger as plain data."""
        return {"number": self.number, "asked": [asdict(one) for one in self.asked]}

    @classmethod
    def from_dict(cls, entry: dict[str, Any]) -> Ledger:
        """The inverse of `to_dict`."""
        asked = tuple(Asked(**{key: one[key] for key in ("number", "words", "exploratory")}) for one in entry["asked"])
        return cls(number=entry["number"], asked=asked)
