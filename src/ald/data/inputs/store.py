"""Codes on disk: columns that are mapped into memory instead of being held there."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path

import numpy as np

from ald._core.arrays import AnyArray, FloatArray, IntArray
from ald.data.columns import Column, compact
from ald.data.inputs.relation import Relation

# Rows that are coded at a time.
_CHUNK = 1 << 20
# Rows after which it shows whether many of them are alike.
_ENOUGH = 1 << 24


@dataclass(frozen=True, kw_only=True, eq=False)
class Coder:
    """How to code a column: what to select, and which code a value gets.

    column: what the result is, but for its codes. edges: sorted numbers, and a value has the code of the first that is
    not smaller. translate: codes by the number that is selected.
    """

    column: Column
    expression: str
    edges: FloatArray | None = None
    translate: IntArray | None = None

    def codes(self, selected: AnyArray) -> AnyArray:
        """The codes of what was selected."""
        numbers, missing = np.ma.getdata(selected), np.ma.getmaskarray(selected)
        if self.edges is not None:
            numbers = numbers.astype(np.float64)
            codes = np.searchsorted(self.edges, numbers)
            missing = missing | ~np.isfinite(numbers)
        else:
            assert self.translate is not None
            codes = self.translate[np.where(missing, 0, numbers)]
        return compact(np.where(missing, self.column.n_codes, codes), self.column.n_codes)


def store_columns(coders: Sequence[Coder], relation: Relation, rows: int, folder: Path) -> list[Column]:
    """The columns of a table with row numbers, coded piece by piece into files of this folder."""
    selected = ", ".join(f"{coder.expression} AS c{i}" for i, coder in enumerate(coders))
    paths = [folder / f"codes{i}" for i in range(len(coders))]
    with ExitStack() as stack:
        files = [stack.enter_context(path.open("wb")) for path in paths]
        for start in range(0, rows, _CHUNK):
            part = relation.connection.execute(
                f"SELECT {selected} FROM {relation.sql} WHERE rowid >= {start} AND rowid < {start + _CHUNK}"
            ).fetchnumpy()
            for i, (coder, file) in enumerate(zip(coders, files, strict=True)):
                file.write(coder.codes(np.ma.asarray(part[f"c{i}"])).data)
    types = [compact(np.zeros(0), coder.column.n_codes).dtype for coder in coders]
    return [
        replace(coder.column, codes=np.memmap(path, dtype=dtype, mode="r"))
        for coder, path, dtype in zip(coders, paths, types, strict=True)
    ]


def count_distinct(columns: Sequence[Column], most: int) -> tuple[list[Column], IntArray] | None:
    """The distinct rows and how often they occur, in canonical order; None if they are more than `most`."""
    sizes = [column.n_codes + 1 for column in columns]
    if prod(sizes) >= 2**62:
        return None
    rows = len(columns[0].codes)
    keys, counts = np.zeros(0, np.int64), np.zeros(0, np.int64)
    waiting: list[tuple[IntArray, IntArray]] = []
    for start in range(0, rows, _CHUNK):
        part = np.zeros(min(_CHUNK, rows - start), np.int64)
        for column, size in zip(columns, sizes, strict=True):
            part = part * size + column.codes[start : start + _CHUNK]
        waiting.append(np.unique(part, return_counts=True))
        seen = start + len(part)
        # Merged only when that doubles what is there, so that everything is sorted a few times at most.
        if sum(len(own) for own, _ in waiting) >= len(keys) or seen == rows:
            keys, counts = _merge([(keys, counts), *waiting])
            waiting = []
        if len(keys) > most or (seen >= _ENOUGH and 2 * len(keys) > seen):
            return None
    out = []
    for column, size in zip(reversed(columns), reversed(sizes), strict=True):
        keys, codes = np.divmod(keys, size)
        out.append(replace(column, codes=compact(codes, size - 1)))
    return out[::-1], counts


def _merge(parts: Sequence[tuple[IntArray, IntArray]]) -> tuple[IntArray, IntArray]:
    """Distinct keys of all parts, and the sums of their counts."""
    keys, place = np.unique(np.concatenate([part for part, _ in parts]), return_inverse=True)
    counts = np.bincount(place, np.concatenate([times for _, times in parts]), minlength=len(keys))
    return keys, counts.astype(np.int64)
