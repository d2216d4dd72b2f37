"""Validity: how often an audit claims what is not there, measured on random data with known truth.

python -m ald.study.validity --runs 1000

null-3, null-20: no disparity among 3 or 20 attributes; the share of reports that list anything.
rare: no disparity, outcomes of 2 %, groups of 30 people; the same.
planted: one planted group, 20 irrelevant attributes; the mean share of listed groups that are not it (false discovery
proportion), and how often the adjusted intervals of listed groups hold their true psi.
"""

from __future__ import annotations

import json
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from multiprocessing import get_context

import click
import numpy as np

from ald._core.arrays import AnyArray, FloatArray
from ald._core.threads import available_threads
from ald.auditing import audit
from ald.options.objects import Source
from ald.options.table import AUDIT_OPTIONS, SPLITS
from ald.results.finding import Finding

SCENARIOS = ("null-3", "null-20", "rare", "planted")
EFFECT = 0.15
_POPULATION = 200_000

Columns = dict[str, AnyArray]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One data set: groups listed, those of them that are false, and intervals that hold the true psi."""

    listed: int
    false: int
    covered: int


def make(scenario: str, n: int, rng: np.random.Generator) -> tuple[Columns, FloatArray]:
    """Random attributes, and everyone's probability of the favourable outcome."""
    if scenario == "rare":
        n_groups = n // 30
        columns: Columns = {
            "office": np.char.add("o", rng.integers(n_groups, size=n).astype(str)),
            "team": np.char.add("t", rng.integers(n_groups, size=n).astype(str)),
            "age": rng.uniform(18, 90, n),
        }
        return columns, np.full(n, 0.02)
    k = {"null-3": 3, "null-20": 20, "planted": 22}[scenario]
    columns = {}
    if scenario == "planted":
        columns = {name: np.char.add(name, rng.integers(2, size=n).astype(str)) for name in ("a", "b")}
    for i in range(len(columns), k):
        columns[f"x{i}"] = rng.choice(["p", "q", "r", "s"], n) if i % 2 else rng.random(n)
    if scenario != "planted":
        return columns, np.full(n, 0.5)
    return columns, np.where(in_planted(columns), 0.5 + EFFECT, 0.5)


def in_planted(columns: Columns) -> AnyArray:
    return np.asarray((columns["a"] == "a1") & (columns["b"] == "b1"))


@cache
def population(scenario: str) -> tuple[Columns, FloatArray]:
    """A large population for the true psi of any group."""
    return make(scenario, _POPULATION, np.random.default_rng(12345))


def true_psi(finding: Finding, scenario: str) -> float:
    """The group's difference in the population, within the strata of the groups tested before it."""
    columns, rate = population(scenario)
    inside = finding.criterion.mask(columns)
    stratum = np.zeros(len(rate), np.int64)
    for group in finding.given_groups:
        stratum = np.unique(2 * stratum + group.mask(columns), return_inverse=True)[1]
    people = [np.bincount(stratum[side], minlength=stratum.max() + 1) for side in (inside, ~inside)]
    sums = [np.bincount(stratum[side], rate[side], minlength=stratum.max() + 1) for side in (inside, ~inside)]
    both = (people[0] > 0) & (people[1] > 0)
    means = [total[both] / n[both] for total, n in zip(sums, people, strict=True)]
    weight = people[0][both] * people[1][both] / (people[0] + people[1])[both]
    return float(np.average(means[0] - means[1], weights=weight))


def run(scenario: str, n: int, ranking: str, split: str, seed: int) -> Outcome:
    """One random data set, audited."""
    rng = np.random.default_rng(seed)
    columns, rate = make(scenario, n, rng)
    data = columns | {"y": (rng.random(n) < rate).astype(np.int64)}
    source = Source(data=data, threads=1)
    result = audit(source, outcome="y", seed=seed, ranking=ranking, split=split)  # type: ignore[arg-type]
    false, covered, found = 0, 0, False
    for finding in result.groups:
        if scenario == "planted":
            inside, planted = finding.criterion.mask(columns), in_planted(columns)
            is_it = not found and abs(np.corrcoef(inside, planted)[0, 1]) >= 0.5
            found = found or is_it
            false += not is_it
            low, high = finding.interval
            assert low is not None
            assert high is not None
            covered += low <= true_psi(finding, scenario) <= high
        else:
            false += 1
    return Outcome(listed=len(result.groups), false=false, covered=covered)


def measure(
    scenario: str,
    runs: int,
    n: int,
    ranking: str = "confidence",
    jobs: int | None = None,
    first_seed: int = 0,
    split: str = "random",
) -> dict[str, float]:
    """The error rates of a scenario over consecutive seeds."""
    jobs = jobs or available_threads()
    task = partial(run, scenario, n, ranking, split)
    seeds = range(first_seed, first_seed + runs)
    if jobs == 1:
        outcomes = [task(seed) for seed in seeds]
    else:
        with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
            outcomes = list(pool.map(task, seeds, chunksize=8))
    listed = sum(o.listed for o in outcomes)
    return {
        "runs": runs,
        "listed_anything": sum(o.listed > 0 for o in outcomes) / runs,
        "false_discovery_proportion": sum(o.false / max(o.listed, 1) for o in outcomes) / runs,
        "coverage": sum(o.covered for o in outcomes) / listed if scenario == "planted" and listed else float("nan"),
    }


@click.command(help=__doc__)
@click.option("--scenario", type=click.Choice(SCENARIOS), multiple=True, help="Default: all.")
@click.option("--runs", type=int, default=1000, show_default=True, help="Random data sets of each.")
@click.option("--people", type=int, default=4000, show_default=True, help="Size of each data set.")
@click.option("--first-seed", type=int, default=0, show_default=True, help="Seed of the first.")
@click.option("--split", type=click.Choice(SPLITS), default="random", show_default=True, help="Halves, or everyone.")
@click.option("--jobs", type=int, help="Processes.  [default: all cores]")
def main(scenario: tuple[str, ...], runs: int, people: int, first_seed: int, split: str, jobs: int | None) -> None:
    for name in scenario or SCENARIOS:
        both = name == "planted" and split == "random"
        for ranking in AUDIT_OPTIONS["ranking"].choices if both else ("confidence",):
            result = measure(name, runs, people, ranking, jobs, first_seed, split)
            shown = {key: round(value, 4) for key, value in result.items() if value == value}
            click.echo(json.dumps({"scenario": name, "ranking": ranking, "split": split, "people": people} | shown))


if __name__ == "__main__":
    main()
