"""The embedded admissions."""

from __future__ import annotations

import numpy as np
import pandas as pd

import ald
from ald.datasets import load_berkeley


def test_published_totals() -> None:
    """4,526 applicants, 1,755 admitted; 44.5% of the men and 30.4% of the women."""
    frame = pd.DataFrame(load_berkeley())
    admitted = frame["admitted"] == "yes"
    assert (len(frame), int(admitted.sum())) == (4526, 1755)
    rates = admitted.groupby(frame["gender"]).mean().round(3)
    assert (rates["male"], rates["female"]) == (0.445, 0.304)


def test_counts_and_rows_agree() -> None:
    """The 24 counts expand to the rows."""
    counts = load_berkeley(counts=True)
    n = counts.pop("n")
    rows = load_berkeley()
    assert len(n) == 24
    for name, values in counts.items():
        np.testing.assert_array_equal(np.repeat(values, n), rows[name])


def test_the_department_is_found() -> None:
    """The audit lists departments first: the textbook case."""
    audit = ald.audit(load_berkeley(), outcome="admitted", favourable="yes")
    assert "department" in str(audit.groups[0].criterion)
