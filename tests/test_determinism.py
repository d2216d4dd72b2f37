"""Same data, same settings: the same bytes, whatever the machine does."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ald
from ald.datasets import load_berkeley
from ald.search.forest import sampling
from tests.flat import audit_flat
from tests.tables import decisions, people, public_data


def bytes_of(columns: Any = None, **options: Any) -> str:
    settings_ = {"outcome": "y", "trees": 6} | options
    return audit_flat(people(1500) if columns is None else columns, **settings_).to_json()


@pytest.fixture(scope="module")
def expected() -> str:
    return bytes_of(threads=1)


@pytest.mark.parametrize("threads", [1, 2, 4, None])
def test_threads(monkeypatch: pytest.MonkeyPatch, expected: str, threads: int | None) -> None:
    """The number of threads changes no byte, also where every piece of work gets its own."""
    monkeypatch.setattr("ald.search.forest.counting._WORTH_A_THREAD", 1)
    monkeypatch.setattr("ald.groups.membership._WORTH_A_THREAD", 1)
    monkeypatch.setattr("ald.data.joint._WORTH_A_THREAD", 1)
    monkeypatch.setattr("ald.search.explore.sharpen._WORTH_A_THREAD", 1)
    monkeypatch.setattr("ald.data.packing.WORTH_A_THREAD", 1)
    monkeypatch.setattr("ald.search.forest.packed._WORTH_DRAWING_IN_THREADS", 1)
    monkeypatch.setattr("ald.data.coded._WORTH_A_THREAD", 1)
    monkeypatch.setattr("ald.search.forest.sampling._WORTH_GROUPS", 1)
    assert bytes_of(threads=threads) == expected


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("limit", [1, 20_000, 60_000])
def test_trees_at_a_time(monkeypatch: pytest.MonkeyPatch, expected: str, threads: int, limit: int) -> None:
    """How many trees grow at a time, and how threads share them, changes no byte."""
    usual = sampling.tree_parts
    monkeypatch.setattr("ald.search.forest.sampling._WORTH_GROUPS", 1)
    monkeypatch.setattr("ald.search.forest.sampling.tree_parts", lambda tree, trees, memory: usual(tree, trees, limit))
    assert bytes_of(threads=threads) == expected


@pytest.mark.parametrize("kernel", ["c", "numpy"])
def test_kernels(monkeypatch: pytest.MonkeyPatch, expected: str, kernel: str) -> None:
    """Both kernels give the same bytes."""
    monkeypatch.setenv("ALD_KERNEL", kernel)
    assert bytes_of() == expected


@pytest.mark.parametrize("kernel", ["c", "numpy"])
@pytest.mark.parametrize("search", ["default", "paper"])
def test_kernels_with_four_cells(monkeypatch: pytest.MonkeyPatch, kernel: str, search: str) -> None:
    """Both kernels give the same bytes for predictions and truths, in both searches."""
    options: dict[str, Any] = {"prediction": "predicted", "truth": "true", "notion": "equalized odds", "trees": 5}
    usual = audit_flat(decisions(), search=search, **options).to_json()
    monkeypatch.setenv("ALD_KERNEL", kernel)
    assert audit_flat(decisions(), search=search, threads=2, **options).to_json() == usual


@pytest.mark.parametrize("seed", [0, 1])
def test_the_order_of_rows(expected: str, seed: int) -> None:
    """Shuffled rows give the same bytes."""
    order = np.random.default_rng(seed).permutation(1500)
    shuffled = {name: [values[i] for i in order] for name, values in people(1500).items()}
    assert bytes_of(shuffled) == expected


@settings(max_examples=15)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from([1.0, 2.5, None]), st.booleans(), st.integers(1, 40)),
                min_size=4, max_size=30), st.randoms())  # fmt: skip
def test_weights_are_people(rows: list[tuple[str, float | None, bool, int]], random: Any) -> None:
    """A table with weights gives the same bytes as the table of its people, in any order."""
    rows = [*rows, ("a", 1.0, True, 30), ("b", 2.5, False, 30)]
    people_ = [row[:3] for row in rows for _ in range(row[3])]
    random.shuffle(people_)
    weighted = pd.DataFrame(rows, columns=["x", "n", "y", "w"])
    expanded = pd.DataFrame(people_, columns=["x", "n", "y"])
    options: dict[str, Any] = {"outcome": "y", "trees": 2}
    assert audit_flat(weighted, weights="w", **options).to_json() == audit_flat(expanded, **options).to_json()


def test_berkeley_counts() -> None:
    """The 24 counts of the admissions give the same bytes as the 4,526 applicants."""
    options: dict[str, Any] = {"outcome": "admitted", "favourable": "yes"}
    counted = audit_flat(load_berkeley(counts=True), weights="n", **options).to_json()
    assert counted == audit_flat(load_berkeley(), **options).to_json()


def test_seeds(expected: str) -> None:
    """Same seed, same bytes; another seed, other halves."""
    assert bytes_of(seed=0) == expected
    first, other = (
        ald.audit(people(), outcome="y", search=ald.Search(trees=2)),
        ald.audit(people(), outcome="y", search=ald.Search(trees=2), seed=1),
    )
    assert {str(f.criterion): f.size for f in first.candidates} != {str(f.criterion): f.size for f in other.candidates}
    assert first.data_summary.rows_search != other.data_summary.rows_search


def test_a_process_of_its_own(expected: str) -> None:
    """Another process, with another hash seed, gives the same bytes."""
    code = "from tests.test_determinism import bytes_of; import sys; sys.stdout.write(bytes_of())"
    environment = os.environ | {"PYTHONHASHSEED": "123", "PYTHONPATH": os.pathsep.join(sys.path)}
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert out.stdout == expected


def test_reports_of_a_process_of_its_own() -> None:
    """Another process, with another hash seed, gives the same bytes of the HTML report, also for shuffled rows."""
    code = """
