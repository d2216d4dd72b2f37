"""Public data sets: where they live, under which licence, and how their files are obtained and checked.

A file comes from the folder that the environment variable ALD_DATA names, or from its public home by way of a cache.
Files of the public homes are checked by their SHA-256. Tables prepared from them (adult.csv, compas.csv) have no
published checksum: they are checked by their columns, number of rows and known totals.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from ald.errors import InputError

FOLDER_VARIABLE = "ALD_DATA"
_SECONDS = 30


@dataclass(frozen=True, kw_only=True)
class RemoteFile:
    """A file at its public home."""

    name: str
    url: str
    sha256: str


@dataclass(frozen=True, kw_only=True)
class PublicData:
    """A public data set. `totals`: per column of the prepared table how often some values occur."""

    name: str
    title: str
    source: str
    licence: str
    files: tuple[RemoteFile, ...]
    columns: tuple[str, ...]
    rows: int
    totals: Mapping[str, Mapping[str, int]]

    @property
    def prepared(self) -> str:
        """The name of the prepared table in the folder that ALD_DATA names."""
        return f"{self.name}.csv"


def prepared_rows(data: PublicData) -> list[list[str]] | None:
    """The rows of the prepared table in the folder that ALD_DATA names, checked; None if there is none."""
    path = _in_folder(data.prepared)
    if path is None:
        return None
    try:
        with path.open(newline="", encoding="utf-8") as file:
            header, *rows = csv.reader(file)
    except (OSError, ValueError, csv.Error) as error:
        raise InputError(f"cannot read {str(path)!r} as the prepared table of {data.title}: {error}") from None
    check_structure(data, header, rows, str(path))
    return rows


def check_structure(data: PublicData, header: list[str], rows: list[list[str]], source: str) -> None:
    """Raises unless a table has the columns, the number of rows and the totals of the data set."""
    if tuple(header) != data.columns:
        raise InputError(
            f"{source!r} has the columns {', '.join(header)}; {data.title} has {', '.join(data.columns)}. "
            "Remove the file, or give the one prepared for ALD."
        )
    if len(rows) != data.rows or any(len(row) != len(header) for row in rows):
        raise InputError(f"{source!r} has {len(rows):,} rows; {data.title} has {data.rows:,} of {len(header)} values")
    for name, expected in data.totals.items():
        values = [row[header.index(name)] for row in rows]
        found = {value: values.count(value) for value in expected}
        if found != dict(expected):
            raise InputError(f"{source!r} is not {data.title}: its column {name!r} has {found}, expected {expected}")


def obtain(data: PublicData, cache: Path | None = None) -> list[Path]:
    """The checked files of the public home: from the folder that ALD_DATA names, from the cache, or fetched."""
    own = [_in_folder(file.name) for file in data.files]
    return [
        _check(path, file) if path is not None else _fetch(data, file, cache)
        for path, file in zip(own, data.files, strict=True)
    ]


def _in_folder(name: str) -> Path | None:
    folder = os.environ.get(FOLDER_VARIABLE)
    path = Path(folder) / name if folder else None
    return path if path is not None and path.is_file() else None


def _check(path: Path, file: RemoteFile) -> Path:
    found = sha256(path.read_bytes()).hexdigest()
    if found != file.sha256:
        raise InputError(f"{str(path)!r} is not the file of {file.url}: its SHA-256 is {found}, not {file.sha256}")
    return path


def _fetch(data: PublicData, file: RemoteFile, cache: Path | None) -> Path:
    try:
        import pooch
    except ModuleNotFoundError:
        raise InputError(_ways_out(data, "fetching needs pooch", "pip install 'ald-audit[data]'")) from None
    import requests

    try:
        return Path(
            pooch.retrieve(
                file.url,
                known_hash=f"sha256:{file.sha256}",
                fname=file.name,
                path=cache or pooch.os_cache("ald"),
                downloader=_download,
            )
        )
    except requests.exceptions.RequestException as error:
        kind = type(error).__name__
        raise InputError(
            _ways_out(data, f"{file.url} could not be fetched ({kind})", "connect to the network")
        ) from None
    except ValueError as error:  # the checksum differs
        raise InputError(f"{file.url} does not serve the file that ALD knows: {error}") from None


def _download(url: str, target: Any, _: object) -> None:
    """Pooch's own downloader leaves the connection open when the home refuses."""
    import requests

    with requests.get(url, stream=True, timeout=_SECONDS) as response, open(target, "wb") as file:
        response.raise_for_status()
        for chunk in response.iter_content(1 << 16):
            file.write(chunk)


def _ways_out(data: PublicData, problem: str, remedy: str) -> str:
    names = " and ".join(file.name for file in data.files)
    return (
        f"{data.title} is not on this machine: {problem}. Two ways out: {remedy} and try again; or set "
        f"{FOLDER_VARIABLE} to a folder that holds {names} (from {data.source}) or the prepared {data.prepared}."
    )
