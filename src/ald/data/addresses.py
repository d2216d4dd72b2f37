"""Addresses of databases, files and clusters: where one is, and nothing of the passwords in it."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, unquote

from ald.errors import shorten

_POSTGRESQL = ("postgresql", "postgres")
_WORDS = "pass|secret|token|key|sig|cred"
_SECRET = re.compile(_WORDS, re.IGNORECASE)
_LOGIN = re.compile(r"(://[^\s/:@]*):[^\s/]*@")
_OPTION = re.compile(rf"([?&][^=&\s]*({_WORDS})[^=&\s]*=)[^&\s'\"]*", re.IGNORECASE)


def is_address(data: str) -> bool:
    """Whether a text is an address rather than the name of a file."""
    return re.match(r"[a-z][a-z0-9+]*://", data, re.IGNORECASE) is not None


def is_postgresql(address: str) -> bool:
    """Whether an address is one of PostgreSQL, in small letters or capitals."""
    return address.partition(":")[0].casefold() in _POSTGRESQL


def spelled(address: str) -> str:
    """The address with its scheme in small letters: drivers know no other.

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
    login, at, place, mark, options = _parts(rest)
    name, colon, _ = login.partition(":")
    kept = "&".join(
        f"{key}=***" if _SECRET.search(key) else f"{key}={value}"
        for key, value in parse_qsl(options, keep_blank_values=True)
    )
    return shorten(f"{scheme}://{name}{':***' if colon else ''}{at}{place}{mark}{kept}", 120)


def _parts(rest: str) -> tuple[str, str, str, str, str]:
    """What follows the scheme: the login, "@", the place, "?", the options. In doubt, more of it is the login."""
    before, mark, options = rest.partition("?")
    if "@" in options and "@" not in before and ":" in before:  # a question mark in the password
        login, at, after = rest.rpartition("@")
        return login, at, *after.partition("?")
    return *before.rpartition("@"), mark, options


def secrets(address: str) -> list[str]:
    """All passwords in an address, and the parts that a reader with other rules might cut them into."""
    login, _, _, _, options = _parts(address.partition("://")[2])
    found = [login.partition(":")[2]]
    found += [value for key, value in parse_qsl(options, keep_blank_values=True) if _SECRET.search(key)]
    parts = [part for secret in found for text in (secret, unquote(secret)) for part in re.split(r"[@:/?#%\s]", text)]
    # Anything that the address shows anyway is no secret; parts of two characters are found in any sentence.
    shown = masked(address)
    return [part for part in (*found, *parts) if len(part) > 2 and part not in shown]


def without_secrets(message: str, address: str = "") -> str:
    """A message of somebody else without the passwords of an address, or of any that it shows.

    >>> without_secrets("no host in http://ann:secret@db/x.csv")
    'no host in http://ann:***@db/x.csv'
    """
    for part in sorted(secrets(address), key=len, reverse=True):
        message = message.replace(part, "***")
    return _OPTION.sub(r"\1***", _LOGIN.sub(r"\1:***@", message))
