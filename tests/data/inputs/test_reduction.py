"""Large data: counted by DuckDB or coded on disk, with the results of data that is read as it stands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import ald
from ald import InputError
from ald.data.inputs import files, reading, reduction, store
from ald.data.inputs.files import read_file
from ald.data.inputs.reading import Reading
from ald.data.inputs.relation import ROWS, connect, read_all
from ald.data.inputs.sources import load, load_halves
from tests.flat import audit_flat


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file counts as large."""
    monkeypatch.setattr(Reading, "is_large", lambda self, rows, columns: True)


def people(n: int = 4000, seed: int = 3) -> dict[str, Any]:
    """Columns of every kind with few values, an outcome, a person number, weights and halves."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 30, n)
    sex = rng.choice(np.array(["F", "M", None], object), n, p=[0.5, 0.4, 0.1])
    y = (rng.random(n) < 0.25 + 0.3 * (age > 24) + 0.2 * (sex == "F")).astype(int)
    return {
        "age": age,
        "sex": sex,
        "hired": np.datetime64("2019-01-01") + rng.integers(0, 5, n),
        "seen": np.datetime64("2020-06-01T08:30:15", "us") + 10**6 * rng.integers(0, 5, n),
        "member": rng.random(n) < 0.5,
        "grade": rng.choice(["1", "2", "NA"], n),
        "ratio": rng.choice([0.5, 1.5, np.nan, np.inf], n, p=[0.6, 0.3, 0.05, 0.05]),
        "factor": rng.integers(0, 4, n),
        "person": rng.integers(0, n // 3, n),
        "weight": rng.choice([0.5, 1.0, 2.5], n),
        "times": rng.integers(0, 3, n),
        "half": np.where(rng.random(n) < 0.5, "search", "assess"),
        "y": y,
    }


def written(folder: Path, columns: dict[str, Any], name: str = "x.parquet") -> str:
    path = str(folder / name)
    table = pa.table(columns)
    pq.write_table(table, path) if name.endswith("parquet") else pyarrow.csv.write_csv(table, path)
    return path


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("most_bins", [4096, 5])
def test_infinite_numbers_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most_bins: int) -> None:
    """A text column of numbers that begins with an infinite one is numeric, and says how many there are."""
    monkeypatch.setattr(reduction, "MOST_BINS", most_bins)
    path = tmp_path / "x.csv"
    path.write_text("x,y\n" + "".join(f"{'inf' if i % 100 == 0 else i % 40 + 0.5},{i % 2}\n" for i in range(2000)))
    column = read_file(str(path), reading=Reading())["x"]
    assert (column.kind, column.n_infinite) == ("numeric", 20)


@pytest.mark.usefixtures("large")
def test_long_identifiers_of_clusters_stay_different(tmp_path: Path) -> None:
    """Whole numbers that floating point would merge keep people apart."""
    columns = people()
    short = written(tmp_path, columns, "short.parquet")
    long = written(tmp_path, columns | {"person": columns["person"] + 2**60}, "long.parquet")
    options: dict[str, Any] = {"outcome": "y", "attributes": ["age", "sex"], "cluster": "person", "trees": 3}
    first, second = (audit_flat(path, **options) for path in (short, long))
    assert [group.p_value for group in first.groups] == pytest.approx([group.p_value for group in second.groups])
    assert first.groups


@pytest.mark.parametrize("kinds", [{}, {"time": "date"}])
@pytest.mark.parametrize("most_bins", [4096, 5])
def test_infinite_times_are_counted(
    large: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kinds: dict[str, str], most_bins: int
) -> None:
    """Infinite dates and times of rows that are hardly alike are missing, and their number is known, in bins too."""
    monkeypatch.setattr(reduction, "MOST_BINS", most_bins)
    path = tmp_path / "x.parquet"
    day = "CASE i % 4 WHEN 0 THEN DATE 'infinity' WHEN 1 THEN '-infinity' ELSE DATE '2024-01-01' + i::INT % 50 END"
    time = "CASE WHEN i % 4 = 0 THEN TIMESTAMP 'infinity' ELSE TIMESTAMP '2024-01-01 10:00' + to_days(i::INT % 50) END"
    connect().execute(f"COPY (SELECT {day} AS day, {time} AS time, random() AS x FROM range(400) t(i)) TO '{path}'")
    table = read_file(str(path), reading=Reading(kinds=kinds))
    assert table.counts is None
    assert (table["day"].n_infinite, table["day"].n_missing()) == (200, 200)
    assert (table["time"].n_infinite, table["time"].n_missing()) == (100, 100)
    assert table["day"].words()[-1] < "2025"


ROLES = ("person", "weight", "times", "half")
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "given": {"given": ["factor"]},
    "given in criteria": {"given": ["factor"], "given_in_criteria": True},
    "weights": {"weights": "times"},
    "survey weights": {"survey_weights": "weight"},
    "split": {"split": "half"},
    "kinds": {"kinds": {"age": "ordinal", "factor": "nominal"}},
    "groups in words": {"reference": "age > 24", "named_groups": ["sex = F and seen > 2020-06-01 08:30:16"]},
    "paper": {"search": "paper"},
    "cluster": {"cluster": "person"},
}


def audited(path: str, options: dict[str, Any]) -> str:
    taken = {options.get(role) for role in ("cluster", "survey_weights", "weights", "split")}
    attributes = ["age", "sex", "hired", "seen", "member", "grade", "ratio", "factor"]
    found = audit_flat(path, outcome="y", attributes=[a for a in attributes if a not in taken], trees=5, **options)
    return found.to_json()


@pytest.mark.parametrize("options", list(OPTIONS.values()), ids=list(OPTIONS))
def test_counted_data_gives_the_same_audit(tmp_path: Path, options: dict[str, Any], request: Any) -> None:
    """With few values, an audit of counted rows is that of the rows themselves, byte by byte, with every option."""
    path = written(tmp_path, people())
    expected = audited(path, options)
    request.getfixturevalue("large")
    assert audited(path, options) == expected


@pytest.mark.parametrize("options", [{}, {"cluster": "person"}, {"survey_weights": "weight"}], ids=str)
def test_codes_on_disk_give_the_same_audit(
    tmp_path: Path, options: dict[str, Any], request: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where rows are not counted but coded on disk, piece by piece, the audit is the same too."""
    path = written(tmp_path, people())
    expected = audited(path, options)
    request.getfixturevalue("large")
    monkeypatch.setattr(reduction._Reduction, "_counted_by_value", lambda self: None)
    monkeypatch.setattr(reduction, "count_distinct", lambda columns, most: None)
    monkeypatch.setattr(store, "_CHUNK", 700)
    assert audited(path, options) == expected


