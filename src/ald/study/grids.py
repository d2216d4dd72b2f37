"""The cases of the paper's figures, and what is known of some of their scenarios from elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

from ald.study.cases import Case

RHO = 0.2
WIDTH = 24.0


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """One panel of a figure: a data set over values of one parameter."""

    key: str
    dataset: int
    parameter: str
    values: tuple[float, ...]
    title: str

    def case(self, value: float, system: str) -> Case:
        rho = value if self.parameter == "rho" else RHO
        width = value if self.parameter == "width" else WIDTH
        return Case(dataset=self.dataset, rho=rho, width=width, system=system)

    def cases(self, systems: tuple[str, ...]) -> list[Case]:
        return [self.case(value, system) for value in self.values for system in systems]


SWEEPS = (
    Sweep(
        key="1-rho",
        dataset=1,
        parameter="rho",
        values=(0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4),
        title="Data set 1: age band of 24 years, by strength",
    ),
    Sweep(
        key="1-width",
        dataset=1,
        parameter="width",
        values=(6, 12, 18, 24, 30, 36, 42, 48, 54, 60, 66),
        title="Data set 1: rho 0.2, by width of the age band",
    ),
    Sweep(
        key="2-rho",
        dataset=2,
        parameter="rho",
        values=(0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4),
        title="Data set 2: hidden intersection, by strength",
    ),
)

# Nothing is there: how often something is listed all the same.
NULLS = ((1, 0.0), (2, 0.0))

LOCATION = (
    "ald", "ald-everyone", "ald-paper", "subset-scan", "subset-scan-untested", "subset-scan-published",
    "instability-tree", "instability-tree-published", "gerrymandering",
)  # fmt: skip
VARIANTS = ("ald", "ald-paper", "ctree", "chaid", "cart", "random-forest")

# (data set, rho, width): located and strictly located by R's partykit with the paper's settings, alpha 0.1 honoured, in
# 100 runs of benchmarks/reference.R.
REFERENCE = {
    (1, 0.05, 24): (0.00, 0.00), (1, 0.1, 24): (0.03, 0.03), (1, 0.15, 24): (0.33, 0.33), (1, 0.2, 24): (0.58, 0.56),
    (1, 0.3, 24): (0.73, 0.64), (1, 0.2, 12): (0.20, 0.19), (1, 0.2, 36): (0.63, 0.57), (1, 0.2, 48): (0.46, 0.44),
    (1, 0.2, 60): (0.18, 0.18), (2, 0.05, 24): (0.64, 0.41), (2, 0.1, 24): (0.67, 0.49), (2, 0.2, 24): (0.72, 0.54),
    (2, 0.3, 24): (0.68, 0.54),
}  # fmt: skip
REFERENCE_RUNS = 100


def null_cases(systems: tuple[str, ...]) -> list[Case]:
    """The cases in which nothing is there."""
    return [Case(dataset=dataset, rho=rho, width=WIDTH, system=system) for dataset, rho in NULLS for system in systems]
