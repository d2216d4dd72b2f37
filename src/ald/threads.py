"""Threads for work that releases the GIL. Their number changes no result."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def available_threads() -> int:
    """The cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="ald")


# Threads do not survive a fork: a child process starts its own.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)


def in_threads(function: Callable[[Item], Result], items: Iterable[Item], threads: int) -> list[Result]:
    """The results of a function for every item, in order."""
    items = list(items)
    if threads < 2 or len(items) < 2:
        return [function(item) for item in items]
    return list(_pool(threads).map(function, items))
