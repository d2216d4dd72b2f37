"""Coded rows as bytes, as they are kept on a cluster: a key of fixed width per row, blocks of columns for counting.

A key has the codes of all attributes, one, two or four bytes each, then the confusion cell and the half. Equal keys are
equal rows, so that any engine can count them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ald._core.arrays import AnyArray, IntArray
from ald.data.coded import Attribute, AuditData
from ald.data.columns import compact
from ald.data.design import NO_DESIGN, Design

_COUNT = np.dtype("<i8")


@dataclass(frozen=True, kw_only=True)
class KeyLayout:
    """What the bytes mean. has_halves: every row says itself whether it is searched or assessed."""

    attributes: tuple[Attribute, ...]
    n_cells: int
    has_halves: bool

    @cached_property
    def types(self) -> tuple[np.dtype[np.generic], ...]:
        """The type of every column: the attributes' codes, the cell, the half."""
        codes = [compact(np.zeros(0), attribute.size).dtype.newbyteorder("<") for attribute in self.attributes]
        return (*codes, np.dtype(np.uint8), np.dtype(np.uint8))

    @cached_property
    def width(self) -> int:
        """Bytes per row."""
        return sum(type_.itemsize for type_ in self.types)

    def pack(self, codes: Sequence[AnyArray], cells: AnyArray, half: AnyArray) -> AnyArray:
        """The keys of rows: [rows, width] bytes."""
        columns = [
            np.ascontiguousarray(values.astype(type_)).view(np.uint8).reshape(-1, type_.itemsize)
            for values, type_ in zip((*codes, cells, half), self.types, strict=True)
        ]
        return np.concatenate(columns, axis=1)

    def block(self, keys: AnyArray, counts: IntArray) -> bytes:
        """Distinct rows and how often they occur, column by column."""
        ends = np.cumsum([type_.itemsize for type_ in self.types])
        columns = [np.ascontiguousarray(part).tobytes() for part in np.split(keys, ends[:-1], axis=1)]
        return b"".join([*columns, counts.astype(_COUNT).tobytes()])

    def data(self, blocks: Sequence[bytes]) -> AuditData:
        """The rows of some blocks."""
        pieces = [self._columns(block) for block in blocks]
        types = (*self.types, _COUNT)
        columns = [np.concatenate([np.zeros(0, t), *(p[i] for p in pieces)]) for i, t in enumerate(types)]
        *codes, cells, half, counts = columns
        return AuditData(
            attributes=self.attributes,
            codes=tuple(codes),
            cells=cells,
            counts=counts,
            n_cells=self.n_cells,
            design=Design(half=half.astype(np.int64)) if self.has_halves else NO_DESIGN,
        )

    def _columns(self, block: bytes) -> list[AnyArray]:
        rows, at, out = len(block) // (self.width + _COUNT.itemsize), 0, []
        for type_ in (*self.types, _COUNT):
            out.append(np.frombuffer(block, type_, rows, at))
            at += rows * type_.itemsize
        return out
