"""Criteria as code: pandas and SQL pick exactly the members."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import ald
from ald import Criterion, Interval, Levels
from ald.data.words import NO_VALUE
from ald.groups.criterion import visible
from ald.report.code import to_pandas, to_sql
from tests.tables import people

HOSTILE = [
    "plain", "two words", 'double " quote', "single ' quote", "semi; DROP TABLE t; --", "<script>alert(1)</script>",
    "back\\slash", "{{ x }}", "`tick`", "%s", "ünï→☃", "x" * 5000, "null", "TRUE", "1e5", "nan",
]  # fmt: skip
UNSEEN = ["new\nline", "tab\t", "\x1b[31mred", "\u202eright to left", "nul\x00byte", "\ufeff"]


def by_pandas(criterion: Criterion, df: pd.DataFrame) -> list[int]:
    code = to_pandas(criterion)
    assert visible(code) == code
    return list(eval(code, {"df": df, "pd": pd}).index)


def by_sql(criterion: Criterion, df: pd.DataFrame) -> list[int]:
    code = to_sql(criterion)
    assert code is not None
    assert visible(code) == code
    table = df.assign(**{"row number": range(len(df))})
    with duckdb.connect() as connection:
        connection.register("t", table)
        return [row[0] for row in connection.execute(f'SELECT "row number" FROM t {code} ORDER BY 1').fetchall()]


def members(criterion: Criterion, df: pd.DataFrame) -> list[int]:
    return np.flatnonzero(criterion.mask(df)).tolist()


@pytest.mark.parametrize(
    ("name", "level"),
    [*((name, HOSTILE[i - 3]) for i, name in enumerate(HOSTILE)), *(("name", level) for level in [*UNSEEN, ""])],
)
def test_hostile_names_and_levels(name: str, level: str) -> None:
    """Whatever names and levels hold, both codes pick the members and nothing else."""
    df = pd.DataFrame({name: [level, "other", None, level + "x"]})
    cases: list[tuple[tuple[str | None, ...], list[int]]] = [
        ((level,), [0]),
        ((level, None), [0, 2]),
        (("other", level), [0, 1]),
    ]
    # A word for "no value" is missing to us where no condition names it, and a word to pandas.
    cases += [] if level.casefold() in NO_VALUE else [((None,), [2])]
    for levels, expected in cases:
        criterion = Criterion([Levels(name, "nominal", levels)])
        assert members(criterion, df) == expected
        assert by_pandas(criterion, df) == expected
        if "\x00" not in level:  # DuckDB cuts pandas texts there
            assert by_sql(criterion, df) == expected


@given(st.text(min_size=1, max_size=8), st.text(max_size=8))
def test_any_names_and_levels(name: str, level: str) -> None:
    """Both codes pick the members for whatever text Hypothesis finds."""
    assume(name != "row number" and name.casefold() not in ("rowid", "row number"))
    df = pd.DataFrame({name: pd.Series([level, "other", None], dtype=object)})
    criterion = Criterion([Levels(name, "nominal", (level,))])
    assert by_pandas(criterion, df) == members(criterion, df)
    if to_sql(criterion) is None:
        assert visible(name) != name
    elif "\x00" not in level:
        assert by_sql(criterion, df) == members(criterion, df)


@pytest.mark.parametrize("name", UNSEEN)
def test_names_that_sql_cannot_show(name: str) -> None:
    """A column whose name has unseen characters has no SQL, and pandas code that shows them as escapes."""
    df = pd.DataFrame({name: ["a", "b"]})
    criterion = Criterion([Levels(name, "nominal", ("a",))])
    assert to_sql(criterion) is None
    assert by_pandas(criterion, df) == [0]


@pytest.mark.parametrize(
    "condition",
    [
        Interval("x", "numeric", lower=1.5),
        Interval("x", "numeric", upper=-0.25),
        Interval("x", "numeric", lower=-1.0, upper=2.0),
        Interval("d", "date", lower=18000.0),
        Interval("d", "date", lower=18000.0, upper=18400.0),
        Interval("t", "datetime", upper=1_600_000_000_000_000.0),
        Levels("b", "boolean", ("True",)),
        Levels("b", "boolean", ("False", None)),
        Levels("i", "nominal", ("1", "3")),
        Levels("f", "nominal", ("1", "2.5")),
        Levels("i", "ordinal", ("2",)),
        Interval.point("i", "numeric", 2.0),
        Interval.point("d", "date", 18053.0),
        Interval("i", "numeric", 1.0, 3.0, "left"),
        Interval("i", "numeric", 1.0, 2.0, "both"),
        Interval("i", "numeric", 0.0, 2.0, "neither"),
        Interval("m", "numeric"),
        Levels("i", "nominal", ("1", "3"), negated=True),
        Levels("b", "boolean", ("True",), negated=True),
        Levels("b", "boolean", (None,), negated=True),
    ],
)
def test_every_kind(condition: Any) -> None:
    """Numbers, dates, times, booleans, and numbers audited as words give the same members in all three ways, whatever
    bounds belong to an interval, and whether levels are named or excluded."""
    rng = np.random.default_rng(0)
    df = pd.DataFrame(
        {
            "x": rng.normal(size=200).round(2),
            "d": pd.Timestamp("2018-01-01") + pd.to_timedelta(rng.integers(0, 900, 200), "D"),
            "t": pd.Timestamp("2020-09-01") + pd.to_timedelta(rng.integers(0, 10**6 * 2, 200), "s"),
            "b": pd.array(rng.choice([True, False, None], 200), dtype="boolean"),
            "i": rng.integers(0, 4, 200),
            "f": rng.choice([1.0, 2.5, 3.0], 200),
            "m": pd.array(rng.choice([1, 2, None], 200), dtype="Int64"),
        }
    )
    df.loc[::7, "x"] = np.nan
    if condition.attribute == "x":
        df = df.dropna(subset=["x"]).reset_index(
            drop=True
        )  # DuckDB sorts NaN above all numbers; NULL it would leave out
    criterion = Criterion([condition])
    expected = members(criterion, df)
    assert 0 < len(expected) < len(df)
    assert by_pandas(criterion, df) == expected
    assert by_sql(criterion, df) == expected


def test_python_dates() -> None:
    """Columns of Python dates and times work as those of pandas do."""
    df = pd.DataFrame({"d": [date(2020, 1, 1), date(2021, 1, 1), None], "t": [datetime(2020, 1, 1, 5)] * 3})
    criterion = Criterion([Interval("d", "date", lower=18300.0), Interval("t", "datetime", upper=1.6e15)])
    assert by_pandas(criterion, df) == members(criterion, df) == [1]


def test_findings_of_an_audit() -> None:
    """The codes of all candidates of an audit pick the people that the criterion picks."""
    df = pd.DataFrame(people())
    audit = ald.audit(df, outcome="y", search=ald.Search("leaves", trees=15))
    assert len(audit.candidates) > 10
    for finding in audit.candidates:
        expected = members(finding.criterion, df)
        assert by_pandas(finding.criterion, df) == expected
        assert by_sql(finding.criterion, df) == expected
