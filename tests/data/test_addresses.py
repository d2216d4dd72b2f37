"""Addresses of databases: shown without secrets, in any case."""

from __future__ import annotations

import pytest

from ald.data.addresses import is_postgresql, masked, spelled, without_secrets


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://ann:secret@h/x", "postgresql://ann:***@h/x"),
        ("postgresql://ann:se@cr:et@h/x", "postgresql://ann:***@h/x"),
        ("postgresql://h/x?user=ann&password=secret&sslmode=require", "postgresql://h/x?user=ann&password=***&sslmode=require"),
        ("postgresql://ann@h/x", "postgresql://ann@h/x"),
    ],
)  # fmt: skip
def test_masked(address: str, shown: str) -> None:
    """An address is shown without its secrets."""
    assert masked(address) == shown


def test_schemes_in_capitals() -> None:
    """A scheme counts in any case; the rest of an address stays as it is."""
    assert is_postgresql("PostgreSQL://h/x")
    assert not is_postgresql("MySQL://h/x")
    assert spelled("POSTGRES://Ann:Secret@h/X") == "postgres://Ann:Secret@h/X"


def test_messages_without_secrets() -> None:
    """A message that repeats a part of a password is replaced as a whole."""
    address = "postgresql://ann:se@cr%20et@h/x"
    assert without_secrets("no host named h", address) == "no host named h"
    assert "cr%20et" not in without_secrets("no host named cr%20et@h", address)
