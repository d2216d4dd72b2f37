"""How much memory there is, and how much may be used."""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath

from ald.errors import SettingError, shown

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]i?)?b?", re.IGNORECASE)
# What DuckDB and the engine need at least, whatever the data.
_LEAST = 256 * 10**6


def parse_size(size: str | int | None) -> int | None:
    """A number of bytes from words; None for no limit.

    >>> parse_size("4GB"), parse_size("1.5 GiB"), parse_size(10**9)
    (4000000000, 1610612736, 1000000000)
    """
    if size is None:
        return None
    matched = _SIZE.fullmatch(size.strip()) if isinstance(size, str) else None
    if matched:
        n = int(float(matched[1]) * _UNITS[(matched[2] or "").casefold()])
    elif isinstance(size, int) and not isinstance(size, bool):
        n = size
    else:
        raise SettingError(f"memory_limit must be a size such as '4GB' or '500MB', not {shown(size)}")
    if n < _LEAST:
        raise SettingError(f"memory_limit must be at least {_LEAST // 10**6} MB, not {size!r}")
    return n


def machine_memory() -> int:
    """The bytes of memory that this machine, or the container that this process is in, has; unknown: few."""
    try:
        physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 4 * 2**30
    return min([physical, *container_limits(Path("/sys/fs/cgroup"), Path("/proc/self/cgroup"))])


def container_limits(root: Path, own: Path) -> list[int]:
    """The limits in bytes of the control groups that a process is in (Linux, both versions); none elsewhere.

    root: where the groups are mounted; own: the file that names those of the process.
    """
    files = []
    for line in _text(own).splitlines():
        _, kinds, path = [*line.split(":", 2), "", ""][:3]
        base, name = (root, "memory.max") if not kinds else (root / "memory", "memory.limit_in_bytes")
        if not kinds or "memory" in kinds.split(","):
            group = PurePosixPath(path)
            # Within a container the groups above it are not mounted, and its own is the root.
            files += [base / part.relative_to("/") / name for part in (group, *group.parents) if part.is_absolute()]
    limits = [text for file in dict.fromkeys(files) if (text := _text(file).strip()).isdigit()]
    return [int(text) for text in limits if int(text) > 0]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeError):
        return ""
