"""DataFrames of every library that Narwhals knows. The only module that touches them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from ald._core.arrays import AnyArray, BoolArray, FloatArray, IntArray
from ald._core.threads import in_threads
from ald.data.columns import MICROSECONDS_PER_DAY, Column, as_word, from_levels, from_numbers, from_objects, readable
from ald.data.inputs.reading import Reading
from ald.data.inputs.texts import code_chunks
from ald.data.table import Table, check_names, names_to_read, table_from, worth_threads
from ald.errors import ColumnError, nearest

if TYPE_CHECKING:
    from ald.remote.lazy import RemoteTable


@dataclass(frozen=True, kw_only=True, eq=False)
class Opened:
    """A file as the frame of an engine. notes: what is to be said of it; by_column: of its columns, by their names."""

    frame: Any
    notes: tuple[str, ...] = ()
    by_column: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def is_frame(data: Any) -> bool:
    """Whether this is a DataFrame, or a lazy one, of a library that Narwhals knows."""
    if isinstance(data, Opened):
        return True
    _check_native_names(data)
    native = nw.from_native(data, pass_through=True)
    return isinstance(native, (nw.DataFrame, nw.LazyFrame))


def frame_columns(data: Any) -> dict[Any, Any] | None:
    """The columns of a frame whose rows are in memory, as Series of its library; None of a lazy one."""
    if isinstance(data, Opened):
        return None
    frame = nw.from_native(data)
    if isinstance(frame, nw.LazyFrame):
        return None
    return {name: frame.get_column(name).to_native() for name in frame.columns}


def without_columns(data: Any, names: Sequence[str]) -> Any:
    """The frame without some of its columns, as a frame of its library."""
    frame = nw.from_native(data)
    return frame.drop([name for name in frame.columns if str(name) in set(names)]).to_native()


def rows_at(values: Any, places: IntArray) -> Any:
    """The values of a Series of pandas at some places, in that order."""
    return values.iloc[places]


def index_of(data: Any) -> Any:
    """The index of a frame or Series of pandas; None of anything else."""
    return data.index if hasattr(data, "iloc") else None


def _check_native_names(data: Any) -> None:
    """Frames of pandas, PyArrow and Spark may repeat names; Narwhals refuses those in its own words, or not at all."""
    # Asked of no one else: lazy frames of other libraries would have to find out.
    has_columns = hasattr(data, "iloc") or type(data).__module__.startswith("pyspark.")
    names = getattr(data, "column_names", None) or (getattr(data, "columns", []) if has_columns else [])
    if isinstance(names, Iterable) and not isinstance(names, str):
        check_names([str(name) for name in names], "the data")


def is_series(values: Any) -> bool:
    """Whether this is a Series of a library that Narwhals knows."""
    if isinstance(values, (list, tuple, np.ndarray)):
        return False
    return isinstance(nw.from_native(values, pass_through=True, allow_series=True), nw.Series)


def as_series(values: Any) -> Any:
    """Arrays of pandas and PyArrow that are not Series as one; all else as it is."""
    library = type(values).__module__.partition(".")[0]
    if library == "pandas" and not hasattr(values, "iloc"):
        import pandas as pd

        return pd.Series(values)
    if library == "pyarrow" and hasattr(values, "to_pylist") and not hasattr(values, "chunks"):
        import pyarrow as pa

        return pa.chunked_array([values])
    return values


def read_frame(data: Any, only: Sequence[str] | None = None, reading: Reading | None = None) -> Table | RemoteTable:
    """The frame as a table. Lazy frames are collected, with only the columns that are needed.

    Those of engines that hold the data themselves are counted there, if `reading` says how, and stay there if their
    distinct rows do not fit into the memory.
    """
    source = "the data"
    opened = data if isinstance(data, Opened) else Opened(frame=data)
    _check_native_names(opened.frame)
    frame = nw.from_native(opened.frame)
    if reading is not None and isinstance(frame, nw.LazyFrame) and not frame.implementation.is_polars():
        from ald.remote.lazy import count_rows

        return count_rows(frame, reading, opened)
    excluded = () if reading is None else reading.excluded
    if isinstance(frame, nw.LazyFrame):
        from ald.remote.lazy import collect_rows

        frame, excluded = collect_rows(frame, only, excluded), ()
    by_text = {str(name): name for name in frame.columns}
    by_text = {name: by_text[name] for name in names_to_read(by_text, excluded, source)}
    if only is not None:
        for name in only:
            if name not in by_text:
                raise ColumnError(f"there is no column {name!r} in {source}. {nearest(name, by_text)}")
        by_text = {name: by_text[name] for name in only}
    series = {text: frame.get_column(name) for text, name in by_text.items()}
    threads = reading.threads if reading is not None and worth_threads(len(frame) * len(series)) else 1
    return table_from(in_threads(lambda text: _column(text, series[text]), series, threads), source)


def read_series(name: str, values: Any) -> Column:
    """One native Series as a column."""
    return _column(name, nw.from_native(values, series_only=True))


def arrow_frame(table: Any) -> Any:
    """A table of PyArrow as a pandas frame of types that are fast there, in which what is missing stays missing.

    Dates become times at midnight, which are dates again when they are coded: pandas makes objects of each date.
    """
    import pandas as pd
    import pyarrow as pa

    times = [pa.timestamp("us") if field.type == pa.date32() else field.type for field in table.schema]
    types = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype(), pa.string(): pd.StringDtype("pyarrow")}
    return table.cast(pa.schema(zip(table.column_names, times, strict=True))).to_pandas(types_mapper=types.get)


def arrow_series(values: Any) -> nw.Series[Any]:
    """An array of PyArrow as a Series."""
    return nw.from_native(as_series(values), series_only=True)


def series_column(name: str, series: nw.Series[Any], counts: IntArray) -> Column:
    """A Series of counted rows as a column."""
    column = _column(name, series)
    if not column.n_infinite:
        return column
    is_number = series.dtype.is_numeric()
    infinite = np.isinf(_floats(series)) if is_number else _infinite_times(series)
    return replace(column, n_infinite=int(counts[infinite].sum()))


def _column(name: str, series: nw.Series[Any]) -> Column:
    with readable(name):
        return _code(name, series)


def _code(name: str, series: nw.Series[Any]) -> Column:
    dtype = series.dtype
    if dtype in (nw.Int128, nw.UInt128):
        return from_objects(name, series.to_list())
    if dtype.is_integer() or dtype.is_float() or dtype.is_decimal():
        return _numbers(name, series)
    if dtype == nw.Boolean:
        return _booleans(name, series)
    if dtype == nw.Date or isinstance(dtype, nw.Datetime):
        return _times(name, series, "date" if dtype == nw.Date else "datetime")
    if isinstance(dtype, nw.Duration):
        return _numbers(name, series.dt.total_microseconds() / 1_000_000)
    native = series.to_native()
    if dtype in (nw.Categorical, nw.Enum):
        return _categories(name, series, native)
    if dtype == nw.String and series.implementation.is_pandas():
        import pandas as pd

        codes, words = _arrow_texts(native) or pd.factorize(native)
        return from_levels(name, codes, [str(word) for word in words])
    return from_objects(name, series.to_list())


def _arrow_texts(native: Any) -> tuple[AnyArray, list[str]] | None:
    """Codes and distinct texts of a Series of pandas, if these are in Arrow's buffers and not very many."""
    if getattr(native.dtype, "storage", None) != "pyarrow":
        return None
    import pyarrow as pa

    texts = native.array.__arrow_array__()
    widths = {pa.string(): 4, pa.large_string(): 8}
    if texts.type not in widths:
        return None
    pieces = texts.chunks if isinstance(texts, pa.ChunkedArray) else [texts]
    chunks = []
    for piece in pieces:
        valid, offsets, data = piece.buffers()
        chunks.append((widths[texts.type], offsets, data, valid, piece.offset, len(piece)))
    coded = code_chunks(chunks)
    return None if coded is None else (coded[0], [texts[int(row)].as_py() for row in coded[1]])


