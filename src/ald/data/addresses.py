"""Addresses of databases, files and clusters: where one is, and nothing of the passwords in it."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, unquote

from ald.errors import shorten

_WORDS = "pass|secret|token|key|sig|cred"
_SECRET = re.compile(_WORDS, re.IGNORECASE)
_LOGIN = re.compile(r"(://[^\s/:@]*):[^\s/]*@")
_OPTION = re.compile(rf"([?&][^=&\s]*({_WORDS})[^=&\s]*=)[^&\s'\"]*", re.IGNORECASE)


def is_address(data: str) -> bool:
    """Whether a text is an address rather than the name of a file."""
    return re.match(r"[a-z][a-z0-9+]*://", data, re.IGNORECASE) is not None


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


def secrets(address: str) -> list[str]:
    """All passwords in an address, and the parts that a reader with other rules might cut them into."""
    rest, _, options = address.partition("://")[2].partition("?")
    found = [rest.rpartition("@")[0].partition(":")[2]]
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
