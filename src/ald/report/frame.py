"""The listed groups as a DataFrame of whichever library is there."""

from __future__ import annotations

import importlib.util
from typing import Any

from ald.errors import SettingError
from ald.report.model import Report

_BACKENDS = ("pandas", "polars", "pyarrow")


def to_frame(report: Report, backend: str | None = None) -> Any:
    """One row per listed group in ranked order, or per named group in the order given."""
    import narwhals.stable.v2 as nw

    if backend is not None and backend not in _BACKENDS:
        raise SettingError(f"unknown backend {backend!r}; known are {', '.join(_BACKENDS)}")
    wanted = _BACKENDS if backend is None else (backend,)
    installed = [name for name in wanted if importlib.util.find_spec(name)]
    if not installed:
        raise SettingError(f"to_frame() needs a DataFrame library: pip install {wanted[0]}")
    rows = report.records.rows
    values: dict[str, list[Any]] = {"rank": list(range(1, len(rows) + 1))}
    for k, column in enumerate(report.records.columns):
        values[column.key] = [row[k] for row in rows]
    return nw.from_dict(values, backend=installed[0]).to_native()  # type: ignore[arg-type]
