"""Sizes in words, and limits."""

from __future__ import annotations

from typing import Any

import pytest

import ald
from ald import SettingError
from ald.data.memory import machine_memory, parse_size


@pytest.mark.parametrize(
    ("size", "n"),
    [("4GB", 4 * 10**9), ("4 gb", 4 * 10**9), ("2GiB", 2**31), ("500M", 5 * 10**8), ("1e9", None), (10**9, 10**9)],
)
def test_sizes(size: str | int, n: int | None) -> None:
    """Sizes have a unit of thousands or of 1,024s; whole numbers are bytes."""
    if n is None:
        with pytest.raises(SettingError, match="such as '4GB'"):
            parse_size(size)
    else:
        assert parse_size(size) == n


@pytest.mark.parametrize("size", ["much", "", "-4GB", "10MB", 0, True, 1.5, "4 GB of it"])
def test_what_is_no_limit(size: Any) -> None:
    """Anything else is refused, and so is less than an audit takes at least."""
    with pytest.raises(SettingError, match="memory_limit must be"):
        ald.audit({"a": [1], "y": [0]}, outcome="y", memory_limit=size)


def test_machine() -> None:
    """The machine has some memory."""
    assert machine_memory() > 2**28
