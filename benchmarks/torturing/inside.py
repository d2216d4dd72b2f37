"""Audits in this process: damaged files, keywords and documents of all kinds, few people, and memory."""

from __future__ import annotations

import copy
import datetime
import gzip
import inspect
import itertools
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.torturing.checking import Check, as_csv, people
from benchmarks.torturing.commands import damage

import ald
from ald.results.audit import Audit
from ald.results.opening import open_document


def _render(audit: Audit, formats: tuple[str, ...] = ("text", "html", "json", "markdown", "csv")) -> None:
    made = {"text": audit.__str__, "html": audit.to_html, "json": audit.to_json, "markdown": audit.to_markdown,
            "csv": audit.to_csv, "excel": audit.to_excel, "pdf": audit.to_pdf}  # fmt: skip
    for name in formats:
        made[name]()


def files(check: Check, rng: random.Random, folder: Path) -> None:
    """Damaged and odd files: bytes changed, lines cut, repeated or quoted, other encodings, compressed or not."""
    content = damage(as_csv(people(200, rng.randrange(5))), rng, rng.choice([0, 0, 1, 1, 2, 3]))
    ending = rng.choice([*[".csv"] * 9, ".tsv", ".csv.gz", ".jsonl", ".parquet"])
    name = rng.choice(["d", "k=v", "~d", "a*b", "q'uote", 'do"uble', "new\nline", "[x]", "ü", "-d"])
    path = folder / f"{name}{ending}"
    path.write_bytes(gzip.compress(content)[: rng.choice([None, None, 50])] if ending.endswith("gz") else content)
    formats = ("text", "json", "html", "markdown", "csv") if rng.random() < 0.2 else ("text", "json")
    check.attempt(
        ending, lambda: _render(ald.audit(str(path), outcome="y", search=ald.Search(trees=2), split="random"), formats)
    )
    path.unlink()


_VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 2**63, -(2**63), 10**400, 0.5, float("nan"), float("inf"), "", "sex", "nosuch",
    "a\0b", "\ud800", "x" * 10000, "a\nb", b"sex", [], ["sex"], [1], [None], [["sex"]], (), {}, {"sex": "nominal"},
    {1: 2}, set(), object(), int, lambda *a: None, np.array(5), np.array(["sex", "age"]), np.zeros((3, 2)),
    np.int64(3), np.str_("sex"), 1j, datetime.date(2020, 1, 1), range(3), ..., ald.Split(repeats=2**63),
    ald.Given("age", bins=2**63), ald.SurveyWeights("y"), ald.Search(trees=2**63), ald.Criterion.parse("sex = f"),
]  # fmt: skip


def keywords(check: Check, rng: random.Random, folder: Path) -> None:
    """Every keyword with every kind of value, each pair once."""
    if check.tries == 0 or not _PAIRS:
        names = [name for name in inspect.signature(ald.audit).parameters if name not in ("data", "progress")]
        _PAIRS[:] = list(itertools.product(names, range(len(_VALUES))))
        rng.shuffle(_PAIRS)
    name, value = _PAIRS[check.tries % len(_PAIRS)][0], _VALUES[_PAIRS[check.tries % len(_PAIRS)][1]]
    options = {"outcome": "y", "search": ald.Search(trees=2), name: value}
    given = None if name == "split" and isinstance(value, tuple) else people(200)
    check.attempt(name, lambda: ald.audit(given, **options))


_PAIRS: list[tuple[str, int]] = []


def documents(check: Check, rng: random.Random, folder: Path) -> None:
    """Documents with a value changed, removed, repeated or moved: refused, or rendered whole."""
    if not _DOCUMENTS:
        _DOCUMENTS.extend(_documents())
    document = json.loads(rng.choice(_DOCUMENTS))
    parent, key = rng.choice(list(_places(document)))
    way = rng.randrange(4)
    if way == 0:
        del parent[key]
    elif way == 1 and isinstance(parent, list):
        parent.append(copy.deepcopy(parent[key]))
    elif way == 2 and isinstance(parent[key], (int, float)):
        parent[key] += rng.choice([-1, 1, 0.25, 1e308])
    else:
        parent[key] = rng.choice([None, -1, 2**62, 1e308, "", "x" * 999, [], {}, True, [None], "\ud800"])

    def read() -> None:
        found = open_document(json.dumps(document))
        try:
            if isinstance(found, Audit):
                _render(found, ("text", "html", "json", "markdown", "csv", "excel"))
            else:
                _ = str(found), found.to_json(), found.to_csv(), found._repr_html_()
        except ald.AldError as error:
            raise AssertionError(f"read, and refused later: {error}") from None

    check.attempt("document", read)


_DOCUMENTS: list[str] = []


def _documents() -> Iterator[str]:
    """Audits of several kinds, a comparison and a watch."""
    columns, rng = people(400), np.random.default_rng(0)
    for options in ({"split": "random"}, {"split": "none"}, {"search": "none", "named_groups": "sex = f"}):
        yield ald.audit(columns, outcome="y", **options).to_json()
    both = {"sex": columns["sex"], "age": columns["age"], "y": columns["y"]}
    for name, wrong in (("old", 0.2), ("new", 0.35)):
        both[name] = np.where(rng.random(400) < wrong, 1 - np.array(columns["y"]), columns["y"])
    yield ald.compare(both, predictions=["old", "new"], truth="y").to_json()
    yield ald.watch(columns, by="day", outcome="y", named_groups=["sex = f"]).to_json()


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from _places(value[key])


def small_groups(check: Check, rng: random.Random, folder: Path) -> None:
    """Tables with groups of few people: no number below the limit in any format."""
    from tests.results.small_groups import random_audit, violations

    seed = rng.randrange(10**6)

    def run() -> None:
        audit, columns = random_audit(seed)
        found = violations(audit, columns, ("text", "markdown", "csv", "html", "json", "notebook", "excel"))
        assert not found, f"table {seed}: {found[:2]}"

    check.attempt("table", run)


AUDITS, GROWTH = 20, 150 * 2**20


def memory(check: Check, rng: random.Random, folder: Path) -> None:
    """Audit after audit in one process: its memory stays flat."""
    columns = people(300, rng.randrange(9))
    check.tries += AUDITS - 1

    def run() -> None:
        for turn in range(AUDITS):
            split = "none" if turn % 5 == 0 else "random"
            audit = ald.audit(columns, outcome="y", split=split, seed=turn)
            if turn % 4 == 0:
                audit.to_html()
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        _SIZES.append(pages * 4096)
        grown = _SIZES[-1] - _SIZES[min(3, len(_SIZES) - 1)]
        check.note = f"{grown / 2**20:,.0f} MB more than after {min(4, len(_SIZES)) * AUDITS} audits"
        assert grown < GROWTH, f"{grown // 2**20} MB more than at first"

    check.attempt(f"{AUDITS} audits", run)


_SIZES: list[int] = []
