"""A look at data: what it says of the columns, and that what it proposes can be done."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import ald
from ald.assess.assessment import assessment_terms
from ald.assess.power import detectable
from ald.data.inputs.reading import Reading
from ald.looking import PIECES
from ald.options.config import AuditConfig
from tests.tables import decisions, write_csv


def log(n: int = 600) -> dict[str, Any]:
    """A log with an outcome of three values, and a column for every part."""
    rng = np.random.default_rng(0)
    status = rng.choice(["granted", "refused", "withdrawn"], n)
    return {
        "id": [f"p{i // 2}" for i in range(n)],
        "sex": rng.choice(["F", "M", "N/A"], n).tolist(),
        "age": rng.integers(18, 80, n).tolist(),
        "amount": [f"${x:,.2f}" for x in rng.uniform(500, 9000, n)],
        "status": [None, *status[1:].tolist()],
        "copy": np.where(status == "granted", "ok", "no").tolist(),
        "since": (np.datetime64("2020-01-01") + rng.integers(0, 900, n)).tolist(),
        "constant": [1] * n,
        "wt": rng.uniform(0.5, 2, n).tolist(),
    }


def test_columns() -> None:
    """A column has its kind, values and missing ones; numbers and dates a histogram, words the most frequent."""
    data = log()
    seen = ald.look(data)
    assert [column.name for column in seen.columns] == list(data)
    sex, age, since = (seen.column(name) for name in ("sex", "age", "since"))
    words = pd.Series(data["sex"]).replace("N/A", None)
    assert (sex.kind, sex.distinct, sex.missing) == ("nominal", 2, words.isna().sum())
    assert sex.missing_share == words.isna().mean()
    assert {one.level: one.rows for one in sex.levels} == words.value_counts().to_dict()
    assert (age.low, age.high) == (str(min(data["age"])), str(max(data["age"])))
    assert list(age.histogram) == np.histogram(data["age"], PIECES)[0].tolist()
    assert (since.kind, sum(since.histogram)) == ("date", 600)
    assert seen.column("amount").kind == "numeric"


def test_parts() -> None:
    """Each column is said to be what it may be, with a reason."""
    seen = ald.look(log())
    assert {part.column: part.part for part in seen.parts} == {
        "status": "outcome",
        "id": "cluster",
        "sex": "protected",
        "age": "protected",
        "copy": "gives the outcome away",
        "wt": "survey_weights",
    }
    assert all(part.reason for part in seen.parts)
    assert (seen.outcome, seen.favourable, seen.prediction, seen.truth) == ("status", "granted", None, None)
    assert seen.column("copy").part == "gives the outcome away"


def test_what_an_audit_would_say() -> None:
    """Columns left out, and warnings, are those of the audit that is proposed."""
    data = log()
    seen = ald.look(data)
    found = ald.audit(
        data, outcome="status", favourable="granted", exclude="copy", search=ald.Search(trees=2)
    ).data_summary
    assert seen.warnings == found.warnings
    assert {entry.name for entry in seen.left_out} == {entry.name for entry in found.left_out} - {"copy"}


def test_what_an_audit_could_see() -> None:
    """The smallest gaps are those of the power computation, for half of the people."""
    data = decisions()
    seen = ald.look(data, prediction="predicted", truth="true")
    pairs = pd.crosstab(data["true"], data["predicted"]).to_numpy().ravel()
    config = AuditConfig(notion="equalized odds", prediction="predicted", truth="true")
    assert seen.detectable == detectable((pairs / 2).astype(int), config.notions[0], assessment_terms(config), 4)
    assert seen.notions == tuple(ald.NOTIONS)
    assert ald.look(data, outcome="predicted").notions == ("statistical parity",)


@pytest.mark.parametrize("name", ["x.csv", "a b'\"$.csv"])
def test_the_next_step_can_be_taken(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command is one that the command line takes, and the Python is that of the same audit."""
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / name, log() | {'a,b "c"': log()["copy"]})
    seen = ald.look(name)
    assert shlex.split(seen.command) == [
        *["ald", "audit", name, "--outcome", "status", "--favourable", "granted", "--exclude", "copy"],
        *["--exclude", '"a,b ""c"""'],
    ]
    found = eval(seen.python, {"ald": ald})
    assert isinstance(found, ald.Audit)
    assert {entry.name for entry in found.data_summary.left_out} >= {"copy", 'a,b "c"'}


