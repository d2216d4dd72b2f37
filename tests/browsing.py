"""What tests in a real browser share: Debian's chromium and axe-core, which .ci/run promises."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NoReturn

import pytest

AXE = Path(__file__).parents[1] / ".tools" / "node_modules" / "axe-core" / "axe.min.js"


def missing(what: str) -> NoReturn:
    """Skips, or fails where .ci/run promised that everything is there."""
    if os.environ.get("ALD_BROWSER") == "required":
        pytest.fail(f"{what} is missing")
    pytest.skip(f"needs {what}")
