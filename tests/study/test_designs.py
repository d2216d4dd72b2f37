"""Validity of designs: with the option that the data needs hardly anything is listed, without it much is."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy import stats

from ald.study.designs import SCENARIOS, main, measure, run

SURE = 1e-6
RUNS = 24


@pytest.mark.parametrize(
    ("scenario", "n"), [("clusters", 1500), ("confounder", 1500), ("survey", 1500), ("survey-clusters", 1500)]
)
def test_the_option_makes_the_difference(scenario: str, n: int) -> None:
    """With the option no more is listed than 5 % allow (error probability below 1e-6), without it far more."""
    kept = round(measure(scenario, RUNS, n, respected=True, jobs=1) * RUNS)
    broken = round(measure(scenario, RUNS, n, respected=False, jobs=1) * RUNS)
    most = int(stats.binom.isf(SURE, RUNS, 0.05))
    assert kept <= most < broken


def test_clusters_are_people_with_ten_rows() -> None:
    """People have ten rows each and keep their attributes; nothing depends on the attributes."""
    columns, options = SCENARIOS["clusters"](2000, np.random.default_rng(0))
    frame = pd.DataFrame(columns)
    assert options == {"cluster": "person"}
    assert (frame.groupby("person").size() == 10).all()
    assert (frame.groupby("person")[["sex", "region", "age"]].nunique() == 1).all().all()
    between = frame.groupby("person").y.mean().var()
    assert between > 0.4 * frame.y.var()


def test_confounders_explain_everything() -> None:
    """Women are admitted less often overall, and as often as men in every department."""
    columns, _ = SCENARIOS["confounder"](100_000, np.random.default_rng(0))
    frame = pd.DataFrame(columns)
    rates = frame.groupby("sex").y.mean()
    assert rates["m"] - rates["f"] > 0.1
    by = frame.groupby(["department", "sex"]).y.agg(["mean", "count"]).unstack()
    both = (by["count"] > 500).all(axis=1)
    assert both.sum() == 2
    assert (by["mean"]["m"] - by["mean"]["f"])[both].abs().max() < 0.05


def test_weights_make_up_for_who_answers() -> None:
    """In the sample women are unhappier and northerners happier; with weights they are as happy as all."""
    columns, _ = SCENARIOS["survey"](100_000, np.random.default_rng(0))
    frame = pd.DataFrame(columns)
    women = frame.sex == "f"
    assert frame.y[~women].mean() - frame.y[women].mean() > 0.1
    weighted = [np.average(frame.y[side], weights=frame.weight[side]) for side in (women, ~women)]
    assert weighted == pytest.approx([0.4, 0.4], abs=0.015)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_runs_are_deterministic(scenario: str) -> None:
    """The same seed gives the same answer."""
    assert run(scenario, 600, True, 3) == run(scenario, 600, True, 3)


def test_command() -> None:
    """The command prints one line of JSON per scenario: how often something is listed with the option and without."""
    result = CliRunner().invoke(main, ["--scenario", "confounder", "--runs", "2", "--people", "600", "--jobs", "1"])
    assert result.exit_code == 0
    entry = json.loads(result.output)
    assert (entry["scenario"], entry["rows"], entry["runs"]) == ("confounder", 600, 2)
    assert set(entry["lists anything"]) == {"with", "without"}