def _numbers(name: str, series: nw.Series[Any]) -> Column:
    if series.dtype.is_integer():
        absent = series.is_null().to_numpy().astype(bool)
        if not absent.any():
            return from_numbers(name, series.to_numpy())
        return from_numbers(name, np.asarray(series.fill_null(0).to_numpy()), missing=absent)
    return from_numbers(name, _floats(series))


def _floats(series: nw.Series[Any]) -> FloatArray:
    return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)


def _booleans(name: str, series: nw.Series[Any]) -> Column:
    absent = series.is_null().to_numpy().astype(bool)
    codes = np.where(absent, -1, series.fill_null(False).to_numpy().astype(np.int64))
    return from_levels(name, codes, ["False", "True"], kind="boolean")


def _times(name: str, series: nw.Series[Any], kind: str) -> Column:
    infinite = _infinite_times(series)
    if infinite.any():
        # The greatest number is no instant in other units.
        series = _without(series, infinite)
    absent = series.is_null().to_numpy().astype(bool) & ~infinite
    numbers = np.nan_to_num(_days(series) if kind == "date" else _microseconds(series))
    return from_numbers(name, np.where(infinite, np.inf, numbers), kind, absent)


def _microseconds(series: nw.Series[Any]) -> FloatArray:
    return np.asarray(series.dt.timestamp("us").to_numpy(), dtype=np.float64)