def test_text_files_are_kept_first(tmp_path: Path, request: Any) -> None:
    """A large CSV file is parsed once, and gives the same audit."""
    path = written(tmp_path, people(), "x.csv")
    expected = audited(path, {})
    request.getfixturevalue("large")
    assert audited(path, {}) == expected


def test_long_lines_do_not_make_a_file_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the size of a text file suggests more rows than it has, it is read as it stands all the same."""
    path = written(tmp_path, numbers(), "x.csv")
    expected = read_file(path, None, None)
    monkeypatch.setattr(files, "_BYTES_PER_FIELD", 1)
    monkeypatch.setattr(files, "read_all", lambda relation, only: [relation.sql, read_all(relation, only)])
    sql, table = read_file(path, None, Reading(many=100_000))  # type: ignore[misc]
    assert (sql, table.counts, table.binned) == (ROWS, None, frozenset())
    assert all((table[name].codes == column.codes).all() for name, column in expected.columns.items())


def numbers(n: int = 30_000, seed: int = 5) -> dict[str, Any]:
    """Two columns of numbers that hardly repeat, and an outcome that depends on one of them."""
    rng = np.random.default_rng(seed)
    income = np.exp(rng.normal(10, 1, n))
    day = np.datetime64("2000-01-01T00:00", "us") + rng.integers(0, 10**15, n)
    y = (rng.random(n) < 0.3 + 0.3 * (income > 30_000)).astype(int)
    return {"income": income, "moment": day, "sex": rng.choice(["F", "M"], n), "y": y}


@pytest.mark.usefixtures("large")
def test_bins_are_the_only_difference(tmp_path: Path) -> None:
    """Numbers with very many values are cut at values of the data; the audit is that of data with these values."""
    columns = numbers()
    path = written(tmp_path, columns)
    table = read_file(path, None, Reading())
    values = table["income"].values
    assert values is not None
    assert table.binned == {"income", "moment"}
    assert len(values) <= reduction.MOST_BINS
    assert np.isin(values, columns["income"]).all()
    assert values[-1] == columns["income"].max()
    found = ald.audit(path, outcome="y", attributes=["income", "sex"])
    rounded = {**columns, "income": values[np.searchsorted(values, columns["income"])]}
    same = ald.audit({name: rounded[name] for name in ("income", "sex", "y")}, outcome="y")
    assert found.groups == same.groups
    assert any("cut into" in warning for warning in found.warnings)
    inside = found.groups[0].criterion.mask({name: columns[name] for name in ("income", "sex")})
    assert (inside == found.groups[0].criterion.mask({name: rounded[name] for name in ("income", "sex")})).all()


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("group", ["income > 30000", "income >= 30000 and moment < 2005-01-01 10:00:00"])
def test_groups_in_words_are_exact(tmp_path: Path, group: str) -> None:
    """A group in words has exactly its members, although its bounds lie within bins otherwise."""
    columns = numbers()
    named = ald.audit(written(tmp_path, columns), search="none", named_groups=group, outcome="y").named_groups[0]
    assert named.size == ald.Criterion.parse(group, columns).mask(columns).sum()


@pytest.mark.usefixtures("large")
def test_identifiers_are_left_out_before_they_are_read(tmp_path: Path) -> None:
    """Columns that identify people are not audited, and the audit says so."""
    n = 30_000
    columns = {**numbers(n), "id": np.arange(n), "name": [f"n{i}" for i in range(n)]}
    found = ald.audit(written(tmp_path, columns), outcome="y")
    assert {entry.name for entry in found.data_summary.left_out} == {"id", "name"}
    assert all("identifier-like" in entry.reason for entry in found.data_summary.left_out)


@pytest.mark.usefixtures("large")
def test_numbers_among_words(tmp_path: Path) -> None:
    """A column of very many numbers in which a word stands for no value becomes numeric, with a note."""
    words = [f"{i / 7:.4f}" for i in range(9000)] + ["NA"] * 1000
    path = written(tmp_path, {"x": words, "y": [0, 1] * 5000})
    table = load(path, None, Reading())
    assert table["x"].kind == "numeric"
    assert table["x"].n_missing(table.counts) == 1000
    assert "1,000 values" in table["x"].notes[0]


@pytest.mark.usefixtures("large")
def test_missing_outcomes_are_counted_by_rows(tmp_path: Path) -> None:
    """Rows without an outcome are left out of large data, and the warning counts rows of the data."""
    path = written(tmp_path, {"a": [1, 2] * 500, "y": pa.array([None, 1, 0, 1] * 250)})
    summary = ald.audit(path, outcome="y", search=ald.Search(trees=2)).data_summary
    assert (summary.rows, summary.cells) == (750, {"negative": 250, "positive": 500})
    assert any("250 of 1,000 rows have no value of 'y'" in warning for warning in summary.warnings)


@pytest.mark.usefixtures("large")
def test_very_many_numbers_as_people_write_them(tmp_path: Path) -> None:
    """A column of very many numbers with signs and commas becomes numeric, unless its kind is nominal."""
    amounts = [f"${1000 + i / 7:,.2f}" for i in range(9000)] + ["N/A"] * 1000
    path = written(tmp_path, {"x": amounts, "z": [f"{i}%" for i in range(9999)] + ["5"], "y": [0, 1] * 5000})
    table = load(path, None, Reading())
    x = table["x"]
    assert (x.kind, x.n_missing(table.counts), x.words()[-1]) == ("numeric", 1000, "2285.57")
    assert "was read as numbers, '$1,000.00' as 1000.00" in x.notes[0]
    assert "z" in table.left_out or table["z"].kind == "nominal"
    kept = load(path, None, Reading(kinds={"x": "nominal"}, exact=frozenset(["x"])))
    assert kept["x"].kind == "nominal"


@pytest.mark.usefixtures("large")
def test_no_rows(tmp_path: Path) -> None:
    """A large file without rows is an error in words."""
    with pytest.raises(InputError, match="has no rows"):
        ald.audit(written(tmp_path, {"a": pa.array([], pa.int64()), "y": pa.array([], pa.int64())}), outcome="y")


@pytest.mark.usefixtures("large")
def test_two_large_data_sets(tmp_path: Path) -> None:
    """Two counted data sets are put together; binned ones are refused, with a way out."""
    first, second = (written(tmp_path, people(seed=seed), f"{seed}.parquet") for seed in (1, 2))
    wanted = Reading(needed=("age", "sex", "y"))
    table, half = load_halves((first, second), None, wanted)
    assert table.counts is not None
    same_cells = {name: np.repeat(column, 2) for name, column in people(seed=1).items()}
    load_halves((first, written(tmp_path, same_cells, "twice.parquet")), None, wanted)
    assert [int(table.counts[half == part].sum()) for part in (0, 1)] == [4000, 4000]
    binned = written(tmp_path, numbers(), "binned.parquet")
    with pytest.raises(InputError, match="cut into bins"):
        load_halves((binned, written(tmp_path, numbers(seed=6), "other.parquet")), None, Reading())


def test_what_is_large() -> None:
    """Data is large by its rows, or by the memory that it would take."""
    assert Reading().is_large(reading.MANY_ROWS + 1, 1)
    assert not Reading().is_large(1000, 10)
    assert Reading(memory_limit=10**9).is_large(5 * 10**6, 20)


def test_many_distinct_rows_are_not_counted() -> None:
    """Counting gives up where rows are more than fit, and otherwise is exact in canonical order."""
    table = ald.data.inputs.sources.load({"a": [2, 1, 2, 3], "b": ["x", "y", "x", "x"]})
    columns = list(table.columns.values())
    assert store.count_distinct(columns, 2) is None
    found = store.count_distinct(columns, 3)
    assert found is not None
    assert [column.codes.tolist() for column in found[0]] == [[0, 1, 2], [1, 0, 0]]
    assert found[1].tolist() == [1, 2, 1]


def test_workspace_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: Any) -> None:
    """Nothing stays on disk after an audit."""
    request.getfixturevalue("large")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    data = tmp_path / "data"
    data.mkdir()
    ald.audit(ald.source(written(data, numbers()), memory_limit="1GB"), outcome="y")
    assert [entry.name for entry in tmp_path.iterdir()] == ["data"]
