"""What an engine says when it fails, in one line and without passwords."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from ald.data.addresses import is_address, masked, without_secrets
from ald.errors import AldError, InputError, shorten

# What precedes the reason: the call from Python, the condition, and the names of exceptions.
_PREAMBLE = re.compile(
    r"^(: |Original Message: |\[[A-Z_.0-9]+\] |([a-z]\w*\.)+\w*(Exception|Error)?: |\w+(Exception|Error): )+"
)
_LONGEST = 300


@contextmanager
def told(engine: str, kinds: tuple[type[Exception], ...], address: str = "") -> Iterator[None]:
    """Errors of these kinds as one of ours, with the reason in short; our own ones as they are."""
    try:
        yield
    except AldError:
        raise
    except kinds as error:
        shown = masked(address) if is_address(address) else shorten(address, 120)
        what = f"cannot read {shown!r}" if address else "failed on the data"
        raise InputError(f"{engine} {what}: {reason(error, address)}") from error


def reason(error: BaseException, address: str = "") -> str:
    """The first line of an error that says something; of an error on a worker, the last line of its own."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    ours = [line for line in lines if line.startswith("ald.errors.")]
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    said = [line for line in lines if not line.startswith(("An error occurred while calling", "at ", "Traceback"))]
    line = (ours[-1:] or causes[-1:] or said[:1] or [type(error).__name__])[0]
    line = _PREAMBLE.sub("", line) or line
    return shorten(without_secrets(line, address), _LONGEST)