def test_the_next_step_of_frames() -> None:
    """Of data that is no file there is Python only; with predictions it names a notion that fits."""
    seen = ald.look(decisions())
    assert seen.command == ""
    assert seen.python == "ald.audit(data, prediction='predicted', truth='true', notion='equalized odds')"
    assert isinstance(eval(seen.python, {"ald": ald, "data": decisions()}), ald.Audit)


def test_values_that_nobody_can_guess() -> None:
    """Where no value seems good for people the next step has a place for it; what could be seen is told anyway."""
    seen = ald.look({"income": ["<=50K", ">50K"] * 100, "age": list(range(20)) * 10})
    assert seen.favourable is None
    assert seen.python == "ald.audit(data, outcome='income', favourable='VALUE')"
    assert "say which of its values is good for people: '<=50K', '>50K'" in seen.parts[0].reason
    assert seen.detectable


def test_without_an_outcome() -> None:
    """Data without a possible outcome is shown all the same, with the reason."""
    seen = ald.look({"age": list(range(100)), "name": [f"n{i}" for i in range(100)]})
    assert (seen.outcome, seen.detectable, seen.notions) == (None, (), ())
    assert "no column has two values" in seen.warnings[0]
    assert [entry.name for entry in seen.left_out] == ["age", "name"]


def test_what_an_audit_would_refuse() -> None:
    """What an audit refuses is a warning of the look."""
    seen = ald.look({"approved": [0, 1] * 50, "constant": [1] * 100})
    assert "an audit would refuse this: no attribute is left to audit" in seen.warnings[0]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"outcome": "stats"}, "no column 'stats'.*Did you mean 'status'"),
        ({"favourable": "yes"}, "say which column that is"),
        ({"prediction": "copy"}, "prediction was given without truth"),
    ],
)
def test_what_makes_no_sense(options: dict[str, Any], problem: str) -> None:
    """Unknown columns and options that do not go together are errors in words."""
    with pytest.raises(ald.AldError, match=problem):
        ald.look(log(), **options)


def test_a_query_needs_a_database() -> None:
    """What a source says of its data is checked before it is read."""
    with pytest.raises(ald.AldError, match="a query needs a database"):
        ald.look(ald.source(log(), query="select 1"))


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(pd.DataFrame, id="pandas"),
        pytest.param(pl.DataFrame, id="polars"),
        pytest.param(pl.LazyFrame, id="lazy"),
        pytest.param(lambda data: dd.from_pandas(pd.DataFrame(data), npartitions=2), id="dask"),
        pytest.param(lambda data: duckdb.connect().from_df(pd.DataFrame(data)), id="duckdb"),
    ],
)
def test_every_input(made: Any) -> None:
    """Frames and lazy frames, of engines too, look like the dictionary that they were made of."""
    data = decisions()
    seen, expected = ald.look(made(data)), ald.look(data)
    assert seen.columns == expected.columns
    assert (seen.parts, seen.left_out, seen.detectable) == (expected.parts, expected.left_out, expected.detectable)


def test_large_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is reduced to counts before it is read looks the same."""
    path = write_csv(tmp_path / "x.csv", decisions())
    expected = ald.look(path)
    monkeypatch.setattr(Reading, "is_large", lambda self, rows, columns: True)
    assert ald.look(path) == expected


def test_too_many_different_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Data that could only be looked at where it is, is refused with what to do."""
    monkeypatch.setattr(Reading, "most_distinct", 10)
    frame = dd.from_pandas(pd.DataFrame(decisions()), npartitions=2)
    with pytest.raises(ald.InputError, match="cannot be looked at as a whole: look at a sample"):
        ald.look(frame)


def test_passwords_stay_secret() -> None:
    """The next step of a database does not show its password."""
    from ald.looking import _command

    shown = _command(ald.source("postgresql://ann:secret@db.example/loans", query="select 1"), {"outcome": "y"})
    assert "secret" not in shown
    assert re.search(r"--query 'select 1' --outcome y$", shown)
