"""A form with a file, written to disk while it comes in: as much as is allowed, and no more."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

from ald.errors import InputError

# Bytes of a field that is no file, and seconds within which something must come.
_FIELD, _PATIENCE = 10_000, 60.0


class TooLargeError(InputError):
    """More came than is allowed."""


@dataclass
class Received:
    """What a form sent: its fields, and the name and the size of its file."""

    fields: dict[str, str] = field(default_factory=dict)
    name: str | None = None
    size: int = 0


async def receive_form(
    stream: AsyncIterator[bytes], content_type: str, path: str, most: int, check: Callable[[dict[str, str]], None]
) -> Received:
    """Writes the file of a form to a path, for its owner alone.

    check: raises where the fields before the file do not allow one. Whatever goes wrong leaves no file.
    """
    from python_multipart import MultipartParser
    from python_multipart.exceptions import FormParserError
    from python_multipart.multipart import parse_options_header

    kind, options = parse_options_header(content_type.encode("latin-1", "replace"))
    if kind != b"multipart/form-data" or b"boundary" not in options:
        raise InputError("this is no form with a file")
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            form = _Form(file, most, check)
            parser = MultipartParser(options[b"boundary"], form.callbacks())
            pieces = aiter(stream)
            while True:
                try:
                    piece = await asyncio.wait_for(anext(pieces), _PATIENCE)
                except StopAsyncIteration:
                    break
                except TimeoutError:
                    raise InputError(f"nothing came for {_PATIENCE:.0f} seconds: send the file again") from None
                try:
                    parser.write(piece)
                except FormParserError as error:
                    raise InputError(f"this form cannot be read: {error}") from None
            if not form.is_complete:
                raise InputError("the file did not come to its end: send it again")
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        raise
    return form.received


class _Form:
    """What the parser calls."""

    def __init__(self, file: Any, most: int, check: Callable[[dict[str, str]], None]) -> None:
        self.file, self.most, self.check = file, most, check
        self.received = Received()
        self.is_complete = False
        self._headers: dict[str, str] = {}
        self._head, self._value = b"", b""
        self._name, self._is_file, self._field = "", False, b""

    def callbacks(self) -> Any:
        """By the names of the parser."""
        return {
            "on_part_begin": self._begin,
            "on_header_field": self._header_field,
            "on_header_value": self._header_value,
            "on_header_end": self._header_end,
            "on_headers_finished": self._start,
            "on_part_data": self._data,
            "on_part_end": self._end_part,
            "on_end": self._end,
        }

    def _begin(self) -> None:
        self._headers, self._field = {}, b""

    def _header_field(self, data: bytes, start: int, end: int) -> None:
        self._head += data[start:end]

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _header_end(self) -> None:
        self._headers[self._head.decode("latin-1").casefold()] = self._value.decode("utf-8", "replace")
        self._head, self._value = b"", b""

    def _start(self) -> None:
        from python_multipart.multipart import parse_options_header

        _, options = parse_options_header(self._headers.get("content-disposition", "").encode("utf-8"))
        self._name = options.get(b"name", b"").decode("utf-8", "replace")
        self._is_file = b"filename" in options
        if self._is_file:
            if self.received.name is not None:
                raise InputError("give one file")
            self.check(self.received.fields)
            self.received.name = options[b"filename"].decode("utf-8", "replace")

    def _data(self, data: bytes, start: int, end: int) -> None:
        if self._is_file:
            self.received.size += end - start
            if self.received.size > self.most:
                raise TooLargeError(f"the file has more than {in_words(self.most)}")
            self.file.write(data[start:end])
        else:
            self._field += data[start:end]
            if len(self._field) > _FIELD:
                raise TooLargeError("a field of the form is too long")

    def _end_part(self) -> None:
        if not self._is_file:
            self.received.fields[self._name] = self._field.decode("utf-8", "replace")

    def _end(self) -> None:
        self.is_complete = True


def in_words(size: int) -> str:
    """A number of bytes as people say it.

    >>> in_words(2_000_000_000), in_words(1_500_000), in_words(10)
    ('2 GB', '1.5 MB', '10 bytes')
    """
    for unit, one in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= one:
            return f"{size / one:.3g} {unit}"
    return f"{size} bytes"
