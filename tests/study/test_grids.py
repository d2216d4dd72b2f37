"""The paper's grids, and the script that made the columns of the reference software."""

from __future__ import annotations

import csv
import io
import shutil
import subprocess
from pathlib import Path

import pytest

from ald.study.grids import LOCATION, REFERENCE, REFERENCE_RUNS, SWEEPS, VARIANTS, null_cases
from ald.study.systems import COMPARED

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "reference.R"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    program = shutil.which("Rscript")
    if program is None:
        pytest.skip("needs R (Debian: r-base-core)")
    return subprocess.run([program, str(SCRIPT), *arguments], capture_output=True, text=True, timeout=600, check=False)


def rates(*arguments: str) -> dict[str, str]:
    done = run(*arguments)
    if "there is no package" in done.stderr:
        pytest.skip("needs R's partykit (Debian: r-cran-partykit)")
    assert done.returncode == 0, done.stderr
    (row,) = csv.DictReader(io.StringIO(done.stdout))
    return row


@pytest.mark.parametrize("arguments", [(), ("3", "0.2", "24", "0.1", "2"), ("1", "0.2", "24", "0.1", "many")])
def test_wrong_usage_is_said(arguments: tuple[str, ...]) -> None:
    """Without all arguments, or with others, the script says how it is used."""
    done = run(*arguments)
    assert done.returncode != 0
    assert "usage" in done.stderr


def test_strong_disparities_are_located_and_null_ones_are_not() -> None:
    """A case is a line of CSV; strict is rarer than any; where nothing is planted in the ages, none is located."""
    strong = rates("2", "0.3", "24", "0.1", "6")
    assert strong | {"located": "", "strict": ""} == {
        "data_set": "2", "rho": "0.3", "width": "24", "irrelevant": "0", "alpha": "0.1", "runs": "6", "located": "",
        "strict": "",
    }  # fmt: skip
    assert 0 < float(strong["located"]) <= 1
    assert float(strong["strict"]) <= float(strong["located"])
    assert rates("1", "0", "24", "0.1", "3")["located"] == "0"


def test_the_table_is_that_of_the_script() -> None:
    """The fastest case of the table of the reference, run again."""
    known = REFERENCE[2, 0.05, 24]
    found = rates("2", "0.05", "24", "0.1", str(REFERENCE_RUNS))
    assert (float(found["located"]), float(found["strict"])) == known


def test_grids_are_the_papers() -> None:
    """Panels run over rho 0.05 to 0.4 and width 6 to 66 of data set 1, and rho 0.02 to 0.4 of data set 2."""
    ends = {sweep.key: (sweep.values[0], sweep.values[-1]) for sweep in SWEEPS}
    assert ends == {"1-rho": (0.05, 0.4), "1-width": (6, 66), "2-rho": (0.02, 0.4)}
    assert {"ald", "ald-paper"} <= set(LOCATION) & set(VARIANTS)
    assert {case.rho for case in null_cases(LOCATION)} == {0.0}
    assert set(LOCATION) | set(VARIANTS) == set(COMPARED)
