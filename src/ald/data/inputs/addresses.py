"""Addresses of databases, files and clusters: where one is, and nothing of the passwords in it."""

from __future__ import annotations

import re
from urllib.parse import unquote

from ald.errors import shorten

_POSTGRESQL = ("postgresql", "postgres")
_WORDS = "pass|secret|token|key|sig|cred"
_SECRET = re.compile(_WORDS, re.IGNORECASE)
# What is an address with a port and options, whatever these hold.
_PORT = re.compile(r"[^@?]*:\d*(/[^@?]*)?\?\w+=")
# What drivers take for the end of a login, or for nothing at all, unless it is percent-encoded.
_BREAKS_LOGIN = re.compile(r"@|:.*/")
_BREAKS = re.compile(r"\s|%(?![0-9a-f]{2})|%00", re.IGNORECASE)
_LOGIN = re.compile(r"(://[^\s/:@]*):[^\s/]*@")
_OPTION = re.compile(rf"([?&][^=&\s]*({_WORDS})[^=&\s]*=)[^&\s'\"]*", re.IGNORECASE)


def is_address(data: str) -> bool:
    """Whether a text is an address rather than the name of a file."""
    return re.match(r"[a-z][a-z0-9+]*://", data, re.IGNORECASE) is not None


def is_postgresql(address: str) -> bool:
    """Whether an address is one of PostgreSQL, in small letters or capitals."""
    return address.partition(":")[0].casefold() in _POSTGRESQL


def spell_scheme(address: str) -> str:
    """The address with its scheme in small letters: drivers know no other.

    >>> spell_scheme("PostgreSQL://Ann@db.example/Loans")
    'postgresql://Ann@db.example/Loans'
    """
    scheme, colon, rest = address.partition(":")
    return scheme.casefold() + colon + rest


def mask_secrets(address: str) -> str:
    """An address without its secrets.

    >>> mask_secrets("postgresql://ann:secret@db.example/loans?sslmode=require")
    'postgresql://ann:***@db.example/loans?sslmode=require'
    """
    scheme, _, rest = address.partition("://")
    login, at, place, mark, options = _parts(rest)
    name, colon, _ = login.partition(":")
    kept = "&".join(f"{key}***" if is_secret else f"{key}{value}" for key, value, is_secret in _settings(options))
    return shorten(f"{scheme}://{name}{':***' if colon else ''}{at}{place}{mark}{kept}", 120)


def _parts(rest: str) -> tuple[str, str, str, str, str]:
    """What follows the scheme: the login, "@", the place, "?", the options. In doubt, more of it is the login."""
    before, mark, options = rest.partition("?")
    if (
        "@" in options and "@" not in before and ":" in before and not _PORT.match(rest)
    ):  # a question mark in the password
        login, at, after = rest.rpartition("@")
        return login, at, *after.partition("?")
    return *before.rpartition("@"), mark, options


def _settings(options: str) -> list[tuple[str, str, bool]]:
    """Options as they are written: the name with "=", the value, whether that is a secret or goes on with one."""
    found: list[tuple[str, str, bool]] = []
    for option in options.split("&"):
        key, equals, value = option.partition("=")
        if equals:
            found.append((key + equals, value, _SECRET.search(unquote(key)) is not None))
        else:  # after a secret, what follows an "&" in it
            found.append(("", option, bool(option and found and found[-1][2])))
    return found


def is_broken(address: str) -> bool:
    """Whether drivers read an address in another way than it is meant, as of a password with a plain "@".

    >>> is_broken("postgresql://ann:se@cret@db.example/loans")
    True
    """
    rest = address.partition("://")[2]
    login, _, _, _, options = _parts(rest)
    is_cut = any(is_secret and not key for key, _, is_secret in _settings(options))
    return is_cut or _BREAKS_LOGIN.search(login) is not None or _BREAKS.search(rest) is not None


def secrets(address: str) -> list[str]:
    """All passwords in an address, and the parts that a reader with other rules might cut them into."""
    login, _, _, _, options = _parts(address.partition("://")[2])
    found = [login.partition(":")[2], *(value for _, value, is_secret in _settings(options) if is_secret)]
    found += [unquote(secret) for secret in found]
    found += [part for secret in found for part in re.split(r"[@:/?#%\s]", secret)]
    # Anything that the address shows anyway is no secret.
    shown = mask_secrets(address)
    return [part for part in dict.fromkeys(found) if part and not _occurrences(part).search(shown)]


def _occurrences(secret: str) -> re.Pattern[str]:
    """Where a secret is in a text. One or two characters are found in any sentence: they count between others only."""
    plain = re.escape(secret)
    return re.compile(plain if len(secret) > 2 else rf"(?<!\w){plain}(?!\w)")


def without_secrets(message: str, address: str = "") -> str:
    """A message of somebody else without the passwords of an address, or of any that it shows.

    >>> without_secrets("no host in http://ann:secret@db/x.csv")
    'no host in http://ann:***@db/x.csv'
    """
    for part in sorted(secrets(address), key=len, reverse=True):
        message = _occurrences(part).sub("***", message)
    return _OPTION.sub(r"\1***", _LOGIN.sub(r"\1:***@", message))
