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
        columns = _columns(parts[0]) if _may_be_values(value) else None
        if columns is None or _are_names(value, columns):
            if _may_be_values(value) and not _are_texts(value):
                raise SettingError(_needs_rows(role, parts))
            names[role] = tuple(value) if _are_texts(value) else value
            continue
        if len(parts) > 1:
            raise SettingError(_needs_rows(role, parts))
        name = _name(role, value)
        if name in map(str, columns):
            raise InputError(
                f"the values of {role} are named {name!r}, and the data has such a column already: give the column's "
                f"name instead, {role}={name!r}, or rename the values"
            )
        _check_rows(role, value, parts[0], columns)
        parts, names[role] = ({**columns, name: value},), name
    return parts, names


def _may_be_values(value: Any) -> bool:
    return (
        hasattr(value, "__len__")
        and not isinstance(value, (str, bytes, Mapping, Set))
        and (not isinstance(value, (list, tuple)) or len(value) > 0)
    )


def _are_texts(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(one, str) for one in value)


def _are_names(value: Any, columns: Mapping[Any, Any]) -> bool:
    return _are_texts(value) and set(value) <= {str(name) for name in columns}


def _columns(data: Any) -> Mapping[Any, Any] | None:
    """The columns of data whose rows are here; None of any other."""
    from ald.data.inputs.frames import frame_columns, is_frame

    if isinstance(data, Mapping):
        return data
    return frame_columns(data) if is_frame(data) else None


def _name(role: str, value: Any) -> str:
    """The name of a Series, or else the role."""
    name = getattr(value, "name", None)
    return name if isinstance(name, str) and name else role


def _check_rows(role: str, value: Any, data: Any, columns: Mapping[Any, Any]) -> None:
    """Raises where the values cannot be one for each row of the data."""
    from ald.data.inputs.frames import index_of, is_frame

    if is_frame(value):
        raise InputError(f"{role} is a whole DataFrame: give one of its columns")
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


def _needs_rows(role: str, parts: Sequence[Any]) -> str:
    where = "two data sets" if len(parts) > 1 else f"data of type {type(parts[0]).__name__}"
    return (
        f"{role} as values goes with a DataFrame or a dictionary of arrays, whose rows are in memory, not with {where}"
        ": put it into the data as a column, and name it"
    )
