"""`make torture`, a small part of it: nothing that it tries fails."""

from __future__ import annotations

import importlib.util
import random
import signal
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

PLACE = Path(__file__).parents[1] / "benchmarks" / "torture.py"


@pytest.fixture(scope="module")
def torture() -> ModuleType:
    spec = importlib.util.spec_from_file_location("torture", PLACE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["torture"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("name", "tries"), [("files", 12), ("keywords", 40), ("documents", 25), ("hostile names", 1), ("threads", 1)]
)
def test_nothing_fails(torture: ModuleType, tmp_path: Path, name: str, tries: int) -> None:
    """Every try ends well, or is refused in words."""
    run, _ = torture.CHECKS[name]
    check, rng = torture.Check(name), random.Random(f"small {name}")
    for _ in range(tries):
        run(check, rng, tmp_path)
    assert check.tries == tries
    assert dict(check.failures) == {}


def test_failures_are_told(torture: ModuleType) -> None:
    """What is no AldError is a failure with its place, and what takes too long is one, too."""
    before = signal.signal(signal.SIGALRM, torture._alarm)
    check = torture.Check("mine")

    def fails() -> Any:
        raise ValueError("no")

    check.attempt("a", fails)
    check.attempt("b", lambda: signal.raise_signal(signal.SIGALRM))
    check.attempt("c", lambda: None)
    signal.signal(signal.SIGALRM, before)
    assert check.failures == {"a: ValueError in elsewhere": 1, "b: more than 60 s": 1}
    assert "| mine | 3 | 0 | 2 |" in torture.table([check])
    assert "make torture" in torture.page([check], 0)
