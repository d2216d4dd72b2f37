"""Reads golden values: cases computed by the reference software, in the format that their manifest describes."""

from __future__ import annotations

import csv
import json
import os
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ald.data.amounts import Unit
from ald.data.coded import Attribute, AuditData
from ald.data.columns import compact
from ald.data.design import Design

# The folder that ALD_GOLDEN names, or our own: of yes/no outcomes, and of numbers.
_OWN = [Path(__file__).parent / name for name in ("golden", "golden_numeric")]
FOLDERS = [Path(os.environ["ALD_GOLDEN"])] if os.environ.get("ALD_GOLDEN") else _OWN


def number(value: Any) -> float:
    """A number of a fixture: non-finite values are written as text, null is not available."""
    return float("nan") if value is None else float(str(value).replace("Inf", "inf"))


@cache
def document(name: str) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(_path(name).read_text(encoding="utf-8"))
    return result


def _path(name: str) -> Path:
    return next(folder / name for folder in FOLDERS if (folder / name).exists())


def has(name: str) -> bool:
    """Whether the sets have this file."""
    return any((folder / name).exists() for folder in FOLDERS)


@cache
def manifests() -> list[dict[str, Any]]:
    return [json.loads((folder / "manifest.json").read_text(encoding="utf-8")) for folder in FOLDERS]


def cases() -> list[dict[str, Any]]:
    """The entries of all cases."""
    return [entry for manifest in manifests() for entry in manifest["cases"]]


def other_files() -> list[str]:
    """The files besides the cases that the manifests name."""
    return [name for manifest in manifests() for name in manifest["other_files"]]


def audit_files(kind: str) -> list[str]:
    """The end-to-end audits of one notion ("parity" or "odds") that the manifests name."""
    return [name for name in other_files() if name.endswith(f"_ald_{kind}.json")]


@cache
def rows(name: str) -> list[dict[str, str]]:
    with open(_path(name), newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@cache
def weights(name: str) -> np.ndarray:
    """One row per data row, one column per tree."""
    return np.array([[int(value) for value in row.values()] for row in rows(name)])


def coded(attributes: list[dict[str, Any]], table: list[dict[str, str]], cells: np.ndarray, n_cells: int) -> AuditData:
    """Coded data with one row per CSV row, kinds and level order as the fixture says; missing is never a level."""
    metas, columns = [], []
    for entry in attributes:
        texts = [row[entry["name"]] for row in table]
        if entry["kind"] == "numeric":
            values = np.array([float(text) if text else np.nan for text in texts])
            distinct = np.unique(values[~np.isnan(values)])
            codes = np.where(np.isnan(values), len(distinct), np.searchsorted(distinct, values))
            metas.append(Attribute(name=entry["name"], kind="numeric", values=distinct))
        else:
            position = {level: i for i, level in enumerate(entry["levels"])}
            codes = np.array([position[text] if text else len(position) for text in texts])
            kind = {"nominal": "nominal", "ordinal": "ordinal", "ordered": "ordinal"}[entry["kind"]]
            metas.append(Attribute(name=entry["name"], kind=kind, levels=tuple(position)))
        columns.append(compact(codes, metas[-1].size))
    return AuditData(
        attributes=tuple(metas),
        codes=tuple(columns),
        cells=cells.astype(np.uint8),
        counts=np.ones(len(table), np.int64),
        n_cells=n_cells,
    )


def case_data(case: dict[str, Any]) -> tuple[AuditData, np.ndarray]:
    """A case's coded data, and how often each row is in the sample: those that have an outcome, by their weights."""
    table = rows(case["data"])
    outcome = [row[case["response"]] for row in table]
    known = np.array([text != "" for text in outcome]).astype(np.int64)
    if case.get("weights_column"):
        known *= np.array([int(row[case["weights_column"]]) for row in table])
    if not is_numeric(case):
        cells = np.array([int(float(text)) if text else 0 for text in outcome])
        return coded(case["attributes"], table, cells, 2), known
    data = coded(case["attributes"], table, np.zeros(len(table), np.int64), 1)
    return replace(data, design=Design(amounts=unit_of(case).integers(responses(case)))), known


def is_numeric(case: dict[str, Any]) -> bool:
    """Whether the response is a number, and not yes or no."""
    return bool(case.get("response_kind") == "numeric")


def responses(case: dict[str, Any]) -> np.ndarray:
    """The responses, those that are missing as the first that is not: they count for nothing."""
    values = np.array([number(row[case["response"]] or None) for row in rows(case["data"])])
    return np.where(np.isnan(values), values[~np.isnan(values)][0], values)


def unit_of(case: dict[str, Any]) -> Unit:
    """How the responses of a case are counted."""
    return Unit.of(responses(case))


def walk(node: dict[str, Any]) -> list[dict[str, Any]]:
    """The node and all below it, in preorder."""
    return [node] + [below for kid in node.get("kids") or [] for below in walk(kid)]
