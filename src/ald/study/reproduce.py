"""`ald reproduce`: the paper's figures and tables, and ours, run again."""

from __future__ import annotations

from pathlib import Path

from ald.report.whole import write_whole
from ald.study.cases import Progress, measure
from ald.study.grids import LOCATION, SWEEPS, VARIANTS, null_cases
from ald.study.page import Study, files
from ald.study.public_tables import adult_table, compas_table, compas_tree

PARTS = ("fig-tree", "fig-location", "fig-variants", "fig-data", "table-adult", "table-compas")
RUNS_FOLDER = ".ald-runs"


def reproduce(
    what: str, *, runs: int, output: Path, jobs: int | None = None, progress: Progress | None = None
) -> list[Path]:
    """Measures what is asked for ("all" or a part), writes all files into a folder, and gives their paths.

    Finished runs are kept in a folder inside it and not computed again, unless the code that decides results changed.
    """
    parts = PARTS if what == "all" else (what,)
    tables = [make() for part, make in (("table-adult", adult_table), ("table-compas", compas_table)) if part in parts]
    cases = []
    for part, systems in (("fig-location", LOCATION), ("fig-variants", VARIANTS)):
        if part in parts:
            cases += [case for sweep in SWEEPS for case in sweep.cases(systems)] + null_cases(systems)
    (output / "results").mkdir(parents=True, exist_ok=True)
    measured = measure(cases, runs, output / RUNS_FOLDER, jobs=jobs, progress=progress)
    study = Study(
        runs=runs,
        command=f"ald reproduce {what} --runs {runs}",
        measured=measured,
        figures=parts,
        pictures={"fig-tree": compas_tree()} if "fig-tree" in parts else {},
        tables=tables,
    )
    paths = []
    for name, text in files(study).items():
        write_whole(str(output / name), text.encode())
        paths.append(output / name)
    return paths
