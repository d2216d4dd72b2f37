"""Writing a file whole or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile

from ald.errors import SettingError


def write_whole(path: str, content: bytes) -> None:
    """Replaces the file in one step: whoever looks sees the old file or the new one, whatever interrupts us."""
    check_replaceable(path)
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


def check_replaceable(path: str) -> None:
    """Raises for anything but a regular file, also at the end of a link: a pipe or a device would be lost."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(mode):
        raise SettingError(f"the report {path!r} is a folder")
    if not stat.S_ISREG(mode):
        raise SettingError(
            f"{path!r} is a pipe or a device: a report goes to a regular file, and replaces it in one step"
        )


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
