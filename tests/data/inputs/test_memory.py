"""Sizes in words, and limits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ald
from ald import SettingError
from ald.data.inputs.memory import container_limits, machine_memory, parse_size


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
        ald.audit(ald.source({"a": [1], "y": [0]}, memory_limit=size), outcome="y")


def test_machine() -> None:
    """The machine has some memory."""
    assert machine_memory() > 2**28


@pytest.mark.parametrize(
    ("own", "files", "limits"),
    [
        ("0::/", {"memory.max": "4294967296\n"}, [2**32]),
        ("0::/", {"memory.max": "max\n"}, []),
        ("0::/a/b", {"a/memory.max": "3000000000", "a/b/memory.max": "max", "memory.max": "5"}, [3 * 10**9, 5]),
        ("5:cpu:/\n4:memory,hugetlb:/docker/x\n0::/", {"memory/memory.limit_in_bytes": "2147483648"}, [2**31]),
        ("0::/not/mounted", {}, []),
        ("", {"memory.max": "1"}, []),
    ],
)  # fmt: skip
def test_containers(tmp_path: Path, own: str, files: dict[str, str], limits: list[int]) -> None:
    """The limits of all control groups that the process is in, of both versions; `max` is none."""
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "own").write_text(own)
    assert container_limits(tmp_path, tmp_path / "own") == limits
    assert container_limits(tmp_path, tmp_path / "nowhere") == []


def test_the_smallest_limit_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine in a container has what the container may use."""
    monkeypatch.setattr("ald.data.inputs.memory.container_limits", lambda root, own: [2**62, 10**9])
    assert machine_memory() == 10**9