import sys, ald
from tests.tables import people
columns = {name: values[::-1] for name, values in people(1500).items()}
sys.stdout.buffer.write(ald.audit(columns, outcome="y", search=ald.Search(trees=6)).to_html().encode())
"""
    environment = os.environ | {"PYTHONHASHSEED": "7", "PYTHONPATH": os.pathsep.join(sys.path)}
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment, check=True)
    assert out.stdout.decode() == ald.audit(people(1500), outcome="y", search=ald.Search(trees=6)).to_html()


def test_a_forked_process() -> None:
    """A process forked after an audit with threads can audit with threads."""
    code = """
import os, sys
from tests.tables import people
import ald, ald.search.forest.counting, ald.groups.membership
ald.search.forest.counting._WORTH_A_THREAD = ald.groups.membership._WORTH_A_THREAD = 1
first = ald.audit(ald.source(people(), threads=2), outcome="y", search=ald.Search(trees=3)).to_json()
child = os.fork()
if child == 0:
    os._exit(ald.audit(ald.source(people(), threads=2), outcome="y", search=ald.Search(trees=3)).to_json() != first)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    if not hasattr(os, "fork"):
        pytest.skip("this system cannot fork")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=300)
    assert (out.returncode, out.stderr) == (0, "")


# Designs

DESIGNS: dict[str, dict[str, Any]] = {
    "given": {"given": ["score", "member"], "given_in_criteria": True},
    "cluster": {"cluster": "person", "repeats": 2},
    "survey": {"survey_weights": "w"},
    "everything": {"given": "score", "cluster": "person", "survey_weights": "w", "named_groups": ["sex = F"]},
    "reference": {"reference": "sex = M", "favourable": 1, "direction": "disadvantaged"},
    "outcomes": {"outcome": ["y", "z"]},
    "split": {"split": "half"},
    "leaves": {"given": "member", "cluster": "person", "search": "leaves"},
}


def designed(n: int = 900) -> dict[str, list[Any]]:
    columns = people(n)
    rng = np.random.default_rng(9)
    columns["person"] = [f"p{i}" for i in rng.integers(0, n // 4, n)]
    columns["w"] = rng.uniform(0.2, 5.0, n).tolist()
    columns["z"] = rng.integers(0, 2, n).tolist()
    columns["half"] = (np.arange(n) % 2 + 2023).tolist()
    return columns


@pytest.mark.parametrize("name", DESIGNS)
def test_designs_and_threads(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """With strata, clusters, weights, references and several outcomes, threads and kernels change no byte."""
    options = {"attributes": ["age", "sex", "score"], "trees": 4} | DESIGNS[name]
    usual = bytes_of(designed(), threads=1, **options)
    monkeypatch.setattr("ald.search.forest.counting._WORTH_A_THREAD", 1)
    monkeypatch.setattr("ald.groups.membership._WORTH_A_THREAD", 1)
    monkeypatch.setattr("ald.data.joint._WORTH_A_THREAD", 1)
    monkeypatch.setattr("ald.search.explore.sharpen._WORTH_A_THREAD", 1)
    assert bytes_of(designed(), threads=3, **options) == usual
    monkeypatch.setenv("ALD_KERNEL", "numpy")
    assert bytes_of(designed(), threads=1, **options) == usual


@pytest.mark.parametrize("name", DESIGNS)
def test_designs_and_the_order_of_rows(name: str) -> None:
    """With strata, clusters, weights, references and several outcomes, shuffled rows give the same bytes."""
    options = {"attributes": ["age", "sex", "score"], "trees": 4} | DESIGNS[name]
    order = np.random.default_rng(1).permutation(900)
    shuffled = {name: [values[i] for i in order] for name, values in designed().items()}
    assert bytes_of(shuffled, **options) == bytes_of(designed(), **options)


def test_several_notions_and_the_order_of_rows() -> None:
    """Several notions of one audit give the same bytes for shuffled rows and more threads."""
    options: dict[str, Any] = {"prediction": "predicted", "truth": "true", "trees": 3, "outcome": None}
    options["notion"] = ["accuracy", "equalized odds", "statistical parity"]
    order = np.random.default_rng(1).permutation(800)
    shuffled = {name: [values[i] for i in order] for name, values in decisions().items()}
    assert bytes_of(shuffled, threads=3, **options) == bytes_of(decisions(), threads=1, **options)


@pytest.mark.parametrize("options", [{"cluster": "person"}, {"survey_weights": "w", "given": "z"}])
def test_what_else_is_known_of_rows_is_not_numbered(options: dict[str, Any]) -> None:
    """People, weights and factors are drawn by their values: other rows and another coding change no half."""
    columns = designed()
    columns["z"] = ["no" if z else "yes" for z in columns["z"]]
    as_categories = pd.DataFrame(columns).astype({"person": "category", "z": "category"})
    shuffled = as_categories.sample(frac=1.0, random_state=3).reset_index(drop=True)
    everything: dict[str, Any] = {"attributes": ["age", "sex"], "trees": 3} | options
    assert bytes_of(shuffled, **everything) == bytes_of(columns, **everything)


def test_public_data() -> None:
    """On COMPAS, threads and kernels change no byte."""
    path = public_data("compas.csv")
    from ald.data.inputs.sources import load

    table = load(path)
    binary = [name for name in table.names if table[name].words() == ["0", "1"]]
    if not binary:
        pytest.skip("this copy of COMPAS has no 0/1 column")
    found = {
        ald.audit(ald.source(path, threads=threads), outcome=binary[-1], search=ald.Search(trees=5)).to_json()
        for threads in (1, 2)
    }
    assert len(found) == 1
