"""What an engine says when it fails, in one line and without passwords."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from ald.data.inputs.addresses import is_address, mask_secrets, without_secrets
from ald.errors import AldError, InputError, shorten

# What precedes the reason: the call from Python, the condition, and the names of exceptions.
_PREAMBLE = re.compile(
    r"^(: |Original Message: |\[[A-Z_.0-9]+\] |([a-z]\w*\.)+\w*(Exception|Error)?: |\w+(Exception|Error): )+"
)
_LONGEST = 300


@contextmanager
def translate_errors(engine: str, kinds: tuple[type[Exception], ...], address: str = "") -> Iterator[None]:
    """Errors of these kinds as one of ours, with the reason in short; our own ones as they are."""
    try:
        yield
    except AldError:
        raise
    except kinds as error:
        shown = mask_secrets(address) if is_address(address) else shorten(address, 120)
        what = f"cannot read {shown!r}" if address else "failed on the data"
        raise InputError(f"{engine} {what}: {reason(error, address)}") from error


def reason(error: BaseException, address: str = "") -> str:
    """The first line of an error that says something; of an error on a worker, what was raised there."""
    whole = str(error)
    lines = [line.strip() for line in whole.splitlines() if line.strip()]
    # What a worker raised is the first line after its last traceback that is not part of it.
    after = whole.rpartition("Traceback (most recent call last):")[2] if "Traceback (most" in whole else ""
    raised = [line for line in after.splitlines() if re.match(r"[A-Za-z_][\w.]*(: |$)", line)]
    ours = [line for line in lines if line.startswith("ald.errors.")]
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    said = [line for line in lines if not line.startswith(("An error occurred while calling", "at ", "Traceback"))]
    line = (ours[-1:] or raised[:1] or causes[-1:] or said[:1] or [type(error).__name__])[0]
    line = _PREAMBLE.sub("", line) or line
    if line == "No module named 'ald'":
        line += ": workers need ald-audit too (PYSPARK_PYTHON says which Python they run)"
    return shorten(without_secrets(line, address), _LONGEST)
