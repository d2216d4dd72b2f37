"""The listed groups as a DataFrame of whichever library is there."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

from ald.errors import SettingError
from ald.report.table import columns, tabulated

if TYPE_CHECKING:
    from ald.results.audit import Audit

_BACKENDS = ("pandas", "polars", "pyarrow")


def to_frame(audit: Audit, backend: str | None = None) -> Any:
    """One row per listed group in ranked order, or per named group in the order given."""
    import narwhals.stable.v2 as nw

    if backend is not None and backend not in _BACKENDS:
        raise SettingError(f"unknown backend {backend!r}; known are {', '.join(_BACKENDS)}")
    wanted = _BACKENDS if backend is None else (backend,)
    installed = [name for name in wanted if importlib.util.find_spec(name)]
    if not installed:
        raise SettingError(f"to_frame() needs a DataFrame library: pip install {wanted[0]}")
    values: dict[str, list[Any]] = {"rank": list(range(1, len(tabulated(audit)) + 1))}
    for cell in columns(audit):
        values[cell.key] = [cell.value(finding) for finding in tabulated(audit)]
    return nw.from_dict(values, backend=installed[0]).to_native()  # type: ignore[arg-type]
