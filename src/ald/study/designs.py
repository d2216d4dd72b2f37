"""Validity of designs: how often an audit claims a disparity where there is none, with the option that the data needs
and without it.

python -m ald.study.designs --runs 1000

clusters: people with ten rows each, whose outcomes depend on the person and on nothing else.
confounder, confounder-number: outcomes depend on a department, or on a number, and so does who applies where.
survey: no disparity in the population, but who answers depends on both the group and the outcome.
survey-clusters: the same, of households with correlated outcomes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import Any

import click
import numpy as np

from ald._core.arrays import AnyArray, BoolArray, IntArray
from ald._core.threads import available_threads
from ald.auditing import audit
from ald.options.objects import Source, SurveyWeights, options_of

Columns = dict[str, AnyArray]


def _attributes(n: int, rng: np.random.Generator) -> Columns:
    return {
        "sex": rng.choice(["f", "m"], n),
        "region": rng.choice(["north", "east", "south", "west"], n),
        "age": np.floor(rng.uniform(18, 80, n)),
    }


def clusters(n: int, rng: np.random.Generator) -> tuple[Columns, dict[str, Any]]:
    """n rows of n / 10 people, each with a probability of their own; half of all correlation is within people."""
    people = n // 10
    person = np.repeat(np.arange(people), 10)
    rate = rng.beta(0.5, 0.5, people)
    columns = {name: values[person] for name, values in _attributes(people, rng).items()}
    columns["hour"] = rng.integers(8, 18, len(person))
    columns["y"] = _draw(rate[person], rng)
    columns["person"] = np.char.add("p", person.astype(str))
    return columns, {"cluster": "person"}


def confounder(n: int, rng: np.random.Generator) -> tuple[Columns, dict[str, Any]]:
    """Women apply to departments that admit few."""
    columns = _attributes(n, rng)
    department = np.clip(rng.integers(0, 4, n) + 2 * (columns["sex"] == "f"), 0, 5)
    columns["department"] = np.array(list("ABCDEF"))[department]
    columns["y"] = _draw(0.7 - 0.1 * department, rng)
    return columns, {"given": "department"}


def confounder_number(n: int, rng: np.random.Generator) -> tuple[Columns, dict[str, Any]]:
    """Experience decides, and the old have more of it."""
    columns = _attributes(n, rng)
    columns["experience"] = rng.normal(0.02 * columns["age"] + 0.5 * (columns["sex"] == "m"), 1.0)
    columns["y"] = _draw(1.0 / (1.0 + np.exp(-columns["experience"] + 1.0)), rng)
    return columns, {"given": "experience"}


def survey(n: int, rng: np.random.Generator) -> tuple[Columns, dict[str, Any]]:
    """Unhappy women and happy northerners answer more often; weights make up for it."""
    columns = _attributes(3 * n, rng)
    columns["y"] = _draw(np.full(3 * n, 0.4), rng)
    return _answer(columns, n, rng), {"weights": SurveyWeights("weight")}


def survey_clusters(n: int, rng: np.random.Generator) -> tuple[Columns, dict[str, Any]]:
    """The same, of households of five in which outcomes are alike."""
    household = np.repeat(np.arange(3 * n // 5), 5)
    columns = _attributes(len(household), rng)
    columns["region"] = columns["region"][household]
    columns["y"] = _draw(rng.beta(1.0, 1.5, household.max() + 1)[household], rng)
    columns["household"] = np.char.add("h", household.astype(str))
    return _answer(columns, n, rng), {"weights": SurveyWeights("weight"), "cluster": "household"}


def _answer(columns: Columns, n: int, rng: np.random.Generator) -> Columns:
    women, northerners, happy = columns["sex"] == "f", columns["region"] == "north", columns["y"] == 1
    chance = 0.2 + 0.3 * (women & ~happy) + 0.3 * (northerners & happy)
    rows = rng.permutation(np.flatnonzero(rng.random(len(chance)) < chance))[:n]
    return {name: values[rows] for name, values in (columns | {"weight": 1.0 / chance}).items()}


def _draw(rate: AnyArray, rng: np.random.Generator) -> IntArray:
    hits: BoolArray = rng.random(len(rate)) < rate
    return hits.astype(np.int64)


SCENARIOS: dict[str, Callable[[int, np.random.Generator], tuple[Columns, dict[str, Any]]]] = {
    "clusters": clusters,
    "confounder": confounder,
    "confounder-number": confounder_number,
    "survey": survey,
    "survey-clusters": survey_clusters,
}


def run(scenario: str, n: int, respected: bool, seed: int) -> bool:
    """Whether an audit of one random data set lists anything."""
    columns, options = SCENARIOS[scenario](n, np.random.default_rng(seed))
    if not respected:
        columns = {name: values for name, values in columns.items() if name not in options_of(options).values()}
        options = {}
    source = Source(data=columns, threads=1)
    return bool(audit(source, outcome="y", split="random", seed=seed, **options).groups)


def measure(scenario: str, runs: int, n: int, *, respected: bool, jobs: int | None = None) -> float:
    """The share of random data sets of which something is listed."""
    jobs = jobs or available_threads()
    task = partial(run, scenario, n, respected)
    if jobs == 1:
        return sum(task(seed) for seed in range(runs)) / runs
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        return sum(pool.map(task, range(runs), chunksize=8)) / runs


@click.command(help=__doc__)
@click.option("--scenario", type=click.Choice(list(SCENARIOS)), multiple=True, help="Default: all.")
@click.option("--runs", type=int, default=1000, show_default=True, help="Random data sets of each.")
@click.option("--people", type=int, default=4000, show_default=True, help="Rows of each data set.")
@click.option("--jobs", type=int, help="Processes.  [default: all cores]")
def main(scenario: tuple[str, ...], runs: int, people: int, jobs: int | None) -> None:
    for name in scenario or SCENARIOS:
        shares = {
            key: round(measure(name, runs, people, respected=respected, jobs=jobs), 4)
            for key, respected in (("with", True), ("without", False))
        }
        click.echo(json.dumps({"scenario": name, "rows": people, "runs": runs, "lists anything": shares}))


if __name__ == "__main__":
    main()
