"""The command in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any


def python_m_ald(*arguments: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """Runs the command in a process of its own."""
    command = [sys.executable, "-m", "ald", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, **options)
