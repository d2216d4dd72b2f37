"""Errors: one hierarchy, and hints that help."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ald
from ald.errors import nearest, shorten
from tests.flat import audit_flat
from tests.tables import people


def test_one_hierarchy() -> None:
    """Everything raised on purpose is an AldError, and a ValueError for who does not know us."""
    assert issubclass(ald.ColumnError, ald.InputError)
    assert issubclass(ald.CriterionError, ald.SettingError)
    for error in (ald.InputError, ald.ColumnError, ald.SettingError, ald.CriterionError):
        assert issubclass(error, ald.AldError)
        assert issubclass(error, ValueError)


@pytest.mark.parametrize(("name", "hint"), [("GENDER", "'gender'"), ("gendr", "'gender'"), ("aeg", "'age'")])
def test_the_nearest_name(name: str, hint: str) -> None:
    """The hint offers the nearest name, whatever its case."""
    assert nearest(name, ["age", "gender"]).startswith(f"Did you mean {hint}?")


def test_nothing_near() -> None:
    """A name like no other gets the list only."""
    assert nearest("zzz", ["age"]) == "Available: 'age'."


def test_long_lists_are_cut() -> None:
    """At most twenty names are listed."""
    assert nearest("zzz", map(str, range(100))).endswith("'19', ... (100 in all).")


@given(st.text(max_size=200), st.integers(6, 80))
def test_shortening(text: str, limit: int) -> None:
    """A shortened text keeps its beginning and its end and fits the limit."""
    short = shorten(text, limit)
    assert len(short) <= limit
    assert short == text or (short[:2] == text[:2] and short[-1] == text[-1] and "..." in short)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"ranking": "size"}, "unknown ranking 'size'"),
        ({"adjust": "holm"}, "unknown adjust 'holm'"),
        ({"search": "papers"}, "unknown search 'papers'. Did you mean 'paper'"),
        ({"groups": 0}, "groups must be a whole number from 1 on, not 0"),
        ({"trees": 2.5}, "trees must be a whole number from 1 on, not 2.5"),
        ({"trees": True}, "trees must be a whole number"),
        ({"seed": -1}, "seed must be a whole number from 0 on, not -1"),
        ({"threads": 0}, "threads must be a whole number from 1 on"),
        ({"alpha": 0}, "alpha must be above 0 and at most 1, not 0"),
        ({"alpha": float("nan")}, "alpha must be above 0"),
        ({"level": 1.5}, "level must be above 0 and at most 1, not 1.5"),
        ({"level": "a"}, "level must be above 0"),
        ({"notion": "statistical party"}, "unknown notion 'statistical party'. Did you mean 'statistical parity'"),
    ],
)
def test_bad_settings(options: dict[str, object], problem: str) -> None:
    """Each is a SettingError that says what was found and what was expected."""
    with pytest.raises(ald.SettingError, match=problem):
        audit_flat(people(), outcome="y", **options)  # type: ignore[arg-type]
