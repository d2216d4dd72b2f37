"""Rows that stay where they are: functions are sent to their partitions, and only what they return comes back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ald._core.arrays import IntArray
from ald.remote.engines.blocks import KeyLayout

# From the blocks of a partition to keys and rows of numbers, which are added up by key.
Summand = Callable[[Sequence[bytes]], tuple[IntArray, IntArray]]
# From the blocks of a partition to anything that can be pickled.
Gatherer = Callable[[Sequence[bytes]], Any]
# The number of values whose rows are dropped: no sum with other numbers is a confusion cell.
DROPPED = -(2**16)
# The distinct values of a column, and how many rows have each.
Marginal = tuple[Any, IntArray]


class Blocks(Protocol):
    """Distinct coded rows with their counts, in partitions. What is asked never depends on how they are parted."""

    def sum_by_key(self, function: Summand, width: int) -> tuple[IntArray, IntArray]:
        """The keys that occur, ascending, and the sums of their rows of `width` numbers, over all partitions."""

    def gather(self, function: Gatherer) -> list[Any]:
        """What the function returns for every partition, in any order."""

    def close(self) -> None:
        """Forgets the rows."""


class Kept(Protocol):
    """Rows of values, in partitions."""

    def marginals(self) -> list[Marginal]:
        """Per column its distinct values and their counts."""

    def encode(self, coder: RowCoder, rows: int) -> Blocks:
        """The distinct rows as codes. rows: about how many there are."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ColumnCoder:
    """The number of every value of the column at a position: `numbers`, by their position in the distinct values."""

    position: int
    values: Any
    numbers: IntArray


@dataclass(frozen=True, kw_only=True, eq=False)
class RowCoder:
    """How rows become coded rows: the codes of their attributes, their confusion cell and their half.

    cells: the numbers of these columns add up to the confusion cell; rows with a value that is `DROPPED` are left out.
    half: None if halves are drawn at random.
    """

    layout: KeyLayout
    columns: tuple[ColumnCoder, ...]
    cells: tuple[ColumnCoder, ...]
    half: ColumnCoder | None
