"""Columns that identify people, once or with several rows each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ald
from ald.data.identifiers import FEW, Occurrences, cluster_hint, repeated_reason
from ald.data.inputs.reading import Reading
from tests.flat import audit_flat
from tests.tables import Columns, people


def visits(times: int, n: int = 1000, seed: int = 0) -> Columns:
    """So many visits of each of some patients, under a number and under a name."""
    rng = np.random.default_rng(seed)
    patient = np.repeat(np.arange(n), times)
    return {
        "number": 7 * patient,
        "name": [f"patient {i}" for i in patient],
        "age": rng.integers(18, 80, n)[patient],
        "score": rng.normal(size=n * times),
        "y": rng.integers(0, 2, n * times),
    }


def told(found: ald.Audit) -> tuple[dict[str, str], list[str]]:
    """The columns left out, and the warnings that offer a cluster."""
    left_out = {entry.name: entry.reason for entry in found.data_summary.left_out}
    return left_out, [warning for warning in found.warnings if "cluster=" in warning]


def test_identifiers_that_repeat_a_few_times() -> None:
    """Two rows of each patient: number and name are left out, and the audit offers them as clusters."""
    left_out, hints = told(ald.audit(visits(2), outcome="y", search=ald.Search(trees=1)))
    assert left_out["number"] == (
        "identifier-like (1,000 different values, nearly each of them in exactly 2 of 2,000 rows)"
    )
    assert left_out["name"] == left_out["number"]
    assert len(hints) == 2
    assert "cluster='number'" in hints[0]
    assert "cluster='name'" in hints[1]


def test_identifiers_that_repeat_often() -> None:
    """Eight rows of each patient may describe a group: the columns stay, and are offered as clusters."""
    left_out, hints = told(ald.audit(visits(8, 100), outcome="y", search=ald.Search(trees=1)))
    assert left_out == {}
    assert [hint.split("'")[1] for hint in hints] == ["number", "name"]


def test_a_single_value() -> None:
    """A column of words with a value in one row only says so."""
    columns = people() | {"note": ["x"] + [None] * (len(people()["y"]) - 1)}
    assert told(ald.audit(columns, outcome="y", search=ald.Search(trees=1)))[0] == {
        "note": "identifier-like (only one row has a value)"
    }


def test_near_identifiers() -> None:
    """A column of words whose values are in a few rows each, not equally many, is left out; numbers like it are not."""
    rng = np.random.default_rng(0)
    n = 4000
    case = np.repeat(np.arange(n), rng.integers(1, 6, n))[:n]
    columns = {
        "case": [f"c{i}" for i in case],
        "income": rng.integers(0, 3000, n),
        "age": rng.integers(18, 80, n),
        "y": rng.integers(0, 2, n),
    }
    left_out, hints = told(ald.audit(columns, outcome="y", search=ald.Search(trees=1)))
    assert left_out == {"case": f"identifier-like ({len(set(case)):,} different values in 4,000 rows)"}
    assert len(hints) == 1
    assert "cluster='case'" in hints[0]


@pytest.mark.parametrize("options", [{"attributes": ["name", "age"]}, {"kinds": {"name": "nominal"}}])
def test_wanted_columns_stay(options: dict[str, Any]) -> None:
    """A column that is named, in attributes or kinds, is audited whatever it looks like."""
    found = audit_flat(visits(2), outcome="y", trees=1, **options)
    assert "name" in [entry.name for entry in found.data_summary.attributes]


def test_no_hint_where_clusters_are_known() -> None:
    """With a cluster, another column that identifies people is left out without advice."""
    left_out, hints = told(ald.audit(visits(2), outcome="y", search=ald.Search(trees=1), cluster="number"))
    assert set(left_out) == {"name"}
    assert hints == []


def test_ordinary_columns_stay() -> None:
    """Columns of people, of towns with a long tail, and of equally large regions are no identifiers."""
    rng = np.random.default_rng(1)
    n = 3000
    columns = people(n) | {
        "town": [f"t{int(i)}" for i in rng.zipf(1.6, n) % 5000],
        "region": [f"r{i % 50}" for i in range(n)],
        "income": rng.integers(0, 2500, n),
    }
    left_out, hints = told(ald.audit(columns, outcome="y", search=ald.Search(trees=1)))
    assert left_out == {}
    assert hints == []


@pytest.mark.parametrize(
    ("sizes", "reason", "hint"),
    [
        ([2] * 30, True, True),
        ([2] * 29, False, False),
        ([FEW] * 200, False, True),
        ([20] * 40, False, True),
        ([21] * 40, False, False),
        ([3] * 95 + [4] * 5, True, True),
        ([3] * 94 + [4] * 6, False, False),
        ([1] * 500, False, False),
    ],
)
def test_numbers_that_repeat(sizes: list[int], reason: bool, hint: bool) -> None:
    """Whole numbers identify people with several rows if nearly all of at least 30 are in equally few rows."""
    found = Occurrences.of(np.array(sizes))
    assert (repeated_reason(found, is_number=True) != "", cluster_hint("x", found, is_number=True) != "") == (
        reason,
        hint,
    )


@pytest.mark.parametrize("words", [True, False])
@pytest.mark.parametrize("where", ["file", "engine"])
def test_large_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, words: bool) -> None:
    """Data that is counted before it is read leaves them out, with the same advice."""
    import duckdb

    columns = pd.DataFrame(visits(2, 6000)).drop(columns="number" if words else "name")
    if where == "file":
        monkeypatch.setattr(Reading, "is_large", lambda self, rows, n: True)
        data: Any = str(tmp_path / "x.parquet")
        pq.write_table(pa.table(columns), data)
    else:
        data = duckdb.from_df(columns)
    left_out, hints = told(ald.audit(data, outcome="y", search=ald.Search(trees=1)))
    assert list(left_out) == ["name" if words else "number"]
    assert len(hints) == 1
