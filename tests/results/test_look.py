"""Looks as data."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError

import pytest

import ald
from tests.tables import decisions


def test_looks_are_data() -> None:
    """A look is frozen, and its dictionary is plain data, of all that it holds."""
    seen = ald.look(decisions())
    with pytest.raises(FrozenInstanceError):
        seen.rows = 3  # type: ignore[misc]
    found = json.loads(json.dumps(seen.to_dict()))
    assert [column["name"] for column in found["columns"]] == [column.name for column in seen.columns]
    assert (found["rows"], found["python"]) == (800, seen.python)


def test_columns_by_name() -> None:
    """A column is found by its name."""
    assert ald.look(decisions()).column("group").levels[0].rows > 0
