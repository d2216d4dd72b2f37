"""Whatever a column holds, only errors in words come back."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ald

ROWS = 200
HALF = ROWS // 2
RNG = np.random.default_rng(0)
SEX, Y = RNG.choice(["F", "M"], ROWS), RNG.integers(0, 2, ROWS)


class Hostile:
    """A value that raises whatever is asked of it."""

    def __init__(self, *how: str) -> None:
        self.how = how

    def __str__(self) -> str:
        if "str" in self.how:
            raise RuntimeError
        return "a"

    def __hash__(self) -> int:
        if "hash" in self.how:
            raise RuntimeError
        return 1

    def __eq__(self, other: object) -> bool:
        if "eq" in self.how:
            raise RuntimeError
        return self is other

    def __ne__(self, other: object) -> Any:
        return np.zeros(2) if "ne" in self.how else self is not other


def _beyond_unicode() -> np.ndarray[Any, Any]:
    texts = np.array(["ab", "cd"] * HALF)
    texts.view(np.uint32)[0] = 0x110000
    return texts


def _broken_utf8() -> pa.Array:
    offsets = np.array([0, 1, 2], np.int32).tobytes()
    return pa.Array.from_buffers(pa.string(), 2, [None, pa.py_buffer(offsets), pa.py_buffer(b"\xff\xfe")])


BROKEN = pa.chunked_array([_broken_utf8()] * HALF)
ODD: dict[str, Callable[[], Any]] = {
    "beyond Unicode": _beyond_unicode,
    "half pairs": lambda: np.array(["a\ud800", "b"] * HALF),
    "0-d": lambda: np.array(5),
    "2-d": lambda: np.zeros((ROWS, 2)),
    "arrays": lambda: [np.array([1, 2]), 3] * HALF,
    "Int128": lambda: pl.Series([2**100, 1] * HALF, dtype=pl.Int128),
    "Int128 with gaps": lambda: pl.Series([2**100, None] * HALF, dtype=pl.Int128),
    "lists": lambda: pl.Series([[1], [2]] * HALF),
    "broken UTF-8": lambda: BROKEN,
    "broken categories": lambda: pa.chunked_array(
        [pa.DictionaryArray.from_arrays(pa.array([0, 1]), _broken_utf8())] * HALF
    ),
    "broken in pandas": lambda: pd.Series(pd.arrays.ArrowExtensionArray(BROKEN)),
    "not to be shown": lambda: [Hostile("str") for _ in range(ROWS)],
    "not to be compared": lambda: [Hostile("eq") for _ in range(ROWS)],
    "not to be hashed": lambda: [Hostile("hash") for _ in range(ROWS)],
    "unlike everything": lambda: [Hostile("ne") for _ in range(ROWS)],
    "months": lambda: np.ones(ROWS, "m8[M]"),
    "far years": lambda: np.full(ROWS, 2**60, "M8[Y]"),
    "no dates": lambda: np.array(["NaT"] * ROWS, "M8[D]"),
    "masked": lambda: np.ma.array(np.arange(ROWS), mask=True),
    "long numbers": lambda: [10**5000, 10**5000 + 1] * HALF,
    "signalling": lambda: [decimal.Decimal("sNaN"), decimal.Decimal(1)] * HALF,
    "zones": lambda: [datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC), datetime.datetime(2020, 1, 2)] * HALF,
    "complex": lambda: np.ones(ROWS) * 1j,
    "records": lambda: np.zeros(ROWS, [("a", int)]),
    "generator": lambda: (i for i in range(ROWS)),
    "set": lambda: set(range(ROWS)),
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("role", ["attribute", "outcome", "values", "weights", "cluster", "given", "split", "look"])
def test_any_column_in_any_role(name: str, role: str) -> None:
    """A column that cannot be read is named in an error in words; any other is audited."""
    odd, people = ODD[name](), {"sex": SEX, "y": Y}
    ask = {"outcome": {"outcome": "x", "favourable": 1}, "values": {"outcome": odd, "favourable": 1}}
    question = ask.get(role, {"outcome": "y"} if role in ("attribute", "look") else {"outcome": "y", role: "x"})
    with suppress(ald.AldError):
        if role == "look":
            str(ald.look(people | {"x": odd}))
        else:
            ald.audit(people if role == "values" else people | {"x": odd}, **question).to_json()


@pytest.mark.parametrize("name", ["broken UTF-8", "broken categories", "broken in pandas", "beyond Unicode"])
def test_what_is_no_text_is_said(name: str) -> None:
    """Bytes that are no text are an error that names the column and quotes no value."""
    with pytest.raises(ald.InputError, match=r"column 'x' holds text .* Unicode"):
        ald.audit({"y": Y, "x": ODD[name]()}, outcome="y")


def test_numbers_of_128_bits() -> None:
    """Whole numbers of 128 bits are numbers, or words where floating point would merge them."""
    wide = pl.Series([2**100, 2**100 + 1] * HALF, dtype=pl.Int128)
    assert ald.look({"y": Y, "x": pl.Series([2**100, 1] * HALF, dtype=pl.Int128)}).column("x").kind == "numeric"
    assert ald.look({"y": Y, "x": wide}).column("x").kind == "nominal"


def test_a_factor_without_values_is_one_stratum() -> None:
    """A legitimate factor of which every value is missing parts nobody from anybody."""
    plain = ald.audit({"sex": SEX, "y": Y}, outcome="y")
    given = ald.audit({"sex": SEX, "y": Y, "x": np.full(ROWS, np.nan)}, outcome="y", given="x")
    assert given.data_summary.strata == 1
    assert given.data_summary.rows == plain.data_summary.rows
