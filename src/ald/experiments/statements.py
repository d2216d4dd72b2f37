"""What the paper states, beside what we measure: each statement with its number and whether it was reproduced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from ald.experiments.cells import Cell, Rate, rate
from ald.experiments.grids import LOCATION, REFERENCE, REFERENCE_RUNS, SWEEPS, VARIANTS
from ald.experiments.systems import COMPARED, Result

Measured = Mapping[Cell, Sequence[Result]]


@dataclass(frozen=True, kw_only=True)
class Statement:
    """A statement, what was measured for it, and the verdict."""

    statement: str
    number: str
    verdict: str


def statements(measured: Measured) -> list[Statement]:
    """All statements for which the cells were measured."""
    makers = (
        _paper_beats_others,
        _instability_under_15,
        _subset_scan_near,
        _race_found_by_all,
        _linear_finds_none,
        _default_is_highest,
        _follows_reference,
    )
    return [found for maker in makers if (found := maker(measured)) is not None]


def _rates(
    measured: Measured, system: str, dataset: int | None = None, key: str = "located"
) -> dict[tuple[float, ...], Rate]:
    return {
        (cell.dataset, cell.rho, cell.width): rate(results, key)
        for cell, results in sorted(measured.items())
        if cell.system == system and cell.rho > 0 and dataset in (None, cell.dataset)
    }


def _words(at: tuple[float, ...]) -> str:
    return f"data set {at[0]:g}, rho {at[1]:g}" + (f", width {at[2]:g}" if at[0] == 1 else "")


def _behind(first: dict[tuple[float, ...], Rate], other: dict[tuple[float, ...], Rate]) -> list[tuple[float, ...]]:
    """Where the first is lower than the other by more than one standard error of their difference."""
    return [at for at in first if at in other
            and other[at].share - first[at].share > sqrt(first[at].caution**2 + other[at].caution**2)]  # fmt: skip


def _comparison(measured: Measured, first: str, others: Sequence[str]) -> tuple[int, list[str]]:
    ours = _rates(measured, first)
    exceptions = [
        f"{COMPARED[other].label} in {_words(at)} ({_rates(measured, other)[at]} against {ours[at]})"
        for other in others
        for at in _behind(ours, _rates(measured, other))
    ]
    compared = sum(at in ours for other in others for at in _rates(measured, other))
    return compared, exceptions


def _listed_exceptions(exceptions: list[str]) -> str:
    shown = "; ".join(exceptions[:12])
    return shown + (f"; and {len(exceptions) - 12} more" if len(exceptions) > 12 else "")


def _paper_beats_others(measured: Measured) -> Statement | None:
    others = ("subset-scan-published", "subset-scan-plain", "instability-tree-published", "gerrymandering", "ctree",
              "chaid", "cart", "random-forest")  # fmt: skip
    compared, exceptions = _comparison(measured, "ald-paper", others)
    if not compared:
        return None
    only_chaid = all(entry.startswith(COMPARED["chaid"].label) for entry in exceptions)
    return Statement(
        statement="ALD with the paper's settings beats all other systems, but for CHAID at very small rho or width.",
        number=f"behind by more than one standard error in {len(exceptions)} of {compared} comparisons"
        + (f": {_listed_exceptions(exceptions)}" if exceptions else ""),
        verdict="reproduced" if only_chaid else "not reproduced",
    )


def _instability_under_15(measured: Measured) -> Statement | None:
    rates = _rates(measured, "instability-tree-published", 1)
    if not rates:
        return None
    at = max(rates, key=lambda key: rates[key].share)
    return Statement(
        statement="The instability tree locates the age band in under 15 % of runs.",
        number=f"at most {rates[at]} ({_words(at)})",
        verdict="reproduced" if rates[at].share < 0.15 else "not reproduced",
    )


def _subset_scan_near(measured: Measured) -> Statement | None:
    ours = _rates(measured, "ald-paper", 1)
    rates = {at: found for at, found in _rates(measured, "subset-scan-plain", 1).items() if at[2] == 24 and at in ours}
    if not rates:
        return None
    near = [
        at
        for at, found in rates.items()
        if found.share >= ours[at].share - 2 * sqrt(found.caution**2 + ours[at].caution ** 2)
    ]
    listed = ", ".join(f"rho {at[1]:g}: {found} against {ours[at]}" for at, found in rates.items())
    return Statement(
        statement="The subset scan (no penalty) comes close to ALD with the paper's settings at rho near 0.3 only (age "
        "band).",
        number=listed,
        verdict="reproduced" if near and min(at[1] for at in near) >= 0.25 else "not reproduced",
    )


def _race_found_by_all(measured: Measured) -> Statement | None:
    least = {}
    for system in COMPARED:
        rates = _rates(measured, system, 1, "race")
        if rates:
            least[COMPARED[system].label] = min(rates.values(), key=lambda found: found.share)
    if not least:
        return None
    worst = min(least, key=lambda label: least[label].share)
    return Statement(
        statement="Race in data set 1 is found by all systems.",
        number=f"the least share of runs that name race is {least[worst]} ({worst})",
        verdict="reproduced" if least[worst].share >= 0.95 else "not reproduced",
    )


def _linear_finds_none(measured: Measured) -> Statement | None:
    rates = _rates(measured, "gerrymandering")
    if not rates:
        return None
    most = max(rates.values(), key=lambda found: found.share)
    return Statement(
        statement="The linear auditor finds none of the synthetic disparities.",
        number=f"at most {most}",
        verdict="reproduced" if most.share <= 0.02 else "not reproduced",
    )


def _default_is_highest(measured: Measured) -> Statement | None:
    others = [key for key in dict.fromkeys((*LOCATION, *VARIANTS)) if key != "ald"]
    tested = [key for key in others if COMPARED[key].is_tested]
    compared, exceptions = _comparison(measured, "ald", tested)
    untested, beyond = _comparison(measured, "ald", [key for key in others if key not in tested])
    if not compared + untested:
        return None
    number = f"behind tested systems by more than one standard error in {len(exceptions)} of {compared} comparisons"
    number += f": {_listed_exceptions(exceptions)}" if exceptions else ""
    number += f"; behind systems whose lists are not tested in {len(beyond)} of {untested}"
    number += f": {_listed_exceptions(beyond)}" if beyond else ""
    return Statement(
        statement="Ours: ALD has the highest location rate of all systems in every cell, within one standard error.",
        number=number,
        verdict="holds"
        if not exceptions + beyond
        else "holds among tested lists"
        if not exceptions
        else "does not hold",
    )


def _follows_reference(measured: Measured) -> Statement | None:
    rates, strict = _rates(measured, "ald-paper"), _rates(measured, "ald-paper", key="strict")
    distances: dict[tuple[float, ...], float] = {}
    for at, known in REFERENCE.items():
        for found, value in ((rates.get(at), known[0]), (strict.get(at), known[1])):
            if found is not None:
                pooled = (found.share * found.runs + value * REFERENCE_RUNS) / (found.runs + REFERENCE_RUNS)
                error = sqrt(pooled * (1 - pooled) * (1 / found.runs + 1 / REFERENCE_RUNS))
                distances[at] = max(distances.get(at, 0.0), abs(found.share - value) / error if error else 0.0)
    if not distances:
        return None
    worst = max(distances, key=lambda at: distances[at])
    return Statement(
        statement="ALD with the paper's settings follows the reference software within three standard errors.",
        number=f"at most {distances[worst]:.1f} standard errors apart in {len(distances)} cells ({_words(worst)})",
        verdict="reproduced" if distances[worst] <= 3 else "not reproduced",
    )


def sweep_rates(measured: Measured, sweep_key: str, system: str, key: str) -> list[tuple[float, Rate]]:
    """A system's rates along a panel of a figure, where measured."""
    (sweep,) = (sweep for sweep in SWEEPS if sweep.key == sweep_key)
    cells = [(value, sweep.cell(value, system)) for value in sweep.values]
    return [(value, rate(measured[cell], key)) for value, cell in cells if measured.get(cell)]
