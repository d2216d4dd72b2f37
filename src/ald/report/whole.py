"""Writing a file whole or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile

from ald._core.leftovers import removed, removing_when_ended
from ald.errors import SettingError

try:
    import fcntl
except ImportError:  # Windows: there is nothing to tell a file that is written from one that was left
    fcntl = None  # type: ignore[assignment]

_PREFIX = ".ald-"


def write_whole(path: str, content: bytes) -> None:
    """Replaces the file in one step: whoever looks sees the old file or the new one, whatever interrupts us."""
    check_replaceable(path)
    target = os.path.realpath(path)
    _sweep(os.path.dirname(target))
    handle, temporary = _temporary(os.path.dirname(target))
    lock = os.dup(handle)  # held until the file is in its place
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if fcntl is None:
            os.close(lock)  # Windows moves no open file
        mode = os.stat(target).st_mode & 0o777 if os.path.exists(target) else 0o666 & ~_umask()
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException as error:
        with contextlib.suppress(FileNotFoundError):  # already in its place
            os.unlink(temporary)
        if isinstance(error, OSError) and error.filename is None:  # a full disk does not say whose
            raise OSError(error.errno, error.strerror, path) from None
        raise
    finally:
        removed(temporary)
        if fcntl is not None:
            os.close(lock)


def check_replaceable(path: str) -> None:
    """Raises for anything but a regular file, also at the end of a link: a pipe or a device would be lost."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(mode):
        raise SettingError(f"the report {path!r} is a folder")
    if stat.S_ISREG(mode) and not (mode & 0o222 and os.access(path, os.W_OK)):
        raise SettingError(f"the report {path!r} is there and may not be written to: remove it, or name another file")
    if not stat.S_ISREG(mode):
        raise SettingError(
            f"{path!r} is a pipe or a device: a report goes to a regular file, and replaces it in one step"
        )


def _temporary(folder: str) -> tuple[int, str]:
    """A new file, locked while its process lives, so that nobody takes it for one that was left behind."""
    while True:
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=_PREFIX)
        removing_when_ended(temporary)
        if fcntl is None:
            return handle, temporary
        with contextlib.suppress(OSError):  # file systems without locks
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        if os.path.exists(temporary):
            return handle, temporary
        os.close(handle)  # swept between the two steps


def _sweep(folder: str) -> None:
    """Removes what a killed process of ours left in the folder: nothing that anyone writes, and nobody else's."""
    if fcntl is None:
        return
    with contextlib.suppress(OSError):
        left = [entry for entry in os.scandir(folder) if entry.name.startswith(_PREFIX)]
        for entry in left:
            if entry.is_file(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_uid == os.geteuid():
                _remove_if_left(entry.path)


def _remove_if_left(path: str) -> None:
    assert fcntl is not None
    with contextlib.suppress(OSError), open(path, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.unlink(path)


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
