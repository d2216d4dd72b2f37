"""Texts as codes, without an object per row.

NumPy's arrays of text have a fixed width and are coded character by character; texts in Arrow's buffers by the kernel.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from ald._core import kernels
from ald._core.arrays import AnyArray, IntArray

# Characters from which on a dictionary of Python's texts is faster.
_WIDEST = 16
# Numbers of texts so far times characters that are told apart by counting, per row.
_DENSE_KEYS = 4


def code_texts(texts: np.ndarray[Any, Any]) -> tuple[IntArray, list[str]] | None:
    """Codes into the distinct texts, in the order of their characters; None where that would not be fast.

    >>> code_texts(np.array(["no", "yes", "no"]))
    (array([0, 1, 0]), ['no', 'yes'])
    """
    width = texts.dtype.itemsize // 4
    if texts.dtype.kind != "U" or not texts.dtype.isnative or not 0 < width <= _WIDEST or len(texts) == 0:
        return None
    characters = np.ascontiguousarray(texts).view(np.uint32).reshape(len(texts), width)
    codes: AnyArray = np.zeros(len(texts), np.int64)
    n = 1
    for place in range(width):
        character = characters[:, place]
        size = int(character.max()) + 1
        if n * size > _DENSE_KEYS * len(texts) + 2**16:
            return None
        keys = codes * size + character
        present = np.bincount(keys, minlength=n * size) > 0
        codes, n = (np.cumsum(present) - 1)[keys], int(np.count_nonzero(present))
    first = np.empty(n, np.int64)
    first[codes] = np.arange(len(texts))
    return codes, texts[first].tolist()


def has_characters(texts: np.ndarray[Any, Any]) -> bool:
    """Whether all characters of an array of text are some: arrays made of bytes may hold numbers that are none.

    >>> has_characters(np.array(["no", "yes"]))
    True
    """
    if texts.size == 0 or texts.dtype.itemsize == 0:
        return True
    numbers = np.ascontiguousarray(texts).view(np.dtype(np.uint32).newbyteorder(texts.dtype.byteorder))
    return int(numbers.max()) <= sys.maxunicode


# The width of offsets, offsets, bytes and validity as buffers, and the first row and the number of rows in them.
Chunk = tuple[int, Any, Any, Any, int, int]


def code_chunks(chunks: Sequence[Chunk]) -> tuple[IntArray, IntArray] | None:
    """Codes of texts in Arrow's buffers, -1 for missing ones, and the rows where each distinct text is met first.

    None where there are very many of them, or no kernel.
    """
    kernel = kernels.texts()
    if kernel is None:
        return None
    codes = np.empty(sum(chunk[-1] for chunk in chunks), np.int64)
    first = np.empty(kernel.MOST_TEXTS, np.int64)
    n = kernel.code(list(chunks), codes, first)
    return None if n < 0 else (codes, first[:n])
