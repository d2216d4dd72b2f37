"""COMPAS: 6,172 defendants of Broward County, Florida, their risk scores and whether they reoffended in two years.

Source: J. Larson, S. Mattu, L. Kirchner and J. Angwin, "How we analyzed the COMPAS recidivism algorithm", ProPublica
(2016), whose rules of who counts are followed here.
"""

from __future__ import annotations

import csv

import numpy as np

from ald._core.arrays import AnyArray
from ald.datasets.public import PublicData, RemoteFile, check_structure, obtain, prepared_rows

COMPAS = PublicData(
    name="compas",
    title="COMPAS (two-year recidivism)",
    source="https://github.com/propublica/compas-analysis",
    licence="none stated by the source",
    files=(
        RemoteFile(
            name="compas-scores-two-years.csv",
            url="https://raw.githubusercontent.com/propublica/compas-analysis/"
            "bafff5da3f2e45eca6c2d5055faad269defd135a/compas-scores-two-years.csv",
            sha256="c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d",
        ),
    ),
    columns=("race", "sex", "age_band", "priors", "charge", "predicted_high_risk", "reoffended"),
    rows=6_172,
    totals={
        "race": {
            "African-American": 3_175, "Asian": 31, "Caucasian": 2_103, "Hispanic": 509, "Native American": 11,
            "Other": 343,
        },
        "reoffended": {"1": 2_809, "0": 3_363},
        "predicted_high_risk": {"1": 2_751, "0": 3_421},
    },
)  # fmt: skip

_AGES = {"Less than 25": "below 25", "25 - 45": "25 to 45", "Greater than 45": "above 45"}
_CHARGES = {"F": "felony", "M": "misdemeanor"}


def load_compas() -> dict[str, AnyArray]:
    """COMPAS as a dictionary of columns; a score of medium or high is the prediction `predicted_high_risk`."""
    rows = prepared_rows(COMPAS)
    if rows is None:
        (path,) = obtain(COMPAS)
        rows = _rows(path.read_text("utf-8"))
        check_structure(COMPAS, list(COMPAS.columns), rows, COMPAS.source)
    numbers = ("priors", "predicted_high_risk", "reoffended")
    return {
        name: np.array(values, dtype=np.int64 if name in numbers else str)
        for name, values in zip(COMPAS.columns, zip(*rows, strict=True), strict=True)
    }


def _rows(text: str) -> list[list[str]]:
    """The people who count: charged within 30 days of the score, with a known outcome, no ordinary traffic offence."""
    out = []
    for row in csv.DictReader(text.splitlines()):
        days = row["days_b_screening_arrest"]
        near = bool(days) and -30 <= float(days) <= 30
        if near and row["is_recid"] != "-1" and row["c_charge_degree"] in _CHARGES and row["score_text"] != "N/A":
            high = str(int(row["score_text"] != "Low"))
            age, charge = _AGES[row["age_cat"]], _CHARGES[row["c_charge_degree"]]
            out.append([row["race"], row["sex"], age, row["priors_count"], charge, high, row["two_year_recid"]])
    return out
