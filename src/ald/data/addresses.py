"""Addresses of databases: how they are shown, and that no message shows their secrets."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, unquote

from ald.errors import shorten

_SCHEMES = ("postgresql", "postgres")
_SECRET = re.compile(r"pass|secret|token|key", re.IGNORECASE)


def is_postgresql(address: str) -> bool:
    """Whether an address is one of PostgreSQL, in small letters or capitals."""
    return address.partition(":")[0].casefold() in _SCHEMES


def spelled(address: str) -> str:
    """The address with its scheme in small letters: the driver knows no other.

    >>> spelled("PostgreSQL://Ann@db.example/Loans")
    'postgresql://Ann@db.example/Loans'
    """
    scheme, colon, rest = address.partition(":")
    return scheme.casefold() + colon + rest


def masked(address: str) -> str:
    """An address without its secrets.

    >>> masked("postgresql://ann:secret@db.example/loans?sslmode=require")
    'postgresql://ann:***@db.example/loans?sslmode=require'
    """
    scheme, _, rest = address.partition("://")
    rest, mark, options = rest.partition("?")
    login, at, place = rest.rpartition("@")
    name, colon, _ = login.partition(":")
    kept = "&".join(
        f"{key}=***" if _SECRET.search(key) else f"{key}={value}"
        for key, value in parse_qsl(options, keep_blank_values=True)
    )
    return shorten(f"{scheme}://{name}{':***' if colon else ''}{at}{place}{mark}{kept}", 120)


def _secrets(address: str) -> list[str]:
    """All passwords in an address, and the parts that a reader with other rules might cut them into."""
    rest, _, options = address.partition("://")[2].partition("?")
    found = [rest.rpartition("@")[0].partition(":")[2]]
    found += [value for key, value in parse_qsl(options, keep_blank_values=True) if _SECRET.search(key)]
    parts = [part for secret in found for text in (secret, unquote(secret)) for part in re.split(r"[@:/?#%\s]", text)]
    # Anything that the address shows anyway is no secret; parts of two characters are found in any sentence.
    shown = masked(address)
    return [part for part in (*found, *parts) if len(part) > 2 and part not in shown]


def without_secrets(message: str, address: str) -> str:
    """The message, unless it repeats a part of a secret."""
    for part in _secrets(address):
        if part in message:
            return (
                "the address cannot be understood. Characters such as @ : / % and spaces must be percent-encoded in a "
                "password, or give it by the variable PGPASSWORD."
            )
    return message
