"""Outcomes, predictions and truths that come as values instead of as names of columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

from ald.errors import ColumnError, InputError, SettingError, nearest


def place_arrays(parts: Sequence[Any], roles: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The data sets with columns for all roles that came as values, and the names of the columns of every role.

    A text, or a list of texts that all name columns, names columns; anything else with a length is values. A file's
    columns are not known before it is read: there a list of texts names columns.
    """
    parts, names = tuple(parts), dict(roles)
    for role, value in roles.items():
        if not hasattr(type(value), "__len__") or isinstance(value, (str, bytes, Mapping, Set)):
            continue
        columns = _columns(parts[0]) if len(parts) == 1 else None
        if _are_texts(value) and (columns is None or set(value) <= {str(name) for name in columns}):
            names[role] = tuple(value)
        elif columns is None:
            where = "two data sets" if len(parts) > 1 else f"data of type {type(parts[0]).__name__}"
            raise SettingError(
                f"{role} as values needs a DataFrame or a dictionary of arrays, whose rows are in memory, not "
                f"{where}: put it into the data as a column, and name it"
            )
        else:
            names[role] = _name(role, value, columns)
            _check_rows(role, value, parts[0], columns)
            parts = ({**columns, names[role]: value},)
    return parts, names


def _are_texts(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(one, str) for one in value)


def _columns(data: Any) -> Mapping[Any, Any] | None:
    """The columns of data whose rows are here; None of any other."""
    from ald.data.inputs.frames import frame_columns, is_frame

    if isinstance(data, Mapping):
        return data
    return frame_columns(data) if is_frame(data) else None


def _name(role: str, value: Any, columns: Mapping[Any, Any]) -> str:
    """The name of a Series, or else the role, for a column that there is not yet."""
    own = getattr(value, "name", None)
    name = own if isinstance(own, str) and own else role
    if name in map(str, columns):
        raise InputError(
            f"the values of {role} are named {name!r}, and the data has such a column already: give the column's name "
            f"instead, {role}={name!r}, or rename the values"
        )
    return name


def _check_rows(role: str, value: Any, data: Any, columns: Mapping[Any, Any]) -> None:
    """Raises where the values cannot be one for each row of the data."""
    from ald.data.inputs.frames import index_of, is_frame

    if is_frame(value):
        raise InputError(f"{role} is a whole DataFrame: give one of its columns")
    if getattr(value, "ndim", 1) != 1:
        raise InputError(f"{role} must have one dimension; it has {value.ndim}")
    lengths = [len(column) for column in columns.values() if hasattr(column, "__len__")]
    if lengths and len(value) != lengths[0]:
        unknown = [one for one in value if one not in columns] if _are_texts(value) else []
        if len(unknown) > 0 and len(value) < 10:
            raise ColumnError(
                f"there is no column {unknown[0]!r} in the data. {nearest(unknown[0], map(str, columns))}"
            )
        raise InputError(f"{role} has {len(value):,} values, and the data has {lengths[0]:,} rows")
    own, rows = index_of(value), index_of(data)
    if own is not None and rows is not None and not rows.equals(own):
        raise InputError(
            f"the values of {role} have another index than the data, so it is not clear which row each belongs to: "
            f"give {role}.loc[data.index] if the same rows are meant, or {role}.to_numpy() if the order is the same"
        )
