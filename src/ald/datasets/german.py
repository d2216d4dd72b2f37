"""German credit: 1,000 applicants for a credit of a bank in southern Germany, 1973 to 1975, judged good or bad risks.

Source: H. Hofmann, "Statlog (German Credit Data)", UCI Machine Learning Repository (1994),
https://doi.org/10.24432/C5NC77. The words are those of its documentation. U. Gromping, "South German credit data:
correcting a widely used data set" (Beuth University, 2019) shows that several of them are wrong: above all,
`personal_status_and_sex` does not tell women from men.
"""

from __future__ import annotations

import numpy as np

from ald._core.arrays import AnyArray
from ald.datasets.public import PublicData, RemoteFile, check_structure, obtain, prepared_rows

# Per column of words: its codes in the file.
_WORDS = {
    "checking_account": {
        "A11": "below 0", "A12": "0 to 200", "A13": "200 or more, or salary", "A14": "none",
    },
    "credit_history": {
        "A30": "no credits or all paid back", "A31": "all at this bank paid back", "A32": "existing paid back duly",
        "A33": "delay in the past", "A34": "critical account",
    },
    "purpose": {
        "A40": "new car", "A41": "used car", "A42": "furniture", "A43": "radio or television", "A44": "appliances",
        "A45": "repairs", "A46": "education", "A47": "vacation", "A48": "retraining", "A49": "business",
        "A410": "others",
    },
    "savings": {
        "A61": "below 100", "A62": "100 to 500", "A63": "500 to 1000", "A64": "1000 or more", "A65": "none or unknown",
    },
    "employed_since": {
        "A71": "unemployed", "A72": "below 1 year", "A73": "1 to 4 years", "A74": "4 to 7 years",
        "A75": "7 years or more",
    },
    "personal_status_and_sex": {
        "A91": "male, divorced or separated", "A92": "female, divorced, separated or married", "A93": "male, single",
        "A94": "male, married or widowed", "A95": "female, single",
    },
    "other_debtors": {"A101": "none", "A102": "co-applicant", "A103": "guarantor"},
    "property": {
        "A121": "real estate", "A122": "building society or life insurance", "A123": "car or other",
        "A124": "none or unknown",
    },
    "other_installments": {"A141": "bank", "A142": "stores", "A143": "none"},
    "housing": {"A151": "rent", "A152": "own", "A153": "for free"},
    "job": {
        "A171": "unemployed or unskilled, non-resident", "A172": "unskilled, resident", "A173": "skilled",
        "A174": "management or highly qualified",
    },
    "telephone": {"A191": "none", "A192": "yes"},
    "foreign_worker": {"A201": "yes", "A202": "no"},
    "risk": {"1": "good", "2": "bad"},
}  # fmt: skip

GERMAN_CREDIT = PublicData(
    name="german_credit",
    title="German credit (Statlog)",
    source="https://archive.ics.uci.edu/dataset/144/statlog+german+credit+data",
    licence="CC BY 4.0",
    files=(
        RemoteFile(
            name="german.data",
            url="https://archive.ics.uci.edu/ml/machine-learning-databases/statlog/german/german.data",
            sha256="b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871",
        ),
    ),
    columns=(
        "checking_account", "months", "credit_history", "purpose", "amount", "savings", "employed_since",
        "installment_rate", "personal_status_and_sex", "other_debtors", "residence_since", "property", "age",
        "other_installments", "housing", "credits", "job", "dependants", "telephone", "foreign_worker", "risk",
    ),
    rows=1_000,
    totals={"risk": {"good": 700, "bad": 300}},
)  # fmt: skip


def load_german_credit() -> dict[str, AnyArray]:
    """German credit as a dictionary of columns, codes in the words of their documentation (see the module's note)."""
    rows = prepared_rows(GERMAN_CREDIT)
    if rows is None:
        (path,) = obtain(GERMAN_CREDIT)
        rows = _rows(path.read_text("ascii"))
        check_structure(GERMAN_CREDIT, list(GERMAN_CREDIT.columns), rows, GERMAN_CREDIT.source)
    return {
        name: np.array(values, dtype=str if name in _WORDS else np.int64)
        for name, values in zip(GERMAN_CREDIT.columns, zip(*rows, strict=True), strict=True)
    }


def _rows(text: str) -> list[list[str]]:
    return [
        [
            _WORDS[name][word] if name in _WORDS else word
            for name, word in zip(GERMAN_CREDIT.columns, words, strict=True)
        ]
        for words in (line.split() for line in text.splitlines() if line.strip())
    ]
