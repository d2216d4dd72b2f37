"""Graduate admissions at Berkeley in autumn 1973: 4,526 applicants to the six largest departments.

Source: P. J. Bickel, E. A. Hammel and J. W. O'Connell, "Sex bias in graduate admissions: data from Berkeley",
Science 187 (1975), and D. Freedman, R. Pisani and R. Purves, Statistics (the counts by department). The textbook
case of Simpson's paradox: women are admitted less often overall, and not less often within departments.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from ald._core.arrays import AnyArray

# (department, gender): (admitted, rejected)
_COUNTS = {
    ("A", "male"): (512, 313), ("A", "female"): (89, 19),
    ("B", "male"): (353, 207), ("B", "female"): (17, 8),
    ("C", "male"): (120, 205), ("C", "female"): (202, 391),
    ("D", "male"): (138, 279), ("D", "female"): (131, 244),
    ("E", "male"): (53, 138), ("E", "female"): (94, 299),
    ("F", "male"): (22, 351), ("F", "female"): (24, 317),
}  # fmt: skip


def load_berkeley(*, counts: bool = False) -> dict[str, AnyArray]:
    """The admissions as a dictionary of columns: one row per applicant, or the 24 counts with a column "n".

    >>> {name: len(column) for name, column in load_berkeley().items()}
    {'department': 4526, 'gender': 4526, 'admitted': 4526}
    """
    rows = [(*key, word) for key, word in product(_COUNTS, ("yes", "no"))]
    n = np.array([_COUNTS[department, gender][word == "no"] for department, gender, word in rows])
    columns = {
        name: np.array(values)
        for name, values in zip(("department", "gender", "admitted"), zip(*rows, strict=True), strict=True)
    }
    if counts:
        return columns | {"n": n}
    return {name: np.repeat(values, n) for name, values in columns.items()}
