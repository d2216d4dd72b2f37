"""What the machine lacks, as errors in words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ald.errors import ShortageError


@contextmanager
def shortage_in_words() -> Iterator[None]:
    """Too little memory and too few threads are errors in words; also of libraries that cannot be loaded for it."""
    try:
        yield
    except MemoryError:
        raise ShortageError(
            "there is not enough memory: audit fewer columns, or give memory_limit (--memory-limit), from which on "
            "data is reduced or kept on disk"
        ) from None
    except RuntimeError as error:
        if "start new thread" not in str(error):
            raise
        raise ShortageError("no more threads can be started here: give threads=1 (--threads 1)") from None
    except ModuleNotFoundError:
        raise
    except ImportError as error:
        raise ShortageError(
            f"the library {error.name or 'that is needed'} is installed and cannot be loaded, for lack of memory or "
            f"because it does not fit this machine: {error}"
        ) from None
