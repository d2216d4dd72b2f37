"""What the machine lacks is said in one sentence."""

from __future__ import annotations

import builtins
import sys
from typing import Any

import pytest

import ald
from ald._core.shortage import shortage_in_words
from ald.errors import ShortageError
from tests.tables import people


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        (MemoryError(), "there is not enough memory"),
        (RuntimeError("can't start new thread"), "no more threads can be started here: give threads=1"),
        (ImportError("failed to map segment", name="typst"), "the library typst is installed and cannot be loaded"),
    ],
)
def test_shortages(raised: Exception, said: str) -> None:
    """Too little memory and too few threads are errors in words."""
    with pytest.raises(ShortageError, match=said), shortage_in_words():
        raise raised


@pytest.mark.parametrize("raised", [RuntimeError("another"), ModuleNotFoundError("none"), ValueError()])
def test_all_else_passes(raised: Exception) -> None:
    """Nothing else is taken for a shortage."""
    with pytest.raises(type(raised)), shortage_in_words():
        raise raised


def test_pdf_without_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that is there and cannot be loaded is not said to be missing."""
    found = ald.audit(people(200), outcome="y", search=ald.Search(trees=2))

    def no_room(name: str, *args: Any) -> Any:
        if name == "typst":
            raise ImportError("failed to map segment from shared object", name=name)
        return original(name, *args)

    original = builtins.__import__
    monkeypatch.delitem(sys.modules, "typst", raising=False)
    monkeypatch.setattr(builtins, "__import__", no_room)
    with pytest.raises(ShortageError, match="the library typst is installed and cannot be loaded"), shortage_in_words():
        found.to_pdf()


def test_an_audit_without_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """An audit that runs out of memory or of threads says so in one sentence."""
    for raised, said in ((MemoryError(), "not enough memory"), (RuntimeError("can't start new thread"), "threads=1")):

        def fail(*args: Any, error: Exception = raised, **options: Any) -> None:
            raise error

        monkeypatch.setattr("ald.auditing.run", fail)
        with pytest.raises(ald.AldError, match=said):
            ald.audit(people(200), outcome="y")