def _days(series: nw.Series[Any]) -> FloatArray:
    """Dates as days since 1970. PyArrow knows more of them than microseconds reach."""
    if not series.implementation.is_pyarrow():
        return np.floor(_microseconds(series.cast(nw.Datetime("us"))) / MICROSECONDS_PER_DAY)
    import pyarrow as pa

    days = series.to_native().cast(pa.date32()).cast(pa.int32())
    return np.asarray(days.to_numpy(), dtype=np.float64)


def _without(series: nw.Series[Any], gone: BoolArray) -> nw.Series[Any]:
    """A Series of PyArrow in which some values are missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    native = series.to_native()
    return arrow_series(pc.if_else(pa.array(gone), pa.scalar(None, native.type), native))


def _infinite_times(series: nw.Series[Any]) -> BoolArray:
    """Where dates and times of PyArrow are infinite: DuckDB writes the greatest number, or its negative."""
    if not series.implementation.is_pyarrow():
        return np.zeros(len(series), dtype=bool)
    import pyarrow as pa
    import pyarrow.compute as pc

    native = series.to_native()
    type_ = pa.int32() if native.type == pa.date32() else pa.int64()
    greatest = int(np.iinfo(type_.to_pandas_dtype()).max)
    found = pc.is_in(native.cast(type_), pa.array([greatest, -greatest], type_))
    return np.asarray(found.to_numpy()).astype(bool)


def _categories(name: str, series: nw.Series[Any], native: Any) -> Column:
    """Categorical columns keep their declared order if they declare one."""
    if hasattr(native, "cat") and hasattr(native.cat, "codes"):
        words = [as_word(category) for category in native.cat.categories]
        ordered = bool(native.cat.ordered)
        if len(set(words)) == len(words):
            return from_levels(name, np.asarray(native.cat.codes), words, ordered=ordered)
    if series.implementation.is_pyarrow():
        array = native.unify_dictionaries().combine_chunks()
        words = [as_word(category) for category in array.dictionary.to_pylist()]
        if len(set(words)) == len(words):
            return from_levels(name, array.indices.fill_null(-1).to_numpy(), words, ordered=bool(native.type.ordered))
    if isinstance(series.dtype, nw.Enum):
        words = [as_word(category) for category in series.dtype.categories]
        position = {word: i for i, word in enumerate(words)}
        values = series.to_list()
        codes = np.array([-1 if value is None else position[as_word(value)] for value in values], np.int64)
        return from_levels(name, codes, words, ordered=True)
    return from_objects(name, series.cast(nw.String).to_list())
