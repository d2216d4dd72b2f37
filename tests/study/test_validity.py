"""Validity: audits of data without disparities seldom list anything, and intervals hold what they say.

Bounds on numbers of errors are exceeded with probability below 1e-6 if the audit keeps its level of 5 %.
"""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

from ald.groups.criterion import Criterion, Levels
from ald.study import validity
from ald.study.validity import main, make, measure, run

SURE = 1e-6


def most_errors(runs: int, level: float = 0.05) -> int:
    """So many errors or fewer happen in almost all experiments of so many runs."""
    most = int(stats.binom.isf(SURE, runs, level))
    assert stats.binom.sf(most, runs, level) < SURE
    return most


@pytest.mark.parametrize(("scenario", "people", "runs"), [("null-3", 400, 80), ("null-20", 300, 20), ("rare", 300, 20)])
def test_nothing_is_listed_where_nothing_is(scenario: str, people: int, runs: int) -> None:
    """Without disparities hardly more than 5 % of the reports list anything (error probability below 1e-6)."""
    result = measure(scenario, runs, people, jobs=1)
    assert result["runs"] == runs
    assert round(result["listed_anything"] * runs) <= most_errors(runs)
    assert result["false_discovery_proportion"] <= result["listed_anything"]


@pytest.mark.parametrize("ranking", ["confidence", "magnitude"])
def test_a_planted_group_is_found_and_covered(ranking: str) -> None:
    """The planted group is listed in most of six data sets, and intervals of listed groups hold their true psi."""
    result = measure("planted", 6, 4000, ranking, jobs=1)
    assert result["listed_anything"] >= 0.5
    assert result["false_discovery_proportion"] <= 0.5
    assert result["coverage"] >= 0.6


def test_scenarios_are_what_they_say() -> None:
    """Scenarios without disparity have the same probability for all; the planted one differs in its group only."""
    rng = np.random.default_rng(0)
    for scenario, k in (("null-3", 3), ("null-20", 20), ("rare", 3)):
        columns, rate = make(scenario, 300, rng)
        assert len(columns) == k
        assert len(set(rate.tolist())) == 1
    columns, rate = make("planted", 300, rng)
    assert len(columns) == 22
    assert np.array_equal(rate > 0.5, (columns["a"] == "a1") & (columns["b"] == "b1"))


def test_true_psi_of_the_planted_group() -> None:
    """The true psi of a group is that of a large population: the effect for the planted group, 0 for noise."""

    class Found:
        def __init__(self, *conditions: Levels) -> None:
            self.criterion = Criterion(conditions)
            self.given_groups: tuple[Criterion, ...] = ()

    planted = Found(Levels("a", "nominal", ("a1",)), Levels("b", "nominal", ("b1",)))
    noise = Found(Levels("x3", "nominal", ("p",)))
    assert validity.true_psi(planted, "planted") == pytest.approx(validity.EFFECT)  # type: ignore[arg-type]
    assert validity.true_psi(noise, "planted") == pytest.approx(0.0, abs=0.005)  # type: ignore[arg-type]

    # The planted group explains what its wider group shows; within its strata nothing is left.
    wider = Found(Levels("a", "nominal", ("a1",)))
    assert validity.true_psi(wider, "planted") == pytest.approx(validity.EFFECT / 2, abs=0.005)  # type: ignore[arg-type]
    wider.given_groups = (planted.criterion,)
    assert validity.true_psi(wider, "planted") == pytest.approx(0.0, abs=1e-9)  # type: ignore[arg-type]


def test_runs_are_deterministic() -> None:
    """The same seed gives the same outcome, and a scenario's rates are those of its runs."""
    outcomes = [run("null-3", 300, "confidence", "random", seed) for seed in range(4)]
    assert outcomes[3] == run("null-3", 300, "confidence", "random", 3)
    listed = sum(outcome.listed > 0 for outcome in outcomes)
    assert measure("null-3", 4, 300, jobs=1)["listed_anything"] == listed / 4


def test_command() -> None:
    """The command prints one line of JSON per scenario."""
    result = CliRunner().invoke(main, ["--scenario", "null-3", "--runs", "2", "--people", "300", "--jobs", "1"])
    assert result.exit_code == 0
    entry = json.loads(result.output)
    assert (entry["scenario"], entry["runs"], entry["people"]) == ("null-3", 2, 300)
    assert "coverage" not in entry


def test_everyone_is_measured_too() -> None:
    """With --split none audits have no halves; a planted group is found, and its interval holds the truth."""
    result = measure("planted", 2, 3000, jobs=1, split="none")
    assert result["listed_anything"] == 1.0
    assert result["coverage"] == 1.0
    shown = CliRunner().invoke(
        main, ["--scenario", "null-3", "--runs", "1", "--people", "200", "--jobs", "1", "--split", "none"]
    )
    assert json.loads(shown.output)["split"] == "none"
