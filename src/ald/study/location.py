"""The location rate: how often the first three listed groups contain the planted disparity.

python -m ald.study.location --dataset 2 --rho 0.2 --irrelevant 17 --runs 100

"any": the disparity is located. "strict": in addition no listed group names an attribute that does not matter.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from math import sqrt
from multiprocessing import get_context
from typing import Any

import click

from ald._core.threads import available_threads
from ald.auditing import audit
from ald.datasets import make_synthetic
from ald.groups.criterion import Condition, Criterion, Interval, Levels
from ald.options.objects import Source
from ald.options.table import SPLITS

TOLERANCE = 3.6  # years: 5 % of the span of ages
SEARCHES = ("default", "paper")


@dataclass(frozen=True, kw_only=True)
class Task:
    """What to measure: a data set with its parameters, and how it is audited."""

    dataset: int
    rho: float = 0.2
    width: float = 24.0
    irrelevant: int = 0
    search: str = "default"
    level: float = 0.05
    split: str = "random"
    people: int = 10_000


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One run: whether the disparity was located, and whether nothing irrelevant was named."""

    located: bool
    strict: bool
    listed: int


def run(task: Task, seed: int) -> Outcome:
    """One random data set, audited."""
    data = make_synthetic(
        task.dataset, n=task.people, rho=task.rho, width=task.width, irrelevant=task.irrelevant, seed=seed
    )
    roles: dict[str, Any] = {"prediction": "prediction", "truth": "truth"} if task.dataset == 3 else {"outcome": "y"}
    notion = "equalized odds" if task.dataset == 3 else "statistical parity"
    source = Source(data=data, threads=1)
    options: dict[str, Any] = {"search": task.search, "level": task.level, "split": task.split}
    result = audit(source, **roles, notion=notion, **options, seed=seed)
    return judge_groups(task, [finding.criterion for finding in result.groups])


def judge_groups(task: Task, found: Sequence[Criterion]) -> Outcome:
    """Whether these groups locate the disparity of the task's data set."""
    located = LOCATED[task.dataset](found, task.width)
    relevant = RELEVANT[task.dataset]
    named = {condition.attribute.removesuffix(" (rounded)") for criterion in found for condition in criterion}
    return Outcome(located=located, strict=located and named <= relevant, listed=len(found))


def _by_name(criterion: Criterion) -> dict[str, Condition]:
    return {condition.attribute: condition for condition in criterion}


def _is_interval(condition: Condition, lower: float, upper: float) -> bool:
    return (
        isinstance(condition, Interval)
        and condition.lower is not None
        and condition.upper is not None
        and abs(condition.lower - lower) <= TOLERANCE
        and abs(condition.upper - upper) <= TOLERANCE
    )


def _band(found: Sequence[Criterion], width: float) -> bool:
    """An age interval with both ends right, with or without race, without anything else."""
    return any(
        "age" in named and set(named) <= {"age", "race"} and _is_interval(named["age"], 54 - width / 2, 54 + width / 2)
        for named in map(_by_name, map(_whole_years, found))
    )


def _whole_years(criterion: Criterion) -> Criterion:
    """With ages named one by one as the interval from the lowest to the highest, whatever is missing in between."""
    return Criterion(
        Interval("age", "numeric", min(years) - 0.5, max(years) + 0.5)
        if isinstance(condition, Levels)
        and condition.attribute == "age (rounded)"
        and (years := [int(level) for level in condition.levels if level is not None])
        else condition
        for condition in criterion
    )


def _one_level_each(names: set[str], found: Sequence[Criterion], width: float) -> bool:
    """Exactly one level of each of these attributes, and nothing else."""
    return any(
        {condition.attribute for condition in criterion} == names
        and all(isinstance(condition, Levels) and len(condition.levels) == 1 for condition in criterion)
        for criterion in found
    )


def _both(found: Sequence[Criterion], width: float) -> bool:
    """Women between 30 and 50, and region 3, each without anything else."""
    named = [_by_name(criterion) for criterion in found]
    women = any(
        set(n) == {"age", "sex"} and str(n["sex"]) == "sex = f" and _is_interval(n["age"], 30, 50) for n in named
    )
    return women and any(
        set(n) == {"region"} and str(n["region"]) in ("region = 3", "region in {1, 2, 4}") for n in named
    )


LOCATED: dict[int, Callable[[Sequence[Criterion], float], bool]] = {
    1: _band,
    2: partial(_one_level_each, {"race", "gender"}),
    3: partial(_one_level_each, {"a", "b"}),
    4: partial(_one_level_each, {"a", "b", "c"}),
    5: _both,
}
RELEVANT = {1: {"age", "race"}, 2: {"race", "gender"}, 3: {"a", "b"}, 4: {"a", "b", "c"}, 5: {"age", "sex", "region"}}


def measure(task: Task, runs: int, first_seed: int = 0, jobs: int | None = None) -> list[Outcome]:
    """The outcomes of runs with consecutive seeds, whatever the number of processes."""
    seeds = range(first_seed, first_seed + runs)
    jobs = jobs or available_threads()
    if jobs == 1:
        return [run(task, seed) for seed in seeds]
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        return list(pool.map(partial(run, task), seeds, chunksize=4))


@click.command(help=__doc__)
@click.option("--dataset", type=click.IntRange(1, 5), required=True, help="Synthetic data set.")
@click.option("--rho", type=float, default=0.2, show_default=True, help="Strength of the disparity.")
@click.option("--width", type=float, default=24.0, show_default=True, help="Width of the age band (data set 1).")
@click.option("--irrelevant", type=int, default=0, show_default=True, help="Irrelevant attributes added.")
@click.option("--people", type=int, default=10_000, show_default=True, help="Size of each data set.")
@click.option("--runs", type=int, default=100, show_default=True, help="Random data sets.")
@click.option("--first-seed", type=int, default=0, show_default=True, help="Seed of the first.")
@click.option("--search", type=click.Choice(SEARCHES), default="default", show_default=True, help="Search.")
@click.option("--level", type=float, default=0.05, show_default=True, help="Level of the list.")
@click.option("--split", type=click.Choice(SPLITS), default="random", show_default=True, help="Halves, or everyone.")
@click.option("--jobs", type=int, help="Processes.  [default: all cores]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def main(runs: int, first_seed: int, jobs: int | None, as_json: bool, **options: float | int | str) -> None:
    task = Task(**options)  # type: ignore[arg-type]
    outcomes = measure(task, runs, first_seed, jobs)
    rates = {key: sum(getattr(o, key) for o in outcomes) / runs for key in ("located", "strict")}
    if as_json:
        listed = sum(o.listed for o in outcomes) / runs
        result = {**options, "runs": runs, "first_seed": first_seed, "any": rates["located"], "strict": rates["strict"]}
        click.echo(json.dumps(result | {"listed": listed}))
        return
    for key, rate in rates.items():
        click.echo(
            f"{'any' if key == 'located' else key}: {rate:.3f} (standard error {sqrt(rate * (1 - rate) / runs):.3f})"
        )


if __name__ == "__main__":
    main()
