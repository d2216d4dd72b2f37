"""The people whom a model judges: its own table, and columns beside it that it never sees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ald.data.inputs.frames import frame_columns, index_of, is_frame, is_series, rows_at, without_columns
from ald.errors import ColumnError, InputError, nearest, shorten


@dataclass(frozen=True, kw_only=True, eq=False)
class People:
    """model_input: what the model predicts from. columns: all that may describe groups, by name. index: of pandas."""

    model_input: Any
    columns: dict[str, Any]
    index: Any = None


def people_of(table: Any, beside: Any, names: Sequence[str] | None = None) -> People:
    """The people in a model's table, with columns beside it.

    beside: names of columns that the model does not get, or columns that the table does not have: aligned by index
    where both have one, and otherwise by position. names: of the columns of a table that has none itself.
    """
    own = _own_columns(table, names)
    if beside is None:
        if not own:
            raise InputError(
                "the model's table has no columns that could describe groups: give some as sensitive_features=..."
            )
        return People(model_input=table, columns=own, index=index_of(table))
    if isinstance(beside, str) or _are_names(beside):
        hidden = [beside] if isinstance(beside, str) else list(beside)
        return People(model_input=_without(table, hidden, own), columns=own, index=index_of(table))
    added = {name: _align(values, table) for name, values in _beside_columns(beside).items()}
    twice = [name for name in added if name in own]
    if twice:
        raise InputError(
            f"the model's table has a column {shorten(twice[0])!r} already: rename that of the sensitive features, or "
            f"give its name, sensitive_features={twice[0]!r}, if the model is not to see it"
        )
    _check_lengths(added, table)
    return People(model_input=table, columns=own | added, index=index_of(table))


def _are_names(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(one, str) for one in value)


def _own_columns(table: Any, names: Sequence[str] | None) -> dict[str, Any]:
    """The columns of a model's table; none of a sparse matrix or of texts, which people cannot read."""
    if isinstance(table, Mapping):
        return {str(name): values for name, values in table.items()}
    if is_frame(table):
        columns = frame_columns(table)
        if columns is None:
            raise InputError("the model's table is a lazy frame: collect it first")
        return {str(name): values for name, values in columns.items()}
    if hasattr(table, "toarray") or is_series(table) or getattr(table, "ndim", 1) == 1:
        return {}
    array = np.asarray(table)
    if array.ndim != 2:
        raise InputError(f"the model's table must have two dimensions; it has {array.ndim}")
    named = [f"x{j}" for j in range(array.shape[1])] if names is None else [str(name) for name in names]
    if len(named) != array.shape[1]:
        raise InputError(f"the model was fitted on {len(named):,} columns, and the table has {array.shape[1]:,}")
    return {name: array[:, j] for j, name in enumerate(named)}


def _without(table: Any, hidden: Sequence[str], own: Mapping[str, Any]) -> Any:
    """The table without the columns that the model does not get."""
    for name in hidden:
        if name not in own:
            raise ColumnError(f"there is no column {shorten(name)!r} in the model's table. {nearest(name, own)}")
    if not is_frame(table):
        raise InputError("columns are taken out of DataFrames only: give the sensitive features as columns beside it")
    return without_columns(table, hidden)


def _beside_columns(beside: Any) -> dict[str, Any]:
    if isinstance(beside, Mapping):
        return {str(name): values for name, values in beside.items()}
    if is_frame(beside):
        index, columns = index_of(beside), frame_columns(beside)
        if columns is None:
            raise InputError("the sensitive features are a lazy frame: collect them first")
        if index is None:
            return {str(name): values for name, values in columns.items()}
        return {str(name): beside[name] for name in beside.columns}
    array = beside if is_series(beside) or index_of(beside) is not None else np.asarray(beside)
    if getattr(array, "ndim", 1) == 2:
        return {f"sensitive_feature_{j}": array[:, j] for j in range(array.shape[1])}
    if getattr(array, "ndim", 1) != 1:
        raise InputError(f"sensitive features must have one or two dimensions; they have {array.ndim}")
    name = getattr(array, "name", None)
    return {name if isinstance(name, str) and name else "sensitive_feature": array}


def _align(values: Any, table: Any) -> Any:
    """The values in the order of the table's rows, by the index where both have one."""
    index, own = index_of(table), index_of(values)
    if index is None or own is None or own.equals(index):
        return values
    for what, one in (("sensitive features", own), ("model's table", index)):
        if not one.is_unique:
            repeated = one[one.duplicated()].unique()
            raise InputError(
                f"rows are matched by index, and that of the {what} repeats {len(repeated):,} values: make it unique, "
                "or give arrays in the order of the rows"
            )
    lacking = index[~index.isin(own)]
    if len(lacking):
        raise InputError(
            f"the sensitive features have no row for {len(lacking):,} of {len(index):,} rows of the model's table, by "
            "their index: give one for each, or arrays in the order of the rows"
        )
    return rows_at(values, own.get_indexer(index))


def _check_lengths(added: Mapping[str, Any], table: Any) -> None:
    n = rows_of(table)
    for name, values in added.items():
        if len(values) != n:
            raise InputError(
                f"the sensitive feature {shorten(name)!r} has {len(values):,} values, and the model's table has "
                f"{n:,} rows"
            )


def rows_of(table: Any) -> int:
    """How many people a model's table has."""
    if isinstance(table, Mapping):
        return len(next(iter(table.values()), ()))
    return int(table.shape[0]) if hasattr(table, "shape") else len(table)
