"""Random tables with groups of few people, and what of them is in the outputs of an audit."""

from __future__ import annotations

import io
import json
import re
import subprocess
import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np

import ald
from ald.data.columns import as_word
from ald.results.audit import Audit

LEAST = 10
# Options of audits, drawn at random.
DESIGNS: tuple[dict[str, Any], ...] = (
    {},
    {},
    {"split": "none"},
    {"search": "leaves"},
    {"search": ald.Search("paper", trees=5)},
    {"given": "site"},
    {"given": "site", "split": "none"},
    {"reference": "all"},
    {"reference": "sex = f"},
    {"direction": "disadvantaged"},
    {"threshold": 0.05},
    {"split": ald.Split(repeats=2)},
    {"cluster": "person"},
    {"weights": ald.SurveyWeights("weight")},
    {"groups": 12},
    {"profile": "adverse-impact"},
    {"profile": "nyc-ll144"},
)


def random_audit(seed: int) -> tuple[Audit, dict[str, Any]]:
    """An audit of a random table with levels, combinations and strata of few people, and the table's columns."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(150, 900))
    design = dict(DESIGNS[seed % len(DESIGNS)])
    jobs, sites = int(rng.integers(3, 15)), int(rng.integers(3, 12))
    columns: dict[str, Any] = {
        "job": rng.choice([f"job{i}" for i in range(jobs)], n, p=_shares(rng, jobs)).astype(object),
        "site": rng.choice([f"site{i}" for i in range(sites)], n, p=_shares(rng, sites)).astype(object),
        "sex": rng.choice(["f", "m", "x"], n, p=[0.5, 0.49, 0.01]).astype(object),
        "grade": rng.choice([1, 2, 3, 4, 5], n, p=[0.4, 0.3, 0.28, 0.01, 0.01]),
        "age": np.where(rng.random(n) < 0.01, np.nan, np.round(rng.normal(45, 12, n))),
    }
    columns["job"][rng.random(n) < 0.01] = None
    high = (columns["job"] == "job0") & (columns["age"] > rng.integers(30, 60))
    columns["y"] = (rng.random(n) < np.where(high, 0.75, 0.35)).astype(int)
    # A group of few, treated as differently as can be: what a search would list if it could.
    few = rng.permutation(n)[: int(rng.integers(3, LEAST))]
    columns["job"][few], columns["y"][few] = "rare job", 1
    if "cluster" in design:
        columns["person"] = rng.integers(0, n // 2, n)
    if "weights" in design:
        columns["weight"] = rng.uniform(0.5, 2, n)
    profile = design.pop("profile", None)
    options = {"outcome": "y", "favourable": 1, "seed": seed, "split": "random", **design}
    if profile is None:
        return ald.audit(columns, **options), columns
    named = {"sex": "sex", "race": "job"} if profile == "nyc-ll144" else {"job": "job", "within": "site"}
    return ald.profile(profile, columns, columns=named, **options), columns


def _shares(rng: np.random.Generator, n: int) -> Any:
    shares = rng.random(n) ** 6 + 0.004
    return shares / shares.sum()


def small_levels(columns: dict[str, Any]) -> dict[str, set[str]]:
    """Per column of levels those that too few people have, in words."""
    out = {}
    for name in ("job", "site", "sex"):
        words, sizes = np.unique([as_word(value) for value in columns[name] if value is not None], return_counts=True)
        out[name] = {str(word) for word, size in zip(words, sizes, strict=True) if size < LEAST}
    return out


def numbers_of_people(document: Any, place: str = "") -> Iterator[tuple[str, int]]:
    """Every number of people in a document, with its place."""
    if isinstance(document, dict):
        for key, value in document.items():
            if key in ("size", "size_all", "size_outside", "people", "missing") and isinstance(value, int):
                yield f"{place}.{key}", value
            elif key in ("counts_inside", "counts_outside"):
                yield f"{place}.{key}", sum(value.values())
            elif key == "unknown" and isinstance(value, int):
                yield f"{place}.{key}", value
            elif key == "within" or (key == "counts" and value and isinstance(value[0], list)):
                yield from ((f"{place}.{key}.{i}", sum(row)) for i, row in enumerate(value) if row is not None)
            elif key == "counts" and value:
                yield f"{place}.{key}", sum(value)
            elif key not in ("config", "cells", "version", "columns"):
                yield from numbers_of_people(value, f"{place}.{key}")
    elif isinstance(document, list):
        for i, value in enumerate(document):
            yield from numbers_of_people(value, f"{place}.{i}")


def texts_of(audit: Audit, formats: tuple[str, ...]) -> dict[str, str]:
    """The audit in these formats, as the text that is in them."""
    made: dict[str, str] = {}
    if "text" in formats:
        made["text"] = str(audit)
    if "markdown" in formats:
        made["markdown"] = audit.to_markdown()
    if "csv" in formats:
        made["csv"] = audit.to_csv()
    if "html" in formats:
        made["html"] = audit.to_html()
    if "json" in formats:
        made["json"] = audit.to_json()
    if "notebook" in formats:
        made["notebook"] = str(audit._repr_html_())
    if "excel" in formats:
        with zipfile.ZipFile(io.BytesIO(audit.to_excel())) as book:
            made["excel"] = "\n".join(book.read(name).decode() for name in book.namelist() if name.endswith(".xml"))
    if "pdf" in formats:
        made["pdf"] = subprocess.run(
            ["pdftotext", "-layout", "-", "-"], input=audit.to_pdf(), capture_output=True, check=True
        ).stdout.decode()
    return made


def embedded(page: str) -> Any:
    """The document inside an HTML report."""
    found = re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found.group(1))


def violations(audit: Audit, columns: dict[str, Any], formats: tuple[str, ...]) -> list[str]:
    """What is in the outputs although too few people are behind it."""
    out = []
    made = texts_of(audit, formats)
    documents = {name: json.loads(made[name]) for name in ("json",) if name in made}
    documents |= {name: embedded(made[name]) for name in ("html",) if name in made}
    for name, document in documents.items():
        out += [f"{name}{place}: {n}" for place, n in numbers_of_people(document) if 0 < n < LEAST]
        everyone = document["data"]["rows"]
        for part in ("groups", "named_groups", "candidates", "giveaways"):
            out += [
                f"{name}.{part}.{i}: {sum(one['counts_outside'].values())} outside"
                for i, one in enumerate(document[part])
                if 0 < sum(one["counts_outside"].values()) < LEAST
            ]
        out += [
            f"{name}.gaps.{i}: {everyone - one['size']} outside"
            for i, one in enumerate(document["gaps"]["rows"])
            if 0 < everyone - one["size"] < LEAST
        ]
    small = small_levels(columns)
    for one in audit.gaps.rows:
        out += [f"gap of {level}" for c in one.criterion for level in small.get(c.attribute, ()) if one.size < LEAST]
    for name, text in made.items():
        # Alone in an entry or line such a level would be a row of its own; in a set it may stand.
        rows = "|".join(re.escape(level) for levels in small.values() for level in levels)
        if rows and name in ("text", "markdown", "csv"):
            lines = re.findall(rf"^\W*(?:job|site|sex) = (?:{rows})(?![\w,{{])[^\n]*", text, re.MULTILINE)
            out += [f"{name}: {line}" for line in lines if not _is_large(line, audit)]
        # A number of people before its word.
        found = re.findall(r"(?<![\d,.\w])(\d)(?= (?:people|rows of)\b)", text) if name != "json" else []
        out += [f"{name}: {n} people" for n in found if n != "0"]
    return out


def _is_large(line: str, audit: Audit) -> bool:
    """Whether a line tells of a group that is listed: its size is counted in the half, and large enough."""
    return any(one.size >= LEAST and str(one.size) in line for one in (*audit.groups, *audit.named_groups))
