"""Reads golden values: cases computed by the reference software, in the format that their manifest describes."""

from __future__ import annotations

import csv
import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ald.data.coded import Attribute, AuditData
from ald.data.columns import compact

FOLDER = Path(os.environ.get("ALD_GOLDEN") or Path(__file__).parent / "golden")


def number(value: Any) -> float:
    """A number of a fixture: non-finite values are written as text, null is not available."""
    return float("nan") if value is None else float(str(value).replace("Inf", "inf"))


@cache
def document(name: str) -> dict[str, Any]:
    result: dict[str, Any] = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    return result


def manifest() -> dict[str, Any]:
    return document("manifest.json")


def audit_files(kind: str) -> list[str]:
    """The end-to-end audits of one notion ("parity" or "odds") that the manifest names."""
    return [name for name in manifest()["other_files"] if name.endswith(f"_ald_{kind}.json")]


@cache
def rows(name: str) -> list[dict[str, str]]:
    with open(FOLDER / name, newline="", encoding="utf-8") as file:
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
    """A case's coded data and the sample of all rows that have an outcome."""
    table = rows(case["data"])
    outcome = [row[case["response"]] for row in table]
    known = np.array([text != "" for text in outcome])
    cells = np.array([int(float(text)) if text else 0 for text in outcome])
    return coded(case["attributes"], table, cells, 2), known.astype(np.int64)


def walk(node: dict[str, Any]) -> list[dict[str, Any]]:
    """The node and all below it, in preorder."""
    return [node] + [below for kid in node.get("kids") or [] for below in walk(kid)]
