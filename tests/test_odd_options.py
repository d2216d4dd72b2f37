"""Whatever is given as an option, only errors in words come back."""

from __future__ import annotations

import datetime
import decimal
import inspect
import math
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
RNG = np.random.default_rng(0)
PEOPLE = {
    "sex": RNG.choice(["F", "M"], ROWS).tolist(),
    "age": RNG.integers(18, 80, ROWS).tolist(),
    "y": RNG.integers(0, 2, ROWS).tolist(),
    "p": RNG.integers(0, 2, ROWS).tolist(),
}


class Silent:
    """Cannot be shown, compared, hashed or held for true."""

    def __repr__(self) -> str:
        raise RuntimeError

    __str__ = __repr__
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    def __bool__(self) -> bool:
        raise RuntimeError


ODD: dict[str, Any] = {
    "true": True,
    "five": 5,
    "minus one": -1,
    "2**63": 2**63,
    "10**5000": 10**5000,
    "nan": math.nan,
    "infinity": math.inf,
    "text": "nosuch",
    "empty": "",
    "zero": "a\0b",
    "half a pair": "\ud800",
    "bytes": b"sex",
    "list of numbers": [1, 2],
    "list of lists": [["sex"]],
    "set": {"sex"},
    "dict": {"sex": [["a"]]},
    "dict of none": {None: None},
    "object": object(),
    "silent": Silent(),
    "type": list,
    "0-d": np.array("sex"),
    "array": np.array(["sex", "age"]),
    "2-d": np.zeros((3, 2)),
    "numpy": np.int64(3),
    "NA": pd.NA,
    "NaT": pd.NaT,
    "series": pd.Series([1, 2]),
    "index": pd.Index(["sex"]),
    "frame": pd.DataFrame({"a": [1]}),
    "polars": pl.Series([1]),
    "arrow": pa.scalar(1),
    "decimal": decimal.Decimal("sNaN"),
    "complex": 1j,
    "date": datetime.date(2020, 1, 1),
    "generator": (letter for letter in "ab"),
    "ellipsis": ...,
    "search": ald.Search(5, trees="x", alpha=pd.NA),  # type: ignore[arg-type]
    "trees": ald.Search(trees=2**63),
    "split": ald.Split(fraction="x", repeats=None),  # type: ignore[arg-type]
    "repeats": ald.Split(repeats=2**63),
    "given": ald.Given(5, bins=2**63, in_criteria=3),  # type: ignore[arg-type]
    "weights": ald.SurveyWeights(np.array(["w"]), counts=3),  # type: ignore[arg-type]
}

AUDIT = [name for name in inspect.signature(ald.audit).parameters if name not in ("data", "progress")]
COMPARE = [name for name in inspect.signature(ald.compare).parameters if name != "data"]
LOOK = [name for name in inspect.signature(ald.look).parameters if name != "data"]


def _only_our_errors(call: Callable[..., object], option: str, **others: Any) -> None:
    for value in ODD.values():
        with suppress(ald.AldError):
            call(**others | {option: value})


@pytest.mark.parametrize("name", AUDIT)
def test_audit(name: str) -> None:
    """No value of any parameter of an audit raises anything but an error in words, and none runs for ever."""
    question = {"prediction": "p", "truth": "y"} if name in ("prediction", "truth") else {"outcome": "y"}
    _only_our_errors(ald.audit, name, data=PEOPLE, **question)


@pytest.mark.parametrize("name", COMPARE)
def test_compare(name: str) -> None:
    """Nor does any of a comparison."""
    _only_our_errors(ald.compare, name, data=PEOPLE, predictions=["p", "age"], truth="y")


@pytest.mark.parametrize("name", LOOK)
def test_look(name: str) -> None:
    """Nor of a look."""
    _only_our_errors(ald.look, name, data=PEOPLE)


@pytest.mark.parametrize("name", ["name", "columns"])
def test_profile(name: str) -> None:
    """Nor of a profile."""
    of = {"name": "nyc-ll144", "columns": {"sex": "sex"}, "outcome": "y", "favourable": 1}
    _only_our_errors(lambda **how: ald.profile(how.pop("name"), PEOPLE, **how), name, **of)


@pytest.mark.parametrize("name", ["query", "engine", "memory_limit", "threads", "kinds"])
def test_source(name: str) -> None:
    """Nor of a source."""
    _only_our_errors(lambda **how: ald.audit(ald.source(PEOPLE, **how), outcome="y"), name)


@pytest.mark.parametrize("name", [name for name, value in ODD.items() if not callable(value)])
def test_progress(name: str) -> None:
    """What is to be told of progress must be a function."""
    with pytest.raises(ald.SettingError, match="progress must be a function"):
        ald.audit(PEOPLE, outcome="y", progress=ODD[name])


@pytest.mark.parametrize(
    ("option", "why"),
    [
        ({"split": ald.Split(repeats=10_001)}, "repeats must be at most 10,000 .each is an audit of its own"),
        ({"search": ald.Search(trees=100_001)}, "trees must be at most 100,000"),
        ({"given": ald.Given("age", bins=1001)}, "given_bins must be at most 1,000"),
        ({"groups": 10**400}, "groups must be at most 1,000,000"),
        ({"seed": 2**63}, "seed must be at most 9,223,372,036,854,775,807 .more has no place in 64 bits"),
    ],
)
def test_bounds_have_reasons(option: dict[str, Any], why: str) -> None:
    """What would run for ever or has no place in a document is refused, and the message says why."""
    with pytest.raises(ald.SettingError, match=why):
        ald.audit(PEOPLE, outcome="y", **option)
