"""Adult: 48,842 people of the US census of 1994, and whether they earn more than 50,000 dollars a year.

Source: B. Becker and R. Kohavi, "Adult", UCI Machine Learning Repository (1996), https://doi.org/10.24432/C5XW20.
"""

from __future__ import annotations

import numpy as np

from ald._core.arrays import AnyArray
from ald.datasets.public import PublicData, RemoteFile, check_structure, obtain, prepared_rows

_HOME = "https://archive.ics.uci.edu/ml/machine-learning-databases/adult"

ADULT = PublicData(
    name="adult",
    title="Adult (census income 1994)",
    source="https://archive.ics.uci.edu/dataset/2/adult",
    licence="CC BY 4.0",
    files=(
        RemoteFile(
            name="adult.data",
            url=f"{_HOME}/adult.data",
            sha256="5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
        ),
        RemoteFile(
            name="adult.test",
            url=f"{_HOME}/adult.test",
            sha256="a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
        ),
    ),
    columns=(
        "age", "workclass", "fnlwgt", "education", "education_num", "marital_status", "occupation", "relationship",
        "race", "sex", "capital_gain", "capital_loss", "hours_per_week", "native_country", "income",
    ),
    rows=48_842,
    totals={"income": {">50K": 11_687, "<=50K": 37_155}, "sex": {"Female": 16_192, "Male": 32_650}},
)  # fmt: skip

_NUMBERS = ("age", "fnlwgt", "education_num", "capital_gain", "capital_loss", "hours_per_week")


def load_adult() -> dict[str, AnyArray]:
    """Adult as a dictionary of columns, training and test rows together; unknown values are None.

    The test file writes ">50K." with a full stop; here both are ">50K". `fnlwgt` is a weight of the census, not an
    attribute of people.
    """
    rows = prepared_rows(ADULT)
    if rows is None:
        rows = [row for path in obtain(ADULT) for row in _rows(path.read_text("ascii"))]
        check_structure(ADULT, list(ADULT.columns), rows, ADULT.source)
    out: dict[str, AnyArray] = {}
    for name, values in zip(ADULT.columns, zip(*rows, strict=True), strict=True):
        if name in _NUMBERS:
            out[name] = np.array(values, dtype=np.int64)
        else:
            known = [value or None for value in values]
            out[name] = np.array(known, dtype=object if None in known else str)
    return out


def _rows(text: str) -> list[list[str]]:
    """The rows of a file of the repository, with empty text for unknown values."""
    lines = [line for line in text.splitlines() if line and not line.startswith("|")]
    return [["" if word == "?" else word for word in line.rstrip(".").split(", ")] for line in lines]
