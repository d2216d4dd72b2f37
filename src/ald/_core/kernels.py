"""Which kernels work: the C extensions where they were built, else NumPy. Both give identical results.

The innermost loops are written twice on purpose: in C, because they are what an audit waits for, and with NumPy,
because ALD has to install without a compiler, and because each is the test of the other, to the last bit.

The environment variable ALD_KERNEL ("c" or "numpy") forces one, for tests and comparisons.
"""

from __future__ import annotations

import importlib
import itertools
import os
from functools import cache
from types import ModuleType

import numpy as np

from ald.errors import SettingError


@cache
def _module(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(f"ald.{name}")
    except ImportError:
        return None


def _load_compiled(name: str) -> ModuleType | None:
    """The C module of that name, or None where NumPy does its work."""
    forced = os.environ.get("ALD_KERNEL", "")
    if forced not in ("", "c", "numpy"):
        raise SettingError(f"ALD_KERNEL must be 'c' or 'numpy', not {forced!r}")
    compiled = None if forced == "numpy" else _module(name)
    if compiled is None and forced == "c":
        raise SettingError("ALD_KERNEL=c, but the C kernel was not built (no compiler at install time?)")
    return compiled


def kernel() -> ModuleType:
    """The module whose `count`, `partition` and `members` do the work."""
    return _load_compiled("_core._kernel") or importlib.import_module("ald._core._numpy_kernel")


def evidence() -> ModuleType | None:
    """The module whose `statistic` compares groups; None where `ald.search.explore.evidence` does it by NumPy."""
    return _load_compiled("search.explore._evidence")


def tables() -> ModuleType | None:
    """The module whose `tables` counts people by several columns; None where NumPy does it."""
    return _load_compiled("data._tables")


def lanes() -> ModuleType:
    """The module that counts and compares groups in many versions of the outcomes at a time."""
    return _load_compiled("search.everyone._lanes") or importlib.import_module("ald.search.everyone._numpy_lanes")


def packed() -> ModuleType | None:
    """The module that grows trees on packed rows; None where `ald.search.forest.counting` and others do it by NumPy."""
    return _load_compiled("_core._packed")


def draw() -> ModuleType | None:
    """The module that draws samples of people; None where NumPy does it."""
    return _load_compiled("data._draw")


def texts() -> ModuleType | None:
    """The module that codes texts; None where the libraries that hold them do it."""
    return _load_compiled("data.inputs._texts")


def chunks(work: np.ndarray[tuple[int], np.dtype[np.int64]], n: int, least: int) -> list[slice]:
    """At most `n` consecutive slices of items with about the same total work, none below `least` in all but one.

    >>> chunks(np.array([5, 1, 1, 5]), 2, 1)
    [slice(0, 2, None), slice(2, 4, None)]
    """
    total = int(work.sum())
    n = min(n, total // max(least, 1), len(work))
    if n < 2:
        return [slice(0, len(work))] if len(work) else []
    bounds = np.searchsorted(np.cumsum(work), np.arange(1, n) * (total / n)) + 1
    edges = np.unique(np.concatenate([[0], bounds, [len(work)]]))
    return [slice(int(a), int(b)) for a, b in itertools.pairwise(edges)]
