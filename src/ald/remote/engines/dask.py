"""Dask: the same functions as on Spark, sent to the partitions of a DataFrame."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from typing import Any

import dask
import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

from ald._core.arrays import AnyArray, FloatArray, IntArray
from ald.data.inputs import bins
from ald.remote.engines.arrow import merged_marginals, partition_marginals, row_keys, sum_by_key
from ald.remote.engines.engine import Engine, Shape, UncountableError, lazy
from ald.remote.engines.protocols import Gatherer, Kept, Marginal, RowCoder, Summand

# What Dask, and those who read files for it, raise where they cannot.
FAILURES = (OSError, ImportError, ValueError, pa.ArrowException)
# Sums of this many partitions are added up at a time.
_FAN_IN = 8


class DaskEngine(Engine):
    """Dask's own functions where Narwhals lacks them, and functions sent to partitions."""

    name = "Dask"
    failures = FAILURES

    def number_columns(self, frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        # Pandas does not group by half floats.
        frame = super().number_columns(frame)
        half = [name for name, dtype in frame.collect_schema().items() if dtype == nw.Float16]
        return frame.with_columns(nw.col(*half).cast(nw.Float64)) if half else frame

    def look(self, frame: nw.LazyFrame[Any], columns: Sequence[str]) -> tuple[int, dict[str, Shape]]:
        native = frame.to_native()
        asked = {column: native[column].nunique_approx() for column in columns}
        try:
            known, distinct = dask.compute(native.count(), asked)
        except TypeError:
            # What objects are is not known before.
            for part in dask.compute(*(dask.delayed(_uncountable)(part) for part in native.to_delayed())):
                for column, kind in part.items():
                    raise UncountableError(column, kind) from None
            raise
        rows = len(native)
        return rows, {c: Shape(distinct=round(distinct[c]), known=int(known[c])) for c in columns}

    def distinct(self, frame: nw.LazyFrame[Any]) -> int:
        return int(frame.to_native().nunique_approx().compute())

    def cut(self, frame: nw.LazyFrame[Any], edges: Mapping[str, FloatArray]) -> nw.LazyFrame[Any]:
        native = frame.to_native()
        return lazy(native.map_partitions(_cut, dict(edges), meta=native._meta))

    def keep(self, frame: nw.LazyFrame[Any]) -> Kept:
        return DaskRows(frame.to_native())


def _uncountable(part: Any) -> dict[str, str]:
    """The columns of a partition with values that cannot be compared, and the type of one of them."""
    found = {}
    for column in part.select_dtypes(object):
        kinds = {type(value) for value in part[column]}
        names = [kind.__name__ for kind in kinds if kind.__hash__ is None]
        if names:
            found[column] = min(names)
    return found


def _cut(part: Any, edges: Mapping[str, FloatArray]) -> Any:
    def ends(column: str) -> FloatArray:
        return bins.cut(part[column].to_numpy(dtype=np.float64, na_value=np.nan), edges[column])

    return part.assign(**{column: ends(column) for column in edges}).astype(part.dtypes.to_dict())


class DaskRows:
    """Rows of values."""

    def __init__(self, frame: Any) -> None:
        self.parts = frame.to_delayed()

    def marginals(self) -> list[Marginal]:
        found = dask.compute(*(dask.delayed(_marginals)(part) for part in self.parts))
        return merged_marginals(part for part in map(pickle.loads, found) if part is not None)

    def encode(self, coder: RowCoder, rows: int) -> DaskBlocks:
        n = len(self.parts)
        pieces = [dask.delayed(_pieces, nout=n)(part, coder, n) for part in self.parts]
        return DaskBlocks([dask.delayed(_block)([piece[i] for piece in pieces], coder) for i in range(n)])


def _table(part: Any) -> pa.Table:
    return pa.Table.from_pandas(part, preserve_index=False)


def _marginals(part: Any) -> bytes:
    return partition_marginals([_table(part)])


def _pieces(part: Any, coder: RowCoder, n: int) -> list[AnyArray]:
    """The keys of a partition's rows, parted by what they say: equal rows come together."""
    keys = row_keys(coder, _table(part))
    place = keys.astype(np.uint64) @ (np.arange(keys.shape[1], dtype=np.uint64) * np.uint64(2654435761) + np.uint64(1))
    return [keys[place % np.uint64(n) == i] for i in range(n)]


def _block(pieces: Sequence[AnyArray], coder: RowCoder) -> bytes:
    keys = np.concatenate(pieces)
    distinct, counts = np.unique(keys, axis=0, return_counts=True)
    return coder.layout.block(distinct, counts)


class DaskBlocks:
    """Coded rows in blocks, one per partition."""

    def __init__(self, blocks: Sequence[Any]) -> None:
        self.blocks = list(dask.persist(*blocks))

    def sum_by_key(self, function: Summand, width: int) -> tuple[IntArray, IntArray]:
        sums = [dask.delayed(_summand)(function, block) for block in self.blocks]
        while len(sums) > 1:
            groups = [sums[i : i + _FAN_IN] for i in range(0, len(sums), _FAN_IN)]
            sums = [dask.delayed(sum_by_key)(group, width) for group in groups]
        (found,) = dask.compute(*sums)
        return sum_by_key([found], width)

    def gather(self, function: Gatherer) -> list[Any]:
        return list(dask.compute(*(dask.delayed(_gather)(function, block) for block in self.blocks)))

    def close(self) -> None:
        self.blocks = []


def _summand(function: Summand, block: bytes) -> tuple[IntArray, IntArray]:
    return function([block])


def _gather(function: Gatherer, block: bytes) -> Any:
    return function([block])
