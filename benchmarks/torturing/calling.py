"""Calls C modules that were built with sanitizers, again and again: a process of its own, which may die of it.

FOLDER has the modules, `calls` with what they were called with, and `progress`, where the number of calls and of
refusals is kept up to date for whoever survives.
"""

from __future__ import annotations

import importlib.util
import mmap
import pickle
import random
import sys
from importlib.machinery import ExtensionFileLoader
from pathlib import Path
from typing import Any

import numpy as np

# What a function may raise for arguments that are wrong.
REFUSALS = (ValueError, TypeError, BufferError, OverflowError, MemoryError)
NUMBERS = [-1, 0, 1, 2, 3, 7, 8, 63, 64, 65, 255, 256, 65_535, 65_536, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63 - 1,
           -(2**63)]  # fmt: skip
FLOATS = [float("nan"), float("inf"), -float("inf"), -1.0, 0.0, -0.0, 1e308, 5e-324, 0.5]
TYPES = ["u1", "i1", "u2", "u4", "i4", "i8", "u8", "f4", "f8", "V3"]


def load(path: Path) -> Any:
    loader = ExtensionFileLoader(path.stem, str(path))
    spec = importlib.util.spec_from_file_location(path.stem, path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def copied(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.copy()
    return type(value)(map(copied, value)) if isinstance(value, (tuple, list)) else value


def places(value: Any, path: tuple[int, ...] = ()) -> list[tuple[int, ...]]:
    if isinstance(value, (tuple, list)) and value:
        return [place for i, one in enumerate(value) for place in places(one, (*path, i))]
    return [path] if path else []


def replaced(value: Any, path: tuple[int, ...], change: Any) -> Any:
    if not path:
        return change(value)
    items = list(value)
    items[path[0]] = replaced(items[path[0]], path[1:], change)
    return type(value)(items)


def changed(value: Any, rng: random.Random) -> Any:
    """Something that is not what belongs there, or nearly."""
    if rng.random() < 0.03:
        return rng.choice([None, "", "x", b"abc", 1.5, [], (), {}, np.zeros(0), np.zeros((2, 2)), 2**100, True])
    if isinstance(value, np.ndarray):
        return _changed_array(value, rng)
    if isinstance(value, bool) or value is None:
        return rng.choice([None, True, False, np.zeros(3, np.int64)])
    if isinstance(value, int):
        return rng.choice([value + 1, value - 1, value * 2, -value, rng.choice(NUMBERS)])
    return rng.choice(FLOATS)


def _changed_array(array: Any, rng: random.Random) -> Any:
    way, n = rng.randrange(9), len(array)
    array = array.copy()
    if way == 0:
        return array[: rng.randrange(n + 1)].copy()
    if way == 1:
        return np.concatenate([array, array[: rng.choice([1, 2, n])]])
    if way == 2:
        kind = rng.choice(TYPES)
        return np.zeros(array.shape, kind) if "V" in (kind[0], array.dtype.kind) else array.astype(kind)
    if way == 3:
        return rng.choice([array[::2], array[::-1], np.asfortranarray(array), array.reshape(-1)])
    if way == 4:
        array.flags.writeable = False
        return array
    if way == 5 and n:
        flat = array.reshape(-1)
        return flat[np.array([rng.randrange(len(flat)) for _ in range(len(flat))], np.int64)].reshape(array.shape)
    if way == 6:
        return np.zeros_like(array)
    flat = array.reshape(-1)
    for _ in range(rng.choice([1, 1, 2, 5]) if len(flat) else 0):
        at = rng.randrange(len(flat))
        if array.dtype.kind in "fV":
            flat[at] = b"xyz" if array.dtype.kind == "V" else rng.choice(FLOATS)
        else:
            number = rng.choice([*NUMBERS, n, n - 1, n + 1, int(flat[at]) + 1, int(flat[at]) - 1])
            flat[at] = np.array(number % 2**64, np.uint64).astype(array.dtype)
    return array


def mutated(arguments: Any, rng: random.Random) -> Any:
    """The arguments as they were in one of five calls, else with up to three changes."""
    out = copied(arguments)
    if rng.random() < 0.2:
        return out
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        found = places(out)
        if not found:
            return out
        if rng.random() < 0.02:
            out = out[: rng.randrange(len(out) + 1)]
        else:
            out = replaced(out, rng.choice(found), lambda value: changed(value, rng))
    return out


def words(array: Any) -> Any:
    """The items of an array as C reads them: numbers without a sign, whatever their type."""
    return array.reshape(-1).view(f"u{array.itemsize}")


def _codes_fit(codes: Any, sizes: Any) -> bool:
    return all(not len(one) or int(words(one).max()) < int(size) for one, size in zip(codes, sizes, strict=False))


def _below(array: Any, n: int) -> bool:
    return not array.size or int(words(array).max()) < n


def _read(n_words: int, rows: Any, ranges: Any = None) -> Any:
    """The packed rows that a call reads: all of them, or those from starts to ends. Others may hold anything."""
    told = words(rows)
    n_words = max(n_words, 1)
    told = told[: len(told) // n_words * n_words].reshape(-1, n_words)
    if ranges is None:
        return told
    starts, ends = (words(one).view(np.int64).tolist() for one in ranges)
    return np.concatenate([told[:0], *(told[start:end] for start, end in zip(starts, ends, strict=True))])


def _fields_fit(shape: Any, arrays: Any, rows: Any, n_cells: int, ranges: Any = None) -> bool:
    """Whether packed rows have codes up to the size of their field, cells below n_cells, and not too many people."""
    n_words, cell_bits, weight_word, weight_shift = shape
    if not 0 <= cell_bits <= 16:
        return True
    told = _read(n_words, rows, ranges)
    word, shift, bits, size = (words(one).astype(np.int64).tolist() for one in arrays[:4])
    for w, s, b, top in zip(word, shift, bits, size, strict=True):
        if not (0 <= top < 2**32 and 0 <= b <= 33 and 0 <= s < 64):
            return True
        if (told[:, w] >> np.uint64(s) & np.uint64(2**b - 1) > np.uint64(top)).any():
            return False
    if weight_word >= 0 and (told[:, weight_word] >> np.uint64(weight_shift)).sum() > 2**40:
        return False
    return bool((told[:, 0] & np.uint64(2**cell_bits - 1) < np.uint64(n_cells)).all())


def _amounts_fit(shape: Any, arrays: Any, rows: Any, ranges: Any = None) -> bool:
    """Whether packed rows of amounts have codes up to the size of their field, and fewer than 2^31 people."""
    n_words, _, weight_word, _ = shape
    people = _read(n_words, rows, ranges)[:, -1] >> np.uint64(32)
    return (weight_word < 0 or people.sum() < 2**31) and _fields_fit((n_words, 0, -1, 63), arrays, rows, 1, ranges)


def _parted(a: Any) -> bool:
    sizes = np.diff(words(a[7]).astype(np.int64))
    fit = all(_below(a[0][c], int(size)) for c, size in zip(words(a[5]).tolist(), sizes, strict=True))
    return fit and _below(a[1], a[11])


def _covered(a: Any) -> bool:
    """Whether tables cover every code of their column."""
    at = words(a[6]).view(np.int64).tolist()
    return all(t < 0 or _below(a[0][c], len(a[7]) - t) for c, t in zip(words(a[3]).tolist(), at, strict=True))


def _few(array: Any) -> bool:
    """Whether these are numbers of people, of whom there are fewer than 2^24 in all."""
    return array is None or not array.size or bool((words(array) < 2**24).all() and words(array).sum() < 2**24)


def _moderate(array: Any) -> bool:
    """Whether these are amounts as they are coded."""
    return bool(((array > -(2**31)) & (array < 2**31)).all())


# What modules say that they trust, and do not check: codes, cells and row numbers within their sizes, and numbers of
# people that add up. A call that breaks this is not made. Whatever else is wrong they have to find.
TRUSTED: dict[tuple[str, str], Any] = {
    ("_kernel", "count"): lambda a: (
        _codes_fit(a[0], words(a[7])) and _below(a[1], a[8]) and _below(a[2], len(a[1])) and _few(a[3])
    ),
    ("_kernel", "count_amounts"): lambda a: (
        _codes_fit(a[0], words(a[7])) and _below(a[2], len(a[1])) and _few(a[3]) and _moderate(words(a[1]).view("i8"))
    ),
    ("_kernel", "partition"): _parted,
    ("_kernel", "members"): lambda a: _covered(a) and _few(a[1]),
    ("_tables", "tables"): lambda a: _codes_fit(a[0], words(a[1])) and _below(a[2], a[3]) and _few(a[4]) and _few(a[8]),
    ("_lanes", "count"): lambda a: _codes_fit(a[0], words(a[1])),
    ("_draw", "draw"): lambda a: _few(a[1]),
    ("_lanes", "best"): lambda a: _few(a[0]),
    ("_lanes", "best_forms"): lambda a: _few(a[0]) and _few(a[1]),
    ("_lanes", "best_heads"): lambda a: _few(a[0]) and _few(a[2]) and _few(a[4]),
    ("_evidence", "statistic"): lambda a: all(map(_few, a[:4])),
    ("_packed", "count"): lambda a: _fields_fit(a[0], a[2], a[2][6], a[1], a[2][7:9]),
    ("_packed", "visit"): lambda a: _fields_fit(a[0], a[5], a[5][21], a[1], a[5][6:8]),
    ("_packed", "descend"): lambda a: _fields_fit(a[0], a[6], a[6][6], a[1]),
    ("_packed", "count_amounts"): lambda a: _amounts_fit(a[0], a[1], a[1][6], a[1][7:9]),
    ("_packed", "visit_amounts"): lambda a: _amounts_fit(a[0], a[3], a[3][21], a[3][6:8]),
    ("_packed", "descend_amounts"): lambda a: _amounts_fit(a[0], a[5], a[5][6]),
    ("_packed", "sum_amounts"): lambda a: _amounts_fit(a[0], [a[1][0][:0]] * 4, a[1][0], a[1][1:3]),
    ("_packed", "select"): lambda a: a[1][2] is None or _few(a[1][2]),
}


def is_trusted(key: tuple[str, str], arguments: Any) -> bool:
    """Whether a call keeps what its function trusts; where that cannot be told, the function must refuse it."""
    try:
        return key not in TRUSTED or bool(TRUSTED[key](arguments))
    except (ValueError, TypeError, IndexError, AttributeError, OverflowError):
        return True


def main() -> int:
    folder, seed, n = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    modules = {path.stem: load(path) for path in sorted(folder.glob("*.so"))}
    calls = pickle.loads((folder / "calls").read_bytes())  # noqa: S301 (our own)
    keys = sorted(key for key, own in calls.items() if own)
    rng = random.Random(seed)
    with (folder / "progress").open("r+b") as file, (folder / "last").open("w+b") as last:
        told = np.frombuffer(mmap.mmap(file.fileno(), 16), np.int64)
        last.write(b" " * 40)
        last.flush()
        name = mmap.mmap(last.fileno(), 40)
        for _ in range(n):
            key = rng.choice(keys)
            name[:] = f"{key[0]}.{key[1]}".ljust(40).encode()
            arguments = mutated(rng.choice(calls[key]), rng)
            if not is_trusted(key, arguments):
                continue
            if rng.random() < 0.05 and hasattr(modules[key[0]], "use_vectors"):
                modules[key[0]].use_vectors(rng.randrange(4))
            told[0] += 1
            try:
                getattr(modules[key[0]], key[1])(*arguments)
            except REFUSALS:
                told[1] += 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
