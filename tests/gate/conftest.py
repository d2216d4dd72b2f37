"""Fewer planted disparities than a check has: what is tested does not depend on their number."""

from __future__ import annotations

import pytest

from ald.gate import power


@pytest.fixture(autouse=True)
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(power, "RUNS", 10)
