"""Addresses are shown without their passwords, whoever shows them."""

from __future__ import annotations

import pytest

from ald.data.inputs.addresses import is_broken, is_postgresql, mask_secrets, secrets, spell_scheme, without_secrets


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://ann:secret@h/x", "postgresql://ann:***@h/x"),
        ("postgresql://ann:se@cr:et@h/x", "postgresql://ann:***@h/x"),
        ("postgresql://h/x?user=ann&password=secret&sslmode=require", "postgresql://h/x?user=ann&password=***&sslmode=require"),
        ("postgresql://ann@h/x", "postgresql://ann@h/x"),
        ("postgresql://ann:se?cr@et@h/x?sslmode=require", "postgresql://ann:***@h/x?sslmode=require"),
        ("postgresql://h/x?user=ann@b&password=secret", "postgresql://h/x?user=ann@b&password=***"),
        ("postgresql://h:5432/x?user=ann@b&password=secret", "postgresql://h:5432/x?user=ann@b&password=***"),
        ("postgresql://h:5432/x?password=hu@nt", "postgresql://h:5432/x?password=***"),
        ("postgresql://h/x?password=hu&nt&sslmode=require", "postgresql://h/x?password=***&***&sslmode=require"),
        ("https://h/x.csv?flag&part=1", "https://h/x.csv?flag&part=1"),
        ("https://h/x.csv?X-Amz-Signature=abc&part=1", "https://h/x.csv?X-Amz-Signature=***&part=1"),
    ],
)  # fmt: skip
def test_masked(address: str, shown: str) -> None:
    """An address is shown without its secrets."""
    assert mask_secrets(address) == shown


@pytest.mark.parametrize(
    ("message", "address"),
    [
        ("cannot open s3a://AKIA:pa55@bucket/x", ""),
        ("no such key 'pa55/word' in bucket", "s3a://AKIA:pa55/word@bucket/x.csv"),
        ("GET /x?token=pa55word", "https://h/x?token=pa55word"),
    ],
)
def test_messages_of_others(message: str, address: str) -> None:
    """What a library says of an address is shown without the passwords in it."""
    assert "pa55" not in without_secrets(message, address)
    assert "***" in without_secrets(message, address)


def test_schemes_in_capitals() -> None:
    """A scheme counts in any case; the rest of an address stays as it is."""
    assert is_postgresql("PostgreSQL://h/x")
    assert not is_postgresql("MySQL://h/x")
    assert spell_scheme("POSTGRES://Ann:Secret@h/X") == "postgres://Ann:Secret@h/X"


def test_parts_of_a_password_are_secrets_too() -> None:
    """Readers with other rules cut it elsewhere."""
    assert secrets("postgresql://ann:se@cr%20et@h/x") == ["se@cr%20et", "se@cr et", "se", "cr", "20et", "et"]


def test_short_parts_of_a_password() -> None:
    """One or two characters of a password are masked between other characters, not within words."""
    address = "s3a://AKIA:pa55@ab@bucket/x.csv"
    assert without_secrets("no host 'ab@bucket' is about", address) == "no host '***@bucket' is about"


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("postgresql://ann:pa55@ab@h/x", True),
        ("postgresql://ann:pa55/ab@h/x", True),
        ("postgresql://ann:pa55 ab@h/x", True),
        ("postgresql://ann:pa55%zz@h/x", True),
        ("postgresql://ann@tenant@h/x", True),
        ("postgresql://ann@h/x?password=pa55&ab", True),
        ("postgresql://ann:pa:5?5#@h:5432/x", False),
        ("postgresql://ann:pa%4055%2F@h/x?sslmode=require", False),
        ("postgresql://h:5432/x?user=ann@b&password=pa@55", False),
        ("postgresql://h/x@y", False),
    ],
)
def test_broken_addresses(address: str, expected: bool) -> None:
    """An address is broken where drivers would end its login, or refuse it, in the midst of a password."""
    assert is_broken(address) == expected
