"""DuckDB: relations, whose dates and times are measured as those in files are, in any zone and if they are infinite."""

from __future__ import annotations

from typing import Any

import duckdb
import narwhals.stable.v2 as nw

from ald.data.columns import MICROSECONDS_PER_DAY
from ald.data.inputs.relation import measure
from ald.data.table import check_names
from ald.remote.engines.engine import Engine, lazy


class DuckDBEngine(Engine):
    """DuckDB's own functions where Narwhals lacks them. It only groups and counts."""

    name = "DuckDB"
    failures = (*Engine.failures, duckdb.Error)

    def check(self, frame: nw.LazyFrame[Any]) -> None:
        check_names(frame.to_native().columns, "the data")

    def number_columns(self, frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        # By their places: DuckDB takes names that differ in case only for the same.
        native = frame.to_native()
        return lazy(native.project(", ".join(f"#{i + 1} AS c{i}" for i in range(len(native.columns)))))

    def measure(self, frame: nw.LazyFrame[Any], column: str, *, as_days: bool) -> nw.LazyFrame[Any]:
        native = frame.to_native()
        found = measure(column, str(native.dtypes[native.columns.index(column)]))
        if found is None:
            return super().measure(frame, column, as_days=as_days)
        number, kind = found
        if kind == "datetime" and as_days:
            number = f"floor({number} / {MICROSECONDS_PER_DAY})"
        columns = [f"CAST({number} AS DOUBLE) AS {name}" if name == column else name for name in native.columns]
        return lazy(native.project(", ".join(columns)))
