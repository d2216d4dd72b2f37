"""Writing a file whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile


def write_whole(path: str, content: bytes) -> None:
    """Replaces the file in one step: whoever looks sees the old file or the new one, whatever interrupts us."""
    target = os.path.realpath(path)
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(target), prefix=".ald-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        mode = os.stat(target).st_mode & 0o777 if os.path.exists(target) else 0o666 & ~_umask()
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException as error:
        with contextlib.suppress(FileNotFoundError):  # already in its place
            os.unlink(temporary)
        if isinstance(error, OSError) and error.filename is None:  # a full disk does not say whose
            raise OSError(error.errno, error.strerror, path) from None
        raise


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
